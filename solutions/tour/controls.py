"""Pictures and tables in the notebook, with controls if a kernel is running.

A picture with a question waits for the answer. If a function is not written yet, a line says so, above an example of the
picture or table. If one of your functions that took part is wrong, a line below the picture says so.
"""

import ast
import asyncio
import base64
import contextlib
import gc
import html
import importlib
import io
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from tour import names, reference_values
from tour.predictions import ASK, Guess, Said, ipython, ipywidgets

HOME = Path(__file__).parents[1]
GALLERY = Path(__file__).parent / "gallery"
CANNOT = "Cannot draw this: "
SYMBOLS = {"d_k": "$d_k$", "d_model": r"$d_\text{model}$", "n_heads": r"$n_\text{heads}$"}  # labels of controls, in TeX
SYMBOLS |= {"gamma": r"$\gamma$", "beta": r"$\beta$", "t": "$t$", "d": "$d$"}
PAUSE = 0.02  # seconds after the last move before redrawing, so that fast moves do not queue up
DRAWING = threading.RLock()  # newer kernels run controls in separate threads, and matplotlib is not thread-safe
PIXELS = 90  # pixels per inch of a figure


class Lazy:
    """One of your modules, imported when one of its functions is first used; it records which functions are used."""

    called: list[tuple[str, str]] = []  # module and function, in order of use, to tell whose numbers are shown

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, function: str) -> Any:
        if function.startswith("_"):
            raise AttributeError(function)
        Lazy.called.append((self._name, function))
        return getattr(importlib.import_module(self._name), function)


class Slide(NamedTuple):
    """A slider; it takes whole numbers when the step is one. With `moves`, a button plays it as an animation."""

    low: float
    high: float
    start: float
    step: float = 0.1
    moves: bool = False

    @property
    def whole(self) -> bool:
        """True if it takes only whole numbers."""
        return float(self.step).is_integer()


