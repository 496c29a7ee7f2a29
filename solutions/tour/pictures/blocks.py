"""Pictures of blocks, of the backward pass, and of deep networks."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tour import examples
from tour.plotting import BLUE, GREEN, GREY, PURPLE, RED, canvas, label, legend
from tour.tables import Table, short

# Colour, style and marker of each line; the markers are for readers who cannot tell the colours apart.
KINDS: dict[str, tuple[str, Any, str]] = {
    "plain": (GREY, ":", "x"),
    "residuals alone": (RED, "-.", "^"),
    "norms alone": (PURPLE, (0, (3, 1, 1, 1)), "D"),
    "post-norm": (GREEN, "--", "v"),
    "pre-norm": (BLUE, "-", "s"),
}
FIRST = ("plain", "residuals alone", "pre-norm")
NORMED, PAST = "pre-norm, and a norm at the end", "post-norm, the direct path"
DEPTHS = (12, 24, 48, 96)  # blocks of two sub-layers
GAINS = (1.0, 0.5, 0.1)
YOURS = (6, 12, 24)  # blocks of the network built from your functions, few enough for a slider
DEEP = np.load(Path(__file__).parents[1] / "depth.npz")  # computed by the instructors from 40 networks


def gradient_bars(blocks: Any, layers: int = 10, slope: float = -0.02, show: str = "both") -> Figure:
    """Draw the gradient in a chain of scalar layers whose f has the same slope everywhere, without and with residuals."""
    kinds = [(name, with_sum) for name, with_sum in (("without", False), ("with", True)) if show in ("both", name)]
    title = f"{layers} layer{'s' * (layers > 1)} with a slope of {slope:.2f}: the gradient at the input"
    figure, axes = canvas(10.4, 3, len(kinds), title)
    # A layout that fits every scale: computing it for each combination of scales takes longer than drawing.
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0.08, right=0.99, bottom=0.16, top=0.72, wspace=0.2)
    for axis, (name, with_sum) in zip(axes, kinds, strict=True):
        # Scaled to 1e100, because a norm squares its numbers, and the square of 0.02**96 would underflow to 0.
        flow = blocks.gradient_flow(np.full((layers, 1, 1), slope), np.array([1e100]), residual=with_sum)
        heights = np.asarray(flow, dtype=float) / 1e100
        factor = f"1 + ({slope:.2f})" if with_sum else f"|{slope:.2f}|"
        _chain(axis, heights, BLUE if with_sum else RED)
        label(
            axis,
            f"{name} residuals: times {factor} in each layer\nat the input {short(heights[0])}",
            "at the input of each layer, and at the output",
            "gradient",
        )
    return figure


def _chain(axes: Axes, heights: np.ndarray, colour: str) -> None:
    """Draw a bar for the input of each layer and one for the output; the axis is logarithmic if bars would vanish."""
    layers = len(heights) - 1
    if layers <= 10:
        texts = [f"{height:.2f}" if height >= 0.005 or height == 0 else short(height, 1) for height in heights]
        turned = 0 if max(map(len, texts)) < 5 else 90
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        drawn = axes.bar(range(layers + 1), heights, color=colour)
        axes.bar_label(drawn, texts, fontsize=8, rotation=turned, padding=2, bbox=ground)
    else:
        axes.stairs(
            heights, np.arange(layers + 2) - 0.5, fill=True, color=colour
        )  # one shape is faster to draw than 97
    axes.axhline(1, color="black", linestyle=":", zorder=0)
    least, most = heights[heights > 0].min(), heights.max()
    if least < 0.02 or most > 50:
        axes.set_yscale("log")
        axes.set_ylim(least / 10, most * (most / least) ** 0.2)
    else:
        axes.set_ylim(0, 1.15 * max(1.0, heights.max()))
    every = max(1, -(-layers // 12))
    axes.set_xticks([*range(0, layers, every), layers], [*(f"L{i + 1}" for i in range(0, layers, every)), "out"])
    axes.tick_params(axis="x", labelsize=7.5)


def depth(layernorm: Any, blocks: Any, lines: str = "three", gain: float = 1.0, yours: str = "pre-norm") -> Figure:
    """40 random networks of each kind, and one of yours: stream and gradient against the depth of the network."""
    shown = KINDS if lines == "all" else {kind: KINDS[kind] for kind in FIRST}

    def norm(x: Any) -> Any:
        return layernorm.layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))

    run = examples.walk(yours, 2 * YOURS[-1], gain, norm, blocks, 0)
    times = "" if gain == 1 else f"{gain:g} times "
    title = f"The output of a sub-layer is about {times}as large as its input (line: median of 40 networks, band: 80 %)"
    figure, axes = canvas(10.4, 3.7, 3, title)
    # A layout that fits every scale: one computed for a single scale is too narrow for the labels of another.
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0.06, right=0.99, bottom=0.27, top=0.82, wspace=0.24)
    for kind, (colour, style, mark) in shown.items():
        for axis, name in zip(axes, ("stream", "gradient", "gradient"), strict=True):
            _band(axis, f"{kind}/{gain}/{name}", colour, style, mark, kind)
    if lines == "all":
        for axis in axes[1:]:
            _band(axis, f"pre-norm/{gain}/normed", "black", (0, (5, 1)), "o", NORMED)
        _band(axes[2], f"post-norm/{gain}/direct", GREEN, (0, (1, 3)), "", PAST)
    flows = _whole(blocks, run["jacobians"], yours in examples.ADDING)
    dots: dict[str, Any] = {"color": KINDS[yours][0], "markeredgecolor": "black", "markersize": 8, "zorder": 6}
    dots["label"] = f"your functions: {yours}"
    axes[0].plot(YOURS, examples.size(run["stream"])[[2 * n for n in YOURS]], "*", **dots)
    for axis in axes[1:]:
        axis.plot(YOURS[1:], flows, "*", **dots)
    for axis, name in zip(
        axes,
        (
            "RMS of the stream",
            "gradient at the input,\nas a multiple of that at the output",
            "the same, from 0.02 to 20",
        ),
        strict=True,
    ):
        axis.set_yscale("log")
        axis.axvline(24, color="black", linewidth=0.8)
        label(axis, name, "blocks (black: 24)", "")
    axes[2].set_ylim(0.02, 20)
    handles = {text: handle for axis in axes for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, fontsize=8.5, frameon=False)
    return figure


def _band(axes: Axes, key: str, colour: str, style: Any, mark: str, name: str) -> None:
    low, middle, high = DEEP[key]
    axes.fill_between(range(len(low)), low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(middle, color=colour, linestyle=style, marker=mark, markersize=4, markevery=(8, 16), label=name)


def _whole(blocks: Any, jacobians: np.ndarray, residual: bool) -> list[float]:
    """Return the norm of the gradient at the input, over all directions of the output, for two of the depths."""
    d = jacobians.shape[-1]
    flows = [
        [blocks.gradient_flow(jacobians[: 2 * n], row, residual=residual)[0] for row in np.eye(d)] for n in YOURS[1:]
    ]
    return [float(np.linalg.norm(flow)) / d**0.5 for flow in flows]


def depth_table() -> Table:
    """Return the picture in numbers: medians of the 40 networks."""
    rows: list[tuple[str, ...]] = []
    for gain in GAINS:
        rows.append((f"gain {gain:g}: the output of a sub-layer is about {gain:g} times as large as its input",))
        for kind, name, text in (
            *((kind, "gradient", kind) for kind in KINDS),
            ("pre-norm", "normed", NORMED),
            ("post-norm", "direct", PAST),
        ):
            gradients = DEEP[f"{kind}/{gain}/{name}"][1]
            stream = DEEP[f"{kind}/{gain}/stream"][1][DEPTHS[-1]]
            sizes = [_size(gradients[n]) for n in DEPTHS]
            low, _, high = DEEP[f"{kind}/{gain}/{name}"][:, DEPTHS[-1]]
            rows.append((text, *sizes, f"{_size(low)} to {_size(high)}", _size(stream) if name != "direct" else ""))
    heads = (
        "gradient at the input: median",
        *(f"{n} blocks" for n in DEPTHS),
        f"80 % after {DEPTHS[-1]}",
        f"stream after {DEPTHS[-1]}",
    )
    return Table(rows, heads)


def _size(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 1000 else short(value, 1)


def lost_and_kept(blocks: Any, rank: int = 2) -> Figure:
    """How well 200 tokens can be reconstructed from f(x) and from x + f(x), if f keeps only a few directions."""
    rng, d = np.random.default_rng(0), 8
    x = rng.normal(size=(200, d))
    weights = rng.normal(0, 0.5, (d, rank)) @ rng.normal(0, 0.5, (rank, d))
    figure, axes = canvas(10, 2.9, 2, f"A sub-layer f with a matrix of rank {rank}: can x be recovered?", sharey=True)
    sums = (("f(x)", x @ weights, RED), ("x + f(x)", blocks.residual(x, lambda x: x @ weights), BLUE))
    for axis, (name, after, colour) in zip(axes, sums, strict=True):
        back = after @ np.linalg.lstsq(after, x, rcond=1e-9)[0]
        kept = 1 - np.square(x - back).sum() / np.square(x).sum()
        axis.plot(x[:, 0], back[:, 0], ".", color=colour, markersize=4)
        label(axis, f"from {name}, {kept:.0%} of x is recovered", "feature 1 of x", "reconstructed")
    return figure


def users() -> Table:
    """Which model uses which order and which norm; facts, not results."""
    rows = [
        ("first Transformer (2017), BERT, the first GPT", "post-norm", "layer norm"),
        ("GPT-2, GPT-3", "pre-norm, and one norm at the end", "layer norm"),
        ("LLaMA, LLaMA 2, Mistral, Gemma", "pre-norm, and one norm at the end", "RMS norm"),
        ("this homework's decoder", "pre-norm, no norm at the end", "layer norm"),
    ]
    return Table(rows, ("model", "order", "norm"))


def scale_returns(layernorm: Any, blocks: Any, factor: float = 3.0) -> Figure:
    """Draw a token and a multiple of it: the input of the sub-layer, what it adds, and the sum."""
    rng, d = np.random.default_rng(2), 8
    x, params = rng.normal(size=d), examples.network(d, rng)
    one = np.ones(d)

    def normed(token: Any) -> Any:
        return layernorm.layer_norm(token, one, 0 * one)

    figure, axes = canvas(10.4, 2.9, 4, f"A token x (grey), and {factor:.1f} x (blue), through x + f(LN(x))")
    for token, colour, shift in ((x, GREY, -0.2), (factor * x, BLUE, 0.2)):
        seen = normed(token)
        added = blocks.feed_forward(seen, params)
        after = blocks.residual(token, lambda x: blocks.feed_forward(normed(x), params))
        for axis, values in zip(axes, (token, seen, added, after), strict=True):
            axis.bar(np.arange(1, d + 1) + shift, values, 0.4, color=colour, label=f"RMS {examples.size(values):.2f}")
    for axis, name in zip(axes, ("the stream", "LN: what f sees", "f(LN(x)): what is added", "the sum"), strict=True):
        low, high = axis.get_ylim()
        axis.set_ylim(low, high + 0.35 * (high - low))
        legend(axis, loc="upper left", ncols=2, columnspacing=0.8, handlelength=1)
        label(axis, name, "feature")
    return figure
