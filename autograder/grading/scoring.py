"""Computes how many points a mistake costs, by the five rules of docs/explanation/scoring.md.

With `charge: criteria` in rubric.yaml, every criterion with a failing call is lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from autograder.grading.call_results import CallResult, TestCall, of_function
from autograder.grading.diagnosis import Diagnosis, seen
from autograder.grading.known_responses import wrong_in_value
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
    first failing call that shows them; `shown` is a public example that does. `undecided` are misconceptions with the
    same results on every call. `blamed` are wrong helpers, or modules of the integration, that were replaced by the
    reference. `depends`: public examples fail after other calls and pass alone. `at_least`: there are further, unnamed
    mistakes. `differs`: `shown` has another outcome beside correct modules; `imported` are the files that it may depend
    on, and `fix_first` those of them that fail a public call. `share` is the part of its points that a lost criterion still earns.
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


@dataclass(frozen=True)
class Analysis:
    """The results of a module's calls, and what is known about its functions.

    `helped`: for each function that ran again with correct helpers, the replaced helpers and its earlier failures.
    """

    module: str
    call_results: tuple[CallResult, ...]
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    helped: dict[str, tuple[tuple[str, ...], tuple[CallResult, ...]]] = field(default_factory=dict)

    @cached_property
    def wrong(self) -> frozenset[TestCall]:
        return frozenset(call_result.test_call for call_result in self.call_results if call_result.failed)

    def helpers(self, function: str) -> tuple[str, ...]:
        """The helpers that were replaced when the function ran."""
        return self.helped.get(function, ((), ()))[0]

    def blamed(self, criterion: Criterion, lost_to: str) -> dict[str, CallResult]:
        """The replaced helpers of a criterion's calls, each with a call that it made fail; `lost_to` is a function or ""."""
        return {
            helper: call_result
            for function, (helpers, wrong) in self.helped.items()
            for call_result in wrong
            if call_result.test_call.criterion == criterion.id
            and (function == lost_to if lost_to else function not in self.diagnoses)
            for helper in helpers
            if helper in self.diagnoses
        }


