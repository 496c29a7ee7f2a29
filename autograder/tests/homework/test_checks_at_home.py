"""The output of `pytest` in a student's folder, for correct, wrong and broken code."""

import ast
import errno
import inspect
import itertools
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from autograder.tests import forked
from autograder.tests.files import HOMEWORK, python_says
from autograder.tests.making import few, known

MODULES = tuple(HOMEWORK.rubric.modules)
STUDENTS = runpy.run_path(str(HOMEWORK.folder / ".ci" / "students.py"))
RIGHT = {module: (HOMEWORK.solutions / f"{module}.py").read_text() for module in MODULES}
CHECKS = (HOMEWORK.solutions / "checks" / "test_layernorm.py").read_text().count("\ndef test_")
COLUMNS = 88
LINES = 60
NOT_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that students get, without the notebook."""
    STUDENTS["student_folder"](tmp_path / "transformer")
    (tmp_path / "transformer" / "transformer.ipynb").unlink()
    return tmp_path / "transformer"


def python_output(folder: Path, *arguments: str, first: str = "") -> str:
    """All that Python prints; `first` is a folder at the front of the import path.

    Installed pytest plugins are disabled, since students have none.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": first, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if forked.POSSIBLE and arguments[0] == "-m" and not first:
        return forked.module_says(folder, environment, *arguments[1:])
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    return done.stdout + done.stderr


def pytest_output(folder: Path, *arguments: str, first: str = "") -> str:
    return python_output(folder, "-m", "pytest", "-p", "no:cacheprovider", *arguments, first=first)


def on_one_line(output: str) -> str:
    """The output with single spaces in place of line breaks and columns."""
    return " ".join(output.split())


def write(home: Path, *modules: str, **texts: str) -> None:
    """Write the solutions of these modules, and other texts for some files."""
    for module, text in ({name: RIGHT[name] for name in modules} | texts).items():
        (home / f"{module}.py").write_text(text)


def checks_output(home: Path, module: str, wrong: str, *arguments: str) -> str:
    """The output of a module's checks if further definitions follow its solution."""
    write(home, *MODULES, **{module: f"{RIGHT[module]}\n\n{wrong}"})
    return pytest_output(home, f"checks/test_{module}.py", *arguments)


def function(name: str, *body: str) -> str:
    """A definition with the solution's parameters."""
    parameters = inspect.signature(HOMEWORK.functions[name]).parameters.values()
    named = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters)
    return f"def {name}({named}):\n" + "".join(f"    {line}\n" for line in body)


def wrapper(name: str, changed: str) -> str:
    """A definition that calls the solution and returns an expression with its `result`."""
    given = f"    result = right_{name}(*args, **kwargs)\n    return {changed}\n"
    return f"right_{name} = {name}\n\n\ndef {name}(*args, **kwargs):\n{given}"


def shorten_time_limit(home: Path) -> None:
    """Stop endless loops sooner."""
    settings = home / "checks" / "time_limit.py"
    settings.write_text(settings.read_text().replace("SECONDS = 10\n", "SECONDS = 0.5\n"))


# Progress


def test_summary_of_the_stubs(home: Path) -> None:
    output = pytest_output(home)
    assert "Traceback" not in output and "Error" not in output and "F" not in output.partition("\n")[0]
    assert "Next: write layer_norm (layernorm.py, line 13)\nThen: pytest --only layer_norm\n" in output
    assert output.count("\n") <= LINES
    for module, entry in HOMEWORK.rubric.modules.items():
        listed = on_one_line(output.partition(f"\n{module}.py\n")[2].partition("\n\n")[0])
        assert listed.startswith("Not written yet: ") and all(f in listed for f in entry.functions), module
    assert re.findall(r"^(\w+)\.py$", output, re.MULTILINE) == list(MODULES)
    assert re.findall(r"^(\w+) +0 of \d+ checks pass", output, re.MULTILINE) == list(MODULES)


def test_summary_of_the_solutions(home: Path) -> None:
    write(home, *MODULES)
    output = on_one_line(pytest_output(home))
    assert re.search(r"All \d+ public checks pass\. Next: upload layernorm.py, batchnorm_comparison.py,", output)
    assert output.count("This is not your grade.") == 1 and "GRADING.md lists everything" in output
    (home / "GRADING.md").unlink()
    assert "README.md lists everything that is graded." in on_one_line(pytest_output(home))
    assert "not your grade" not in pytest_output(home, "--only", "softmax")


