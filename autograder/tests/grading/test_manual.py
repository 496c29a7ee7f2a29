"""Running the hidden suites manually, with pytest's own options."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.tests.files import HOMEWORK, put

KEEPS = """

kept = []


def rms_norm(x, gamma, eps=1e-6):
    kept.append(gamma * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps))
    {}
    return kept[-1]
"""
WRONG = "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x"
RAISES = "def rms_norm(x, gamma, eps=1e-6):\n    raise KeyError('gamma')"
ARRAY = r"(?:(?!Handle\()[^{}])*"
# What is appended to a module, the suite, the tests that are selected, and what pytest says of the first that fails
RUNS = {
    "a correct submission": ("layernorm", "", "layernorm", "worked or rms", ""),
    "wrong values": ("layernorm", WRONG, "layernorm", "rms", rf"""rms_norm: value
expected: {ARRAY}
returned: {ARRAY}
Every entry is multiplied by the same factor, 0.859609.
called with \(array\({ARRAY} {{'eps': 0.5}}"""),
    "an error": ("layernorm", RAISES, "layernorm", "rms", rf"""rms_norm: raised \(KeyError: 'gamma'\)
called with \(array\({ARRAY} {{'eps': 0.5}}"""),
    "a result that is overwritten": ("layernorm", KEEPS.format("[array.fill(7) for array in kept[1:-1]]"), "layernorm",
        "leave_no_trace", rf"""rms_norm: overwritten
returned: \[\[-0.8{ARRAY}
now:      \[\[7\., 7\.{ARRAY}
called with \(array\({ARRAY} {{}}"""),
    "arguments that an earlier call has taken": ("layernorm", KEEPS.format("kept[-1] = kept[-1] * (len(kept) != 4)"),
        "layernorm", "leave_no_trace", rf"""rms_norm: value
expected: {ARRAY}
returned: {ARRAY}
All entries are equal: -0.
called with \(array\(\[\[{ARRAY} {{}}"""),
    "a failing import": ("layernorm", "1 / 0", "layernorm", "rms",
        "layernorm could not be imported: ZeroDivisionError: division by zero"),
    "all modules together": ("decoder", "1 / 0", "integration", "test",
        "layernorm or .* or decoder.* could not be imported: ZeroDivisionError: division by zero"),
}  # fmt: skip


def run_suite(suite: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    path = str(HOMEWORK.suites / f"test_{suite}.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", path, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", RUNS)
def test_first_failing_call_is_described(tmp_path: Path, name: str) -> None:
    module, text, suite, tests, said = RUNS[name]
    put(tmp_path, HOMEWORK.files | {f"{module}.py": f"{HOMEWORK.files[f'{module}.py'].decode()}\n\n{text}\n"})
    done = run_suite(suite, "--submission", str(tmp_path), "-k", tests)
    errors = "\n".join(re.findall(r"^E +(.*)", done.stdout, re.MULTILINE))
    assert done.returncode == bool(said) and "recorder.py" not in done.stdout
    assert re.fullmatch(said, re.sub("^(AssertionError|Failed): ", "", errors)), errors


@pytest.mark.parametrize(("arguments", "said"), [
    ((), "no submission to grade; run: pytest SUITES --submission FOLDER"),
    (("--submission", "/nowhere"), "/nowhere"),
])  # fmt: skip
def test_submission_that_cannot_be_read_is_an_error(arguments: tuple[str, ...], said: str) -> None:
    done = run_suite("layernorm", "-k", "worked", *arguments)
    assert done.returncode == 2 and said in done.stdout + done.stderr
