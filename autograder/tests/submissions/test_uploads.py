"""Keys are safe file names, the same in every run, and never collide."""

import json
import random
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.homework import rubric
from autograder.submissions.exports import listing
from autograder.submissions.tree import of_folder
from autograder.submissions.uploads import RESERVED, Upload, keyed, load, safe_key
from autograder.tests.files import put
from autograder.tests.making import FIRST, LIMITS, as_nobody, keys


@pytest.mark.parametrize("seed", range(40))
def test_keys_are_safe_stable_and_never_collide(seed: int) -> None:
    chance = random.Random(seed)
    letters = chance.choice(["aA", "aAb.-_", "con.AUX1", "a/\\.:\0\n", "éÉe李\u202e🧮", "ﬁnﬁ"])
    names = ["".join(chance.choices(letters, k=chance.choice([0, 1, 2, 5, 90]))) for _ in range(12)]
    entries = [Upload(name, of_folder(Path(f"{number}/x"))) for number, name in enumerate(names)]
    found = [entry.key for entry in keyed(entries)]
    assert found == [entry.key for entry in keyed(entries)]
    assert len({key.lower() for key in found}) == len(names)
    for key in found:
        assert key.isascii() and key.replace("_", "").replace("-", "").replace(".", "").isalnum()
        assert key[0] not in ".-" and key[-1] not in ". " and len(key) < 100
        assert key.lower().split(".")[0] not in RESERVED


HOSTILE = ["../../etc/passwd", "con", "NUL.txt", ".hidden", "a/b", "", "李", "a\0b", "-rf", "x" * 300]


@pytest.mark.parametrize("name", ["alice", "submission_123", "Bob-2", "a.b", *HOSTILE])
def test_only_plain_names_stay_as_they_are(name: str) -> None:
    assert (safe_key(name) == name) is (name not in HOSTILE)


def test_entry_with_a_problem_is_a_fault_that_says_so() -> None:
    with pytest.raises(CommandError, match="no folder for it"):
        load(Upload("s1", None, problem="the export has no folder for it"), LIMITS)


def test_folder_that_cannot_be_read_is_that_submissions_fault_alone() -> None:
    with as_nobody() as folder:
        put(folder, {f"ada/{FIRST}": "1", f"bela/{FIRST}": "1"})
        (folder / "ada").chmod(0)
        found = listing([folder])
        assert keys(found) == ["ada", "bela"]
        with pytest.raises(CommandError, match="ada"):
            load(found.entries[0], LIMITS)
        assert load(found.entries[1], LIMITS).files


def test_notebook_alone_is_told_which_functions_of_the_homework_it_holds() -> None:
    own = next(iter(rubric.current().modules.values())).functions
    cells = [{"source": [f"def {name}(x):\n", "    pass"]} for name in ("plotted", *own, "test_it")]
    with as_nobody() as folder:
        put(folder, {"mine.ipynb": json.dumps({"cells": cells})})
        (note,) = load(Upload("s1", of_folder(folder)), LIMITS).notes
    assert (note.kind, note.wanted) == ("notebook", ", ".join(own))


def test_notebook_alone_in_a_zip_is_told_as_well(tmp_path: Path) -> None:
    put(tmp_path / "ada.zip", {"hw/a.ipynb": "{}", "hw/b.ipynb": "{}"})
    (note,) = load(Upload("s1", of_folder(tmp_path)), LIMITS).notes
    assert (note.kind, note.path) == ("notebook", "hw/a.ipynb")
