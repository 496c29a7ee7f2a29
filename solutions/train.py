"""Train a whole Transformer decoder from random weights, with your own functions. Nothing here is graded.

    python train.py                      learn the names in tour/names.txt: about two minutes
    python train.py --text poems.txt     learn a text of your own: names, words or short lines
    python train.py --resume model.npz   continue with the weights of an earlier run

Ctrl-C ends a run early. The best weights so far are in model.npz, names sampled from them in samples.txt. Files of an earlier
run are kept: model.npz becomes model-1.npz.

Your functions do the work, together with the backward pass in tour/backward.py; section 9 of transformer.ipynb explains it.
"""

import argparse
import importlib
import io
import itertools
import json
import math
import os
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small: one thread is fastest

try:
    importlib.import_module("tour")  # ends the program with one sentence if Python or NumPy is too old

    import numpy as np

    import scaled_attention
    from tour import ladder, names, reference_values
    from tour.backward import (
        DESIGNS,
        AdamW,
        Array,
        Design,
        Params,
        copied,
        flattened,
        forward,
        in_precision,
        initial_parameters,
        learning_rate,
        loss_and_gradient,
    )
    from tour.corpus import LONGEST_ENTRY, Corpus, TextError, baselines, batch, census, read_text
except Exception as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"train.py: {type(error).__name__}: {error}")

STEPS, RATE, BATCH_SIZE = 3000, 4e-3, 64  # of the default run: steps, highest learning rate, entries per step

# Training.


class Measurement(NamedTuple):
    """The losses after some steps, in nats per character: the mean over entries of each entry's mean."""

    step: int
    training: float
    held_out: float


