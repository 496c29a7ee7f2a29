"""The pictures of transformer.ipynb. Nothing here is graded, and you need not read it.

Each function draws one picture, with the functions of yours that it is given, and returns a matplotlib Figure. A
module of yours is an argument, so what you see is what your code does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from examples import walk
from tour import BLUE, GREEN, GREY, ORANGE, PALE, RED, canvas, grid, heat, label, outline, token

KINDS = {"plain": (GREY, ":"), "residual": (RED, "-."), "post-norm": (ORANGE, "--"), "pre-norm": (BLUE, "-")}


# Norms


def layer_norm_steps(
    layernorm: Any, x: Any, gamma: float = 1, beta: float = 0, stretch: float = 1, shift: float = 0
) -> Figure:
    raw = stretch * x + shift
    one, zero = np.ones(len(x)), np.zeros(len(x))
    steps = {
        "raw": (raw, GREY),
        "centred: x - mean": (raw - raw.mean(), ORANGE),
        "scaled: / sqrt(var + eps)": (layernorm.layer_norm(raw, one, zero), GREEN),
        "times gamma, plus beta": (layernorm.layer_norm(raw, gamma * one, zero + beta), BLUE),
    }
    title = f"One token, step by step: x stretched by {stretch:.2f} and shifted by {shift:.1f}"
    figure, axes = canvas(10, 2.9, 4, f"{title}, gamma {gamma:.1f}, beta {beta:.1f}", sharey=True)
    for axis, (name, (values, colour)) in zip(axes, steps.items(), strict=True):
        token(axis, values, colour, name)
    axes[0].set_ylim(-5.2, 5.2)
    return figure


def two_norms(layernorm: Any, x: Any, shift: float = 0) -> Figure:
    x, one = x + shift, np.ones(len(x))
    figure, axes = canvas(10, 2.7, 3, f"The same token, shifted by {shift:.1f}, under both norms", sharey=True)
    token(axes[0], x, GREY, "raw")
    token(axes[1], layernorm.layer_norm(x, one, 0 * one), GREEN, "layer norm")
    token(axes[2], layernorm.rms_norm(x, one), ORANGE, "RMS norm")
    axes[0].set_ylim(-6, 8)
    return figure


def small_variances(layernorm: Any, x: Any) -> Figure:
    """Output and gradient of layer norm for ever smaller copies of one token, with two values of eps."""
    figure, axes = canvas(10, 3, 3, "The same token, ever smaller: what eps does")
    variances, one = np.logspace(-10, 2, 49), np.ones(len(x))
    for eps, colour, style in ((1e-5, BLUE, "-"), (1e-6, ORANGE, "--")):
        shrunk = np.sqrt(variances / x.var())[:, np.newaxis] * x
        out = layernorm.layer_norm(shrunk, one, 0 * one, eps)
        slopes = [layernorm.layer_norm_backward(np.diag(one), np.tile(row, (len(x), 1)), one, eps)[0] for row in shrunk]
        lines = (out.var(axis=1), np.abs(out).max(axis=1), [np.linalg.norm(slope, 2) for slope in slopes])
        for axis, line in zip(axes, lines, strict=True):
            axis.semilogx(variances, line, color=colour, linestyle=style, label=f"eps = {eps:g}")
    axes[1].axhline(np.sqrt(len(x) - 1), color=GREY, linestyle=":")
    axes[1].text(1e-10, np.sqrt(len(x) - 1), r"$\sqrt{d-1}$, the most there can be", fontsize=8, va="bottom")
    axes[1].set_ylim(0, np.sqrt(len(x) - 1) + 0.4)
    axes[2].set_yscale("log")
    axes[0].legend(fontsize=8, frameon=False)
    label(axes[0], "variance of the output: var / (var + eps)", "variance of the input")
    label(axes[1], "largest entry of the output", "variance of the input")
    label(axes[2], "how steeply the output follows the input", "variance of the input")
    return figure


def sigmoid_zones(layernorm: Any, mean: float = 2, std: float = 3) -> Figure:
    z = mean + std * np.random.default_rng(0).normal(size=4000)
    normed = layernorm.layer_norm(z, np.ones(len(z)), np.zeros(len(z)))
    figure, axes = canvas(10, 2.8, 2, "4000 features on their way into a sigmoid", sharey=True)
    curve = np.linspace(-12, 16, 400)
    parts = ((z, GREY, f"raw: mean {mean:.1f}, std {std:.1f}"), (normed, GREEN, "after your layer norm"))
    for axis, (values, colour, title) in zip(axes, parts, strict=True):
        sigmoid = 1 / (1 + np.exp(-values))
        slope = sigmoid * (1 - sigmoid)
        share = f"mean slope {slope.mean():.3f}, below 0.05 for {np.mean(slope < 0.05):.0%}"
        axis.hist(values, bins=60, range=(-12, 16), weights=np.full(len(values), 4 / len(values)), color=colour)
        axis.plot(curve, 1 / (1 + np.exp(-curve)), color="black")
        label(axis, f"{title}\n{share}", "input of the sigmoid")
    axes[0].text(9, 0.9, "sigmoid", fontsize=8)
    axes[0].text(-11, 0.25, "bars: how many features\nlie here", fontsize=8)
    return figure


def both_norms_on_a_table(
    layernorm: Any, batchnorm: Any, x: Any, last_example: float = -1.0, padding_rows: int = 0, statistics: str = "both"
) -> Figure:
    """The table, its norms along rows and down columns, and what changes with one cell and with rows of padding."""
    n, d = x.shape
    one, zero = np.ones(d), np.zeros(d)
    changed = np.vstack([x, np.zeros((padding_rows, d))])
    changed[n - 1, 1] = last_example

    def normed(values: Any) -> list[Any]:
        batch = batchnorm.batch_norm(values, one, zero, zero, one, True)[0]
        return [values, layernorm.layer_norm(values, one, zero), batch]

    title = f"Example {n}, feature 2 is {last_example:.1f}; {padding_rows} rows of padding"
    figure, axes = canvas(10, 2.6 + 0.35 * len(changed), 3, title)
    lines, column = ["the table"], ("batch", len(changed), 1, GREEN, "green column")
    for kind, rows, columns, colour, name in (("layer", 1, d, BLUE, "blue row"), column):
        if statistics in ("both", kind):
            outline(axes[0], 0, 0, rows, columns, colour)
            mean, var = (moment[0, 0] for moment in batchnorm.norm_moments(changed, kind))
            lines.append(f"{name}: mean {mean:.2f}, variance {var:.2f}")
    frames = "framed: changed"
    titles = ["\n".join(lines), f"layer norm: along each row\n{frames}", f"batch norm: down each column\n{frames}"]
    for axis, values, before, title in zip(axes, normed(changed), normed(x), titles, strict=True):
        heat(axis, values, title, 3, across="feature", down="example")
        for i, j in np.argwhere(~np.isclose(values[:n], before, atol=1e-9)):
            outline(axis, i, j)
    return figure


def influences(batchnorm: Any, x: Any) -> Figure:
    figure, axes = canvas(9, 2.9, 3, "Who changes whom: a dot where example j changes normalised example i")
    titles = {"layer": "layer norm", "batch_train": "batch norm, training", "batch_eval": "batch norm, evaluation"}
    for axis, (kind, title) in zip(axes, titles.items(), strict=True):
        grid(axis, batchnorm.influence(x, kind), title, across="example j", down="example i")
    return figure


# Attention


def weights_of_cat(attention: Any, words: Sequence[str], query: Any, keys: Any, values: Any, printed: Any) -> Figure:
    """The weights that the notes print beside those of the student's attention, without and with the scale."""
    weights = [attention.scaled_dot_product_attention(query * f, keys, values)[1][0] for f in (3**0.5, 1)]
    names, colours, hatches = ("the notes", "unscaled", "scaled by 1 / sqrt(3)"), (GREY, ORANGE, BLUE), ("//", "", "")
    figure, axes = canvas(10, 2.8, 1, 'How much "cat" takes from each word')
    for i, heights in enumerate((printed, *weights)):
        places, name = np.arange(len(words)) + 0.27 * (i - 1), f"{names[i]}: sum {sum(heights):.3f}"
        axes[0].bar(places, heights, 0.25, color=colours[i], label=name, hatch=hatches[i])
        for place, height in zip(places, heights, strict=True):
            axes[0].text(place, height, f"{height:.3f}", ha="center", va="bottom", fontsize=7)
    axes[0].set_xticks(range(len(words)), words)
    axes[0].set_ylim(0, 0.31)
    axes[0].legend(fontsize=8, ncols=3, frameon=False, loc="upper right")
    label(axes[0], "", "word", "weight")
    return figure


