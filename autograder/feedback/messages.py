"""The message of a criterion: the call, the result, the likely mistake, and what to read.

A message about a hidden criterion contains nothing that the student's code could have chosen: only the built-in name of an error, a
line of the student's own file, the name of a misconception, and our own sentences. Values are shown for public inputs only,
and come from a process that had received no hidden input. Each thing is said once, under the first lost criterion with the same
visibility; the others refer to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.feedback import integration, student_tests
from autograder.feedback.counterexamples import counterexample
from autograder.feedback.sentences import (
    about_call,
    analysis,
    briefly,
    lowered,
    named,
    needed,
    seen,
    sentence,
    undecided,
    unwritten,
)
from autograder.feedback.summary import no_answer
from autograder.feedback.text import listed
from autograder.feedback.visibility import may_name, tells_as_much
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.probes import is_unsteady
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION
from autograder.submissions.submission import Submission
from autograder.values.differences import REMEMBERED, UNSTEADY

ONLY_FORM = ("changed", "changed_later", "shared", "overwritten", "dtype")
OF_VALUE = ("value", "shape", "type", "length", "raised", "no_error")
AT_HOME = "This is the worked example in the docstring of `{function}`. Run it on your own computer and compare."
PUBLIC_IS_RIGHT = "Your function passes all the small public examples. Try other shapes, other values and edge cases."
ANOTHER = "There is at least one more mistake."
TOO_LITTLE = "Not checked yet: fix more of the functions in this module first."


def message(graded: CriterionScore, result: Result) -> str:
    """The message of one criterion, in Markdown; "" if there is nothing to say."""
    counted = graded.criterion.counted
    notice = f"This criterion {counted}\n" if counted else ""
    return "\n".join(filter(None, (notice, _message(graded, result))))


def _message(graded: CriterionScore, result: Result) -> str:
    criterion = graded.criterion
    module = next((m for m in result.modules if m.module == criterion.module), None)
    if criterion.module != INTEGRATION and module is not None and module.broken is not None:
        return f"`{criterion.module}.py` could not be used: see the message at the top.\n"
    if criterion.feedback == "score":
        if graded.passed or criterion.counted:
            return ""
        # A missing answer is not a wrong answer.
        return f"{no_answer(graded.call_result) or 'Not correct yet. Only the score is shown for this criterion.'}\n"
    if graded.tests is not None:
        return student_tests.told(graded.tests, result.submission)
    if criterion.module == INTEGRATION:
        return integration.told(graded, result) if graded.blamed or not graded.passed else ""
    if graded.passed:
        return _earned(graded)
    assert module is not None
    if said := unwritten(graded.call_result, result.submission):
        return f"{said}\n"
    call_result = graded.call_result
    if (
        call_result is not None
        and call_result.response.error is not None
        and call_result.response.error.hint == "missing"
    ):
        return f"{sentence(call_result)}\n"
    if criterion.visible and module.at_once is not None:
        module = module.at_once
    lost = _Lost.of(graded, module, result.submission)
    paragraphs = (paragraph(lost) for paragraph in (AGAIN if lost.told and not lost.new else PARAGRAPHS))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _earned(graded: CriterionScore) -> str:
    """The message of a criterion that is earned although calls fail."""
    if graded.blamed and graded.why == "right":
        names = listed([f"`{name}`" for name in graded.blamed])
        lacks = needed(graded.call_result) if graded.call_result is not None else ""
        needs = f"`{_function(graded)}` needs {lacks}; " if lacks else ""
        return f"Awarded: {needs}with a correct {names} in place of yours, this works.\n"
    if graded.why != "elsewhere":
        return ""
    single = len({misconception.same for misconception in graded.misconceptions}) < 2
    if not graded.charged:
        return f"Awarded: the failing calls come from {'a mistake' if single else 'mistakes'} counted under another criterion.\n"
    again = bool(graded.misconceptions) and all(
        graded.criterion.id in misconception.criteria for misconception in graded.misconceptions
    )
    charged = [rubric.current().criteria[name] for name in graded.charged]
    places = [f"`{criterion.id}`" for criterion in charged if may_name(graded.criterion, criterion)]
    under = f"under {' and '.join(places)}" if places else "elsewhere"
    if not again:  # the mistake may have another effect in these calls
        return f"Awarded: the failing calls come from {'a mistake' if single else 'mistakes'} counted {under}.\n"
    said = f"Awarded: {'this mistake is' if single else 'these mistakes are'} already counted {under}."
    return " ".join(filter(None, (said, briefly(graded.misconceptions, _function(graded))))) + "\n"


# Lost criteria


def _earlier(graded: CriterionScore, module: ModuleResult) -> Iterator[CriterionScore]:
    """The lost criteria of the module before this one that are shown as early."""
    for earlier in module.graded:
        if earlier.criterion.id == graded.criterion.id:
            return
        if not earlier.passed and tells_as_much(graded.criterion, earlier.criterion):
            yield earlier


@dataclass(frozen=True)
class _Lost:
    """A lost criterion, and the paragraphs of its message; each is "" if there is nothing to say.

    `before` are the mistakes under earlier criteria that this one has too: `told` are its own among them, `new` its others.
    `example` is the public example that shows them; `place` is the criterion that shows it already.
    """

    graded: CriterionScore
    module: ModuleResult
    before: dict[str, str]
    told: tuple[Misconception, ...]
    new: tuple[Misconception, ...]
    example: CallResult | None
    place: str

    @classmethod
    def of(cls, graded: CriterionScore, module: ModuleResult, submission: Submission) -> "_Lost":
        before, examples = dict[str, str](), dict[CallResult, str]()
        for earlier in _earlier(graded, module):
            for misconception in earlier.misconceptions:
                before.setdefault(misconception.id, earlier.criterion.id)
            shown = _example(earlier)
            if shown is not None and not unwritten(earlier.call_result, submission):
                examples.setdefault(shown, earlier.criterion.id)
        told = tuple(misconception for misconception in graded.misconceptions if misconception.id in before)
        new = tuple(misconception for misconception in graded.misconceptions if misconception.id not in before)
        example = _example(graded)
        place = examples.get(example, "") if example else ""
        if (place or graded.blamed) and example is not None and not _alike(example, graded.call_result):
            example, place = None, ""  # it shows another symptom there, or that of a helper
        return cls(graded, module, before, told, new, example, place)

    def again(self) -> str:
        """Every mistake is described under another criterion."""
        places = " and ".join(dict.fromkeys(f"`{self.before[misconception.id]}`" for misconception in self.told))
        what = briefly(self.told, _function(self.graded))
        return f"Same {'mistake' if len(self.told) == 1 else 'mistakes'} as under {places}: {what}"

    def what(self) -> str:
        """What was called and what is wrong with the result, unless a later paragraph says so."""
        graded, call_result = self.graded, self.graded.call_result
        example = None if self.place else self.example
        if call_result is None or call_result.failure is None:
            return "" if graded.misconceptions else TOO_LITTLE
        if graded.misconceptions and all(map(seen, graded.misconceptions)):
            return ""
        of_form = call_result.failure.kind in ("type", "length", "shape", "dtype")
        if of_form and example is not None and _alike(example, call_result):
            return ""  # the example shows the result
        # The example names a line of another call: two lines in one message would be confusing.
        raises = example is not None and (example.response.error is not None or example.response.ended is not None)
        said = about_call(f"`{call_result.target.function}`", sentence(call_result, place=not raises))
        wrong = self._otherwise_wrong() if graded.why == "unexplained" else None
        return f"{said} In another call, {lowered(sentence(wrong, place=False))}" if wrong is not None else said

    def _otherwise_wrong(self) -> CallResult | None:
        """A call of the criterion that fails in another way than the first, if neither is explained."""
        first = self.graded.call_result
        if self.graded.why not in ("unexplained", "form") or self.graded.blamed or first is None:
            return None
        if first.failure is not None and first.failure.kind == "overwritten":
            return None  # later calls may return what was written
        own = (r for r in self.module.call_results if r.test_call.criterion == self.graded.criterion.id)
        others = (r for r in own if r.target == first.target and r.failure is not None and not _alike(r, first))
        # A call that needs other calls may pass without them.
        return next((r for r in others if not r.test_call.needs), None)

    def beside(self) -> str:
        names = listed([f"`{name}`" for name in self.graded.blamed])
        shown = "; the example shows your own version" if self.example is not None and not self.place else ""
        return f"This was tested with a correct {names} in place of yours{shown}." if names else ""

    def first(self) -> str:
        files = [f"`{name}.py`" for name in self.graded.fix_first]
        if not files:
            return ""
        are = "is" if len(files) == 1 else "are"
        module = f"`{self.graded.criterion.module}.py`"
        return f"{module} uses {' and '.join(files)}, which {are} wrong or missing: fix {files[0]} first."

    def named(self) -> str:
        begun = bool(self.what()) or self.example is not None
        return named(self.new, _function(self.graded) if begun else "", self.graded.at_least) if self.new else ""

    def as_before(self) -> str:
        said = [f"{misconception.does} (See `{self.before[misconception.id]}`.)" for misconception in self.told]
        return f"**Already reported:** {' '.join(said)}" if said else ""

    def another(self) -> str:
        wrong = self._otherwise_wrong() if self.graded.why == "form" else None
        if wrong is not None and wrong.failure is not None and wrong.failure.kind in OF_VALUE:
            return f"In another call of `{wrong.target.function}`, {lowered(sentence(wrong, place=False))}"
        return ANOTHER if self.graded.misconceptions and self.graded.undecided else ""

    def undecided(self) -> str:
        return undecided(self.graded.undecided)

    def shown(self) -> str:
        if self.example is None:
            return ""
        if self.place:  # it may show another mistake than the ones named here
            return f"A failing call is shown under `{self.place}`."
        label = "For example" if _alike(self.example, self.graded.call_result) else "Another failing call"
        outcomes = self.module.probe_results.get(self.example.test_call, ())
        examples = _examples(self.example, self.module)
        return counterexample(self.example, _is_named(self.graded), examples, label, outcomes)

    def at_home(self) -> str:
        call_result = self._record_without_example()
        if call_result is None or self.graded.criterion.looks_at != "examples" or self.graded.depends:
            return ""
        return AT_HOME.format(function=call_result.target.function)

    def _unsteady(self) -> bool:
        """Whether a public call of the function returned different results."""
        target = self.graded.call_result.target if self.graded.call_result is not None else None
        return any(
            is_unsteady(own) for test_call, own in self.module.probe_results.items() if test_call.target == target
        )

    def public(self) -> str:
        """What the public examples show about a failure that none of them has."""
        call_result, graded = self._record_without_example(), self.graded
        if call_result is None or call_result.failure is None or _is_named(graded) or graded.blamed:
            return ""
        examples = _examples(call_result, self.module)
        wrong = sum(example.failure is not None for example in examples)
        if self._unsteady():  # one random result may be right by chance
            return REMEMBERED if graded.depends and wrong > 1 else UNSTEADY
        if wrong:
            return REMEMBERED if graded.depends else ""
        # The worked examples of the docstrings are public calls too.
        criteria = rubric.current().criteria
        own = (r for r in self.module.call_results if r.target == call_result.target and r.test_call.criterion)
        if any(r.failure is not None and criteria[r.test_call.criterion].looks_at == "examples" for r in own):
            return ""
        located = any(misconception.does for misconception in graded.misconceptions)
        called = call_result.response.error is None or call_result.response.error.hint != "signature"
        silent = located or not called or call_result.failure.kind not in OF_VALUE or graded.criterion.visible
        return PUBLIC_IS_RIGHT if examples and not silent else ""

    def read(self) -> str:
        call_result = self.graded.call_result
        if self.place:
            return ""
        if self.new:
            return f"**Read:** {analysis(self.new)}"
        if call_result is None:
            return f"**Read:** the docstrings in `{self.graded.criterion.module}.py`"
        return f"**Read:** the docstring of `{call_result.target.function}` in `{call_result.target.module}.py`"

    def _record_without_example(self) -> CallResult | None:
        call_result = self.graded.call_result
        if self.example is not None or self.graded.criterion.feedback != "full" or call_result is None:
            return None
        return call_result if call_result.failure is not None else None


# The paragraphs of a lost criterion, in order; the first row if all its mistakes are under other criteria already.
AGAIN = (_Lost.again, _Lost.another, _Lost.undecided)
PARAGRAPHS = (
    _Lost.what,
    _Lost.beside,
    _Lost.first,
    _Lost.named,
    _Lost.as_before,
    _Lost.another,
    _Lost.undecided,
    _Lost.shown,
    _Lost.at_home,
    _Lost.public,
    _Lost.read,
)


def _alike(example: CallResult, call_result: CallResult | None) -> bool:
    """Whether an example fails in the same way as the call that the message begins with."""
    if call_result is None or call_result.failure is None or example.failure is None:
        return True
    return (example.failure.kind, _error(example)) == (call_result.failure.kind, _error(call_result))


def _error(call_result: CallResult) -> str:
    return call_result.response.error.kind if call_result.response.error is not None else ""


def _is_named(graded: CriterionScore) -> bool:
    """Whether more than the line of a mistake is known."""
    return any(misconception.right for misconception in graded.misconceptions)


def _function(graded: CriterionScore) -> str:
    return graded.call_result.target.function if graded.call_result is not None else graded.misconceptions[0].function


def _example(graded: CriterionScore) -> CallResult | None:
    """The public example that a message shows."""
    shown, call_result = graded.shown, graded.call_result
    full = graded.criterion.feedback == "full"
    if not full or shown is None or shown.failure is None or call_result is None or call_result.failure is None:
        return None
    return (
        shown if (call_result.failure.kind in ONLY_FORM) <= (shown.failure.kind == call_result.failure.kind) else None
    )


def _examples(example: CallResult, module: ModuleResult) -> list[CallResult]:
    """The public examples of the function of an example, as they first ran."""
    return [r for r in module.call_results if not r.test_call.criterion and r.target == example.target]
