"""What a student is told of a criterion: what was called, what came back, what probably went wrong, what to read.

About hidden criteria nothing is said that the student's code could have chosen: only the built-in name of an error, a line
of the student's own file, the name of a known mistake, and sentences of ours. Values are shown for public inputs only, and
come from a process that had not been given any hidden input. Each thing is said once, under the first lost criterion that
is shown as early; the others say why they are lost, and refer to it.
"""

from collections.abc import Iterator, Mapping, Sequence

from autograder.feedback import whole
from autograder.feedback.counterexamples import counterexample
from autograder.feedback.naming import briefly, named, reading, seen, undecided
from autograder.feedback.sentences import needed, sentence, unwritten
from autograder.feedback.showing import may_name, tells_as_much
from autograder.feedback.summary import no_answer, not_imported
from autograder.grading.grader import Graded, ModuleResult, Result
from autograder.grading.record import Record
from autograder.homework import rubric
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import INTEGRATION

ONLY_FORM = ("changed", "changed_later", "shared", "overwritten", "dtype")
OF_VALUE = ("value", "shape", "type", "length", "raised", "no_error")
AT_HOME = "This is the worked example in the docstring of `{function}`: run it at home and compare."
PUBLIC_IS_RIGHT = "Your function is right on the small public examples, so think of other shapes, sizes and edge cases."
ANOTHER = "There is another mistake as well."
TOO_LITTLE = (
    "It is not earned yet: too few of the functions that this criterion looks at give right results, so that nothing can be "
    "said of them here."
)
DEPENDS = (
    "A small public example was wrong after other calls, and right when it was called alone: the result depends on earlier "
    "calls, so something is remembered between them."
)


def message(graded: Graded, result: Result) -> str:
    """The message of one criterion, in Markdown; "" where there is nothing to say."""
    counted = graded.criterion.counted
    notice = f"This criterion {counted}\n" if counted else ""
    return "\n".join(filter(None, (notice, _message(graded, result))))


def _message(graded: Graded, result: Result) -> str:
    criterion = graded.criterion
    if criterion.feedback == "score":
        return "" if graded.passed else _score(graded)
    if criterion.module == INTEGRATION:
        return whole.told(graded, result) if graded.blamed or not graded.passed else ""
    if graded.passed:
        return _earned(graded)
    module = next(m for m in result.modules if m.module == criterion.module)
    if module.broken is not None:
        file, first = f"`{module.module}.py` could not be imported", next(_earlier(graded, module), None)
        return f"{file}: see `{first.criterion.id}`.\n" if first else not_imported(module, result.submission) + "\n"
    if unwritten(graded.record):
        assert graded.record is not None
        return f"`{graded.record.target.function}` is not written yet.\n"
    return "\n\n".join(_lost(graded, module)) + "\n"


def _score(graded: Graded) -> str:
    """A criterion of which only the score is shown; but what is no answer at all is no wrong answer."""
    missing = no_answer(graded.record)
    return f"{missing}\n" if missing else "Not right yet. For this criterion only the score is shown.\n"


def _earned(graded: Graded) -> str:
    """A criterion that is earned in spite of wrong values says so."""
    if graded.blamed:
        names = " and ".join(f"`{name}`" for name in graded.blamed)
        lacks = needed(graded.record) if graded.record is not None else ""
        are = "is" if len(graded.blamed) == 1 else "are"
        why = f"`{_function(graded)}` needs {lacks}" if lacks else f"this works as soon as {names} {are} right"
        return f"Earned: {why}. It was tried with a correct {names} in place of yours.\n"
    if graded.why != "elsewhere":
        return ""
    one = len({mistake.name for mistake in graded.mistakes}) < 2
    what, cost = ("a mistake that is", "costs") if one else ("mistakes that are", "cost")
    if graded.mistakes and all(graded.criterion.id in mistake.criteria for mistake in graded.mistakes):
        what = "the same mistake as the one that is" if one else "the same mistakes as those that are"  # made again
    said = f"Earned: the difference comes from {what} charged {_under(graded)} and {cost} nothing here."
    return " ".join(filter(None, (said, briefly(graded.mistakes, _function(graded))))) + "\n"


def _under(graded: Graded) -> str:
    """Where the mistakes are charged, as far as that may be said here already."""
    others = [rubric.current().criteria[name] for name in graded.charged]
    places = [f"`{other.id}`" for other in others if may_name(graded.criterion, other)]
    return f"under {' and '.join(places)}" if places else "elsewhere"


# Lost criteria


def _earlier(graded: Graded, module: ModuleResult) -> Iterator[Graded]:
    for other in module.graded:
        if other.criterion.id == graded.criterion.id:
            return
        if not other.passed and tells_as_much(graded.criterion, other.criterion):
            yield other


def _told(graded: Graded, module: ModuleResult) -> dict[str | Record | None, str]:
    """The criterion before this one, shown as early, under which each mistake, by its id, and each example stands."""
    places: dict[str | Record | None, str] = {}
    for other in _earlier(graded, module):
        for thing in (*(mistake.id for mistake in other.mistakes), _example(other)):
            places.setdefault(thing, other.criterion.id)
    return places


