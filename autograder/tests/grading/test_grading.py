"""The rules of grading, tried on whole submissions."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.grading import plan as scripts
from autograder.grading.grader import Grader
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.student.bindings import exported_names
from autograder.submissions.submission import Submission, read
from autograder.tests.making import few

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]


TRIED_TOGETHER = [
    "layernorm",
    "batchnorm_comparison",
    "scaled_attention",
    "causal_mask",
    "transformer_block",
    "decoder",
]


def entries(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["extra_data"]["criterion"]: test for test in document["tests"]}


def lost(document: dict[str, Any]) -> set[str]:
    return {name for name, test in entries(document).items() if test["score"] < test["max_score"]}


def modules(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def test_references_earn_everything(grade: Grade) -> None:
    document = grade()
    assert document["score"] == rubrics.current().points
    assert lost(document) == set()
    assert set(entries(document)) == set(rubrics.current().criteria)


def test_nothing_handed_in_earns_nothing(grade: Grade) -> None:
    document = grade({f"{name}.py": None for name in rubrics.current().modules})
    assert document["score"] == 0
    assert "There is no file layernorm.py" in document["output"]


BAD = [
    pytest.param(name, marks=[pytest.mark.slow] * (name != "layernorm"))
    for name in rubrics.current().modules
    if name != "concept_check"
]


@pytest.mark.parametrize("module", BAD)
def test_one_bad_module_costs_itself_and_the_integration_alone(grade: Grade, alter: Alter, module: str) -> None:
    bad = "\n".join(f"def {f}(*args, **kwargs):\n    return None" for f in rubrics.current().modules[module].functions)
    found = modules(lost(grade(alter(module, bad))))
    assert found - {"integration"} == {module}
    assert module not in TRIED_TOGETHER or "integration" in found


@pytest.mark.slow
def test_same_submission_gives_same_document(grade: Grade, alter: Alter) -> None:
    wrong = alter("layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x")
    assert grade(wrong, ("layernorm",)) == grade(wrong, ("layernorm",))


@pytest.mark.slow
def test_wrong_helper_costs_its_own_criteria_only(grade: Grade, alter: Alter) -> None:
    document = grade(
        alter("scaled_attention", "def softmax(scores, axis=-1):\n    return scores * 0 + 1"), ("scaled_attention",)
    )
    found = entries(document)
    assert found["scaled_attention.multi_head"]["status"] == "passed"
    assert "`softmax`" in found["scaled_attention.multi_head"]["output"]
    assert found["scaled_attention.softmax"]["status"] == "failed"


HOLES = {
    "unwritten": "raise NotImplementedError",
    "none": "return None",
    "raising": "return {}[0]",
    "endless": "while True: pass",
}


@pytest.mark.parametrize("name", few(list(HOLES)))
def test_a_hole_costs_what_looks_at_it(grade: Grade, alter: Alter, name: str) -> None:
    found = entries(
        grade(alter("scaled_attention", f"def softmax(scores, axis=-1):\n    {HOLES[name]}"), ("scaled_attention",))
    )
    gone = {name.partition(".")[2] for name, test in found.items() if test["status"] == "failed"}
    assert gone == {"example", "softmax", "softmax_stability"}
    assert (
        "not written" not in "".join(found[f"scaled_attention.{c}"]["output"] for c in ("mask", "multi_head"))
        or name == "unwritten"
    )


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
    gone = {name.partition(".")[2] for name, test in found.items() if test["status"] == "failed"}
    assert gone == {"example", "softmax", "softmax_stability", "attention"}
    assert found["scaled_attention.attention"]["extra_data"]["misconceptions"] == [
        "scaled_dot_product_attention.no_scaling"
    ]


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


def test_contract_accepts_other_forms(grade: Grade, alter: Alter) -> None:
    forms = """
from collections import namedtuple
Both = namedtuple("Both", "output weights")
_attention = scaled_dot_product_attention
def scaled_dot_product_attention(q, k, v, mask=None):
    output, weights = _attention(q, k, v, mask)
    output.flags.writeable = False
    return Both(output, weights)
