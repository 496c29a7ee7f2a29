"""Hostile submissions, each graded for real: what they earn, see and leave behind, and how long they take.

Every attack is run under all layers of this machine. The slow tests run them again with each layer left out in turn, as far as
the promise of an attack stands without it, and, where this is root, as a user without rights. For that the interpreter is
linked to a place that such a user can reach, since it often lies under /root.
"""

import contextlib
import os
import pickle
import re
import resource
import shutil
import stat
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

from autograder.feedback import results
from autograder.grading import plan as scripts
from autograder.grading import recorder
from autograder.grading.grader import Grader, Result, open_grader
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import otter_plugin
from autograder.sandbox import layers, workspace
from autograder.sandbox.folders import readable_by_others
from autograder.submissions.submission import Submission, read
from autograder.tests.attacks import ATTACKS, OTTER_ROAD, Attack
from autograder.tests.attacks.uploads import EARNS, UPLOADS
from autograder.tests.files import Bomb
from autograder.tests.making import few

LIMITS = rubrics.current().limits
TIGHT = LIMITS.model_copy(update={"call_seconds": 0.4, "submission_seconds": 8, "wall_factor": 3, "disk_mb": 4})
# Processor time for the worst of them, of grader and submission: the tight limits allow a submission 8 seconds.
SECONDS = 30
OPEN = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")
VERSION = sysconfig.get_python_version()
PLAIN = 54_321  # a user without rights, whom nobody else uses


@dataclass
class Field:
    """A grader, and the document of an ordinary submission that it has graded before any attack."""

    grader: Grader
    before: str

    def grade(self, submission: Submission, modules: Sequence[str]) -> Result:
        """Grade under tight limits, so that attacks on time end soon."""
        self.grader.sandbox.limits = TIGHT
        try:
            return self.grader.grade(submission, modules)
        finally:
            self.grader.sandbox.limits = LIMITS

    def ordinary(self) -> str:
        return document(self.grader.grade(ORDINARY, ("layernorm",)))


REFERENCE = (kit.solutions() / "layernorm.py").read_bytes()
ORDINARY = Submission(
    "ordinary", {"layernorm.py": REFERENCE + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"}
)
_fields: dict[tuple[str, ...], Field] = {}


@pytest.fixture(scope="session")
def fields() -> Iterator[Any]:
    """Graders by the layers that they leave out, opened once."""
    with contextlib.ExitStack() as stack:

        def field(without: tuple[str, ...] = ()) -> Field:
            if without not in _fields:
                grader = stack.enter_context(open_grader(without, TIGHT))
                grader.sandbox.limits = LIMITS
                _fields[without] = Field(grader, document(grader.grade(ORDINARY, ("layernorm",))))
            return _fields[without]

        yield field
        _fields.clear()


@pytest.fixture(scope="session")
def other_inputs() -> Iterator[list[Field]]:
    """Two graders whose suites draw other numbers."""
    with contextlib.ExitStack() as stack:
        made = []
        with pytest.MonkeyPatch.context() as patch:  # only while they are opened: other tests follow in this process
            for seed in (1, 2):
                patch.setattr(recorder, "rng_for", lambda _, seed=seed: np.random.default_rng(seed))
                scripts.current.cache_clear()
                made.append(Field(stack.enter_context(open_grader((), TIGHT)), ""))
        scripts.current.cache_clear()
        yield made


def document(result: Result) -> str:
    return results.dump(results.gradescope(result))


def shown(result: Result, at_once: bool = False) -> str:
    """Everything that a student may read, or what of it before grades are published."""
    whole = results.gradescope(result)
    tests = [entry for entry in whole["tests"] if not at_once or entry["visibility"] == "visible"]
    return "\n".join([whole["output"], *(entry["output"] for entry in tests)])


# Its marks for a later process last only where the kernel has not noted another reading, so messages about hidden calls may differ
# in how the calls ended.
MARKING = "stealing/said_by_a_second_import"


# What is asserted of every attack


def assault(field: Field, submission: Submission, modules: Sequence[str], earns: float) -> Result:
    """Grade a hostile submission and hold everything against the promises that are the same for all."""
    modes, memory, began = permissions(), peak(anew=True), time.process_time()
    running = {process.pid for process in psutil.Process().children(recursive=True)}  # other tests' graders
    result = field.grade(submission, modules)
    assert time.process_time() - began + field.grader.sandbox.processor_seconds < SECONDS
    assert result.points == earns
    assert peak() - memory < 200
    text = shown(result)
    responses = [graded.call_result.response for graded in result.graded if graded.call_result]
    assert "SUCCEEDED" not in text + repr(responses)
    assert not leaked(result, text)
    assert left(field, running) == []
    now = permissions()
    assert {place: mode for place, mode in modes.items() if now.get(place, mode) != mode} == {}
    assert field.ordinary() == field.before
    return result


def peak(anew: bool = False) -> float:
    """Megabytes that this process, the grader, has held at most, as far as the platform can from now on."""
    if anew:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # proc_pid_clear_refs(5): the peak is what is held now
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def permissions() -> dict[str, tuple[int, int]]:
    own = [kit.PACKAGE, *kit.PACKAGE.rglob("*.py"), *kit.solutions().glob("*"), kit.rubric_file()]
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
    uids = set(folder.users.numbers if folder.users is not None else ())
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
    """Whether an attack has made a file, rather than one of another test that runs beside this one."""
    owner = entry.stat(follow_symlinks=False).st_uid
    return owner in uids if uids else "hostile" in entry.name and owner == os.getuid()


def leaked(result: Result, text: str) -> list[float]:
    """Numbers in the messages that are those of a hidden call and of no public one."""

    def numbers(lines: list[str]) -> set[float]:
        return {abs(float(number)) for line in lines for number in re.findall(r"\d+\.\d{4,}", line)}

    criteria, arguments = rubrics.current().criteria, {True: [np.array([np.inf])], False: [np.array([np.inf])]}
    for test_call in (call_result.test_call for module in result.modules for call_result in module.call_results):
        arrays = [arg for arg in test_call.args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
        is_public = not test_call.criterion or criteria[test_call.criterion].visible
        arguments[is_public] += [np.abs(array.ravel()).astype(float) for array in arrays]
    public, hidden = np.concatenate(arguments[True]), np.concatenate(arguments[False])
    told, expected = numbers([text]), numbers([line for line in text.splitlines() if "expected" in line])
    close = [number for number in told - expected if np.abs(hidden - number).min() < 1e-6]
    return [number for number in close if np.abs(public - number).min() > 1e-6]


def hold(field: Field, name: str, attack: Attack) -> None:
    """Grade an attack and hold its messages against what they may not contain."""
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

# In .ci/run every thirtieth one is tried, and none of those that wait for a limit, which take long.
TRIED = [name for name in ATTACKS if not name.startswith("exhausting/")][3::30]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in TRIED)) for name in ATTACKS]
)
def test_attack(name: str, fields: Any) -> None:
    field = fields()
    hold(field, name, need(ATTACKS[name], field.grader.sandbox.layers))


