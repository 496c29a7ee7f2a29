"""Mistakes in words: what the code does and what is right, two parts that cannot be confused."""

from collections.abc import Iterable, Sequence

from autograder.homework.mistakes import Mistake


def named(mistakes: Sequence[Mistake], function: str = "", at_least: bool = False) -> str:
    """The full text of mistakes, as paragraphs. `function` is the one that is said to have been called: of others the name is said.

    The same mistake in two functions is told once, and so is what is right where it is the same for all. Of a repair (repair.py)
    only the line is known.
    """
    repairs = [mistake for mistake in mistakes if not mistake.right]
    if repairs:
        others = [mistake for mistake in mistakes if mistake.right]
        return "\n\n".join(([named(others, function, at_least)] if others else []) + [_does(repairs)])
    same: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        same.setdefault(mistake.name, []).append(mistake)
    groups, right = list(same.values()), _right(mistakes)
    if all(map(seen, mistakes)) or len(groups) == 1:
        label = "Seen" if seen(mistakes[0]) else f"Probably{', at least' * at_least}"
        return f"**{label}{_inside(mistakes, function)}:** {_does(own[0] for own in groups)}\n\n**Right:** {right}"
    lines = []
    for number, own in enumerate(groups, 1):
        said = f"{'Seen: ' if seen(own[0]) else ''}{_placed(own, function)}"
        lines.append(f"{number}. {said}" + (f"  \n   **Right:** {own[0].right}" if own[0].right != right else ""))
    listed = f"**Probably {'at least ' * at_least}{_count(len(groups))} mistakes:**\n\n" + "\n".join(lines)
    return listed if len({m.right for m in mistakes}) > 1 else f"{listed}\n\n**Right:** {right}"


def undecided(mistakes: Sequence[Mistake]) -> str:
    """What several mistakes share that do the same on every call: a whole sentence or half of one, or ""."""
    does, right = {mistake.does for mistake in mistakes}, {mistake.right for mistake in mistakes}
    said = [f"**Probably:** {does.pop()}"] if len(does) == 1 else []
    return "\n\n".join([*said, f"**Right:** {right.pop()}"] if len(right) == 1 else said)


def reading(mistakes: Sequence[Mistake]) -> str:
    """What to read about mistakes, each once."""
    return "; ".join(dict.fromkeys(mistake.read for mistake in mistakes))


def briefly(mistakes: Sequence[Mistake], function: str = "") -> str:
    """What the code does, without what is right: for a line that refers to the full text. Of others than `function` the name is
    said."""
    said = (_placed([mistake], function or mistake.function) for mistake in mistakes)
    return " ".join(dict.fromkeys(said))


def seen(mistake: Mistake) -> bool:
    """Whether a mistake was observed, and is neither a repair nor one of the known ones that reproduce the results."""
    return not mistake.edits and not mistake.whole and bool(mistake.right)


def _does(mistakes: Iterable[Mistake]) -> str:
    return " ".join(dict.fromkeys(mistake.does for mistake in mistakes))


def _right(mistakes: Iterable[Mistake]) -> str:
    return " ".join(dict.fromkeys(mistake.right for mistake in mistakes))


def _placed(mistakes: Sequence[Mistake], function: str) -> str:
    return f"{mistakes[0].does.removesuffix('.')}{_inside(mistakes, function, ' (', ')')}."


def _inside(mistakes: Sequence[Mistake], function: str, start: str = ", ", end: str = "") -> str:
    names = list(dict.fromkeys(mistake.function for mistake in mistakes))
    return "" if names == [function] else f"{start}in {' and '.join(f'`{name}`' for name in names)}{end}"


def _count(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, str(number))