OTHERS = "Not run: batchnorm_comparison, scaled_attention, causal_mask, transformer_block, decoder"
SUMMARIES = {
    "all right": (RIGHT["decoder"], f"{OTHERS}, concept_check Next: run all checks: pytest"),
    "a stub": ((HOMEWORK.folder / "assignments" / "decoder.py").read_text(),
        f"{OTHERS} (5 of 5 functions not written), concept_check Next: write positional_encoding (decoder.py, line"),
    "broken": ("def f(:", f"{OTHERS} (cannot be imported), concept_check Next: fix decoder.py decoder.py, line 1: SyntaxError"),
    "missing": (None, f"{OTHERS} (missing), concept_check Next: fix decoder.py decoder.py is missing: it belongs"),
}  # fmt: skip


@pytest.mark.parametrize("name", few([*SUMMARIES], 1))
def test_summary_of_one_correct_module_says_what_the_others_lack(home: Path, name: str) -> None:
    text, shown = SUMMARIES[name]
    write(home, *MODULES)
    (home / "decoder.py").unlink() if text is None else write(home, decoder=text)
    output = on_one_line(pytest_output(home, "layernorm.py"))
    assert f"layernorm {CHECKS} of {CHECKS} checks pass {shown}" in output and "upload" not in output


# Messages


class Case(NamedTuple):
    """Files, arguments for pytest, texts that the output must contain once, and texts that it must not contain.

    Whitespace in the output is compared as a single space.
    """

    files: dict[str, str]
    arguments: str
    shown: tuple[str, ...]
    absent: tuple[str, ...]


def case(wrong: str, *shown: str, absent: str | tuple[str, ...] = (), arguments: str = "", module: str = "") -> Case:
    """The checks of a module if definitions follow its solution; LAST is the number of the last line."""
    contract = {f: m for m, entry in HOMEWORK.rubric.modules.items() for f in entry.functions}
    found = [contract[name] for name in re.findall(r"^def (\w+)", wrong, re.MULTILINE) if name in contract]
    module = module or [*found, "layernorm"][0]
    text = f"{RIGHT[module]}\n\n{wrong}"
    shown = tuple(words.replace("LAST", str(text.count("\n"))) for words in shown)
    return folder(f"checks/test_{module}.py {arguments}", *shown, absent=absent, **RIGHT | {module: text})


def folder(arguments: str, *shown: str, absent: str | tuple[str, ...] = (), **files: str) -> Case:
    """A folder in which all modules but these are stubs."""
    return Case(files, arguments, shown, (absent,) if isinstance(absent, str) else absent)


VARIANCE = (
    "mean, d = x.mean(-1, keepdims=True), x.shape[-1]",
    "var = ((x - mean) ** 2).sum(-1)[..., None] / (d - 1)",
    "return beta + (x - mean) * (gamma * (var + eps) ** -0.5)",
)  # not the code of the library, so results differ by rounding
REMEMBERED = "return gamma * (x - MEAN[0]) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta"
ROOT = "    return gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)\n"
NORMS = {"layernorm": RIGHT["layernorm"]}
MASKED = 'n_heads, norm="pre", mask=causal_mask(t))'
SCORES, TRANSPOSED = (
    "(q / math.sqrt(d_k)) @ np.swapaxes(k, -1, -2)",
    "np.einsum('...qd,...kd->...kq', q, k) / math.sqrt(d_k)",
)
SCORES_LINE = RIGHT["scaled_attention"].partition(SCORES)[0].count("\n") + 1
ANSWERS = {"q1": "a", "q2": "E", "q3": 4, "q4": "B", "q5": "a", "q6": "c", "q9": "d"}
CALL = RIGHT["decoder"].partition(MASKED)[0].count("\n") + 1
ATTENTION = ('params["attention"], n_heads, mask)', 'params["attention"], n_heads)')
UNMASKED = [
    HOMEWORK.correct("transformer_block", f"{norm}_norm_block").source.replace(*ATTENTION) for norm in ("pre", "post")
]
DEFAULT = (
    "def layer_norm(x, gamma, beta, eps={}):\n    centred = x - x.mean(-1, keepdims=True)\n"
    "    return gamma * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + {}) + beta\n"
)


