"""Questions before a picture. The picture appears after the answer, or after "Show me". A line says whether the answer was right.

The first answer to each question is saved in guesses.json, next to the notebook, and uploaded with your modules. Answers
are not graded; your instructor may look at the answers of the class.
"""

import contextlib
import functools
import html
import importlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def optional(module: str) -> Any:
    """A module, or None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


ipywidgets, ipython = optional("ipywidgets"), optional("IPython.display")
FILE = Path(__file__).parents[1] / "guesses.json"
ASK = "Answer the question above, or press <b>Show me</b>, and the picture appears here."
everything = False  # whether all pictures are shown without waiting: see show_all
asked: list["Guess"] = []  # the questions of this notebook


class Said:
    """A paragraph as HTML, and without tags for displays without HTML."""

    def __init__(self, markup: str):
        self.markup = markup

    def __repr__(self) -> str:
        return html.unescape(re.sub(r"<[^>]*>", "", self.markup.replace("<br>", "\n")))

    def _repr_html_(self) -> str:
        return self.markup


@functools.cache
def kept() -> dict[str, dict[str, Any]]:
    """The first guesses, by question: {"guess": one of its choices, "right": whether it is correct}."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):  # a damaged file
        found = json.loads(FILE.read_text(encoding="utf-8"))
        return {str(question): dict(entry) for question, entry in found.items()}
    return {}


def keep(question: str, guess: str, right: bool) -> None:
    """Remember a guess, also for the next kernel if the folder is writable."""
    kept()[question] = {"guess": guess, "right": right}
    with contextlib.suppress(OSError):
        FILE.write_text(json.dumps(kept(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def show_all() -> None:
    """Show every picture, now and from now on, without waiting for an answer: for printing or a second reading."""
    global everything
    everything = True
    for guess in asked:
        guess.tell()


def show_all_button() -> None:
    """A button for show_all()."""
    if ipywidgets is None:
        return
    button = ipywidgets.Button(description="Show all pictures", tooltip="without answering the questions first")
    button.on_click(lambda _: show_all())
    ipython.display({**button._repr_mimebundle_(), "text/plain": "(Show all pictures)"}, raw=True)


class Guess:
    """A question with a few answers to choose from, the right answer, and the reason."""

    def __init__(self, question: str, choices: Sequence[str], right: str, why: str):
        if right not in choices:
            raise ValueError(f"{right!r} is not one of the choices")
        self.question, self.choices, self.right, self.why = question, list(choices), right, why
        self.asked_to_show = False
        self.waiting: list[Callable[[], None]] = []
        self.buttons = self.button = self.box = None
        asked.append(self)
        if ipywidgets is not None:
            layout = ipywidgets.Layout(width="max-content")
            value = self.choice or None
            self.buttons = ipywidgets.RadioButtons(
                options=self.choices, value=value, layout=layout, disabled=value is not None
            )
            self.button = ipywidgets.Button(description="Show me")
            self.buttons.observe(self.chosen, "value")
            self.button.on_click(self.pressed)
            self.box = ipywidgets.VBox([self.buttons, self.button])

    @property
    def choice(self) -> str:
        """The first choice; "" if there is none yet."""
        guess = kept().get(self.question, {}).get("guess")
        return guess if guess in self.choices else ""

    @property
    def settled(self) -> bool:
        """True if the picture may be shown."""
        return bool(self.choice or self.asked_to_show or everything or self.buttons is None)

    def chosen(self, change: Any) -> None:
        """Keep the first choice, and show the picture that waits for it."""
        if change["new"] and not self.choice:
            keep(self.question, change["new"], change["new"] == self.right)
            self.buttons.disabled = True
            self.tell()

    def pressed(self, _: object) -> None:
        """Show the waiting picture without a guess."""
        self.asked_to_show = True
        self.tell()

    def tell(self) -> None:
        """Collapse the choices, and draw the picture that was waiting for the answer."""
        if self.box is not None:
            self.box.layout.display = "none"
        while self.waiting:
            self.waiting.pop()()

    def said(self) -> str:
        """Whether the guess was right, and why, as HTML."""
        if not self.settled:
            return ""
        right = f"<b>{html.escape(self.right)}</b>"
        if not self.choice:
            verdict = f"The right answer: {right}."
        elif self.choice == self.right:
            verdict = f"You predicted {right}, and that is right."
        else:
            verdict = f"You predicted <b>{html.escape(self.choice)}</b>. The right answer: {right}."
        return f"<p>{verdict}<br>{self.why}</p>"

    def put(self) -> None:
        """The question and its choices."""
        if ipython is None:
            print(self.question, *self.choices, sep="\n- ")
            return
        ipython.display(Said(f"<p><b>Predict first.</b> {html.escape(self.question)}</p>"))
        text = "\n".join(f"( ) {choice}" for choice in self.choices)
        if self.buttons is None:
            ipython.display(ipython.Pretty(text))
        else:
            self.box.layout.display = "none" if self.settled else None
            ipython.display({**self.box._repr_mimebundle_(), "text/plain": text}, raw=True)


def predict(question: str, choices: Sequence[str], right: str, why: str) -> Guess:
    """Ask a question before a picture; pass the result to show() or play(). `why` may contain HTML tags."""
    guess = Guess(question, choices, right, why)
    guess.put()
    return guess