"""
    document = grade(alter("scaled_attention", forms), ("scaled_attention",))
    assert lost(document) == set()


@pytest.mark.parametrize("name", ["LayerNorm.py", "layernorm (1).py", "layernorm_final.py", "layernorm.py.txt"])
def test_file_with_nearly_the_right_name_is_pointed_out(grade: Grade, references: dict[str, bytes], name: str) -> None:
    document = grade({"layernorm.py": None, name: references["layernorm.py"].decode()}, ("layernorm",))
    assert name in document["output"]
    assert "rename it to layernorm.py" in document["output"]
    assert document["score"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def layer_norm(x:\n    pass\n", "SyntaxError"),
        ("import scipy\n", "The grader has only NumPy, the standard library and your own files"),
        ("if True:\n\tx = 1\n        y = 2\n", "TabError"),
        ("while True: pass\n", "too long"),
        ("import os; os._exit(3)\n", "Python itself stopped"),
        ("raise RuntimeError('<b>`no`</b>')\n", "RuntimeError: &lt;b&gt;"),
        ("\x00", "could not be imported"),
    ],
    ids=["syntax", "scipy", "tabs", "endless", "exit", "markup", "null"],
)
def test_module_that_cannot_be_imported_says_why(grade: Grade, text: str, said: str) -> None:
    document = grade({"layernorm.py": text}, ("layernorm", "batchnorm_comparison"))
    assert said in document["output"]
    assert modules(lost(document)) == {"layernorm"}


def test_missing_function_is_named(grade: Grade, references: dict[str, bytes]) -> None:
    text = references["layernorm.py"].decode().replace("def rms_norm", "def rmsnorm")
    document = grade({"layernorm.py": text}, ("layernorm",))
    assert "There is no function `rms_norm` in `layernorm.py`" in entries(document)["layernorm.rms"]["output"]
    assert "layernorm.statistics" not in lost(document)


def test_neighbours_are_correct_whatever_the_student_wrote(grade: Grade) -> None:
    document = grade({"layernorm.py": "while True: pass\n"}, ("transformer_block",))
    assert lost(document) == set()


def test_other_names_of_a_neighbour_are_the_students_own(grade: Grade, references: dict[str, bytes]) -> None:
    block = references["transformer_block.py"].decode()
    block = (
        "from layernorm import EXTRA, layer_norm\nfrom my_helpers import double\nassert EXTRA == double(21)\n" + block
    )
    files = {
        "transformer_block.py": block,
        "layernorm.py": "EXTRA = 42\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    raise RuntimeError\n",
        "my_helpers.py": "def double(x):\n    return 2 * x\n",
    }
    assert lost(grade(files, ("transformer_block",))) == set()


def test_star_import_of_a_neighbour_works(grade: Grade, references: dict[str, bytes]) -> None:
    block = references["transformer_block.py"].decode()
    block = block.replace("from layernorm import layer_norm", "from layernorm import *")
    assert "import *" in block
    assert lost(grade({"transformer_block.py": block}, ("transformer_block",))) == set()


@pytest.mark.slow
def test_hidden_criteria_show_nothing_that_the_code_has_chosen(grade: Grade, alter: Alter) -> None:
    leak = """
_calls = []
def layer_norm(x, gamma, beta, eps=1e-5):
    _calls.append(x)
    if x.size > 12:
        raise ValueError("secret " + str(x.tolist()))
    return x
