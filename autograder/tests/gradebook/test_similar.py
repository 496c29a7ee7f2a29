"""Shared code is found despite new names and comments; code that everyone writes is ignored."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.gradebook import sample, similar, store
from autograder.gradebook.similar import Pair
from autograder.submissions.exports import listing
from autograder.tests.files import HOMEWORK

pytest.importorskip("copydetect", reason="needs the extra `similar`")
NAME = f"{next(iter(HOMEWORK.rubric.modules))}.py"
OWN = """
def helper_of_{n}(values, weights, limit):
    total, kept = {n}, []
    for position, value in enumerate(values):
        if value {op} limit and position % {n} != 1:
            kept.append((position, value * weights[position] + {n}))
        elif {extra}:
            total -= value ** {n}
    while len(kept) > {n} and kept[-1][0] {op} total:
        total += kept.pop()[1] / (limit + {n})
    return [one for _, one in kept] + [total]
"""
WAYS = [
    "def f{n}(a):\n    return {{k: [v for v in a[k] if v] for k in a if a[k] is not None}}\n",
    "class C{n}:\n    def __call__(self, x):\n        try:\n            return x.pop()\n        finally:\n            del x\n",
    "def g{n}(a, b):\n    with open(a) as file, open(b) as other:\n        return set(file) - set(other) or None\n",
    "h{n} = lambda a: sorted(a, key=lambda b: (b[0], -b[1]))[::2] + [not a] * 3 if a else ()\n",
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Eight students with the same correct solution in different files. Two share a helper with renamed variables."""
    right = sample.references(HOMEWORK)[NAME]
    for number in range(8):
        own = "".join(WAYS[(number + at) % 4].format(n=number) * (number // 4 + 1) for at in range(number % 3))
        if number == 2:
            own += OWN.format(n=5, op="<", extra="total")
        if number == 6:
            copied = OWN.format(n=5, op="<", extra="total").replace("values", "xs").replace("total", "sum_")
            own += "# mine\n" + copied.replace("kept", "found  # yes").replace("found  # yes", "found")
        sample.write(tmp_path / "class" / f"s{number}", {NAME: f"{right}{own}# {number}\n"})
    store.write_run(tmp_path, [tmp_path / "class"], listing([tmp_path / "class"], HOMEWORK.rubric).entries)
    return tmp_path


def test_only_the_pair_that_shares_a_helper_is_found(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, works = similar.compared(HOMEWORK, run, 0.5)
    assert [(pair.one, pair.other, pair.modules) for pair in pairs] == [("s2", "s6", (NAME[:-3],))]
    assert len(works) == 8
    page = similar.page("Title", pairs, works, {"s2": "<b>Ada</b>"})
    assert "&lt;b&gt;Ada" in page
    marked = " ".join(re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL))
    assert "enumerate(values)" in marked and "enumerate(xs)" in marked
    monkeypatch.setattr(similar, "SHOWN", 1)
    page = similar.page("Title", pairs * 3, works, {})
    assert page.count("<summary>") == 1 and "2 more pairs are in similar.csv" in page


@pytest.mark.slow
def test_shares_do_not_depend_on_the_hash_seed() -> None:
    code = f"from autograder.gradebook.similar import _print; print(sorted(_print('m', {OWN!r}).hashes))"
    run = [sys.executable, "-c", code]
    seeds = [os.environ | {"PYTHONHASHSEED": seed} for seed in "12"]
    first, second = (subprocess.run(run, env=seed, capture_output=True, check=True).stdout for seed in seeds)
    assert first == second and len(first) > 100


def test_a_file_that_the_grader_does_not_read_is_not_compared(run: Path) -> None:
    (run / "class" / "s6" / NAME).write_text("x = 1\n" * 20_000)
    pairs, works = similar.compared(HOMEWORK, run, 0.5)
    assert not pairs and [work.key for work in works if not work.texts] == ["s6"]


def test_large_group_with_identical_files_is_found(tmp_path: Path) -> None:
    """Twelve of twenty files are identical, and the others differ only in a comment. Short modules do not count."""
    names = list(sample.references(HOMEWORK))
    for number in range(20):
        own = number if number >= 12 else 99
        text = sample.stubs(HOMEWORK)[NAME] + OWN.format(n=7, op="<", extra="total") + f"# {own}\n"
        short = {names[1]: sample.stubs(HOMEWORK)[names[1]] + "\nWIDTH, DEPTH, HEADS = 1, 2, [3, 4]\n"}
        sample.write(tmp_path / "class" / f"s{number:02d}", {NAME: text} | short)
    store.write_run(tmp_path, [tmp_path / "class"], listing([tmp_path / "class"], HOMEWORK.rubric).entries)
    pairs, works = similar.compared(HOMEWORK, tmp_path, 0.6)
    assert {key for pair in pairs for key in (pair.one, pair.other)} == {f"s{number:02d}" for number in range(12)}
    assert len(pairs) == 66 and {(pair.share, pair.modules) for pair in pairs} == {(1.0, (NAME[:-3],))}
    assert "<mark>" in similar.page("Title", pairs[:1], works, {})


def test_command_writes_the_page_and_the_next_report_mentions_the_pair(run: Path) -> None:
    done = CliRunner().invoke(main, ["similar", str(run), "--least", "50"])
    assert done.exit_code == 0, done.output
    assert "s2" in done.stdout
    assert (run / "similar.html").exists()
    assert "s2,s6" in (run / "similar.csv").read_text()
    (notice,) = similar.notices(run)
    assert "s2 and s6 likely share code" in notice
    many = [Pair(f"a{number}", f"b{number}", 0.9, ()) for number in range(similar.SAID + 5)]
    similar.write(run, "Title", many, [], {})
    assert len(similar.notices(run)) == similar.SAID + 1 and similar.notices(run)[-1].startswith("5 more pairs")
    assert similar.notices(run / "nowhere") == []
    (run / "class" / "s2").rename(run / "class" / "abelada_101_1")
    text = (run / "class" / "abelada_101_1" / NAME).read_text()
    for number in (1, 2):  # two uploads of one student are not a pair
        sample.write(run / "canvas", {f"abelada_101_{number}_{NAME[:-3]}-{number}.py": text})
    store.write_run(run, [run / "canvas"], [])
    assert similar.compared(HOMEWORK, run, 0.5)[0] == []
