"""Pictures of attention and of masks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tour.plotting import BLUE, GREEN, GREY, PALE, RED, bars, canvas, grid, heat, label, legend
from tour.tables import short

SENTENCE = ("The", "cat", "sat", "on", "it")  # labels of the rows and columns of weight tables


def weights_of_cat(attention: Any, words: Sequence[str], query: Any, keys: Any, values: Any) -> Figure:
    """Draw the weights of a query, without and with the scale."""
    weights = [attention.scaled_dot_product_attention(query * f, keys, values)[1][0] for f in (3**0.5, 1)]
    names, colours, hatches = ("unscaled", "scaled by 1/√3"), (GREEN, BLUE), ("//", "")
    figure, axes = canvas(10, 2.9, 1, 'How much "cat" takes from each word')
    for i, heights in enumerate(weights):
        places, name = np.arange(len(words)) + 0.36 * (i - 0.5), f"{names[i]}: sum {sum(heights):.3f}"
        axes[0].bar(places, heights, 0.34, color=colours[i], label=name, hatch=hatches[i], edgecolor="white")
        for place, height in zip(places, heights, strict=True):
            axes[0].text(place, height, f"{height:.3f}", ha="center", va="bottom", fontsize=8)
    axes[0].set_xticks(range(len(words)), words)
    axes[0].set_ylim(0, max(0.31, 1.3 * np.max(weights)))
    legend(axes[0], ncols=3, loc="upper right")
    label(axes[0], "", "word", "weight")
    return figure


def weighted_sum(attention: Any, words: Sequence[str], query: Any, keys: Any, values: Any) -> Figure:
    """Draw the output of a query, dimension by dimension: each word's weight times its value, and their sum."""
    output, weights = (part[0] for part in attention.scaled_dot_product_attention(query, keys, values))
    figure, axes = canvas(
        10, 2.9, 3, "The output, dimension by dimension: each bar is a weight times a value", sharey=True
    )
    for j, axis in enumerate(axes):
        bars(axis, weights * values[:, j], ".3f", color=BLUE)
        axis.set_xticks(range(1, len(words) + 1), words)
        label(
            axis, f"dimension {j + 1}: the bars sum to {output[j]:.4f}", "word", "weight times value" if not j else ""
        )
    axes[0].set_ylim(0, max(0.25, 1.2 * np.max(weights)))
    return figure


def attention_steps(attention: Any, masks: Any, d_k: int = 16, scaled: bool = True, masked: bool = False) -> Figure:
    """Scores, scale, mask, weights and output of one head with random queries, keys and values."""
    t, rng = 5, np.random.default_rng(3)
    q, k, v = rng.normal(size=(t, d_k)), rng.normal(size=(t, d_k)), rng.normal(size=(t, 3))
    mask = masks.causal_mask(t) if masked else np.ones((t, t), dtype=bool)
    scores = q @ k.T
    divided = scores / d_k**0.5 if scaled else scores
    factor = 1 if scaled else d_k**0.5  # undoes the division
    output, weights = attention.scaled_dot_product_attention(q * factor, k, v, mask=mask)
    wide = 3 * d_k**0.5
    panels = [(scores, "scores q kᵀ", wide, ".0f")]
    if scaled:
        panels.append((divided, "divided by √d_k", 3, ".1f"))
    if masked:
        panels.append((masks.apply_mask(divided, mask), "masked", 3 if scaled else wide, ".1f" if scaled else ".0f"))
    panels += [
        (weights, "weights: softmax", 0, ".2f"),
        (output, "output: average", 2.5, ".1f"),
    ]
    size = f"d_k = {d_k}: the scores have a standard deviation of {scores.std():.1f}"
    title = f"{size}; the largest weights are {weights.max(axis=1).mean():.2f} on average"
    figure, axes = canvas(10.4, 2.7, len(panels), title)
    for axis, (values, name, limit, form) in zip(axes, panels, strict=True):
        across = "feature" if values is output else "key"
        heat(axis, values, name, limit, form, values is weights, across=across, down="query", words=SENTENCE)
    return figure


