"""Grades hostile submissions, and checks what they earn, read and leave behind, and how long they take.

Every attack runs with all layers of this machine. Slow tests repeat it without each layer that helps to stop it, unless
the promise depends on that layer. As root, they also repeat attacks as an unprivileged user. Since the interpreter is
often under /root, it is linked to a place that such a user can reach.
"""

import contextlib
import json
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from markdown_it import MarkdownIt

from autograder.feedback.results import Grade
from autograder.grading import recorder
from autograder.grading.grader import Grader, Result, open_grader
from autograder.homework.homework import PACKAGE
from autograder.release import gradescope
from autograder.sandbox import layers, workspace
from autograder.sandbox.sandbox import readable_by_others
from autograder.submissions.submission import Submission, read
from autograder.tests.attacks import ATTACKS, OTTER_ROAD, WITHOUT, Attack
from autograder.tests.attacks.uploads import EARNS, UPLOADS
from autograder.tests.files import HOMEWORK, Bomb
from autograder.tests.making import few

LIMITS = HOMEWORK.rubric.limits
TIGHT = LIMITS.model_copy(update={"call_seconds": 0.4, "submission_seconds": 4, "wall_factor": 3, "disk_mb": 4})
# Maximum processor time of grader and submission for one attack; the tight limits allow a submission 4 seconds.
SECONDS = 25
OPEN = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")
PLAIN = 54_321  # an unprivileged user ID that nothing else uses


@dataclass
class Field:
    """A grader, and the document of an ordinary submission that it graded before any attack."""

    grader: Grader
    before: str


