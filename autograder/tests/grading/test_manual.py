"""Running the hidden suites manually, with pytest's own options."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.tests.files import HOMEWORK

WRONG = "\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"


def run_suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    suite = str(HOMEWORK.suites / "test_layernorm.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", suite, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_correct_submission_passes_and_a_wrong_one_shows_the_failing_line(tmp_path: Path) -> None:
    (tmp_path / "layernorm.py").write_bytes(HOMEWORK.files["layernorm.py"])
    right = run_suite("--submission", str(tmp_path), "-k", "worked or rms")
    assert right.returncode == 0, right.stdout
    (tmp_path / "layernorm.py").write_text(HOMEWORK.files["layernorm.py"].decode() + WRONG)
    wrong = run_suite("--submission", str(tmp_path), "-k", "rms", "-x")
    assert wrong.returncode == 1
    assert "check.rms_norm(" in wrong.stdout
    assert re.search(r"AssertionError: rms_norm: value\nE +expected: .*\nE +returned: ", wrong.stdout)
    assert "recorder.py" not in wrong.stdout


KEEPS = """

kept = []


def rms_norm(x, gamma, eps=1e-6):
    kept.append(gamma * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps))
    {}
    return kept[-1]
"""
# On the result that the first call returned; on arguments that an earlier call has taken
EFFECTS = {
    "[array.fill(7) for array in kept[1:-1]]": r"rms_norm: overwritten\nE +returned: .*\n(?s:.*)E +now:      \[\[7\., 7\.",
    "kept[-1] = kept[-1] * (len(kept) != 4)": r"rms_norm: value\n(?s:.*)E +called with \(array\(\[\[",
}


@pytest.mark.slow
@pytest.mark.parametrize("effect", EFFECTS)
def test_values_of_earlier_calls_are_shown_as_values(tmp_path: Path, effect: str) -> None:
    (tmp_path / "layernorm.py").write_text(HOMEWORK.files["layernorm.py"].decode() + KEEPS.format(effect))
    shown = run_suite("--submission", str(tmp_path), "-k", "leave_no_trace").stdout
    assert re.search(EFFECTS[effect], shown), shown
    assert "Handle(" not in shown and "Recorder(" not in shown


@pytest.mark.slow
def test_missing_submission_option_is_an_error_with_advice() -> None:
    done = run_suite("-k", "worked")
    assert done.returncode == 2
    assert "--submission FOLDER" in done.stdout + done.stderr
