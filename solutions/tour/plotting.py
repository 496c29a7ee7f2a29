"""The drawing tools shared by all pictures: colours, axes, coloured tables, bars with numbers, boxes and arrows."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from tour.tables import short

# For colour-blind readers (after Okabe and Ito, darkened for contrast with white and the pale background),
# and always with a label or a line style as well. Blue is what the homework does, red is what goes wrong.
BLUE, RED, GREEN, PURPLE, GREY, PALE = "#0072B2", "#C2500A", "#00795A", "#8F4B93", "#5F5F5F", "#EDEDED"
LAYOUT = "constrained"  # the layout engine; the tests do without it, because it takes as long as drawing
GROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.7}  # of a text crossed by a line
MINUS_TO_PLUS, ZERO_TO_ONE = colormaps["PuOr_r"], colormaps["Blues"]


def canvas(width: float, height: float, columns: int, title: str, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure with a title and a row of axes."""
    figure = Figure(figsize=(width, height), layout=LAYOUT)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    axes = list(figure.subplots(1, columns, squeeze=False, **options).ravel())
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=8.5)
    return figure, axes


def label(axes: Axes, title: str, across: str = "", up: str = "") -> None:
    axes.minorticks_off()  # minor ticks of a logarithmic axis take longer to draw than everything else
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(lambda value, _: short(value))  # formulas take a third of the drawing time
    axes.set_title(title, fontsize=9.5, y=1.0)  # a fixed height: computing one would measure all ticks again
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(up, fontsize=9)


def legend(axes: Axes, **options: Any) -> None:
    axes.legend(fontsize=8.5, frameon=False, **options)


def luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of a colour, from 0 to 1, as defined for the contrast of web pages."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def ink(colour: Sequence[float]) -> str:
    """Black or white, whichever is more readable on a colour."""
    return "black" if luminance(colour) > 0.18 else "white"


def heat(
    axes: Axes,
    values: np.ndarray,
    title: str,
    limit: float = 0.0,
    form: str = ".2f",
    largest: bool = False,
    **names: Any,
) -> None:
    """Draw a coloured table of numbers, from 0 to 1, or from -limit to limit if a limit is given; minus infinity is pale.

    With `largest`, the largest number of each row has a frame.
    """
    colours = MINUS_TO_PLUS if limit else ZERO_TO_ONE
    low, high = (-limit, limit) if limit else (0.0, 1.0)
    finite = np.where(np.isfinite(values), values, np.nan)
    axes.imshow(finite, cmap=colours.with_extremes(bad=PALE), vmin=low, vmax=high, aspect="auto")
    if form:
        for (i, j), value in np.ndenumerate(values):
            ground = colours((value - low) / (high - low)) if np.isfinite(value) else (1, 1, 1, 1)
            text = f"{np.round(value, int(form[1])) + 0.0:{form}}" if np.isfinite(value) else "-inf"
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color=ink(ground))
    ticks(axes, values, title, **names)
    for i, row in enumerate(values if largest else []):
        if np.isfinite(row).any() and row.max() > row.min():
            outline(axes, i, int(np.argmax(row)), colour=RED)


def grid(axes: Axes, allowed: np.ndarray, title: str, future: str = BLUE, **names: Any) -> None:
    """Draw a table of booleans: True is coloured and has a dot; entries above the diagonal may have their own colour."""
    axes.imshow(np.zeros(allowed.shape), cmap=ListedColormap([PALE]), aspect="auto")
    for i, j in np.argwhere(allowed):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, color=future if j > i else BLUE))
        axes.text(j, i, "!" if j > i and future != BLUE else "•", ha="center", va="center", color="white", fontsize=12)
    ticks(axes, allowed, title, **names)


def ticks(
    axes: Axes, values: np.ndarray, title: str, across: str = "", down: str = "", words: Sequence[str] = ()
) -> None:
    n, m = values.shape
    label(axes, title, across, down)
    columns = words if len(words) == m else [str(j + 1) for j in range(m)]
    axes.set_xticks(range(m), columns, rotation=45 if max(map(len, columns)) > 2 else 0)
    axes.set_yticks(range(n), words or [str(i + 1) for i in range(n)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    # Plain lines: an axis grid has a labelled tick for each line, which takes several times as long to draw.
    axes.hlines(np.arange(n - 1) + 0.5, -0.5, m - 0.5, color="white", linewidth=1.5)
    axes.vlines(np.arange(m - 1) + 0.5, -0.5, n - 0.5, color="white", linewidth=1.5)
    axes.set_xlim(-0.5, m - 0.5)
    axes.set_ylim(n - 0.5, -0.5)


def outline(axes: Axes, i: float, j: float, rows: int = 1, columns: int = 1, colour: str = "black") -> None:
    """Draw a frame around cells of a table, with a white edge so that it stands out on every colour."""
    for width, edge in ((4.5, "white"), (2.2, colour)):
        box = Rectangle((j - 0.45, i - 0.45), columns - 0.1, rows - 0.1, fill=False, linewidth=width, edgecolor=edge)
        box.set_zorder(5)
        axes.add_patch(box)


def bars(axes: Axes, heights: Sequence[float], form: str = ".2f", **options: Any) -> None:
    """Bars with their numbers; a negative one has it below."""
    places = np.arange(1, len(heights) + 1)
    drawn = axes.bar(places, heights, **options)
    texts = [f"{np.round(h, int(form[1])) + 0.0:{form}}" for h in heights]
    axes.bar_label(drawn, texts, fontsize=7.5, padding=1.5, bbox=GROUND)


def token(axes: Axes, values: np.ndarray, colour: str, title: str) -> None:
    """Draw the features of a token as bars; its mean is a line, one standard deviation on either side is shaded."""
    mean, std = np.mean(values), np.std(values)
    axes.axhspan(mean - std, mean + std, color=PALE)
    bars(axes, values, ".1f", color=colour)
    axes.axhline(mean, color="black", linewidth=1)
    axes.set_xticks(range(1, len(values) + 1))
    label(axes, f"{title}\nmean {np.round(mean, 3) + 0.0:.3g}, std {std:.4g}", "feature")


def blank(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    """Return a sheet to draw on, in inches from its lower left corner."""
    figure, [axes] = canvas(width, height, 1, title)
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def box(axes: Axes, x: float, y: float, text: str, colour: str, width: float = 1.2, height: float = 0.42) -> None:
    """Draw a coloured box around a text, its centre at (x, y)."""
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle="round,pad=0,rounding_size=0.08", color=colour, zorder=3)
    )
    axes.text(x, y, text, color="white", ha="center", va="center", fontsize=9, zorder=4)


def arrow(
    axes: Axes, points: Sequence[tuple[float, float]], text: str = "", side: float = 0.08, **options: Any
) -> None:
    """Draw a line through points with a head at its end, and a text beside its middle."""
    options = {"color": "black", "linewidth": 1.3, **options}
    for (x0, y0), (x1, y1) in itertools.pairwise(points[:-1]):
        axes.plot([x0, x1], [y0, y1], solid_capstyle="round", **options)
    head = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 10, **options}
    axes.annotate("", points[-1], points[-2], arrowprops=head)
    if text:
        (x0, y0), (x1, y1) = points[-2:]
        axes.text((x0 + x1) / 2 + side, (y0 + y1) / 2, text, fontsize=8.5, va="center", color=GREY)
