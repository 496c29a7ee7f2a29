"""Tiny networks and texts for transformer.ipynb. Nothing here is graded, and you do not need to read it."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# "cat" in "The cat sat on the mat": its query, and a key and a value for each of the six words.
QUERY = np.array([[1.0, 0.0, 1.0]])
KEYS = np.array([[1, 0, 0], [1, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
VALUES = np.array([[1, 0, 0], [0, 1, 0.5], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])


def changed_rows(before: np.ndarray, after: np.ndarray) -> str:
    """Which rows differ, counted from 1."""
    return " ".join(str(i + 1) for i in range(len(before)) if np.abs(before[i] - after[i]).max() > 1e-9)


def refused(call: Callable[[], Any]) -> str:
    """Whether a call raises ValueError, and with what message."""
    try:
        call()
    except ValueError as error:
        return f"rejected: {error}"
    return "not rejected"


def rnn(x: np.ndarray) -> np.ndarray:
    """Return a recurrent network: each position passes only the state to the next."""
    w_in, w_state = _weights(2, x.shape[1])
    state, states = np.zeros(x.shape[1]), []
    for token in x:
        state = np.tanh(w_in @ token + w_state @ state)
        states.append(state)
    return np.array(states)


def lstm(x: np.ndarray) -> np.ndarray:
    """Return a recurrent network with gates, which control what a second state keeps, adds and outputs."""
    weights = _weights(8, x.shape[1])
    state, memory, states = np.zeros(x.shape[1]), np.zeros(x.shape[1]), []
    for token in x:
        keep, write, reveal, new = (weights[i] @ token + weights[i + 4] @ state for i in range(4))
        memory = memory / (1 + np.exp(-keep)) + np.tanh(new) / (1 + np.exp(-write))
        state = np.tanh(memory) / (1 + np.exp(-reveal))
        states.append(state)
    return np.array(states)


def convolution(x: np.ndarray, offsets: Sequence[int]) -> np.ndarray:
    """Return a convolution: position p reads p + offset for each offset, and zeros beyond the ends."""
    result = np.zeros(x.shape)
    for offset, w in zip(offsets, _weights(len(offsets), x.shape[1]), strict=True):
        for p in range(max(0, -offset), min(len(x), len(x) - offset)):
            result[p] += w @ x[p + offset]
    return np.tanh(result)


def _weights(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n).normal(0, 1, (n, d, d))


def network(d: int, rng: np.random.Generator, gain: float = 1.0) -> dict[str, np.ndarray]:
    """Random parameters of a feed-forward network whose output is about `gain` times as large as its input."""
    w_1, w_2 = rng.normal(0, d**-0.5, (d, 4 * d)), rng.normal(0, gain * (2 * d) ** -0.5, (4 * d, d))
    return {"w_1": w_1, "b_1": np.zeros(4 * d), "w_2": w_2, "b_2": np.zeros(d)}


def block(d: int, rng: np.random.Generator, gain: float = 1.0) -> dict[str, dict[str, np.ndarray]]:
    """Random parameters of a Transformer block, as they are before training: small, Gaussian, biases zero."""
    norms = {name: {"gamma": np.ones(d), "beta": np.zeros(d)} for name in ("ln_1", "ln_2")}
    attention = {name: rng.normal(0, d**-0.5, (d, d)) for name in ("w_q", "w_k", "w_v", "w_o")}
    return {**norms, "attention": attention, "ffn": network(d, rng, gain)}


def lookup_table(probabilities: np.ndarray) -> dict[str, Any]:
    """Return a decoder without blocks that looks up the last token: row i has the probabilities of what follows token i.

    The embedding has such a large norm that the positions added to it hardly matter.
    """
    long, logs = 1e6, np.log(probabilities)
    return {"embedding": long * np.eye(len(logs)), "blocks": [], "w_out": logs / long, "b_out": np.zeros(len(logs))}


KINDS = ("plain", "residuals alone", "norms alone", "post-norm", "pre-norm")
ADDING = ("residuals alone", "pre-norm")  # those whose stream is a sum of the input and everything that was added


def walk(
    kind: str, n_layers: int, gain: float, norm: Any, modules: Any, seed: int, d: int = 64, scale: float = 1.0
) -> dict[str, Any]:
    """Pass a vector through sub-layers: the input of each, the stream after it, and its Jacobian.

    kind is one of KINDS; norm is a layer norm without gamma and beta, and modules has your functions feed_forward and
    residual; the input has about the size `scale`. "direct" is the part of the path past the sub-layers that the norms
    of post-norm preserve: the product of all 1 / std so far. The Jacobians are those of the sub-layer, without the addition, except
    in post-norm, where they are those of norm and sum together.
    """
    x, networks = random_walk(n_layers, gain, seed, d)
    x = scale * x
    seen, jacobians, direct, stream = [], [], [1.0], [x]
    for params in networks:
        branch, layer = _layer(kind, params, norm, modules)
        seen.append(norm(x) if kind in ("norms alone", "pre-norm") else x)
        jacobians.append(jacobian(branch, x))
        if kind == "post-norm":
            direct.append(direct[-1] / np.std(modules.residual(x, lambda x, p=params: modules.feed_forward(x, p))))
        x = layer(x)
        stream.append(x)
    return {
        "seen": np.array(seen),
        "stream": np.array(stream),
        "jacobians": np.array(jacobians),
        "direct": np.array(direct),
    }


def _layer(kind: str, params: Any, norm: Any, modules: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def network_alone(x: np.ndarray) -> Any:
        return modules.feed_forward(x, params)

    def network_of_norm(x: np.ndarray) -> Any:
        return network_alone(norm(x))

    def norm_of_sum(x: np.ndarray) -> Any:
        return norm(modules.residual(x, network_alone))

    if kind == "plain":
        return network_alone, network_alone
    if kind == "norms alone":
        return network_of_norm, network_of_norm
    if kind == "post-norm":
        return norm_of_sum, norm_of_sum
    branch = network_of_norm if kind == "pre-norm" else network_alone
    return branch, lambda x: modules.residual(x, branch)


@functools.cache
def random_walk(n_layers: int, gain: float, seed: int, d: int) -> tuple[np.ndarray, list[dict[str, np.ndarray]]]:
    """Return a random input and random networks, the same for every kind."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), [network(d, rng, gain) for _ in range(n_layers)]