def sizes_of_scores(attention: Any) -> Figure:
    """How scores grow with d_k, the effect on the weights, and how strongly the weights react to a change of the query."""
    rng, widths = np.random.default_rng(0), 2 ** np.arange(2, 11)
    figure, axes = canvas(10.4, 3.4, 3, "Scores of random queries and keys, 8 keys for each of 400 queries")
    sizes: dict[str, list[float]] = {"mean 0: typical size (std)": [], "mean 1: typical size (mean)": []}
    largest: dict[str, list[float]] = {"not divided": [], "divided by √d_k": [], "divided by d_k": []}
    slopes: dict[str, list[Any]] = {name: [] for name in largest}
    for d in widths:
        q, k = rng.normal(size=(400, d)), rng.normal(size=(400, 8, d))
        scores = np.einsum("nd,nkd->nk", q, k)
        shifted = np.einsum("nd,nkd->nk", q + 1, k + 1)
        for sizes_of, size in zip(sizes.values(), (scores.std(), shifted.mean()), strict=True):
            sizes_of.append(size)
        for name, divisor in zip(largest, (1, d**0.5, d), strict=True):
            weights = attention.softmax(scores / divisor)
            largest[name].append(weights.max(axis=-1).mean())
            slopes[name].append(np.quantile(query_slopes(weights, k / divisor), (0.1, 0.5, 0.9)))
    styles = list(zip((RED, BLUE, GREEN), ("o-", "s--", "^:"), strict=True))
    for axis, lines in zip(axes[:2], (sizes, largest), strict=True):
        for (name, line), (colour, style) in zip(lines.items(), styles, strict=False):
            axis.plot(widths, line, style, color=colour, label=name, markersize=4)
        legend(axis)
    for (name, line), (colour, style) in zip(slopes.items(), styles, strict=True):
        low, middle, high = np.maximum(np.array(line).T, 1e-12)
        axes[2].fill_between(widths, low, high, color=colour, alpha=0.2, linewidth=0)
        axes[2].plot(widths, middle, style, color=colour, label=name, markersize=4)
    for axis in axes:
        axis.set_xscale("log", base=2)
    axes[0].set_yscale("log", base=2)
    axes[1].axhline(1 / 8, color=GREY, linewidth=0.8)
    axes[1].set_ylim(0, 1.3)
    axes[2].set_yscale("log")
    axes[2].set_ylim(1e-5, 20)
    label(axes[0], "magnitude of a score", "d_k")
    label(axes[1], "largest of 8 weights, on average\n(grey: 1/8, all weights equal)", "d_k")
    label(axes[2], "how strongly the weights react to the query\n(line: median, band: 80 % of the queries)", "d_k")
    return figure