SAMPLE_VARIANCE = known("sample_variance")
PERMISSION = f"PermissionError: {PermissionError(errno.EACCES, os.strerror(errno.EACCES))}: "
REJECTED = [
    ("def layer_norm(x):\n    if 1:\n\treturn x\n", "layernorm.py, line 3: TabError"),
    ("import torch\n", "layernorm.py, line 1: ModuleNotFoundError: No module named 'torch'. The grader has only"),
    ("exit()\n", "line 1: SystemExit. Homework code may not exit Python: delete the call of `exit()`"),
    ("def f(x):\n    return (x\n",
     f"SyntaxError: {python_says('(x')} return (x ^ (and in {CHECKS - 1} more checks)"),
    ("import subprocess\nsubprocess.run(['ls'])\n", "it uses subprocess.run, which the grader does not run."),
    ("import asyncio\nasyncio.run(asyncio.sleep(0))\n", "PermissionError: it uses asyncio.runners.run, which the"),
    ("from urllib import request\nrequest.urlopen('http://localhost:9')\n",
     "line 2: URLError: it uses urllib.request.urlopen, which the grader does not run. Homework code"),
    ("import os\nos.listdir('/etc')\n", f"line 2: {PERMISSION}'/etc'. Homework"),
    ("import os\nos.mkdir('parts')\n", f"line 2: {PERMISSION}'parts'. Homework"),
    ("open('/notes.txt')\n", f"line 1: {PERMISSION}'/notes.txt'. Homework"),
    ('{"cells": [], "metadata": {}}', "layernorm.py is a notebook: copy the code of its cells into"),
]  # fmt: skip
ACCEPTED = [
    "try:\n    import torch\nexcept ImportError:\n    pass\n",
    "if __name__ == '__main__':\n    import torch\n",
    "import asyncio, multiprocessing, socket, subprocess, tempfile\ntempfile.TemporaryFile().write(b'x')\n",
    "import os, tempfile\nos.makedirs(tempfile.gettempdir() + '/a/b')\nos.listdir(os.path.dirname(__file__))\n",
    "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(2) as pool:\n    pool.submit(abs, 1)\n",
]  # fmt: skip
CASES = {
    **{text: folder("checks/test_layernorm.py", shown, absent="Traceback", layernorm=text) for text, shown in REJECTED[:4]},
    "wrong value": case(function("rms_norm", "return gamma * x"), "Called ", "Returned ", "Expected ", "Why ",
        absent=("Hint ", "Probably ")),
    "state": case("MEAN = []\n\n\n"
        + function("layer_norm", "MEAN.append(x.mean(axis=-1, keepdims=True))", REMEMBERED),
        "correct when this was the first call, but not after other calls: your code keeps state between calls,"),
    "input": case("input('eps? ')\n", "`input()` does not work while your code is graded: delete the call.",
        absent="stdin"),
    "line of a caller, not of the function that it calls": case(
        function("scaled_dot_product_attention", "return q @ k.swapaxes(-1, -2) @ v[0, 0, 0, 0, 0, 0], 1")
        + function("multi_head_attention", "return scaled_dot_product_attention(x, x, x)  # last"),
        "Next: fix scaled_dot_product_attention (scaled_attention.py, line ", absent="fix multi_head_attention",
        module="scaled_attention"),
    "a known mistake of a caller that may be right": folder("scaled_attention.py --hint",
        "multi_head_attention fails too: first fix scaled_dot_product_attention",
        f"Next: fix scaled_dot_product_attention (scaled_attention.py, line {SCORES_LINE})",
        absent=("swaps queries and keys", "correct result with"),
        **RIGHT | {"scaled_attention": RIGHT["scaled_attention"].replace(SCORES, TRANSPOSED)}),
    "line of a caller that passes something wrong": case(
        function("multi_head_attention", "return scaled_dot_product_attention(x, params, x)"),
        "Next: fix multi_head_attention (scaled_attention.py, line LAST)", "raised in scaled_attention.py, line ",
        module="scaled_attention"),
    "float64": case(wrapper("rms_norm", "result * np.float64(1)"),
        "Why It returned float64 instead of float32: floating-point results keep the",
        "Probably Your result is float64 for float32 arguments.", arguments="--hint"),
    "changed argument": case(function("rms_norm", "x += 1", "return x"),
        "It modified its arguments: values in `x` were overwritten.", "Hint Work on a copy", "Returned "),
    "other parameters": case(f"def rms_norm(x, gamma, epsilon=1e-6):\n{ROOT}",
        "Your function does not accept `eps` by name. Write `eps=1e-6`.", absent="other parameters"),
    "harmless parameters": case(f"def rms_norm(x, weight, eps=None):\n    gamma, eps = weight, eps or 1e-6\n{ROOT}"
        .replace(" + 1e-6", " + eps"), "Note: rms_norm has other parameters than in the stub. The grader accepts them."),
    "stub without an error": case(function("layer_norm", "return None"), "layernorm.py Not written yet: layer_norm",
        "pre_norm_block, post_norm_block and transformer_stack fail too: first fix layer_norm",
        "Next: write layer_norm (layernorm.py, line ", absent=("Called", "Probably"),
        arguments="checks/test_transformer_block.py"),
    "answers": folder("checks/test_concept_check.py", "there is no answer to q7, q8",
        "the answer to q2 is 'E', not one of the letters a, b, c, d",
        "the answer to q3 is 4, not one of the letters a, b, c, d", "there is no question 'q9'",
        concept_check=f"def answers():\n    return {ANSWERS}\n"),
    "next function of a module": folder("layernorm.py", "Next: write batch_norm (batchnorm_comparison.py, line",
        absent="not your grade", **NORMS),
    "unwritten function of another module": folder("checks/test_decoder.py",
        "layer_norm (layernorm.py) is not written yet, and decoder_logits calls it (and in ",
        **{module: text for module, text in RIGHT.items() if module != "layernorm"}),
    "syntax error in a dependency": folder("checks/test_transformer_block.py",
        "transformer_block.py imports layernorm.py, which cannot be imported",
        f"layernorm.py, line 1: SyntaxError: {python_says('(x')} def layer_norm(x: ",
        "Next: fix layernorm.py (see above).", **RIGHT | {"layernorm": "def layer_norm(x:\n    return x\n"}),
    "error in a dependency": folder("decoder.py",
        f"Stopped decoder.py, line {CALL}: TypeError: {python_says('np.ones(1) in {1: 1}')} ",
        "raised in transformer_block.py, line ", f"Next: fix decoder_logits (decoder.py, line {CALL}) ", **RIGHT
        | {"decoder": RIGHT["decoder"].replace(MASKED, "n_heads, causal_mask(t))")}),
    "no such module": folder("layernrom.py", "there is no layernrom.py; did you mean layernorm.py?",
        absent="Traceback"),
    # The cases below run only in .ci/full
    **{text: folder("checks/test_layernorm.py", shown, absent="Traceback", layernorm=text) for text, shown in REJECTED[4:]},
    **{text: case(text, f"layernorm {CHECKS} of {CHECKS} checks pass") for text in ACCEPTED},
    "modules that import each other": folder("checks/test_layernorm.py",
        "Modules import each other: import only from files that are higher up in the README's table.", **RIGHT
        | {"layernorm": "from transformer_block import residual\n" + RIGHT["layernorm"]}),
    "mistake in a dependency": folder("checks/test_transformer_block.py",
        "pre_norm_block, post_norm_block and transformer_stack fail too: first fix layer_norm",
        "Next: fix layer_norm (layernorm.py, line", absent="Called ", **RIGHT
        | {"layernorm": RIGHT["layernorm"] + "\n\n" + function("layer_norm", "return 2 * x")}),
    "known mistake": case(function("layer_norm", *VARIANCE), "Called ",
        f"Probably {SAMPLE_VARIANCE.does} Read {SAMPLE_VARIANCE.read} Fix {SAMPLE_VARIANCE.right} ",
        arguments="--hint --hint"),
    "no known mistake": case(function("layer_norm", "scaled = gamma * x / 7", "return scaled + beta"), "Called ",
        "Search No known mistake gives these results, and none of the small edits tried makes every check pass.",
        "Values scaled = [1.142857, 0.285714, 0.071429, 0.428571]", "Then: pytest --only layer_norm",
        absent=("Probably ", "--hint"), arguments="--hint"),
    "single edit": case(function("rms_norm", "return gamma * x / np.sqrt(np.mean(x, -1, keepdims=True) ** 2 + eps)"),
        "Look at An edit of line LAST makes every public check of `rms_norm` pass.",
        "Next: fix rms_norm (layernorm.py, line LAST) Then: pytest --only rms_norm", absent="Values ",
        arguments="--hint"),
    "key that does not exist, without a docstring": folder("scaled_attention.py --hint",
        'There is no key "wq"; did you mean "w_q"? An edit of line', scaled_attention=re.sub(
        '""".*?"""', "", RIGHT["scaled_attention"], flags=re.DOTALL).replace("w_q", "wq")),
    "written function that raises NotImplementedError": case(function("rms_norm", "x = 1.0 * x",
        "raise NotImplementedError('later')"), "Stopped layernorm.py, line LAST still raises NotImplementedError",
        "Next: fix rms_norm (layernorm.py, line LAST)", absent="not written"),
    "names of PyTorch on two lines": case(function("rms_norm", "square = x.pow(2).mean(-1, keepdim=True)",
        "return gamma * x.div(np.sqrt(square + eps))"),
        "An edit of lines", arguments="--hint"),
    "earlier result": case("BUFFER = {}\n\n\n" + function("rms_norm", "out = BUFFER.setdefault(x.shape, np.empty(x.shape))",
        "out[...] = gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)", "return out.astype(x.dtype, copy=False)"),
        "This call changed the result of an earlier call: your code writes into an array that it has returned.",
        absent="Hint: pytest"),
    "state of another call": case("STATE = {}\n\n\n" + function("layer_norm", "STATE['x'] = x", REMEMBERED.replace("MEAN[0]",
        "x.mean(axis=-1, keepdims=True)")) + function("rms_norm", "return STATE['x']"),
        "It raises KeyError if this is the first call: your code keeps state between calls."),
    "printed": case(function("rms_norm", "print(x)"), "write return in place of print.", absent=("Search", "Hint:"),
        arguments="--hint"),
    "object with a method": case("class Norm:\n    def __call__(self, x):\n        return x\n\n\n"
        + function("rms_norm", "return Norm()"), "Why It returned an object of another type; it should return an array",
        absent=("a function", "different result")),
    "wrong default": case(DEFAULT.format("1e-8", "eps"), "Probably Your default eps is 1e-8.", absent="Also ",
        arguments="--hint"),
    "random": case(function("rms_norm", "return x + np.random.default_rng().normal(size=x.shape)"),
        "The same call gave different results: look for random numbers", absent="keeps state"),
    "two calls that should agree": case(function("decoder_logits", "return np.full((3, 3), tokens.sum())"),
        "as with np.array([0, 1, 0]) in place of np.array([0, 1, 2])",
        "Why 6 of 6 entries are wrong: entry [0, 0] is 3 instead of 1.", arguments="-k future"),
    "same mistake again": case("\n\n".join(UNMASKED), "has the same mistake as pre_norm_block.",
        "Next: fix pre_norm_block"),
}  # fmt: skip


