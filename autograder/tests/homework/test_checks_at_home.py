"""What a student sees who runs `pytest` in the unpacked folder, on good days and on bad ones."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.homework import kit, library
from autograder.homework import rubric as rubrics
from autograder.tests import forked
from autograder.tests.making import few

MODULES = tuple(rubrics.current().modules)
RIGHT_ATTENTION = (kit.solutions() / "scaled_attention.py").read_text()
RIGHT = (kit.solutions() / "layernorm.py").read_text()
COLUMNS = 88
LINES = 60
ALL_ZERO = "\n\ndef {function}(*args, **kwargs):\n    return np.zeros((2, 3))\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that students get, without the notebook's part."""
    folder = tmp_path / "transformer"
    shutil.copytree(kit.home() / "assignments", folder, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    return folder


def python_says(folder: Path, *arguments: str, first: str = "") -> str:
    """All that Python prints; `first` is a folder in front of everything that it can import.

    Plugins of pytest that are installed here stay out: students have none.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": first, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if forked.POSSIBLE and arguments[0] == "-m" and not first:
        return forked.module_says(folder, environment, *arguments[1:])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stdout + done.stderr


def pytest_says(folder: Path, *arguments: str, first: str = "") -> str:
    return python_says(folder, "-m", "pytest", "-p", "no:cacheprovider", *arguments, first=first)


def checked(home: Path, module: str, wrong: str, *arguments: str) -> str:
    """What the checks of a module say of the solution with further definitions below it."""
    (home / f"{module}.py").write_text((kit.solutions() / f"{module}.py").read_text() + "\n\n" + wrong)
    return pytest_says(home, f"checks/test_{module}.py", *arguments)


def write_solutions(home: Path, *modules: str) -> None:
    for module in modules:
        shutil.copy(kit.solutions() / f"{module}.py", home)


def quickly(home: Path) -> None:
    """Let an endless loop be ended sooner."""
    settings = home / "checks" / "time_limit.py"
    text = settings.read_text()
    assert "SECONDS = 10\n" in text
    settings.write_text(text.replace("SECONDS = 10\n", "SECONDS = 0.5\n"))


def last_line(text: str) -> int:
    return RIGHT.count("\n") + 2 + text.count("\n")


# How much is done


def test_nothing_is_written_yet(home: Path) -> None:
    said = pytest_says(home)
    assert "layernorm.py\n  Not written yet: layer_norm, rms_norm, layer_norm_backward\n" in said
    assert re.search(r"layernorm +0 of \d+ checks pass", said)
    assert "Traceback" not in said and "Error" not in said and "F" not in said.partition("\n")[0]
    assert "Next: write layer_norm (layernorm.py, line 13)\nThen: pytest --only layer_norm\n" in said
    assert said.count("\n") <= LINES
    for module, entry in rubrics.current().modules.items():
        listed = " ".join(said.partition(f"\n{module}.py\n")[2].partition("\n\n")[0].split())
        assert listed.startswith("Not written yet: ") and all(f in listed for f in entry.functions), module


def test_the_function_asked_for_is_the_next_to_be_written(home: Path) -> None:
    said = pytest_says(home, "--only", "softmax")
    assert "Next: write softmax (scaled_attention.py, line" in said


@pytest.mark.slow
def test_modules_come_in_their_order(home: Path) -> None:
    said = pytest_says(home)
    assert re.findall(r"^(\w+)\.py$", said, re.MULTILINE) == list(MODULES)
    assert re.findall(r"^(\w+) +0 of", said, re.MULTILINE) == list(MODULES)


def test_one_module_done_and_what_is_left(home: Path) -> None:
    write_solutions(home, "layernorm")
    said = pytest_says(home, "checks/test_layernorm.py")
    assert re.search(r"layernorm +(\d+) of \1 checks pass\n", said)
    assert "Next: write batch_norm (batchnorm_comparison.py, line" in said and "not your grade" not in said


def test_checks_that_have_not_run_do_not_count_as_passed(home: Path) -> None:
    said = checked(home, "layernorm", ALL_ZERO.format(function="layer_norm"), "-x")
    assert re.search(r"layernorm +0 of 1 checks pass, \d+ not run", said)


def test_function_that_another_one_needs_is_named_with_its_file(home: Path) -> None:
    write_solutions(home, "decoder", "causal_mask", "transformer_block", "scaled_attention")
    said = " ".join(pytest_says(home, "checks/test_decoder.py").split())
    assert "layer_norm (layernorm.py) is not written yet, and decoder_logits calls it (and in " in said


def test_stub_line_that_was_left_in(home: Path) -> None:
    wrong = "def rms_norm(x, gamma, eps=1e-6):\n    y = gamma * x\n    raise NotImplementedError('not yet')\n"
    said = checked(home, "layernorm", wrong)
    assert f"layernorm.py, line {last_line(wrong)} still raises NotImplementedError (and in " in said


@pytest.mark.parametrize("body", few(["raise ValueError('todo')", "pass", "return None", "return x", '"""later"""'], 1))
def test_code_that_computes_nothing_is_not_written_yet(home: Path, body: str) -> None:
    write_solutions(home, *MODULES)
    stub = f"def layer_norm(x, gamma, beta, eps=1e-5):\n    {body}\n"
    said = " ".join(checked(home, "layernorm", stub, "checks/test_transformer_block.py").split())
    assert "layernorm.py Not written yet: layer_norm `layer_norm` is defined on lines" in said
    assert "Called" not in said and "Probably" not in said
    assert (
        "pre_norm_block, post_norm_block and transformer_stack fail too: first fix layer_norm (layernorm.py)." in said
    )
    assert "Next: write layer_norm (layernorm.py, line " in said


# A wrong result


def test_wrong_value_has_call_result_expectation_and_reason(home: Path) -> None:
    said = checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n")
    assert all(word in said for word in ("Called ", "Returned ", "Expected ", "Why "))
    assert "Hint" not in said and "Probably" not in said


def test_what_is_remembered_between_calls_is_said(home: Path) -> None:
    wrong = (
        "MEAN = []\n\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    MEAN.append(x.mean(axis=-1, keepdims=True))\n"
    )
    wrong += "    return gamma * (x - MEAN[0]) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta\n"
    said = " ".join(checked(home, "layernorm", wrong).split())
    assert (
        "The result is correct if this is the first call, but not after other calls: your code keeps state between calls."
        in said
    )


def test_nothing_is_guessed_where_a_call_that_should_raise_returns_nothing(home: Path) -> None:
    wrong = RIGHT_ATTENTION[RIGHT_ATTENTION.index("def split_heads") : RIGHT_ATTENTION.index("def merge_heads")]
    wrong = re.sub(r"raise ValueError\(.*\)", "return None", wrong)
    said = checked(home, "scaled_attention", wrong)
    assert "Returned  None" in said and "Expected  ValueError" in said and "Probably" not in said


def test_input_is_known_for_what_it_is(home: Path) -> None:
    said = checked(home, "layernorm", "input('eps? ')\n")
    assert "`input()` does not work while your code is graded: delete the call." in " ".join(said.split())
    assert "stdin" not in said


@pytest.mark.slow
def test_random_results_are_said_to_be_random(home: Path) -> None:
    wrong = "def rms_norm(x, gamma, eps=1e-6):\n    return x + np.random.default_rng().normal(size=x.shape)\n"
    said = " ".join(checked(home, "layernorm", wrong).split())
    assert "it returns a different result: look for random numbers" in said and "keeps state" not in said


def test_the_line_that_stops_a_call_is_what_to_fix(home: Path) -> None:
    wrong = "def helper(x):\n    return x[0, 0, 0]\n\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return helper(x)\n"
    said = checked(home, "layernorm", wrong)
    assert f"Next: fix rms_norm (layernorm.py, line {last_line(wrong) - 4})\n" in said


@pytest.mark.parametrize("module", few([module for module in MODULES if module != "concept_check"], 1))
def test_every_call_that_is_shown_can_be_pasted(home: Path, module: str) -> None:
    """Each function's first wrong call is shown; with the right functions, the same text can be run."""
    write_solutions(home, *MODULES)
    functions = rubrics.current().modules[module].functions
    said = checked(home, module, "".join(ALL_ZERO.format(function=function) for function in functions))
    write_solutions(home, module)
    calls = re.findall(r"^    Called    (.*?)(?=^    \S)", said, re.MULTILINE | re.DOTALL)
    assert len(calls) >= len(functions)
    pasted = "\n".join(f"done.append(\n{call}\n)" for call in calls)
    out = python_says(home, "-c", f"from {module} import *\ndone = []\n{pasted}\nprint(len(done))")
    assert out == f"{len(calls)}\n", out


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["return [np.int64(2)] * 90", "x += 1", "return np.zeros((2, 3))", "return x @ x"])
def test_lines_fit(home: Path, wrong: str) -> None:
    for module, entry in rubrics.current().modules.items():
        body = "".join(f"\n\ndef {name}(x, *args, **kwargs):\n    {wrong}\n" for name in entry.functions)
        (home / f"{module}.py").write_text(f"import numpy as np\n{body}")
    said = pytest_says(home)
    assert len(said) > 2000
    assert [line for line in said.splitlines() if len(line) > COLUMNS] == []


