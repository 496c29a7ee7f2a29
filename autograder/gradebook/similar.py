"""Finds uploads that share more code than the homework explains: winnowing fingerprints, as in MOSS (copydetect).

Code of the handout, and code that many submissions have in common, is ignored: short functions that follow a formula look
alike. The exception is a long module that two have word for word, however many others have it too. The rest is probably
shared; only people can decide whether it was copied.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from autograder.exceptions import ArgumentsError, CommandError
from autograder.feedback.results import write_atomically
from autograder.gradebook import outputs, report, sample, store
from autograder.homework import rubric
from autograder.submissions.exports import listing
from autograder.submissions.text import printable
from autograder.submissions.uploads import Student, Upload, load

NAME = "similar.json"
NOISE = 15  # shorter matches are chance: a formula of this homework is that long
GUARANTEE = 20  # longer matches are always found
COMMON = 0.1  # code that more submissions have is common
SHOWN = 50  # pairs with code in the page; fifty identical submissions make 1,225
SAID = 10  # pairs listed in the report and on the console
OWN = 150  # less own code, without names, makes a share meaningless
FEW = 3  # or at least this many, in a small class


@dataclass(frozen=True)
class Pair:
    """Two submissions, and the larger share of one's own code that the other has too, between 0 and 1."""

    one: str
    other: str
    share: float
    modules: tuple[str, ...]


@dataclass(frozen=True)
class _Work:
    """The code of a submission, and a fingerprint of each module; `whole` are those of long modules that others have word for word,
    including code that many have in common.
    """

    key: str
    students: tuple[Student, ...]
    texts: Mapping[str, str]
    prints: Mapping[str, Any]
    whole: Mapping[str, Any]


def found(out: Path, least: float) -> tuple[list[Pair], list[_Work]]:
    """Pairs of submissions that share at least `least` of their own code, most similar first.

    Raises ArgumentsError for a folder that is not a run, or without copydetect.
    """
    limits, modules = rubric.current().limits, rubric.current().modules
    texts = []
    for entry in listing(store.run_paths(out), out).entries:
        try:
            submission = load(entry, limits, accept_names=True)
        except CommandError:  # already reported by grading
            continue
        own = {name: submission.text(f"{name}.py").decode("utf-8", "replace") for name in modules}
        texts.append((entry, {name: text for name, text in own.items() if text}))
    works = _fingerprinted(texts)
    # Two uploads of one student are not compared.
    people = {work.key: {identity for student in work.students for identity in student.identities} for work in works}
    pairs = [_pair(one, two) for one, two in combinations(works, 2) if people[one.key].isdisjoint(people[two.key])]
    likely = [pair for pair in pairs if pair.modules and pair.share >= least]
    return sorted(likely, key=lambda pair: (-pair.share, pair.one, pair.other)), works


def _fingerprinted(submissions: Sequence[tuple[Upload, dict[str, str]]]) -> list[_Work]:
    """The submissions, without the code of the handout and code that many have written."""
    given = {name.removesuffix(".py"): text for name, text in sample.stubs().items()}
    handout = {name: set(_print(name, text).hashes) for name, text in given.items()}
    counts = {name: Counter[int]() for name in given}
    copies = Counter((name, text) for _, texts in submissions for name, text in texts.items())
    for _, texts in submissions:
        for name, text in texts.items():
            counts[name].update(set(_print(name, text).hashes))
    copied = {(name, text): _print(name, text, handout[name]) for (name, text), n in copies.items() if n > 1}
    most = max(FEW, COMMON * len(submissions))
    ignored = {name: handout[name] | {mark for mark, n in counts[name].items() if n > most} for name in given}
    works = []
    for entry, texts in submissions:
        prints = {name: _print(name, text, ignored[name]) for name, text in texts.items()}
        whole = {name: copied[name, text] for name, text in texts.items() if (name, text) in copied}
        long = {name: code for name, code in whole.items() if code.token_coverage >= OWN}
        works.append(_Work(entry.key, entry.students, texts, prints, long))
    return works


def _print(name: str, text: str, ignored: set[int] | frozenset[int] = frozenset()) -> Any:
    try:
        from copydetect import CodeFingerprint  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError("`autograder similar` needs copydetect: pip install -e '.[similar]'") from None
    return CodeFingerprint(
        f"{name}.py", NOISE, GUARANTEE - NOISE + 1, list(ignored), language="python", fp=io.StringIO(text)
    )


