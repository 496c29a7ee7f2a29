"""Checks your functions: compares their results for a few arguments with those of the instructors' solutions.

reference_values.npz has the right results. This is neither a check nor a grade: a function may be right here and wrong for
other arguments. It only prevents a picture or a training run from presenting wrong numbers as right.
"""

import contextlib
import functools
import html
import importlib
import inspect
import io
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tour import examples, names

HOME = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "reference_values.npz"
Name = tuple[str, str]  # a module and one of its functions

_rng = np.random.default_rng(7)
X, GAMMA, BETA, GRADIENT = _rng.normal(1, 2, (5, 8)), *_rng.normal(1, 1, (2, 8)), _rng.normal(size=(5, 8))
SMALL = 0.002 * X[:, :4]
ONES, ZEROS = np.ones(8), np.zeros(8)
Q, K, V = _rng.normal(size=(2, 4, 3)), _rng.normal(size=(2, 5, 3)), _rng.normal(size=(2, 5, 2))
SCORES = np.array([[1.0, -np.inf, 2.0], [3.0, 0.0, -1.0]])
MASK = np.tril(np.ones((5, 5), dtype=bool))
BLOCKS = [examples.block(8, _rng), examples.block(8, _rng)]
TELLER = examples.lookup_table(np.array([[1, 6, 2, 1], [1, 1, 7, 1], [2, 1, 1, 6], [5, 2, 2, 1]]) / 10)
FOUR = _rng.normal(size=(4, 4))
KNOWN_NAMES = ("mary", "florinda", "christopher")


def _networks(ask: Callable[..., Any]) -> list[Any]:
    """Two networks: one sees the future, one does not."""
    return [ask(lambda x, o=offsets: examples.convolution(x, o), FOUR) for offsets in ((-1, 0, 1), (-1, 0))]


# The calls tried for each function, in the order in which the modules build on one another.
CALLS: dict[Name, Callable[[Callable[..., Any]], Any]] = {
    ("layernorm", "layer_norm"): lambda f: [f(X, GAMMA, BETA), f(SMALL, ONES[:4], ZEROS[:4], 1e-6)],
    ("layernorm", "rms_norm"): lambda f: [f(X, GAMMA), f(SMALL, ONES[:4])],
    ("layernorm", "layer_norm_backward"): lambda f: [*f(GRADIENT, X, GAMMA), *f(SMALL, SMALL, ONES[:4])],
    ("batchnorm_comparison", "batch_norm"): lambda f: [
        *f(X, GAMMA, BETA, ZEROS, ONES, True),
        *f(X, GAMMA, BETA, GAMMA, ONES, False),
    ],
    ("batchnorm_comparison", "norm_moments"): lambda f: [*f(X, "layer"), *f(X, "batch")],
    ("batchnorm_comparison", "influence"): lambda f: [f(X, kind) for kind in ("layer", "batch_train", "batch_eval")],
    ("scaled_attention", "softmax"): lambda f: [f(X), f(X, 0), f(SCORES)],
    ("scaled_attention", "scaled_dot_product_attention"): lambda f: [*f(Q, K, V), *f(Q, K, V, MASK[:4])],
    ("scaled_attention", "split_heads"): lambda f: f(X, 2),
    ("scaled_attention", "merge_heads"): lambda f: f(Q),
    ("scaled_attention", "multi_head_attention"): lambda f: [
        f(X, BLOCKS[0]["attention"], 2),
        f(X, BLOCKS[0]["attention"], 4, MASK),
    ],
    ("causal_mask", "causal_mask"): lambda f: f(5),
    ("causal_mask", "padding_mask"): lambda f: f(np.array([0, 2, 5]), 5),
    ("causal_mask", "apply_mask"): lambda f: np.exp(f(X[:, :5], MASK)),
    ("causal_mask", "dependency_matrix"): _networks,
    ("causal_mask", "is_autoregressive"): _networks,
    ("transformer_block", "feed_forward"): lambda f: f(X, BLOCKS[0]["ffn"]),
    ("transformer_block", "residual"): lambda f: f(X, lambda x: x**2),
    ("transformer_block", "pre_norm_block"): lambda f: [f(X, BLOCKS[0], 2), f(X, BLOCKS[0], 2, MASK)],
    ("transformer_block", "post_norm_block"): lambda f: [f(X, BLOCKS[0], 2), f(X, BLOCKS[0], 2, MASK)],
    ("transformer_block", "transformer_stack"): lambda f: [f(X, BLOCKS, 2), f(X, BLOCKS, 2, "post", MASK)],
    ("transformer_block", "gradient_flow"): lambda f: [
        f(FOUR.reshape(4, 2, 2), X[0, :2], residual) for residual in (True, False)
    ],
    ("decoder", "positional_encoding"): lambda f: f(6, 8),
    ("decoder", "embed"): lambda f: f(np.array([2, 0, 2]), X),
    ("decoder", "decoder_logits"): lambda f: [
        f(names.tokens(name), names.model(), names.HEADS) for name in KNOWN_NAMES
    ],
    ("decoder", "sequence_log_prob"): lambda f: [
        f(names.tokens(name), names.model(), names.HEADS) for name in KNOWN_NAMES
    ],
    ("decoder", "generate"): lambda f: [
        f(np.array([1]), TELLER, 1, 4),
        f(np.array([0]), names.model(), names.HEADS, 9, 0),
    ],
}


