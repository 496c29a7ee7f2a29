"""What a mistake costs.

For each function with a wrong call (`charge: mistakes` in rubric.yaml):
1. its mistakes, as diagnosed (diagnosis.py, repair.py), cost the criteria that they belong to, and only these: every other
   criterion whose wrong calls they explain is earned. A repair belongs to the first criterion with a wrong call;
2. a mistake made in two functions of a module costs points in the first of them, in the order of the rubric;
3. a criterion with a wrong call that is not explained is lost; so is each that grades a function which computes nothing;
4. criteria of form (`looks_at: form`) are lost to a breach that was seen in a function that they grade, or where fewer than half of
   these functions are right in value;
5. worked examples (`looks_at: examples`) are lost with any wrong call.

With `charge: criteria` every criterion with a wrong call is lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from autograder.grading.call_results import Record
from autograder.grading.diagnosis import Explanation, seen
from autograder.grading.responses import wrong_in_value
from autograder.grading.thresholds import LEAST_OF_FORM
from autograder.homework.library import Mistake
from autograder.homework.rubric import Criterion, Rubric

if TYPE_CHECKING:
    from autograder.grading.student_tests import FunctionTests

Why = Literal["right", "elsewhere", "mistake", "unexplained", "form", "too little", "not imported", "tests"]


@dataclass(frozen=True)
class Graded:
    """One criterion of one submission: whether it is earned, and why.

    "right": every call is right; "elsewhere": earned, since the wrong values come from `mistakes`, which are charged under the
    other criteria `charged`;
    "mistake": lost to `mistakes`;
    "unexplained": lost to wrong calls that no known mistake explains; "form": lost to `mistakes`, which were observed; "too
    little": lost since fewer than half of its functions earn anything; "not imported": a criterion of the integration whose
    modules cannot be imported together; "tests": a criterion of the students' tests that is not fully earned, see `tests`.

    `record` is a wrong call, the first that shows the mistakes; `shown` a public example that does; `undecided` are several
    mistakes that do the same on every call; `blamed` are wrong helpers, or modules of the integration, that the criterion was
    judged beside correct versions of. `depends`: public examples were wrong after other calls, and right when called alone.
    `at_least`: the mistakes told are not all that is wrong. `share`: the part of its points that a lost criterion still gives.
    `fix_first` are modules that this one uses, and that are missing or wrong in a public call.
    """

    criterion: Criterion
    why: Why = "right"
    mistakes: tuple[Mistake, ...] = ()
    charged: tuple[str, ...] = ()
    record: Record | None = None
    shown: Record | None = None
    undecided: tuple[Mistake, ...] = ()
    blamed: tuple[str, ...] = ()
    depends: bool = False
    at_least: bool = False
    fix_first: tuple[str, ...] = ()
    share: float = 0.0
    tests: "FunctionTests | None" = None

    @property
    def passed(self) -> bool:
        return self.why in ("right", "elsewhere")

    @property
    def points(self) -> float:
        """As they count in the end: a dropped criterion gives none, one that is given to all gives all."""
        if self.passed or self.criterion.counts:
            return self.criterion.most
        return round(self.criterion.most * self.share, 2)


def charges(
    rubric: Rubric, group: str, records: Sequence[Record], explanations: Mapping[str, Explanation]
) -> dict[str, Graded]:
    """Each criterion of a module, from all records of its hidden and visible criteria."""
    of: dict[str, list[Record]] = {criterion.id: [] for criterion in rubric.of(group)}
    for record in records:
        if record.step.criterion in of:
            of[record.step.criterion].append(record)
    if rubric.charge == "criteria":
        graded = {criterion.id: _plain(criterion, of[criterion.id], explanations) for criterion in rubric.of(group)}
    else:
        graded = _Charging(rubric, group, of, explanations).charges()
    return {name: replace(g, share=_share(g, of[name], explanations)) for name, g in graded.items()}


def _share(graded: Graded, records: Sequence[Record], explanations: Mapping[str, Explanation]) -> float:
    """The share of the hidden tests of a lost criterion that pass, where it gives partial credit.

    Code that computes nothing passes the tests that demand an error, and earns nothing.
    """
    criterion = graded.criterion
    nothing = any(explanations[f].empty for f in criterion.grades if f in explanations)
    if criterion.credit == "all" or graded.passed or nothing:
        return 0.0
    passes = dict[str, bool]()
    for record in records:
        passes[record.step.test] = passes.get(record.step.test, True) and record.fault is None
    return sum(passes.values()) / max(1, len(passes))


def _plain(criterion: Criterion, records: Sequence[Record], explanations: Mapping[str, Explanation]) -> Graded:
    """Lost with any wrong call."""
    wrong = next((record for record in records if record.fault is not None), None)
    if wrong is None and records:
        return Graded(criterion)
    explanation = explanations.get(wrong.target.function) if wrong is not None else None
    named: tuple[Mistake, ...] = ()
    if wrong is not None and explanation is not None:
        # What was observed is a mistake of form: it explains no wrong value.
        explained = explanation.sure or explanation.inherited or not wrong_in_value(wrong)
        named = (*explanation.named, *explanation.inherited) if explained else ()
    return Graded(criterion, "mistake" if named else "unexplained", named, record=wrong)


class _Charging:
    """The rules for one module of one submission."""

    def __init__(
        self,
        rubric: Rubric,
        module: str,
        of: Mapping[str, list[Record]],
        explanations: Mapping[str, Explanation],
    ):
        self.rubric, self.module, self.of, self.explanations = rubric, module, of, explanations
        # A misconception found in several functions costs points in the first of them, in the order of the rubric.
        last_first = [m for explanation in list(explanations.values())[::-1] for m in explanation.mistakes]
        first = {m.same: m.function for m in last_first}
        self.charged = {
            name: tuple(m for m in explanation.mistakes if first[m.same] == m.function)
            for name, explanation in explanations.items()
        }

    def charges(self) -> dict[str, Graded]:
        criteria = self.rubric.of(self.module)
        graded = {c.id: self._of_values(c) for c in criteria if c.looks_at == "values"}
        graded |= {c.id: _plain(c, self.of[c.id], self.explanations) for c in criteria if c.looks_at == "examples"}
        graded |= {c.id: self._of_form(c, graded) for c in criteria if c.looks_at == "form"}
        return {c.id: graded[c.id] for c in criteria}

    # Criteria of value

    def _of_values(self, criterion: Criterion) -> Graded:
        if not self.of[criterion.id]:
            return Graded(criterion, "unexplained")
        each = [self._of_function(criterion, function) for function in criterion.grades]
        lost = [charge for charge in each if not charge.passed]
        if lost:
            mistakes = [m for charge in lost for m in charge.mistakes]
            # A mistake that is made again in another function that this criterion grades is told too.
            same = {mistake.same for mistake in mistakes}
            again = [m for charge in each for m in charge.mistakes if m.same in same and criterion.id in m.criteria]
            return replace(lost[0], mistakes=tuple(dict.fromkeys([*mistakes, *again])))
        return next((charge for charge in each if charge.why == "elsewhere"), Graded(criterion))

    def _of_function(self, criterion: Criterion, function: str) -> Graded:
        """What one function's calls make of a criterion."""
        wrong = [r for r in self.of[criterion.id] if r.target.function == function and r.fault is not None]
        own = tuple(m for m in self.charged.get(function, ()) if criterion.id in m.criteria)
        record = wrong[0] if wrong else None
        if own:
            chosen = self.explanations[function].chosen
            telling = (r for r in wrong if chosen is not None and chosen.shows(own, r))
            return Graded(criterion, "mistake", own, record=next(telling, record))
        explanation = self.explanations.get(function)
        if explanation is not None and explanation.empty:
            return Graded(criterion, "unexplained", record=record)
        if record is None or explanation is None:
            return Graded(criterion)
        form = [r for r in wrong if not wrong_in_value(r)]
        breach = tuple(seen(form[0], explanation.complete)) if form and not explanation.formal else ()
        helpers = [h for h in self.rubric.helpers(self.module, (function,)) if h in self.explanations]
        theirs = {mistake.name for helper in helpers for mistake in self.explanations[helper].observed}
        if form and not explanation.formal and not (breach and {mistake.name for mistake in breach} <= theirs):
            return Graded(criterion, "form", breach, record=form[0])
        if not explanation.explains(criterion.id):
            return Graded(criterion, "unexplained", record=record)
        mistakes = (*explanation.mistakes, *explanation.helpers)
        return Graded(criterion, "elsewhere", mistakes, self._under(mistakes), record=record)

    def _under(self, mistakes: Iterable[Mistake]) -> tuple[str, ...]:
        """Where these mistakes, or the same ones in other functions, are charged."""
        same = {mistake.same for mistake in mistakes}
        criteria = [c for own in self.charged.values() for m in own if m.same in same for c in m.criteria]
        return tuple(dict.fromkeys(criteria))

    # Criteria of form

    def _of_form(self, criterion: Criterion, values: Mapping[str, Graded]) -> Graded:
        records = self.of[criterion.id]
        if not records:
            return Graded(criterion, "unexplained")
        wrong = [record for record in records if record.fault is not None]
        if charge := next(filter(None, (self._breach(criterion, record) for record in wrong)), None):
            return charge
        only_here = next(filter(self._is_charged_nowhere, wrong), None)
        if only_here is not None:
            return Graded(criterion, "unexplained", record=only_here)
        own = [m for mistakes in self.charged.values() for m in mistakes if criterion.id in m.criteria]
        if own:
            return Graded(criterion, "mistake", tuple(own))
        earning = [function for function in criterion.grades if self._earns(function, values)]
        if len(earning) < LEAST_OF_FORM * len(criterion.grades):
            return Graded(criterion, "too little")
        return Graded(criterion)

    def _breach(self, criterion: Criterion, record: Record) -> Graded | None:
        """What a wrong record of a criterion of form shows of wrong form, if it comes from the function itself."""
        explanation = self.explanations[record.target.function]
        mistakes = tuple(seen(record, explanation.complete))
        if explanation.formal and not any(criterion.id in m.criteria for m in explanation.mistakes):
            return None  # it comes from a mistake that is charged elsewhere, or from a helper
        return Graded(criterion, "form", mistakes, record=record) if mistakes else None

    def _is_charged_nowhere(self, record: Record) -> bool:
        """Whether a wrong record is of a function without a mistake and without a wrong call in the criteria of value.

        Something is left over from an earlier call then, or goes wrong on these arguments alone.
        """
        function = record.target.function
        if self.explanations[function].complete:
            return False
        criteria = [c.id for c in self.rubric.of(self.module) if c.looks_at == "values" and function in c.grades]
        own = [r for name in criteria for r in self.of[name] if r.target.function == function]
        return not any(record.fault is not None for record in own)

    def _earns(self, function: str, values: Mapping[str, Graded]) -> bool:
        """Whether a criterion of value that grades the function is earned, or known mistakes explain all that it computes.

        Where no criterion of value grades it: whether its calls are right.
        """
        explanation = self.explanations.get(function)
        if explanation is not None and explanation.complete and not explanation.empty:
            return True
        graded = [c.id for c in self.rubric.of(self.module) if c.looks_at == "values" and function in c.grades]
        if graded:
            return any(values[name].passed for name in graded)
        return explanation is None
