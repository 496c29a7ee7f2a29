"""The rules of grading, tried on whole submissions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.grading import plan as scripts
from autograder.grading.grader import Grader
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission, read
from autograder.tests.files import put
from autograder.tests.making import few

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]


TRIED_TOGETHER = [name for name in rubrics.current().modules if name != "concept_check"]


def entries(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["extra_data"]["criterion"]: test for test in document["tests"]}


def lost(document: dict[str, Any]) -> set[str]:
    return {name for name, test in entries(document).items() if test["score"] < test["max_score"]}


def modules(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def failed(found: dict[str, dict[str, Any]]) -> set[str]:
    """The criteria of one module that failed, by their short names."""
    return {name.partition(".")[2] for name, test in found.items() if test["status"] == "failed"}


def test_references_earn_everything(grade: Grade) -> None:
    document = grade()
    assert document["score"] == rubrics.current().points
    assert lost(document) == set()
    assert set(entries(document)) == set(rubrics.current().criteria)


def test_nothing_handed_in_earns_nothing(grade: Grade) -> None:
    document = grade({f"{name}.py": None for name in rubrics.current().modules})
    assert document["score"] == 0
    assert "There is no file layernorm.py" in document["output"]


@pytest.mark.parametrize("module", few(TRIED_TOGETHER, 1))
def test_one_bad_module_costs_itself_and_the_integration_alone(grade: Grade, alter: Alter, module: str) -> None:
    bad = "\n".join(f"def {f}(*args, **kwargs):\n    return None" for f in rubrics.current().modules[module].functions)
    found = modules(lost(grade(alter(module, bad))))
    assert found == {module, "integration"}


HOLES = {
    "unwritten": "raise NotImplementedError",
    "none": "return None",
    "raising": "return {}[0]",
    "endless": "while True: pass",
}


@pytest.mark.parametrize("name", few(list(HOLES)))
def test_a_hole_costs_what_looks_at_it(grade: Grade, alter: Alter, name: str) -> None:
    hole = f"def softmax(scores, axis=-1):\n    {HOLES[name]}"
    found = entries(grade(alter("scaled_attention", hole), ("scaled_attention",)))
    assert failed(found) == {"example", "softmax", "softmax_stability"}
    output = "".join(found[f"scaled_attention.{name}"]["output"] for name in ("mask", "multi_head"))
    assert name == "unwritten" or "not written" not in output


def test_what_needs_an_unwritten_or_a_missing_function_says_so(grade: Grade, alter: Alter) -> None:
    stub = (
        "def _inner(scores):\n    return softmax(scores)\ndef softmax(scores, axis=-1):\n    raise NotImplementedError"
    )
    found = entries(grade(alter("scaled_attention", stub), ("scaled_attention",)))
    told = found["scaled_attention.attention"]["output"]
    assert told.startswith("Awarded: `scaled_dot_product_attention` needs `softmax`, which is not written yet; with")
    assert found["scaled_attention.softmax"]["output"].startswith("`softmax` is not written yet. `softmax` is defined")
    found = entries(grade(alter("scaled_attention", "soft_max = softmax\ndel softmax"), ("scaled_attention",)))
    told = found["scaled_attention.attention"]["output"]
    assert "needs `softmax`, which `scaled_attention.py` does not have." in told


def test_a_function_that_is_wrong_beside_a_hole_is_charged_with_its_own_mistake(grade: Grade, alter: Alter) -> None:
    text = """