def attention_steps(attention: Any, masks: Any, d_k: int = 16, scaled: bool = True, masked: bool = False) -> Figure:
    """Scores, scale, mask, weights and output of one head with random queries, keys and values."""
    t, rng = 5, np.random.default_rng(3)
    q, k, v = rng.normal(size=(t, d_k)), rng.normal(size=(t, d_k)), rng.normal(size=(t, 3))
    mask = masks.causal_mask(t) if masked else np.ones((t, t), dtype=bool)
    scores = q @ k.T
    divided = scores / d_k**0.5 if scaled else scores
    factor = 1 if scaled else d_k**0.5  # undoes the division
    output, weights = attention.scaled_dot_product_attention(q * factor, k, v, mask)
    wide, narrow = 3 * d_k**0.5, 3 if scaled else 3 * d_k**0.5
    size = f"d_k = {d_k}: the scores have a standard deviation of {scores.std():.1f}"
    figure, axes = canvas(13, 2.9, 5, f"{size}; the largest weights are {weights.max(axis=1).mean():.2f} on average")
    heat(axes[0], scores, "scores q k^T", wide, ".1f", across="key", down="query")
    heat(axes[1], divided, "divided by sqrt(d_k)" if scaled else "not divided", narrow, ".1f")
    hidden = masks.apply_mask(divided, mask) if masked else divided
    heat(axes[2], hidden, "masked" if masked else "no mask", narrow, ".1f")
    heat(axes[3], weights, "weights: softmax of each row", across="key", down="query")
    heat(axes[4], output, "output: weights times values", 2.5, across="feature")
    return figure


