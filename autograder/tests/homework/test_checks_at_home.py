"""What a student sees who runs `pytest` in the unpacked folder, on good days and on bad ones."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.homework import kit

RIGHT = (kit.solutions() / "layernorm.py").read_text()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that students get, without the notebook's part."""
    folder = tmp_path / "transformer"
    shutil.copytree(kit.home() / "assignments", folder, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    return folder


def pytest_says(folder: Path, *arguments: str, first: str = "") -> str:
    """All that pytest prints; `first` is a folder in front of everything that Python can import."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": first, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stdout + done.stderr


def test_nothing_is_written_yet(home: Path) -> None:
    said = pytest_says(home)
    assert "layer_norm is not written yet" in said and "Traceback" not in said
    assert "layernorm              0/" in said and "to do" in said


def test_one_module_done_and_what_is_left(home: Path) -> None:
    (home / "layernorm.py").write_text(RIGHT)
    said = pytest_says(home, "checks/test_layernorm.py")
    assert "done" in said and "to do" not in said
    assert "This is not the grade. Hidden criteria" in said


def test_wrong_value_has_call_result_expectation_and_hint(home: Path) -> None:
    wrong = "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x / (x.std(-1, keepdims=True) + eps)\n"
    (home / "layernorm.py").write_text(RIGHT + wrong)
    said = pytest_says(home)
    assert all(word in said for word in ("Called ", "Returned ", "Expected ", "Why ", "Hint "))


def test_error_has_its_line(home: Path) -> None:
    (home / "layernorm.py").write_text(RIGHT + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x.centre()\n")
    said = pytest_says(home, "checks/test_layernorm.py")
    line = RIGHT.count("\n") + 4
    assert f"Stopped   layernorm.py, line {line}: AttributeError" in said


def test_endless_loop_is_ended_with_its_line(home: Path) -> None:
    settings = home / "checks" / "conftest.py"
    settings.write_text(settings.read_text().replace("SECONDS = 10\n", "SECONDS = 0.5\n"))
    loop = "\n\ndef rms_norm(x, gamma, eps=1e-6):\n    while True:\n        x = x + 0\n"
    (home / "layernorm.py").write_text(RIGHT + loop)
    said = pytest_says(home, "checks/test_layernorm.py")
    assert "TooLong: no result after 0.5 seconds; look for a loop that never ends" in said
    last = RIGHT.count("\n") + 5
    assert re.search(rf"Stopped   layernorm.py, line ({last - 1}|{last}):", said)
    assert re.search(r"layernorm +[1-9]/\d+ to do", said)


def test_result_of_another_kind_has_no_hint_about_values(home: Path) -> None:
    (home / "layernorm.py").write_text(RIGHT + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return [1.0]\n")
    said = pytest_says(home, "checks/test_layernorm.py")
    assert (
        "it is a list, not a NumPy array" in said
        and "Hint" not in said.partition("it is a list")[2].partition("\n\n")[0]
    )


@pytest.mark.parametrize("name", ["LayerNorm.py", "layernorm (1).py", "layernorm_final.py", "layer-norm.py.txt"])
def test_file_with_nearly_the_right_name(home: Path, name: str) -> None:
    (home / "layernorm.py").rename(home / name)
    assert f"layernorm.py is missing; is it {name}? Rename that" in pytest_says(home, "checks/test_layernorm.py")


def test_missing_file(home: Path) -> None:
    (home / "layernorm.py").unlink()
    assert "layernorm.py is missing: it must lie beside the folder checks" in pytest_says(home)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def layer_norm(x):\n    if 1:\n\treturn x\n", "layernorm.py, line 3: TabError"),
        ("def layer_norm(x:\n", "layernorm.py, line 1: SyntaxError"),
        (
            "import torch\n",
            "layernorm.py, line 1: ModuleNotFoundError: No module named 'torch' (NumPy and the standard",
        ),
    ],
)
def test_file_that_cannot_be_imported(home: Path, text: str, said: str) -> None:
    (home / "layernorm.py").write_text(text)
    out = pytest_says(home, "checks/test_layernorm.py")
    assert said in out and "Traceback" not in out


def test_checks_without_the_homework(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "checks", tmp_path / "elsewhere" / "checks")
    said = pytest_says(tmp_path / "elsewhere", "checks")
    assert "No homework here: layernorm.py and the others must lie beside the folder" in said


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("raise ImportError", "NumPy is missing; install it with:"),
        ("__version__ = '1.26.4'", "The homework needs NumPy 2.0 or newer; this is 1.26.4"),
    ],
)
def test_numpy_that_is_missing_or_old(home: Path, tmp_path: Path, module: str, said: str) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "numpy.py").write_text(module)
    out = pytest_says(home, first=str(tmp_path / "first"))
    assert said in out and "Traceback" not in out


def test_old_python(home: Path) -> None:
    old = "import pytest, runpy, sys; sys.version_info = (3, 9, 1, 'final', 0)"
    command = f"{old}; print(runpy.run_path('checks/conftest.py')['OBSTACLE'])"
    done = subprocess.run([sys.executable, "-c", command], cwd=home, capture_output=True, text=True)
    assert "The homework needs Python 3.11 or newer; this is 3." in done.stdout, done.stderr
