"""Mistakes in words: what the code does and what is right, two parts that cannot be confused."""

from collections.abc import Sequence

from autograder.homework.mistakes import Mistake


def named(mistakes: Sequence[Mistake], function: str) -> str:
    """The full text of mistakes, as paragraphs. `function` is the one that was called: of another one its name is said."""
    if len(mistakes) == 1:
        mistake = mistakes[0]
        label = "Seen" if seen(mistake) else "Probably"
        return f"**{label}{_inside(mistake, function)}:** {mistake.does}\n\n**Right:** {mistake.right}"
    numbered = [
        f"{number}. {'' if not seen(m) else 'Seen: '}{m.does}{_inside(m, function, ' (', ')')}  \n   **Right:** {m.right}"
        for number, m in enumerate(mistakes, 1)
    ]
    return f"**Probably {_count(len(mistakes))} mistakes:**\n\n" + "\n".join(numbered)


def undecided(mistakes: Sequence[Mistake]) -> str:
    """What several mistakes share that do the same on every call: a whole sentence or half of one, or ""."""
    does, right = {mistake.does for mistake in mistakes}, {mistake.right for mistake in mistakes}
    said = [f"**Probably:** {does.pop()}"] if len(does) == 1 else []
    return "\n\n".join([*said, f"**Right:** {right.pop()}"] if len(right) == 1 else said)


def reading(mistakes: Sequence[Mistake]) -> str:
    """What to read about mistakes, each once."""
    return "; ".join(dict.fromkeys(mistake.read for mistake in mistakes))


def briefly(mistakes: Sequence[Mistake]) -> str:
    """What the code does, without what is right: for a line that refers to the full text."""
    return " ".join(dict.fromkeys(mistake.does for mistake in mistakes))


def seen(mistake: Mistake) -> bool:
    """Whether a mistake was observed, and is not one of the known ones that reproduce the results."""
    return not mistake.edits and not mistake.whole


def _inside(mistake: Mistake, function: str, start: str = ", ", end: str = "") -> str:
    return "" if mistake.function == function else f"{start}in `{mistake.function}`{end}"


def _count(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, str(number))