"""
    document = grade(alter("layernorm", leak), ("layernorm",))
    assert not any("secret" in test["output"] for test in document["tests"])


def test_answers_are_never_shown(grade: Grade) -> None:
    text = "def answers():\n    return {f'q{i}': 'A' for i in range(1, 9)}\n"
    document = grade({"concept_check.py": text}, ("concept_check",))
    assert 0 < document["score"] < 4
    assert {test["output"] for test in document["tests"] if test["score"] == 0} == {
        "Not correct yet. Only the score is shown for this criterion.\n"
    }


@pytest.mark.slow
def test_endless_function_is_the_one_that_is_blamed(grade: Grade, alter: Alter) -> None:
    """Calls travel together and their replies come a little late; still the others keep their points."""
    endless = alter("layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    while True:\n        pass")
    found = entries(grade(endless, ("layernorm",)))
    assert "took too long" in found["layernorm.rms"]["output"]
    assert found["layernorm.statistics"]["status"] == found["layernorm.backward_x"]["status"] == "passed"


def test_function_that_ends_its_process_on_hidden_inputs_alone(grade: Grade, alter: Alter) -> None:
    ending = (
        "_right = rms_norm\n\n\ndef rms_norm(x, gamma, eps=1e-6):\n    import os\n"
        "    return _right(x, gamma, eps) if x.size < 9 else os._exit(0)"
    )
    found = entries(grade(alter("layernorm", ending), ("layernorm",)))
    assert found["layernorm.example"]["status"] == found["layernorm.statistics"]["status"] == "passed"
    assert "Python itself stopped" in found["layernorm.rms"]["output"]


# Correct work that is laid out in other ways


def whole(grade: Grade, changes: dict[str, str]) -> set[str]:
    return lost(grade(changes))


def test_a_module_does_not_pay_for_what_is_wrong_in_a_neighbour_only_beside_it(
    grade: Grade, references: dict[str, bytes]
) -> None:
    own = references["layernorm.py"].decode() + "\n\nimport sys\n_right = layer_norm\n"
    own += "def layer_norm(*args, **kwargs):\n    wrong = 'transformer_block' in sys.modules\n"
    own += "    return _right(*args, **kwargs) + wrong\n"
    assert modules(whole(grade, {"layernorm.py": own})) == {"integration"}


def test_package_with_more_files_than_there_are_modules(tmp_path: Path, references: dict[str, bytes]) -> None:
    for name, data in {**references, **{f"nn/part_{n}.py": b"" for n in range(9)}, "nn/layernorm.py": b""}.items():
        (tmp_path / "hw" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hw" / name).write_bytes(data)
    found = read(tmp_path, rubrics.current().limits).files
    assert found["layernorm.py"] == references["layernorm.py"] and "nn/part_3.py" in found


STAR = """
import numpy as np
from math import sqrt as root
AXIS: int = -1
FIRST, (SECOND, *_REST) = 1, (2, 3)
try:
    import nothing_of_this_name
except ImportError:
    FALLBACK = True
with np.errstate(all="ignore"):
    INSIDE = 0
for STEP in range(2):
    pass
"""


def test_star_import_brings_what_it_brings_at_home(grade: Grade, references: dict[str, bytes]) -> None:
    block = references["transformer_block.py"].decode().replace("import numpy as np\n", "")
    used = "from layernorm import *\nassert (AXIS, FIRST, SECOND, FALLBACK, INSIDE, STEP, root(4)) == (-1, 1, 2, True, 0, 1, 2)\n"
    docstring, _, rest = block.partition('"""\n\n')
    changes = {
        "layernorm.py": references["layernorm.py"].decode() + STAR,
        "transformer_block.py": f'{docstring}"""\n\n{used}{rest}',
    }
    assert whole(grade, changes) == set()


