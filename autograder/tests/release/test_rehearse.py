"""`autograder rehearse`: uploads of every kind graded as on Gradescope, who sees what, and results that are no results."""

import io
import json
import os
import pickle
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from autograder.feedback.results import number
from autograder.homework import rubric as rubrics
from autograder.release import rehearse, results_format
from autograder.release.rehearse import RehearsalError

if TYPE_CHECKING:
    from autograder.tests.road import Built

pytest_plugins = ["autograder.tests.road"]

Run = Callable[..., Result]
POINTS = number(rubrics.current().points)
MOST = r"[5-9]\d"  # of 100 points
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The command; it must leave nothing where temporary files go."""
    scratch = Path(tempfile.mkdtemp(prefix="rehearsals-"))
    scratch.chmod(0o711)  # pytest's own folders are closed to the user that the sandbox runs code as
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def call(*arguments: object, here: bool = True) -> Result:
        done = CliRunner().invoke(rehearse.rehearse, [*map(str, arguments), *(["--here"] if here else [])])
        assert list(scratch.iterdir()) == []
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    yield call
    scratch.rmdir()


def folder(path: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def part(output: str, title: str) -> str:
    """What stands under a title of the output."""
    return output.partition(f"{title}\n{'-' * len(title)}\n")[2].partition("\n\nWhat the ")[0]


# Uploads


@pytest.fixture(scope="session")
def half(references: dict[str, bytes]) -> dict[str, bytes]:
    """A submission that is partly wrong."""
    wrong = references["layernorm.py"] + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"
    return {**references, "layernorm.py": wrong, "decoder.py": b"import nothing\n"}


def test_bare_modules_and_who_sees_what(built: "Built", run: Run, half: dict[str, bytes], tmp_path: Path) -> None:
    done = run(built.zip, folder(tmp_path / "upload", half))
    assert done.exit_code == 0, done.stderr
    assert re.match(r"Graded in [\d.]+ s, with what is installed here", done.stdout)
    now = part(done.stdout, "What the student sees at once")
    assert "**decoder.py**" in now and "No total, since" in now
    assert "failed  0 of 1  layernorm.example" in now and "passed  2 of 2  causal_mask.example" in now
    assert "layernorm.rms:" not in now and "layernorm.statistics" not in now
    later = part(done.stdout, "What the student sees when grades are published, besides")
    assert "failed  0 of 3  layernorm.rms:" in later and "passed  3 of 3  layernorm.statistics" in later
    assert re.search(rf"^Total: {MOST} of {POINTS}$", later, re.MULTILINE)
    mine = part(done.stdout, "What the instructor sees")
    assert f'"Autograder points" must be {POINTS}.' in mine
    assert re.search(rf"^All of that, and the total: {MOST} of {POINTS}$", mine, re.MULTILINE)


def test_brief_leaves_out_messages_and_says_so(
    built: "Built", run: Run, half: dict[str, bytes], tmp_path: Path
) -> None:
    upload = folder(tmp_path / "upload", half)
    full, brief = run(built.zip, upload).stdout, run(built.zip, upload, "--brief").stdout
    assert "failed  0 of 3  layernorm.rms:" in brief and re.search(r"\(\d+ more of these have a message", brief)
    assert brief.count("**Read:**") < full.count("**Read:**")


def test_zip_with_notebook_and_other_files(built: "Built", run: Run, half: dict[str, bytes], tmp_path: Path) -> None:
    others = {
        "transformer.ipynb": NOTEBOOK,
        "notes.txt": b"",
        "my_helpers.py": b"",
        "checks/test_layernorm.py": b"1/0\n",
    }
    done = run(built.zip, zipped(tmp_path / "upload.zip", {**half, **others, "__zip_filename__": b"a.zip"}))
    assert done.exit_code == 0, done.stderr
    assert re.search(rf"^Total: {MOST} of {POINTS}$", done.stdout, re.MULTILINE)


def test_one_file(built: "Built", run: Run, references: dict[str, bytes], tmp_path: Path) -> None:
    done = run(built.zip, folder(tmp_path, {"layernorm.py": references["layernorm.py"]}) / "layernorm.py")
    assert done.exit_code == 0, done.stderr
    assert f"Total: 20 of {POINTS}" in done.stdout
    assert "There is no file decoder.py in the upload." in part(done.stdout, "What the student sees at once")


def test_nothing_at_all(built: "Built", run: Run, tmp_path: Path) -> None:
    done = run(built.zip, folder(tmp_path / "upload", {"a/b.txt": b""}))
    assert done.exit_code == 0, done.stderr
    assert f"Total: 0 of {POINTS}" in done.stdout
    assert "There is no file layernorm.py in the upload." in done.stdout


def test_two_notebooks_are_refused_and_it_is_said(
    built: "Built", run: Run, references: dict[str, bytes], tmp_path: Path
) -> None:
    upload = folder(tmp_path / "upload", {**references, "a.ipynb": NOTEBOOK, "b.ipynb": NOTEBOOK})
    done = run(built.zip, upload)
    assert done.exit_code == 1
    assert "Otter refuses this upload and grades nothing of it: More than one .ipynb file found" in done.stderr
    assert "More than one .ipynb file found" in part(done.stdout, "What the student sees at once")


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


HOSTILE = """
import os, sys
print("\\x1b[2J", file=sys.stderr)
for place in ("results", "../results", "../../results", "../../autograder/results"):
    try:
        open(os.path.join(place, "results.json"), "w").write('{"score": 100, "tests": []}')
    except OSError:
        pass
