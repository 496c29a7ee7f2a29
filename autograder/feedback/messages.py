"""What a student is told of a criterion: what was called, what came back, what probably went wrong, what to read.

About hidden criteria nothing is said that the student's code could have chosen: only the built-in name of an error, a line
of the student's own file, the name of a known mistake, and sentences of ours. Values are shown
for public inputs only, and come from a process that had not been given any hidden input. Each thing is said once,
under the first lost criterion that is shown as early; the others say why they are lost, and refer to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.feedback import integration, student_tests
from autograder.feedback.counterexamples import counterexample
from autograder.feedback.sentences import (
    about_call,
    briefly,
    lowered,
    named,
    needed,
    reading,
    seen,
    sentence,
    undecided,
    unwritten,
)
from autograder.feedback.summary import no_answer
from autograder.feedback.text import listed
from autograder.feedback.visibility import may_name, tells_as_much
from autograder.grading.call_results import Record
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.probes import is_unsteady
from autograder.grading.scoring import Graded
from autograder.homework import rubric
from autograder.homework.library import Mistake
from autograder.homework.rubric import INTEGRATION
from autograder.submissions.submission import Submission
from autograder.values.differences import REMEMBERED, UNSTEADY

ONLY_FORM = ("changed", "changed_later", "shared", "overwritten", "dtype")
OF_VALUE = ("value", "shape", "type", "length", "raised", "no_error")
AT_HOME = "This is the worked example in the docstring of `{function}`. Run it on your own computer and compare."
PUBLIC_IS_RIGHT = "Your function passes all the small public examples. Try other shapes, other values and edge cases."
ANOTHER = "There is at least one more mistake."
TOO_LITTLE = "Not checked yet: fix more of the functions in this module first."


def message(graded: Graded, result: Result) -> str:
    """The message of one criterion, in Markdown; "" where there is nothing to say."""
    counted = graded.criterion.counted
    notice = f"This criterion {counted}\n" if counted else ""
    return "\n".join(filter(None, (notice, _message(graded, result))))


def _message(graded: Graded, result: Result) -> str:
    criterion = graded.criterion
    module = next((m for m in result.modules if m.module == criterion.module), None)
    if criterion.module != INTEGRATION and module is not None and module.broken is not None:
        return f"`{criterion.module}.py` could not be used: see the message at the top.\n"
    if criterion.feedback == "score":
        if graded.passed or criterion.counted:
            return ""
        # What is no answer at all is no wrong answer.
        return f"{no_answer(graded.record) or 'Not correct yet. Only the score is shown for this criterion.'}\n"
    if graded.tests is not None:
        return student_tests.told(graded.tests, result.submission)
    if criterion.module == INTEGRATION:
        return integration.told(graded, result) if graded.blamed or not graded.passed else ""
    if graded.passed:
        return _earned(graded)
    assert module is not None
    if said := unwritten(graded.record, result.submission):
        return f"{said}\n"
    record = graded.record
    if record is not None and record.reply.error is not None and record.reply.error.hint == "missing":
        return f"{sentence(record)}\n"
    if criterion.visible and module.at_once is not None:
        module = module.at_once
    lost = _Lost.of(graded, module, result.submission)
    paragraphs = (paragraph(lost) for paragraph in (AGAIN if lost.told and not lost.new else PARAGRAPHS))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _earned(graded: Graded) -> str:
    """A criterion that is earned in spite of wrong values says so."""
    if graded.blamed and graded.why == "right":
        names = listed([f"`{name}`" for name in graded.blamed])
        lacks = needed(graded.record) if graded.record is not None else ""
        needs = f"`{_function(graded)}` needs {lacks}; " if lacks else ""
        return f"Awarded: {needs}with a correct {names} in place of yours, this works.\n"
    if graded.why != "elsewhere":
        return ""
    single = len({mistake.same for mistake in graded.mistakes}) < 2
    if not graded.charged:
        return f"Awarded: the failing calls come from {'a mistake' if single else 'mistakes'} counted under another criterion.\n"
    again = bool(graded.mistakes) and all(graded.criterion.id in mistake.criteria for mistake in graded.mistakes)
    charged = [rubric.current().criteria[name] for name in graded.charged]
    places = [f"`{criterion.id}`" for criterion in charged if may_name(graded.criterion, criterion)]
    under = f"under {' and '.join(places)}" if places else "elsewhere"
    if not again:  # what the mistake does in these calls may be something else
        return f"Awarded: the failing calls come from {'a mistake' if single else 'mistakes'} counted {under}.\n"
    said = f"Awarded: {'this mistake is' if single else 'these mistakes are'} already counted {under}."
    return " ".join(filter(None, (said, briefly(graded.mistakes, _function(graded))))) + "\n"


# Lost criteria


def _earlier(graded: Graded, module: ModuleResult) -> Iterator[Graded]:
    """The lost criteria of the module before this one that are shown as early."""
    for earlier in module.graded:
        if earlier.criterion.id == graded.criterion.id:
            return
        if not earlier.passed and tells_as_much(graded.criterion, earlier.criterion):
            yield earlier


@dataclass(frozen=True)
class _Lost:
    """A lost criterion, as its paragraphs need it; each is "" where there is nothing to say.

    `before` are the mistakes that stand under earlier criteria, with these: `told` are its own among them, `new` its others.
    `example` is the public example that shows them; `place` is the criterion under which it stands already.
    """

    graded: Graded
    module: ModuleResult
    before: dict[str, str]
    told: tuple[Mistake, ...]
    new: tuple[Mistake, ...]
    example: Record | None
    place: str

    @classmethod
    def of(cls, graded: Graded, module: ModuleResult, submission: Submission) -> "_Lost":
        before, examples = dict[str, str](), dict[Record, str]()
        for earlier in _earlier(graded, module):
            for mistake in earlier.mistakes:
                before.setdefault(mistake.id, earlier.criterion.id)
            shown = _example(earlier)
            if shown is not None and not unwritten(earlier.record, submission):
                examples.setdefault(shown, earlier.criterion.id)
        told = tuple(mistake for mistake in graded.mistakes if mistake.id in before)
        new = tuple(mistake for mistake in graded.mistakes if mistake.id not in before)
        example = _example(graded)
        place = examples.get(example, "") if example else ""
        if (place or graded.blamed) and example is not None and not _alike(example, graded.record):
            example, place = None, ""  # it stands there for another symptom, or shows that of a helper
        return cls(graded, module, before, told, new, example, place)

    def again(self) -> str:
        """Every mistake has been told under another criterion."""
        places = " and ".join(dict.fromkeys(f"`{self.before[mistake.id]}`" for mistake in self.told))
        what = briefly(self.told, _function(self.graded))
        return f"Same {'mistake' if len(self.told) == 1 else 'mistakes'} as under {places}: {what}"

    def what(self) -> str:
        """What was called and what is wrong with that, if it is not said by what follows."""
        graded, record = self.graded, self.graded.record
        example = None if self.place else self.example
        if record is None or record.fault is None:
            return "" if graded.mistakes else TOO_LITTLE
        if graded.mistakes and all(map(seen, graded.mistakes)):
            return ""
        of_form = record.fault.kind in ("type", "length", "shape", "dtype")
        if of_form and example is not None and _alike(example, record):
            return ""  # what came back stands under the example
        # The example gives a line of its own, of another call: two lines in one message would not be told apart.
        raises = example is not None and (example.reply.error is not None or example.reply.ended is not None)
        said = about_call(f"`{record.target.function}`", sentence(record, place=not raises))
        wrong = self._otherwise_wrong() if graded.why == "unexplained" else None
        return f"{said} In another call, {lowered(sentence(wrong, place=False))}" if wrong is not None else said

    def _otherwise_wrong(self) -> Record | None:
        """A call of the criterion that is wrong in another way than the first, where nothing explains either."""
        first = self.graded.record
        if self.graded.why not in ("unexplained", "form") or self.graded.blamed or first is None:
            return None
        if first.fault is not None and first.fault.kind == "overwritten":
            return None  # later calls may return what was written there
        own = (r for r in self.module.records if r.step.criterion == self.graded.criterion.id)
        others = (r for r in own if r.target == first.target and r.fault is not None and not _alike(r, first))
        # One that needs other calls may be right where these are not made.
        return next((r for r in others if not r.step.needs), None)

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
        said = [f"{mistake.does} (See `{self.before[mistake.id]}`.)" for mistake in self.told]
        return f"**Already reported:** {' '.join(said)}" if said else ""

    def another(self) -> str:
        wrong = self._otherwise_wrong() if self.graded.why == "form" else None
        if wrong is not None and wrong.fault is not None and wrong.fault.kind in OF_VALUE:
            return f"In another call of `{wrong.target.function}`, {lowered(sentence(wrong, place=False))}"
        return ANOTHER if self.graded.mistakes and self.graded.undecided else ""

    def undecided(self) -> str:
        return undecided(self.graded.undecided)

    def shown(self) -> str:
        if self.example is None:
            return ""
        if self.place:  # it may show another mistake than the ones named here
            return f"A failing call is shown under `{self.place}`."
        label = "For example" if _alike(self.example, self.graded.record) else "Another failing call"
        outcomes = self.module.tried.get(self.example.step, ())
        examples = _examples(self.example, self.module)
        return counterexample(self.example, _is_named(self.graded), examples, label, outcomes)

    def at_home(self) -> str:
        record = self._record_without_example()
        if record is None or self.graded.criterion.looks_at != "examples" or self.graded.depends:
            return ""
        return AT_HOME.format(function=record.target.function)

    def _unsteady(self) -> bool:
        """Whether a public call of the function gave different results."""
        target = self.graded.record.target if self.graded.record is not None else None
        return any(is_unsteady(own) for step, own in self.module.tried.items() if step.target == target)

    def public(self) -> str:
        """What the public examples say of a failure that none of them shows."""
        record, graded = self._record_without_example(), self.graded
        if record is None or record.fault is None or _is_named(graded) or graded.blamed:
            return ""
        examples = _examples(record, self.module)
        wrong = sum(example.fault is not None for example in examples)
        if self._unsteady():  # one random result may be right by chance
            return REMEMBERED if graded.depends and wrong > 1 else UNSTEADY
        if wrong:
            return REMEMBERED if graded.depends else ""
        # The worked examples of the docstrings are public calls as well.
        criteria = rubric.current().criteria
        own = (r for r in self.module.records if r.target == record.target and r.step.criterion)
        if any(r.fault is not None and criteria[r.step.criterion].looks_at == "examples" for r in own):
            return ""
        located = any(mistake.does for mistake in graded.mistakes)
        called = record.reply.error is None or record.reply.error.hint != "signature"
        silent = located or not called or record.fault.kind not in OF_VALUE or graded.criterion.visible
        return PUBLIC_IS_RIGHT if examples and not silent else ""

    def read(self) -> str:
        record = self.graded.record
        if self.place:
            return ""
        if self.new:
            return f"**Read:** {reading(self.new)}"
        if record is None:
            return f"**Read:** the docstrings in `{self.graded.criterion.module}.py`"
        return f"**Read:** the docstring of `{record.target.function}` in `{record.target.module}.py`"

    def _record_without_example(self) -> Record | None:
        record = self.graded.record
        if self.example is not None or self.graded.criterion.feedback != "full" or record is None:
            return None
        return record if record.fault is not None else None


# The paragraphs of a lost criterion in their order; the first row where all its mistakes stand under other criteria already.
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


def _alike(example: Record, record: Record | None) -> bool:
    """Whether an example is wrong in the way of the record that a message begins with."""
    if record is None or record.fault is None or example.fault is None:
        return True
    return (example.fault.kind, _error(example)) == (record.fault.kind, _error(record))


def _error(record: Record) -> str:
    return record.reply.error.kind if record.reply.error is not None else ""


def _is_named(graded: Graded) -> bool:
    """Whether more is known of its mistakes than the line."""
    return any(mistake.right for mistake in graded.mistakes)


def _function(graded: Graded) -> str:
    return graded.record.target.function if graded.record is not None else graded.mistakes[0].function


def _example(graded: Graded) -> Record | None:
    """The public example that a message shows: one that is wrong in what the criterion was lost to."""
    shown, record = graded.shown, graded.record
    full = graded.criterion.feedback == "full"
    if not full or shown is None or shown.fault is None or record is None or record.fault is None:
        return None
    return shown if (record.fault.kind in ONLY_FORM) <= (shown.fault.kind == record.fault.kind) else None


def _examples(example: Record, module: ModuleResult) -> list[Record]:
    """The public examples of the function of an example, as they were first played."""
    return [r for r in module.records if not r.step.criterion and r.target == example.target]