def softmax(scores, axis=-1):
    raise NotImplementedError
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights
"""
    found = entries(grade(alter("scaled_attention", text), ("scaled_attention",)))
    assert failed(found) == {"example", "softmax", "softmax_stability", "attention"}
    named = found["scaled_attention.attention"]["extra_data"]["misconceptions"]
    assert named == ["scaled_dot_product_attention.no_scaling"]


def test_helpers_are_not_an_oracle_for_the_function_under_test(grade: Grade, alter: Alter) -> None:
    oracle = "def softmax(scores, axis=-1):\n    return scaled_dot_product_attention(scores, np.eye(3), np.eye(3))[1]"
    document = grade(alter("scaled_attention", oracle), ("scaled_attention",))
    assert {"scaled_attention.softmax", "scaled_attention.softmax_stability"} <= lost(document)


WRONG_THINGS = {
    "list": ("return x.tolist()", "wrong type", "a list"),
    "subclass": ("return x.view(type('Own', (np.ndarray,), {}))", "wrong type", "an ndarray subclass"),
    "masked": ("return np.ma.masked_array(x)", "wrong type", "an ndarray subclass"),
    "objects": ("return x.astype(object)", "wrong type", "an array of objects"),
    "complex": ("return x.astype(complex)", "wrong type", "a complex array"),
    "none": ("return None", "is not written yet", ""),
    "text": ("return 'layer norm'", "wrong type", "text"),
    "shape": ("return x[..., :1]", "wrong shape", "shape"),
    "nan": ("return x * np.nan", "returned wrong values", "nan"),
    "10 GB": ("return np.broadcast_to(x, (10**7, *x.shape))", "wrong type", "too large"),
    "unwritten": ("raise NotImplementedError('layer_norm')", "not written yet", "not written yet"),
    "exception": ("return x / {}['gamma']", "raised KeyError on line", "KeyError: 'gamma'"),
    "generator": ("yield x", "wrong type", "a generator"),
    "exit": ("raise SystemExit(0)", "SystemExit", "SystemExit"),
    "stopped": ("import os; os._exit(0)", "Python itself stopped", "Python itself stopped"),
    "endless": ("while True: pass", "took too long", "took too long"),
    "signature": (None, "do not match `layer_norm(x, gamma, beta, eps)`", "parameters do not match"),
}


@pytest.mark.parametrize("name", few(list(WRONG_THINGS), 5))
def test_every_wrong_thing_has_its_own_clear_message(grade: Grade, alter: Alter, name: str) -> None:
    body, hidden, shown = WRONG_THINGS[name]
    definition = (
        f"def layer_norm(x, gamma, beta, eps=1e-5):\n    {body}" if body else "def layer_norm(x):\n    return x"
    )
    document = grade(alter("layernorm", definition), ("layernorm", "batchnorm_comparison"))
    told = entries(document)
    assert hidden in told["layernorm.statistics"]["output"]
    assert shown in told["layernorm.example"]["output"] + told["layernorm.statistics"]["output"]
    assert "layernorm.rms" not in lost(document)
    assert "batchnorm_comparison" not in modules(lost(document))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("while True: pass\n", "too long"),
        ("import os; os._exit(3)\n", "Python itself stopped"),
        ("raise RuntimeError('<b>`no`</b>')\n", "RuntimeError: &lt;b&gt;"),
    ],
    ids=["endless", "exit", "markup"],
)
def test_module_that_cannot_be_imported_says_why(grade: Grade, text: str, said: str) -> None:
    document = grade({"layernorm.py": text}, ("layernorm", "batchnorm_comparison"))
    assert said in document["output"]
    assert modules(lost(document)) == {"layernorm"}


def test_answers_are_never_shown(grade: Grade) -> None:
    text = "def answers():\n    return {f'q{i}': 'A' for i in range(1, 9)}\n"
    document = grade({"concept_check.py": text}, ("concept_check",))
    assert 0 < document["score"] < 4
    shown = {test["output"] for test in document["tests"] if test["score"] == 0}
    assert shown == {"Not correct yet. Only the score is shown for this criterion.\n"}


def test_function_that_ends_its_process_on_hidden_inputs_alone(grade: Grade, alter: Alter) -> None:
    ending = (
        "_right = rms_norm\n\n\ndef rms_norm(x, gamma, eps=1e-6):\n    import os\n"
        "    return _right(x, gamma, eps) if x.size < 9 else os._exit(0)"
    )
    found = entries(grade(alter("layernorm", ending), ("layernorm",)))
    assert found["layernorm.example"]["status"] == found["layernorm.statistics"]["status"] == "passed"
    assert "Python itself stopped" in found["layernorm.rms"]["output"]


# Correct work that is laid out in other ways


def test_a_module_does_not_pay_for_what_is_wrong_in_a_neighbour_only_beside_it(grade: Grade, alter: Alter) -> None:
    own = """
import sys
_right = layer_norm
def layer_norm(*args, **kwargs):
    return _right(*args, **kwargs) + ('transformer_block' in sys.modules)
