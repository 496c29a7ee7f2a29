"""A small model of first names, in the parameters of your decoder: loading it, asking it, and taking it apart.

names.npz holds two decoders with 58,923 numbers each (width 48, 3 blocks, 4 heads, hidden width 96, 27 characters), both
trained by the instructors on first names of the census of the United States of 1990: one with pre-norm blocks, as
your decoder computes, one with post-norm blocks. A name stands between two full stops, which are token 0.
"""

import contextlib
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent
ALPHABET = ".abcdefghijklmnopqrstuvwxyz"
HEADS = 4
LONGEST = 16
NO_FUTURE, NO_SCALE, NO_SUMS, NO_NORMS, NO_ORDER = (
    "no mask",
    "no 1/sqrt(d_k)",
    "no residuals",
    "no norms",
    "no positions",
)
SWAPPED = "post-norm weights read as pre-norm"
CHANGES = ("nothing", NO_FUTURE, NO_SCALE, NO_SUMS, NO_NORMS, NO_ORDER, SWAPPED)


class Modules(NamedTuple):
    """The modules of yours that a decoder is made of."""

    layernorm: Any
    scaled_attention: Any
    causal_mask: Any
    transformer_block: Any
    decoder: Any


@functools.cache
def model(norm: str = "pre") -> dict[str, Any]:
    """The parameters of the decoder that was trained with this norm, "pre" or "post", in float64."""
    params: dict[str, Any] = {"blocks": [{} for _ in range(3)]}
    with np.load(FOLDER / "names.npz") as arrays:
        for path, array in arrays.items():
            kind, *way, last = path.split("/")
            if kind == norm:
                part: Any = params
                for key in way:
                    part = part[int(key)] if key.isdigit() else part.setdefault(key, {})
                part[last] = array.astype(float)
    return params


