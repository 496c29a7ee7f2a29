"""The message of a criterion: the facts that decide which sentences of messages.j2 apply.

Values are shown for public inputs only, and come from a process that had received no hidden input. Each fact is
reported once, under the first lost criterion with the same visibility; other messages refer to it.
"""

from functools import cached_property
from itertools import takewhile

from autograder.feedback.counterexamples import Counterexample
from autograder.feedback.sentences import paragraphs, unwritten
from autograder.grading import plan as plans
from autograder.grading.call_results import CallResult
from autograder.grading.grader import Result
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric
from autograder.homework.rubric import INTEGRATION, Criterion
from autograder.values.differences import REMEMBERED

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
        self.causes = causes(graded, result)
        own = next((m for m in result.modules if m.module == graded.criterion.module), None)
        self.is_broken = not self.is_integration and own is not None and own.broken is not None
        is_at_once = own is not None and own.previewed and graded.criterion.visible and not graded.passed
        self.call_results = () if own is None else own.previewed if is_at_once else own.call_results
        self.probe_results = {} if own is None or is_at_once else own.probe_results
        first = graded.call_result
        self.call = first if first is not None and first.failed else None
        of = first.target if first is not None else next(iter(graded.misconceptions), None)
        self.function = of.function if of is not None else ""
        self.unwritten = unwritten(first, result.submission)
        self.is_missing = first is not None and first.error is not None and first.error.hint == "missing"
        self.is_observed = bool(graded.misconceptions) and all(m.is_observed for m in graded.misconceptions)
        self.is_explained = any(misconception.right for misconception in graded.misconceptions) or bool(graded.blamed)
        # The lost criteria that precede this one in the module and are shown no later.
        before = takewhile(
            lambda other: other.criterion.id != graded.criterion.id, own.graded if own is not None else ()
        )
        self.earlier = [g for g in before if not g.passed and tells_as_much(graded.criterion, g.criterion)]
        # Mistakes reported under earlier criteria, each with the first such criterion.
        self.before = {m.id: earlier.criterion.id for earlier in self.earlier[::-1] for m in earlier.misconceptions}
        self.reported = [m for m in graded.misconceptions if m.id in self.before]
        self.places = list(dict.fromkeys(self.before[m.id] for m in self.reported))
        self.new = [m for m in graded.misconceptions if m.id not in self.before]

    # Earned

    @property
    def is_same_mistake(self) -> bool:
        """Whether these calls are known to fail because of the mistake that costs points elsewhere."""
        of_this = [self.criterion.id in misconception.criteria for misconception in self.graded.misconceptions]
        return bool(self.graded.charged) and bool(of_this) and all(of_this)

    @property
    def charged_places(self) -> list[str]:
        return [n for n in self.graded.charged if may_name(self.criterion, rubric.current().criteria[n])]

    # Lost

    @cached_property
    def _examples_before(self) -> dict[CallResult | None, str]:
        """The examples shown under earlier criteria, each with the first such criterion."""
        written = [g for g in self.earlier[::-1] if unwritten(g.call_result, self.submission) is None]
        return {_example(g): g.criterion.id for g in written}

    @cached_property
    def place(self) -> str:
        """The earlier criterion under which the example is shown."""
        return self._examples_before.get(self.example, "") if self.example is not None else ""

    @cached_property
    def example(self) -> CallResult | None:
        """The public example to show. One with another symptom is omitted if it is shown elsewhere or a helper is blamed."""
        example = _example(self.graded)
        shown = example is None or _alike(example, self.graded.call_result)
        return example if shown or not (example in self._examples_before or self.graded.blamed) else None

    @cached_property
    def says_failure(self) -> bool:
        """Whether the message describes the failure. It does not if a later paragraph does."""
        if self.call is None or self.is_observed:
            return False
        of_form = self.call.kind in ("type", "length", "shape", "dtype")
        return not (of_form and self.example is not None and not self.place and _alike(self.example, self.call))

    @property
    def files(self) -> tuple[str, ...]:
        """The files whose line numbers are reported. Those of two different calls in one message would be confusing."""
        raises = self.example is not None and not self.place and not self.example.returned
        return () if raises or self.call is None else (f"{self.call.target.module}.py",)

    @cached_property
    def fails_otherwise(self) -> CallResult | None:
        """A call of the criterion that fails in a different way from the first, if neither is explained."""
        first = self.call
        if self.graded.why not in ("unexplained", "form") or self.graded.blamed or first is None:
            return None
        if first.kind == "overwritten":
            return None  # later calls may return the overwritten values
        own = (r for r in self.call_results if r.test_call.criterion == self.criterion.id and r.target == first.target)
        # A call that needs other calls may pass without them.
        return next((r for r in own if r.failed and not _alike(r, first) and not r.test_call.needs), None)

    @property
    def fails_otherwise_in_value(self) -> CallResult | None:
        other = self.fails_otherwise if self.graded.why == "form" else None
        return other if other is not None and other.kind in OF_VALUE else None

    @property
    def counterexample(self) -> Counterexample:
        assert self.example is not None
        is_named = any(misconception.right for misconception in self.graded.misconceptions)
        outcomes = self.probe_results.get(self.example.test_call, ())
        is_alike = _alike(self.example, self.graded.call_result)
        return Counterexample.of(self.example, is_named, self._public(self.example), outcomes, is_alike)

    @property
    def is_worked_example(self) -> bool:
        return self._lacks_example and self.criterion.looks_at == "examples" and not self.graded.depends

    @property
    def result_depends(self) -> str:
        """A sentence if the result of a public call depends on earlier calls, else ""."""
        if self.call is None or not self._lacks_example or self.is_explained:
            return ""
        wrong = any(example.failed for example in self._public(self.call))
        return REMEMBERED if self.graded.depends and wrong else ""

    @property
    def passes_public_calls(self) -> bool:
        """Whether all public calls pass, so that only calls that cannot be shown return wrong results."""
        call = self.call
        if call is None or not self._lacks_example or self.is_explained or self.criterion.visible:
            return False
        # The worked examples of the docstrings are public calls too.
        examples = {c.id for c in rubric.current().criteria.values() if c.looks_at == "examples"}
        worked = [r for r in self.call_results if r.target == call.target and r.test_call.criterion in examples]
        located = any(misconception.does for misconception in self.graded.misconceptions)
        passing = self._public(call)
        passes = bool(passing) and not any(r.failed for r in (*passing, *worked))
        return passes and call.returned and not located and call.kind in OF_VALUE

    @property
    def _lacks_example(self) -> bool:
        return self.call is not None and self.example is None and self.criterion.feedback == "full"

    def _public(self, call_result: CallResult) -> list[CallResult]:
        """The public examples of the same function."""
        return [own for own in self.call_results if not own.test_call.criterion and own.target == call_result.target]

    # All modules together

    @property
    def named_modules(self) -> list[str]:
        """The modules replaced by references that this message may call wrong."""
        lost = (g.criterion for m in self.result.modules for g in m.graded if not g.passed)
        wrong = {criterion.module for criterion in lost if may_name(self.criterion, criterion)}
        return [name for name in self.graded.blamed if name in wrong]

    @property
    def not_importable(self) -> list[str]:
        """The modules needed by the criterion that cannot be imported even alone."""
        called = {test_call.target.module for test_call in plans.current().together(self.criterion.id)}
        needed = called.union(*map(rubric.current().below, called))
        return [m.module for m in self.result.modules if m.broken is not None and m.module in needed]


