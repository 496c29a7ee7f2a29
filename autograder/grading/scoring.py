"""How many points a mistake costs.

For each function with a failing call (`charge: mistakes` in rubric.yaml):
1. Its mistakes, as diagnosed (diagnosis.py, repair.py), cost the criteria that they belong to, and only these: every other
   criterion whose failing calls they explain is earned. A repair belongs to the first criterion with a failing call.
2. A mistake made in two functions of a module costs points in the first of them, in the order of the rubric.
3. A criterion with an unexplained failing call is lost, and so is each one that grades a function which computes nothing.
4. Criteria of form (`looks_at: form`) are lost to an observed side effect or dtype in a function that they grade, or if fewer
   than half of these functions are right in value.
5. Worked examples (`looks_at: examples`) are lost with any failing call.

With `charge: criteria` every criterion with a failing call is lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from autograder.grading.call_results import CallResult
from autograder.grading.diagnosis import Diagnosis, seen
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.thresholds import LEAST_OF_FORM
from autograder.homework.library import Misconception
from autograder.homework.rubric import Criterion, Rubric

if TYPE_CHECKING:
    from autograder.grading.student_tests import FunctionTests

Why = Literal["right", "elsewhere", "mistake", "unexplained", "form", "too little", "not imported", "tests"]


@dataclass(frozen=True)
class CriterionScore:
    """One criterion of one submission: whether it is earned, and why.

    "right": every call passes. "elsewhere": earned, since its failing calls come from `misconceptions` that cost the other
    criteria `charged`. "mistake": lost to `misconceptions`. "unexplained": lost to unexplained failing calls. "form": lost to
    observed `misconceptions`. "too little": lost since fewer than half of its functions earn anything. "not imported": a
    criterion of the integration whose modules cannot be imported together. "tests": a criterion of the students' tests that
    is not fully earned, see `tests`.

    `call_result` is the first failing call that shows the mistakes; `shown` a public example that does. `undecided` are
    misconceptions with the same results on every call. `blamed` are wrong helpers, or modules of the integration, that were
    replaced by the reference. `depends`: public examples failed after other calls and pass alone. `at_least`: the mistakes
    named are not all. `share`: the part of its points that a lost criterion still earns. `fix_first` are modules that this
    one uses and that are missing or fail a public call.
    """

    criterion: Criterion
    why: Why = "right"
    misconceptions: tuple[Misconception, ...] = ()
    charged: tuple[str, ...] = ()
    call_result: CallResult | None = None
    shown: CallResult | None = None
    undecided: tuple[Misconception, ...] = ()
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
        """The points that count: a dropped criterion gives none, one given to all gives all."""
        if self.passed or self.criterion.counts:
            return self.criterion.most
        return round(self.criterion.most * self.share, 2)


def scores(
    rubric: Rubric, group: str, call_results: Sequence[CallResult], diagnoses: Mapping[str, Diagnosis]
) -> dict[str, CriterionScore]:
    """The score of each criterion of a module, from its hidden and visible call results."""
    of: dict[str, list[CallResult]] = {criterion.id: [] for criterion in rubric.of(group)}
    for call_result in call_results:
        if call_result.test_call.criterion in of:
            of[call_result.test_call.criterion].append(call_result)
    if rubric.charge == "criteria":
        graded = {criterion.id: _plain(criterion, of[criterion.id], diagnoses) for criterion in rubric.of(group)}
    else:
        graded = _Scoring(rubric, group, of, diagnoses).scores()
    return {name: replace(g, share=_share(g, of[name], diagnoses)) for name, g in graded.items()}


def _share(graded: CriterionScore, call_results: Sequence[CallResult], diagnoses: Mapping[str, Diagnosis]) -> float:
    """The share of passing hidden tests of a lost criterion with partial credit.

    Code that computes nothing passes the tests that expect an error, and earns nothing.
    """
    criterion = graded.criterion
    nothing = any(diagnoses[f].empty for f in criterion.grades if f in diagnoses)
    if criterion.credit == "all" or graded.passed or nothing:
        return 0.0
    passes = dict[str, bool]()
    for call_result in call_results:
        passes[call_result.test_call.test] = passes.get(call_result.test_call.test, True) and not call_result.failed
    return sum(passes.values()) / max(1, len(passes))


def _plain(
    criterion: Criterion, call_results: Sequence[CallResult], diagnoses: Mapping[str, Diagnosis]
) -> CriterionScore:
    """Lost with any failing call."""
    wrong = next((call_result for call_result in call_results if call_result.failed), None)
    if wrong is None and call_results:
        return CriterionScore(criterion)
    diagnosis = diagnoses.get(wrong.target.function) if wrong is not None else None
    named: tuple[Misconception, ...] = ()
    if wrong is not None and diagnosis is not None:
        # An observed side effect explains no wrong value.
        explained = diagnosis.sure or diagnosis.inherited or not wrong_in_value(wrong)
        named = (*diagnosis.named, *diagnosis.inherited) if explained else ()
    return CriterionScore(criterion, "mistake" if named else "unexplained", named, call_result=wrong)


class _Scoring:
    """The rules for one module of one submission."""

    def __init__(
        self,
        rubric: Rubric,
        module: str,
        of: Mapping[str, list[CallResult]],
        diagnoses: Mapping[str, Diagnosis],
    ):
        self.rubric, self.module, self.of, self.diagnoses = rubric, module, of, diagnoses
        # A misconception found in several functions costs points in the first of them, in the order of the rubric.
        last_first = [m for diagnosis in list(diagnoses.values())[::-1] for m in diagnosis.misconceptions]
        first = {m.same: m.function for m in last_first}
        self.charged = {
            name: tuple(m for m in diagnosis.misconceptions if first[m.same] == m.function)
            for name, diagnosis in diagnoses.items()
        }

    def scores(self) -> dict[str, CriterionScore]:
        criteria = self.rubric.of(self.module)
        graded = {c.id: self._of_values(c) for c in criteria if c.looks_at == "values"}
        graded |= {c.id: _plain(c, self.of[c.id], self.diagnoses) for c in criteria if c.looks_at == "examples"}
        graded |= {c.id: self._of_form(c, graded) for c in criteria if c.looks_at == "form"}
        return {c.id: graded[c.id] for c in criteria}

    # Criteria of value

    def _of_values(self, criterion: Criterion) -> CriterionScore:
        if not self.of[criterion.id]:
            return CriterionScore(criterion, "unexplained")
        each = [self._of_function(criterion, function) for function in criterion.grades]
        lost = [score for score in each if not score.passed]
        if lost:
            misconceptions = [m for score in lost for m in score.misconceptions]
            # The same mistake in another function that this criterion grades is named too.
            same = {misconception.same for misconception in misconceptions}
            again = [m for score in each for m in score.misconceptions if m.same in same and criterion.id in m.criteria]
            return replace(lost[0], misconceptions=tuple(dict.fromkeys([*misconceptions, *again])))
        return next((score for score in each if score.why == "elsewhere"), CriterionScore(criterion))

    def _of_function(self, criterion: Criterion, function: str) -> CriterionScore:
        """The score of a criterion from the calls of one function."""
        wrong = [r for r in self.of[criterion.id] if r.target.function == function and r.failed]
        own = tuple(m for m in self.charged.get(function, ()) if criterion.id in m.criteria)
        call_result = wrong[0] if wrong else None
        if own:
            chosen = self.diagnoses[function].chosen
            telling = (r for r in wrong if chosen is not None and chosen.shows(own, r))
            return CriterionScore(criterion, "mistake", own, call_result=next(telling, call_result))
        diagnosis = self.diagnoses.get(function)
        if diagnosis is not None and diagnosis.empty:
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        if call_result is None or diagnosis is None:
            return CriterionScore(criterion)
        form = [r for r in wrong if not wrong_in_value(r)]
        breach = tuple(seen(form[0], diagnosis.complete)) if form and not diagnosis.formal else ()
        helpers = [h for h in self.rubric.helpers(self.module, (function,)) if h in self.diagnoses]
        theirs = {misconception.name for helper in helpers for misconception in self.diagnoses[helper].observed}
        if (
            form
            and not diagnosis.formal
            and not (breach and {misconception.name for misconception in breach} <= theirs)
        ):
            return CriterionScore(criterion, "form", breach, call_result=form[0])
        if not diagnosis.explains(criterion.id):
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        misconceptions = (*diagnosis.misconceptions, *diagnosis.helpers)
        return CriterionScore(
            criterion, "elsewhere", misconceptions, self._under(misconceptions), call_result=call_result
        )

    def _under(self, misconceptions: Iterable[Misconception]) -> tuple[str, ...]:
        """The criteria that these mistakes, or the same ones in other functions, cost."""
        same = {misconception.same for misconception in misconceptions}
        criteria = [c for own in self.charged.values() for m in own if m.same in same for c in m.criteria]
        return tuple(dict.fromkeys(criteria))

    # Criteria of form

    def _of_form(self, criterion: Criterion, values: Mapping[str, CriterionScore]) -> CriterionScore:
        call_results = self.of[criterion.id]
        if not call_results:
            return CriterionScore(criterion, "unexplained")
        wrong = [call_result for call_result in call_results if call_result.failed]
        if score := next(filter(None, (self._breach(criterion, call_result) for call_result in wrong)), None):
            return score
        only_here = next(filter(self._is_charged_nowhere, wrong), None)
        if only_here is not None:
            return CriterionScore(criterion, "unexplained", call_result=only_here)
        own = [m for misconceptions in self.charged.values() for m in misconceptions if criterion.id in m.criteria]
        if own:
            return CriterionScore(criterion, "mistake", tuple(own))
        earning = [function for function in criterion.grades if self._earns(function, values)]
        if len(earning) < LEAST_OF_FORM * len(criterion.grades):
            return CriterionScore(criterion, "too little")
        return CriterionScore(criterion)

    def _breach(self, criterion: Criterion, call_result: CallResult) -> CriterionScore | None:
        """The side effect or dtype that a failing call of a criterion of form shows, if the function itself causes it."""
        diagnosis = self.diagnoses[call_result.target.function]
        misconceptions = tuple(seen(call_result, diagnosis.complete))
        if diagnosis.formal and not any(criterion.id in m.criteria for m in diagnosis.misconceptions):
            return None  # a mistake scored elsewhere, or a helper, causes it
        return CriterionScore(criterion, "form", misconceptions, call_result=call_result) if misconceptions else None

    def _is_charged_nowhere(self, call_result: CallResult) -> bool:
        """Whether a failing call is of a function with no other failing call and no diagnosed mistake.

        It fails because of an earlier call, or on these arguments alone.
        """
        function = call_result.target.function
        if self.diagnoses[function].complete:
            return False
        criteria = [c.id for c in self.rubric.of(self.module) if c.looks_at == "values" and function in c.grades]
        own = [r for name in criteria for r in self.of[name] if r.target.function == function]
        return not any(call_result.failed for call_result in own)

    def _earns(self, function: str, values: Mapping[str, CriterionScore]) -> bool:
        """Whether a criterion of value that grades the function is earned, or misconceptions explain all its results.

        If no criterion of value grades it: whether its calls pass.
        """
        diagnosis = self.diagnoses.get(function)
        if diagnosis is not None and diagnosis.complete and not diagnosis.empty:
            return True
        graded = [c.id for c in self.rubric.of(self.module) if c.looks_at == "values" and function in c.grades]
        if graded:
            return any(values[name].passed for name in graded)
        return diagnosis is None
