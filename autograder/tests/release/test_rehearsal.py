"""A rehearsal: the folders, the environment, the run of the zip's own script, the format of results.json, and the report."""

import errno
import io
import json
import os
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import rehearsal
from autograder.release.rehearsal import Rehearsal
from autograder.tests.files import put, zipped

SCRIPT = b'run_autograder("/autograder")'
AUTOGRADER = {"run_autograder": b"", "setup.sh": b"", "run_otter.py": SCRIPT, "environment.yml": b""}
WRITING = """
import pathlib, sys
place = pathlib.Path("/autograder")
print((place / "submission_metadata.json").read_text(), [path.name for path in (place / "submission").iterdir()])
{code}
"""
Small = Callable[..., Path]


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Make a zip for Gradescope from the grader's last lines, lines for pip, and further files."""

    def make(code: str, *requirements: str, **files: bytes) -> Path:
        pip = json.dumps({"dependencies": ["python=3.11", "pip", {"pip": list(requirements)}]})
        texts = {"run_otter.py": WRITING.format(code=code), "environment.yml": pip}
        return put(tmp_path / "small.zip", AUTOGRADER | texts | files)

    return make


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    return put(tmp_path, {"layernorm.py": b""}) / "layernorm.py"


# Folders


@pytest.fixture
def autograder(tmp_path: Path) -> Path:
    return put(tmp_path / "autograder.zip", AUTOGRADER)


def arrived(place: Path) -> list[str]:
    below = place / "submission"
    return sorted(path.relative_to(below).as_posix() for path in below.rglob("*") if not path.is_dir())


def test_zip_is_unpacked_and_grades_in_the_tree(autograder: Path, tmp_path: Path) -> None:
    rehearsal.lay_out(tmp_path / "it", autograder, put(tmp_path / "upload", {"a.py": b"", "b/c.txt": b""}))
    assert (tmp_path / "it" / "source" / "run_otter.py").read_text() == f"run_autograder({str(tmp_path / 'it')!r})"
    assert arrived(tmp_path / "it") == ["a.py", "b/c.txt"]
    assert (tmp_path / "it" / "results").is_dir() and (tmp_path / "it" / "submission_metadata.json").is_file()


def test_zip_of_a_student_is_unpacked(autograder: Path, tmp_path: Path) -> None:
    rehearsal.lay_out(tmp_path / "it", autograder, put(tmp_path / "mine.ZIP", {"a/layernorm.py": b""}))
    assert arrived(tmp_path / "it") == ["a/layernorm.py"]


def test_links_and_pipes_are_left_out(autograder: Path, tmp_path: Path) -> None:
    upload = put(tmp_path / "upload", {"a.py": b"", "b/c.py": b""})
    for path in (upload / "up.zip", upload / "b" / "down.py"):
        path.symlink_to("/dev/zero")
    (upload / "folder").symlink_to(upload)
    os.mkfifo(upload / "pipe.py")
    rehearsal.lay_out(tmp_path / "it", autograder, upload)
    assert arrived(tmp_path / "it") == ["a.py", "b/c.py"]


@pytest.mark.parametrize("damage", ["no zip", "encrypted", "compressed data", "bomb"])
def test_zip_that_cannot_be_unpacked_arrives_unchanged(
    autograder: Path, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "upload.zip", {"layernorm.py": b"x = 1\n"})
    if damage == "no zip":
        path.write_bytes(b"PK\3\4")
    elif damage == "encrypted":
        path.write_bytes(path.read_bytes().replace(b"\x14\0\0\0\0\0", b"\x14\0\1\0\0\0"))
    elif damage == "compressed data":
        name, _, rest = zipped({"layernorm.py": b"x = 1\n"}, zipfile.ZIP_DEFLATED).partition(b"layernorm.py")
        path.write_bytes(name + b"layernorm.py" + b"\xff" + rest[1:])
    else:
        monkeypatch.setattr(rehearsal, "UPLOAD_FILES", 0)
    rehearsal.lay_out(tmp_path / "it", autograder, path)
    assert arrived(tmp_path / "it") == ["upload.zip"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing.zip", "there is no such file; use the autograder.zip that `autograder build` writes"),
        ("layernorm.py", "this is not a zip"),
        ("student.zip", "not a zip for Gradescope: it has no run_autograder"),
        ("elsewhere.zip", "its run_otter.py does not grade in /autograder"),
        ("damaged.zip", "this zip is damaged"),
    ],
)
def test_zip_that_is_not_for_gradescope(tmp_path: Path, upload: Path, name: str, said: str) -> None:
    put(tmp_path / "student.zip", {"transformer/layernorm.py": b""})
    put(tmp_path / "elsewhere.zip", AUTOGRADER | {"run_otter.py": b"run_autograder('/elsewhere')"})
    whole = put(tmp_path / "damaged.zip", AUTOGRADER).read_bytes()
    (tmp_path / "damaged.zip").write_bytes(whole.replace(SCRIPT, SCRIPT[::-1]))
    with pytest.raises(ArgumentsError, match=f"^{re.escape(f'{tmp_path / name}: {said}')}"):
        rehearsal.lay_out(tmp_path / "it", tmp_path / name, upload)


