"""Pictures and tables, put into the notebook, with controls where the notebook is live.

Where something is not written yet, a line says what is missing, above a rendered picture of what there will be.
"""

import asyncio
import base64
import gc
import html
import importlib
import io
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from tour.guesses import Guess, ipython, ipywidgets, under

HOME = Path(__file__).parents[1]
GALLERY = Path(__file__).parent / "gallery"
NOTHING = "Nothing to show: "
PAUSE = 0.02  # seconds without another move before a picture is drawn anew: else a fast hand makes a queue
DRAWING = threading.RLock()  # newer kernels run controls in threads of their own, and matplotlib stands one at a time
PIXELS = 90  # an inch of a figure is so many pixels wide


class Lazy:
    """A module of yours, imported when a function of it is first needed; it remembers which ones were."""

    called: list[str] = []  # for all modules together, so that a table can say whose numbers it shows

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, function: str) -> Any:
        if function.startswith("_"):
            raise AttributeError(function)
        Lazy.called.append(function)
        return getattr(importlib.import_module(self._name), function)


class Slide(NamedTuple):
    """A slider; it takes whole numbers when the step is one."""

    low: float
    high: float
    start: float
    step: float = 0.1

    @property
    def whole(self) -> bool:
        """Whether it goes from whole number to whole number."""
        return float(self.step).is_integer()


class Player:
    """A picture with controls: give one of them another value, and it is drawn anew."""

    def __init__(
        self, draw: Callable[..., Any], given: tuple[Any, ...], settings: Mapping[str, Any], guess: Guess | None = None
    ):
        self.draw, self.given, self.guess = draw, given, guess
        self.name = draw.__name__
        self.start = {name: _start(setting) for name, setting in settings.items()}
        found = {name: _control(name, setting) for name, setting in settings.items()} if ipywidgets else {}
        self.controls = {name: control for name, control in found.items() if control is not None}
        self.result: Any = ""
        self.handle: Any = None
        self.waiting: Any = None
        self.places: dict[Any, list[Any]] = {}

    def moved(self, _: object = None) -> None:
        """Draw soon: at once where nothing runs that could do it later."""
        if self.waiting is not None:
            self.waiting.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.redraw()
        else:
            self.waiting = loop.call_later(PAUSE, self.redraw)
            gc.collect()  # the last figure, in the pause; otherwise several would go at once, while one is drawn

    def redraw(self) -> None:
        """Draw with what the controls say now, in the place of what was drawn before."""
        with DRAWING:
            now = {name: control.value for name, control in self.controls.items()}
            self.result = attempt(self.draw, *self.given, **{**self.start, **now})
            if self.handle is not None:
                self.handle.update(self.shown())

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
            control.observe(self.moved, "value")
        self.handle = ipython.display(self.shown(), display_id=True)
        # What is alive now stays. Else every tenth move waits until a collection of garbage has gone through it all.
        gc.collect()
        gc.freeze()
        under(self.guess, written=not missing(self.result))

    def shown(self) -> Any:
        """The result as something that a notebook displays.

        A figure is not kept: it has thousands of parts, and each collection of garbage goes through those of all figures that
        are kept, for longer than drawing one takes.
        """
        if isinstance(self.result, Figure):
            figure, self.result = self.result, "a picture"
            width = int(figure.get_figwidth() * PIXELS)
            return ipython.Image(self.image(figure), format="png", width=width, alt=figure.get_suptitle())
        if missing(self.result):
            return Missing(self.result, GALLERY / f"{self.name}.png")
        return self.result if hasattr(self.result, "_repr_html_") else ipython.Pretty(self.result)

    def image(self, figure: Figure) -> bytes:
        """A figure as the bytes of an image, with its axes where the last one like it had them.

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


class Missing:
    """A line that says what is not there, and the picture that will be there."""

    def __init__(self, line: str, picture: Path):
        self.line, self.picture = line, picture

    def __repr__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        line = f"<p>{html.escape(self.line)}</p>"
        if "is not written yet" not in self.line or not self.picture.is_file():
            return line
        data = base64.b64encode(self.picture.read_bytes()).decode("ascii")
        text = "This is how it will look:"
        return f'{line}<p>{text}</p><img alt="{text} {self.picture.stem}" src="data:image/png;base64,{data}">'


def show(draw: Callable[..., Any], *given: Any, guess: Guess | None = None, like: str = "", **settings: Any) -> Player:
    """Put what draw(*given, **settings) returns, a picture or a table, into the notebook.

    `like` names its picture in the gallery, where the same function draws several.
    """
    player = Player(lambda: draw(*given, **settings), (), {}, guess)
    player.name = like or draw.__name__
    player.put()
    return player


def play(draw: Callable[..., Any], *given: Any, guess: Guess | None = None, like: str = "", **settings: Any) -> Player:
    """The same with controls: a Slide becomes a slider, True or False a tick box, a list a choice, a text a field."""
    player = Player(draw, given, settings, guess)
    player.name = like or draw.__name__
    player.put()
    return player


def attempt(draw: Callable[..., Any], *given: Any, **settings: Any) -> Any:
    """What draw returns, or one line that says why there is nothing to show."""
    yours = "|".join(path.stem for path in HOME.glob("*.py"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # from pictures of numbers that are wrong already
        warnings.filterwarnings("default", category=RuntimeWarning, module=f"({yours})$")  # those are kept
        try:
            return draw(*given, **settings)
        except NotImplementedError as missing:
            return NOTHING + (str(missing) or "something is not written yet")
        except (Exception, SystemExit) as error:
            return NOTHING + reason(error)


def missing(result: Any) -> bool:
    """Whether this is attempt()'s line."""
    return isinstance(result, str) and result.startswith(NOTHING)


def reason(error: BaseException) -> str:
    """One line about an error, with the last line of your own files that led to it."""
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.parent == HOME:
            return f"{path.name}, line {frame.lineno}: {text}"
    return text if isinstance(error, ImportError) else f"{text} (does the check of this module pass?)"


def png(figure: Figure, dpi: int = 120) -> bytes:
    """A figure as the bytes of an image. (savefig would draw it twice, and a slider would wait twice as long.)"""
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a picture of wrong numbers, which may be strange
        canvas.draw()
    file = io.BytesIO()
    Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").save(file, format="png", compress_level=3)
    return file.getvalue()


def _start(setting: Any) -> Any:
    if isinstance(setting, Slide):
        return int(setting.start) if setting.whole else setting.start
    return setting[0] if isinstance(setting, list) else setting


def _control(name: str, setting: Any) -> Any:
    text: dict[str, Any] = {"description": name.replace("_", " "), "style": {"description_width": "initial"}}
    if isinstance(setting, Slide):
        kind = ipywidgets.IntSlider if setting.whole else ipywidgets.FloatSlider
        low, high, start, step = (int(n) for n in setting) if setting.whole else setting
        return kind(value=start, min=low, max=high, step=step, **text)
    if isinstance(setting, bool):
        return ipywidgets.Checkbox(value=setting, indent=False, **text)
    if isinstance(setting, str):
        return ipywidgets.Text(value=setting, continuous_update=False, **text)
    text["style"] = {"description_width": "initial", "button_width": "auto"}
    return ipywidgets.ToggleButtons(options=setting, **text) if isinstance(setting, list) else None