@dataclass
class Training:
    """A training run, which can be continued at any time; `best` holds the weights with the lowest held-out loss."""

    corpus: Corpus
    design: Design = field(default_factory=Design)
    steps: int = STEPS
    batch_size: int = BATCH_SIZE
    rate: float = RATE
    every: int = 50  # steps between two measurements
    seed: int = 0
    start: Params | None = None

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.params = (
            copied(self.start) if self.start else initial_parameters(self.design, len(self.corpus.alphabet), self.rng)
        )
        self.optimiser = AdamW(self.params)
        self.step, self.seconds = 0, 0.0
        self.best, self.best_loss, self.best_step = copied(self.params), math.inf, 0
        self.written: set[Path] = set()
        self.kept: list[Path] = []  # files of earlier runs, renamed
        self.history: list[Measurement] = []
        some = self.corpus.training[:: max(1, len(self.corpus.training) // 500)]
        self.measured = {"training": some[:500], "held_out": self.corpus.held_out[:500]}

    @property
    def finished(self) -> bool:
        return self.step >= self.steps

    def advance(self) -> None:
        """Take one step; measure the losses before the first step and every few steps."""
        if not self.history:
            self.measure()
        began = time.perf_counter()
        n = len(self.corpus.training)
        picked = self.rng.choice(n, min(self.batch_size, n), replace=False)
        inputs, targets = batch([self.corpus.training[i] for i in picked], self.corpus.alphabet)
        _, grads = loss_and_gradient(self.params, inputs, targets, self.design)
        self.step += 1
        self.optimiser.step(self.params, grads, learning_rate(self.step, self.steps, self.rate))
        if self.step % self.every == 0 or self.finished:
            self.measure()
        self.seconds += time.perf_counter() - began

    def measure(self) -> None:
        """Add to the history, and keep the weights if they are the best so far."""
        training, held_out = (self.loss(self.measured[group]) for group in ("training", "held_out"))
        if not self.design.mask:  # such a decoder sees the next character: measure it as it is used in sampling
            held_out = prefix_loss(self.params, self.measured["held_out"], self.corpus.alphabet, self.design)
        self.history.append(Measurement(self.step, training, held_out))
        if held_out < self.best_loss:
            self.best, self.best_loss, self.best_step = copied(self.params), held_out, self.step

    def loss(self, entries: Sequence[str]) -> float:
        inputs, targets = batch(entries, self.corpus.alphabet)
        return float(entry_losses(forward(self.params, inputs, self.design)[0], targets).mean())

    @property
    def seconds_left(self) -> float:
        """An estimate from the steps so far; NaN before the tenth step."""
        return self.seconds / self.step * (self.steps - self.step) if self.step >= 10 else math.nan

    def sample(self, n: int = 8, temperature: float = 0.8, seed: int | None = None, best: bool = False) -> list[str]:
        """Sample entries from the current weights, or from the best ones; the same seed gives the same entries."""
        rng = np.random.default_rng(self.step if seed is None else seed)
        params = self.best if best else self.params
        return sample(params, self.corpus.alphabet, self.design, rng, n, temperature)

    def claim(self, file: Path) -> None:
        """Rename a file of an earlier run, such as model.npz to model-1.npz, before this run writes it."""
        if file not in self.written and file.exists():
            names = (file.with_stem(f"{file.stem}-{number}") for number in itertools.count(1))
            self.kept.append(file.rename(next(name for name in names if not name.exists())))
        self.written.add(file)


def entry_losses(logits: Array, targets: Array) -> Array:
    """Return the mean loss over the characters of each entry."""
    counts = targets >= 0
    p = np.take_along_axis(scaled_attention.softmax(logits), np.where(counts, targets, 0)[..., np.newaxis], -1)[..., 0]
    return -(np.log(p + 1e-30) * counts).sum(axis=1) / counts.sum(axis=1)


def prefix_loss(params: Params, entries: Sequence[str], alphabet: str, design: Design) -> float:
    """Return the loss if each character is predicted from only the text before it, as in sampling."""
    inputs, targets = batch(entries, alphabet)
    losses = np.zeros(inputs.shape)
    for t in range(inputs.shape[1]):
        logits = forward(params, inputs[:, : t + 1], design)[0][:, -1:]
        losses[:, t] = entry_losses(logits, np.maximum(targets[:, t : t + 1], 0))
    counts = targets >= 0
    return float(((losses * counts).sum(axis=1) / counts.sum(axis=1)).mean())


def sample(
    params: Params, alphabet: str, design: Design, rng: np.random.Generator, n: int, temperature: float = 0.8
) -> list[str]:
    """Write n entries in parallel, one character at a time."""
    tokens = np.zeros((n, 1), int)
    for _ in range(LONGEST_ENTRY):
        logits = forward(params, tokens, design)[0][:, -1].astype(float)
        p = scaled_attention.softmax(logits / temperature)
        following = (p.cumsum(axis=1) < rng.random((n, 1)) * p.sum(axis=1, keepdims=True)).sum(axis=1)
        tokens = np.column_stack([tokens, np.where((tokens[:, 1:] == 0).any(axis=1), 0, following)])
    texts = ["".join(alphabet[token] for token in row[1:]) for row in tokens]
    return [text.partition(alphabet[0])[0] for text in texts]


# Checks before training.

USED = (
    ("layernorm", "layer_norm"),
    ("layernorm", "layer_norm_backward"),
    ("scaled_attention", "softmax"),
    ("scaled_attention", "scaled_dot_product_attention"),
    ("scaled_attention", "split_heads"),
    ("scaled_attention", "merge_heads"),
    ("causal_mask", "causal_mask"),
    ("transformer_block", "feed_forward"),
    ("decoder", "positional_encoding"),
    ("decoder", "embed"),
)


def problems() -> list[str]:
    """Return a sentence for each function that is not written yet or gives wrong numbers."""
    sentences = []
    for module, function in USED:
        if not reference_values.agrees(module, function, reference_values.state()):
            sentences.append(f"your {function} disagrees with the formula; run: pytest {module}.py")
        elif not reference_values.agrees(module, function, reference_values.state(), unwritten=False):
            sentences.append(f"{function} ({module}.py) is not written yet")
    return sentences


def in_one_line(sentences: Sequence[str]) -> str:
    """Return the first problem, and how many more there are."""
    return sentences[0] + (f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else "")


# Files and the command line.

MODEL, SAMPLES = Path("model.npz"), Path("samples.txt")


def save(training: Training, model: Path = MODEL) -> None:
    """Write the best weights, in the format of your decoder_logits. A file of an earlier run is renamed."""
    about = {"alphabet": training.corpus.alphabet, "design": json.dumps(asdict(training.design))}
    unfinished = model.with_name(model.name + ".part")  # an interrupted write leaves the old file as it was
    with unfinished.open("wb") as file:
        np.savez(file, **about, loss=training.best_loss, **dict(flattened(training.best)))
    training.claim(model)
    unfinished.replace(model)


def save_samples(training: Training, samples: Path = SAMPLES) -> None:
    """Write 50 entries sampled from the best weights. A file of an earlier run is renamed."""
    training.claim(samples)
    samples.write_text("\n".join(training.sample(50, seed=0, best=True)) + "\n", encoding="utf-8")


def load(model: Path = MODEL) -> tuple[Params, str, Design]:
    """Return the parameters, alphabet and design in a file that save() wrote."""
    with np.load(model) as arrays:
        design = Design(**json.loads(str(arrays["design"])))
        params: Params = {"blocks": [{} for _ in range(design.blocks)]}
        for path, array in arrays.items():
            if path not in ("alphabet", "design", "loss"):
                *parents, last = path.split("/")
                subtree: Any = params
                for key in parents:
                    subtree = subtree[int(key)] if key.isdigit() else subtree.setdefault(key, {})
                subtree[last] = array
        return params, str(arrays["alphabet"]), design


def trained_model() -> tuple[Params, str]:
    """Return the parameters of the trained model of names in this folder, in single precision, and its alphabet."""
    return in_precision(names.model(), np.float32), census().alphabet


def from_command_line(arguments: Sequence[str] | None = None) -> Training:
    """Set up the training described by the arguments. Raises TextError or OSError."""
    parser = argparse.ArgumentParser(description="Train a Transformer decoder with your own functions.")
    parser.add_argument("--text", type=Path, metavar="FILE", help="names, words or short lines, UTF-8")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of training (default: {STEPS})")
    parser.add_argument("--rate", type=float, default=RATE, help=f"the highest learning rate (default: {RATE})")
    parser.add_argument("--batch-size", type=int, default=BATCH_SIZE, help=f"entries per step (default: {BATCH_SIZE})")
    parser.add_argument("--seed", type=int, default=0, help="seed of the initial weights and the batches")
    parser.add_argument("--design", choices=DESIGNS, default="complete", help="leave out a part")
    parser.add_argument("--resume", type=Path, metavar="MODEL", help="start from the weights in this file")
    options = parser.parse_args(arguments)
    if options.steps < 1 or options.batch_size < 1 or not options.rate > 0:
        parser.error("--steps and --batch-size must be at least 1, and --rate greater than 0")
    start, alphabet, design = None, "", DESIGNS[options.design]
    if options.resume:
        try:
            start, alphabet, design = load(options.resume)
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            raise TextError(f"{options.resume} is not a model written by train.py") from None
    try:
        corpus = read_text(options.text.read_text(encoding="utf-8-sig"), alphabet) if options.text else census()
    except UnicodeDecodeError:
        raise TextError(f"{options.text} is not a UTF-8 text") from None
    if alphabet and set("".join(corpus.training)) - set(alphabet):
        raise TextError(
            f"{options.resume} was trained on another alphabet; give the text it was trained on with --text"
        )
    corpus = corpus._replace(alphabet=alphabet or corpus.alphabet)
    every = min(50, max(10, options.steps // 12))  # so that a short run has a curve
    return Training(corpus, design, options.steps, options.batch_size, options.rate, every, options.seed, start)


def show_progress(training: Training) -> None:
    """Print a line with the losses after this step, and a few samples from the same weights."""
    last, left = training.history[-1], training.seconds_left
    eta = "" if math.isnan(left) or training.finished else f", about {duration(left)} left"
    print(f"{over_the_bar()}{bar(training)} training {last.training:.2f}, held out {last.held_out:.2f}{eta}")
    print("   ", "  ".join(text or "(nothing)" for text in training.sample()))


def over_the_bar() -> str:
    """Return what to print first where a terminal shows the bar."""
    return "\r" + " " * 70 + "\r" if sys.stdout.isatty() else ""


def bar(training: Training, width: int = 24) -> str:
    done = round(width * training.step / training.steps)
    return f"[{'=' * done}{' ' * (width - done)}] {training.step:,} of {training.steps:,} steps"


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def main(arguments: Sequence[str] | None = None, report: Callable[[Training], None] | None = None) -> int:
    """Train, and write the best weights and samples; the exit status is 1 if it cannot train.

    `report` is called after each step, in place of printing the progress.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack characters of the text
    try:
        training = from_command_line(arguments)
        if sentences := problems():
            raise TextError(in_one_line(sentences))
        return run(training, report)
    except (TextError, OSError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 1


def run(training: Training, report: Callable[[Training], None] | None) -> int:
    unfinished = MODEL.with_name(MODEL.name + ".part")
    unfinished.open("wb").close()  # raises OSError before the training if the folder is read-only
    unfinished.unlink()
    print(training.corpus.report)
    for name, loss in baselines(training.corpus).items():
        print(f"{loss:.2f} nats per character: {name}")
    printed_at = 0.0
    try:
        while not training.finished:
            training.advance()
            if report is not None:
                report(training)
                continue
            if training.step == 10:
                eta = duration(training.seconds_left)
                print(f"{over_the_bar()}{training.steps:,} steps will take about {eta}. Ctrl-C ends early.")
            if sys.stdout.isatty():
                print("\r" + bar(training), end="", flush=True)
            if training.finished or training.seconds > printed_at + 5:
                show_progress(training)
                save(training)
                printed_at = training.seconds
    except KeyboardInterrupt:
        print(f"\nStopped after {training.step:,} steps.")
    if training.history:
        print(f"The best weights are those of step {training.best_step:,}: held-out loss {training.best_loss:.2f}.")
        if training.corpus == census():
            print("For comparison, the models of the homework:")
            for rung in ladder.RUNGS:
                print(f"  {rung.loss:.2f} after {rung.module}.py: {rung.model}")
    if training.history and report is None:
        save(training)
        save_samples(training)
        print(f"Written: {MODEL} and {SAMPLES}, both from these weights.")
        if training.kept:
            print(f"Kept from an earlier run: {' and '.join(map(str, training.kept))}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