def test_star_import_through_another_file_and_all(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import *\nOWN = 1\n_HIDDEN = 2\n\ndef f():\n    inner = 1\n")
    (tmp_path / "two.py").write_text("from one import *\nOTHER = lambda x: (y := x)\n")
    (tmp_path / "three.py").write_text("A = B = 1\n__all__ = ['A']\n")
    assert set(exported_names(str(tmp_path / "one.py"))) == {"OWN", "OTHER", "f"}
    assert exported_names(str(tmp_path / "three.py")) == ["A"]
    assert exported_names(str(tmp_path / "none.py")) == []


LAZY = """

_logits = decoder_logits


def decoder_logits(tokens, params, n_heads):
    {before}
    from {where} import stack
    return stack(_logits, tokens, params, n_heads)
"""
HELPER = "from transformer_block import transformer_stack\n\n\ndef stack(f, *args):\n    return f(*args)\n"


@pytest.mark.parametrize(
    ("where", "before", "file"),
    [
        ("lib.lazy_helper", "pass", "lib/lazy_helper.py"),
        ("lazy_helper", "import sys, os; sys.path.insert(0, os.path.dirname(__file__) + '/lib')", "lib/lazy_helper.py"),
    ],
)
def test_helpers_found_late_belong_to_their_context(
    grade: Grade, references: dict[str, bytes], where: str, before: str, file: str
) -> None:
    late = references["decoder.py"].decode() + LAZY.format(where=where, before=before)
    assert whole(grade, {"decoder.py": late, file: HELPER}) == set()


@pytest.mark.parametrize(
    ("other", "own"),
    [
        ("import sys, os\nsys.path.insert(0, os.path.dirname(__file__) + '/lib')\n", "import only_in_lib\n"),
        ("import builtins\nbuiltins.borrowed = 1\n", "borrowed\n"),
    ],
)
def test_what_one_module_does_to_python_does_not_help_another(
    grade: Grade, references: dict[str, bytes], other: str, own: str
) -> None:
    changes = {
        "decoder.py": references["decoder.py"].decode() + other,
        "layernorm.py": references["layernorm.py"].decode() + own,
        "lib/only_in_lib.py": "",
    }
    found = modules(whole(grade, changes))
    assert "layernorm" in found and "decoder" not in found


@pytest.mark.slow
def test_a_thread_may_ask_while_a_function_of_its_own_is_called(grade: Grade, references: dict[str, bytes]) -> None:
    threaded = """

import concurrent.futures
POOL = concurrent.futures.ThreadPoolExecutor(1)


def pre_norm_block(x, params, n_heads, mask=None):
    def attend(h):
        normed = POOL.submit(layer_norm, h, params["ln_1"]["gamma"], params["ln_1"]["beta"]).result()
        return multi_head_attention(normed, params["attention"], n_heads, mask)

    def feed(h):
        normed = layer_norm(h, params["ln_2"]["gamma"], params["ln_2"]["beta"])
        return POOL.submit(feed_forward, normed, params["ffn"]).result()

    return residual(residual(x, attend), feed)
"""
    wrong = "\n\ndef residual(x, sublayer):\n    return sublayer(x)\n"  # so that residual is answered over the wire
    source = references["transformer_block.py"].decode() + threaded
    assert whole(grade, {"transformer_block.py": source}) == set()
    assert "transformer_block.pre_norm" not in whole(grade, {"transformer_block.py": source + wrong})


@pytest.mark.slow
def test_wrong_helper_in_a_file_of_its_own_costs_no_more(grade: Grade, references: dict[str, bytes]) -> None:
    source = references["scaled_attention.py"].decode() + "\n_right = softmax\n\n\ndef softmax(scores, axis=-1):\n"
    source += (
        "    return 1.01 * _right(scores, axis) + 0.001\n"  # one edit would be found in the file of the module alone
    )
    here = whole(grade, {"scaled_attention.py": source})
    there = whole(grade, {"scaled_attention.py": "from nn.attn import *\n", "nn/attn.py": source, "nn/__init__.py": ""})
    assert here == there


def test_data_beside_the_modules_is_found_by_its_name(grade: Grade, references: dict[str, bytes]) -> None:
    analysis = references["layernorm.py"].decode() + "\n\nassert open('eps.txt').read() == '1e-5'\n"
    assert whole(grade, {"layernorm.py": analysis, "eps.txt": "1e-5"}) == set()


@pytest.mark.slow
def test_every_module_may_have_a_large_table_of_its_own(grade: Grade, references: dict[str, bytes]) -> None:
    large = "import numpy as np\nTABLE = np.ones((2000, 2000))\n"
    masks = "\n\nfrom tables import TABLE\n\n\ndef causal_mask(t):\n    return (np.tril(TABLE) > 0)[:t, :t]\n"
    changes = {f"{m}.py": references[f"{m}.py"].decode() + "\nimport tables\n" for m in TRIED_TOGETHER}
    changes["causal_mask.py"] += masks
    assert whole(grade, {**changes, "tables.py": large}) == set()


def test_answers_may_be_texts_of_any_kind(grade: Grade, references: dict[str, bytes]) -> None:
    """Members of an Enum of texts, and NumPy's texts as keys and values."""
    source = references["concept_check.py"].decode()
    other = """

import enum
import numpy as np

_right = answers


class Letter(str, enum.Enum):
    a, b, c, d = "abcd"


def answers():
    found = _right()
    return {np.str_(key): Letter(value) if n % 2 else np.str_(value) for n, (key, value) in enumerate(found.items())}
"""
    assert whole(grade, {"concept_check.py": source + other}) == set()


def test_zip_written_with_backslashes_beside_a_plot(tmp_path: Path, references: dict[str, bytes]) -> None:
    with zipfile.ZipFile(tmp_path / "hw.zip", "w") as archive:
        for name, data in references.items():
            archive.writestr(f"hw\\{name}", data)
    (tmp_path / "plot.py").write_text("")
    assert read(tmp_path, rubrics.current().limits).files.keys() >= references.keys()


WRONG_SOFTMAX = "\n\n_right = softmax\n\n\ndef softmax(scores, axis=-1):\n    return 1.01 * _right(scores, axis)\n\n\n"


@pytest.fixture(scope="module")
def lost_by_softmax(grade: Grade, references: dict[str, bytes]) -> set[str]:
    return whole(grade, {"scaled_attention.py": references["scaled_attention.py"].decode() + WRONG_SOFTMAX})


@pytest.mark.slow
@pytest.mark.parametrize(
    "kept",
    [
        "import functools\n_sm = functools.partial(softmax, axis=-1)",
        "def _sm(s, sm=softmax):\n    return sm(s)",
        "_table = {'kinds': [softmax]}\n_sm = lambda s: _table['kinds'][0](s)",
        "_pair = (softmax, 1)\n_sm = lambda s: _pair[0](s)",
        "class _Kit:\n    sm = staticmethod(softmax)\n_sm = lambda s: _Kit.sm(s)",
    ],
)
def test_wrong_helper_costs_once_however_it_is_kept(
    grade: Grade, references: dict[str, bytes], lost_by_softmax: set[str], kept: str
) -> None:
    attention = """


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is None:
        weights = _sm(scores)
    else:
        some = np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
        weights = np.where(some, _sm(np.where(some, np.where(mask, scores, -np.inf), 0.0)), 0.0).astype(scores.dtype)
    return weights @ v, weights
"""
    text = references["scaled_attention.py"].decode()
    assert whole(grade, {"scaled_attention.py": text + "\n\n" + kept + attention}) == set()
    assert whole(grade, {"scaled_attention.py": text + WRONG_SOFTMAX + kept + attention}) == lost_by_softmax


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


def test_in_the_integration_the_reference_replaces_a_module_that_earns_something(
    grade: Grade, references: dict[str, bytes]
) -> None:
    only = """
def embed(tokens, table):
    if ((tokens < 0) | (tokens >= len(table))).any():
        raise ValueError
    return table[tokens]
"""
    files = {name: text.decode() for name, text in references.items()} | {"decoder.py": only}
    found = entries(grade(files))
    assert found["decoder.embed"]["status"] == "passed" and found["integration.decoder"]["status"] == "passed"
    found = entries(grade(files | {"decoder.py": "def embed(tokens, table):\n    return table"}))
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
def test_the_submission_that_the_theory_of_operation_follows(grade: Grade, references: dict[str, bytes]) -> None:
    source = references["layernorm.py"].decode() + FOLLOWED
    assert whole(grade, {"layernorm.py": source}) == {
        f"layernorm.{name}" for name in ("example", "statistics", "epsilon")
    }
    repaired = source[: source.index("def layer_norm(", len(source) - len(FOLLOWED))] + source[
        source.rindex("def layer_norm_backward") :
    ].replace("(g * n)", "(g + n)")
    document = grade({"layernorm.py": repaired})
    assert lost(document) == {"layernorm.example", "layernorm.backward_x"}
    line = 1 + repaired[: repaired.index("(g + n)")].count("\n")
    assert f"A single edit on line {line} " in entries(document)["layernorm.backward_x"]["output"]
