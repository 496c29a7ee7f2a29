"""The Gradescope image: its packages, and its setup.sh and run_autograder in a bare Debian root laid out as Gradescope does.

Local stand-ins there: Debian for Ubuntu, and Debian's Python where uv keeps the one that it would download.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from otter.generate import JINJA_ENV
from packaging.requirements import Requirement

from autograder.gradebook import sample
from autograder.homework import rubric as rubrics
from autograder.release import packing
from autograder.tests.files import HOMEWORK, Built, put, unzipped
from autograder.tests.refusing import LANDLOCK_REFUSED, NO_LANDLOCK, NO_SECCOMP, Refused, filters, refusing

PINS = (packing.SCRIPTS_FOLDER / "requirements.txt").read_text()


@pytest.mark.parametrize("python", get_args(rubrics.Python))
def test_every_python_has_pinned_packages_that_the_kit_allows(python: str) -> None:
    pins = packing.pins(PINS, python)
    project = tomllib.loads((HOMEWORK.folder / "pyproject.toml").read_text())["project"]
    floors = {requirement.name: requirement.specifier for requirement in map(Requirement, project["dependencies"])}
    assert pins.keys() >= {"numpy", "pydantic", "pytest"} and not {"otter-grader", "ipykernel"} & pins.keys()
    assert all(re.fullmatch(r"[\d.]+", version) for version in pins.values())
    assert [name for name, version in pins.items() if name in floors and version not in floors[name]] == []


def test_setup_installs_the_python_of_the_rubric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JINJA_ENV, "loader", JINJA_ENV.loader)  # to be restored
    packing.use_scripts("3.12")
    lines = JINJA_ENV.get_template("python/setup.sh").render().splitlines()
    assert {"PYTHON=3.12", 'PLACE="/autograder"'} <= {*lines}
    assert [line for line in lines if re.search("playwright|jupyter|mamba|wget", line)] == []


IMPORTS = """
import sys
before = {*sys.modules}
from importlib.metadata import packages_distributions
from pathlib import Path
from autograder.release import gradescope
gradescope.main(Path(sys.argv[1]))
loaded = {name.partition(".")[0] for name in {*sys.modules} - before}
print(*{name for top, names in packages_distributions().items() if top in loaded for name in names})
"""


def test_grading_imports_only_pinned_packages(tmp_path: Path) -> None:
    for folder in ("source", "submission", "results"):
        (tmp_path / folder).mkdir()
    done = subprocess.run([sys.executable, "-c", IMPORTS, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = {name.lower().replace("_", "-") for name in done.stdout.splitlines()[-1].split()}
    assert imported - {"transformer-homework"} <= packing.pins(PINS, "3.13").keys() and "numpy" in imported


# In a bare Debian root

CERTIFICATES = "/root/certificates.crt"
INSIDE = """
mount --bind /dev "$ROOT/dev"; mount -t proc proc "$ROOT/proc"; mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm"
eval "$MORE"
exec chroot "$ROOT" "$@"
"""


def run(
    root: Path, *command: str, network: bool = True, more: str = "", refused: Refused = (), megabytes: int = 0
) -> str:
    """Run a command in a Debian root; returns its output with the errors, and the exit status on the last line."""
    passed = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "UV_", "HTTP", "http"))}
    inside = {**passed, "HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    inside |= {"SSL_CERT_FILE": CERTIFICATES, "PIP_CERT": CERTIFICATES}
    unshare = ["unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child", *(() if network else ("-n",))]
    variables = [f"{name}={text}" for name, text in inside.items()]
    with memory(megabytes) as group:

        def before() -> None:
            if group is not None:
                group.write_text(str(os.getpid()))
            if refused:
                refusing(*refused)()

        done = subprocess.run(
            [*unshare, "bash", "-ec", INSIDE, "-", "/usr/bin/env", "-i", *variables, *command],
            env={**os.environ, "ROOT": str(root), "MORE": more}, preexec_fn=before,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
    return f"{done.stdout}\n{done.returncode}"


@contextlib.contextmanager
def memory(megabytes: int) -> Iterator[Path | None]:
    """A group of processes with this limit; yields the file by which a process enters it."""
    if not megabytes:
        yield None
        return
    first = Path("/sys/fs/cgroup/memory")
    group = (first if first.is_dir() else first.parent) / f"autograder-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if first.is_dir() else "memory.max")).write_text(str(megabytes * 2**20))
    except OSError as error:
        pytest.skip(f"memory cannot be limited here: {error}")
    try:
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def mirror() -> list[str]:
    """The Debian mirror that apt uses on this machine; without one, debootstrap knows another."""
    sources = (path for path in Path("/etc/apt").rglob("*") if path.suffix in (".list", ".sources"))
    text = "\n".join(path.read_text() for path in sources)
    return re.findall(r"^(?:URIs: *|deb +(?:\[[^]]*\] +)?)(\w+://\S+/debian/?)(?:\s|$)", text, re.MULTILINE)[:1]


@pytest.fixture(scope="module")
def root(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian root with the folders of Gradescope, in which the zip's setup.sh has run."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("needs root on Linux, debootstrap, and a network")
    root = tmp_path_factory.mktemp("debian") / "root"
    bootstrap = ["debootstrap", "--variant=minbase", "trixie", str(root), *mirror()]
    done = subprocess.run(bootstrap, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no Debian root: {done.stdout.splitlines()[-1:] or done.stderr}")
    for file in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(file, f"{root}{file}")
    if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", f"{root}{CERTIFICATES}")
    place = put(root / "autograder", {"submission/": "", "results/": "", "submission_metadata.json": "{}"})
    put(place / "source", unzipped(built.zip))
    shutil.copy(place / "source" / "run_autograder", place)
    # The stand-in for the Python that uv would download.
    python = "/root/.local/share/uv/python/cpython-3.13.5-linux-x86_64-gnu/bin"
    run(root, "bash", "-c", "apt-get update && apt-get install -y --no-install-recommends python3")
    run(root, "bash", "-c", f"mkdir -p {python} && ln -s /usr/bin/python3 {python}/python3.13")
    printed = run(root, "bash", "/autograder/source/setup.sh")
    assert printed.endswith("\n0"), printed[-3000:]
    yield root
    shutil.rmtree(root)


READ_ONLY = 'S="$ROOT/autograder/source"; mount --bind "$S" "$S"; mount -o remount,ro,bind "$S"'
FULL_DISK = 'for place in tmp var/tmp; do mount -t tmpfs -o size=64k tmpfs "$ROOT/$place"; done'
POOR = {"megabytes": 768, "refused": (*LANDLOCK_REFUSED, *NO_SECCOMP), "network": False, "more": READ_ONLY}
CONTAINERS: dict[str, tuple[dict[str, Any], list[str]]] = {  # arguments of `run`, and the layers that are missing
    "all layers": ({}, []),
    "768 MB": ({"megabytes": 768}, []),
    "no Landlock, no seccomp": ({"refused": (*NO_LANDLOCK, *NO_SECCOMP)}, ["landlock", "seccomp"]),
    "Landlock refused on use": ({"refused": LANDLOCK_REFUSED}, ["landlock"]),
    "no loopback": ({"network": False}, []),
    "source read-only": ({"more": READ_ONLY}, []),
    "all of these": (POOR, ["landlock", "seccomp"]),
}
GREEDY = """
import numpy as np
try:
    kept = [np.ones(2**20) for _ in range(1000)]