class Player:
    """A picture with controls: it is redrawn when one of them changes."""

    def __init__(
        self,
        draw: Callable[..., Any],
        arguments: tuple[Any, ...],
        settings: Mapping[str, Any],
        guess: Guess | None = None,
        name: str = "",
        folded: str = "",
    ):
        self.draw, self.arguments, self.guess, self.folded = draw, arguments, guess, folded
        self.name = name or draw.__name__
        self.start = {name: _start(setting) for name, setting in settings.items()}
        found = {name: _control(name, setting) for name, setting in settings.items()} if ipywidgets else {}
        self.controls = {name: control for name, control in found.items() if control is not None}
        films = [_film(self.controls[name]) for name, setting in settings.items() if getattr(setting, "moves", False)]
        self.box: Any = None
        if self.controls:
            layout = ipywidgets.Layout(flex_flow="row wrap")
            self.box = ipywidgets.HBox([*films, *self.controls.values()], layout=layout)
        self.now = self.start
        self.result: Any = ""
        self.doubt = ""
        self.handle: Any = None
        self.below: Any = None
        self.waiting: Any = None
        self.places: dict[Any, list[Any]] = {}

    def moved(self, _: object = None) -> None:
        """Schedule a drawing, or draw immediately if there is no event loop; wait until the question is answered."""
        if self.guess is not None and not self.guess.settled:
            return  # a browser may round the value of an unmoved slider
        if self.waiting is not None:
            self.waiting.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.redraw()
        else:
            self.waiting = loop.call_later(PAUSE, self.redraw)
            gc.collect()  # free the last figure now, during the pause, rather than several at once while drawing

    def redraw(self) -> None:
        """Draw with the current values of the controls, replacing the previous drawing."""
        with DRAWING, uncollected():
            self.now = {**self.start, **{name: control.value for name, control in self.controls.items()}}
            Lazy.called.clear()
            reference_values.reload()
            self.result = attempt(self.draw, *self.arguments, **self.now)
            failed = missing(self.result)
            unwritten = failed and self.result.unwritten
            self.doubt = "" if unwritten else reference_values.doubt(Lazy.called, drawn=not failed)
            if self.handle is not None:
                self.handle.update(self.shown())
                self.below.update(self.comment())

    def reveal(self) -> None:
        """Draw the picture that was waiting for a guess."""
        if self.box is not None:
            self.box.layout.display = None
        self.redraw()

    def put(self) -> None:
        """The controls, then the picture: an ordinary image, so it is visible even where the controls do not work."""
        waits = self.guess is not None and not self.guess.settled and ipython is not None
        if not waits:
            self.redraw()
        if ipython is None:
            print(self.result)
            return
        if self.box is not None:
            self.box.layout.display = "none" if waits else None
            where_dead = {"text/plain": "(Sliders appear here in a running notebook.)"}
            ipython.display({**self.box._repr_mimebundle_(), **where_dead}, raw=True)
        for control in self.controls.values():
            control.observe(self.moved, "value")
        self.handle = ipython.display(Said(f"<p><em>{ASK}</em></p>") if waits else self.shown(), display_id=True)
        self.below = ipython.display(self.comment(), display_id=True)
        if self.guess is not None:
            self.guess.waiting.append(self.reveal)
        # Exclude all present objects from garbage collection, which would delay every tenth move.
        gc.collect()
        gc.freeze()

    def comment(self) -> Said:
        """Return the text below: whether the numbers are correct, and what to look for."""
        return Said(self.doubt + (self.guess.reason() if self.guess is not None else ""))

    def shown(self) -> Any:
        """Convert the result to something a notebook can display.

        A figure is not kept: it has thousands of parts, and each collection of garbage goes through those of all figures that
        are kept, for longer than drawing one takes.
        """
        if isinstance(self.result, Figure):
            figure, self.result = self.result, "a picture"
            width = int(figure.get_figwidth() * PIXELS)
            data = attempt(self.image, figure)  # wrong numbers may not be drawable
            if not missing(data):
                return ipython.Image(data, format="png", width=width, alt=figure.get_suptitle())
            self.result = data
        if missing(self.result):
            return Missing(
                self.result, self.name, self.folded, any(map(_moved, self.now.values(), self.start.values()))
            )
        if self.folded:
            return Folded(self.folded, self.result)
        return self.result if hasattr(self.result, "_repr_html_") else ipython.Pretty(self.result)

    def image(self, figure: Figure) -> bytes:
        """Return a figure as the bytes of an image, with its axes in the same position as in the previous one.

        Finding places for axes takes longer than drawing them, and a picture under a slider should keep still.
        """
        scales = tuple((axes.get_xscale(), axes.get_yscale()) for axes in figure.axes)
        kind = (*figure.get_size_inches(), scales)
        if kind in self.places:
            figure.set_layout_engine("none")
            for axes, place in zip(figure.axes, self.places[kind], strict=True):
                axes.set_position(place)
        data = png(figure)
        self.places[kind] = [axes.get_position() for axes in figure.axes]
        return data


class Folded:
    """Content that appears after a click on its heading."""

    def __init__(self, heading: str, content: Any):
        self.heading, self.content = heading, content

    def __repr__(self) -> str:
        return repr(self.content)

    def _repr_html_(self) -> str:
        return f"<details><summary>{html.escape(self.heading)}</summary>{self.content._repr_html_()}</details>"


class Absent(str):
    """A line that explains why there is no result."""

    unwritten = False


class Missing:
    """A line that says what is missing, and an example of the picture or table."""

    def __init__(self, line: Absent, name: str, folded: str = "", moved: bool = False):
        self.line, self.name, self.folded, self.moved = line, name, folded, moved

    def __repr__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        ready = self.ready_made() if self.line.unwritten else ""
        if not ready:
            return f"<p>{html.escape(self.line)}</p>"
        text = f"Here is an example{', with the controls in their first position' if self.moved else ''}:"
        text = f"<p>{html.escape(self.line)}. {text}</p>{ready}"
        return f"<details><summary>{html.escape(self.folded)}</summary>{text}</details>" if self.folded else text

    def ready_made(self) -> str:
        """Return the gallery entry with this name, as HTML."""
        picture, table = GALLERY / f"{self.name}.png", GALLERY / f"{self.name}.html"
        if picture.is_file():
            data = base64.b64encode(picture.read_bytes()).decode("ascii")
            return f'<img alt="an example: {self.name}" src="data:image/png;base64,{data}">'
        return table.read_text(encoding="utf-8") if table.is_file() else ""