def results(module: str, function: str) -> np.ndarray:
    """Return the results of a function for its calls, as one flat array."""
    values = CALLS[module, function](getattr(importlib.import_module(module), function))
    return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])


def doubt(called: Iterable[Name], drawn: bool = True) -> str:
    """Return a line for a result, or a failure, of wrong functions; "" if all are right or their file cannot be imported."""
    faulty = disagreeing(name for name in called if name[0] in sys.modules)
    if not faulty:
        return ""
    *rest, last = map(_code, faulty)
    functions = f"{', '.join(rest)} and {last} disagree" if rest else f"{last} disagrees"
    first = disagreeing([*faulty, *_used_by(faulty)])[0]
    cause = f", and this picture was made with {'them' if rest else 'it'}" if drawn else ""
    return (
        f"<p><b>Not right yet:</b> your {functions} with the formulas{cause}. "
        f"Fix {_code(first)} first; run the {first[0]}.py checks for details.</p>"
    )


def disagreeing(functions: Iterable[Name]) -> list[Name]:
    """Return those of the functions that are written but disagree with the solutions."""
    asked, now = set(functions), state()
    return [name for name in CALLS if name in asked and not agrees(*name, now)]


@functools.lru_cache(maxsize=256)
def agrees(module: str, function: str, _state: Any = None, unwritten: bool = True) -> bool:
    """Return whether a function agrees with the solution; `unwritten` if it is not written yet."""
    theirs = expected(f"{module}.{function}")
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            mine = results(module, function)
    except NotImplementedError:
        return unwritten
    except (Exception, SystemExit):
        mine = np.array([])
    return mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-5, atol=1e-8)


def reload() -> None:
    """Forget your modules if a file has changed since the last call: the next use imports all of them.

    (IPython's autoreload shows a traceback if the file has a syntax error, and goes on with the old functions.)
    """
    global _files
    if _files != (now := _saved()):
        _files = now
        for name in [*(module.__name__ for module in _yours()), "tour.backward"]:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()


def _saved() -> list[tuple[str, int, int]]:
    """Return the modules in your folder, with time and size."""
    return [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(HOME.glob("*.py"))]


_files = _saved()


def state() -> tuple[Any, ...]:
    """Return a cache key that changes when your code is edited and reloaded."""
    kinds = (int, float, str, tuple)
    parts = [
        (module.__name__, name, value.__code__ if isinstance(value, FunctionType) else repr(value))
        for module in _yours()
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) or (isinstance(value, kinds) and not name.startswith("__"))
    ]
    return tuple(parts)


def _yours() -> list[ModuleType]:
    """Those of your modules that are loaded."""
    loaded = [(name, module) for name, module in [*sys.modules.items()] if isinstance(module, ModuleType)]
    return [module for name, module in loaded if "." not in name and _is_yours(getattr(module, "__file__", None))]


def _is_yours(file: str | None) -> bool:
    return file is not None and Path(file).parent == HOME


def _used_by(functions: Sequence[Name]) -> list[Name]:
    """Return the homework functions that these functions call, directly or indirectly."""
    waiting = [getattr(sys.modules[module], name, None) for module, name in functions if module in sys.modules]
    visited: list[FunctionType] = []
    while waiting:
        function = waiting.pop()
        if inspect.isfunction(function) and function not in visited and _is_yours(function.__code__.co_filename):
            visited.append(function)
            waiting += _named_in(function.__code__, function.__globals__)
    return [(function.__module__, function.__name__) for function in visited]


def _named_in(code: CodeType, meanings: dict[str, Any]) -> list[Any]:
    """Return the objects that the names in a piece of code may refer to, including names such as layernorm.layer_norm."""
    values = [meanings.get(name) for name in code.co_names]
    modules = [value for value in values if isinstance(value, ModuleType)]
    objects = values + [getattr(module, name, None) for module in modules for name in code.co_names]
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return objects + [value for one in inner for value in _named_in(one, meanings)]


def expected(name: str) -> np.ndarray:
    """Return the results of the solution for the calls of a function; `name` includes the module."""
    return _stored()[name]


@functools.cache
def _stored() -> dict[str, np.ndarray]:
    with np.load(RIGHT) as arrays:
        return dict(arrays)


def _code(name: Name) -> str:
    return f"<code>{html.escape(name[1])}</code>"