@pytest.mark.slow
def test_plain_numbers(home: Path) -> None:
    said = checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return [np.int64(2), np.float64(0.5)]\n")
    assert "Returned  [2, 0.5]\n" in said
    assert "It returned a list of length 2; it should return an array of floats of shape (2, 4)." in " ".join(
        said.split()
    )


@pytest.mark.slow
def test_float32_is_part_of_the_call(home: Path) -> None:
    said = checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return 0 * x\n", "-k", "float32")
    assert "rms_norm(np.array([4.0, 2.0, 1.0, -3.0], dtype=np.float32), np.array(" in " ".join(said.split())


def test_hint_about_dtype_only_where_the_dtype_is_wrong(home: Path) -> None:
    right_but_float64 = (
        "_right = rms_norm\n\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return _right(x, gamma, eps) * {}\n"
    )
    said = checked(home, "layernorm", right_but_float64.format("np.float64(1)"), "--hint")
    assert "Why       It returned float64 instead of float32: floating-point results keep the" in said
    assert "Probably  Your result is float64 for float32 arguments." in said
    said = checked(home, "layernorm", right_but_float64.format("np.float64(2)"), "-k", "float32")
    assert "multiplied by the same factor, 2." in said and "Hint" not in said


@pytest.mark.slow
def test_two_calls_that_should_agree(home: Path) -> None:
    wrong = "def decoder_logits(tokens, params, n_heads):\n    return np.full((3, 3), tokens.sum())\n"
    said = checked(home, "decoder", wrong, "-k", "future")
    assert "              as with np.array([0, 1, 0]) in place of np.array([0, 1, 2])\n" in said
    assert "Why       6 of 6 entries are wrong: entry [0, 0] is 3 instead of 1.\n" in said


@pytest.mark.slow
def test_one_array_for_a_tuple(home: Path) -> None:
    wrong = "_right = batch_norm\n\n\ndef batch_norm(*args, **kwargs):\n    return _right(*args, **kwargs)[0]\n"
    said = checked(home, "batchnorm_comparison", wrong)
    due = "it should return a tuple of 3 (`y`, `new_running_mean`, `new_running_var`)."
    assert f"It returned an array; {due}" in " ".join(said.split())


@pytest.mark.slow
def test_a_part_of_the_wrong_type_is_named(home: Path) -> None:
    wrong = "_right = layer_norm_backward\n\n\ndef layer_norm_backward(*args, **kwargs):\n"
    wrong += "    grad_x, grad_gamma, grad_beta = _right(*args, **kwargs)\n    return grad_x, float(grad_gamma.sum()), grad_beta\n"
    said = checked(home, "layernorm", wrong)
    due = "it should be an array of floats of shape (4,). Only `grad_gamma` is wrong."
    assert f"Why `grad_gamma` is a float; {due}" in " ".join(said.split())


