"""Questions before a picture. The picture waits for a guess, or for "Show me"; then it says whether the guess was right.

The first guess of each question is kept in guesses.json, beside the notebook, and goes into the zip that you upload. It is
not graded; your teacher may look at what a class has guessed.
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
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


ipywidgets, ipython = optional("ipywidgets"), optional("IPython.display")
FILE = Path(__file__).parents[1] / "guesses.json"
ASK = "Make your guess above, or press <b>Show me</b>, and it appears here."
everything = False  # whether all pictures are shown without waiting: see show_all


class Said:
    """A paragraph in HTML, and without its tags where no HTML is shown."""

    def __init__(self, markup: str):
        self.markup = markup

    def __repr__(self) -> str:
        return html.unescape(re.sub(r"<[^>]*>", "", self.markup.replace("<br>", "\n")))

    def _repr_html_(self) -> str:
        return self.markup


@functools.cache
def kept() -> dict[str, dict[str, Any]]:
    """What was guessed first, by question: {"guess": one of its choices, "right": whether it is}."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):  # a file that somebody has spoiled
        found = json.loads(FILE.read_text(encoding="utf-8"))
        return {str(question): dict(entry) for question, entry in found.items()}
    return {}


def keep(question: str, guess: str, right: bool) -> None:
    """Remember a guess, also for the next kernel, where the folder can be written to."""
    kept()[question] = {"guess": guess, "right": right}
    with contextlib.suppress(OSError):
        FILE.write_text(json.dumps(kept(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def show_all() -> None:
    """From now on show every picture at once, without waiting for a guess: for printing, or for looking things up."""
    global everything
    everything = True


class Guess:
    """A question with a few answers to choose from, the right one of them, and why it is right."""

    def __init__(self, question: str, choices: Sequence[str], right: str, why: str):
        if right not in choices:
            raise ValueError(f"{right!r} is not one of the choices")
        self.question, self.choices, self.right, self.why = question, list(choices), right, why
        self.asked_to_show = False
        self.waiting: list[Callable[[], None]] = []
        self.buttons = self.button = None
        if ipywidgets is not None:
            layout = ipywidgets.Layout(width="max-content")
            value = self.choice or None
            self.buttons = ipywidgets.RadioButtons(
                options=self.choices, value=value, layout=layout, disabled=value is not None
            )
            self.button = ipywidgets.Button(description="Show me")
            self.buttons.observe(self.chosen, "value")
            self.button.on_click(self.pressed)

    @property
    def choice(self) -> str:
        """What was chosen first, "" before."""
        guess = kept().get(self.question, {}).get("guess")
        return guess if guess in self.choices else ""

    @property
    def settled(self) -> bool:
        """Whether the picture may be shown."""
        return bool(self.choice or self.asked_to_show or everything or self.buttons is None)

    def chosen(self, change: Any) -> None:
        """Keep the first choice, and let what waits for it appear."""
        if change["new"] and not self.choice:
            keep(self.question, change["new"], change["new"] == self.right)
            self.buttons.disabled = True
            self.tell()

    def pressed(self, _: object) -> None:
        """Let what waits appear without a guess."""
        self.asked_to_show = True
        self.tell()

    def tell(self) -> None:
        """Draw what has waited for this."""
        for show in self.waiting:
            show()

    def said(self) -> str:
        """Whether the guess was right, and why; in HTML."""
        if not self.settled:
            return ""
        right = f"<b>{html.escape(self.right)}</b>"
        if not self.choice:
            verdict = f"The right answer: {right}."
        elif self.choice == self.right:
            verdict = f"You guessed {right}, and that is right."
        else:
            verdict = f"You guessed <b>{html.escape(self.choice)}</b>. The right answer: {right}."
        return f"<p>{verdict}<br>{self.why}</p>"

    def put(self) -> None:
        """The question and its answers to choose from."""
        if ipython is None:
            print(self.question, *self.choices, sep="\n- ")
            return
        ipython.display(Said(f"<p><b>Guess first.</b> {html.escape(self.question)}</p>"))
        text = "\n".join(f"( ) {choice}" for choice in self.choices)
        if self.buttons is None:
            ipython.display(ipython.Pretty(text))
        else:
            box = ipywidgets.VBox([self.buttons, self.button])
            ipython.display({**box._repr_mimebundle_(), "text/plain": text}, raw=True)


def predict(question: str, choices: Sequence[str], right: str, why: str) -> Guess:
    """Ask before a picture; give what this returns to show() or play(). `why` may have tags of HTML."""
    guess = Guess(question, choices, right, why)
    guess.put()
    return guess