@pytest.mark.parametrize("name", few([*CASES], [*CASES].index(REJECTED[4][0])))
def test_messages(home: Path, name: str) -> None:
    files, arguments, shown, absent = CASES[name]
    write(home, **files)
    output = on_one_line(pytest_output(home, *arguments.split()))
    assert [text for text in shown if output.count(text) != 1] == [], output
    assert [text for text in absent if text in output] == [], output


@pytest.mark.parametrize("module", few([module for module in MODULES if module != "concept_check"], 1))
def test_shown_calls_can_be_pasted(home: Path, module: str) -> None:
    """The first failing call of each function is shown, and its text runs with the correct functions."""
    functions = HOMEWORK.rubric.modules[module].functions
    output = checks_output(home, module, "\n\n".join(function(name, "return np.zeros((2, 3))") for name in functions))
    write(home, module)
    calls = re.findall(r"^    Called    (.*?)(?=^    \S)", output, re.MULTILINE | re.DOTALL)
    assert len(calls) >= len(functions)
    pasted = "\n".join(f"done.append(\n{call}\n)" for call in calls)
    out = python_output(home, "-c", f"from {module} import *\ndone = []\n{pasted}\nprint(len(done))")
    assert out == f"{len(calls)}\n", out


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["return [np.int64(2)] * 90", "x += 1", "return np.zeros((2, 3))", "return x @ x"])
def test_lines_fit_the_width(home: Path, wrong: str) -> None:
    for module, entry in HOMEWORK.rubric.modules.items():
        body = "".join(f"\n\ndef {name}(x, *args, **kwargs):\n    {wrong}\n" for name in entry.functions)
        write(home, **{module: f"import numpy as np\n{body}"})
    output = pytest_output(home)
    assert len(output) > 2000
    assert [line for line in output.splitlines() if len(line) > COLUMNS] == []