@pytest.mark.slow
def test_swapped_parts(home: Path) -> None:
    wrong = "_right = norm_moments\n\n\ndef norm_moments(x, kind):\n    return _right(x, kind)[::-1]\n"
    said = checked(home, "batchnorm_comparison", wrong)
    assert "All parts are correct, but they are in the wrong order: `var`, `mean`." in said


@pytest.mark.slow
def test_parts_that_differ_are_named(home: Path) -> None:
    wrong = "_right = norm_moments\n\n\ndef norm_moments(x, kind):\n    mean, var = _right(x, kind)\n    return mean, 2 * var\n"
    assert "Why       Only `var` is wrong. `var`: Every entry" in checked(home, "batchnorm_comparison", wrong)


@pytest.mark.parametrize(
    ("module", "wrong", "name"),
    [
        ("layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    x += 1\n    return x\n", "x"),
        (
            "scaled_attention",
            "def multi_head_attention(x, params, n_heads, mask=None):\n    params['w_k'][0] = 0\n    return x\n",
            "params['w_k']",
        ),
    ],
)
def test_argument_that_was_changed_is_named(home: Path, module: str, wrong: str, name: str) -> None:
    said = checked(home, module, wrong)
    assert f"Why       It modified its arguments: an entry of `{name}` was overwritten." in said
    assert "Hint      Work on a copy" in said


def test_function_without_return(home: Path) -> None:
    said = checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    gamma * x\n")
    assert "Returned  None" in said and "Does every path through the function return a value?" in said


@pytest.mark.slow
def test_example_of_the_readme_is_what_is_said(home: Path) -> None:
    wrong = """\
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps) + beta
"""
    page = (home / "README.md").read_text().partition("## Reading the messages\n\n")[2].partition("\n- ")[0]
    example = "\n".join(line.removeprefix("    ") for line in page.splitlines())
    said = checked(home, "layernorm", wrong)
    said = re.sub(r"  `layer_norm` is defined on lines.*\n", "", said)
    assert example.strip() in re.sub(r"\(layernorm.py, line \d+\)", "(layernorm.py, line 13)", said)


# Where to look first


@pytest.mark.slow
def test_further_checks_of_the_same_function_are_counted(home: Path) -> None:
    said = checked(home, "layernorm", "def layer_norm(x, gamma, beta, eps=1e-5):\n    return gamma * x + beta\n")
    assert re.search(r"  layer_norm \(0 of \d\)\n", said)
    assert said.count("Called ") == 1


@pytest.mark.slow
def test_same_text_is_said_once(home: Path) -> None:
    (home / "layernorm.py").write_text("def layer_norm(x:\n")
    said = pytest_says(home, "checks/test_layernorm.py")
    assert said.count("SyntaxError") == 1 and re.search(r"\(and in \d+ more checks\)", said)


@pytest.mark.slow
def test_mistake_in_a_module_that_is_used(home: Path) -> None:
    """Also if the checks of that module do not run."""
    write_solutions(home, "scaled_attention")
    (home / "layernorm.py").write_text(RIGHT + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return 2 * x\n")
    said = checked(home, "transformer_block", "")
    assert "pre_norm_block, post_norm_block and transformer_stack fail too: first fix layer_norm" in said
    assert "Called " not in said and "Next: fix layer_norm (layernorm.py, line" in said


@pytest.mark.slow
def test_mistake_in_a_helper_of_the_same_module(home: Path) -> None:
    said = checked(home, "scaled_attention", "def softmax(scores, axis=-1):\n    return 0 * scores\n")
    assert "scaled_dot_product_attention and multi_head_attention fail too: first fix softmax" in said


@pytest.mark.slow
def test_module_that_is_not_used_is_not_blamed(home: Path) -> None:
    """A block with a layer norm of its own."""
    write_solutions(home, "scaled_attention")
    own = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return 2 * x\n"
    said = checked(home, "transformer_block", own)
    assert "Called " in said and "first fix layer_norm" not in said


# Errors


def test_error_has_its_line(home: Path) -> None:
    wrong = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x.centre()\n"
    said = checked(home, "layernorm", wrong)
    assert f"Stopped   layernorm.py, line {last_line(wrong)}: AttributeError" in said
    assert "return x.centre()" in said


@pytest.mark.slow
@pytest.mark.parametrize("shapes", [((2, 3), (4, 5)), ((3,), (4,)), ((2, 3, 3), (4, 3, 3)), ((3,), ())])
def test_numpys_own_words_are_kept(home: Path, shapes: tuple[tuple[int, ...], ...]) -> None:
    one, other = shapes
    with pytest.raises(ValueError) as caught:
        np.matmul(np.ones(one), np.ones(other))
    said = checked(
        home, "layernorm", f"def rms_norm(x, gamma, eps=1e-6):\n    return np.ones({one}) @ np.ones({other})\n"
    )
    assert " ".join(str(caught.value).split()) in " ".join(said.split())


@pytest.mark.parametrize(
    "name", few(["LayerNorm.py", "layernorm (1).py", "layernorm_final.py", "my_layernorm.py", "layer-norm.py.txt"], 1)
)
def test_file_with_nearly_the_right_name(home: Path, name: str) -> None:
    (home / "layernorm.py").rename(home / name)
    said = " ".join(pytest_says(home, "checks/test_layernorm.py").split())
    assert f"layernorm.py is missing, but there is {name}: rename it to layernorm.py" in said


def test_a_call_outside_of_functions_that_fails_has_its_own_line(home: Path) -> None:
    write_solutions(home, "layernorm")
    text = (home / "layernorm.py").read_text() + "\nprint(layer_norm(np.ones(3), np.ones(4), 0))\n"
    (home / "layernorm.py").write_text(text)
    said = " ".join(pytest_says(home, "checks/test_layernorm.py").split())
    assert f"layernorm.py, line {len(text.splitlines())}: ValueError" in said


@pytest.mark.slow
def test_missing_file(home: Path) -> None:
    (home / "layernorm.py").unlink()
    write_solutions(home, "scaled_attention", "transformer_block")
    said = " ".join(pytest_says(home).split())
    assert "layernorm.py is missing: it belongs next to the folder checks (and in" in said
    assert "transformer_block.py imports layernorm.py, which cannot be imported" in said


def test_a_syntax_error_in_a_dependency_is_shown_and_is_what_to_fix(home: Path) -> None:
    write_solutions(home, "scaled_attention", "transformer_block")
    (home / "layernorm.py").write_text("def layer_norm(x:\n    return x\n")
    said = pytest_says(home, "checks/test_transformer_block.py")
    assert "transformer_block.py imports layernorm.py, which cannot be imported\n" in said
    assert "  layernorm.py, line 1: SyntaxError: '(' was never closed\n      def layer_norm(x:\n" in said
    assert "Next: fix layernorm.py (see above)." in said
    assert pytest_says(home).count("SyntaxError") == 1


def test_an_error_inside_a_dependency_has_the_line_of_the_caller(home: Path) -> None:
    write_solutions(home, *MODULES)
    right = (kit.solutions() / "decoder.py").read_text()
    wrong = right.replace('n_heads, norm="pre", mask=causal_mask(t))', "n_heads, causal_mask(t))")
    assert wrong != right
    (home / "decoder.py").write_text(wrong)
    said = pytest_says(home, "decoder.py")
    line = wrong[: wrong.index("n_heads, causal_mask(t))")].count("\n") + 1
    assert f"Stopped   decoder.py, line {line}: TypeError: unhashable type" in said
    assert "raised in transformer_block.py, line " in said
    assert f"Next: fix decoder_logits (decoder.py, line {line})\n" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def layer_norm(x):\n    if 1:\n\treturn x\n", "layernorm.py, line 3: TabError"),
        ("def layer_norm(x:\n", "layernorm.py, line 1: SyntaxError"),
        (
            "import torch\n",
            "layernorm.py, line 1: ModuleNotFoundError: No module named 'torch'. The grader has only NumPy, the",
        ),
    ],
)
def test_file_that_cannot_be_imported(home: Path, text: str, said: str) -> None:
    (home / "layernorm.py").write_text(text)
    out = pytest_says(home, "checks/test_layernorm.py")
    assert said in " ".join(out.split()) and "Traceback" not in out


