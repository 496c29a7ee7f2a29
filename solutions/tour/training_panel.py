"""A training run with buttons: progress, curve and samples while it runs in a background thread.

The training itself is in train.py; this file has only the controls.
"""

import asyncio
import base64
import html
import importlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tour import reference_values
from tour.controls import DRAWING, PIXELS, png, reason
from tour.pictures.training import curve, designs
from tour.predictions import Said, ipython, ipywidgets

RANDOM, TRAINED = "random weights", "the trained model"
STEPS = 3000
REDRAWN, SAMPLES_SHOWN = 2.0, 6  # seconds between pictures; lines of samples
WITHOUT_CONTROLS = "(Buttons appear here in a running notebook with ipywidgets. Without them, run: python train.py)"
FIRST = "Press <b>Train</b>. You see the curve of the loss here, and what the decoder writes."


async def in_turns(steps: Iterator[None]) -> None:
    """Let the browser handle its events after each step."""
    for _ in steps:
        await asyncio.sleep(0)


class TrainingPanel:
    """Controls for one training run, on the names or on a text in a text area."""

    # The notebook's panels, by whether they have a text area: running a cell again continues its training.
    panels: dict[bool, "TrainingPanel"] = {}
    results: dict[str, tuple[float, list[str]]] = {}  # designs trained on the names from random weights

    def __init__(self, text: str = "", steps: int = STEPS, start: str = RANDOM):
        self.own_text, self.training, self.thread = bool(text), None, None
        prefix = "own_" if self.own_text else ""
        self.model, self.samples = Path(f"{prefix}model.npz"), Path(f"{prefix}samples.txt")
        self.baselines: dict[str, float] = {}
        self.running, self.lines = False, []
        if ipywidgets is not None:
            self._make(text, steps, start)
        before = self.panels.get(self.own_text)
        if before is not None:
            before.stop()
            self.training, self.baselines, self.lines = before.training, before.baselines, before.lines
        self.panels[self.own_text] = self
        if self.training is not None and ipywidgets is not None:
            self.show()

    def _make(self, text: str, steps: int, start: str) -> None:
        w, style = ipywidgets, {"description_width": "initial"}
        names = ["complete", "without norms", "without the mask", "without residuals", "without positions", "post-norm"]
        self.design = w.Dropdown(options=names, description="design", style=style, layout={"width": "230px"})
        self.start_from = w.Dropdown(
            options=[RANDOM, TRAINED], value=start, description="start from", style=style, layout={"width": "240px"}
        )
        self.steps = w.IntSlider(value=steps, min=100, max=6000, step=100, description="steps", style=style)
        self.text = w.Textarea(value=text, rows=5, layout={"width": "95%"})
        self.button = w.Button(description="Train", button_style="primary", layout={"width": "100px"})
        self.over = w.Button(description="Start over", layout={"width": "100px"})
        self.progress = w.IntProgress(min=0, max=steps, layout={"width": "300px"})
        self.status, self.written = w.HTML(FIRST), w.HTML(layout={"width": "400px"})
        self.picture = w.HTML()
        self.table = w.HTML(self.results_table())
        self.button.on_click(lambda _: self.stop() if self.running else self.go())
        self.over.on_click(lambda _: self.reset())
        choices = [self.start_from, self.steps] if self.own_text else [self.design, self.steps]
        self.box = w.VBox(
            [
                *([self.text] if self.own_text else []),
                w.HBox([*choices, self.button, self.over], layout=w.Layout(flex_flow="row wrap")),
                w.HBox([self.progress, self.status]),
                w.HBox([self.picture, self.written]),
                self.table,
            ]
        )

    def _ipython_display_(self) -> None:
        if ipywidgets is None or ipython is None:
            print(WITHOUT_CONTROLS)
        else:
            ipython.display({**self.box._repr_mimebundle_(), "text/plain": WITHOUT_CONTROLS}, raw=True)

    def go(self) -> None:
        """Start, or continue, in a thread or between the events of a browser."""
        if self.running:
            return
        reference_values.reload()
        try:
            train = importlib.import_module("train")
            if problems := train.problems():
                raise train.TextError(train.in_one_line(problems))
            if self.training is None or self.training.finished:
                self.training = self.new(train)
                self.baselines, self.lines = train.baselines(self.training.corpus), []
            elif not isinstance(
                self.training, train.Training
            ):  # a file has changed since Stop: continue with the new one
                self.training.__class__ = train.Training
                self.training.design = train.Design(**vars(self.training.design))
        except (ValueError, NotImplementedError) as error:
            self.say(f"<b>Cannot train yet:</b> {html.escape(str(error))}")
            return
        except (Exception, SystemExit) as error:
            self.say(f"<b>Cannot train yet:</b> {html.escape(reason(error))}")
            return
        self.running = True
        self.button.description, self.progress.max = "Stop", self.training.steps
        steps = self.work(train)
        if sys.platform == "emscripten":  # a browser has no threads
            self.task = asyncio.ensure_future(in_turns(steps))
        else:
            self.thread = threading.Thread(target=list, args=(steps,), daemon=True)
            self.thread.start()

    def new(self, train: Any) -> Any:
        """Set up the training described by the controls."""
        start, alphabet = None, ""
        if self.own_text and self.start_from.value == TRAINED:
            start, alphabet = train.trained_model()
        corpus = train.read_text(self.text.value, alphabet) if self.own_text else train.census()
        design = train.DESIGNS["complete" if self.own_text else self.design.value]
        rate = train.RATE if start is None else train.RATE / 4
        return train.Training(corpus, design, self.steps.value, rate=rate, start=start)

    def work(self, train: Any) -> Iterator[None]:
        """Train until the end, or until Stop; yield after each step.

        The best weights are saved with every picture and at the end.
        """
        training, drawn_at = self.training, 0.0
        try:
            while self.running and not training.finished:
                training.advance()
                self.progress.value = training.step
                if time.perf_counter() > drawn_at + REDRAWN or training.step == 10:
                    self.show()
                    train.save(training, self.model)
                    drawn_at = time.perf_counter()
                yield
            self.finish(train)
        except Exception as error:
            self.say(f"<b>Stopped:</b> {html.escape(reason(error))}")
        finally:
            self.running = False
            self.button.description = "Train"

    def finish(self, train: Any) -> None:
        """Show the last picture, the files, and the row of the table."""
        training = self.training
        self.show()
        if not training.history:
            return
        train.save(training, self.model)
        train.save_samples(training, self.samples)
        self.say(f"{html.escape(training.corpus.report)} {self.progress_text()}")
        if not self.own_text:
            design = next(name for name, design in train.DESIGNS.items() if design == training.design)
            self.results[design] = training.best_loss, training.sample(3, seed=1, best=True)
            self.table.value = self.results_table()

    def results_table(self) -> str:
        """Return the designs trained so far. The others are hidden, because a question asks about them."""
        trained = "" if self.own_text or not self.results else designs(self.results)._repr_html_()
        return trained.replace("<table>", '<table cellpadding="6">')  # JupyterLab does not style tables in widgets

    def stop(self) -> None:
        """Stop after the current step."""
        self.running = False
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join()

    def reset(self) -> None:
        """Discard this training run; the next one uses the current settings of the controls."""
        self.stop()
        self.training, self.lines = None, []
        self.progress.value, self.picture.value, self.written.value = 0, "", ""
        self.say(FIRST)

    def show(self) -> None:
        """Draw the curve, and add a line of samples from the weights of this step."""
        training = self.training
        if not training.history:
            return
        step = training.step
        if not self.lines or self.lines[-1][0] != step:
            self.lines.append((step, [text or "(nothing)" for text in training.sample()]))
        with DRAWING:
            figure = curve(training.history, self.baselines, training.steps)
            data = base64.b64encode(png(figure)).decode("ascii")  # text, since a kernel in a browser sends no bytes
        self.picture.value = f'<img alt="" width="{int(6.4 * PIXELS)}" src="data:image/png;base64,{data}">'
        rows = [f"<b>step {n:,}</b> {html.escape('  '.join(some))}" for n, some in self.lines[-SAMPLES_SHOWN:]]
        self.written.value = '<div style="line-height:1.5">' + "<br>".join(rows) + "</div>"
        self.say(f"{html.escape(training.corpus.report)} {self.progress_text()}")

    def progress_text(self) -> str:
        training = self.training
        if training.finished:
            written = (
                f"the best weights (step {training.best_step:,}) are in {self.model}, samples of them in {self.samples}"
            )
            kept = f" Kept from an earlier run: {' and '.join(map(str, training.kept))}." if training.kept else ""
            return f"Finished after {training.seconds:.0f} s; {written}.{kept}"
        seconds = training.seconds_left
        return f"Step {training.step:,} of {training.steps:,}" + (
            f", about {seconds:.0f} s seconds." if seconds == seconds else "."
        )

    def say(self, markup: str) -> None:
        self.status.value = markup

    def __repr__(self) -> str:
        return repr(Said(self.status.value)) if ipywidgets is not None else WITHOUT_CONTROLS
