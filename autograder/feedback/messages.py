"""The message of a criterion: the facts that decide which sentences of messages.j2 apply.

Values are shown for public inputs only, and come from a process that had received no hidden input. Each fact is
reported once, under the first lost criterion with the same visibility; other messages refer to it.
"""

from functools import cached_property
from itertools import takewhile
from typing import get_args

from autograder.feedback.counterexamples import lines, observe
from autograder.feedback.sentences import form_of_example, paragraphs, unwritten
from autograder.grading.call_results import CallResult, of_function
from autograder.grading.examples import fails_alike, is_unsteady
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.homework.rubric import INTEGRATION, Criterion, Feedback, Visibility
from autograder.shared.differences import FORMS, REMEMBERED

ONLY_FORM = ("changed", "changed_later", "shared", "overwritten", "dtype")


def message(graded: CriterionScore, result: Result) -> str:
    """Return the message of one criterion, in Markdown; "" if there is nothing to say."""
    text = paragraphs("message", Message(graded, result), rubric=result.homework.rubric)
    return f"{text}\n" if text else ""


class Message:
    """The facts about one criterion that the templates use; None or empty if a sentence does not apply."""

    def __init__(self, graded: CriterionScore, result: Result):
        self.graded, self.criterion, self.result, self.rubric = graded, graded.criterion, result, result.homework.rubric
        self.call = graded.call_result
        module_result = next(module for module in result.modules if module.module == graded.criterion.module)
        self.is_broken = module_result.broken is not None
        self.is_integration = module_result.module == INTEGRATION
        self.module_result = module_result
        self.at_home, self.probe_results = module_result.at_home, module_result.probe_results
        of = self.call.target if self.call is not None else next(iter(graded.misconceptions), None)
        self.function = of.function if of is not None else ""
        self.unwritten = unwritten(self.call, result.submission)
        self.causes = causes(graded, result)
        # The lost criteria that precede this one in the module and are shown no later, the last first.
        before = takewhile(lambda score: score.criterion.id != graded.criterion.id, module_result.graded)
        earlier = [g for g in before if not g.passed and tells_as_much(graded.criterion, g.criterion)][::-1]
        # Mistakes and examples reported under earlier criteria, each with the first such criterion.
        reported = {m.id: g.criterion.id for g in earlier for m in g.misconceptions}
        examples = {_example(g): g.criterion.id for g in earlier if unwritten(g.call_result, result.submission) is None}
        self.reported = [m for m in graded.misconceptions if m.id in reported]
        self.places = list(dict.fromkeys(reported[m.id] for m in self.reported))
        self.new = [m for m in graded.misconceptions if m.id not in reported]
        example = _example(graded)
        # An example is shown once; a later criterion points to it if it shows the same failure.
        self.is_shown_before = example is not None and example in examples
        self.earlier_criterion = examples.get(example, "") if example is not None and self._fails_like(example) else ""
        self.example = None if self.is_shown_before else example
        hidden = [] if graded.criterion.visible else of_function(module_result.call_results, self.function)
        calls = (*of_function(self.at_home, self.function), *hidden)
        failing = {c.test_call.criterion for c in calls if c.failed}
        self.fails_example = "" in failing
        self.fails_docstring = any(self.rubric.criteria[c].looks_at == "examples" for c in failing - {""})

    def _fails_like(self, example: CallResult) -> bool:
        """Return whether an example shows the failure of this criterion, or its misconceptions, as examples.py chooses them."""
        is_named = any(m.right and not m.is_observed for m in self.graded.misconceptions)
        return self.call is not None and (is_named or fails_alike(example, self.call))

    @property
    def charged_places(self) -> list[str]:
        """The criteria that a mistake costs in place of this one, if the message may name them."""
        return [n for n in self.graded.charged if may_name(self.criterion, self.rubric.criteria[n])]

    @property
    def says_failure(self) -> bool:
        """Whether the message describes the failure. It does not if a later paragraph does."""
        misconceptions = self.graded.misconceptions
        if self.call is None or (misconceptions and all(m.is_observed for m in misconceptions)):
            return False
        if self.is_explained and self.call.kind == "value":
            return False
        return self.call.kind not in FORMS or self.example is None or not fails_alike(self.example, self.call)

    @property
    def counterexample(self) -> tuple[str, str, bool]:
        """The example as code, sentences on how its values differ, and whether it fails like the criterion's own call."""
        example = self.example
        assert example is not None and self.call is not None
        if self.graded.differs:
            # The result depends on other files of the submission: nothing is said about its value, which is left out if
            # it is the error of another file, or of importing one.
            error = example.error
            is_own = error is None or error.file in ("", f"{example.target.module}.py")
            is_shown = is_own and (error is None or "ImportError" not in error.kinds)
            return lines(example, self.rubric, "with your own files:" if is_shown else ""), "", True
        public = [r for r in self.at_home if not r.test_call.criterion and r.target == example.target]
        outcomes = self.probe_results.get(example.test_call, ())
        sentences = form_of_example(example), "" if self.is_explained else observe(example, public, outcomes)
        return lines(example, self.rubric), " ".join(filter(None, sentences)), fails_alike(example, self.call)

    @property
    def is_explained(self) -> bool:
        """Whether misconceptions explain the whole result, so that nothing needs to be said about its values."""
        return any(m.right for m in self.graded.misconceptions) and not self.graded.at_least

    @cached_property
    def is_unsteady(self) -> bool:
        return varies(self.module_result, self.criterion, self.function)

    @property
    def unstable(self) -> str:
        """A sentence if unexplained results depend on earlier calls or on chance, else ""."""
        is_named = any(misconception.right for misconception in self.graded.misconceptions)
        return REMEMBERED if self.graded.depends and not is_named and not self.graded.blamed else ""

    @property
    def named_modules(self) -> list[str]:
        """The modules replaced by references that this message may call wrong."""
        lost = (g.criterion for m in self.result.modules for g in m.graded if not g.passed)
        failing_modules = {criterion.module for criterion in lost if may_name(self.criterion, criterion)}
        return [name for name in self.graded.blamed if name in failing_modules]