SILENT = [name for name, attack in ATTACKS.items() if attack.silent]


@pytest.mark.slow
@pytest.mark.parametrize("name", few(SILENT, 1))
def test_messages_do_not_depend_on_hidden_inputs(name: str, other_inputs: list[Field]) -> None:
    attack = need(ATTACKS[name], layers.holding())
    graded = [field.grade(Submission(name, attack.files), attack.modules) for field in other_inputs]
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
    submission = read(made, LIMITS)
    assert time.process_time() - began < 5
    assert peak() - memory < 150
    assert sum(map(len, submission.files.values())) <= LIMITS.upload_mb * 2**20
    result = assault(field, submission, modules, EARNS[name])
    text = shown(result)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not any(word in text for word in ("<script", "](http", "root:", "/etc/passwd:"))
    assert len(text) < 60_000


def test_other_submission_beside_it_is_not_read(fields: Any) -> None:
    """A folder of another sandbox, with a submission in it, while an attack looks for it."""
    attack, field = ATTACKS["stealing/other_submissions"], fields()
    with open_grader() as beside:
        beside.sandbox.place({"layernorm.py": b"# another student's\n"})
        result = field.grade(Submission("nosy", attack.files), attack.modules)
    assert "SUCCEEDED" not in shown(result)


ON_THE_ROAD = [pytest.param(name, marks=[pytest.mark.slow] * (name not in OTTER_ROAD[:1])) for name in ATTACKS]


