"""Errors of the kit in a student's process are grader errors; errors of a student are grades."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import CommandError, SandboxError
from autograder.gradebook import pool
from autograder.grading.grader import Grader, open_grader
from autograder.release import gradescope
from autograder.sandbox import sandbox
from autograder.sandbox.process import Limits
from autograder.submissions.submission import read
from autograder.tests.files import HOMEWORK, put
from autograder.tests.making import limited

# Code that breaks the kit in the fork server, and the reason in the error.
BROKEN = {
    "loader": (  # an importlib method with too few parameters, as an old kit has on a newer Python
        "from autograder.sandbox import loading\ndef source_to_code(self, data): pass\n"
        "loading.Loader.source_to_code = source_to_code\n",
        r"they lose .*TypeError: source_to_code\(\) takes 2 positional arguments",
    ),
    "definitions": (
        "from autograder.sandbox import loading\nloading.StudentModules.define = lambda *_: 1 / 0\n",
        "ZeroDivisionError",
    ),
    "wire": (
        "from autograder.sandbox import wire\nencode = wire.encode\n"
        "wire.encode = lambda value: 1 / 0 if value[0] == 'answered' and len(value) > 1 else encode(value)\n",
        "they lose .*protocol",
    ),
    "sandbox": (
        "from autograder.sandbox import layers\nlayers.apply = lambda *_: 1 / 0\n",
        "cannot be confined: ZeroDivisionError",
    ),
}


def broken(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Break the kit; return a pattern of the reason for the error."""
    patch, expected = BROKEN[name]
    monkeypatch.setattr(sandbox, "_START", sandbox._START.replace("session = main", f"{patch}session = main"))
    return expected


@pytest.mark.parametrize("name", BROKEN)
def test_broken_kit_is_a_grader_error_on_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxError, match=broken(name, monkeypatch)) as error, open_grader(HOMEWORK):
        pass
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["loader", "sandbox"])
def test_broken_kit_leaves_no_grade(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = broken(name, monkeypatch)
    pool.cool()
    monkeypatch.setattr(pool, "local", lambda jobs: pool.Pool(lambda _: ThreadPoolExecutor(1), 1, is_local=True))
    put(tmp_path / "upload", {"layernorm.py": "def rms_norm(x, gamma, eps=1e-6):\n    return x\n"})
    done = CliRunner().invoke(main, ["grade", str(tmp_path / "upload"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 1 and re.search(reason, done.stderr)
    assert not list((tmp_path / "out").rglob("results/*")) and not (tmp_path / "out" / "grades.csv").exists()
    put(tmp_path / "submission", {"layernorm.py": "x = 1\n"})
    put(tmp_path / "results", {"results.json": "{}"})
    with pytest.raises(CommandError, match=reason):
        gradescope.main(tmp_path)
    assert not (tmp_path / "results" / "results.json").exists()


ARRAY = "import numpy as np\nfrom functools import partial\n"
# Files of a student whose errors have no frame in the file, or none at all.
STUDENT_ERRORS: dict[str, str | bytes] = {
    "syntax": "def rms_norm(x, gamma, eps=1e-6:\n    return x\n",
    "indentation": "def rms_norm(x, gamma, eps=1e-6):\nreturn x\n",
    "tabs": "def rms_norm(x, gamma, eps=1e-6):\n\ty = x\n        return y\n",
    "encoding": b"# \xff\xfe\ndef rms_norm(x, gamma, eps=1e-6):\n    return x\n",
    "declared encoding": "# coding: hex\nx = 1\n",
    "null bytes": b"x = 1\0\n",
    "too nested": "x = " + "(" * 300 + ")" * 300,
    "too deep for the compiler": "x = " + "-" * 100_000 + "1",
    "warning as error": "import warnings\nwarnings.simplefilter('error')\nx = '\\d'\ny = 1 is 1\n",
    "missing function": "x = 1\n",
    "no function": "rms_norm = 3\n",
    "no parameters": "def rms_norm():\n    pass\n",
    "too many parameters": "def rms_norm(x, gamma, beta, eps):\n    return x\n",
    "keyword": "def rms_norm(x, gamma, epsilon=1e-6):\n    return x\n",
    "another module's function": ARRAY + "rms_norm = np.linalg.inv\n",
    "built-in": "rms_norm = len\n",
    "partial": ARRAY + "rms_norm = partial(np.add, 1, 2, 3)\n",
    "vectorize": ARRAY + "rms_norm = np.vectorize(lambda x: x / 0)\n",
    "ufunc": ARRAY + "rms_norm = np.frompyfunc(lambda x: x, 1, 1)\n",
    "class": "class rms_norm:\n    pass\n",
    "instance": "class Norm:\n    __call__ = None\nrms_norm = Norm()\n",
    "method of a class": "class Norm:\n    def __call__(self): pass\nrms_norm = Norm.__call__\n",
    "missing package": "import torch\n",
    "missing name": "from scaled_attention import nothing\n",
    "own name": "import layernorm\nlayernorm.nothing()\n",
    "exit": "exit()\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "strict numbers": ARRAY + "np.seterr(all='raise')\nrms_norm = np.divide\n",
    "recursion": "import sys\nsys.setrecursionlimit(60)\nrms_norm = lambda *a, **k: rms_norm(*a, **k)\n",
    "nothing left": "import builtins\nfor name in ('len', 'isinstance', 'type', 'zip', 'map'): delattr(builtins, name)\n",
}


@pytest.mark.parametrize("name", STUDENT_ERRORS)
def test_students_error_without_a_frame_is_graded(
    name: str, grader: Grader, references: dict[str, bytes], tmp_path: Path
) -> None:
    files = {"layernorm.py": STUDENT_ERRORS[name], "causal_mask.py": references["causal_mask.py"]}
    result = grader.grade(read(put(tmp_path, files), limited(Limits())), ("layernorm", "causal_mask"))
    lost = {graded.criterion.id for graded in result.graded if not graded.passed}
    assert "layernorm.rms" in lost
    assert not any(criterion.startswith("causal_mask.") for criterion in lost)