REFERENCE = (HOMEWORK.solutions / "layernorm.py").read_bytes()
ORDINARY = Submission(
    "ordinary", {"layernorm.py": REFERENCE + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"}
)
_fields: dict[tuple[str, ...], Field] = {}


@pytest.fixture(scope="session")
def fields() -> Iterator[Any]:
    """Graders by the layers that they leave out, each opened once, with tight limits so that slow attacks end soon."""
    with contextlib.ExitStack() as stack:

        def field(without: tuple[str, ...] = ()) -> Field:
            if without not in _fields:
                grader = stack.enter_context(open_grader(HOMEWORK, without, TIGHT))
                _fields[without] = Field(grader, ordinary(grader))
            return _fields[without]

        yield field
        _fields.clear()


@pytest.fixture(scope="session")
def other_inputs() -> Iterator[list[Grader]]:
    """Two graders whose suites use different random numbers."""
    with contextlib.ExitStack() as stack:
        made = []
        with pytest.MonkeyPatch.context() as patch:  # only while they are opened: other tests follow in this process
            for seed in (1, 2):
                patch.setattr(recorder, "rng_for", lambda _, seed=seed: np.random.default_rng(seed))
                made.append(stack.enter_context(open_grader(HOMEWORK, (), TIGHT)))
        yield made


def ordinary(grader: Grader) -> str:
    """The document of an ordinary submission, graded with the usual limits."""
    grader.sandbox.limits = LIMITS
    result = grader.grade(ORDINARY, ("layernorm",))
    grader.sandbox.limits = TIGHT
    return json.dumps(Grade.of(result).to_gradescope())


def shown(result: Result, at_once: bool = False) -> str:
    """Everything that a student may read; `at_once`: only what is shown before grades are published."""
    whole = Grade.of(result).to_gradescope()
    tests = [entry for entry in whole["tests"] if not at_once or entry["visibility"] == "visible"]
    return "\n".join([whole["output"], *(entry["output"] for entry in tests)])


# This attack stores bits in access times, which other reads can overwrite. Messages about hidden calls may therefore
# differ in how the calls ended, so only the messages shown at once are compared.
MARKING = "stealing/said_by_a_second_import"


# Assertions for every attack


def assault(field: Field, submission: Submission, modules: Sequence[str], earns: float) -> Result:
    """Grade a hostile submission and check the promises that are the same for all attacks."""
    modes, memory, began = permissions(), peak(anew=True), time.process_time()
    running = {process.pid for process in psutil.Process().children(recursive=True)}  # other tests' graders
    result = field.grader.grade(submission, modules)
    assert time.process_time() - began + field.grader.sandbox.budget.processor_seconds < SECONDS
    assert result.points == earns
    assert peak() - memory < 200
    text = shown(result)
    responses = [graded.call_result.response for graded in result.graded if graded.call_result]
    assert "SUCCEEDED" not in text + repr(responses)
    assert not leaked(result, text)
    assert left(field, running) == []
    now = permissions()
    assert {place: mode for place, mode in modes.items() if now.get(place, mode) != mode} == {}
    assert ordinary(field.grader) == field.before
    return result


def peak(anew: bool = False) -> float:
    """The peak memory of this process, the grader, in megabytes; `anew` resets it if the platform can."""
    if anew:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # proc_pid_clear_refs(5): sets the peak to the present value
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def permissions() -> dict[str, tuple[int, int]]:
    own = [PACKAGE, *PACKAGE.rglob("*.py"), *HOMEWORK.solutions.glob("*"), HOMEWORK.rubric_file]
    places, found = [*own, Path(os.__file__), Path("/tmp")], {}
    for place in places:
        with contextlib.suppress(OSError):
            found[str(place)] = (place.stat().st_mode, place.stat().st_uid)
    return found


def left(field: Field, running: set[int]) -> list[str]:
    """Processes, files and kernel objects that an attack has left behind."""
    folder = field.grader.sandbox.folder
    servers = {f._server.pid for f in (known.grader.sandbox for known in _fields.values()) if f._server is not None}
    family = {p.pid for p in psutil.Process().children(recursive=True)} - servers - running
    uids = {folder.uid, folder.uid + 1} if folder.uid else set()
    theirs = {p.pid for p in psutil.process_iter(["uids"]) if p.info["uids"] and p.info["uids"].real in uids}
    found = [f"process {pid}" for pid in family | theirs]
    for place in {*OPEN, *workspace.open_folders(), str(folder.path), str(folder.submission)}:
        with contextlib.suppress(OSError):
            found += [entry.path for entry in os.scandir(place) if _theirs(entry, uids)]
    found += [entry.path for entry in os.scandir(folder.writable)]
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
            found += [f"{kind} {line}" for line in lines if any(f" {uid} " in line for uid in uids)]
    return found


def _theirs(entry: "os.DirEntry[str]", uids: set[int]) -> bool:
    """Whether an attack created the file, rather than another test that runs at the same time."""
    owner = entry.stat(follow_symlinks=False).st_uid
    return owner in uids if uids else "hostile" in entry.name and owner == os.getuid()


def leaked(result: Result, text: str) -> list[float]:
    """The numbers in the messages that occur in a hidden call and in no public one."""

    def numbers(lines: list[str]) -> set[float]:
        return {abs(float(number)) for line in lines for number in re.findall(r"\d+\.\d{4,}", line)}

    criteria, arguments = HOMEWORK.rubric.criteria, {True: [np.array([np.inf])], False: [np.array([np.inf])]}
    for test_call in (call_result.test_call for module in result.modules for call_result in module.call_results):
        arrays = [arg for arg in test_call.args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
        is_public = not test_call.criterion or criteria[test_call.criterion].visible
        arguments[is_public] += [np.abs(array.ravel()).astype(float) for array in arrays]
    public, hidden = np.concatenate(arguments[True]), np.concatenate(arguments[False])
    told, expected = numbers([text]), numbers([line for line in text.splitlines() if "expected" in line])
    close = [number for number in told - expected if np.abs(hidden - number).min() < 1e-6]
    return [number for number in close if np.abs(public - number).min() > 1e-6]


def hold(field: Field, name: str, attack: Attack) -> None:
    """Grade an attack and check that its messages contain nothing forbidden."""
    result = assault(field, Submission(name, attack.files), attack.modules, attack.earns)
    text = shown(result)
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert [word for word in attack.forbidden if word in page] == []
    assert len(text) <= 20_000 * len(result.modules)


def need(attack: Attack, held: list[str]) -> Attack:
    if not attack.promised(held):
        pytest.skip(f"promised only with {', '.join(sorted(attack.needs))}")
    return attack


# The tests

# .ci/run tries only these, because they do not wait for a limit.
QUICK = (
    "forging/forged_replies", "stealing/kit_files", "stealing/said_in_responses", "stealing/system_files",
    "disturbing/files_everywhere", "disturbing/system_calls",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in ATTACKS]
)
def test_attack(name: str, fields: Any) -> None:
    field = fields()
    hold(field, name, need(ATTACKS[name], field.grader.sandbox.layers))


@pytest.mark.slow
def test_upload_that_waits_ends_soon_on_a_busy_machine(fields: Any) -> None:
    """With the usual limits, beside ten busy processes."""
    grader, attack = fields().grader, ATTACKS["exhausting/waiting"]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(10)]
    try:
        grader.sandbox.limits, began = LIMITS, time.monotonic()
        assert grader.grade(Submission("waits", attack.files), attack.modules).points == 0
        assert time.monotonic() - began < 30
    finally:
        grader.sandbox.limits = TIGHT
        for process in busy:
            process.kill()
            process.wait()


SILENT = [name for name, attack in ATTACKS.items() if attack.silent]