# Loops without an end


def test_endless_loop_is_ended_once_with_its_own_line(home: Path) -> None:
    quickly(home)
    wrong = (
        "def turn(x):\n    while True:\n        x = x + 0\n\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return turn(x)\n"
    )
    said = checked(home, "layernorm", wrong)
    assert (
        f"Stopped   layernorm.py, line {last_line(wrong) - 5}: stopped after 0.5 seconds; look for an infinite" in said
    )
    assert "    while True:\n" in said
    again = "rms_norm was not called again because it did not finish (see above) (and in 2 more checks)"
    assert again in " ".join(said.split())
    assert said.count("stopped after") == 1


@pytest.mark.slow
def test_functions_that_need_an_endless_one_are_not_called(home: Path) -> None:
    quickly(home)
    write_solutions(home, "scaled_attention", "transformer_block")
    loop = "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    while True:\n        pass\n"
    (home / "layernorm.py").write_text(RIGHT + loop)
    said = pytest_says(home, "checks/test_layernorm.py", "checks/test_transformer_block.py")
    assert said.count("stopped after") == 1
    not_run = "functions that call layer_norm were not run, because it did not finish (see above) (and in"
    assert not_run in " ".join(said.split())
    assert re.search(r"transformer_block +[1-9]\d* of \d+ checks pass", said)


@pytest.mark.slow
def test_loop_that_swallows_every_exception_is_ended_too(home: Path) -> None:
    quickly(home)
    wrong = """\
def rms_norm(x, gamma, eps=1e-6):
    while True:
        try:
            while True:
                x = np.sqrt(x * x)
        except:
            continue
"""
    said = checked(home, "layernorm", wrong)
    assert "stopped after 0.5 seconds" in said
    assert re.search(r"layernorm +[1-9]\d* of \d+ checks pass", said)


@pytest.mark.slow
def test_loops_in_loops_that_swallow_every_exception_are_ended(home: Path) -> None:
    quickly(home)
    wrong = """\
def rms_norm(x, gamma, eps=1e-6):
    while True:
        try:
            while True:
                try:
                    while True:
                        x = np.sqrt(x * x)
                except BaseException:
                    continue
        except BaseException:
            continue
"""
    said = checked(home, "layernorm", wrong)
    assert said.count("stopped after 0.5 seconds") == 1
    assert re.search(r"layernorm +[1-9]\d* of \d+ checks pass", said)


# Watching


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    few(
        [
            (["causal_mask.py"], r"causal_mask +(\d+) of \1 checks", r"layernorm +\d+ of \d+ checks"),
            (["--only", "rms_norm"], r"rms_norm +(\d+) of \1 checks", r"rms_norm +0 of \d+ checks"),
        ],
        1,
    ),
)
def test_the_checks_of_a_module_run_again_when_it_is_saved(
    home: Path, arguments: list[str], first: str, second: str
) -> None:
    write_solutions(home, "causal_mask", "layernorm")
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "pytest", "--watch", *arguments]
    with subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert re.search(first, "".join(itertools.takewhile(WATCHING.__ne__, process.stdout)))
            saved = home / "saved"  # renamed, since a file that is being written is seen twice
            saved.write_text(RIGHT + "\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return 2 * x\n")
            saved.replace(home / "layernorm.py")
            said = "".join(itertools.takewhile(WATCHING.__ne__, process.stdout))
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        finally:
            process.kill()
    assert re.search(second, said) and "Next: fix rms_norm" in said and "causal_mask" not in said


WATCHING = "Watching your files; press Ctrl-C to stop.\n"


# Tests that students write


