"""Questions about a picture. After the answer, or after "Show me", a line above the picture marks the right choice.

The picture of a question that `waits` appears after the answer.

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
    """Return a module, or None if it is not installed."""
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
def first_guesses() -> dict[str, dict[str, Any]]:
    """Return the first guesses, by question: {"guess": one of its choices, "right": whether it is correct}."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):  # a damaged file
        saved = json.loads(FILE.read_text(encoding="utf-8"))
        return {str(question): dict(entry) for question, entry in saved.items()}
    return {}


def keep(question: str, guess: str, right: bool) -> None:
    """Remember a guess, also for the next kernel if the folder is writable."""
    first_guesses()[question] = {"guess": guess, "right": right}
    with contextlib.suppress(OSError):
        FILE.write_text(json.dumps(first_guesses(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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

    def __init__(self, question: str, choices: Sequence[str], right: str, why: str, waits: bool = False):
        if right not in choices:
            raise ValueError(f"{right!r} is not one of the choices")
        self.question, self.choices, self.right, self.why, self.waits = question, list(choices), right, why, waits
        self.asked_to_show = False
        self.waiting: list[Callable[[], None]] = []
        self.buttons = self.button = self.box = self.marked = None
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
        guess = first_guesses().get(self.question, {}).get("guess")
        return guess if guess in self.choices else ""

    @property
    def answered(self) -> bool:
        """True if the answer may be shown."""
        return bool(self.choice or self.asked_to_show or everything or self.buttons is None)

    @property
    def settled(self) -> bool:
        """True if the picture may be shown."""
        return self.answered or not self.waits

    def chosen(self, change: Any) -> None:
        """Keep the first choice, and show the answer."""
        if change["new"] and not self.choice:
            keep(self.question, change["new"], change["new"] == self.right)
            self.buttons.disabled = True
            self.tell()

    def pressed(self, _: object) -> None:
        """Show the answer without a guess."""
        self.asked_to_show = True
        self.tell()

    def tell(self) -> None:
        """Replace the buttons by the marked choices, and draw the picture that was waiting for the answer."""
        if self.box is not None:
            self.box.layout.display = "none"
        if self.marked is not None:
            self.marked.update(self.verdict())
        while self.waiting:
            self.waiting.pop()()

    def verdict(self) -> Said:
        """Return the choices, with the right one and the student's own marked; empty before the answer."""
        if not self.answered:
            return Said("")
        marks = {
            self.choice: f"<s>{html.escape(self.choice)}</s> &#10007;",
            self.right: f"<b>{html.escape(self.right)}</b> &#10003;",
        }
        listed = " &nbsp;&middot;&nbsp; ".join(marks.get(choice) or html.escape(choice) for choice in self.choices)
        words = "" if not self.choice else "Right. " if self.choice == self.right else "Not quite. "
        return Said(f"<p>{words}{listed}</p>")

    def reason(self) -> str:
        """Why the right answer is right, as HTML; empty before the answer. Only two sentences of a long text are unfolded."""
        if not self.answered:
            return ""
        sentences = re.split(r"(?<=[.?]) (?=[A-Z])", self.why)
        if len(self.why) < 400 or len(sentences) < 4:
            return f"<p>{self.why}</p>"
        first, rest = " ".join(sentences[:2]), " ".join(sentences[2:])
        return f"<p>{first}</p><details><summary>More</summary>{rest}</details>"

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
            self.box.layout.display = "none" if self.answered else None
            ipython.display({**self.box._repr_mimebundle_(), "text/plain": text}, raw=True)
        self.marked = ipython.display(self.verdict(), display_id=True)


def predict(question: str, choices: Sequence[str], right: str, why: str, waits: bool = False) -> Guess:
    """Ask a question about a picture; pass the result to show() or play(). `why` may contain HTML tags."""
    guess = Guess(question, choices, right, why, waits)
    guess.put()
    return guess