class Scoring:
    """The rules for one module of one submission."""

    def __init__(self, rubric: Rubric, analysis: Analysis):
        self.rubric, self.criteria, self.diagnoses = rubric, rubric.of(analysis.module), analysis.diagnoses
        self.of = {c.id: [r for r in analysis.call_results if r.test_call.criterion == c.id] for c in self.criteria}
        # A misconception found in several functions costs points in the first of them, in the order of the rubric.
        last_first = [m for diagnosis in list(self.diagnoses.values())[::-1] for m in diagnosis.misconceptions]
        first = {m.same: m.function for m in last_first}
        self.charged = {
            name: tuple(m for m in diagnosis.misconceptions if first[m.same] == m.function)
            for name, diagnosis in self.diagnoses.items()
        }

    def scores(self) -> dict[str, CriterionScore]:
        """The score of each criterion."""
        plain = [c for c in self.criteria if c.looks_at == "examples" or self.rubric.charge == "criteria"]
        graded = {c.id: self._plain(c) for c in plain}
        graded |= {c.id: self._of_values(c) for c in self.criteria if c not in plain and c.looks_at == "values"}
        graded |= {c.id: self._of_form(c, graded) for c in self.criteria if c not in plain and c.looks_at == "form"}
        return {c.id: replace(graded[c.id], share=self._share(graded[c.id])) for c in self.criteria}

    def _share(self, graded: CriterionScore) -> float:
        """The share of passing hidden tests of a lost criterion with partial credit; none for code that computes nothing."""
        criterion = graded.criterion
        nothing = any(self.diagnoses[f].empty for f in criterion.grades if f in self.diagnoses)
        if criterion.credit == "all" or graded.passed or nothing:
            return 0.0
        tests = {call_result.test_call.test for call_result in self.of[criterion.id]}
        failing = {call_result.test_call.test for call_result in self.of[criterion.id] if call_result.failed}
        return len(tests - failing) / max(1, len(tests))

    def _plain(self, criterion: Criterion) -> CriterionScore:
        """The score of a criterion that any failing call loses."""
        wrong = next((call_result for call_result in self.of[criterion.id] if call_result.failed), None)
        if wrong is None:
            return CriterionScore(criterion, "right" if self.of[criterion.id] else "unexplained")
        named: tuple[Misconception, ...] = ()
        if diagnosis := self.diagnoses.get(wrong.target.function):
            helpers = diagnosis.helpers if diagnosis.complete else ()
            # An observed side effect explains no wrong value.
            if diagnosis.sure or helpers or not wrong_in_value(wrong):
                named = (*diagnosis.named, *helpers)
        return CriterionScore(criterion, "mistake" if named else "unexplained", named, call_result=wrong)

    # Criteria on values

    def _of_values(self, criterion: Criterion) -> CriterionScore:
        if not self.of[criterion.id]:
            return CriterionScore(criterion, "unexplained")
        each = [self._of_function(criterion, function) for function in criterion.grades]
        lost = [score for score in each if not score.passed]
        if lost:
            misconceptions = [m for score in lost for m in score.misconceptions]
            # Also name the same mistake in another function that this criterion grades.
            same = {misconception.same for misconception in misconceptions}
            again = [m for score in each for m in score.misconceptions if m.same in same and criterion.id in m.criteria]
            return replace(lost[0], misconceptions=tuple(dict.fromkeys([*misconceptions, *again])))
        return next((score for score in each if score.why == "elsewhere"), CriterionScore(criterion))

    def _of_function(self, criterion: Criterion, function: str) -> CriterionScore:
        """The score of a criterion from the calls of one function."""
        wrong = [r for r in of_function(self.of[criterion.id], function) if r.failed]
        call_result, diagnosis = next(iter(wrong), None), self.diagnoses.get(function)
        if own := tuple(m for m in self.charged.get(function, ()) if criterion.id in m.criteria):
            chosen = self.diagnoses[function].chosen
            telling = (r for r in wrong if chosen is not None and chosen.shows(own, r))
            return CriterionScore(criterion, "mistake", own, call_result=next(telling, call_result))
        if diagnosis is not None and diagnosis.empty:
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        if call_result is None or diagnosis is None:
            return CriterionScore(criterion)
        form = next((r for r in wrong if not wrong_in_value(r)), None)
        if form is not None and not diagnosis.formal:
            breach = tuple(seen(form, diagnosis.memory))
            helpers = [h for h in self.rubric.helpers(criterion.module, (function,)) if h in self.diagnoses]
            theirs = {m.name for helper in helpers for m in self.diagnoses[helper].observed}
            if not breach or not {misconception.name for misconception in breach} <= theirs:
                return CriterionScore(criterion, "form", breach, call_result=form)
        if not diagnosis.explains(criterion.id):
            return CriterionScore(criterion, "unexplained", call_result=call_result)
        misconceptions = (*diagnosis.misconceptions, *diagnosis.helpers)
        # The criteria that these mistakes, or the same ones in other functions, cost.
        same = {misconception.same for misconception in misconceptions}
        under = dict.fromkeys(c for own in self.charged.values() for m in own if m.same in same for c in m.criteria)
        return CriterionScore(criterion, "elsewhere", misconceptions, tuple(under), call_result=call_result)

    # Criteria on side effects and dtypes

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
        if own := tuple(m for charged in self.charged.values() for m in charged if criterion.id in m.criteria):
            # A repair without a line says nothing by itself.
            call_result = None if any(m.does for m in own) else next(iter(wrong), None)
            return CriterionScore(criterion, "mistake", own, call_result=call_result)
        earning = [function for function in criterion.grades if self._earns(function, values)]
        enough = len(earning) >= LEAST_OF_FORM * len(criterion.grades)
        return CriterionScore(criterion, "right" if enough else "too_few")

    def _breach(self, criterion: Criterion, call_result: CallResult) -> CriterionScore | None:
        """The side effect or dtype in a failing call, if the function itself causes it."""
        diagnosis = self.diagnoses[call_result.target.function]
        misconceptions = tuple(seen(call_result, diagnosis.memory))
        is_explained = diagnosis.formal and (diagnosis.memory or call_result.kind != "unsteady")
        if is_explained and not any(criterion.id in m.criteria for m in diagnosis.misconceptions):
            return None  # a mistake scored elsewhere, or a helper, causes it
        return CriterionScore(criterion, "form", misconceptions, call_result=call_result) if misconceptions else None

    def _grading_values(self, function: str) -> list[str]:
        """The criteria on values that grade a function."""
        return [c.id for c in self.criteria if c.looks_at == "values" and function in c.grades]

    def _is_charged_nowhere(self, call_result: CallResult) -> bool:
        """Whether a call is the only failure of an undiagnosed function, such as one that depends on earlier calls."""
        function = call_result.target.function
        own = [r for name in self._grading_values(function) for r in of_function(self.of[name], function)]
        return not self.diagnoses[function].complete and not any(call_result.failed for call_result in own)

    def _earns(self, function: str, values: Mapping[str, CriterionScore]) -> bool:
        """Whether a function is explained, earns a criterion on values or, if none grades it, has no failing call."""
        diagnosis = self.diagnoses.get(function)
        if diagnosis is not None and diagnosis.complete and not diagnosis.empty:
            return True
        graded = self._grading_values(function)
        return any(values[name].passed for name in graded) if graded else diagnosis is None
