"""The whole decoder on a batch of texts: forward pass, backward pass and AdamW. Section 9 of the notebook explains it.

Your layer_norm, layer_norm_backward, softmax, scaled_dot_product_attention, split_heads, merge_heads, causal_mask,
feed_forward, positional_encoding and embed do the work.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import causal_mask
import decoder
import layernorm
import scaled_attention
import transformer_block
from tour.corpus import batch

# The notebook shows functions of this file, and JupyterLab has room for 88 columns.
# fmt: off

Array = Any  # np.ndarray
Params = dict[str, Any]

# The forward pass: it keeps everything that the backward pass needs.


@dataclass(frozen=True)
class Design:
    """The architecture. The defaults are your decoder; each of the others leaves out one part, or moves the norms."""

    width: int = 48
    heads: int = 4
    hidden: int = 96
    blocks: int = 3
    mask: bool = True
    residuals: bool = True
    positions: bool = True
    norm: str = "pre"  # "pre", "post" or "none"


DESIGNS = {
    "complete": Design(),
    "without norms": Design(norm="none"),
    "without the mask": Design(mask=False),
    "without residuals": Design(residuals=False),
    "without positions": Design(positions=False),
    "post-norm": Design(norm="post"),
}


def initial_parameters(
    design: Design, vocabulary: int, rng: np.random.Generator
) -> Params:
    """Random Gaussian weights, float32; the last matrix of a sub-layer is smaller, since many are added."""
    d, last = design.width, (2 * design.blocks) ** -0.5

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Array:
        return (scale * rows**-0.5 * rng.normal(size=(rows, columns))).astype(
            np.float32
        )

    def vector(n: int, value: float = 0.0) -> Array:
        return np.full(n, value, np.float32)

    def block() -> Params:
        return {
            "ln_1": {"gamma": vector(d, 1.0), "beta": vector(d)},
            "attention": {name: matrix(d, d) for name in ("w_q", "w_k", "w_v")}
            | {"w_o": matrix(d, d, last)},
            "ln_2": {"gamma": vector(d, 1.0), "beta": vector(d)},
            "ffn": {
                "w_1": matrix(d, design.hidden),
                "b_1": vector(design.hidden),
                "w_2": matrix(design.hidden, d, last),
                "b_2": vector(d),
            },
        }

    return {
        "embedding": matrix(vocabulary, d, 0.5 * vocabulary**0.5),
        "blocks": [block() for _ in range(design.blocks)],
        "w_out": matrix(
            d, vocabulary, 0.1
        ),  # so that at first all characters are about equally likely
        "b_out": vector(vocabulary),
    }


def linear(x: Array, w: Array, b: Array | float = 0.0) -> Array:
    """Return the same affine map for every position."""
    return x @ w + b


def projections(w: Params) -> Array:
    """Return the matrices of queries, keys and values, concatenated as in GPT-2: one product instead of three."""
    return np.concatenate([w["w_q"], w["w_k"], w["w_v"]], axis=1)


def attention(
    x: Array, w: Params, n_heads: int, mask: Array | None
) -> tuple[Array, tuple[Any, ...]]:
    """Multi-head attention: the result, and what its backward pass needs."""
    all_heads = scaled_attention.split_heads(x @ projections(w), 3 * n_heads)
    q, k, v = np.split(all_heads, 3, axis=-3)
    heads, weights = scaled_attention.scaled_dot_product_attention(q, k, v, mask=mask)
    merged = scaled_attention.merge_heads(heads)
    return linear(merged, w["w_o"]), (x, q, k, v, weights, merged)


def feed_forward(x: Array, w: Params) -> tuple[Array, tuple[Any, ...]]:
    """Return the feed-forward network, in two halves: the result, and what its backward pass needs.

    With the identity as its second matrix, your feed_forward returns the hidden layer.
    """
    n = len(w["w_2"])
    hidden = transformer_block.feed_forward(
        x, w | {"w_2": np.eye(n, dtype=x.dtype), "b_2": np.zeros(n, x.dtype)}
    )
    return linear(hidden, w["w_2"], w["b_2"]), (x, hidden)


def sublayer(
    x: Array, ln: Params, f: Callable[..., Any], design: Design
) -> tuple[Array, tuple[Any, ...]]:
    """Pre-norm: x + f(LN(x)). Post-norm: LN(x + f(x)). Without norms: x + f(x). Without residuals, x is not added."""
    y, cache = f(
        layernorm.layer_norm(x, ln["gamma"], ln["beta"]) if design.norm == "pre" else x
    )
    total = x + y if design.residuals else y
    if design.norm == "post":
        return layernorm.layer_norm(total, ln["gamma"], ln["beta"]), (total, cache)
    return total, (x, cache)


def forward(params: Params, inputs: Array, design: Design) -> tuple[Array, Any]:
    """The logits (n, t, vocabulary) of a batch, and what the backward pass needs."""
    n, t = inputs.shape
    x = decoder.embed(inputs.reshape(n * t), params["embedding"]).reshape(
        n, t, design.width
    )
    if design.positions:
        x = x + decoder.positional_encoding(t, design.width).astype(x.dtype)
    mask = causal_mask.causal_mask(t) if design.mask else None
    cache = []
    for block in params["blocks"]:
        x, first = sublayer(
            x,
            block["ln_1"],
            lambda x, b=block: attention(x, b["attention"], design.heads, mask),
            design,
        )
        x, second = sublayer(
            x, block["ln_2"], lambda x, b=block: feed_forward(x, b["ffn"]), design
        )
        cache.append((first, second))
    return linear(x, params["w_out"], params["b_out"]), (x, cache)


# The backward pass: each function gets the gradient with respect to a result, and returns those with respect to
# what the result was computed from.


def weight_gradient(x: Array, grad: Array) -> Array:
    """For y = x @ w: the gradient with respect to w, summed over the batch."""
    return x.reshape(-1, x.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])


def cross_entropy(logits: Array, targets: Array) -> tuple[float, Array]:
    """The mean loss per character, and its gradient: probabilities minus truth."""
    p = scaled_attention.softmax(logits)
    counts = targets >= 0
    n = counts.sum()
    loss = -np.log(p[counts, targets[counts]] + 1e-30).mean()
    grad = p * counts[..., np.newaxis] / logits.dtype.type(n)
    grad[counts, targets[counts]] -= 1 / n
    return float(loss), grad


def feed_forward_backward(
    grad: Array, w: Params, cache: tuple[Any, ...]
) -> tuple[Array, Params]:
    x, hidden = cache
    # relu passes on the gradient where its input was positive
    grad_hidden = (grad @ w["w_2"].T) * (hidden > 0)
    grads = {
        "w_1": weight_gradient(x, grad_hidden),
        "b_1": grad_hidden.sum(axis=(0, 1)),
        "w_2": weight_gradient(hidden, grad),
        "b_2": grad.sum(axis=(0, 1)),
    }
    return grad_hidden @ w["w_1"].T, grads


def attention_backward(
    grad: Array, w: Params, cache: tuple[Any, ...]
) -> tuple[Array, Params]:
    x, q, k, v, weights, merged = cache
    grads = {"w_o": weight_gradient(merged, grad)}
    grad_heads = scaled_attention.split_heads(grad @ w["w_o"].T, q.shape[-3])
    grad_v = weights.swapaxes(-1, -2) @ grad_heads
    grad_weights = grad_heads @ v.swapaxes(-1, -2)
    mean = (weights * grad_weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - mean) / math.sqrt(q.shape[-1])
    grad_q, grad_k = grad_scores @ k, grad_scores.swapaxes(-1, -2) @ q
    grad_heads = np.concatenate([grad_q, grad_k, grad_v], axis=-3)
    grad_projected = scaled_attention.merge_heads(grad_heads)
    grad_w = weight_gradient(x, grad_projected)
    grads["w_q"], grads["w_k"], grads["w_v"] = np.split(grad_w, 3, axis=1)
    return grad_projected @ projections(w).T, grads


def sublayer_backward(
    grad: Array,
    ln: Params,
    f_backward: Callable[..., Any],
    w: Params,
    cache: tuple[Any, ...],
    design: Design,
) -> tuple[Array, Params, Params]:
    x, inner = cache
    grad_gamma = grad_beta = np.zeros_like(ln["gamma"])  # unless there is a norm
    if design.norm == "post":
        grad, grad_gamma, grad_beta = layernorm.layer_norm_backward(
            grad, x, ln["gamma"]
        )
    through_f, grads = f_backward(grad, w, inner)
    if design.norm == "pre":
        through_f, grad_gamma, grad_beta = layernorm.layer_norm_backward(
            through_f, x, ln["gamma"]
        )
    total = grad + through_f if design.residuals else through_f
    return total, grads, {"gamma": grad_gamma, "beta": grad_beta}


def loss_and_gradient(
    params: Params, inputs: Array, targets: Array, design: Design
) -> tuple[float, Params]:
    """Return the loss of a batch, and its gradient in the form of params."""
    logits, (x, cache) = forward(params, inputs, design)
    loss, grad_logits = cross_entropy(logits, targets)
    grads = {"w_out": weight_gradient(x, grad_logits), "blocks": []}
    grads["b_out"] = grad_logits.sum(axis=(0, 1))
    grad = grad_logits @ params["w_out"].T
    for block, (first, second) in zip(
        reversed(params["blocks"]), reversed(cache), strict=True
    ):
        grad, ffn, ln_2 = sublayer_backward(
            grad, block["ln_2"], feed_forward_backward, block["ffn"], second, design
        )
        grad, heads, ln_1 = sublayer_backward(
            grad, block["ln_1"], attention_backward, block["attention"], first, design
        )
        grads["blocks"].insert(
            0, {"ln_1": ln_1, "attention": heads, "ln_2": ln_2, "ffn": ffn}
        )
    grads["embedding"] = np.zeros_like(params["embedding"])
    # A character that occurs twice gets both gradients.
    np.add.at(grads["embedding"], inputs, grad)
    return loss, grads


# The optimiser.


def flattened(tree: Any, path: str = "") -> Iterator[tuple[str, Array]]:
    """Every array of parameters or gradients with its path, such as blocks/0/ln_1/gamma, in a fixed order."""
    if isinstance(tree, dict | list):
        for key, subtree in (
            sorted(tree.items()) if isinstance(tree, dict) else enumerate(tree)
        ):
            yield from flattened(subtree, f"{path}/{key}" if path else str(key))
    else:
        yield path, tree


def leaves(tree: Any) -> list[Array]:
    """Return the arrays alone."""
    return [array for _, array in flattened(tree)]


def in_precision(tree: Any, dtype: Any) -> Any:
    """Copy the parameters to new arrays with this dtype."""
    if isinstance(tree, dict):
        return {key: in_precision(subtree, dtype) for key, subtree in tree.items()}
    return (
        [in_precision(subtree, dtype) for subtree in tree]
        if isinstance(tree, list)
        else tree.astype(dtype)
    )


def copied(params: Params) -> Params:
    """Return the same parameters in new arrays."""
    same: Params = in_precision(params, params["w_out"].dtype)
    return same


class AdamW:
    """Each parameter moves against the running mean of its gradient, divided by the
    root of the running mean square.

    Weight decay pulls the entries of matrices towards 0, independently of the gradient.
    """

    beta_1, beta_2 = 0.9, 0.98

    def __init__(self, params: Params, decay: float = 1.0):
        self.decay, self.steps = decay, 0
        self.mean = [np.zeros_like(p) for p in leaves(params)]
        self.square = [np.zeros_like(p) for p in leaves(params)]

    def step(self, params: Params, grads: Params, rate: float) -> None:
        """Change params in place."""
        self.steps += 1
        unbias_1, unbias_2 = 1 - self.beta_1**self.steps, 1 - self.beta_2**self.steps
        arrays = leaves(params), leaves(grads), self.mean, self.square
        for p, g, mean, square in zip(*arrays, strict=True):
            mean += (1 - self.beta_1) * (g - mean)
            square += (1 - self.beta_2) * (g * g - square)
            if p.ndim > 1:
                p -= rate * self.decay * p
            p -= rate * (mean / unbias_1) / (np.sqrt(square / unbias_2) + 1e-8)


def learning_rate(step: int, steps: int, highest: float) -> float:
    """Return a linear warm-up over the first 100 steps (or a tenth), then half a cosine down to 0."""
    warm_up = max(1, min(100, steps // 10))
    return (
        highest
        * min(1, step / warm_up)
        * 0.5
        * (1 + math.cos(math.pi * min(1, step / steps)))
    )


# The check of the gradient.


def gradient_check(
    design: Design | None = None, entries: int = 20, seed: int = 0
) -> dict[str, tuple[int, float]]:
    """Return, for each part of a small decoder in float64, how many weights were tried, and the largest difference
    between the gradient and finite differences of the loss."""
    design = replace(design or Design(), width=8, heads=2, hidden=12, blocks=2)
    rng = np.random.default_rng(seed)
    params = in_precision(initial_parameters(design, 5, rng), float)
    inputs, targets = batch(["abca", "dd", "bcdab"], "\nabcd")
    _, grads = loss_and_gradient(params, inputs, targets, design)
    gaps: dict[str, tuple[int, float]] = {}
    for (path, p), (_, g) in zip(flattened(params), flattened(grads), strict=True):
        name = path.split("/")[2] if path.startswith("blocks") else path
        for i in rng.choice(p.size, min(p.size, entries), replace=False):
            index = np.unravel_index(i, p.shape)
            gap = abs(slope(params, p, index, inputs, targets, design) - g[index])
            tried, worst = gaps.get(name, (0, 0.0))
            gaps[name] = tried + 1, max(worst, float(gap))
    return gaps


def slope(
    params: Params,
    p: Array,
    index: Any,
    inputs: Array,
    targets: Array,
    design: Design,
    step: float = 1e-5,
) -> float:
    """The central difference of the loss with respect to one weight, an entry of p."""
    original, losses = p[index], []
    for change in (step, -step):
        p[index] = original + change
        losses.append(cross_entropy(forward(params, inputs, design)[0], targets)[0])
    p[index] = original
    return (losses[0] - losses[1]) / (2 * step)
