"""A small model of first names, in the parameter format of your decoder: loading it, querying it and taking it apart.

names.npz contains two decoders with 58,923 numbers each (width 48, 3 blocks, 4 heads, hidden width 96, 27 characters), both
trained by the instructors on first names from the 1990 census of the United States: one with pre-norm blocks, like
your decoder, and one with post-norm blocks. A name begins and ends with a full stop, which is token 0.
"""

import contextlib
import functools
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent
ALPHABET = ".abcdefghijklmnopqrstuvwxyz"
HEADS = 4
LONGEST = 16
NO_NORMS, NO_ATTENTION, NO_SCALE, NO_FUTURE, NO_SUMS, NO_MLP, NO_ORDER = (
    "no norms",
    "no attention",
    "no 1/√d_k",
    "no mask",
    "no residuals",
    "no MLPs",
    "no positions",
)
SWAPPED = "post-norm weights read as pre-norm"
NOTHING = "nothing"
ONE_POSITION, MASK_TRANSPOSED, HEADS_REVERSED = "one position", "mask transposed", "heads reversed"  # puzzles
CHANGES = (NOTHING, NO_NORMS, NO_ATTENTION, NO_SCALE, NO_FUTURE, NO_SUMS, NO_MLP, NO_ORDER, SWAPPED)


class Unusable(ValueError):
    """The text that was typed cannot be used; the modules are not at fault."""


class Modules(NamedTuple):
    """Your modules that make up a decoder."""

    layernorm: Any
    scaled_attention: Any
    causal_mask: Any
    transformer_block: Any
    decoder: Any


@functools.cache
def model(norm: str = "pre") -> dict[str, Any]:
    """Return the parameters of the decoder trained with this norm, "pre" or "post", in float64."""
    params: dict[str, Any] = {"blocks": [{} for _ in range(3)]}
    with np.load(FOLDER / "names.npz") as arrays:
        for path, array in arrays.items():
            kind, *parents, last = path.split("/")
            if kind == norm:
                subtree: Any = params
                for key in parents:
                    subtree = subtree[int(key)] if key.isdigit() else subtree.setdefault(key, {})
                subtree[last] = array.astype(float)
    return params