@pytest.mark.slow
@pytest.mark.parametrize("name", few(SILENT, 1))
def test_messages_do_not_depend_on_hidden_inputs(name: str, other_inputs: list[Grader]) -> None:
    attack = need(ATTACKS[name], layers.holding())
    graded = [grader.grade(Submission(name, attack.files), attack.modules) for grader in other_inputs]
    texts = [shown(result, at_once=name == MARKING) for result in graded]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (n % 6 > 0)) for n, name in enumerate(UPLOADS)]
)
def test_upload(name: str, fields: Any, tmp_path: Path) -> None:
    field = fields()
    modules = ("layernorm", "decoder", "concept_check", "scaled_attention", "causal_mask")
    (tmp_path / "upload").mkdir()
    made = UPLOADS[name](tmp_path / "upload")
    began, memory = time.process_time(), peak()
    submission = read(made, HOMEWORK.rubric)
    assert time.process_time() - began < 5
    assert peak() - memory < 150
    assert sum(map(len, submission.files.values())) <= LIMITS.upload_mb * 2**20
    result = assault(field, submission, modules, EARNS[name])
    text = shown(result)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not any(word in text for word in ("<script", "](http", "root:", "/etc/passwd:"))
    assert len(text) < 60_000


@pytest.mark.parametrize("name", few(OTTER_ROAD, 1))
def test_attack_with_otter(name: str, box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Upload the attack to a folder like Gradescope's, with a pickle that Otter would load, and grade it there."""
    attack = need(ATTACKS[name], layers.holding())
    monkeypatch.setattr(gradescope, "open_grader", lambda *_: open_grader(HOMEWORK, (), TIGHT))

    def state() -> tuple[float, list[str], set[int]]:
        """Processor time of this process and its ended descendants, files of attacks, and running descendants."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        marks = [str(path) for place in OPEN for path in Path(place).glob("*hostile*")]
        running = {child.pid for child in psutil.Process().children(recursive=True)}
        return sum(one.ru_utime + one.ru_stime for one in used), marks, running

    began, marks, running = state()
    opened = box({**attack.files, ".OTTER_LOG": pickle.dumps(Bomb(Path("/tmp/hostile-otter-log")))})
    opened.run_here()
    ended, later, still_running = state()
    assert ended - began < SECONDS and later == marks and still_running <= running
    tests = opened.document()["tests"]
    own = [test for test in tests if test["extra_data"]["criterion"].partition(".")[0] in attack.modules]
    assert sum(test["score"] for test in own) == attack.earns
    assert "SUCCEEDED" not in opened.results.read_text()
    expected = {"results", "run_autograder", "source", "submission", "submission_metadata.json"}
    assert {path.name for path in opened.place.iterdir()} <= expected
    file = f"{attack.modules[0]}.py"
    assert (opened.submission / file).read_bytes() == attack.files[file]


def skip_if_refused(layer: str) -> None:
    """Skip if the sandbox does not start without Landlock because students could read the kit (tested elsewhere)."""
    held, places = layers.holding((layer,)), [place.resolve() for place in HOMEWORK.secret if place.exists()]
    if "user" in held and "landlock" not in held and any(map(readable_by_others, places)):
        pytest.skip("refused here: run `chmod o-rwx` on the clone to try the attacks without Landlock")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "name"), [(layer, name) for layer, names in WITHOUT.items() for name in sorted(names)]
)
def test_attack_without_a_layer(layer: str, name: str, fields: Any) -> None:
    attack = need(ATTACKS[name], layers.holding((layer,)))
    skip_if_refused(layer)
    hold(fields((layer,)), name, attack)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become a plain user")
def test_attacks_as_an_unprivileged_user() -> None:
    """The attacks that a separate user helps to stop, in a clone that everybody may read."""
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        home = place / "home"
        home.mkdir()
        os.chown(home, PLAIN, PLAIN)
        python, packages, clone = linked_for_everybody(place)
        names = [name for name in sorted(WITHOUT["user"]) if ATTACKS[name].promised(layers.holding(("user",)))]
        tests = [f"{clone}/autograder/tests/sandbox/test_attacks.py::test_attack[{name}]" for name in names]
        done = subprocess.run(
            [python, "-B", "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-o", "addopts=-q", "--basetemp", home / "p", *tests],
            user=PLAIN, group=PLAIN, extra_groups=[], cwd=home, capture_output=True, text=True,
            env={
                "HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": f"{clone}:{packages}",
                "LD_LIBRARY_PATH": str(place / "python" / "lib"),
            },
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
        assert f"{len(names)} passed" in done.stdout, done.stdout[-2000:]


def linked_for_everybody(place: Path) -> list[Path]:
    """Link or copy an interpreter, the packages and the kit to where every user can reach them; returns their paths."""
    library, packages = Path(sys.base_prefix) / "lib", Path(sysconfig.get_path("purelib"))
    for name, source in (("python/lib", library), ("packages", packages), ("kit", PACKAGE.parent)):
        ignored = shutil.ignore_patterns("site-packages", "test", ".*")
        shutil.copytree(source, place / name, copy_function=linked, ignore=ignored, symlinks=True)
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o755)
    python = shutil.copy2(Path(sys.executable).resolve(), place / "python")
    return [Path(python), place / "packages", place / "kit"]


def linked(one: str, other: str) -> None:
    try:
        os.link(one, other)
    except OSError:
        shutil.copy2(one, other)