def varies(module: ModuleResult, criterion: Criterion, function: str) -> bool:
    """Whether results of a function vary: public calls show it, or hidden ones to a criterion that may say so."""
    public = any(is_unsteady(o) for t, o in module.probe_results.items() if t.target.function == function)
    hidden = [] if criterion.visible else of_function(module.call_results, function)
    return public or any(call_result.kind == "unsteady" for call_result in hidden)


def _example(graded: CriterionScore) -> CallResult | None:
    """Return the public example that a message shows."""
    example, call = graded.example, graded.call_result
    if graded.criterion.feedback != "full" or example is None or call is None:
        return None
    return None if call.kind in ONLY_FORM and example.kind != call.kind else example


def causes(graded: CriterionScore, result: Result) -> tuple[str, ...]:
    """Return the broken modules, and those in use by a failing integration call that earn nothing, if its message may say so."""
    if graded.criterion.module != INTEGRATION or graded.call_result is None:
        return ()
    module = graded.call_result.target.module
    used = {module} | result.homework.rubric.below(module)
    return tuple(
        m.module
        for m in result.modules
        if m.broken is not None
        or (m.module in used and all(not g.passed and may_name(graded.criterion, g.criterion) for g in m.graded))
    )


# A message may mention only criteria that are shown no later than itself. Both types list their values in this order, the
# earliest and the most first.

ORDER: tuple[Visibility, ...] = get_args(Visibility)
TELLS: tuple[Feedback, ...] = get_args(Feedback)


def may_name(reader: Criterion, subject: Criterion) -> bool:
    """Return whether the verdict of `subject` is visible wherever the message of `reader` is."""
    return ORDER.index(subject.visibility) <= ORDER.index(reader.visibility)


def tells_as_much(reader: Criterion, subject: Criterion) -> bool:
    """Return whether the message of `subject` is visible wherever that of `reader` is, with at least as much feedback."""
    return may_name(reader, subject) and TELLS.index(subject.feedback) <= TELLS.index(reader.feedback)