@pytest.mark.parametrize("many", [False, True], ids=["one file", "a folder"])
def test_full_disk_is_one_line(small: Small, upload: Path, monkeypatch: pytest.MonkeyPatch, many: bool) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "layernorm.py")

    zip_file = small("")
    monkeypatch.setattr("shutil.copyfile", fail)
    with pytest.raises(CommandError, match=os.strerror(errno.ENOSPC)):
        rehearsal.rehearse(zip_file, upload.parent if many else upload, here=True)


# Environment


def asking(place: Path, *lines: str) -> Path:
    """A tree whose zip asks for these packages."""
    entries = json.dumps({"dependencies": ["python=3.12.1", "pip", {"pip": list(lines)}]})
    return put(place, {"source/environment.yml": entries.encode()})


def test_requirements_of_the_zip(tmp_path: Path) -> None:
    tree = asking(tmp_path / "it", "/autograder/source/files/a.whl", "numpy==2.0.1")
    assert rehearsal.asked(tree) == ("3.12", [tree / "source/files/a.whl"], ["numpy==2.0.1"])


@pytest.mark.parametrize("text", ["", "[", "{}", "dependencies: 1", "dependencies: [{conda: []}]"])
def test_environment_file_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    tree = put(tmp_path / "it", {"source/environment.yml": text.encode()})
    with pytest.raises(ArgumentsError, match=r"the zip's environment\.yml cannot be read; build the zip again"):
        rehearsal.asked(tree)


def test_other_versions_here_are_reported(tmp_path: Path) -> None:
    _, _, how = rehearsal.installed(asking(tmp_path / "it", "numpy==0.1", "no-such-package==2", "tool>=3"), tmp_path)
    assert "; versions that differ from the zip: numpy " in how
    assert how.endswith("(zip: 0.1), no-such-package not installed (zip: 2)")


def test_folders_of_the_user_are_replaced_by_temporary_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    _, variables, _ = rehearsal.installed(asking(tmp_path / "it"), tmp_path)
    assert "SECRET" not in variables
    assert {Path(variables[name]).parent for name in rehearsal.FOLDERS} == {tmp_path}
    assert variables["PATH"].startswith(f"{Path(sys.executable).parent}{os.pathsep}")


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_fresh_environment_gets_the_wheel_of_the_zip(
    small: Small, upload: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "uv" and not rehearsal.uv():
        pytest.skip("needs uv")
    if installer == "pip":
        monkeypatch.setattr(rehearsal, "uv", lambda: "")
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "SCORE = 7\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    name = "files/tiny-1-py3-none-any.whl"
    code = "import json, tiny; (place / 'results' / 'results.json').write_text(json.dumps({'score': tiny.SCORE}))"
    zip_file = small(code, f"/autograder/source/{name}", **{name: wheel.getvalue()})
    done = rehearsal.rehearse(zip_file, upload)
    assert done.document == {"score": 7}
    assert re.fullmatch(rf"in a fresh environment of Python 3\.\d+.*, installed with {installer}", done.how)
    assert rehearsal.rehearse(zip_file, upload, here=True).document == {"score": 7}


def test_requirement_that_cannot_be_installed() -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "no requirement"]
    said = r"pip cannot install .*: Invalid requirement: .* \(--here uses the installed"
    with pytest.raises(CommandError, match=said):
        rehearsal._do(command, "pip cannot install the zip's requirements")


# Run


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(put(tmp_path / "scratch", {})))
    return tmp_path / "scratch"


def writing(document: Any) -> str:
    return f"(place / 'results' / 'results.json').write_text({json.dumps(document)!r})"


def test_run_returns_the_document_and_leaves_nothing(small: Small, upload: Path, scratch: Path) -> None:
    done = rehearsal.rehearse(small(writing({"score": 7})), upload, here=True)
    assert done.document == {"score": 7} and done.seconds > 0
    assert done.printed == "{} ['layernorm.py']\n"
    assert done.how == "with the packages installed here, in the versions of the zip"
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise OSError(28, 'No space left on device', 'x' * 9000)", "no space left on the disk of "),
        ("sys.exit('Error: no room')", "there is no results.json; the submission would stay ungraded: Error: no room"),
        (writing({"score": float("nan")}), "results.json is not JSON: NaN is not a number in JSON"),
        (f"{writing({'score': 1})}; sys.exit('Error: late')", "failed after results.json was written: Error: late"),
        ("(place / 'results' / 'results.json').write_text('[')", "results.json is not JSON"),
    ],
    ids=["full disk", "none", "nan", "failed late", "half written"],
)
def test_run_without_a_usable_result(small: Small, upload: Path, scratch: Path, code: str, said: str) -> None:
    with pytest.raises(CommandError) as caught:
        rehearsal.rehearse(small(code), upload, here=True)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert list(scratch.iterdir()) == []