TESTING = """
import numpy as np
import pytest
from layernorm import layer_norm

ROW, ONES = np.array([4.0, 2.0, 1.0, -3.0]), np.ones(4)


@pytest.mark.parametrize("gamma", [1.0, 2.0])
def test_layer_norm_scales(gamma):
    np.testing.assert_allclose(layer_norm(ROW, gamma * ONES, 0 * ONES).std(), gamma, atol=1e-5)
"""
SHIFTS = (
    "\ndef test_layer_norm_shifts():\n    assert layer_norm(ROW, 2 * ONES, ONES, eps=9.0).sum() == pytest.approx(4)\n"
)
EXACT = "\ndef test_layer_norm_exactly():\n    assert layer_norm(ROW, ONES, ONES)[0] == 2.1766959056787556\n"
STUB = '''import numpy as np\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    """."""\n    raise NotImplementedError("x")\n'''


@pytest.fixture
def testing(home: Path) -> Path:
    """The folder of a homework in which students write tests."""
    shutil.copy(kit.solutions() / "checks" / "my_tests.py", home / "checks")
    write_solutions(home, "layernorm")
    (home / "test_decoder_parts.py").write_text(TESTING)
    return home


def test_own_tests_run_on_correct_and_wrong_code(testing: Path) -> None:
    assert pytest_says(testing, "--test-my-tests") == (
        "layer_norm: 1 of 3 wrong versions detected\n"
        "  not detected: it adds beta before it scales\n"
        "  not detected: it ignores eps\n"
    )
    assert "2 passed" in pytest_says(testing, "test_decoder_parts.py")


@pytest.mark.parametrize(
    ("tests", "module", "said"),
    few(
        [
            (
                TESTING + EXACT,
                RIGHT,
                r"fails on your code with other rounding, which is correct: test_decoder_parts.py, line 14\n",
            ),
            (
                TESTING + SHIFTS,
                RIGHT,
                r"fails on your own code, so one of the two is wrong; .*has no attribute 'approx'",
            ),
            (TESTING, STUB, r"layer_norm is not written yet \(layernorm.py, line 3\): its tests need it"),
            (TESTING, "1 / 0", r"layer_norm: layernorm.py, line 1: ZeroDivisionError"),
            ("", RIGHT, r"test_decoder_parts.py has no tests"),
            ("def test_layer_norm(:", RIGHT, r"test_decoder_parts.py has no tests"),
        ]
    ),
)
def test_own_tests_that_cannot_be_judged(testing: Path, tests: str, module: str, said: str) -> None:
    (testing / "test_decoder_parts.py").write_text(tests)
    (testing / "layernorm.py").write_text(module)
    found = pytest_says(testing, "--test-my-tests")
    assert re.search(said, found) and "Traceback" not in found


@pytest.mark.slow
def test_checks_where_no_thread_can_be_started(home: Path, tmp_path: Path) -> None:
    """As in Pyodide. An endless loop is stopped there too."""
    (tmp_path / "first").mkdir()
    refused = (
        'import _thread\n\n\ndef refuse(*args, **kwargs):\n    raise RuntimeError("can\'t start new thread")\n\n\n'
    )
    refused += "_thread.start_new_thread = _thread.start_joinable_thread = refuse\n"
    (tmp_path / "first" / "sitecustomize.py").write_text(refused)
    quickly(home)
    write_solutions(home, *MODULES)
    first = str(tmp_path / "first")
    assert "can't start new thread" in python_says(
        home, "-c", "import threading; threading.Thread().start()", first=first
    )
    assert re.search(r"All \d+ public checks pass", pytest_says(home, first=first))
    (home / "layernorm.py").write_text(RIGHT + "\n\ndef rms_norm(x, gamma, eps=1e-6):\n    while True:\n        pass\n")
    assert "stopped after 0.5 seconds" in pytest_says(home, "layernorm.py", first=first)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_shows_the_summary_and_what_was_running(home: Path) -> None:
    loop = (  # a shell ignores Ctrl-C in what it runs in the background
        "def rms_norm(x, gamma, eps=1e-6):\n    import signal\n"
        "    signal.signal(2, signal.default_int_handler)\n    signal.raise_signal(2)\n"
    )
    said = checked(home, "layernorm", loop)
    assert f"Stopped   layernorm.py, line {last_line(loop)}: stopped by Ctrl-C" in said
    assert re.search(r"layernorm +8 of 9 checks pass, 7 not run", said)
    assert "stopped by Ctrl-C !" in said and "Traceback" not in said and "full-trace" not in said


def test_endless_import(home: Path) -> None:
    quickly(home)
    (home / "layernorm.py").write_text("while True:\n    pass\n")
    said = pytest_says(home, "checks/test_layernorm.py")
    assert re.search(r"layernorm.py, line 1: stopped after 0.5 seconds", said)
    assert said.count("stopped after") == 1


@pytest.mark.slow
def test_a_slow_call_without_a_loop_is_not_called_a_loop(home: Path) -> None:
    quickly(home)
    (home / "layernorm.py").write_text("total = 1\ntotal = sum(0 * i for i in range(10**9))\n")
    said = pytest_says(home, "checks/test_layernorm.py")
    assert "layernorm.py, line 2: stopped after 0.5 seconds (and in" in said and "loop" not in said


# One function at a time, and what is next


@pytest.mark.parametrize("module", few(MODULES, 1))
def test_the_checks_of_each_function_can_be_asked_for(home: Path, module: str) -> None:
    write_solutions(home, *MODULES)
    functions = rubrics.current().modules[module].functions
    said = pytest_says(home, "--only", ",".join(functions))
    assert [name for name, _ in re.findall(r"^(\w+) +(\d+) of \2 checks pass$", said, re.MULTILINE)] == sorted(
        functions, key=said.index
    )


@pytest.mark.parametrize("option", ["--only", "-k"])
def test_one_function_and_no_other(home: Path, option: str) -> None:
    """Nor the checks whose names have it as a part."""
    write_solutions(home, *MODULES)
    said = pytest_says(home, option, "layer_norm")
    assert re.findall(r"^\w+ +\d+ of \d+ checks pass$", said, re.MULTILINE) == [
        "layer_norm             9 of 9 checks pass"
    ]


