"""A rehearsal: its folders and environment, the run of the zip's script, the format of results.json, and the report."""

import json
import os
import platform
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, FiniteFloat

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
        rehearsal.rehearse(tmp_path / name, upload, here=True)


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(put(tmp_path / "scratch", {})))
    return tmp_path / "scratch"


def writing(document: Any) -> str:
    return f"(place / 'results' / 'results.json').write_text({json.dumps(document)!r})"


def test_run_gets_the_files_without_links_and_cleans_up(small: Small, tmp_path: Path, scratch: Path) -> None:
    upload = put(tmp_path / "upload", {"a.py": b"", "b/c.py": b""})
    for path in (upload / "up.zip", upload / "b" / "down.py"):
        path.symlink_to("/dev/zero")
    (upload / "folder").symlink_to(upload)
    os.mkfifo(upload / "pipe.py")
    done = rehearsal.rehearse(small(writing({"score": 7})), upload, here=True)
    assert done.document == {"score": 7} and done.seconds > 0
    assert done.printed == "{} ['a.py', 'b/c.py']\n"
    assert done.how == "with the packages installed here, in the versions of the zip"
    assert list(scratch.iterdir()) == []


def test_differing_package_versions_are_reported(small: Small, upload: Path) -> None:
    done = rehearsal.rehearse(
        small(writing({}), "numpy==0.1", "no-such-package==2", setup="PYTHON=3.9\n"), upload, here=True
    )
    assert done.printed == "{} ['layernorm.py']\n"
    assert f"; versions that differ from the zip: Python {HERE} (zip: 3.9), numpy " in done.how
    assert done.how.endswith("(zip: 0.1), no-such-package not installed (zip: 2)")


def test_user_folders_are_replaced_by_temporary_ones(
    small: Small, upload: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    code = f"import json, os; print(json.dumps(dict(os.environ))); {writing({})}"
    variables = json.loads(rehearsal.rehearse(small(code), upload, here=True).printed.splitlines()[-1])
    assert "SECRET" not in variables
    assert all(Path(variables[name]).is_relative_to(scratch) for name in rehearsal.FOLDERS)
    assert variables["PATH"] == os.environ["PATH"]


NAMED = "with the zip's setup.sh and run_autograder; stand-ins here: apt-get does nothing"


def test_setup_runs_with_stand_ins_that_are_named(small: Small, upload: Path, scratch: Path) -> None:
    setup = "set -e\napt-get install x\npython3 -m pip --version\n"
    done = rehearsal.rehearse(small(writing({"score": 7}), setup=setup), upload)
    assert (done.document, done.how) == ({"score": 7}, NAMED)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("script", "used"), [
    (None, sys.executable), ("exit 127", sys.executable), (f'exec {shlex.quote(sys.executable)} "$@"', "python9.9"),
], ids=["none", "not started by a version manager", "the same version"])  # fmt: skip
def test_a_python_of_this_machine_replaces_one_that_cannot_be_downloaded(
    small: Small, upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, used: str
) -> None:
    (tmp_path / "bin").mkdir()
    if script:
        (tmp_path / "bin" / "python9.9").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / "python9.9").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UV_PYTHON", "2.7")
    setup = (
        "PYTHON=9.9\n"
        'if [[ -z ${UV_PYTHON-} ]]; then echo "error: no Python" >&2; echo "  cause: offline" >&2; exit 1; fi\n'
        f"[[ $UV_PYTHON_PREFERENCE = only-system && $UV_PYTHON = *{used} ]]\n"
    )
    done = rehearsal.rehearse(small(writing({"score": 7}), setup=setup), upload)
    version = platform.python_version()
    assert done.how == f"{NAMED}, Python {version} for 9.9 (the zip's setup.sh failed: error: no Python: offline)"


def test_setup_that_fails_is_reported_in_one_line(small: Small, upload: Path, scratch: Path) -> None:
    setup = "{ echo error: numpy==0.1 is nowhere; echo '  cause: one'; echo '  cause: two'; exit 2; } >&2\n"
    with pytest.raises(CommandError) as caught:
        rehearsal.rehearse(small("", setup=setup), upload)
    assert str(caught.value) == "the zip's setup.sh failed: error: numpy==0.1 is nowhere: two"
    assert list(scratch.iterdir()) == []


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
        rehearsal.rehearse(small(code), upload, here=True)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert list(scratch.iterdir()) == []