def test_endless_grader_is_ended_with_all_its_processes(
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


# Format

DOCUMENTED = {
    "score": 44.0,
    "execution_time": 136,
    "output": "Text relevant to the entire submission",
    "output_format": "simple_format",
    "test_output_format": "text",
    "test_name_format": "text",
    "visibility": "after_due_date",
    "stdout_visibility": "visible",
    "extra_data": {},
    "tests": [
        {
            "score": 2.0,
            "max_score": 2.0,
            "status": "passed",
            "name": "Your name here",
            "name_format": "text",
            "number": "1.1",
            "output": "many lines",
            "output_format": "text",
            "tags": ["tag1", "tag2", "tag3"],
            "visibility": "visible",
            "extra_data": {},
        },
        {"name": "Compilation check", "status": "passed"},
    ],
    "leaderboard": [{"name": "Accuracy", "value": 0.926}, {"name": "Stars", "value": "*****", "order": "asc"}],
}


def test_the_kits_document_and_the_example_of_the_documentation_are_accepted(
    at_home: Callable[[Path], dict[str, Any]], upload: Path
) -> None:
    rehearsal.results(at_home(upload))
    rehearsal.results(DOCUMENTED)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"visibility": "after_deadline"}, "visibility: Input should be"),
        ({"output_format": "markdown"}, "output_format: Input should be"),
        ({"tests": [{"score": 1, "status": "ok"}]}, "tests.0.status: Input should be"),
        ({"tests": [{"score": True}]}, "tests.0.score: Input should be a valid number"),
        ({"tests": [{"score": 1, "number": 1}]}, "tests.0.number: Input should be a valid string"),
        ({"tests": [{"score": 1, "tags": "a"}]}, "tests.0.tags: Input should be a valid list"),
        ({"tests": [{"score": 1, "points": 1}]}, "tests.0.points: this key is not documented"),
        ({"extra_data": []}, "extra_data: Input should be a valid dictionary"),
        ({"score": None, "tests": [{}]}, "there is no score, neither at the top nor in tests"),
    ],
)
def test_deviations_from_the_format_are_found(change: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        rehearsal.results(DOCUMENTED | change)


# Report


def printed(document: dict[str, Any], brief: bool = False) -> str:
    done = Rehearsal(document, "first\nlast\x1b[2J\n", 1.25, "somehow")
    return "\n".join(rehearsal.lines(done, rehearsal.results(document), brief))


def parts(output: str) -> list[str]:
    """The text under each title."""
    return re.split(r"^What the .*\n-+$", output, flags=re.MULTILINE)[1:]


def test_visibility_decides_who_sees_what_when() -> None:
    names = ("visible", "after_due_date", "after_published", "hidden")
    tests = [{"name": f"{v} one", "score": 1, "max_score": 2, "visibility": v} for v in names] + [{"name": "silent"}]
    tests[3]["output"] = "line\x1b[2J\u202e"
    document = {"output": "on top", "visibility": "hidden", "tests": tests, "extra_data": {"layers": ["fork"]}}
    texts = parts(printed(document))
    assert [re.findall(r"(\w+) one", text) for text in texts] == [[name] for name in names]
    assert "on top" in texts[0]
    assert all("No total" in text for text in texts[:3])
    assert "total: 4 of 8" in texts[3] and "silent" in texts[3] and "line?[2J?" in texts[3]
    assert "Layers of the sandbox here: fork" in texts[3] and "    last?[2J" in texts[3]


def test_total_is_shown_once_nothing_is_hidden() -> None:
    tests = [{"score": 1, "max_score": 2, "visibility": "after_published"}, {"score": 2, "max_score": 2}]
    now, later, _ = parts(printed({"tests": tests}))
    assert "No total" in now and "Total: 3 of 4" in later


def test_brief_report_has_one_message_per_moment() -> None:
    tests = [{"name": name, "score": 0, "max_score": 1, "output": f"about {name}"} for name in "abc"]
    full, brief = printed({"tests": tests}), printed({"tests": tests}, brief=True)
    assert [f"about {name}" in full for name in "abc"] == [True] * 3
    assert [f"about {name}" in brief for name in "abc"] == [True, False, False]
    assert "(2 more with a message; omit --brief to print them)" in brief


@pytest.mark.parametrize(("names", "said"), [(["f.one", "f.two"], ["a.b: f.one, f.two"]), ([], [])])
def test_misconceptions_are_named(names: list[str], said: list[str]) -> None:
    test = {"name": "a.b: about", "score": 0, "extra_data": {"criterion": "a.b", "misconceptions": names}}
    assert re.findall(r"^Misconception in (.*)$", printed({"tests": [test]}), re.MULTILINE) == said
