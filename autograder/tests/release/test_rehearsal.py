"""A rehearsal: its folders and environment, the run of the zip's script, the format of results.json, and the report."""

import json
import math
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import rehearsal
from autograder.release.rehearsal import Rehearsal
from autograder.tests.files import put

SCRIPT = b'run_autograder("/autograder")'
AUTOGRADER = {"run_autograder": b"", "setup.sh": b"", "run_otter.py": SCRIPT}
REQUIREMENTS = "files/kit-wheel/requirements.txt"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
WRITING = """
import pathlib, sys
place = pathlib.Path("/autograder")
files = [str(path.relative_to(place / "submission")) for path in (place / "submission").rglob("*.*")]
print((place / "submission_metadata.json").read_text(), sorted(files))
{code}
"""
Small = Callable[..., Path]


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Make a zip for Gradescope; `code` ends its grading script, `pins` are its packages, and `setup` its setup.sh."""

    def make(code: str, *pins: str, setup: str = f"PYTHON={HERE}\n") -> Path:
        run = 'PLACE="/autograder"\nexec python3 "$PLACE/source/run_otter.py"\n'
        texts = {"run_otter.py": WRITING.format(code=code), REQUIREMENTS: "\n".join(pins), "setup.sh": setup}
        return put(tmp_path / "small.zip", {**AUTOGRADER, **texts, "run_autograder": run})

    return make


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    return put(tmp_path, {"layernorm.py": b""}) / "layernorm.py"


@pytest.mark.parametrize(("name", "said"), [
    ("nothing.zip", "No such file or directory; use the autograder.zip that `autograder build` writes"),
    ("layernorm.py", "File is not a zip file; use"),
    ("student.zip", "there is no run_otter.py in it; use"),
    ("damaged.zip", "Bad CRC-32 for file 'run_otter.py'; use"),
])  # fmt: skip
def test_zip_that_is_not_for_gradescope_is_rejected(tmp_path: Path, upload: Path, name: str, said: str) -> None:
    put(tmp_path / "student.zip", {"transformer/layernorm.py": b""})
    whole = put(tmp_path / "damaged.zip", AUTOGRADER).read_bytes()
    (tmp_path / "damaged.zip").write_bytes(whole.replace(SCRIPT, SCRIPT[::-1]))
    with pytest.raises(ArgumentsError, match=f"^{re.escape(f'{tmp_path / name}: {said}')}"):
        rehearsal.rehearse(tmp_path / name, upload, in_place=True)
    nobody = tmp_path / "nobody"
    with pytest.raises(ArgumentsError, match=f"^{nobody}: there is no such file or folder$"):
        rehearsal.rehearse(put(tmp_path / "whole.zip", AUTOGRADER), nobody, in_place=True)


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(put(tmp_path / "scratch", {})))
    return tmp_path / "scratch"


def writing(document: Any) -> str:
    return f"(place / 'results' / 'results.json').write_text({json.dumps(document)!r})"


def test_run_gets_files_without_links_and_no_variables_and_leaves_nothing(
    small: Small, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    upload = put(tmp_path / "upload", {"a.py": b"", "b/c.py": b""})
    for path in (upload / "up.zip", upload / "b" / "down.py"):
        path.symlink_to("/dev/zero")
    (upload / "folder").symlink_to(upload)
    os.mkfifo(upload / "pipe.py")
    code = f"import json, os; print(json.dumps(dict(os.environ))); {writing({'score': 7})}"
    done = rehearsal.rehearse(small(code), upload, in_place=True)
    files, variables = done.printed.splitlines()
    assert done.document == {"score": 7} and done.seconds > 0
    assert files == "{} ['a.py', 'b/c.py']"
    assert done.how == "with the packages installed here, in the versions of the zip"
    assert list(scratch.iterdir()) == []
    environment = json.loads(variables)
    assert "SECRET" not in environment and environment["PATH"] == os.environ["PATH"]
    assert all(Path(environment[name]).is_relative_to(scratch) for name in rehearsal.FOLDERS)


def test_differing_package_versions_are_reported(small: Small, upload: Path) -> None:
    zipped = small(writing({}), "numpy==0.1", "no-such-package==2", setup="PYTHON=3.9\n")
    how = rehearsal.rehearse(zipped, upload, in_place=True).how
    assert f"; versions that differ from the zip: Python {HERE} (zip: 3.9), numpy " in how
    assert how.endswith("(zip: 0.1), no-such-package not installed (zip: 2)")


STAND_INS = "with the zip's setup.sh and run_autograder; stand-ins here: apt-get does nothing"


def test_setup_runs_with_stand_ins_that_are_named(small: Small, upload: Path, scratch: Path) -> None:
    setup = "set -e\napt-get install x\npython3 -m pip --version\n"
    done = rehearsal.rehearse(small(writing({"score": 7}), setup=setup), upload)
    assert (done.document, done.how) == ({"score": 7}, STAND_INS)
    with pytest.raises(CommandError) as caught:
        rehearsal.rehearse(small("", setup="{ echo error: no numpy; echo '  cause: one'; exit 2; } >&2\n"), upload)
    assert str(caught.value) == "the zip's setup.sh failed: error: no numpy cause: one"
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("script", "is_used"), [
    ("", False), ("exit 127", False), (f'exec {shlex.quote(sys.executable)} "$@"', True),
], ids=["none", "not started by a version manager", "the same version"])  # fmt: skip
def test_a_python_of_this_machine_replaces_one_that_cannot_be_downloaded(
    small: Small, upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, is_used: bool
) -> None:
    path = put(tmp_path / "bin", {"python9.9": f"#!/bin/sh\n{script}\n"} if script else {}) / "python9.9"
    if script:
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UV_PYTHON", "2.7")
    python = path if is_used else sys.executable
    setup = (
        "PYTHON=9.9\n"
        'if [[ -z ${UV_PYTHON-} ]]; then echo "error: no Python" >&2; exit 1; fi\n'
        f"[[ $UV_PYTHON_PREFERENCE = only-system && $UV_PYTHON = {python} ]]\n"
    )
    done = rehearsal.rehearse(small(writing({"score": 7}), setup=setup), upload)
    assert done.how == f"{STAND_INS}, {python} in place of Python 9.9 (the zip's setup.sh failed: error: no Python)"


@pytest.mark.parametrize(("code", "said"), [
    ("raise OSError(28, 'No space left on device', 'x' * 9000)", "no space left on the disk of "),
    ("sys.exit('Error: no room')", "there is no results.json; the submission would stay ungraded: Error: no room"),
    (f"{writing({'score': 1})}; sys.exit('Error: late')", "failed after results.json was written: Error: late"),
    ("(place / 'results' / 'results.json').write_text('[')", "results.json is not JSON"),
], ids=["full disk", "none", "failed late", "half written"])  # fmt: skip
def test_run_without_a_usable_result_is_an_error(
    small: Small, upload: Path, scratch: Path, code: str, said: str
) -> None:
    with pytest.raises(CommandError) as caught:
        rehearsal.rehearse(small(code), upload, in_place=True)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert list(scratch.iterdir()) == []


def test_grader_that_exceeds_the_time_limit_is_killed(
    small: Small, upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "SECONDS", 1)
    sleeper = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {'import os, time; ' + sleeper!r}])"
    with pytest.raises(CommandError, match="took more than 1 seconds, Gradescope's limit"):
        rehearsal.rehearse(small(f"import subprocess, time; {start}; time.sleep(60)"), upload, in_place=True)
    state = Path("/proc", (tmp_path / "pid").read_text(), "status")
    for _ in range(100):  # the kernel may take a moment to remove a killed process
        if not state.exists() or "zombie" in state.read_text():
            return
        time.sleep(0.1)
    pytest.fail("the process still runs")


# Format: Gradescope, "Autograder Specifications", https://gradescope-autograders.readthedocs.io/en/latest/specs/

MOMENTS = ("visible", "after_due_date", "after_published", "hidden")
FORMATS = ("text", "simple_format", "html", "md", "ansi")
SHARED = {"score", "output", "output_format", "extra_data"}


def test_results_are_in_the_documented_format(at_home: Callable[[Path], dict[str, Any]], upload: Path) -> None:
    document = at_home(upload)
    assert document.keys() == {*SHARED, "stdout_visibility", "tests"} and document["stdout_visibility"] in MOMENTS
    for entry in (document, *document["tests"]):
        assert math.isfinite(entry["score"]) and entry["output_format"] in FORMATS
        assert isinstance(entry["output"], str) and isinstance(entry["extra_data"], dict)
    for entry in document["tests"]:
        assert entry.keys() == {*SHARED, "max_score", "status", "name", "visibility"} and isinstance(entry["name"], str)
        assert math.isfinite(entry["max_score"]) and entry["status"] in ("passed", "failed")
        assert entry["visibility"] in MOMENTS


def entry(visibility: str, name: str = "", **others: Any) -> dict[str, Any]:
    data = {"criterion": "a.b", "misconceptions": []}
    texts = {"name": name or f"{visibility} one", "output": "", "status": "failed", "extra_data": data}
    return {"score": 1, "max_score": 2, "visibility": visibility, **texts, **others}


def sections(*tests: dict[str, Any]) -> list[str]:
    """The text under each heading of a report."""
    score = sum(test["score"] for test in tests)
    document = {"score": score, "output": "on top", "tests": [*tests], "extra_data": {"layers": ["fork"]}}
    lines = rehearsal.report(Rehearsal(document, "first\nlast\x1b[2J\n", 1.25, "somehow"))
    return re.split(r"^What the .*\n-+$", "\n".join(lines), flags=re.MULTILINE)[1:]


def test_report_shows_each_test_when_it_is_visible() -> None:
    named = {"criterion": "a.b", "misconceptions": ["f.one", "f.two"]}
    texts = sections(*map(entry, MOMENTS[:3]), entry("hidden", output="line\x1b[2J\u202e", extra_data=named))
    assert [re.findall(r"(\w+) one", text) for text in texts] == [[name] for name in MOMENTS]
    assert "on top" in texts[0]
    assert all("No total" in text for text in texts[:3])
    for line in ("All of the above, and the total: 4 of 8", "    line?[2J?", "Layers of the sandbox here: fork", "    last?[2J",
                 "Misconception in a.b: f.one, f.two"):  # fmt: skip
        assert line in texts[3].splitlines()
    now, later, _ = sections(entry("after_published"), entry("visible", score=2))
    assert "No total" in now and "Total: 3 of 4" in later