def test_grader_that_exceeds_the_time_limit_is_killed(
    small: Small, upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "SECONDS", 1)
    sleeper = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {'import os, time; ' + sleeper!r}])"
    with pytest.raises(CommandError, match="took more than 1 seconds, Gradescope's limit"):
        rehearsal.rehearse(small(f"import subprocess, time; {start}; time.sleep(60)"), upload, here=True)
    if sys.platform == "linux":
        state = Path("/proc", (tmp_path / "pid").read_text(), "status")
        for _ in range(100):  # the kernel may take a moment to remove a killed process
            if not state.exists() or "zombie" in state.read_text():
                return
            time.sleep(0.1)
        pytest.fail("the process still runs")


# Format: Gradescope, "Autograder Specifications", https://gradescope-autograders.readthedocs.io/en/latest/specs/

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Format = Literal["text", "simple_format", "html", "md", "ansi"]


class Documented(BaseModel, extra="forbid", strict=True):
    """One entry of `tests`."""

    score: FiniteFloat
    max_score: FiniteFloat
    status: Literal["passed", "failed"]
    name: str
    output: str
    output_format: Format
    visibility: Visibility
    extra_data: dict[str, Any]


class DocumentedResults(BaseModel, extra="forbid", strict=True):
    """The document as a whole."""

    score: FiniteFloat
    output: str
    output_format: Format
    stdout_visibility: Visibility
    extra_data: dict[str, Any]
    tests: list[Documented]


def test_results_are_in_the_documented_format(at_home: Callable[[Path], dict[str, Any]], upload: Path) -> None:
    DocumentedResults.model_validate(at_home(upload))


NAMES = ("visible", "after_due_date", "after_published", "hidden")


def entry(visibility: str, name: str = "", **others: Any) -> dict[str, Any]:
    data = {"criterion": "a.b", "misconceptions": []}
    shown = {"name": name or f"{visibility} one", "output": "", "status": "failed", "extra_data": data}
    return {"score": 1, "max_score": 2, "visibility": visibility, **shown, **others}


def printed(*tests: dict[str, Any], brief: bool = False) -> str:
    score = sum(test["score"] for test in tests)
    document = {"score": score, "output": "on top", "tests": [*tests], "extra_data": {"layers": ["fork"]}}
    done = Rehearsal(document, "first\nlast\x1b[2J\n", 1.25, "somehow")
    return "\n".join(rehearsal.report(done, brief))


def parts(output: str) -> list[str]:
    """The text under each heading."""
    return re.split(r"^What the .*\n-+$", output, flags=re.MULTILINE)[1:]


def test_visibility_controls_when_a_test_is_shown() -> None:
    named = {"criterion": "a.b", "misconceptions": ["f.one", "f.two"]}
    last = entry("hidden", output="line\x1b[2J\u202e", extra_data=named)
    texts = parts(printed(*map(entry, NAMES[:3]), last))
    assert [re.findall(r"(\w+) one", text) for text in texts] == [[name] for name in NAMES]
    assert "on top" in texts[0]
    assert all("No total" in text for text in texts[:3])
    assert "total: 4 of 8" in texts[3] and "    line?[2J?" in texts[3]
    assert "Layers of the sandbox here: fork" in texts[3] and "    last?[2J" in texts[3]
    assert re.findall(r"^Misconception in (.*)$", texts[3], re.MULTILINE) == ["a.b: f.one, f.two"]


def test_total_is_shown_once_nothing_is_hidden() -> None:
    now, later, _ = parts(printed(entry("after_published"), entry("visible", score=2)))
    assert "No total" in now and "Total: 3 of 4" in later


def test_brief_report_has_one_message_per_section() -> None:
    tests = [entry("visible", name, output=f"about {name}") for name in "abc"]
    full, brief = printed(*tests), printed(*tests, brief=True)
    assert [f"about {name}" in full for name in "abc"] == [True] * 3
    assert [f"about {name}" in brief for name in "abc"] == [True, False, False]
    assert "(2 more with a message; omit --brief to print them)" in brief