def _pair(left: _Work, right: _Work) -> Pair:
    shared, mine, theirs, modules = 0, 0, 0, []
    for name in left.prints.keys() & right.prints.keys():
        first, second = _both(left, right, name)
        mine, theirs = mine + first.token_coverage, theirs + second.token_coverage
        if first is second:
            shared += first.token_coverage
            modules.append(name)
        elif first.hashes & second.hashes:  # most pairs share nothing
            shared += _overlap(first, second)[0]
            modules.append(name)
    smaller = min(mine, theirs) if min(mine, theirs) >= OWN else 0
    order = list(rubric.current().modules)
    # The smaller of two submissions decides: it may be all that was written.
    share = min(1.0, shared / smaller) if smaller else 0.0
    return Pair(left.key, right.key, share, tuple(sorted(modules, key=order.index)))


def _both(left: _Work, right: _Work, name: str) -> tuple[Any, Any]:
    """The fingerprints of a module by which two submissions are compared."""
    if name in left.whole and left.texts[name] == right.texts[name]:
        return left.whole[name], left.whole[name]
    return left.prints[name], right.prints[name]


def _overlap(first: Any, second: Any) -> tuple[int, Any]:
    """Tokens that two fingerprints share, and their positions in the two texts."""
    from copydetect import compare_files

    tokens, _, places = compare_files(first, second)
    return int(tokens), places


# Output


def write(out: Path, pairs: Sequence[Pair], works: Sequence[_Work], names: Mapping[str, str]) -> None:
    """similar.html, similar.csv, and similar.json, which a later report reads. Raises OSError."""
    write_atomically(out / NAME, json.dumps([asdict(pair) for pair in pairs], indent=1) + "\n")
    write_atomically(out / "similar.html", page(pairs, works, names))
    head: list[object] = ["Shared", "One", "Other", "Submission of one", "Submission of other", "Modules"]
    lines = [
        [
            round(pair.share, 2),
            names.get(pair.one, ""),
            names.get(pair.other, ""),
            pair.one,
            pair.other,
            " ".join(pair.modules),
        ]
        for pair in pairs
    ]
    write_atomically(out / "similar.csv", outputs.csv_text([head, *lines]))


def notices(out: Path) -> list[str]:
    """A sentence for each of the first pairs that an earlier `autograder similar` found."""
    try:
        pairs = json.loads((out / NAME).read_bytes())
        named = [
            f"{pair['one']} and {pair['other']} likely share code ({pair['share']:.0%} of the shorter); see similar.html"
            for pair in pairs[:SAID]
        ]
        more = len(pairs) - len(named)
        return [*named, f"{more} more pairs likely share code; see similar.html"] if more else named
    except (OSError, ValueError, KeyError, TypeError):
        return []


def page(pairs: Sequence[Pair], works: Sequence[_Work], names: Mapping[str, str]) -> str:
    """similar.html: the shared parts of each of the first pairs side by side."""
    by_key = {work.key: work for work in works}
    shown = [
        {
            "share": pair.share,
            "names": [names.get(key) or key for key in (pair.one, pair.other)],
            "keys": [pair.one, pair.other],
            "modules": [(name, _side_by_side(by_key[pair.one], by_key[pair.other], name)) for name in pair.modules],
        }
        for pair in pairs[:SHOWN]
    ]
    more = max(0, len(pairs) - SHOWN)
    return report.rendered("similar.html", title=rubric.current().title, pairs=shown, more=more) + "\n"


def _side_by_side(first: _Work, second: _Work, name: str) -> list[list[tuple[str, bool]]]:
    """The two texts of a module in parts, each marked as shared or not."""
    _, places = _overlap(*_both(first, second, name))
    texts = (first.texts[name], second.texts[name])
    return [list(_parts(text, place)) for text, place in zip(texts, places, strict=True)]


def _parts(text: str, places: Any) -> Iterator[tuple[str, bool]]:
    end = 0
    spans = sorted((int(start), int(stop)) for start, stop in zip(*places, strict=True)) if len(places) else []
    for start, stop in spans:
        if stop > end:
            yield _lines(text[end : max(start, end)]), False
            yield _lines(text[max(start, end) : stop]), True
            end = stop
    yield _lines(text[end:]), False


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
