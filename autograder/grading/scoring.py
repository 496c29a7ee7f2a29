"""Computes how many points a mistake costs, by the five rules of docs/explanation/scoring.md.

With `charge: criteria` in rubric.yaml, every criterion with a failing call is lost.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from autograder.grading.call_results import CallResult, Target, TestCall, observations, of_function, wrong_in_value
from autograder.grading.diagnosis import Analysis
from autograder.grading.runner.processes import Runner
from autograder.grading.thresholds import LEAST_OF_FORM
from autograder.homework.library import Misconception
from autograder.homework.rubric import Criterion, Rubric

if TYPE_CHECKING:
    from autograder.grading.student_tests import FunctionTests

Why = Literal["right", "elsewhere", "mistake", "unexplained", "form", "too_few", "not_imported", "tests"]


@dataclass(frozen=True)
class CriterionScore:
    """One criterion of one submission: whether it is earned, and `why` (RULES in cli/explain.py explains each value).

    `misconceptions` are those it is lost to, or that cost the criteria `charged` in its place. `call_result` is the
    first failing call that shows them; `example` is a public example that does. `undecided` are misconceptions with the
    same results on every call. `blamed` are wrong helpers, or modules of the integration, that were replaced by the
    reference. `depends`: public examples fail after other calls and pass alone. `at_least`: there are further, unnamed
    mistakes. `differs`: `example` has another outcome beside correct modules; `imported` are the files that it may depend
    on, and `fix_first` those of them that fail a public call. `share` is the part of its points that a lost criterion still earns.
    """

    criterion: Criterion
    why: Why = "right"
    misconceptions: tuple[Misconception, ...] = ()
    charged: tuple[str, ...] = ()
    call_result: CallResult | None = None
    example: CallResult | None = None
    undecided: tuple[Misconception, ...] = ()
    blamed: tuple[str, ...] = ()
    depends: bool = False
    at_least: bool = False
    differs: bool = False
    imported: tuple[str, ...] = ()
    fix_first: tuple[str, ...] = ()
    share: float = 0.0
    tests: "FunctionTests | None" = None

    @property
    def passed(self) -> bool:
        return self.why in ("right", "elsewhere")

    @property
    def points(self) -> float:
        """The points that count: none for a dropped criterion, all for one given to everybody."""
        if self.passed or self.criterion.counts:
            return self.criterion.most
        return round(self.criterion.most * self.share, 2)


def scored(
    runner: Runner, rubric: Rubric, visible: Analysis, every: Analysis, at_home: Mapping[TestCall, CallResult]
) -> list[CriterionScore]:
    """Return the score of every criterion of a module: visible ones from public calls, the others from all calls.

    A visible criterion is also earned if its calls pass with the student's own files.
    """
    rules = {True: Scoring(rubric, visible), False: Scoring(rubric, every)}
    scores = []
    for criterion in rubric.of(every.module):
        results = [r for t, r in at_home.items() if t.criterion == criterion.id] if criterion.visible else []
        is_earned = bool(results) and not any(call_result.failed for call_result in results)
        scores.append(CriterionScore(criterion) if is_earned else rules[criterion.visible].scores[criterion.id])
    lost = {score.criterion.id for score in scores if not score.passed}
    scores = [rules[score.criterion.visible].with_causes(score, lost) for score in scores]
    return list(_with_signatures(runner, every, scores, rubric.charge == "criteria"))


def _with_signatures(
    runner: Runner, analysis: Analysis, scores: Sequence[CriterionScore], by_criteria: bool
) -> Iterator[CriterionScore]:
    """Yield the scores with the cost of signatures that do not accept every call of the contract.

    Such calls were adapted, so their results count. All of them together cost the worked examples and the first criterion on
    values that has such a call, besides the criteria that failed because a call could not be adapted.
    """
    refused: dict[str, dict[Target, CallResult]] = defaultdict(dict)  # the first call by criterion and function
    for call_result in analysis.call_results if runner.has_misfits else ():
        if call_result.test_call.criterion and runner.refuses(call_result.test_call):
            refused[call_result.test_call.criterion].setdefault(call_result.target, call_result)
    on_values = (score.criterion.id for score in scores if score.criterion.looks_at == "values")
    first = next(filter(refused.__contains__, on_values), "")
    for score in scores:
        criterion, calls = score.criterion, refused.get(score.criterion.id, {})
        is_cause = score.call_result is not None and score.call_result.is_absent
        costs = is_cause or criterion.id == first or criterion.looks_at == "examples"
        if not calls or not (costs or by_criteria):
            yield score
            continue
        targets = dict.fromkeys(chain.from_iterable(refused.values())) if criterion.id == first else calls
        named = (misconception for t in targets if (misconception := runner.signature_of(t, criterion.id)))
        base = CriterionScore(criterion, call_result=next(iter(calls.values()))) if score.passed else score
        yield replace(base, why="mistake", misconceptions=(*score.misconceptions, *named))


class Scoring:
    """The rules for one module of one submission. `scores` has the score of each criterion by its id."""

    def __init__(self, rubric: Rubric, analysis: Analysis):
        self.rubric, self.criteria = rubric, rubric.of(analysis.module)
        self.diagnoses, self.helped = analysis.diagnoses, analysis.helped
        self.of = analysis.by_criterion
        # A misconception found in several functions costs points in the first of them, in the order of the rubric.
        last_first = [m for diagnosis in list(self.diagnoses.values())[::-1] for m in diagnosis.misconceptions]
        first = {m.same: m.function for m in last_first}
        self.charged = {
            name: tuple(m for m in diagnosis.misconceptions if first[m.same] == m.function)
            for name, diagnosis in self.diagnoses.items()
        }
        self.scores: dict[str, CriterionScore] = {}
        for criterion in sorted(self.criteria, key=lambda criterion: criterion.looks_at == "form"):
            if not self.of[criterion.id]:
                score = CriterionScore(criterion, "unexplained")
            elif criterion.looks_at == "examples" or rubric.charge == "criteria":
                score = self._plain(criterion)
            else:
                score = self._of_values(criterion) if criterion.looks_at == "values" else self._of_form(criterion)
            # Partial credit is the share of passing hidden tests; none for code that computes nothing.
            nothing = any(self.diagnoses[f].empty for f in criterion.grades if f in self.diagnoses)
            if criterion.credit == "share" and not score.passed and not nothing and self.of[criterion.id]:
                tests = {call_result.test_call.test for call_result in self.of[criterion.id]}
                failing = {call_result.test_call.test for call_result in self.of[criterion.id] if call_result.failed}
                score = replace(score, share=len(tests - failing) / len(tests))
            self.scores[criterion.id] = score

    def with_causes(self, score: CriterionScore, lost: Collection[str]) -> CriterionScore:
        """Return the score with the causes that its message may name."""
        if not self.diagnoses:
            return score
        function = score.call_result.target.function if score.call_result is not None else ""
        concerned = {function, *(misconception.function for misconception in score.misconceptions)}
        undecided = {m.id: m for name, d in self.diagnoses.items() if name in concerned for m in d.undecided}
        is_sure = score.criterion.looks_at != "examples"  # which list only named misconceptions
        if is_sure and score.misconceptions and not any(m.id in undecided for m in score.misconceptions):
            undecided = {}
        unsure = {m.id for d in self.diagnoses.values() if not d.sure for m in d.misconceptions}
        partly = {name for name, d in self.diagnoses.items() if d.chosen is not None and not d.complete}
        # The wrong helpers, each with a call that it made fail. Without a failing call, no helper is to blame.
        blamed = {
            helper: call_result
            for helped, (helpers, failing) in self.helped.items()
            for call_result in failing
            if call_result.test_call.criterion == score.criterion.id
            and (helped == function if function else score.passed and helped not in self.diagnoses)
            for helper in helpers
            if helper in self.diagnoses
        }
        return replace(
            score,
            call_result=score.call_result or next(iter(blamed.values()), None),
            misconceptions=tuple(m for m in score.misconceptions if m.id not in undecided.keys() | unsure),
            charged=tuple(name for name in score.charged if name != score.criterion.id and name in lost),
            undecided=tuple(undecided.values()),
            blamed=tuple(blamed),
            at_least=any(misconception.function in partly for misconception in score.misconceptions),
        )

    def _plain(self, criterion: Criterion) -> CriterionScore:
        """Return the score of a criterion that any failing call loses; wrong helpers alone only cost worked examples."""
        excused = set()
        if criterion.looks_at != "examples":
            of_helpers = {name: d for name, d in self.diagnoses.items() if d.helpers and not d.misconceptions}
            in_value = criterion.looks_at == "values"
            excused = {n for n, d in of_helpers.items() if (criterion.id in d.criteria if in_value else d.formal)}
        failing = (r for r in self.of[criterion.id] if r.failed and r.target.function not in excused)
        failing_call = next(failing, None)
        if failing_call is None:
            return CriterionScore(criterion)
        named: tuple[Misconception, ...] = ()
        if diagnosis := self.diagnoses.get(failing_call.target.function):
            helpers = diagnosis.helpers if diagnosis.complete else ()
            # An observed side effect explains no wrong value.
            if diagnosis.sure or helpers or not wrong_in_value(failing_call):
                named = (*diagnosis.named, *helpers)
        return CriterionScore(criterion, "mistake" if named else "unexplained", named, call_result=failing_call)

    # Criteria on values

    def _of_values(self, criterion: Criterion) -> CriterionScore:
        each = [self._of_function(criterion, function) for function in criterion.grades]
        if lost := [score for score in each if not score.passed]:
            return replace(
                lost[0], misconceptions=tuple(dict.fromkeys(m for score in lost for m in score.misconceptions))
            )
        return next((score for score in each if score.why == "elsewhere"), CriterionScore(criterion))

    def _of_function(self, criterion: Criterion, function: str) -> CriterionScore:
        """Return the score of a criterion from the calls of one function."""
        failing = [r for r in of_function(self.of[criterion.id], function) if r.failed]
        call_result, diagnosis = next(iter(failing), None), self.diagnoses.get(function)
        if diagnosis is None:
            return CriterionScore(criterion)
        if mistakes := tuple(m for m in self.charged[function] if criterion.id in m.criteria):
            showing = (r for r in failing if diagnosis.chosen is not None and diagnosis.chosen.shows(mistakes, r))
            return CriterionScore(criterion, "mistake", mistakes, call_result=next(showing, call_result))
        if diagnosis.empty:
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        if call_result is None:
            return CriterionScore(criterion)
        form = next((r for r in failing if not wrong_in_value(r)), None)
        if form is not None and not diagnosis.formal:
            breach = tuple(observations(form, diagnosis.memory))
            helpers = [h for h in self.rubric.helpers(criterion.module, (function,)) if h in self.diagnoses]
            theirs = {m.name for helper in helpers for m in self.diagnoses[helper].observed}
            if not breach or not {misconception.name for misconception in breach} <= theirs:
                return CriterionScore(criterion, "form", breach, call_result=form)
        if criterion.id in diagnosis.related:
            places = tuple(self._grading_values(function))
            return CriterionScore(criterion, "elsewhere", charged=places, call_result=call_result)
        if criterion.id not in diagnosis.criteria:
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        misconceptions = (*diagnosis.misconceptions, *diagnosis.helpers)
        # The criteria that these mistakes, or the same ones in other functions, cost.
        same = {misconception.same for misconception in misconceptions}
        under = dict.fromkeys(c for group in self.charged.values() for m in group if m.same in same for c in m.criteria)
        return CriterionScore(criterion, "elsewhere", misconceptions, tuple(under), call_result=call_result)

    # Criteria on side effects and dtypes

    def _of_form(self, criterion: Criterion) -> CriterionScore:
        failing = [call_result for call_result in self.of[criterion.id] if call_result.failed]
        for call_result in failing:
            diagnosis = self.diagnoses[call_result.target.function]
            is_explained = diagnosis.formal and (diagnosis.memory or call_result.kind != "unsteady")
            if is_explained and not any(criterion.id in m.criteria for m in diagnosis.misconceptions):
                continue  # a mistake scored elsewhere, or a helper, causes it
            if breach := tuple(observations(call_result, diagnosis.memory)):
                return CriterionScore(criterion, "form", breach, call_result=call_result)
        if only_here := next(filter(self._is_charged_nowhere, failing), None):
            return CriterionScore(criterion, "unexplained", call_result=only_here)
        if mistakes := tuple(m for charged in self.charged.values() for m in charged if criterion.id in m.criteria):
            # A repair without a line says nothing by itself.
            example = None if any(m.does for m in mistakes) else next(iter(failing), None)
            return CriterionScore(criterion, "mistake", mistakes, call_result=example)
        # A function counts if it is explained, earns a criterion on values or, if none grades it, has no failing call.
        earning = 0
        for function in criterion.grades:
            diagnosed, graded = self.diagnoses.get(function), self._grading_values(function)
            is_explained = diagnosed is not None and diagnosed.complete and not diagnosed.empty
            earning += is_explained or (any(self.scores[c].passed for c in graded) if graded else diagnosed is None)
        enough = earning >= LEAST_OF_FORM * len(criterion.grades)
        return CriterionScore(criterion, "right" if enough else "too_few")

    def _grading_values(self, function: str) -> list[str]:
        """Return the criteria on values that grade a function."""
        return [c.id for c in self.criteria if c.looks_at == "values" and function in c.grades]

    def _is_charged_nowhere(self, call_result: CallResult) -> bool:
        """Whether a call is the only failure of an undiagnosed function, such as one that depends on earlier calls."""
        function = call_result.target.function
        results = [r for name in self._grading_values(function) for r in of_function(self.of[name], function)]
        return not self.diagnoses[function].complete and not any(call_result.failed for call_result in results)
