"""Finds submissions that share more code than the homework explains, with winnowing fingerprints as in MOSS
(copydetect).

Code from the handout, and code that many submissions have in common, is ignored, because short functions that follow a
formula look alike. A long module that is identical in two submissions always counts. Only a person can decide whether
code was copied.
"""

import hashlib
import io
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.exceptions import ArgumentsError, CommandError
from autograder.files import write_atomically
from autograder.gradebook import outputs, report, sample
from autograder.gradebook.store import read_run
from autograder.homework.homework import Homework
from autograder.submissions.exports import listing
from autograder.submissions.submission import Student, Upload, load

NAME = "similar.json"
NOISE = 15  # shorter matches are coincidence: a formula of this homework is that long
GUARANTEE = 20  # longer matches are always found
COMMON = 0.1  # share of submissions above which code is common
SHOWN = 50  # pairs with code on the page; fifty identical submissions make 1,225
SAID = 10  # pairs listed in the report and on the console
OWN = 150  # less code, apart from names, makes a share meaningless
FEW = 3  # in a small class, code is common only in more submissions than this


@dataclass(frozen=True)
class Pair:
    """Two submissions, and the share of the shorter one's code that the other has too, between 0 and 1."""

    one: str
    other: str
    share: float
    modules: tuple[str, ...]


@dataclass(frozen=True)
class _Work:
    """The code of a submission, with a fingerprint of each module.

    Modules in `copies` are long and identical in another submission; their fingerprints include common code.
    """

    key: str
    students: tuple[Student, ...]
    texts: Mapping[str, str]
    prints: Mapping[str, Any]
    copies: Mapping[str, Any]

    def both(self, work: "_Work", name: str) -> tuple[Any, Any]:
        """Return the two fingerprints by which a module is compared."""
        if name in self.copies and self.texts[name] == work.texts[name]:
            return self.copies[name], self.copies[name]
        return self.prints[name], work.prints[name]


def compared(homework: Homework, out: Path, least: float) -> tuple[list[Pair], list[_Work]]:
    """Pairs of submissions that share at least `least` of their code, most similar first.

    Raises ArgumentsError for a folder that is not a run, or without copydetect.
    """
    texts = []
    run = read_run(out)
    for entry in listing(run.paths, homework.rubric, out, run.one_submission).entries:
        try:
            submission = load(entry, homework.rubric, accept_names=True)
        except CommandError:  # already reported by grading
            continue
        modules = {name: submission.text(f"{name}.py").decode("utf-8", "replace") for name in homework.rubric.modules}
        texts.append((entry, {name: text for name, text in modules.items() if text}))
    works = _fingerprinted(homework, texts)
    # Two uploads of one student are not compared.
    people = {work.key: {identity for student in work.students for identity in student.identities} for work in works}
    pairs = [_pair(one, two) for one, two in combinations(works, 2) if people[one.key].isdisjoint(people[two.key])]
    likely = [pair for pair in pairs if pair.modules and pair.share >= least]
    return sorted(likely, key=lambda pair: (-pair.share, pair.one, pair.other)), works


def _fingerprinted(homework: Homework, submissions: Sequence[tuple[Upload, dict[str, str]]]) -> list[_Work]:
    """Fingerprint the submissions, without code from the handout and common code."""
    handout = {file.removesuffix(".py"): text for file, text in sample.stubs(homework).items()}
    of_handout = {name: set(_print(name, text).hashes) for name, text in handout.items()}
    counts = {name: Counter[int]() for name in of_handout}
    for name, text in (item for _, texts in submissions for item in texts.items()):
        counts[name].update(set(_print(name, text).hashes))
    most = max(FEW, COMMON * len(submissions))
    ignored = {name: of_handout[name] | {mark for mark, n in counts[name].items() if n > most} for name in of_handout}
    several = Counter(item for _, texts in submissions for item in texts.items())
    copied = {item: _print(*item, of_handout[item[0]]) for item, n in several.items() if n > 1}
    long = {item: code for item, code in copied.items() if code.token_coverage >= OWN}
    works = []
    for entry, texts in submissions:
        prints = {name: _print(name, text, ignored[name]) for name, text in texts.items()}
        copies = {name: long[name, text] for name, text in texts.items() if (name, text) in long}
        works.append(_Work(entry.key, entry.students, texts, prints, copies))
    return works