def _lost(graded: Graded, module: ModuleResult) -> Iterator[str]:
    """The paragraphs of a lost criterion."""
    places = _told(graded, module)
    told = [mistake for mistake in graded.mistakes if mistake.id in places]
    new = tuple(mistake for mistake in graded.mistakes if mistake.id not in places)
    others = undecided(graded.undecided)
    if told and not new:
        yield _again(graded, told, places)
        yield from (text for text in (ANOTHER, others) if others)
        return
    example = _example(graded)
    place = places.get(example) if example is not None else None
    what = _what(graded, None if place else example)
    if what:
        yield what
    if graded.hidden_by:
        yield f"Not earned yet: because of {'the mistake below' if new or others else 'what is wrong'} this cannot be checked."
    if new:
        yield named(new, _function(graded) if what or example is not None else "")
    if told:
        yield _also(told, places)
    if others:
        yield f"{ANOTHER}\n\n{others}" if graded.mistakes else others
    if place and example is not None:
        yield f"A call that goes wrong is shown under `{place}`."  # which may show another mistake than the ones named here
    elif example is not None:
        label = "For example" if _alike(example, graded.record) else "Another wrong call"
        yield counterexample(example, bool(graded.mistakes), _examples(example, module), label)
    else:
        yield from _without_example(graded, module)
    if not place:
        yield _read(graded, new)


def _again(graded: Graded, told: Sequence[Mistake], places: Mapping[str | Record | None, str]) -> str:
    """The line of a criterion whose mistakes have been told under another one."""
    where = " and ".join(dict.fromkeys(f"`{places[mistake.id]}`" for mistake in told))
    what = briefly(told, _function(graded))
    if graded.hidden_by:
        return f"Not earned yet: because of the mistake under {where} this cannot be checked. {what}"
    one = "mistake" if len(told) == 1 else "mistakes"
    return f"Lost to the same {one} as {where}; see there. {what}"


def _also(told: Sequence[Mistake], places: Mapping[str | Record | None, str]) -> str:
    said = [f"{mistake.does} (See `{places[mistake.id]}`.)" for mistake in told]
    return f"**As before:** {' '.join(said)}"


def _alike(example: Record, record: Record | None) -> bool:
    """Whether an example is wrong in the way of the record that a message begins with."""
    if record is None or record.fault is None or example.fault is None:
        return True
    return (example.fault.kind, _error(example)) == (record.fault.kind, _error(record))


def _error(record: Record) -> str:
    return record.reply.error.kind if record.reply.error is not None else ""


def _what(graded: Graded, example: Record | None) -> str:
    """What was called and what is wrong with that; "" where it is said by what follows."""
    record = graded.record
    if record is None or record.fault is None:
        return "" if graded.mistakes else TOO_LITTLE
    if graded.mistakes and all(map(seen, graded.mistakes)):
        return ""
    # The example gives a line of its own, of another call: two lines in one message would not be told apart.
    raises = example is not None and (example.reply.error is not None or example.reply.ended is not None)
    if example is not None and _alike(example, record) and record.fault.kind in ("type", "length", "shape", "dtype"):
        return ""  # what came back stands under the example
    return f"`{record.target.function}` was called. {sentence(record, place=not raises)}"


def _function(graded: Graded) -> str:
    return graded.record.target.function if graded.record is not None else graded.mistakes[0].function


def _example(graded: Graded) -> Record | None:
    """The public example that a message shows: one that is wrong in what the criterion was lost to."""
    shown, record = graded.shown, graded.record
    if (
        graded.criterion.feedback != "full"
        or shown is None
        or shown.fault is None
        or record is None
        or record.fault is None
    ):
        return None
    return shown if (record.fault.kind in ONLY_FORM) <= (shown.fault.kind == record.fault.kind) else None


def _examples(example: Record, module: ModuleResult) -> list[Record]:
    """The public examples of the function of an example, as they were first played."""
    return [r for r in module.records if not r.step.criterion and r.target == example.target]


def _without_example(graded: Graded, module: ModuleResult) -> Iterator[str]:
    """What the public examples say of a hidden failure of values that none of them shows."""
    record, criterion = graded.record, graded.criterion
    if record is None or record.fault is None or criterion.feedback != "full":
        return
    if criterion.looks_at == "examples":
        yield AT_HOME.format(function=record.target.function)
    if criterion.visible or graded.mistakes:
        return
    tried = _examples(record, module)
    if tried and any(example.fault is not None for example in tried):
        if graded.shown is None:
            yield DEPENDS
    elif tried and record.fault.kind in OF_VALUE:
        yield PUBLIC_IS_RIGHT


def _read(graded: Graded, mistakes: Sequence[Mistake]) -> str:
    record = graded.record
    if mistakes:
        return f"**Read:** {reading(mistakes)}"
    if record is None:
        return f"**Read:** the docstrings in `{graded.criterion.module}.py`"
    return f"**Read:** the docstring of `{record.target.function}` in `{record.target.module}.py`"