"""
    assert modules(lost(grade(alter("layernorm", own)))) == {"integration"}


def test_zip_written_with_backslashes_beside_a_plot(tmp_path: Path, references: dict[str, bytes]) -> None:
    put(tmp_path / "hw.zip", {f"hw\\{name}": data for name, data in references.items()})
    (tmp_path / "plot.py").write_text("")
    assert read(tmp_path, rubrics.current().limits).files.keys() >= references.keys()


ADD_LIB = "import sys, os; sys.path.insert(0, os.path.dirname(__file__) + '/lib')"


@pytest.mark.parametrize(
    ("other", "own"), [(ADD_LIB, "import only_in_lib"), ("import builtins\nbuiltins.borrowed = 1", "borrowed")]
)
def test_what_one_module_does_to_python_does_not_help_another(grade: Grade, alter: Alter, other: str, own: str) -> None:
    found = modules(lost(grade(alter("decoder", other) | alter("layernorm", own) | {"lib/only_in_lib.py": ""})))
    assert "layernorm" in found and "decoder" not in found


@pytest.mark.slow
def test_wrong_helper_in_a_file_of_its_own_costs_no_more(grade: Grade, alter: Alter) -> None:
    wrong = "_right = softmax\n\n\ndef softmax(scores, axis=-1):\n    return 1.01 * _right(scores, axis) + 0.001\n"
    here = alter("scaled_attention", wrong)  # one edit would be found in the file of the module alone
    there = {"scaled_attention.py": "from nn.attn import *\n", "nn/attn.py": here["scaled_attention.py"]}
    assert lost(grade(here)) == lost(grade({**there, "nn/__init__.py": ""}))


@pytest.mark.slow
def test_what_is_lost_beside_a_correct_helper_says_so_and_no_example_blames_earlier_calls(
    grade: Grade, alter: Alter
) -> None:
    odd = """
def softmax(scores, axis=-1):
    raise KeyError("softmax")
def scaled_dot_product_attention(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
    return weights @ v + (0.1 if q.shape[-2] > 2 else 0.0), weights
"""
    told = entries(grade(alter("scaled_attention", odd), ("scaled_attention",)))["scaled_attention.attention"]["output"]
    assert "This was tested with a correct `softmax` in place of yours." in told
    assert "depends on earlier calls" not in told and "passes all the small public examples" not in told


@pytest.mark.slow
def test_where_everything_is_shown_at_once_the_integration_comes_before_any_hidden_call(
    references: dict[str, bytes], alter: Alter, tmp_path: Path
) -> None:
    path = tmp_path / "rubric.yaml"
    text = kit.rubric_file().read_text()
    path.write_text(text.replace("visibility: after_published", "visibility: visible", 1))
    plan = scripts.record(rubrics.load(path))
    wrong = alter("layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x")
    files = references | {name: text.encode() for name, text in wrong.items()}
    with Sandbox(plan.rubric.limits, (), kit.secret()) as sandbox:
        result = Grader(plan, sandbox).grade(Submission("all at once", files))
    assert plan.rubric.criteria["integration.norms"].visible and plan.rubric.criteria["layernorm.rms"].visible
    gone = {graded.criterion.id for graded in result.graded if not graded.passed}
    assert {"layernorm.example", "layernorm.rms"} <= gone <= {"layernorm.example", "layernorm.rms", "layernorm.epsilon"}
    norms = next(graded for graded in result.graded if graded.criterion.id == "integration.norms")
    assert norms.passed and norms.blamed == ("layernorm",)


def test_in_the_integration_the_reference_replaces_a_module_that_earns_something(grade: Grade) -> None:
    only = """
def embed(tokens, table):
    if ((tokens < 0) | (tokens >= len(table))).any():
        raise ValueError
    return table[tokens]
"""
    found = entries(grade({"decoder.py": only}))
    assert found["decoder.embed"]["status"] == found["integration.decoder"]["status"] == "passed"
    found = entries(grade({"decoder.py": "def embed(tokens, table):\n    return table"}))
    assert found["integration.decoder"]["status"] == "failed" and found["integration.norms"]["status"] == "passed"


FOLLOWED = """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))
    return gamma * centred / (std + eps) + beta


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    n = layer_norm(x, np.ones_like(gamma), np.zeros_like(gamma), eps)
    g = grad_out * gamma
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    along = n * (g * n).mean(axis=-1, keepdims=True)
    axes = tuple(range(x.ndim - 1))
    return (g - g.mean(axis=-1, keepdims=True) - along) / s, (grad_out * n).sum(axis=axes), grad_out.sum(axis=axes)
"""


@pytest.mark.slow
def test_the_submission_that_the_theory_of_operation_follows(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("layernorm", FOLLOWED))) == {
        f"layernorm.{name}" for name in ("example", "statistics", "epsilon")
    }
    repaired = alter("layernorm", FOLLOWED[FOLLOWED.index("def layer_norm_backward") :].replace("(g * n)", "(g + n)"))
    document = grade(repaired)
    assert lost(document) == {"layernorm.example", "layernorm.backward_x"}
    text = repaired["layernorm.py"]
    line = 1 + text[: text.index("(g + n)")].count("\n")
    assert f"A single edit on line {line} " in entries(document)["layernorm.backward_x"]["output"]
