"""The message of a criterion: the facts that decide which sentences of messages.j2 apply.

Values are shown for public inputs only, and come from a process that had received no hidden input. Each thing is said once, under
the first lost criterion with the same visibility; the others refer to it.
"""

from functools import cached_property
from itertools import takewhile

from autograder.feedback.counterexamples import Counterexample
from autograder.feedback.sentences import paragraphs, unwritten
from autograder.feedback.visibility import may_name, tells_as_much
from autograder.grading import plan as plans
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.probes import is_unsteady
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION
from autograder.values.differences import REMEMBERED, UNSTEADY

ONLY_FORM = ("changed", "changed_later", "shared", "overwritten", "dtype")
OF_VALUE = ("value", "shape", "type", "length", "raised", "no_error")


def message(graded: CriterionScore, result: Result) -> str:
    """The message of one criterion, in Markdown; "" if there is nothing to say."""
    text = paragraphs("message", Message(graded, result))
    return f"{text}\n" if text else ""


class Message:
    """The facts about one criterion that the templates use; None or empty if a sentence does not apply."""

    def __init__(self, graded: CriterionScore, result: Result):
        self.graded, self.criterion, self.submission, self.result = graded, graded.criterion, result.submission, result
        self.is_integration = graded.criterion.module == INTEGRATION
        own = next((m for m in result.modules if m.module == graded.criterion.module), None)
        self.is_broken = not self.is_integration and own is not None and own.broken is not None
        is_at_once = own is not None and own.at_once is not None and graded.criterion.visible and not graded.passed
        self.module = own.at_once if own is not None and is_at_once else own
        self.call = (
            graded.call_result if graded.call_result is not None and graded.call_result.failure is not None else None
        )
        of = graded.call_result.target if graded.call_result is not None else next(iter(graded.misconceptions), None)
        self.function = of.function if of is not None else ""
        self.unwritten = unwritten(graded.call_result, result.submission)
        error = graded.call_result.response.error if graded.call_result is not None else None
        self.is_missing = error is not None and error.hint == "missing"

    # Earned

    @property
    def is_single(self) -> bool:
        return len({misconception.same for misconception in self.graded.misconceptions}) < 2

    @property
    def is_same_mistake(self) -> bool:
        """Whether the mistake that costs points elsewhere is known to be the one in these calls."""
        misconceptions, name = self.graded.misconceptions, self.criterion.id
        return (
            bool(self.charged)
            and bool(misconceptions)
            and all(name in misconception.criteria for misconception in misconceptions)
        )

    @property
    def charged(self) -> tuple[str, ...]:
        return self.graded.charged

    @property
    def charged_places(self) -> list[str]:
        return [name for name in self.charged if may_name(self.criterion, rubric.current().criteria[name])]

    # Lost

    @cached_property
    def _earlier(self) -> list[CriterionScore]:
        """The lost criteria of the module before this one that are shown as early."""
        every = self.module.graded if self.module is not None else ()
        before = takewhile(lambda graded: graded.criterion.id != self.criterion.id, every)
        return [g for g in before if not g.passed and tells_as_much(self.criterion, g.criterion)]

    @cached_property
    def before(self) -> dict[str, str]:
        """The mistakes reported under earlier criteria, each with the first of these."""
        return {m.id: graded.criterion.id for graded in self._earlier[::-1] for m in graded.misconceptions}

    @property
    def told(self) -> tuple[Misconception, ...]:
        return tuple(misconception for misconception in self.graded.misconceptions if misconception.id in self.before)

    @property
    def new(self) -> tuple[Misconception, ...]:
        return tuple(
            misconception for misconception in self.graded.misconceptions if misconception.id not in self.before
        )

    @property
    def places(self) -> str:
        return " and ".join(dict.fromkeys(f"`{self.before[misconception.id]}`" for misconception in self.told))

    @cached_property
    def place(self) -> str:
        """The earlier criterion under which the example is shown."""
        shown = {
            _example(g): g.criterion.id
            for g in self._earlier[::-1]
            if unwritten(g.call_result, self.submission) is None
        }
        return shown.get(_example(self.graded), "") if self.example is not None else ""

    @cached_property
    def example(self) -> CallResult | None:
        """The public example that shows what is wrong."""
        example = _example(self.graded)
        elsewhere = any(
            _example(g) is example and unwritten(g.call_result, self.submission) is None for g in self._earlier
        )
        if example is None or _alike(example, self.graded.call_result) or not (elsewhere or self.graded.blamed):
            return example
        return None  # it shows another symptom there, or that of a helper

    @cached_property
    def says_failure(self) -> bool:
        """Whether the message describes the failure; not if a later paragraph does."""
        if self.call is None or self.call.failure is None:
            return False
        if self.graded.misconceptions and all(
            misconception.is_observed for misconception in self.graded.misconceptions
        ):
            return False
        of_form = self.call.failure.kind in ("type", "length", "shape", "dtype")
        return not (of_form and self.example is not None and not self.place and _alike(self.example, self.call))

    @property
    def files(self) -> tuple[str, ...]:
        """The files whose lines are reported: two lines of different calls in one message would be confusing."""
        example = None if self.place else self.example
        raises = example is not None and (example.response.error is not None or example.response.ended is not None)
        return () if raises or self.call is None else (f"{self.call.target.module}.py",)

    @cached_property
    def fails_otherwise(self) -> CallResult | None:
        """A call of the criterion that fails in another way than the first, if neither is explained."""
        first = self.call
        if (
            self.graded.why not in ("unexplained", "form")
            or self.graded.blamed
            or first is None
            or first.failure is None
        ):
            return None
        if first.failure.kind == "overwritten":
            return None  # later calls may return what was written
        others = (
            r for r in self._call_results if r.test_call.criterion == self.criterion.id and r.target == first.target
        )
        # A call that needs other calls may pass without them.
        return next(
            (r for r in others if r.failure is not None and not _alike(r, first) and not r.test_call.needs), None
        )

    @property
    def fails_otherwise_in_value(self) -> CallResult | None:
        other = self.fails_otherwise if self.graded.why == "form" else None
        return other if other is not None and other.failure is not None and other.failure.kind in OF_VALUE else None

    @property
    def fix_first(self) -> list[str]:
        return [f"{name}.py" for name in self.graded.fix_first]

    @property
    def counterexample(self) -> Counterexample:
        assert self.example is not None and self.module is not None
        is_named = any(misconception.right for misconception in self.graded.misconceptions)
        outcomes = self.module.probe_results.get(self.example.test_call, ())
        is_alike = _alike(self.example, self.graded.call_result)
        return Counterexample.of(self.example, is_named, self._public(self.example), outcomes, is_alike)

    @property
    def is_worked_example(self) -> bool:
        return self._lacks_example and self.criterion.looks_at == "examples" and not self.graded.depends

    @property
    def result_depends(self) -> str:
        """Whether the result of a public call depends on earlier calls, or on chance."""
        if self.call is None or not self._lacks_example or self._is_explained:
            return ""
        wrong = sum(example.failure is not None for example in self._public(self.call))
        probe_results = self.module.probe_results if self.module is not None else {}
        if any(is_unsteady(own) for test_call, own in probe_results.items() if test_call.target == self.call.target):
            return REMEMBERED if self.graded.depends and wrong > 1 else UNSTEADY  # one result may be right by chance
        return REMEMBERED if self.graded.depends and wrong else ""

    @property
    def passes_public_calls(self) -> bool:
        """Whether only calls that cannot be shown fail."""
        call = self.call
        if (
            call is None
            or call.failure is None
            or not self._lacks_example
            or self._is_explained
            or self.criterion.visible
        ):
            return False
        # The worked examples of the docstrings are public calls too.
        criteria = rubric.current().criteria
        public = [r for r in self._call_results if r.target == call.target]
        worked = [r for r in public if r.test_call.criterion and criteria[r.test_call.criterion].looks_at == "examples"]
        is_called = call.response.error is None or call.response.error.hint != "signature"
        located = any(misconception.does for misconception in self.graded.misconceptions)
        passing = self._public(call)
        if not passing or any(r.failure is not None for r in (*passing, *worked)):
            return False
        return is_called and not located and call.failure.kind in OF_VALUE

    @property
    def _lacks_example(self) -> bool:
        return self.call is not None and self.example is None and self.criterion.feedback == "full"

    @property
    def _is_explained(self) -> bool:
        return any(misconception.right for misconception in self.graded.misconceptions) or bool(self.graded.blamed)

    @property
    def _call_results(self) -> tuple[CallResult, ...]:
        return self.module.call_results if self.module is not None else ()

    def _public(self, call_result: CallResult) -> list[CallResult]:
        """The public examples of the same function."""
        return [own for own in self._call_results if not own.test_call.criterion and own.target == call_result.target]

    # All modules together

    @property
    def causes(self) -> list[str]:
        return [f"{name}.py" for name in causes(self.graded, self.result)]

    @property
    def named_modules(self) -> list[str]:
        return [f"{name}.py" for name in self.graded.blamed if may_be_named(name, self.graded, self.result)]

    @property
    def not_importable(self) -> list[str]:
        return [f"{name}.py" for name in not_importable(self.graded, self.result)]

    @property
    def every_file(self) -> tuple[str, ...]:
        return tuple(rubric.current().files)