@pytest.mark.slow
def test_functions_that_are_not_there(home: Path) -> None:
    said = pytest_says(home, "--only", "sofmax")
    assert "--only: there is no function or module sofmax; did you mean softmax?" in said and "Traceback" not in said
    assert "did you mean one of answers, apply_mask" in " ".join(pytest_says(home, "--only", "xyz").split())


@pytest.mark.parametrize(
    "arguments", [["layernorm.py"], ["layernorm"], ["checks/layernorm.py"], ["./layernorm.py"], ["--only", "layernorm"]]
)
def test_a_module_means_its_checks(home: Path, arguments: list[str]) -> None:
    write_solutions(home, "layernorm")
    said = pytest_says(home, *arguments)
    assert "16 passed" in said


def test_a_module_that_is_not_there(home: Path) -> None:
    assert "there is no layernrom.py; did you mean layernorm.py?" in pytest_says(home, "layernrom.py")


def test_the_next_function_is_one_of_the_module_that_was_run(home: Path) -> None:
    write_solutions(home, "layernorm")
    assert "Next: write causal_mask (causal_mask.py, line" in pytest_says(home, "causal_mask.py")


def test_all_is_done(home: Path) -> None:
    write_solutions(home, *MODULES)
    said = " ".join(pytest_says(home).split())
    assert "All 114 public checks pass. Next: upload layernorm.py, batchnorm_comparison.py," in said
    assert said.count("This is not your grade.") == 1
    assert "not your grade" not in pytest_says(home, "--only", "softmax")


@pytest.mark.slow
def test_a_function_that_is_defined_twice(home: Path) -> None:
    said = checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    raise NotImplementedError\n")
    assert re.search(r"`rms_norm` is defined on lines \d+ and \d+: only the last definition counts", said)


@pytest.mark.slow
def test_one_mistake_takes_no_more_than_a_screen(home: Path) -> None:
    """Also where six functions further up fail with it: the cause in full, the others in a line."""
    write_solutions(home, *MODULES)
    wrong = RIGHT_ATTENTION.replace("math.sqrt(d_k)", "1.0")
    assert wrong != RIGHT_ATTENTION
    (home / "scaled_attention.py").write_text(wrong)
    said = pytest_says(home, "--hint")
    assert said.count("\n") <= LINES and said.count("Called ") == 1
    assert "Your code does not scale the scores." in said
    assert "multi_head_attention, pre_norm_block, post_norm_block and 3 more fail too: first fix\n" in said


# What passes at home runs at the grade


@pytest.mark.parametrize(
    ("text", "said"),
    few(
        [
            (
                "import numpy as np\nimport matplotlib.pyplot as plt\n",
                "line 2: ModuleNotFoundError: No module named 'matplotlib'. The grader has only NumPy",
            ),
            ("import pytest\n", "line 1: ModuleNotFoundError: No module named 'pytest'. The grader has only NumPy"),
            ("exit()\n", "line 1: SystemExit. Homework code may not exit Python: delete the call of `exit()`"),
            (
                "import subprocess\nsubprocess.run(['ls'])\n",
                "PermissionError: it uses subprocess.run, which the grader does not run. Homework code",
            ),
            ("import socket\nsocket.socket()\n", "line 2: PermissionError"),
            (
                "import asyncio\nasyncio.run(asyncio.sleep(0))\n",
                "line 2: PermissionError: it uses asyncio.runners.run, which the grader does not run",
            ),
            ("import os\nos.pipe()\n", "line 2: PermissionError"),
            (
                "from multiprocessing.pool import ThreadPool\nThreadPool(2)\n",
                "line 2: PermissionError: it uses multiprocessing.pool.ThreadPool, which the grader does not run",
            ),
            ("import socket\nsocket.gethostbyname('localhost')\n", "line 2: PermissionError"),
            (
                "from urllib import request\nrequest.urlopen('http://localhost:9')\n",
                "line 2: URLError: it uses urllib.request.urlopen, which the grader does not run. Homework code",
            ),
            ("import fcntl\nfcntl.flock(1, fcntl.LOCK_EX)\n", "line 2: PermissionError"),
            (
                "import os\nos.listdir('/etc')\n",
                "line 2: PermissionError: [Errno 13] Permission denied: '/etc'. Homework",
            ),
            (
                "import os\nos.mkdir('parts')\n",
                "line 2: PermissionError: [Errno 13] Permission denied: 'parts'. Homework",
            ),
            ("open('/proc/self/maps')\n", "line 1: PermissionError: [Errno 13]"),
            ("open('/notes.txt', 'w')\n", "line 1: PermissionError"),
            ("open('/notes.txt')\n", "line 1: PermissionError: [Errno 13] Permission denied: '/notes.txt'. Homework"),
            ('{"cells": [], "metadata": {}}', "layernorm.py is a notebook: copy the code of its cells into"),
            ("x = 1\n%matplotlib inline\n", "line 2 is for notebooks only: %matplotlib inline"),
            ("x = 1\n>>> x\n", "line 2 begins with Python's prompt >>>"),
            ("def f(x):\n    return (x\n", "SyntaxError: '(' was never closed return (x ^"),
        ],
        3,
    ),
)
def test_what_is_no_module_for_the_grader(home: Path, text: str, said: str) -> None:
    (home / "layernorm.py").write_text(text)
    assert said in " ".join(pytest_says(home, "checks/test_layernorm.py").split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    few(
        [
            "try:\n    import torch\nexcept ImportError:\n    pass\n",
            "if __name__ == '__main__':\n    import torch\n",
            "def plot():\n    import matplotlib\n",
            "import asyncio, multiprocessing, socket, subprocess, tempfile\ntempfile.TemporaryFile().write(b'x')\n",
            "import os, tempfile\nos.makedirs(tempfile.gettempdir() + '/a/b')\nos.listdir(os.path.dirname(__file__))\n",
            "import threading\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()\n",
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n    pool.submit(abs, 1)\n",
        ],
        1,
    ),
)
def test_what_the_grader_does_not_refuse(home: Path, text: str) -> None:
    assert "16 of 16 checks pass" in checked(home, "layernorm", text)


