"""The ladder: after each module, a small model made of your functions writes names.

A model uses only the functions written so far, and matrix products. The instructors trained it; ladder.npz has its weights. The
last model is the decoder of names.npz. Batch norm has no part in a decoder, so its module adds no model.
"""

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tour import names, reference_values

WEIGHTS = Path(__file__).parent / "ladder.npz"
WINDOW, HEADS, TEMPERATURE = 3, 4, 0.8


class Rung(NamedTuple):
    """One of the models. Its functions are all the homework functions that it calls, and its loss is in nats per character."""

    module: str
    loss: float
    model: str
    functions: tuple[str, ...]


_ATTENTION = ("softmax", "scaled_dot_product_attention", "split_heads", "merge_heads", "multi_head_attention")
_BLOCK = ("feed_forward", "residual", "pre_norm_block", "transformer_stack")
RUNGS = (
    Rung("layernorm", 2.14, "the last three letters, between two layer norms", ("layer_norm",)),
    Rung("scaled_attention", 2.05, "in addition, attention to all letters so far", _ATTENTION),
    Rung("causal_mask", 2.02, "in addition, a mask: one pass trains on every letter of a name", ("causal_mask",)),
    Rung("transformer_block", 1.98, "two Transformer blocks in place of the three letters", _BLOCK),
    Rung("decoder", 1.95, "the whole decoder", ("positional_encoding", "embed", "decoder_logits")),
)


@functools.cache
def weights(module: str) -> dict[str, Any]:
    """Return the parameters of the model of a module, in float64."""
    params: dict[str, Any] = {}
    with np.load(WEIGHTS) as arrays:
        for path, array in arrays.items():
            name, *parents, last = path.split("/")
            if name == module:
                subtree = params
                for key in parents:
                    subtree = subtree.setdefault(key, {})
                subtree[last] = array.astype(float)
    if "blocks" in params:
        params["blocks"] = [params["blocks"][number] for number in sorted(params["blocks"])]
    return params


def one_hot(tokens: Any, n: int = 1, dtype: Any = float) -> Any:
    """Each token as a row of 27 zeros and ones, after those of the n - 1 tokens before it: (..., t, 27 n)."""
    before = np.zeros((*tokens.shape[:-1], n - 1), int)
    rows = np.eye(len(names.ALPHABET), dtype=dtype)[np.concatenate([before, tokens], axis=-1)]
    t = tokens.shape[-1]
    return np.concatenate([rows[..., i : i + t, :] for i in range(n)], axis=-1)


def logits(module: str, tokens: Any) -> Any:
    """The logits (t, 27) of the model of a module, by your functions. Only the last row counts before the module causal_mask."""
    layernorm, attention, masks, block, decoder = map(_Yours, names.Modules._fields)
    if module == "decoder":
        return decoder.decoder_logits(tokens, names.model(), names.HEADS)
    w = weights(module)
    if module == "transformer_block":
        mask = masks.causal_mask(len(tokens))
        x = block.transformer_stack(one_hot(tokens) @ w["embedding"], w["blocks"], HEADS, mask=mask)
        return x @ w["w_out"] + w["b_out"]
    x = layernorm.layer_norm(one_hot(tokens, WINDOW) @ w["w_in"], w["gamma_1"], w["beta_1"])
    if module != "layernorm":
        mask = masks.causal_mask(len(tokens)) if module == "causal_mask" else None
        x = np.concatenate([x, attention.multi_head_attention(x, w["attention"], HEADS, mask=mask)], axis=-1)
    return layernorm.layer_norm(x @ w["w_hidden"], w["gamma_2"], w["beta_2"]) @ w["w_out"] + w["b_out"]


class _Yours:
    """One of your modules, imported when one of its functions is used."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, function: str) -> Any:
        return getattr(importlib.import_module(self.name), function)


def write(module: str, rng: np.random.Generator) -> str:
    """Write a name letter by letter. The highest sum of a logit and Gumbel noise is a sample from the softmax."""
    tokens = np.zeros(1, int)
    while len(tokens) < names.LONGEST and (len(tokens) == 1 or tokens[-1]):
        scores = logits(module, tokens)[-1] / TEMPERATURE
        tokens = np.append(tokens, np.argmax(scores + rng.gumbel(size=len(scores))))
    return names.text(tokens)


def sample(module: str, n: int) -> list[str]:
    """Some names, the same ones each time."""
    rng = np.random.default_rng(1)
    return [write(module, rng) for _ in range(n)]


def nats(module: str, name: str) -> float:
    """Return the loss per character of a name under the model of a module, from the letters before each."""
    tokens = names.tokens(name)
    rows = [logits(module, tokens[:t])[-1] for t in range(1, len(tokens))]
    return float(np.mean([np.logaddexp.reduce(row) - row[token] for row, token in zip(rows, tokens[1:], strict=True)]))


def climbed() -> list[Rung]:
    """Return the models whose functions are all written and right, up to the first that lacks one."""
    for reached, rung in enumerate(RUNGS):
        if not all(
            reference_values.agrees(rung.module, function, reference_values.state(), unwritten=False)
            for function in rung.functions
        ):
            return [*RUNGS[:reached]]
    return [*RUNGS]


def line(modules: Sequence[str]) -> str:
    """Three names from the highest model that your functions make up; "" if its module is not one of these."""
    if not (reached := climbed()) or (rung := reached[-1]).module not in modules:
        return ""
    written = ", ".join(sample(rung.module, 3))
    following = [f"; {later.module}.py brings it to {later.loss:.2f}" for later in RUNGS[len(reached) :]][:1]
    return f"Names by your code so far: {written} ({rung.loss:.2f} nats per character{''.join(following)})"
