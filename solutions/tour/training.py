"""Training the last layer of the model of names on names of your own. Nothing here is graded, and you need not read it."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tour import names

APART = 4  # every fourth name is kept apart


def typed(text: str) -> list[str]:
    """The names in a text, which are parted by commas or blanks, each once; at least two."""
    found = list(dict.fromkeys(filter(None, map(names.letters, re.split(r"[\s,;]+", text)))))
    if len(found) < 2:
        raise names.Unusable("type two names or more, with letters from a to z")
    return found


class Data(NamedTuple):
    """What the last layer is trained on: the stream at the end of your blocks, and the character that comes next."""

    vectors: np.ndarray  # (n, 48)
    following: np.ndarray  # (n,)


def data(modules: names.Modules, some: Sequence[str]) -> Data:
    """All positions of some names, by your embed, positional_encoding, causal_mask and transformer_stack."""
    params, vectors, following = names.model(), [], []
    for name in some:
        written = names.tokens(name)
        x = modules.decoder.embed(written[:-1], params["embedding"])
        x = x + modules.decoder.positional_encoding(*x.shape)
        mask = modules.causal_mask.causal_mask(len(x))
        vectors.append(modules.transformer_block.transformer_stack(x, params["blocks"], names.HEADS, mask=mask))
        following.append(written[1:])
    return Data(np.concatenate(vectors), np.concatenate(following))


class Training(NamedTuple):
    """A run of gradient descent."""

    params: dict[str, Any]  # the model of names with the last layer as it is now
    losses: list[float]  # on the names trained on, before the first step and after each
    unseen: list[float]  # on the names kept apart


def descend(
    loss_and_gradient: Callable[..., Any], trained: Data, apart: Data, steps: int, rate: float = 0.03
) -> Training:
    """Gradient descent on the last layer of the model, from the weights that it has."""
    w, b = names.model()["w_out"].copy(), names.model()["b_out"].copy()
    losses, unseen = [], []
    for step in range(steps + 1):
        loss, grad_w, grad_b = loss_and_gradient(w, b, *trained)
        losses.append(float(loss))
        unseen.append(float(loss_and_gradient(w, b, *apart)[0]))
        if step < steps:
            w, b = w - rate * grad_w, b - rate * grad_b
    return Training(names.model() | {"w_out": w, "b_out": b}, losses, unseen)


def gap_to_differences(loss_and_gradient: Callable[..., Any], trained: Data, entries: int = 20) -> float:
    """The largest gap between the gradient and finite differences of the loss, for some entries of w drawn by chance."""
    w, b = names.model()["w_out"].copy(), names.model()["b_out"]
    gradient, rng, gaps = loss_and_gradient(w, b, *trained)[1], np.random.default_rng(0), []
    for i, j in zip(*(rng.integers(0, n, entries) for n in w.shape), strict=True):
        change = np.zeros(w.shape)
        change[i, j] = 1e-5
        up, down = (loss_and_gradient(w + sign * change, b, *trained)[0] for sign in (1, -1))
        gaps.append(abs((up - down) / 2e-5 - gradient[i, j]))
    return float(max(gaps))