def show(
    draw: Callable[..., Any],
    *arguments: Any,
    guess: Guess | None = None,
    like: str = "",
    folded: str = "",
    **settings: Any,
) -> Player:
    """Show the picture or table that draw(*arguments, **settings) returns in the notebook.

    `like` names the gallery entry if the same function draws several; a table may be folded below a
    heading.
    """
    player = Player(lambda: draw(*arguments, **settings), (), {}, guess, like or draw.__name__, folded)
    player.put()
    return player


def source(file: str, name: str) -> Any:
    """Show the code of one function or class from a file in this folder."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    node = next(node for node in ast.parse(text).body if getattr(node, "name", "") == name)
    code = ast.get_source_segment(text, node) or ""
    return ipython.Code(code, language="python") if ipython is not None else code


def play(
    draw: Callable[..., Any], *arguments: Any, guess: Guess | None = None, like: str = "", **settings: Any
) -> Player:
    """Like show(), with controls: a Slide becomes a slider, True or False a checkbox, a list a choice, a text a text field."""
    player = Player(draw, arguments, settings, guess, like)
    player.put()
    return player


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Suspend garbage collection: a figure has so many parts that it would run, and each run takes half as long as a drawing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def attempt(draw: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Return the result of draw, or an Absent line that explains why there is none."""
    yours = "|".join(path.stem for path in HOME.glob("*.py"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # warnings about numbers that are already known to be wrong
        warnings.filterwarnings(
            "default", category=RuntimeWarning, module=f"({yours})$"
        )  # warnings from the student's modules are shown
        try:
            return draw(*arguments, **settings)
        except NotImplementedError as error:
            line = Absent(str(error) or "A function is not written yet")
            line.unwritten = True
            return line
        except names.Unusable as error:
            return Absent(CANNOT + str(error))
        except (Exception, SystemExit) as error:
            return Absent(CANNOT + reason(error))


def missing(result: Any) -> bool:
    """Return True if this is the line from attempt()."""
    return isinstance(result, Absent)


def reason(error: BaseException) -> str:
    """One line about an error, with the last line of your own code in its traceback."""
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.parent == HOME:
            return f"{path.name}, line {frame.lineno}: {text}"
    return text if isinstance(error, ImportError) else f"{text} (does the check of this module pass?)"


def png(figure: Figure, dpi: int = 120) -> bytes:
    """Return a figure as the bytes of an image. (savefig would draw it twice, and moving a slider would take twice as long.)"""
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about a picture of wrong numbers
        canvas.draw()
    file = io.BytesIO()
    Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").save(file, format="png", compress_level=3)
    return file.getvalue()


def _start(setting: Any) -> Any:
    if isinstance(setting, Slide):
        return int(setting.start) if setting.whole else setting.start
    return setting[0] if isinstance(setting, list) else setting


def _moved(now: Any, start: Any) -> bool:
    """Return True if a control no longer has its initial value; a browser may round the value of a slider."""
    return abs(now - start) > 1e-9 if isinstance(now, float) else now != start


def _control(name: str, setting: Any) -> Any:
    label = SYMBOLS.get(name, name.replace("_", " "))
    text: dict[str, Any] = {"description": label, "style": {"description_width": "initial"}}
    if isinstance(setting, Slide):
        kind = ipywidgets.IntSlider if setting.whole else ipywidgets.FloatSlider
        low, high, start, step = (int(n) if setting.whole else n for n in setting[:4])
        return kind(value=start, min=low, max=high, step=step, **text)
    if isinstance(setting, bool):
        return ipywidgets.Checkbox(value=setting, indent=False, **text)
    if isinstance(setting, str):
        return ipywidgets.Text(value=setting, continuous_update=False, **text)
    text["style"] = {"description_width": "initial", "button_width": "auto"}
    if isinstance(setting, list):
        numbers = all(isinstance(choice, int) for choice in setting)
        return ipywidgets.ToggleButtons(options=sorted(setting) if numbers else setting, value=setting[0], **text)
    return None


def _film(slider: Any) -> Any:
    """Return a button that moves a slider from start to end, one step per second."""
    film = ipywidgets.Play(min=slider.min, max=slider.max, step=slider.step, value=slider.value, interval=1000)
    ipywidgets.link((film, "value"), (slider, "value"))
    return film