def _alike(example: CallResult, call_result: CallResult | None) -> bool:
    """Whether an example fails in the same way as the first call of the message."""
    if call_result is None or not call_result.failed or not example.failed:
        return True
    kinds = [r.error.kind if r.error is not None else r.kind for r in (example, call_result)]
    return example.kind == call_result.kind and kinds[0] == kinds[1]


def _example(graded: CriterionScore) -> CallResult | None:
    """The public example that a message shows."""
    shown, call = graded.shown, graded.call_result
    if graded.criterion.feedback != "full" or shown is None or not shown.failed or call is None or not call.failed:
        return None
    return None if call.kind in ONLY_FORM and shown.kind != call.kind else shown


def causes(graded: CriterionScore, result: Result) -> tuple[str, ...]:
    """The modules that earn nothing and that a failing integration call uses, if its message may name them."""
    if graded.criterion.module != INTEGRATION or graded.call_result is None:
        return ()
    module = graded.call_result.target.module
    needed = [m for m in result.modules if m.module in {module} | rubric.current().below(module)]
    lost = {m.module: [not g.passed and may_name(graded.criterion, g.criterion) for g in m.graded] for m in needed}
    return tuple(m.module for m in needed if m.broken is not None or all(lost[m.module]))


# A message may mention only criteria that are shown no later than itself.

ORDER = ("visible", "after_due_date", "after_published", "hidden")
TELLS = ("score", "diagnosis", "full")


def may_name(reader: Criterion, subject: Criterion) -> bool:
    """Whether the verdict of `subject` is visible wherever the message of `reader` is."""
    return ORDER.index(subject.visibility) <= ORDER.index(reader.visibility)


def tells_as_much(reader: Criterion, subject: Criterion) -> bool:
    """Whether the message of `subject` is visible wherever that of `reader` is, with at least as much feedback."""
    return may_name(reader, subject) and TELLS.index(subject.feedback) >= TELLS.index(reader.feedback)
