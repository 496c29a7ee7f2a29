"""Pictures of layer norm, RMS norm and batch norm."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tour.plotting import BLUE, GREEN, GREY, PURPLE, RED, bars, canvas, grid, heat, label, legend, outline, token

STAGES = ("all", "1 raw", "2 centred", "3 normalised", "4 scaled")


def layer_norm_steps(
    layernorm: Any, x: Any, gamma: float = 1, beta: float = 0, stretch: float = 1, shift: float = 0, step: str = "all"
) -> Figure:
    """Draw a token in the steps of layer norm: raw, centred, normalised, scaled and shifted."""
    raw = stretch * x + shift
    one, zero = np.ones(len(x)), np.zeros(len(x))
    stages = (
        (raw, GREY, "1 raw: x"),
        (raw - raw.mean(), PURPLE, "2 centred: x - mean"),
        (layernorm.layer_norm(raw, one, zero), GREEN, "3 normalised: / √(var + eps)"),
        (layernorm.layer_norm(raw, gamma * one, zero + beta), BLUE, "4 scaled: times gamma, plus beta"),
    )
    shown = stages if step == "all" else stages[int(step[0]) - 1 : int(step[0])]
    title = f"x stretched by {stretch:.1f} and shifted by {shift:.1f}; gamma {gamma:.1f}, beta {beta:.1f}"
    figure, axes = canvas(10.4, 3.1, len(shown), title, sharey=True)
    for axis, (values, colour, name) in zip(axes, shown, strict=True):
        token(axis, values, colour, name)
    axes[0].set_ylim(-6.2, 6.2)
    return figure


def two_norms(layernorm: Any, x: Any, shift: float = 0) -> Figure:
    x, one = x + shift, np.ones(len(x))
    figure, axes = canvas(10, 2.9, 3, f"The same token, shifted by {shift:.1f}, under both norms", sharey=True)
    token(axes[0], x, GREY, "raw")
    token(axes[1], layernorm.layer_norm(x, one, 0 * one), GREEN, "layer norm")
    token(axes[2], layernorm.rms_norm(x, one), BLUE, "RMS norm")
    axes[0].set_ylim(-8.4, 8.4)
    return figure


def small_variances(layernorm: Any, x: Any) -> Figure:
    """Output and gradient of layer norm for smaller and smaller copies of one token, for two values of eps and for none."""
    figure, axes = canvas(
        10.4, 3.2, 3, f"The token {x.astype(int).tolist()}, scaled down further and further: the effect of eps"
    )
    variances, one = np.logspace(-10, 2, 49), np.ones(len(x))
    for eps, colour, style in ((1e-5, BLUE, "-"), (1e-6, GREEN, "--"), (0.0, RED, ":")):
        shrunk = np.sqrt(variances / x.var())[:, np.newaxis] * x
        out = layernorm.layer_norm(shrunk, one, 0 * one, eps=eps)
        slopes = [
            layernorm.layer_norm_backward(np.diag(one), np.tile(row, (len(x), 1)), one, eps=eps)[0] for row in shrunk
        ]
        lines = (out.var(axis=1), np.abs(out).max(axis=1), [np.linalg.norm(slope, 2) for slope in slopes])
        for axis, line in zip(axes, lines, strict=True):
            axis.semilogx(variances, line, color=colour, linestyle=style, label=f"eps = {eps:g}")
    axes[1].axhline(np.sqrt(len(x) - 1), color=GREY, linewidth=0.8)
    axes[1].text(1e-10, np.sqrt(len(x) - 1), r"$\sqrt{d-1}$, the maximum", fontsize=8.5, va="bottom")
    axes[1].set_ylim(0, np.sqrt(len(x) - 1) + 0.4)
    axes[2].set_yscale("log")
    legend(axes[0])
    label(axes[0], "variance of the output", "variance of the input")
    label(axes[1], "largest entry of the output", "variance of the input")
    label(axes[2], "norm of the Jacobian", "variance of the input")
    return figure


def sigmoid_zones(layernorm: Any, mean: float = 2, std: float = 3) -> Figure:
    z = mean + std * np.random.default_rng(0).normal(size=4000)
    normed = layernorm.layer_norm(z, np.ones(len(z)), np.zeros(len(z)))
    figure, axes = canvas(10, 3, 2, "4000 features entering a sigmoid", sharey=True)
    curve = np.linspace(-12, 16, 400)
    parts = ((z, GREY, f"raw: mean {mean:.1f}, std {std:.1f}"), (normed, GREEN, "after your layer norm"))
    for axis, (values, colour, title) in zip(axes, parts, strict=True):
        sigmoid = 1 / (1 + np.exp(-values))
        slope = sigmoid * (1 - sigmoid)
        share = f"mean slope {slope.mean():.3f}; the slope is below 0.05 for {np.mean(slope < 0.05):.1%}"
        axis.hist(values, bins=60, range=(-12, 16), weights=np.full(len(values), 4 / len(values)), color=colour)
        axis.plot(curve, 1 / (1 + np.exp(-curve)), color="black")
        label(axis, f"{title}\n{share}", "input of the sigmoid")
    axes[0].set_ylim(0, 1.1)
    axes[0].text(9, 0.9, "sigmoid", fontsize=8.5)
    axes[0].text(-11.5, 0.3, "bars: number\nof features", fontsize=8.5)
    return figure


def both_norms_on_a_table(
    layernorm: Any, batchnorm: Any, x: Any, last_example: float = -1.0, padding_rows: int = 0, statistics: str = "both"
) -> Figure:
    """Draw the table, its norms along rows and down columns, and what changes with one cell and with rows of padding."""
    n, d = x.shape
    one, zero = np.ones(d), np.zeros(d)
    changed = np.vstack([x, np.zeros((padding_rows, d))])
    changed[n - 1, 1] = last_example

    def normed(values: Any) -> list[Any]:
        batch = batchnorm.batch_norm(values, one, zero, zero, one, True)[0]
        return [values, layernorm.layer_norm(values, one, zero), batch]

    title = f"Example {n}, feature 2 is {last_example:.1f}; {padding_rows} rows of padding"
    figure, axes = canvas(10.4, 2.6 + 0.35 * len(changed), 3, title)
    lines, column = ["the table"], ("batch", len(changed), 1, GREEN, "green column")
    for kind, rows, columns, colour, name in (("layer", 1, d, BLUE, "blue row"), column):
        if statistics in ("both", kind):
            outline(axes[0], 0, 0, rows, columns, colour)
            mean, var = (moment[0, 0] for moment in batchnorm.norm_moments(changed, kind))
            lines.append(f"{name}: mean {mean:.2f}, variance {var:.2f}")
    frames = "framed: changed by your sliders"
    titles = ["\n".join(lines), f"layer norm: along each row\n{frames}", f"batch norm: down each column\n{frames}"]
    for axis, values, before, title in zip(axes, normed(changed), normed(x), titles, strict=True):
        heat(axis, values, title, 3, across="feature", down="example")
        if axis is not axes[0]:
            for i, j in np.argwhere(~np.isclose(values[:n], before, atol=1e-9)):
                outline(axis, i, j)
    return figure


def influences(batchnorm: Any, x: Any) -> Figure:
    figure, axes = canvas(9, 3, 3, "Which example affects which: a dot where example j changes normalised example i")
    titles = {"layer": "layer norm", "batch_train": "batch norm, training", "batch_eval": "batch norm, evaluation"}
    for axis, (kind, title) in zip(axes, titles.items(), strict=True):
        grid(axis, batchnorm.influence(x, kind), title, across="example j", down="example i")
    return figure


def gradient_through_norm(layernorm: Any, x: Any, pull: int = 1) -> Figure:
    """Draw the gradient of one feature of the output, the result of your backward pass, and its three parts."""
    d, one = len(x), np.ones(len(x))
    grad_out = one * (np.arange(1, d + 1) == pull)
    grad_x = layernorm.layer_norm_backward(grad_out, x, one)[0]
    std = np.sqrt(x.var() + 1e-5)
    n = (x - x.mean()) / std
    parts = (
        (grad_out / std, GREY, "direct path"),
        (-np.full(d, grad_out.mean()) / std, PURPLE, "through the mean"),
        (-n * (grad_out * n).mean() / std, RED, "through the variance"),
        (grad_x, BLUE, f"your grad_x: it sums to {np.round(grad_x.sum(), 6) + 0.0:g}"),
    )
    title = f"The loss is feature {pull} of the output of layer norm, x = {x.astype(int).tolist()}"
    figure, axes = canvas(10.4, 2.9, 4, title, sharey=True)
    for axis, (values, colour, name) in zip(axes, parts, strict=True):
        bars(axis, values, ".2f", color=colour)
        axis.axhline(0, color="black", linewidth=1)
        axis.set_xticks(range(1, d + 1))
        label(axis, name, "feature")
    axes[0].set_ylim(-0.55, 0.65)
    return figure
