"""Questions before a picture: what you guess is kept, and stands below the picture with the answer."""

import html
import importlib
import re
from collections.abc import Sequence
from typing import Any


def optional(module: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


ipywidgets, ipython = optional("ipywidgets"), optional("IPython.display")
KEPT: dict[str, str] = {}  # what was guessed, by question: it outlives running the cell again


class Said:
    """A paragraph in HTML, and without its tags where no HTML is shown."""

    def __init__(self, markup: str):
        self.markup = markup

    def __repr__(self) -> str:
        return html.unescape(re.sub(r"<[^>]*>", "", self.markup.replace("<br>", "\n")))

    def _repr_html_(self) -> str:
        return self.markup


class Guess:
    """A question with a few answers to choose from, and what is to be said when one has been chosen."""

    def __init__(self, question: str, choices: Sequence[str], answer: str):
        self.question, self.choices, self.answer = question, list(choices), answer
        self.handles: list[Any] = []
        kept = KEPT.get(question)
        self.buttons = None
        if ipywidgets is not None:
            layout = ipywidgets.Layout(width="max-content")
            self.buttons = ipywidgets.RadioButtons(options=self.choices, value=kept, layout=layout)
            self.buttons.observe(self.chosen, "value")

    @property
    def choice(self) -> str:
        """What has been chosen, "" before."""
        return KEPT.get(self.question, "")

    def chosen(self, change: Any) -> None:
        """Keep a choice, and say so wherever the answer stands."""
        if change["new"]:
            KEPT[self.question] = change["new"]
        for handle in self.handles:
            handle.update(self.said())

    def said(self) -> Said:
        """The guess and the answer; before a choice, how to make one."""
        if not self.choice and self.buttons is not None:
            return Said("<p><em>What is your guess? Choose an answer above, and it will be discussed here.</em></p>")
        guess = f"<b>You guessed:</b> {html.escape(self.choice)}<br>" if self.choice else ""
        return Said(f"<p>{guess}<b>Look:</b> {self.answer}</p>")

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
            ipython.display({**self.buttons._repr_mimebundle_(), "text/plain": text}, raw=True)


def predict(question: str, choices: Sequence[str], answer: str) -> Guess:
    """Ask before a picture; give what this returns to show() or play(). The answer may have tags of HTML."""
    guess = Guess(question, choices, answer)
    guess.put()
    return guess


def under(guess: Guess | None, written: bool) -> None:
    """The guess and the answer below a picture, if the picture is there."""
    if guess is not None and written and ipython is not None:
        guess.handles.append(ipython.display(guess.said(), display_id=True))