@pytest.mark.slow
def test_example_of_the_messages_matches_the_output(home: Path) -> None:
    variance = "x.var(axis=-1, ddof=1, keepdims=True)"
    wrong = ("mean = x.mean(axis=-1, keepdims=True)", f"return gamma * (x - mean) / np.sqrt({variance} + eps) + beta")
    page = (home / "checks" / "README.md").read_text().partition("# Reading the messages\n\n")[2].partition("\n- ")[0]
    example = "\n".join(line.removeprefix("    ") for line in page.splitlines())
    output = checks_output(home, "layernorm", function("layer_norm", *wrong))
    output = re.sub(r"  `layer_norm` is defined on lines.*\n", "", output)
    assert example.strip() in re.sub(r"\(layernorm.py, line \d+\)", "(layernorm.py, line 13)", output)


def test_hints_come_in_three_steps(home: Path) -> None:
    """A reference, the mistake, then the fix. Hints also use calls after the first failed check."""
    root = "return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta"
    misconception = HOMEWORK.misconception("layer_norm.changes_x")
    assert misconception is not None
    hints = [f"Read {misconception.read}", f"Probably {misconception.does}", f"Fix {misconception.right}"]
    for level in range(3):
        wrong = function("layer_norm", "x -= x.mean(axis=-1, keepdims=True)", root)
        output = on_one_line(checks_output(home, "layernorm", wrong, "-x", *level * ["--hint"]))
        assert [hint in output for hint in hints] == [number <= level for number in range(3)]
        assert ("Hint: pytest --only layer_norm" + (level + 1) * " --hint" in output) == (level < 2)