def query_slopes(weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the norm of d weights / d query, (n,), for weights (n, k) and keys (n, k, d) divided as the scores are."""
    jacobians = weights[:, :, np.newaxis] * (np.eye(weights.shape[1]) - weights[:, np.newaxis, :])
    products = keys @ keys.swapaxes(-1, -2)
    squares = np.einsum("nij,njk,nik->n", jacobians, products, jacobians)
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


def dice(n: int = 2) -> Figure:
    """Draw the distribution of the total of n dice."""
    chances = np.ones(1)
    for _ in range(n):
        chances = np.convolve(chances, np.full(6, 1 / 6))
    totals = np.arange(n, 6 * n + 1)
    mean = float(totals @ chances)
    std = float(totals**2 @ chances - mean**2) ** 0.5
    figure, axes = canvas(
        7,
        2.7,
        1,
        f"{n} {'dice' if n > 1 else 'die'}: mean {mean:.1f}, standard deviation {std:.2f} = {std / n**0.5:.2f} √{n}",
    )
    axes[0].bar(totals, chances, color=BLUE)
    axes[0].axvspan(mean - std, mean + std, color=PALE, zorder=0, label="mean, one deviation on either side")
    legend(axes[0], loc="upper left", bbox_to_anchor=(0, 1.02))
    axes[0].set_ylim(0, 1.35 * chances.max())
    label(axes[0], f"all ones or all sixes: probability {short(2 / 6**n, 2)}", "total", "probability")
    return figure


def two_heads(attention: Any, words: Sequence[str], d_model: int = 8) -> Figure:
    """Draw the weights of two heads of the same random layer on the same tokens."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(words), d_model))
    q, k, v = (attention.split_heads(x @ rng.normal(0, 0.5, (d_model, d_model)), 2) for _ in range(3))
    weights = attention.scaled_dot_product_attention(q, k, v)[1]
    figure, axes = canvas(9, 3.5, 2, "Two heads with random matrices: the same words, different weights")
    for h, axis in enumerate(axes):
        heat(axis, weights[h], f"head {h + 1}", largest=True, across="key", down="query", words=list(words))
    return figure


def similarity(attention: Any, angle: int = 40, norm: float = 2.0) -> Figure:
    """Draw a query that turns among eight keys, its dot products with them, and the weights that follow."""
    directions = np.deg2rad(45 * np.arange(8))
    keys = np.stack([np.cos(directions), np.sin(directions)], axis=1)
    turned = np.deg2rad(angle)
    query = norm * np.array([[np.cos(turned), np.sin(turned)]])
    weights = attention.scaled_dot_product_attention(query, keys, keys)[1][0]
    figure, axes = canvas(10, 3, 3, f"A query of norm {norm:.1f} at {angle} degrees among eight keys of norm 1")
    ground = {
        "facecolor": "white",
        "edgecolor": "none",
        "pad": 0.5,
    }  # so that the query does not cover the number of a key
    for i, (x, y) in enumerate(keys):
        axes[0].annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": GREY})
        axes[0].text(1.2 * x, 1.2 * y, str(i + 1), ha="center", va="center", fontsize=8.5, zorder=5, bbox=ground)
    axes[0].annotate("", query[0], (0, 0), arrowprops={"arrowstyle": "-|>", "color": BLUE, "linewidth": 2.5})
    axes[0].set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
    label(axes[0], "blue: the query; grey: the keys", "feature 1", "feature 2")
    shown = ((axes[1], (query @ keys.T)[0], "dot products", ".2f"), (axes[2], weights, "weights", ".3f"))
    for axis, heights, title, form in shown:
        bars(axis, heights, form, color=BLUE)
        axis.set_xticks(range(1, 9))
        label(axis, title, "key")
    axes[1].set_ylim(-5, 5)
    axes[2].set_ylim(0, 1.1)
    return figure


# Masks


def masks_side_by_side(masks: Any, words: Sequence[str], length: int = 4) -> Figure:
    t = len(words)
    causal, padding = masks.causal_mask(t), masks.padding_mask(np.array([length]), t)[0]
    names: dict[str, Any] = {"across": "key", "down": "query", "words": list(words)}
    figure, axes = canvas(
        10.4, 3.3, 3, f"Which token may attend to which, if the last {t - length} of {t} tokens are padding"
    )
    grid(axes[0], causal, f"causal: {causal.sum()} True", **names)
    grid(axes[1], np.broadcast_to(padding, (t, t)), "padding: one row for all queries", **names)
    grid(axes[2], causal & padding, "both: causal & padding", **names)
    return figure


def before_or_after(attention: Any, masks: Any, hidden_score: float = 1.0) -> Figure:
    """Hiding scores before the softmax, and zeroing weights after it; one future score can be changed."""
    scores = np.random.default_rng(5).normal(0, 1, (5, 5))
    scores[1, 4] = hidden_score
    mask = masks.causal_mask(5)
    right, wrong = attention.softmax(masks.apply_mask(scores, mask)), mask * attention.softmax(scores)
    title = f"The score that 'cat' gives to 'it', which is in its future, is {hidden_score:.1f}"
    figure, axes = canvas(10.4, 2.9, 3, title)
    limit = max(3.0, abs(hidden_score))
    heat(axes[0], scores, "scores", limit, ".1f", across="key", down="query", words=SENTENCE)
    for axis, weights, name in ((axes[1], right, "mask, then softmax"), (axes[2], wrong, "softmax, then zeros")):
        heat(axis, weights, name, largest=True, across="key", down="query", words=SENTENCE)
        for i, total in enumerate(weights.sum(axis=1)):
            axis.text(4.6, i, f"sum {total:.2f}", fontsize=8.5, va="center")
    return figure


def dependencies(masks: Any, networks: Mapping[str, Callable[[Any], Any]], x: Any) -> Figure:
    figure, axes = canvas(2.35 * len(networks), 2.8, len(networks), "Which output depends on which input")
    for axis, (name, network) in zip(axes, networks.items(), strict=True):
        found = masks.dependency_matrix(network, x)
        verdict = "autoregressive" if masks.is_autoregressive(network, x) else "SEES THE FUTURE"
        grid(axis, found, f"{name}\n{found.sum()} of {found.size}: {verdict}", RED, across="input", down="output")
    return figure
