"""Correct work in other forms, and dependencies used in other ways, earn everything."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.homework import rubric as rubrics

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]


def lost(document: dict[str, Any]) -> list[str]:
    return [test["name"] for test in document["tests"] if test["score"] < test["max_score"]]


LAZY = """
_logits = decoder_logits


def decoder_logits(tokens, params, n_heads):
    {before}
    from {where} import stack
    return stack(_logits, tokens, params, n_heads)
"""
STACK = """from transformer_block import transformer_stack

def stack(f, *args):
    return f(*args)
"""
ADD_LIB = "import sys, os; sys.path.insert(0, os.path.dirname(__file__) + '/lib')"
TABLE = "import numpy as np\nTABLE = np.ones((2000, 2000))\n"

# What is appended to the reference solution of a module, and further files.
FORMS: dict[str, tuple[str, str, dict[str, str]]] = {
    "a subclass of tuple with read-only arrays": ("scaled_attention", """
from collections import namedtuple
Both = namedtuple("Both", "output weights")
_attention = scaled_dot_product_attention
def scaled_dot_product_attention(q, k, v, mask=None):
    output, weights = _attention(q, k, v, mask)
    output.flags.writeable = False
    return Both(output, weights)
""", {}),
    "members of an Enum of texts, and NumPy's texts": ("concept_check", """
import enum
import numpy as np

_right = answers


class Letter(str, enum.Enum):
    a, b, c, d = "abcd"


def answers():
    found = _right()
    return {np.str_(key): Letter(value) if n % 2 else np.str_(value) for n, (key, value) in enumerate(found.items())}
""", {}),
    "data beside the modules": ("layernorm", "assert open('eps.txt').read() == '1e-5'", {"eps.txt": "1e-5"}),
    "helpers imported late": (
        "decoder", LAZY.format(where="lib.lazy_helper", before="pass"), {"lib/lazy_helper.py": STACK},
    ),
    "helpers imported late from a folder": (
        "decoder", LAZY.format(where="lazy_helper", before=ADD_LIB), {"lib/lazy_helper.py": STACK},
    ),
    "signatures of a dependency": ("batchnorm_comparison", """
import inspect
import layernorm

assert inspect.signature(layernorm.layer_norm).parameters["eps"].default == 1e-5
assert layernorm.rms_norm.__defaults__ == (1e-6,) and layernorm.rms_norm.__name__ == "rms_norm"
""", {}),
    "a callback called often": ("causal_mask", """
def dependency_matrix(f, x, delta=1e-3):
    found, base, rng = np.zeros((len(x), len(x)), bool), np.array(f(x)), np.random.default_rng(0)
    for row in range(len(x)):
        for _ in range(200):
            changed = x.copy()
            changed[row] += delta * rng.uniform(-1, 1, x.shape[1])
            found[:, row] |= (np.abs(f(changed) - base) > 1e-8).any(axis=1)
    return found
""", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_correct_work_in_another_form_earns_everything(grade: Grade, alter: Alter, name: str) -> None:
    module, text, files = FORMS[name]
    assert lost(grade({**alter(module, text), **files}, (module, "integration"))) == []


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


def test_star_import_brings_what_it_brings_at_home(grade: Grade, alter: Alter, references: dict[str, bytes]) -> None:
    used = "from layernorm import *\nassert (AXIS, FIRST, SECOND, FALLBACK, INSIDE, STEP, root(4)) == (-1, 1, 2, True, 0, 1, 2)\n"
    block = references["transformer_block.py"].decode().replace("import numpy as np\n", used)
    assert lost(grade(alter("layernorm", STAR) | {"transformer_block.py": block})) == []


def test_other_names_of_a_dependency_are_the_students_own(grade: Grade, alter: Alter) -> None:
    used = "from layernorm import EXTRA\nfrom my_helpers import double\nassert EXTRA == double(21)\n"
    files = {
        "layernorm.py": "EXTRA = 42\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    raise RuntimeError\n",
        "my_helpers.py": "def double(x):\n    return 2 * x\n",
    }
    assert lost(grade(alter("transformer_block", used) | files, ("transformer_block",))) == []


@pytest.mark.slow
def test_every_module_may_have_a_large_table_of_its_own(grade: Grade, alter: Alter) -> None:
    masks = "from tables import TABLE\n\n\ndef causal_mask(t):\n    return (np.tril(TABLE) > 0)[:t, :t]\n"
    changes = {"tables.py": TABLE}
    for module in set(rubrics.current().modules) - {"concept_check"}:
        changes |= alter(module, masks if module == "causal_mask" else "import tables")
    assert lost(grade(changes)) == []
