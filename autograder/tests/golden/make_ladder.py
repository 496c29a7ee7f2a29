"""Writes solutions/tour/ladder.npz: the weights of the small models that show after each module what it adds.

Run manually, from the root of the clone, after a change to solutions/tour/ladder.py. It needs only NumPy and takes about two
minutes:

    python autograder/tests/golden/make_ladder.py

Each model is trained from random weights with a fixed seed, on as many batches as a run of train.py. A test measures the losses
in RUNGS.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

import causal_mask  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import layernorm  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import train  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour import backward, ladder, names  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour.corpus import batch  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

Array = Any
Params = dict[str, Any]
WIDTH, HIDDEN, DECAY, SEED = 48, 96, 0.3, 0


def initial(rng: np.random.Generator, attends: bool) -> Params:
    """Return random weights in single precision."""

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Array:
        return (scale * rows**-0.5 * rng.normal(size=(rows, columns))).astype(np.float32)

    def norm(number: int, n: int) -> Params:
        return {f"gamma_{number}": np.ones(n, np.float32), f"beta_{number}": np.zeros(n, np.float32)}

    symbols = len(names.ALPHABET)
    params: Params = {"w_in": matrix(ladder.WINDOW * symbols, WIDTH, 3.0)} | norm(1, WIDTH)
    if attends:
        params["attention"] = {name: matrix(WIDTH, WIDTH) for name in ("w_q", "w_k", "w_v", "w_o")}
    params["w_hidden"] = matrix(WIDTH * (1 + attends), HIDDEN)
    return params | norm(2, HIDDEN) | {"w_out": matrix(HIDDEN, symbols, 0.1), "b_out": np.zeros(symbols, np.float32)}


def gradient(params: Params, inputs: Array, targets: Array, mask: Array | None) -> Params:
    """Return the gradient of the loss of a batch; targets of -1 do not count."""
    x = ladder.one_hot(inputs, ladder.WINDOW, np.float32)
    raw = x @ params["w_in"]
    first = features = layernorm.layer_norm(raw, params["gamma_1"], params["beta_1"])
    if "attention" in params:
        attended, kept = backward.attention(first, params["attention"], ladder.HEADS, mask)
        features = np.concatenate([first, attended], axis=-1)
    hidden = features @ params["w_hidden"]
    last = layernorm.layer_norm(hidden, params["gamma_2"], params["beta_2"])
    _, grad = backward.cross_entropy(last @ params["w_out"] + params["b_out"], targets)

    grads: Params = {"w_out": backward.weight_gradient(last, grad), "b_out": grad.sum(axis=(0, 1))}
    grad, *norm_2 = layernorm.layer_norm_backward(grad @ params["w_out"].T, hidden, params["gamma_2"])
    grads |= {"gamma_2": norm_2[0], "beta_2": norm_2[1], "w_hidden": backward.weight_gradient(features, grad)}
    grad = grad @ params["w_hidden"].T
    if "attention" in params:
        through, grads["attention"] = backward.attention_backward(grad[..., WIDTH:], params["attention"], kept)
        grad = grad[..., :WIDTH] + through
    grad, *norm_1 = layernorm.layer_norm_backward(grad, raw, params["gamma_1"])
    return grads | {"gamma_1": norm_1[0], "beta_1": norm_1[1], "w_in": backward.weight_gradient(x, grad)}


def trained(module: str) -> Params:
    """Train the model of one of the first three modules.

    Attention without a mask sees every letter it is given, so a batch has the first t letters of 64 names, with a different
    t in each step, and only the letter after them is a target.
    """
    training = np.array(names.census()[0])
    lengths = np.char.str_len(training) + 1
    prefixes = np.repeat(lengths, lengths) - np.concatenate([np.arange(n) for n in lengths])  # how often each t occurs
    rng = np.random.default_rng(SEED)
    params = initial(rng, module != "layernorm")
    optimiser = backward.AdamW(params, decay=DECAY)
    for step in range(1, train.STEPS + 1):
        t = rng.choice(prefixes) if module == "scaled_attention" else 0
        inputs, targets = batch(rng.choice(training[lengths >= t], train.BATCH_SIZE), names.ALPHABET)
        if t:
            inputs, targets = inputs[:, :t], targets[:, :t]
            targets[:, :-1] = -1
        mask = causal_mask.causal_mask(inputs.shape[1]) if module == "causal_mask" else None
        optimiser.step(
            params, gradient(params, inputs, targets, mask), backward.learning_rate(step, train.STEPS, train.RATE)
        )
    return params


def blocks() -> Params:
    """Train two blocks under the mask, without positions, which are part of the next module."""
    design = backward.Design(blocks=2, positions=False)
    training = train.Training(train.census(), design, seed=SEED)
    while not training.finished:
        training.advance()
    params: Params = training.params
    return params


def main() -> None:
    models = {rung.module: trained(rung.module) for rung in ladder.RUNGS[:3]} | {"transformer_block": blocks()}
    arrays = {path: array.astype(np.float16) for path, array in backward.flattened(models)}
    np.savez_compressed(SOLUTIONS / "tour" / "ladder.npz", **arrays)
    for rung in ladder.RUNGS:
        loss = np.mean([ladder.nats(rung.module, name) for name in names.census()[1]])
        print(f"{rung.module}: {loss:.3f} nats per character")


if __name__ == "__main__":
    main()