@functools.cache
def census() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that the models were trained on, and those that were kept apart."""
    _, trained, apart = (FOLDER / "names.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(trained.partition(": ")[2].split()), tuple(apart.partition(": ")[2].split())


def tokens(name: str, ended: bool = True) -> np.ndarray:
    """A name as tokens, after a full stop and, if it is ended, before one; other characters are left out."""
    letters = [ALPHABET.index(letter) for letter in name.lower() if letter in ALPHABET[1:]][: LONGEST - 2]
    return np.array([0, *letters, *([0] if ended else [])])


def text(some: Any) -> str:
    """Tokens as a name."""
    return "".join(ALPHABET[token] for token in some).strip(".")


def sample(modules: Modules, rng: np.random.Generator, temperature: float = 1.0, change: str = "nothing") -> str:
    """A name, a character at a time: drawn from the softmax of logits / temperature, greedily for a temperature of 0."""
    written = np.array([0])
    while len(written) < LONGEST:
        scores = logits(modules, written, change)[-1]
        if temperature == 0:
            token = int(np.argmax(scores))
        else:
            chances = modules.scaled_attention.softmax(scores / temperature)
            token = int(rng.choice(len(chances), p=chances / chances.sum()))
        written = np.append(written, token)
        if token == 0:
            break
    return text(written)


def nats(modules: Modules, name: str) -> float:
    """Minus the log-probability of a character of a name, its full stop included, by your sequence_log_prob."""
    written = tokens(name)
    return -modules.decoder.sequence_log_prob(written, model(), HEADS) / (len(written) - 1)


def changed_nats(modules: Modules, name: str, change: str) -> float:
    """The same with something taken out of the decoder."""
    written = tokens(name)
    chances = modules.scaled_attention.softmax(logits(modules, written[:-1], change))
    with np.errstate(divide="ignore"):
        return float(-np.log(chances[np.arange(len(written) - 1), written[1:]]).mean())


def logits(modules: Modules, written: np.ndarray, change: str = "nothing") -> Any:
    """Your decoder_logits, with something taken out while it runs."""
    params = model("post" if change == SWAPPED else "pre")
    if change == NO_SCALE:
        wider = (len(params["blocks"][0]["attention"]["w_q"]) / HEADS) ** 0.5
        params = params | {"blocks": [_with(block, "attention", w_q=wider) for block in params["blocks"]]}
    with replaced(modules, *_replacement(modules, change)):
        return modules.decoder.decoder_logits(written, params, HEADS)


def _replacement(modules: Modules, change: str) -> tuple[Any, Any]:
    """A function of yours, and what takes its place; None and None where all of them stay."""
    if change == NO_FUTURE:
        return modules.causal_mask.causal_mask, lambda t: np.ones((t, t), dtype=bool)
    if change == NO_ORDER:
        return modules.decoder.positional_encoding, lambda t, d_model: np.zeros((t, d_model))
    if change == NO_NORMS:
        return modules.layernorm.layer_norm, lambda x, *_, **__: x
    if change == NO_SUMS:
        block = modules.transformer_block.pre_norm_block
        return block, lambda x, params, *more, **named: _parts(block, x, params, *more, **named)[1]
    return None, None


def _parts(block: Any, x: Any, params: Any, *more: Any, **named: Any) -> tuple[Any, Any]:
    """What attention makes of x, and what the network makes of that, nothing added.

    A block whose network has zeros for its last weights adds nothing but its attention, and the other way round; so both
    can be had from your pre_norm_block, whatever it looks like inside.
    """
    attended = block(x, _with(params, "ffn", w_2=0, b_2=0), *more, **named) - x
    return attended, block(attended, _with(params, "attention", w_o=0), *more, **named) - attended


def _with(block: Any, part: str, **factors: float) -> Any:
    """The parameters of a block with some arrays of a part multiplied."""
    return block | {part: block[part] | {name: factor * block[part][name] for name, factor in factors.items()}}


@contextlib.contextmanager
def replaced(modules: Modules, function: Any, other: Any) -> Iterator[None]:
    """Another function in the place of one of yours, wherever your modules have imported it."""
    places = [
        (module, name)
        for module in (sys.modules[lazy._name] for lazy in modules if lazy._name in sys.modules)
        for name, value in vars(module).items()
        if function is not None and value is function
    ]
    try:
        for module, name in places:
            setattr(module, name, other)
        yield
    finally:
        for module, name in places:
            setattr(module, name, function)


class Trace(NamedTuple):
    """What happens to a name on its way through the decoder."""

    weights: np.ndarray  # (blocks, heads, t, t): who looks at whom
    added: list[tuple[str, np.ndarray]]  # what each part adds to the stream, (t, d) each, in order


def trace(modules: Modules, written: np.ndarray) -> Trace:
    """The weights of all heads, and the residual stream, from your functions on the model of names."""
    params, stack = model(), modules.transformer_block.transformer_stack
    embedded = modules.decoder.embed(written, params["embedding"])
    places = modules.decoder.positional_encoding(*embedded.shape)
    added, maps, x = [("embedding", embedded), ("positions", places)], [], embedded + places
    mask = modules.causal_mask.causal_mask(len(written))
    for number, block in enumerate(params["blocks"], start=1):
        maps.append(
            _weights(
                modules,
                modules.layernorm.layer_norm(x, block["ln_1"]["gamma"], block["ln_1"]["beta"]),
                block["attention"],
                mask,
            )
        )
        without_network = stack(x, [_with(block, "ffn", w_2=0, b_2=0)], HEADS, mask=mask)
        after = stack(x, [block], HEADS, mask=mask)
        added += [(f"attention {number}", without_network - x), (f"network {number}", after - without_network)]
        x = after
    return Trace(np.array(maps), added)


def _weights(modules: Modules, normed: Any, matrices: Any, mask: Any) -> Any:
    """Who looks at whom, head by head."""
    asked, offered = (modules.scaled_attention.split_heads(normed @ matrices[name], HEADS) for name in ("w_q", "w_k"))
    return modules.scaled_attention.scaled_dot_product_attention(asked, offered, offered, mask)[1]