@functools.cache
def census() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that the models were trained on, and those that were held out."""
    _, trained, apart = (FOLDER / "names.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(trained.partition(": ")[2].split()), tuple(apart.partition(": ")[2].split())


def letters(name: str) -> str:
    """Return a name in the alphabet of the model: accents are removed (Zoë becomes zoe), other characters are dropped."""
    apart = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in apart if letter in ALPHABET[1:])[: LONGEST - 2]


def tokens(name: str, ended: bool = True) -> np.ndarray:
    """Return the letters of a name as tokens, after a full stop and, if the name is complete, before one."""
    return np.array([0, *map(ALPHABET.index, letters(name)), *([0] if ended else [])])


def lost(name: str) -> str:
    """Return a remark on the characters of a name that are not in the alphabet; "" if all are."""
    has = letters(name)
    return (
        ""
        if has == name.lower()
        else f'{name!r} is read as "{has}": the model knows the letters a to z, and 14 of them at most'
    )


def text(some: Any) -> str:
    """Tokens as a name."""
    return "".join(ALPHABET[token] for token in some).strip(".")


def sample(
    modules: Modules,
    rng: np.random.Generator,
    temperature: float = 1.0,
    change: str = NOTHING,
    params: dict[str, Any] | None = None,
    top_k: int = 0,
) -> str:
    """Write a name one character at a time, sampled from the softmax of logits / temperature; greedily if the temperature is 0.

    With `params`, the decoder uses these parameters. With `top_k`, only the likeliest characters can be chosen.
    """
    written = np.array([0])
    while len(written) < LONGEST:
        if params is None:
            scores = logits(modules, written, change)[-1]
        else:
            scores = modules.decoder.decoder_logits(written, params, HEADS)[-1]
        if temperature == 0:
            token = int(np.argmax(scores))
        else:
            chances = modules.scaled_attention.softmax(scores / temperature)
            chances = np.where(chances < np.sort(chances)[-top_k], 0, chances) if top_k else chances
            token = int(rng.choice(len(chances), p=chances / chances.sum()))
        written = np.append(written, token)
        if token == 0:
            break
    return text(written)


def nats(modules: Modules, name: str) -> float:
    """Return the negative log-probability per character of a name, including its full stop, from your sequence_log_prob."""
    written = tokens(name)
    return -modules.decoder.sequence_log_prob(written, model(), HEADS) / (len(written) - 1)


def costs(modules: Modules, change: str = NOTHING, state: Any = None) -> np.ndarray:
    """Return the loss per character of each held-out name, with one part removed.

    Cached for each state of your code (see reference_values.state), because 516 names are too slow for a slider.
    """
    _ = modules.decoder.decoder_logits  # also for a cached result: your decoder has taken part
    return _costs(modules, change, state)


@functools.lru_cache(maxsize=64)
def _costs(modules: Modules, change: str, _state: Any) -> np.ndarray:
    return np.array([changed_nats(modules, name, change) for name in census()[1]])


def by_counting() -> dict[str, float]:
    """Return the loss of the same names under three models that only count the training names; each count begins at 1."""
    trained, apart = census()
    pairs = np.ones((len(ALPHABET), len(ALPHABET)))
    for name in trained:
        written = tokens(name)
        np.add.at(pairs, (written[:-1], written[1:]), 1)
    single = pairs.sum(axis=0) / pairs.sum()
    following = pairs / pairs.sum(axis=1, keepdims=True)
    unseen = [tokens(name) for name in apart]
    return {
        "27 characters, all equally likely": float(np.log(len(ALPHABET))),
        "how often each character occurs": float(np.mean([-np.log(single[some[1:]]).mean() for some in unseen])),
        "which character follows which": float(
            np.mean([-np.log(following[some[:-1], some[1:]]).mean() for some in unseen])
        ),
    }


def changed_nats(modules: Modules, name: str, change: str) -> float:
    """Return the loss per character with one part of the decoder removed."""
    written = tokens(name)
    chances = modules.scaled_attention.softmax(logits(modules, written[:-1], change))
    with np.errstate(divide="ignore"):
        return float(-np.log(chances[np.arange(len(written) - 1), written[1:]]).mean())


def logits(modules: Modules, written: np.ndarray, change: str = NOTHING) -> Any:
    """Your decoder_logits, with one part removed while it runs."""
    params = model("post" if change == SWAPPED else "pre")
    wider = (len(params["blocks"][0]["attention"]["w_q"]) / HEADS) ** 0.5
    part, factors = {
        NO_SCALE: ("attention", {"w_q": wider}),
        NO_ATTENTION: ("attention", {"w_o": 0.0}),
        NO_MLP: ("ffn", {"w_2": 0.0, "b_2": 0.0}),
    }.get(change, ("", {}))
    if part:
        params = params | {"blocks": [_with(block, part, **factors) for block in params["blocks"]]}
    with replaced(modules, *_replacement(modules, change)):
        return modules.decoder.decoder_logits(written, params, HEADS)


def _replacement(modules: Modules, change: str) -> tuple[Any, Any]:
    """One of your functions and its replacement; None and None if nothing is replaced."""
    if change == NO_FUTURE:
        return modules.causal_mask.causal_mask, lambda t: np.ones((t, t), dtype=bool)
    if change == NO_ORDER:
        return modules.decoder.positional_encoding, lambda t, d_model: np.zeros((t, d_model))
    if change == ONE_POSITION:
        encoding = modules.decoder.positional_encoding
        return encoding, lambda t, d_model: np.repeat(encoding(1, d_model), t, axis=0)
    if change == MASK_TRANSPOSED:
        mask = modules.causal_mask.causal_mask
        return mask, lambda t: mask(t).T
    if change == HEADS_REVERSED:
        merge = modules.scaled_attention.merge_heads
        return merge, lambda x: merge(x[..., ::-1, :, :])
    if change == NO_NORMS:
        return modules.layernorm.layer_norm, lambda x, *_, **__: x
    if change == NO_SUMS:
        block = modules.transformer_block.pre_norm_block
        return block, lambda x, params, *more, **named: _parts(block, x, params, *more, **named)[1]
    return None, None


def _parts(block: Any, x: Any, params: Any, *more: Any, **named: Any) -> tuple[Any, Any]:
    """Return the output of attention, and the output of the MLP on that, without the additions.

    A block whose MLP has zeros as its last weights adds only its attention, and vice versa, so both can be
    computed with your pre_norm_block, however it is written.
    """
    attended = block(x, _with(params, "ffn", w_2=0, b_2=0), *more, **named) - x
    return attended, block(attended, _with(params, "attention", w_o=0), *more, **named) - attended


def _with(block: Any, part: str, **factors: float) -> Any:
    """Return the parameters of a block with some arrays of a part multiplied."""
    return block | {part: block[part] | {name: factor * block[part][name] for name, factor in factors.items()}}


@contextlib.contextmanager
def replaced(modules: Modules, function: Any, other: Any) -> Iterator[None]:
    """Replace one of your functions wherever your modules have imported it."""
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
    """A name as it passes through the decoder."""

    weights: np.ndarray  # (blocks, heads, t, t): what each character attends to
    added: list[tuple[str, np.ndarray]]  # what each part adds to the stream, (t, d) each, in order

    @property
    def stream(self) -> np.ndarray:
        """The residual stream after each part, (parts, t, d)."""
        return np.cumsum([vectors for _, vectors in self.added], axis=0)

    def read_out(self, modules: Modules) -> np.ndarray:
        """Return the probabilities of the next character, had the stream ended after each part: (parts, t, 27)."""
        return np.asarray(modules.scaled_attention.softmax(self.stream @ model()["w_out"] + model()["b_out"]))


def trace(modules: Modules, written: np.ndarray) -> Trace:
    """Return the weights of all heads, and the residual stream, from your functions on the model of names."""
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
        without_mlp = stack(x, [_with(block, "ffn", w_2=0, b_2=0)], HEADS, mask=mask)
        after = stack(x, [block], HEADS, mask=mask)
        added += [(f"attention {number}", without_mlp - x), (f"MLP {number}", after - without_mlp)]
        x = after
    return Trace(np.array(maps), added)


def _weights(modules: Modules, normed: Any, matrices: Any, mask: Any) -> Any:
    """Return the attention weights of all heads."""
    asked, offered = (modules.scaled_attention.split_heads(normed @ matrices[name], HEADS) for name in ("w_q", "w_k"))
    return modules.scaled_attention.scaled_dot_product_attention(asked, offered, offered, mask=mask)[1]
