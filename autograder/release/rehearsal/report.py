"""What `autograder rehearse` prints: who sees what of a results.json, and when."""

from collections.abc import Iterator

from autograder.feedback.results import number
from autograder.intake.text import printable
from autograder.release.rehearsal.results_format import Results, TestCase, Visibility
from autograder.release.rehearsal.run import Rehearsal


def lines(done: Rehearsal, results: Results, brief: bool) -> Iterator[str]:
    """Who sees what, and when; of the messages only the first of each moment if `brief`."""
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    yield "results.json is as Gradescope documents it."
    yield from _title("What the student sees at once")
    yield from _text(results.output)
    yield from _moment(results, "visible", brief)
    if results.shown("after_due_date"):
        yield from _title("What the student sees after the due date, besides")
        yield from _moment(results, "after_due_date", brief)
    yield from _title("What the student sees when grades are published, besides")
    yield from _moment(results, "after_published", brief)
    yield from _title("What the instructor sees")
    yield from _instructor(done, results, brief)


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _moment(results: Results, moment: Visibility, brief: bool) -> Iterator[str]:
    cases = results.shown(moment)
    yield from _cases(cases, brief)
    if not cases:
        yield "Nothing."
    if results.total_is_shown(moment):
        yield f"Total: {_points(results.points, results.possible)}"
    else:
        yield "No total, since Gradescope shows none as long as any result is hidden."


def _cases(cases: list[TestCase], brief: bool) -> Iterator[str]:
    said = [case for case in cases if case.output]
    for case in cases:
        yield from _case(case, not brief or case in said[:1])
    if brief and len(said) > 1:
        yield f"({len(said) - 1} more of these have a message; without --brief they are printed)"


def _case(case: TestCase, full: bool) -> Iterator[str]:
    facts = [_status(case), *([] if case.max_score is None else [_points(case.score or 0, case.max_score)])]
    yield printable("  ".join([*filter(None, facts), case.name or "unnamed"]))
    for line in _text(case.output) if full else ():
        yield f"    {line}".rstrip()


def _status(case: TestCase) -> str:
    """As Gradescope colours an entry: by its status, else by its points, if it has any."""
    if case.status or case.max_score is None:
        return case.status or ""
    return "passed" if (case.score or 0) >= case.max_score else "failed"


def _instructor(done: Rehearsal, results: Results, brief: bool) -> Iterator[str]:
    yield f"All of that, and the total: {_points(results.points, results.possible)}"
    yield f'The assignment\'s "Autograder points" must be {number(results.possible)}.'
    if results.shown("hidden"):
        yield "Never shown to the student:"
    yield from _cases(results.shown("hidden"), brief)
    for criterion, names in _misconceptions(results):
        yield printable(f"Misconception in {criterion}: {names}")
    layers = (results.extra_data or {}).get("layers")
    if layers:
        yield printable(f"Layers of the sandbox here: {', '.join(map(str, layers))}")
    shown = [line for line in _text(done.printed)[-20:] if line.strip()]
    yield "What the autograder printed, at its end:"
    yield from (f"    {line}" for line in shown)


def _misconceptions(results: Results) -> Iterator[tuple[str, str]]:
    """The criteria in which something is named, each with all that is named in it."""
    for case in results.tests or ():
        data = case.extra_data or {}
        # A list; zips that were built before several could be named have one name, or null.
        named = data.get("misconceptions") or [data.get("misconception")]
        names = [str(name) for name in named if name] if isinstance(named, list) else []
        if names:
            yield str(data.get("criterion", case.name or "")), ", ".join(names)


def _points(score: float, possible: float) -> str:
    return f"{number(score)} of {number(possible)}"


def _text(text: str | None) -> list[str]:
    return [printable(line) for line in (text or "").strip("\n").splitlines()]