os._exit(0)
"""


def test_hostile_upload(built: "Built", run: Run, references: dict[str, bytes], tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    shadow = (
        f"import pathlib, sys\nif 'run_otter' in str(sys.orig_argv): pathlib.Path({str(mark)!r}).touch()\n".encode()
    )
    shadows = {f"{name}.py": shadow for name in ("otter", "json", "random", "sitecustomize", "autograder", "run_otter")}
    files = {**references, **shadows, "layernorm.py": HOSTILE.encode(), ".OTTER_LOG": pickle.dumps(Bomb(mark))}
    done = run(built.zip, folder(tmp_path / "upload", files))
    assert done.exit_code == 0, done.stderr
    assert not mark.exists()
    assert re.search(rf"^Total: {MOST} of {POINTS}$", done.stdout, re.MULTILINE)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("damage", ["no zip", "encrypted", "bomb"])
def test_zip_that_cannot_be_unpacked_arrives_as_it_is(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "upload.zip", {"layernorm.py": b"x = 1\n"})
    if damage == "no zip":
        path.write_bytes(b"PK\3\4")
    elif damage == "encrypted":
        path.write_bytes(path.read_bytes().replace(b"\x14\0\0\0\0\0", b"\x14\0\1\0\0\0"))
    else:
        monkeypatch.setattr(rehearse, "UPLOAD_FILES", 0)
    (tmp_path / "submission").mkdir()
    rehearse._put(path, tmp_path / "submission")
    assert [file.name for file in (tmp_path / "submission").iterdir()] == ["upload.zip"]


@pytest.mark.slow
def test_fresh_environment(built: "Built", run: Run, half: dict[str, bytes], tmp_path: Path) -> None:
    done = run(built.zip, folder(tmp_path / "upload", half), here=False)
    assert done.exit_code == 0, done.stderr
    assert re.match(r"Graded in [\d.]+ s, in a fresh environment of Python 3\.\d+", done.stdout)
    assert re.search(rf"^Total: {MOST} of {POINTS}$", done.stdout, re.MULTILINE)


# Other zips: what becomes of the result


WRITING = """
import pathlib, sys
place = pathlib.Path("/autograder")
print((place / "submission_metadata.json").read_text()[:9], [path.name for path in (place / "submission").iterdir()])
{code}
"""


@pytest.fixture
def other(tmp_path: Path) -> Callable[..., Path]:
    """A zip of Gradescope's form with a grader of few lines."""

    def make(code: str, *requirements: str, **files: bytes) -> Path:
        pip = json.dumps({"dependencies": ["python=3.11", "pip", {"pip": list(requirements)}]})
        script = WRITING.format(code=code)
        texts = {"setup.sh": "", "run_autograder": "", "run_otter.py": script, "environment.yml": pip}
        return zipped(tmp_path / "other.zip", {**{name: text.encode() for name, text in texts.items()}, **files})

    return make