# Errors and mistakes in other modules


# Missing files

MISNAMED = [
    ("LayerNorm.py", ", but there is LayerNorm.py: rename it to layernorm.py"),
    ("layernorm.ipynb", ", but there is layernorm.ipynb: that is a notebook: copy its code into a file layernorm.py"),
    ("other.py", ": it belongs next to the folder checks"),
]


@pytest.mark.parametrize(("name", "due"), few(MISNAMED, 1))
def test_missing_or_misnamed_file_is_reported(home: Path, name: str, due: str) -> None:
    (home / "layernorm.py").rename(home / name)
    output = on_one_line(pytest_output(home, "checks/test_layernorm.py", "checks/test_transformer_block.py"))
    assert f"layernorm.py is missing{due}" in output
    assert "transformer_block.py imports layernorm.py, which cannot be imported" in output


# Endless loops


def test_endless_loop_is_stopped_once_and_its_line_is_shown(home: Path) -> None:
    """Functions that call it are not run."""
    shorten_time_limit(home)
    wrong = function("layer_norm", "return turn(x)") + "\n\ndef turn(x):\n    while True: x = x + 0\n"
    output = checks_output(home, "layernorm", wrong, "checks/test_transformer_block.py")
    line = (RIGHT["layernorm"] + "\n\n" + wrong).count("\n")
    assert f"Stopped   layernorm.py, line {line}: stopped after 0.5 seconds; look for an infinite" in output
    assert "    while True: x = x + 0\n" in output and output.count("stopped after") == 1
    assert "layer_norm was not called again because it did not finish (see above) (and in" in on_one_line(output)
    not_run = "functions that call layer_norm were not run, because it did not finish (see above) (and in"
    assert not_run in on_one_line(output)
    assert re.search(r"transformer_block +[1-9]\d* of \d+ checks pass", output)


SLOW = [
    ("while True:\n    pass\n", "layernorm.py, line 1: stopped after 0.5 seconds; look for an infinite loop"),
    ("x = 1\nx = sum(0 * i for i in range(10**9))\n", "layernorm.py, line 2: stopped after 0.5 seconds (and in"),
]


@pytest.mark.parametrize(("text", "shown"), few(SLOW, 1))
def test_slow_import_is_stopped(home: Path, text: str, shown: str) -> None:
    """A slow call is not reported as an endless loop."""
    shorten_time_limit(home)
    write(home, layernorm=text)
    output = on_one_line(pytest_output(home, "checks/test_layernorm.py"))
    assert shown in output and output.count("stopped after") == 1