def _print(name: str, text: str, ignored: Collection[int] = ()) -> Any:
    try:
        from copydetect import CodeFingerprint, utils  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError("`autograder similar` needs copydetect: pip install -e '.[similar]'") from None
    # Python's hash is seeded in each process, so the shares would differ from run to run.
    utils.hash = lambda text: int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
    window = GUARANTEE - NOISE + 1
    return CodeFingerprint(f"{name}.py", NOISE, window, list(ignored), language="python", fp=io.StringIO(text))


def _pair(one: _Work, two: _Work) -> Pair:
    from copydetect import compare_files

    shared, mine, theirs, modules = 0, 0, 0, []
    for name in (name for name in one.prints if name in two.prints):
        first, second = one.both(two, name)
        mine, theirs = mine + first.token_coverage, theirs + second.token_coverage
        if first.hashes & second.hashes:  # most pairs share nothing
            shared += first.token_coverage if first is second else int(compare_files(first, second)[0])
            modules.append(name)
    smaller = min(mine, theirs)  # the share refers to the shorter submission
    return Pair(one.key, two.key, min(1.0, shared / smaller) if smaller >= OWN else 0.0, tuple(modules))


def write(out: Path, title: str, pairs: Sequence[Pair], works: Sequence[_Work], names: Mapping[str, str]) -> None:
    """Write similar.html, similar.csv, and similar.json, which a later report reads. Raises OSError."""
    write_atomically(out / NAME, json.dumps([asdict(pair) for pair in pairs], indent=1) + "\n")
    write_atomically(out / "similar.html", page(title, pairs, works, names))
    head = ("Shared", "One", "Other", "Submission of one", "Submission of other", "Modules")
    who = [(names.get(pair.one, ""), names.get(pair.other, ""), pair.one, pair.other) for pair in pairs]
    lines = [(round(pair.share, 2), *columns, " ".join(pair.modules)) for pair, columns in zip(pairs, who, strict=True)]
    write_atomically(out / "similar.csv", outputs.csv_text([head, *lines]))


def notices(out: Path) -> list[str]:
    """Return a sentence for each of the first pairs that an earlier `autograder similar` found."""
    try:
        pairs = [Pair(**pair) for pair in json.loads((out / NAME).read_bytes())]
    except (OSError, ValueError, TypeError):
        return []
    about = ((f"{pair.one} and {pair.other}", f" ({pair.share:.0%} of the shorter)") for pair in pairs[:SAID])
    sentences = [f"{who} likely share code{share}; see similar.html" for who, share in about]
    more = len(pairs) - len(sentences)
    return sentences + ([f"{more} more pairs likely share code; see similar.html"] if more else [])


def page(title: str, pairs: Sequence[Pair], works: Sequence[_Work], names: Mapping[str, str]) -> str:
    """Return similar.html: the shared code of the first pairs, side by side."""
    from copydetect import compare_files
    from copydetect.utils import highlight_overlap

    by_key, columns = {work.key: work for work in works}, list[dict[str, Any]]()
    for pair in pairs[:SHOWN]:
        modules = []
        for name in pair.modules:
            one, two = by_key[pair.one], by_key[pair.other]
            texts = list[str]()
            for work, places in zip((one, two), compare_files(*one.both(two, name))[2], strict=True):
                text = work.texts[name]
                marked = len(places) and highlight_overlap(text, places, "<mark>", "</mark>", escape_html=True)[0]
                texts.append(Markup(marked) if marked else text)
            modules.append((name, texts))
        keys = [pair.one, pair.other]
        about = {"share": pair.share, "names": [names.get(key) or key for key in keys]}
        columns.append(about | {"keys": keys, "modules": modules})
    more = max(0, len(pairs) - SHOWN)
    return report.rendered("similar.html", title=title, pairs=columns, more=more) + "\n"
