"""Runs the student folder with this interpreter, which needs only NumPy and pytest, and prints two cells of a table.

With the stubs, every check must say "not written", and with the solutions every check must pass. If Python or NumPy is too
old, every command in the students' README must print one sentence. Written for every Python from 3.8 on.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
TOO_OLD = sys.version_info < (3, 11) or int(numpy.__version__.partition(".")[0]) < 2


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home work"
        student_folder(home)
        first = rejected(home) if TOO_OLD else stubs(home)
        for module in home.glob("checks/test_*.py"):
            name = module.name[len("test_") :]
            shutil.copy(ROOT / "solutions" / name, home / name)
        second = rejected(home) if TOO_OLD else solutions(home)
        print(f"{first} | {second}")


def student_folder(home: Path) -> None:
    """Put together the folder of `autograder build` without the kit, which needs a newer Python."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    places = {"solutions": home, "autograder/shared": home / "checks" / "student_values", "assignments": home}
    for source, target in places.items():
        shutil.copytree(ROOT / source, target, ignore=ignored, dirs_exist_ok=True)
    for name in ("test_decoder_parts.py", "checks/my_tests.py"):  # only with `tests` in rubric.yaml
        (home / name).unlink()


def stubs(home: Path) -> str:
    status, output = run(home, "pytest")
    modules = len(list(home.glob("checks/test_*.py")))
    expect(status == 1 and len(re.findall(r"^\w+ +0 of \d+ checks pass", output, re.MULTILINE)) == modules, output)
    expect(re.match(r"\d+ not written in ", output.splitlines()[-1]), output)
    return "not written"


def solutions(home: Path) -> str:
    status, output = run(home, "pytest")
    passed = re.search(r"^All (\d+) public checks pass\.", output, re.MULTILINE)
    expect(status == 0 and passed and output.splitlines()[-1].startswith(f"{passed[1]} passed in "), output)
    status, output = run(home, "python train.py --steps 2")
    expect(status == 0 and "Written: model.npz and samples.txt" in output, output)
    return f"{passed[1]} pass"


def commands(home: Path) -> list[str]:
    """Return the commands in the students' README that run the checks or the training."""
    readme = (home / "README.md").read_text(encoding="utf-8")
    inline = re.findall(r"`((?:pytest|python train\.py|python -m pytest)\b[^`]*)`", readme)
    blocks = re.findall(r"^ {4,}(pytest\b[^#\n]*)", readme, re.MULTILINE)
    return sorted({" ".join(command.split()) for command in (*inline, *blocks)})


def rejected(home: Path) -> str:
    for command in commands(home):
        status, output = run(home, command)
        lines = [line for line in output.splitlines() if line.strip()]
        expect(status and len(lines) == 1 and "The homework needs " in lines[0], f"{command}\n{output}")
    return "one sentence"


def run(home: Path, command: str) -> tuple[int, str]:
    words = (
        command.replace("python -m pytest", "pytest").replace("pytest", "-m pytest", 1).replace("python ", "").split()
    )
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    done = subprocess.run([sys.executable, *words], cwd=home, timeout=600, **options)
    return done.returncode, done.stdout


def expect(right: object, output: str) -> None:
    if not right:
        sys.exit(f"wrong output with Python {sys.version.split()[0]} and NumPy {numpy.__version__}:\n{output}")


if __name__ == "__main__":
    main()