def _alike(example: CallResult, call_result: CallResult | None) -> bool:
    """Whether an example fails in the same way as the call that the message begins with."""
    if call_result is None or call_result.failure is None or example.failure is None:
        return True
    return (example.failure.kind, _error(example)) == (call_result.failure.kind, _error(call_result))


def _error(call_result: CallResult) -> str:
    return call_result.response.error.kind if call_result.response.error is not None else ""


def _example(graded: CriterionScore) -> CallResult | None:
    """The public example that a message shows."""
    shown, call_result = graded.shown, graded.call_result
    full = graded.criterion.feedback == "full"
    if not full or shown is None or shown.failure is None or call_result is None or call_result.failure is None:
        return None
    return (
        shown if (call_result.failure.kind in ONLY_FORM) <= (shown.failure.kind == call_result.failure.kind) else None
    )


# What a message about the integration may say about each module


def causes(graded: CriterionScore, result: Result) -> tuple[str, ...]:
    """The modules that earn nothing alone, of those that a failing call of the integration may use, in the order of the rubric."""
    if graded.criterion.module != INTEGRATION or graded.call_result is None:
        return ()
    module = graded.call_result.target.module
    needed = {module} | rubric.current().below(module)
    return tuple(m.module for m in result.modules if m.module in needed and _earns_nothing(m, graded))


def _earns_nothing(module: ModuleResult, graded: CriterionScore) -> bool:
    """Whether a module earns nothing, as far as this message may say so."""
    nothing = (not entry.passed and may_name(graded.criterion, entry.criterion) for entry in module.graded)
    return module.broken is not None or all(nothing)


def may_be_named(name: str, graded: CriterionScore, result: Result) -> bool:
    """Whether this message may say that a module is wrong."""
    failures = (failure for m in result.modules if m.module == name for failure in m.graded if not failure.passed)
    return any(may_name(graded.criterion, failure.criterion) for failure in failures)


def not_importable(graded: CriterionScore, result: Result) -> list[str]:
    """The modules that cannot even be imported alone, of those that a criterion needs."""
    called = {test_call.target.module for test_call in plans.current().together(graded.criterion.id)}
    needed = called.union(*map(rubric.current().below, called))
    return [m.module for m in result.modules if m.broken is not None and m.module in needed]