def sizes_of_scores(attention: Any) -> Figure:
    """How scores grow with d_k, and what that makes of the softmax, for three divisors."""
    rng, widths = np.random.default_rng(0), 2 ** np.arange(2, 11)
    figure, axes = canvas(10, 3.1, 2, "Scores of random queries and keys, 8 keys for each of 300 queries")
    sizes: dict[str, list[float]] = {"mean 0: typical size (std)": [], "mean 1: typical size (mean)": []}
    largest: dict[str, list[float]] = {"not divided": [], "divided by sqrt(d_k)": [], "divided by d_k": []}
    for d in widths:
        q, k = rng.normal(size=(300, d)), rng.normal(size=(300, 8, d))
        scores = np.einsum("nd,nkd->nk", q, k)
        shifted = np.einsum("nd,nkd->nk", q + 1, k + 1)
        for sizes_of, size in zip(sizes.values(), (scores.std(), shifted.mean()), strict=True):
            sizes_of.append(size)
        for weights_of, divisor in zip(largest.values(), (1, d**0.5, d), strict=True):
            weights_of.append(attention.softmax(scores / divisor).max(axis=-1).mean())
    for axis, lines in zip(axes, (sizes, largest), strict=True):
        for (name, line), colour, style in zip(lines.items(), (RED, BLUE, GREEN), ("o-", "s--", "^:"), strict=False):
            axis.plot(widths, line, style, color=colour, label=name, markersize=4)
        axis.set_xscale("log", base=2)
        axis.legend(fontsize=8, frameon=False)
    axes[0].set_yscale("log", base=2)
    axes[1].axhline(1 / 8, color=GREY, linewidth=0.8)
    axes[1].set_ylim(0, 1.05)
    label(axes[0], "size of a score", "d_k")
    label(axes[1], "largest of 8 weights, on average (1/8 is uniform)", "d_k")
    return figure


def dice(n: int = 2) -> Figure:
    """The distribution of the total of n dice."""
    chances = np.ones(1)
    for _ in range(n):
        chances = np.convolve(chances, np.full(6, 1 / 6))
    totals = np.arange(n, 6 * n + 1)
    mean = float(totals @ chances)
    std = float(totals**2 @ chances - mean**2) ** 0.5
    figure, axes = canvas(7, 2.6, 1, f"{n} dice: mean {mean:.1f}, standard deviation {std:.2f} = 1.71 sqrt({n})")
    axes[0].bar(totals, chances, color=BLUE)
    axes[0].axvspan(mean - std, mean + std, color=PALE, zorder=0)
    label(axes[0], f"all ones or all sixes: probability {2 / 6**n if n > 1 else 1 / 3:.2g}", "total", "probability")
    return figure