@pytest.mark.parametrize("name", ON_THE_ROAD)
def test_attack_on_the_otter_road(name: str, box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    attack = need(ATTACKS[name], layers.holding())
    monkeypatch.setattr(otter_plugin, "open_grader", lambda: open_grader((), TIGHT))
    on_the_otter_road(attack, box)


def on_the_otter_road(attack: Attack, box: Any) -> None:
    """Upload it to a folder like Gradescope's and have Otter grade it, with whatever Otter itself would unpickle or import."""

    def state() -> tuple[float, list[str], set[int]]:
        """Processor time of this process and all that ended below it, files of attacks, and processes of other tests' graders."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        marks = [str(path) for place in OPEN for path in Path(place).glob("*hostile*")]
        running = {child.pid for child in psutil.Process().children(recursive=True)}
        return sum(one.ru_utime + one.ru_stime for one in used), marks, running

    began, marks, running = state()
    opened = box({**attack.files, ".OTTER_LOG": pickle.dumps(Bomb(Path("/tmp/hostile-otter-log")))})
    opened.run_without_kernel()
    ended, later, still_running = state()
    assert ended - began < SECONDS and later == marks and still_running <= running
    tests = opened.document()["tests"]
    own = [test for test in tests if test["extra_data"]["criterion"].partition(".")[0] in attack.modules]
    assert sum(test["score"] for test in own) == attack.earns
    assert "SUCCEEDED" not in opened.results.read_text()
    expected = {"results", "source", "submission", "submission_metadata.json", "__init__.py"}  # the last is Otter's
    assert {path.name for path in opened.place.iterdir()} <= expected
    file = f"{attack.modules[0]}.py"
    assert (opened.submission / file).read_bytes() == attack.files[file]


def skip_if_refused(layer: str) -> None:
    """Without Landlock the sandbox does not start where students could read the kit, which another test tries."""
    held, places = layers.holding((layer,)), [place.resolve() for place in kit.secret() if place.exists()]
    if "user" in held and "landlock" not in held and any(map(readable_by_others, places)):
        pytest.skip("refused here: run `chmod o-rwx` on the clone to try the attacks without Landlock")


@pytest.mark.slow
@pytest.mark.parametrize("otter", [False, True], ids=["graded", "on the Otter road"])
@pytest.mark.parametrize("layer", layers.NAMES)
def test_each_layer_left_out(layer: str, otter: bool, fields: Any, box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_if_refused(layer)
    monkeypatch.setattr(otter_plugin, "open_grader", lambda: open_grader((layer,), TIGHT))
    broken = []
    for name in OTTER_ROAD if otter else ATTACKS:
        if ATTACKS[name].promised(layers.holding((layer,))):
            try:
                on_the_otter_road(ATTACKS[name], box) if otter else hold(fields((layer,)), name, ATTACKS[name])
            except AssertionError as error:
                broken.append(f"{name}: {str(error)[:300]}")
    assert broken == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become a plain user")
def test_all_of_it_as_a_plain_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        command, environment = _as_anybody(place)
        own = __file__.replace(str(kit.PACKAGE.parent), environment["KIT"])
        road = own.replace("sandbox/test_attacks", "release/test_otter_attacks")
        # The slow ones too, but for this one, which only root makes, and without a layer left out, which takes three times as long.
        chosen = [own, road, "-k", "not left_out", "-x", "-o", "addopts=-q"]
        (place / "home").mkdir()
        os.chown(place / "home", PLAIN, PLAIN)
        done = subprocess.run(
            [*command, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(place / "home" / "pytest"), *chosen],
            user=PLAIN, group=PLAIN, extra_groups=[], cwd=place / "home", capture_output=True, text=True,
            env={**environment, "HOME": str(place / "home"), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
        assert re.search(r"[12]\d\d passed", done.stdout), done.stdout[-2000:]


OPEN_CLONE = """
from autograder.grading.grader import open_grader
from autograder.submissions.submission import Submission
from autograder.exceptions import SandboxError
from autograder.tests.sandbox.test_attacks import ATTACKS, shown

with open_grader() as grader:
    print(shown(grader.grade(Submission("nosy", ATTACKS["stealing/kit_files"].files), ("layernorm",))))
try:
    open_grader(("landlock",)).__enter__()
except SandboxError as fault:
    print(fault)
"""


@pytest.mark.slow
@pytest.mark.skipif(not {"user", "landlock"} <= set(layers.holding()), reason="only root has the first, on Linux")
def test_solutions_stay_closed_to_submissions_in_a_clone_that_others_may_enter() -> None:
    with tempfile.TemporaryDirectory(prefix="clone-") as folder:
        Path(folder).chmod(0o755)
        clone = Path(folder) / "kit"
        shutil.copytree(kit.PACKAGE.parent, clone, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        for place in clone.rglob("*"):
            place.chmod(place.stat().st_mode | (0o755 if place.is_dir() else 0o644))
        environment = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", OPEN_CLONE], cwd=clone, env=environment, capture_output=True, text=True, check=True
        )
        assert "SUCCEEDED" not in done.stdout
        assert (
            "lost in `layernorm.py`" in done.stdout and "imported" not in done.stdout
        )  # the attack was not stopped before
        assert f"every user of this machine can read {clone}" in done.stdout


def _as_anybody(place: Path) -> tuple[list[str], dict[str, str]]:
    """An interpreter with the packages, and the kit, where every user can reach them: linked, or copied, if they are not."""
    packages, clone = Path(sysconfig.get_path("purelib")), kit.PACKAGE.parent
    if not _reachable(packages):
        packages = _linked(packages, place / "packages")
    if not _reachable(clone):
        clone = _linked(clone, place / "kit")
    # The packages are the interpreter's own, since a rehearsal takes no others.
    own = _linked(Path(sys.base_prefix) / "lib", place / "python" / "lib") / f"python{VERSION}" / "site-packages"
    own.mkdir(mode=0o755, exist_ok=True)
    (own / "packages.pth").write_text(f"{packages}\n")
    (place / "python" / "bin").mkdir(mode=0o755)
    (place / "python").chmod(0o755)
    python = Path(shutil.copy2(Path(sys.executable).resolve(), place / "python" / "bin" / f"python{VERSION}"))
    variables = {"PYTHONPATH": str(clone), "LD_LIBRARY_PATH": str(place / "python" / "lib"), "KIT": str(clone)}
    return [str(python)], variables


def _reachable(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IROTH for parent in (path, *path.parents))


def _linked(source: Path, target: Path) -> Path:
    def link(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:
            shutil.copy2(one, other)

    shutil.copytree(
        source,
        target,
        copy_function=link,
        ignore=shutil.ignore_patterns("site-packages", "test", ".git"),
        symlinks=True,
    )
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)
    return target