@pytest.mark.slow
def test_an_import_inside_a_function_that_is_called(home: Path) -> None:
    said = " ".join(checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    import scipy\n").split())
    assert "ModuleNotFoundError: No module named 'scipy'. The grader has only NumPy, the standard library" in said


@pytest.mark.slow
def test_a_refused_event_loop_is_told_in_the_checks_alone(home: Path) -> None:
    uses = "import asyncio\nasync def wait():\n    pass\ndef rms_norm(x, gamma, eps=1e-6):\n    asyncio.run(wait())\n"
    said = checked(home, "layernorm", uses)
    assert "asyncio.runners.run, which the grader" in " ".join(said.split())
    assert "Exception ignored" not in said and "Traceback" not in said


@pytest.mark.slow
def test_modules_that_import_one_another(home: Path) -> None:
    write_solutions(home, *MODULES)
    (home / "layernorm.py").write_text("from transformer_block import residual\n" + RIGHT)
    said = " ".join(pytest_says(home).split())
    assert "Modules import each other: import only from files that are higher up in the README's table." in said


@pytest.mark.parametrize("arguments", few(["x, gamma", "self, x, gamma, eps=1e-6", "x, gamma, epsilon=1e-6"], 1))
def test_a_signature_that_does_not_fit(home: Path, arguments: str) -> None:
    wrong = f"def rms_norm({arguments}):\n    return gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)\n"
    said = " ".join(checked(home, "layernorm", wrong).split())
    assert "Its parameters do not match `rms_norm(x, gamma, eps)`: check their names, order and number." in said


@pytest.mark.slow
def test_what_is_printed_is_shown_once(home: Path) -> None:
    assert (
        checked(home, "layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    print('here')\n    return 2 * x\n").count(
            "here"
        )
        == 1
    )


@pytest.mark.slow
def test_a_mistake_that_is_made_again_elsewhere(home: Path) -> None:
    write_solutions(home, *MODULES)
    right = (kit.solutions() / "transformer_block.py").read_text()
    wrong = right.replace('params["attention"], n_heads, mask)', 'params["attention"], n_heads)')
    (home / "transformer_block.py").write_text(wrong)
    said = pytest_says(home, "checks/test_transformer_block.py")
    assert wrong != right and "has the same mistake as pre_norm_block.\n" in said and "Next: fix pre_norm_block" in said


@pytest.mark.slow
def test_a_continuation_that_is_drawn_at_random_fails(home: Path) -> None:
    text = (kit.solutions() / "decoder.py").read_text()
    i = text.index("def generate")
    wrong = text[i:].replace("np.argmax(", "_drawn(")
    assert wrong != text[i:]
    draw = "def _drawn(row, *_, **__):\n    p = np.exp((row - row.max()) / 50)\n"
    draw += "    return np.random.choice(len(row), p=p / p.sum())\n\n\n"
    write_solutions(home, *MODULES)
    said = " ".join(checked(home, "decoder", draw + wrong).split())
    assert "Called again with the same arguments, it returns a different result: look for random numbers" in said


@pytest.mark.slow
def test_another_encoding_and_a_notebook_beside(home: Path) -> None:
    (home / "layernorm.py").write_bytes(RIGHT.encode("utf-16"))
    assert "layernorm.py is saved as UTF-16: save it as UTF-8" in pytest_says(home, "checks/test_layernorm.py")
    (home / "layernorm.py").rename(home / "layernorm.ipynb")
    said = " ".join(pytest_says(home, "checks/test_layernorm.py").split())
    assert "there is layernorm.ipynb: that is a notebook: copy its code into a file layernorm.py" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", few(["split_heads", "padding_mask", "embed", "positional_encoding", "norm_moments"], 1)
)
def test_a_forgotten_return_is_not_taken_for_a_refusal_that_is_missing(home: Path, function: str) -> None:
    module = rubrics.current().module_of(function)
    said = checked(home, module, f"def {function}(*args):\n    result = args\n", "--hint")
    assert "Returned  None" in said and "Does every path through the function return" in " ".join(said.split())
    assert "Probably" not in said


@pytest.mark.slow
def test_arguments_of_a_check_are_arrays_of_their_own(home: Path) -> None:
    wrong = (
        "_right = batch_norm\n\n\ndef batch_norm(x, gamma, beta, running_mean, *args, **kwargs):\n"
        "    running_mean *= 0.9\n    running_mean += 1\n    return _right(x, gamma, beta, running_mean, *args, **kwargs)\n"
    )
    said = checked(home, "batchnorm_comparison", wrong)
    assert "an entry of `running_mean` was overwritten" in said and "`beta`" not in said


# concept_check


def test_answers_that_are_missing_or_no_letters(home: Path) -> None:
    (home / "concept_check.py").write_text(
        "def answers():\n    return {'q1': 'a', 'q2': 'E', 'q3': 4, 'q4': 'B', 'q5': 'a', 'q6': 'c', 'q9': 'd'}\n"
    )
    said = pytest_says(home, "checks/test_concept_check.py")
    assert "there is no answer to q7, q8\n" in said
    assert "the answer to q2 is 'E', not one of the letters a, b, c, d\n" in said
    assert "the answer to q3 is 4, not one of the letters a, b, c, d\n" in said
    assert "there is no question 'q9'\n" in said
    assert "q4" not in said.partition("Why")[2]


# Known mistakes

