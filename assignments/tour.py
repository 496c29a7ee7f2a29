"""How things get into transformer.ipynb. Nothing here is graded, and you need not read it.

show() and play() put pictures and tables into the notebook, play() with sliders above them; where something is not
written yet, they say in one line what is missing. Below them: tables of text, and the brushes of pictures.py.
"""

import importlib
import io
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle


def optional(module: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


ipywidgets, ipython = optional("ipywidgets"), optional("IPython.display")
NOTHING = "Nothing to show: "
HELPERS = ("tour.py", "pictures.py", "examples.py")


class Lazy:
    """A module of yours, imported when a function of it is first needed."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, function: str) -> Any:
        if function.startswith("_"):
            raise AttributeError(function)
        return getattr(importlib.import_module(self._name), function)


class Slide(NamedTuple):
    """A slider; it takes whole numbers when the step is 1."""

    low: float
    high: float
    start: float
    step: float = 0.1


class Player:
    """A picture with controls: give one of them another value, and it is drawn anew."""

    def __init__(self, draw: Callable[..., Any], given: tuple[Any, ...], settings: Mapping[str, Any]):
        self.draw, self.given = draw, given
        self.start = {name: _start(setting) for name, setting in settings.items()}
        found = {name: _control(name, setting) for name, setting in settings.items()} if ipywidgets else {}
        self.controls = {name: control for name, control in found.items() if control is not None}
        self.result: Figure | str = ""
        self.handle: Any = None

    def redraw(self, _: object = None) -> None:
        """Draw with what the controls say now, in the place of what was drawn before."""
        now = {name: control.value for name, control in self.controls.items()}
        self.result = attempt(self.draw, *self.given, **{**self.start, **now})
        if self.handle is not None:
            self.handle.update(_shown(self.result))

    def put(self) -> None:
        """The controls, then the picture: an ordinary image, which is there also where no control works."""
        self.redraw()
        if ipython is None:
            print(self.result)
            return
        if self.controls:
            layout = ipywidgets.Layout(flex_flow="row wrap")
            box = ipywidgets.HBox(list(self.controls.values()), layout=layout)
            where_dead = {"text/plain": "(Here are sliders, where the notebook is live.)"}
            ipython.display({**box._repr_mimebundle_(), **where_dead}, raw=True)
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        self.handle = ipython.display(_shown(self.result), display_id=True)


def show(draw: Callable[..., Any], *given: Any, **settings: Any) -> None:
    """Put what draw(*given, **settings) returns, a picture or text, into the notebook."""
    Player(lambda: draw(*given, **settings), (), {}).put()


def play(draw: Callable[..., Any], *given: Any, **settings: Any) -> Player:
    """The same with controls: a Slide becomes a slider, True or False a tick box, a list a choice."""
    player = Player(draw, given, settings)
    player.put()
    return player


def attempt(draw: Callable[..., Any], *given: Any, **settings: Any) -> Any:
    """What draw returns, or one line that says why there is nothing to show."""
    try:
        return draw(*given, **settings)
    except NotImplementedError as missing:
        return NOTHING + (str(missing) or "something is not written yet")
    except (Exception, SystemExit) as error:
        return NOTHING + reason(error)


def reason(error: BaseException) -> str:
    """One line about an error, with the last line of your own files that led to it."""
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.parent == Path(__file__).parent and path.name not in HELPERS:
            return f"{path.name}, line {frame.lineno}: {text}"
    return text if isinstance(error, ImportError) else f"{text} (does the check of this module pass?)"


def _start(setting: Any) -> Any:
    if isinstance(setting, Slide):
        return int(setting.start) if setting.step == 1 else setting.start
    return setting[0] if isinstance(setting, list) else setting


def _control(name: str, setting: Any) -> Any:
    text = {"description": name.replace("_", " "), "style": {"description_width": "initial"}}
    if isinstance(setting, Slide):
        kind = ipywidgets.IntSlider if setting.step == 1 else ipywidgets.FloatSlider
        low, high, start, step = (int(n) for n in setting) if setting.step == 1 else setting
        return kind(value=start, min=low, max=high, step=step, **text)
    if isinstance(setting, bool):
        return ipywidgets.Checkbox(value=setting, indent=False, **text)
    return ipywidgets.ToggleButtons(options=setting, **text) if isinstance(setting, list) else None


def _shown(result: Figure | str) -> Any:
    if isinstance(result, str):
        return ipython.Pretty(result)
    png = io.BytesIO()
    result.savefig(png, format="png", dpi=150)
    width = int(result.get_figwidth() * 90)
    return ipython.Image(png.getvalue(), format="png", width=width, alt=result.get_suptitle())


# Tables


def table(rows: Sequence[tuple[str, ...]], heads: tuple[str, ...] = ()) -> str:
    """Rows of text in columns; a row with a single entry is a remark on the row above it."""
    entries = [heads, *rows] if heads else list(rows)
    n = max(len(row) for row in entries)
    widths = [max(len(row[i]) for row in entries if len(row) == n) for i in range(n)]
    lines = []
    for row in entries:
        padded = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        lines.append(padded.rstrip() if len(row) == n else f"    {row[0]}")
    if heads:
        lines.insert(1, "-" * (sum(widths) + 2 * n - 2))
    return "\n".join(lines)


def compare(rows: Sequence[tuple[Any, ...]]) -> str:
    """Printed numbers beside yours. A row: what, the numbers as the notes print them, how you get yours, remarks."""
    results = [attempt(experiment) for _, _, experiment, *_ in rows]
    lines: list[tuple[str, ...]] = []
    for (what, printed, _, *remarks), result in zip(rows, results, strict=True):
        verdict = "" if isinstance(result, str) else _verdict(printed.split(), np.ravel(result))
        lines.append((what, printed, _said(result), verdict))
        lines.extend((text,) for text in remarks)
    return _nothing(results) or table(lines, ("", "the notes print", "your code gives", ""))


def measure(experiments: Mapping[str, Callable[[], Any]]) -> str:
    """Claims beside what your functions say to them."""
    results = [attempt(experiment) for experiment in experiments.values()]
    lines = [(claim, _said(result)) for claim, result in zip(experiments, results, strict=True)]
    return _nothing(results) or table(lines)


def _nothing(results: Sequence[Any]) -> str:
    """The reason of the first one, if there is no result at all."""
    missing = [isinstance(result, str) and result.startswith(NOTHING) for result in results]
    return str(results[0]) if all(missing) else ""


def _said(result: Any) -> str:
    return result.removeprefix(NOTHING) if isinstance(result, str) else numbers(result)


def _verdict(printed: list[str], yours: np.ndarray) -> str:
    units = [10.0 ** -len(number.partition(".")[2]) for number in printed]
    gaps = [abs(float(p) - y) / unit for p, y, unit in zip(printed, yours, units, strict=True)]
    return "same" if max(gaps) <= 0.501 else "rounding" if max(gaps) <= 1.501 else "DIFFERS"


def numbers(values: Any, digits: int = 4) -> str:
    """Numbers in one line."""
    return " ".join(f"{value:.{digits}f}" for value in np.round(np.ravel(values), digits) + 0.0)


# Brushes

# Colours that colour-blind readers can tell apart (Okabe and Ito), never without a label or a line style as well.
BLUE, ORANGE, GREEN, RED, GREY, PALE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#7A7A7A", "#E8E8E8"


def canvas(width: float, height: float, columns: int, title: str, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with a title and a row of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=10.5, x=0.01, ha="left")
    axes = list(figure.subplots(1, columns, squeeze=False, **options).ravel())
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=8)
    return figure, axes


def label(axes: Axes, title: str, across: str = "", up: str = "") -> None:
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(up, fontsize=9)


def heat(axes: Axes, values: np.ndarray, title: str, limit: float = 0.0, form: str = ".2f", **names: Any) -> None:
    """A table of numbers in colour, from 0 to 1, or with a limit from -limit to limit; minus infinity stays grey."""
    colours = colormaps["PuOr_r" if limit else "cividis"]
    low, high = (-limit, limit) if limit else (0.0, 1.0)
    finite = np.where(np.isfinite(values), values, np.nan)
    axes.imshow(finite, cmap=colours.with_extremes(bad=PALE), vmin=low, vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = colours((value - low) / (high - low)) if np.isfinite(value) else (1, 1, 1, 1)
        ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
        text = f"{np.round(value, int(form[1])) + 0.0:{form}}" if np.isfinite(value) else "-inf"
        axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=ink)
    ticks(axes, values, title, **names)


def grid(axes: Axes, allowed: np.ndarray, title: str, future: str = BLUE, **names: Any) -> None:
    """A table of True, coloured and with a dot, and False; what lies above the diagonal may have its own colour."""
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
    axes.set_xticks(range(m), words or [str(j + 1) for j in range(m)], rotation=45 if words else 0)
    axes.set_yticks(range(n), words or [str(i + 1) for i in range(n)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(np.arange(m - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)


def outline(axes: Axes, i: float, j: float, rows: int = 1, columns: int = 1, colour: str = RED) -> None:
    """A frame around cells of a table."""
    box = Rectangle((j - 0.47, i - 0.47), columns - 0.06, rows - 0.06, fill=False, linewidth=2.5, edgecolor=colour)
    box.set_zorder(5)
    axes.add_patch(box)


def token(axes: Axes, values: np.ndarray, colour: str, title: str) -> None:
    """The features of a token as bars; its mean is a line, one standard deviation on either side is shaded."""
    mean, std = np.mean(values), np.std(values)
    axes.axhspan(mean - std, mean + std, color=PALE)
    axes.bar(np.arange(1, len(values) + 1), values, color=colour)
    axes.axhline(mean, color="black", linewidth=1)
    axes.set_xticks(range(1, len(values) + 1))
    label(axes, f"{title}\nmean {np.round(mean, 3) + 0.0:.3g}, std {std:.4g}", "feature")
