"""Drawings: the decoder with its shapes, the residual stream, heads, and layer norm as geometry."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from tour.plotting import BLUE, GREEN, GREY, PALE, PURPLE, RED, ZERO_TO_ONE, arrow, blank, box, canvas, heat, ink

ABOVE = np.rad2deg(
    np.arctan(2**-0.5)
)  # degrees; at a turn of 45, the view is along (1, 1, 1), the direction that centring removes
BARE = "one head, no norms, no residuals"
ORDERS = ("pre-norm", "post-norm", BARE)

HEADS = "q, k, v: n heads of (t, d/n)\nweights (n, t, t), masked"
ONE_HEAD = "q, k, v: (t, d)\nweights (t, t), masked"
PARTS = "attention: scaled_attention.py, causal_mask.py    LN: layernorm.py    MLP, +: transformer_block.py"


def decoder_drawing(order: str = "pre-norm") -> Figure:
    """Draw the whole decoder from tokens to probabilities, with the shape on every arrow, in one of three orders."""
    figure, axes = blank(10.4, 3.3, f"A decoder with {order}: t tokens, width d, hidden size h, vocabulary v")
    y = 2.45
    chain = [("tokens", GREY, 0.55, ""), ("embed", GREEN, 2.0, "(t,)"), ("+ positions", GREEN, 3.45, "(t, d)")]
    chain += [
        ("block", BLUE, 4.85, "(t, d)"),
        ("block", BLUE, 6.25, "(t, d)"),
        ("@ w_out\n+ b_out", GREEN, 7.65, "(t, d)"),
    ]
    chain += [("softmax", PURPLE, 9.35, "(t, v)")]
    before = None
    for text, colour, x, shape in chain:
        if before is not None:
            arrow(axes, [(before + 0.5, y), (x - 0.5, y)])
            axes.text((before + x) / 2, y + 0.1, shape, ha="center", fontsize=8, color=GREY)
        box(axes, x, y, text, colour, 1.0)
        before = x
    axes.text(5.55, y + 0.38, "as many as you like", ha="center", fontsize=8.5, color=GREY)
    axes.text(9.35, y - 0.42, "row i: token i + 1", ha="center", fontsize=8.5, color=GREY)
    for x in (2.72, 7.65):
        axes.text(x, y + 0.45, "decoder.py", ha="center", fontsize=8.5, family="monospace")
    axes.text(5.55, y + 0.62, "transformer_block.py", ha="center", fontsize=8.5, family="monospace")
    axes.text(0.35, 0.02, PARTS, fontsize=8.5, family="monospace")
    for x in (4.4, 5.3):
        axes.plot([x, 0.3 if x < 5 else 10.1], [y - 0.25, 1.75], color=PALE, linewidth=1.5)
    _inside(axes, order)
    return figure


def _inside(axes: Axes, order: str) -> None:
    """Draw the inside of a block, from left to right."""
    y, x, wide = 0.95, 0.35, 0.62
    for name, inner in (
        ("attention", ONE_HEAD if order == BARE else HEADS),
        ("MLP", "(t, h)"),
    ):
        steps = {"pre-norm": ("LN", name, "+"), "post-norm": (name, "+", "LN")}.get(order, (name,))
        start = x
        for step in steps:
            width = {"LN": 0.45, "+": 0.32}.get(step, 1.15)
            arrow(axes, [(x, y), (x + wide, y)])
            axes.text(x + wide / 2, y + 0.1, "(t, d)", ha="center", fontsize=8, color=GREY)
            centre = x + wide + width / 2
            box(axes, centre, y, step, {"LN": PURPLE, "+": GREY}.get(step, RED if step == name else GREY), width)
            if step == name:
                axes.text(centre, y - 0.4, inner, ha="center", va="top", fontsize=8, color=GREY)
            if step == "+":
                arrow(axes, [(start + 0.12, y), (start + 0.12, y + 0.5), (centre, y + 0.5), (centre, y + 0.21)])
            x = centre + width / 2
    arrow(axes, [(x, y), (x + wide, y)])
    axes.text(x + wide / 2, y + 0.1, "(t, d)", ha="center", fontsize=8, color=GREY)


def stream_drawing() -> Figure:
    """Two blocks, pre-norm and post-norm, drawn with the residual stream as a straight line."""
    figure, axes = blank(10.4, 3.6, "Two blocks of each order: which parts are on the line, and which beside it")
    for y, name, on_line in ((2.85, "pre-norm", False), (1.15, "post-norm", True)):
        axes.plot([0.9, 9.6], [y, y], color=BLUE, linewidth=5, solid_capstyle="butt", zorder=1)
        arrow(axes, [(9.5, y), (10.1, y)], color=BLUE, linewidth=3)
        axes.text(0.05, y, f"{name}:\nx", fontsize=9.5, va="center")
        for i in range(4):
            x, part = 1.5 + 2.1 * i, ("attention", "MLP")[i % 2]
            axes.plot([x, x, x + 1.0], [y, y - 0.85, y - 0.85], color="black", linewidth=1.3, zorder=1)
            arrow(axes, [(x + 1.0, y - 0.85), (x + 1.0, y - 0.16)])
            box(axes, x + 0.62, y - 0.85, part, RED, 0.88, 0.34)
            box(axes, x + 1.0, y, "+", GREY, 0.3, 0.3)
            if on_line:
                box(axes, x + 1.42, y, "LN", PURPLE, 0.42, 0.36)
            else:
                box(axes, x, y - 0.4, "LN", PURPLE, 0.42, 0.3)
    axes.text(9.6, 3.1, "x + everything\nthat was added", ha="center", fontsize=8.5)
    axes.text(9.75, 1.45, "normalised\nfour times", ha="center", fontsize=8.5)
    return figure


def heads_drawing(attention: Any, n_heads: int = 2) -> Figure:
    """Three tokens of six features, split into heads by your split_heads, and put together by your merge_heads."""
    t, d = 3, 6
    x = 10.0 * np.arange(1, t + 1)[:, np.newaxis] + np.arange(1, d + 1)
    heads = attention.split_heads(x, n_heads)
    merged = attention.merge_heads(heads)
    ratios = [d, *[d // n_heads] * n_heads, d]
    title = f"{t} tokens of {d} features, {n_heads} head{'s' * (n_heads > 1)}: 24 is feature 4 of token 2"
    figure, axes = canvas(10.4, 2.3, 2 + n_heads, title, width_ratios=ratios)
    panels = [
        (f"x {x.shape}", x),
        *((f"head {h + 1}", head) for h, head in enumerate(heads)),
        (f"merged {merged.shape}", merged),
    ]
    for axis, (name, values) in zip(axes, panels, strict=True):
        shades = (values % 10 - 1) / (d - 1)
        heat(axis, shades, name, form="")
        for (i, j), value in np.ndenumerate(values):
            colour = ink(ZERO_TO_ONE(shades[i, j]))
            axis.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=9, color=colour)
    axes[0].set_xlabel("feature", fontsize=9)
    axes[0].set_ylabel("token", fontsize=9)
    if n_heads > 1:
        axes[1].set_xlabel(f"heads together: {heads.shape}", fontsize=9)
    return figure


def geometry(layernorm: Any, spread: float = 1.0, turn: int = 40) -> Figure:
    """Layer norm of tokens with three features: onto a plane, then onto a circle in it."""
    rng, one = np.random.default_rng(1), np.ones(3)
    x = spread * rng.normal(size=(40, 3)) + 1.0
    centred = x - x.mean(axis=1, keepdims=True)
    normed = layernorm.layer_norm(x, one, 0 * one)
    figure, axes = canvas(
        10.4, 3.7, 3, "Tokens of three features: layer norm as geometry", subplot_kw={"projection": "3d"}
    )
    circle = np.deg2rad(np.arange(0, 361, 5))[:, np.newaxis]
    first, second = np.array([1, -1, 0]) / 2**0.5, np.array([1, 1, -2]) / 6**0.5
    ring = 3**0.5 * (np.cos(circle) * first + np.sin(circle) * second)
    for axis, points, name in (
        (axes[0], x, "raw: anywhere"),
        (axes[1], centred, "minus the mean: onto a plane"),
        (axes[2], normed, "divided by the deviation:\nonto a circle of radius √3"),
    ):
        axis.add_collection3d(Poly3DCollection([1.5 * ring], facecolor=PURPLE, alpha=0.08))
        axis.plot(*ring.T, color=PURPLE, linewidth=1)
        axis.scatter(*points.T, color=BLUE, s=10, depthshade=False)
        axis.set(xlim=(-4, 4), ylim=(-4, 4), zlim=(-4, 4), xticklabels=[], yticklabels=[], zticklabels=[])
        for name_axis, text in ((axis.set_xlabel, "1"), (axis.set_ylabel, "2"), (axis.set_zlabel, "3")):
            name_axis(f"feature {text}", fontsize=8, labelpad=-12)
        axis.set_title(name, fontsize=9.5)
        axis.set_proj_type("ortho")  # so that a plane seen from the side is a line, and a circle is round
        axis.set_box_aspect((1, 1, 1))
        axis.view_init(elev=ABOVE, azim=min(turn, 179.9))  # at 180 rounding would turn some labels upside down
    return figure