def writing(document: Any) -> str:
    return f"(place / 'results' / 'results.json').write_text({json.dumps(document)!r})"


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    return folder(tmp_path, {"layernorm.py": b""}) / "layernorm.py"


def test_visibility_decides_what_is_seen_when(other: Callable[..., Path], run: Run, upload: Path) -> None:
    names = ("visible", "after_due_date", "after_published", "hidden")
    tests = [{"name": f"{v} one", "score": 1, "max_score": 2, "visibility": v} for v in names] + [{"name": "silent"}]
    tests[3]["output"] = "line\x1b[2J\u202e"
    document = {"output": "on top", "visibility": "hidden", "tests": tests, "extra_data": {"layers": ["fork"]}}
    done = run(other(writing(document)), upload)
    assert done.exit_code == 0, done.stderr
    titles = re.findall(r"^(What .*)\n-+$", done.stdout, re.MULTILINE)
    texts = [part(done.stdout, title) for title in titles]
    shown = [re.findall(r"(\w+) one", text) for text in texts]
    assert shown == [["visible"], ["after_due_date"], ["after_published"], ["hidden"]]
    assert "on top" in texts[0]
    assert all("No total" in text for text in texts[:3])
    assert "total: 4 of 8" in texts[3] and "silent" in texts[3] and "line?[2J?" in texts[3]
    assert "['layernorm.py']" in texts[3]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit('Error: no room')", "there is no results.json; the submission would stay ungraded: Error: no room"),
        (writing({"tests": []}), "results.json: there is no score, neither at the top nor in tests"),
        (writing({"score": "1"}), "score: Input should be a valid number"),
        (writing({"score": 1, "visability": "hidden"}), "visability: this key is not documented"),
        (writing({"score": float("nan")}), "results.json is not JSON: NaN is no number in JSON"),
        (f"{writing({'score': 1})}; sys.exit('Error: late')", "failed after results.json was written: Error: late"),
        ("(place / 'results' / 'results.json').write_text('[')", "results.json is not JSON"),
    ],
    ids=["none", "no score", "text as score", "unknown key", "nan", "failed late", "half written"],
)
def test_result_that_is_none(other: Callable[..., Path], run: Run, upload: Path, code: str, said: str) -> None:
    done = run(other(code), upload)
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_endless_grader_is_ended_with_all_that_it_started(
    other: Callable[..., Path], run: Run, upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearse, "SECONDS", 1)
    sleeper = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {'import os, time; ' + sleeper!r}])"
    done = run(other(f"import subprocess, time; {start}; time.sleep(60)"), upload)
    assert done.exit_code == 1
    assert "took more than 1 seconds, Gradescope's limit" in done.stderr
    if sys.platform == "linux":
        state = Path("/proc", (tmp_path / "pid").read_text(), "status")
        for _ in range(100):  # a process that has been killed goes when the kernel gets round to it
            if not state.exists() or "zombie" in state.read_text():
                return
            time.sleep(0.1)
        pytest.fail("it runs on")