MISTAKES = {
    "sample_variance": (
        "    mean = np.sum(x, -1)[..., None] / x.shape[-1]\n"
        "    var = ((x - mean) ** 2).sum(-1)[..., None] / (x.shape[-1] - 1)\n"
        "    return beta + (x - mean) * (gamma * (var + eps) ** -0.5)\n"
    ),
    "shift_before_scale": (
        "    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)\n"
        "    return np.float64(1) * (y * gamma + beta * gamma)\n"
    ),
    "whole_array": "    return gamma * (x - np.mean(x)) / np.sqrt(np.var(x) + eps) + beta\n",
    "": "    return gamma * x / 7 + beta\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_known_mistake_gets_its_own_sentences(home: Path, name: str) -> None:
    """Also where it is written in another way than the grader's, so that results differ by rounding."""
    misconception = library.find(f"layer_norm.{name}")
    said = checked(
        home, "layernorm", f"def layer_norm(x, gamma, beta, eps=1e-5):\n{MISTAKES[name]}", "--hint", "--hint"
    )
    advice = " ".join(said.partition("Probably")[2].partition("layernorm  ")[0].split())
    assert "Called " in said
    assert advice == (
        f"{misconception.does} Read {misconception.read} Fix {misconception.right}" if misconception is not None else ""
    )


def test_hints_come_in_three_steps(home: Path) -> None:
    """Where to look; what the code does wrong; how to fix it. Calls after the first failed check count too."""
    wrong = "def layer_norm(x, gamma, beta, eps=1e-5):\n    x -= x.mean(axis=-1, keepdims=True)\n"
    wrong += "    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta\n"
    misconception = library.find("layer_norm.changes_x")
    assert misconception is not None
    test_calls = [f"Read {misconception.read}", f"Probably {misconception.does}", f"Fix {misconception.right}"]
    for level in range(3):
        said = " ".join(checked(home, "layernorm", wrong, "-x", *level * ["--hint"]).split())
        assert [test_call in said for test_call in test_calls] == [number <= level for number in range(3)]
        assert ("Hint: pytest --only layer_norm" + (level + 1) * " --hint" in said) == (level < 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("default", "used", "said"),
    [
        ("1e-8", "eps", "Your default eps is 1e-8."),
        ("1e-5", "1e-8", "Your code ignores the argument eps and uses 1e-8."),
        ("1e-5", "(1e-8 if eps == 1e-5 else eps)", ""),
    ],
)
def test_a_wrong_default_is_told_from_an_ignored_argument(home: Path, default: str, used: str, said: str) -> None:
    wrong = f"def layer_norm(x, gamma, beta, eps={default}):\n    centred = x - x.mean(-1, keepdims=True)\n"
    wrong += f"    return gamma * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + {used}) + beta\n"
    out = checked(home, "layernorm", wrong, "--hint")
    assert re.findall(r"(?:Probably|Also) +(.*)", out) == ([said] if said else [])


@pytest.mark.parametrize(
    ("module", "function", "call"),
    [
        ("scaled_attention", "split_heads", r"split_heads\(np\.array\(.*\), 3\)"),
        ("causal_mask", "padding_mask", r"padding_mask\(np\.array\(\[2, 5\]\), 4\)"),
        ("decoder", "embed", r"embed\(np\.array\(\[0, 3\]\),"),
    ],
)
def test_a_missing_value_error_shows_its_call(home: Path, module: str, function: str, call: str) -> None:
    write_solutions(home, *MODULES)
    wrong = f"_right = {function}\n\n\ndef {function}(*args):\n    try:\n        return _right(*args)\n"
    said = " ".join(checked(home, module, f"{wrong}    except ValueError:\n        return args[0] + 0\n").split())
    assert re.search(rf"Called {call}", said) and "Expected ValueError, because" in said


@pytest.mark.slow
def test_the_table_is_asked_before_a_helper_is_suspected(home: Path) -> None:
    """It explains the results; nothing explains the helper's."""
    wrong = (
        "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x / np.sqrt(2 + eps)\n\n\n"
        "def layer_norm(x, gamma, beta, eps=1e-5):\n    rms_norm(x, gamma)\n" + MISTAKES["sample_variance"]
    )
    said = checked(home, "layernorm", wrong)
    assert "Read      numpy.var" in said and "first fix rms_norm" not in said


# The machine


@pytest.mark.slow
def test_checks_without_the_homework(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "checks", tmp_path / "elsewhere" / "checks")
    shutil.copy(home / "conftest.py", tmp_path / "elsewhere")
    for arguments in ((), ("--only", "layer_norm")):
        said = pytest_says(tmp_path / "elsewhere", *arguments)
        assert "ERROR: No homework here: layernorm.py and the other modules belong next to the folder" in said
        assert "INTERNALERROR" not in said


@pytest.mark.slow
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
    assert f"ERROR: {said}" in out and "Traceback" not in out


def test_old_python(home: Path) -> None:
    old = "import pytest, runpy, sys; sys.version_info = (3, 9, 1, 'final', 0)"
    command = f"{old}; print(runpy.run_path('checks/conftest.py')['OBSTACLE'])"
    done = subprocess.run([sys.executable, "-c", command], cwd=home, capture_output=True, text=True)
    assert "The homework needs Python 3.11 or newer; this is 3." in done.stdout, done.stderr


# The docstrings' examples


def test_examples_of_the_docstrings_are_right() -> None:
    assert python_says(kit.solutions(), "-m", "doctest", *(f"{module}.py" for module in MODULES)) == ""


INTEGERS = """
import doctest, importlib, sys
sys.path[:0] = ["checks", "."]
import numpy as np
import student_calls
from student_errors import MODULES

found = set()

def look(function, value, name):
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        found.add(f"{function}.{name}")
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        look(function, part, f"{name}[{key}]")

def watched(function, name):
    def call(*args, **kwargs):
        for place, value in [*enumerate(args), *kwargs.items()]:
            look(name, value, place)
        return function(*args, **kwargs)
    return call

for module in MODULES:
    for call in student_calls.calls_in(module):
        for place, value in [*enumerate(call.args), *call.kwargs.items()]:
            look(call.function, value, place)
    loaded = importlib.import_module(module)
    names = {name: watched(value, name) for name, value in vars(loaded).items() if callable(value)}
    examples = [test for test in doctest.DocTestFinder().find(loaded) if test.examples]
    for test in examples:
        test.globs.update(names)
        doctest.DocTestRunner().run(test)
print(*sorted(found))
"""


def test_public_inputs_have_integers_only_where_they_are_allowed() -> None:
    allowed = ["decoder_logits.0", "embed.0", "generate.0", "padding_mask.0", "sequence_log_prob.0"]
    assert python_says(kit.solutions(), "-c", INTEGERS).split() == allowed