except MemoryError:
    pass
"""


def graded(root: Path, files: Mapping[str, str], **container: Any) -> tuple[float | None, str]:
    """The score in results.json, if there is one, and the output."""
    shutil.rmtree(root / "autograder" / "submission")
    sample.write(root / "autograder" / "submission", files)
    printed = run(root, "bash", "/autograder/run_autograder", **container)
    document = root / "autograder" / "results" / "results.json"
    return json.loads(document.read_text())["score"] if document.is_file() else None, printed


@pytest.mark.slow
@filters
@pytest.mark.parametrize("name", CONTAINERS)
def test_the_zips_own_scripts_grade_in_a_bare_root(
    root: Path, at_home: Callable[[Path], dict[str, Any]], name: str, tmp_path: Path
) -> None:
    container, missing = CONTAINERS[name]
    note = f"note: the sandbox lacks {', '.join(missing)}; autograder/docs/explanation/sandbox.md has their effects\n"
    for student in ("ada", "dana"):
        files = sample.students(HOMEWORK)[student]
        sample.write(tmp_path / student, files)
        score = at_home(tmp_path / student)["score"]
        expected = f"{note if missing else ''}graded: {score:g} of {HOMEWORK.rubric.points:g}\n\n0"
        assert graded(root, files, **container) == (score, expected)


@pytest.mark.slow
def test_memory_of_grader_and_student_fits_the_container(root: Path) -> None:
    files = sample.references(HOMEWORK)
    score, printed = graded(root, {**files, "layernorm.py": GREEDY + files["layernorm.py"]}, megabytes=768)
    assert score is not None and printed.endswith("\n0"), printed


@pytest.mark.slow
def test_grader_error_in_a_bare_root_is_in_the_output(root: Path) -> None:
    score, printed = graded(root, sample.references(HOMEWORK), more=FULL_DISK)
    assert score is None
    assert re.search(
        r"CommandError: the grader failed, so there is no result: .*No space left on device.*\n\n1$", printed
    )