@pytest.mark.slow
def test_checks_work_without_threads(home: Path, tmp_path: Path) -> None:
    """As in Pyodide. Endless loops are stopped there too."""
    refused = "import _thread\n\n_thread.start_new_thread = _thread.start_joinable_thread = None\n"
    (tmp_path / "sitecustomize.py").write_text(refused)
    assert "TypeError" in python_output(home, "-c", "import threading; threading.Thread().start()", first=str(tmp_path))
    shorten_time_limit(home)
    write(home, layernorm=RIGHT["layernorm"] + "\n\n" + function("rms_norm", "while True:", "    pass"))
    assert "stopped after 0.5 seconds" in pytest_output(home, "layernorm.py", first=str(tmp_path))


@NOT_WINDOWS
def test_ctrl_c_shows_the_summary_and_the_running_line(home: Path) -> None:
    default = "signal.signal(2, signal.default_int_handler)"  # shells make background processes ignore Ctrl-C
    loop = function("rms_norm", "import signal", default, "signal.raise_signal(2)")
    output = checks_output(home, "layernorm", loop)
    assert re.search(r"layernorm +\d+ of \d+ checks pass, \d+ not run", output)
    assert re.search(r"Stopped   layernorm.py, line \d+: stopped by Ctrl-C", output)
    assert "stopped by Ctrl-C !" in output and "Traceback" not in output and "full-trace" not in output


# Watching

WATCHING = "Watching your files; press Ctrl-C to stop.\n"
WATCHED = [
    (["causal_mask.py"], r"causal_mask +(\d+) of \1 checks", r"layernorm +\d+ of \d+ checks"),
    (["--only", "rms_norm"], r"rms_norm +(\d+) of \1 checks", r"rms_norm +0 of \d+ checks"),
]


@NOT_WINDOWS
@pytest.mark.parametrize(("arguments", "first", "second"), few(WATCHED, 1))
def test_checks_run_again_when_a_module_is_saved(home: Path, arguments: list[str], first: str, second: str) -> None:
    write(home, "causal_mask", "layernorm")
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "pytest", "--watch", *arguments]
    restore = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # background processes may ignore it
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=home, env=environment, stdout=pipe, text=True, preexec_fn=restore) as process:
        try:
            assert process.stdout is not None
            assert re.search(first, "".join(itertools.takewhile(WATCHING.__ne__, process.stdout)))
            saved = home / "saved"  # renamed, since a file that is still being written would start two runs
            saved.write_text(RIGHT["layernorm"] + "\n\n" + function("rms_norm", "return 2 * x"))
            saved.replace(home / "layernorm.py")
            output = "".join(itertools.takewhile(WATCHING.__ne__, process.stdout))
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0  # no limit: a loaded machine may need long
        finally:
            process.kill()
    assert re.search(second, output) and "Next: fix rms_norm" in output and "causal_mask" not in output


# In a cell of the notebook

CELL = """
import builtins
import pdb  # first: it needs names that the posix module has only on the real platform
import sys
from pathlib import Path

sys.platform = PLATFORM
import layernorm
from checks.cells import check

originals = layernorm, builtins.__import__, builtins.input
for text in TEXTS:
    Path("layernorm.py").write_text(text)
    check("layernorm")
assert (sys.modules["layernorm"], builtins.__import__, builtins.input) == originals
"""


@pytest.mark.parametrize("platform", [sys.platform, "emscripten"])
def test_check_cell_prints_what_pytest_prints_each_time(home: Path, platform: str) -> None:
    texts = ["def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n", RIGHT["layernorm"]]
    output = python_output(home, "-c", CELL.replace("PLATFORM", repr(platform)).replace("TEXTS", repr(texts)))
    for text in texts:
        write(home, layernorm=text)
        untimed = pytest_output(home, "checks/test_layernorm.py").rpartition(" in ")[0]
        assert output.count(untimed) == 1


# Tests written by students


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
STUB = "import numpy as np\n\n\n\n" + function("layer_norm", '"""."""', 'raise NotImplementedError("x")')


@pytest.fixture
def testing(home: Path) -> Path:
    """The folder of a homework whose students write tests."""
    shutil.copy(HOMEWORK.solutions / "checks" / "my_tests.py", home / "checks")
    write(home, "layernorm", test_decoder_parts=TESTING)
    return home