def test_fresh_environment_gets_the_wheel_of_the_zip(other: Callable[..., Path], run: Run, upload: Path) -> None:
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "SCORE = 7\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    name = "files/tiny-1-py3-none-any.whl"
    code = "import json, tiny; (place / 'results' / 'results.json').write_text(json.dumps({'score': tiny.SCORE}))"
    zip_file = other(code, f"/autograder/source/{name}", **{name: wheel.getvalue()})
    done = run(zip_file, upload, here=False)
    assert done.exit_code == 0, done.stderr
    assert "in a fresh environment of Python" in done.stdout and "the total: 7 of 0" in done.stdout
    done = run(zip_file, upload)
    assert "the total: 7 of 0" in done.stdout


def test_requirement_that_cannot_be_installed() -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "no requirement"]
    with pytest.raises(RehearsalError, match=r"pip cannot install .*: Invalid requirement: .* \(--here uses what is"):
        rehearse._do(command, "pip cannot install the zip's requirements")


# Arguments, and what an instructor may lack


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing.zip", "there is no such file; give the autograder.zip that `autograder build` has written"),
        ("layernorm.py", "this is no zip"),
        ("student.zip", "no zip for Gradescope, it has no run_autograder"),
    ],
)
def test_unusable_zip(run: Run, upload: Path, tmp_path: Path, name: str, said: str) -> None:
    zipped(tmp_path / "student.zip", {"transformer/layernorm.py": b""})
    done = run(tmp_path / name, upload)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"autograder: {tmp_path / name}: {said}")


def test_zip_for_another_place(other: Callable[..., Path], run: Run, upload: Path, tmp_path: Path) -> None:
    path = other("")
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).replace(b"/autograder", b"/elsewhere") for name in archive.namelist()}
    done = run(zipped(path, files), upload)
    assert done.exit_code == 2
    assert "its run_otter.py does not grade in /autograder" in done.stderr


def test_no_such_upload(other: Callable[..., Path], run: Run, tmp_path: Path) -> None:
    done = run(other(""), tmp_path / "nobody")
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path / 'nobody'}: there is no such file or folder\n"


def test_no_kernel(other: Callable[..., Path], run: Run, upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager._find_spec_directory", lambda *_: None)
    done = run(other(""), upload)
    assert done.exit_code == 1
    assert re.fullmatch(
        r"autograder: there is no Jupyter kernel named python3\..* pip install ipykernel\n", done.stderr
    )


def test_old_otter(other: Callable[..., Path], run: Run, upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "6.1.3")
    done = run(other(""), upload)
    assert done.exit_code == 1
    assert done.stderr.startswith("autograder: Otter 6.1.3 is installed; Otter 7 is needed: pip install")


def test_no_disk_space(other: Callable[..., Path], run: Run, upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28), "layernorm.py")

    monkeypatch.setattr("shutil.copy", fail)
    done = run(other(""), upload)
    assert done.exit_code == 1
    assert done.stderr == f"autograder: layernorm.py: {os.strerror(28)}\n"


# The documented format


def test_what_the_kit_writes_is_as_documented(at_home: Callable[[Path], dict[str, Any]], tmp_path: Path) -> None:
    assert results_format.problems(at_home(folder(tmp_path / "upload", {"layernorm.py": b""}))) == []


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
    "leaderboard": [
        {"name": "Accuracy", "value": 0.926},
        {"name": "Time", "value": 15.1, "order": "asc"},
        {"name": "Stars", "value": "*****"},
    ],
}


def test_the_example_of_the_documentation_is_accepted() -> None:
    assert results_format.problems(DOCUMENTED) == []


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
        ({"leaderboard": [{"name": "a"}]}, "leaderboard.0.value: Field required"),
        ({"leaderboard": [{"name": "a", "value": 1, "order": "up"}]}, "leaderboard.0.order: Input should be"),
        ({"extra_data": []}, "extra_data: Input should be a valid dictionary"),
    ],
)
def test_what_is_not_documented_is_found(change: dict[str, Any], said: str) -> None:
    assert results_format.problems(DOCUMENTED | change)[0].startswith(said)