def size(x: np.ndarray) -> Any:
    """Return the root mean square over the last axis, even if the squares would be rounded to 0."""
    largest = np.abs(x).max(axis=-1, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)
    return largest[..., 0] * np.sqrt(np.mean(np.square(x / largest), axis=-1))


def jacobian(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """[i, j] = d f(x)_i / d x_j by central differences, all columns in two calls."""
    step = 1e-6 * size(x)
    change = step * np.eye(len(x))
    columns: np.ndarray = (f(x + change) - f(x - change)) / (2 * step)
    return columns.T


NETWORKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "RNN": rnn,
    "LSTM": lstm,
    "CNN, centred": lambda x: convolution(x, (-1, 0, 1)),
    "CNN, future\nedges removed": lambda x: convolution(x, (-1, 0)),
}
INPUTS = np.random.default_rng(0).normal(size=(4, 4))

# A text of eight words, and a decoder that knows which word follows which.
STORY = ["after", "sunset", "the", "sky", "turned", "red", "dark", "(end)"]
_FOLLOWS = {
    "after": {"sunset": 0.9},
    "sunset": {"the": 0.8},
    "the": {"sky": 0.7, "sunset": 0.2},
    "sky": {"turned": 0.6, "(end)": 0.3},
    "turned": {"red": 0.5, "dark": 0.4},
    "red": {"(end)": 0.9},
    "dark": {"(end)": 0.9},
    "(end)": {"(end)": 0.9},
}
STORY_CHANCES = np.array([[_FOLLOWS[word].get(successor, 0.01) for successor in STORY] for word in STORY])
STORY_CHANCES /= STORY_CHANCES.sum(axis=1, keepdims=True)
STORY_MODEL = lookup_table(STORY_CHANCES)