def two_heads(attention: Any, words: Sequence[str], d_model: int = 8) -> Figure:
    """The weights of two heads of the same random layer on the same tokens."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(words), d_model))
    q, k, v = (attention.split_heads(x @ rng.normal(0, 0.5, (d_model, d_model)), 2) for _ in range(3))
    weights = attention.scaled_dot_product_attention(q, k, v)[1]
    figure, axes = canvas(9, 3.4, 2, "Two heads, the same words, weights of their own")
    for h, axis in enumerate(axes):
        heat(axis, weights[h], f"head {h + 1}", across="key", down="query", words=list(words))
    return figure


# Masks


def masks_side_by_side(masks: Any, words: Sequence[str], length: int = 4) -> Figure:
    t = len(words)
    causal, padding = masks.causal_mask(t), masks.padding_mask(np.array([length]), t)[0]
    names: dict[str, Any] = {"across": "key", "down": "query", "words": list(words)}
    figure, axes = canvas(12, 3.3, 3, f"Who may look at whom, when the last {t - length} of {t} tokens are padding")
    grid(axes[0], causal, f"causal: {causal.sum()} True", **names)
    grid(axes[1], np.broadcast_to(padding, (t, t)), "padding: one row for all queries", **names)
    grid(axes[2], causal & padding, "both: causal & padding", **names)
    return figure


def before_or_after(attention: Any, masks: Any) -> Figure:
    """Hiding scores before the softmax, and zeroing weights after it."""
    scores = np.random.default_rng(5).normal(0, 1, (5, 5))
    mask = masks.causal_mask(5)
    right, wrong = attention.softmax(masks.apply_mask(scores, mask)), mask * attention.softmax(scores)
    figure, axes = canvas(9, 3, 2, "The weights of five queries under a causal mask")
    for axis, weights, title in ((axes[0], right, "mask, then softmax"), (axes[1], wrong, "softmax, then zeros")):
        heat(axis, weights, title, across="key", down="query")
        for i, total in enumerate(weights.sum(axis=1)):
            axis.text(4.6, i, f"sum {total:.2f}", fontsize=8, va="center")
    return figure


def dependencies(masks: Any, networks: Mapping[str, Callable[[Any], Any]], x: Any) -> Figure:
    figure, axes = canvas(2.1 * len(networks), 2.6, len(networks), "Which output depends on which input, by experiment")
    for axis, (name, network) in zip(axes, networks.items(), strict=True):
        found = masks.dependency_matrix(network, x)
        verdict = "autoregressive" if masks.is_autoregressive(network, x) else "SEES THE FUTURE"
        grid(axis, found, f"{name}\n{found.sum()} of {found.size}: {verdict}", RED, across="input")
    label(axes[0], axes[0].get_title(), "input", "output")
    return figure


# Blocks


def gradient_bars(blocks: Any, layers: int = 10, slope: float = -0.02, residuals: bool = True) -> Figure:
    """The gradient in a chain of scalar layers whose f has the same slope everywhere."""
    heights = blocks.gradient_flow(np.full((layers, 1, 1), slope), np.ones(1), residuals)
    factor = f"1 + ({slope:.2f})" if residuals else f"{slope:.2f}"
    title = f"Each layer multiplies the gradient by {factor}: at the input {heights[0]:.2g} is left"
    figure, axes = canvas(9, 2.7, 1, title)
    axes[0].bar(range(layers + 1), heights, color=BLUE if residuals else RED)
    axes[0].axhline(1, color="black", linestyle=":")
    names = [f"L{i + 1}" if layers <= 20 or (i % 5 == 4 and i < layers - 3) else "" for i in range(layers)] + ["out"]
    sizes = [f"\n{height:.2f}" if height >= 0.01 or height == 0 else f"\n{height:.0e}" for height in heights]
    if layers <= 16:
        names = [name + size for name, size in zip(names, sizes, strict=True)]
    axes[0].set_xticks(range(layers + 1), names)
    axes[0].set_ylim(0, max(1.15, 1.1 * float(heights.max())))
    label(axes[0], "", "gradient at the input of each layer; dotted: 1")
    return figure


def depth(layernorm: Any, blocks: Any, layers: int = 48, gain: float = 1.0) -> Figure:
    """Random networks of four kinds: the stream, what the sub-layers see, and the gradient, layer by layer."""

    def norm(x: Any) -> Any:
        return layernorm.layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))

    title = f"{layers} random sub-layers, each {gain:.1f} times as large as its input"
    figure, axes = canvas(12, 3.6, 3, f"{title}. Means of 3 networks")
    for kind, (colour, style) in KINDS.items():
        runs = [walk(kind, layers, gain, norm, blocks, seed) for seed in range(3)]
        with_sum = kind in ("residual", "pre-norm")
        lines = (
            [np.sqrt(np.mean(np.square(run["stream"]), axis=1)) for run in runs],
            [np.sqrt(np.mean(np.square(run["seen"]), axis=1)) for run in runs],
            [blocks.gradient_flow(run["jacobians"], run["grad_out"], with_sum) for run in runs],
        )
        for axis, line in zip(axes, lines, strict=True):
            axis.semilogy(np.exp(np.mean(np.log(line), axis=0)), style, color=colour, label=kind)
    label(axes[0], "size of the stream", "after layer")
    label(axes[1], "size of what the sub-layers see", "layer")
    label(axes[2], "length of the gradient", "at layer (0: the input)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return figure


# Decoder


def positions(decoder: Any, t: int = 40, d_model: int = 32) -> Figure:
    encoding = decoder.positional_encoding(t, d_model)
    figure, axes = canvas(11, 3, 2, f"{t} positions, {d_model} features: from fast waves to slow ones")
    axes[0].imshow(encoding.T, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    label(axes[0], "purple -1, white 0, orange 1", "position", "feature")
    for column, colour, style in ((0, BLUE, "-"), (1, ORANGE, "--"), (d_model // 2, GREEN, "-.")):
        axes[1].plot(encoding[:, column], style, color=colour, label=f"feature {column}")
    axes[1].legend(fontsize=8, frameon=False, loc="upper right", ncols=3)
    axes[1].set_ylim(-1.1, 1.6)
    label(axes[1], "three of the features", "position")
    return figure


def generation(decoder: Any, params: Any, words: Sequence[str], prompt: Sequence[int], new_tokens: int = 5) -> Figure:
    """Greedy generation: for each new token the context, the probabilities of all words, and the choice."""
    tokens = decoder.generate(np.array(prompt), params, 1, new_tokens, eos=len(words) - 1)
    text = [words[i] for i in tokens]
    contexts = range(len(prompt), len(tokens))
    title = " ".join([*text[: len(prompt)], "|", *text[len(prompt) :]])
    figure, axes = canvas(9, 1.6 + 0.42 * max(1, len(contexts)), 1, title)
    chances = np.zeros((max(1, len(contexts)), len(words)))
    for row, n in enumerate(contexts):
        known = decoder.sequence_log_prob(tokens[:n], params, 1)
        for word in range(len(words)):
            longer = decoder.sequence_log_prob(np.append(tokens[:n], word), params, 1)
            chances[row, word] = np.exp(longer - known)
    heat(axes[0], chances, "")
    axes[0].set_xticks(range(len(words)), words)
    axes[0].set_yticks(range(len(chances)), [" ".join(text[:n]) for n in contexts] or ["(nothing new)"])
    label(axes[0], "what comes next, given the words on the left; framed: chosen", "probability of the next word")
    for row, n in enumerate(contexts):
        outline(axes[0], row, int(tokens[n]))
    return figure


def losses(values: Sequence[float], after: str = "") -> Figure:
    figure, axes = canvas(7, 2.6, 1, f"Minus log-probability, from {values[0]:.2f} down to {values[-1]:.2f}")
    axes[0].plot(values, "o-", color=BLUE, markersize=3)
    axes[0].set_ylim(0, None)
    label(axes[0], after, "gradient step", "loss")
    return figure