def test_own_tests_run_on_correct_and_wrong_code(testing: Path) -> None:
    assert pytest_output(testing, "--test-my-tests") == (
        "layer_norm: 1 of 3 wrong versions detected\n"
        "  not detected: it adds beta before it scales\n"
        "  not detected: it ignores eps\n"
    )
    assert "2 passed" in pytest_output(testing, "test_decoder_parts.py")


@pytest.mark.parametrize(("tests", "module", "shown"), few([
    (TESTING + EXACT, RIGHT["layernorm"],
     r"fails on your code with other rounding, which is correct: test_decoder_parts.py, line 14\n"),
    (TESTING + SHIFTS, RIGHT["layernorm"],
     r"fails on your own code, so one of the two is wrong; .*AttributeError"),
    (TESTING, STUB, r"layer_norm is not written yet \(layernorm.py, line 5\): its tests need it"),
    (TESTING, "1 / 0", r"layer_norm: layernorm.py, line 1: ZeroDivisionError"),
    ("def test_layer_norm(:", RIGHT["layernorm"], r"test_decoder_parts.py has no tests"),
]))  # fmt: skip
def test_own_tests_that_cannot_be_evaluated(testing: Path, tests: str, module: str, shown: str) -> None:
    write(testing, layernorm=module, test_decoder_parts=tests)
    output = pytest_output(testing, "--test-my-tests")
    assert re.search(shown, output) and "Traceback" not in output


# One function at a time


@pytest.mark.parametrize("module", few(MODULES, 1))
def test_checks_of_each_function_can_be_selected(home: Path, module: str) -> None:
    write(home, *MODULES)
    functions = HOMEWORK.rubric.modules[module].functions
    output = pytest_output(home, "--only", ",".join(functions))
    passing = [name for name, _ in re.findall(r"^(\w+) +(\d+) of \2 checks pass$", output, re.MULTILINE)]
    assert passing == sorted(functions, key=output.index)


@pytest.mark.parametrize(
    "arguments", [["layernorm.py"], ["layernorm"], ["checks/layernorm.py"], ["./layernorm.py"], ["--only", "layernorm"]]
)
def test_module_argument_selects_its_checks(home: Path, arguments: list[str]) -> None:
    write(home, "layernorm")
    assert f"{CHECKS} passed" in pytest_output(home, *arguments)


# The environment


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "shown"),
    [
        ("raise ImportError", "NumPy is missing; install it with:"),
        ("__version__ = '1.26.4'", "The homework needs NumPy 2.0 or newer, but this is NumPy 1.26.4; upgrade it with:"),
    ],
)
def test_missing_or_old_numpy_is_reported(home: Path, tmp_path: Path, module: str, shown: str) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "numpy.py").write_text(module)
    for words in (("-m", "pytest"), ("-m", "pytest", "--watch"), ("train.py",)):
        output = python_output(home, *words, first=str(tmp_path / "first"))
        assert output.removeprefix("ERROR: ").startswith(shown) and len(output.split("\n")) <= 3, output


@pytest.mark.parametrize(
    "name", ["conftest.py", "checks/conftest.py", "checks/student_setup.py", "train.py", "tour/__init__.py"]
)
def test_files_that_run_first_can_be_read_by_an_old_python(name: str) -> None:
    tree = ast.parse((HOMEWORK.solutions / name).read_text(), feature_version=(3, 8))
    if name.endswith("conftest.py"):  # imported whole: before Python 3.10, `int | None` in an annotation is an error
        assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)


@pytest.mark.parametrize(("arguments", "shown"), [
    ("-p xdist -n 2", "ERROR: The checks run in a single process: leave out -n."),
    ("-p no:terminal", "ERROR: The checks print with pytest's terminal plugin: leave out -p no:terminal."),
    ("--import-mode=importlib", r"layernorm +(\d+) of \1 checks pass"),
    ("--import-mode=append layernorm.py", r"layernorm +(\d+) of \1 checks pass"),
])  # fmt: skip
def test_unusual_options_work_or_are_rejected_in_one_sentence(home: Path, arguments: str, shown: str) -> None:
    write(home, "layernorm")
    output = pytest_output(home, *arguments.split())
    assert re.search(shown, output) and ("ERROR" not in shown or output.strip() == shown), output


# Examples in docstrings


def test_examples_in_the_docstrings_pass() -> None:
    assert python_output(HOMEWORK.solutions, "-m", "doctest", *(f"{module}.py" for module in MODULES)) == ""
