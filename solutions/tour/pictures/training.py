"""Pictures and tables of training: the curve of the loss, the check of the gradient, decoders trained without a part."""

import functools
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tour import ladder, names
from tour.plotting import BLUE, GREY, GROUND, RED, canvas, label, legend
from tour.tables import Table, short

RUNS = Path(__file__).parents[1] / "finished_runs.json"  # computed by the instructors with the solutions
REMOVED = {  # the loss of this folder's trained decoder without a part, for the table at the top
    "complete": "1.95",
    "without norms": "2.19",
    "without the mask": "3.02",
    "without residuals": "3.20",
    "without positions": "2.42",
    "post-norm": "",
}
CUT = 12  # characters shown of a sample; early samples are long


@functools.cache
def runs() -> dict[str, Any]:
    """Return the finished runs, by design: steps, seed, history, baselines, and samples by step."""
    found: dict[str, Any] = json.loads(RUNS.read_text(encoding="utf-8"))
    return found


def curve(history: Sequence[Sequence[float]], baselines: Mapping[str, float], steps: int) -> Figure:
    """Draw the losses so far: history has (step, training, held out) in each row."""
    best = min((held_out for *_, held_out in history), default=float("nan"))
    figure, [axes] = canvas(6.4, 3.1, 1, f"Best held-out loss so far: {best:.2f} nats per character")
    losses(axes, history, baselines, steps)
    return figure


def losses(axes: Axes, history: Sequence[Sequence[float]], baselines: Mapping[str, float], steps: int) -> None:
    highest = 1.1 * max([*baselines.values(), *(row[2] for row in history[:1])])
    place = highest
    for name, loss in sorted(baselines.items(), key=lambda entry: -entry[1]):
        axes.axhline(loss, color=GREY, linestyle=":", linewidth=1)
        place = min(loss, place - 0.08 * highest)  # below the label above, if two lines are close
        axes.text(steps, place, f"{name} {loss:.2f}", ha="right", va="bottom", fontsize=8, color=GREY, bbox=GROUND)
    done = [row[0] for row in history]
    axes.plot(done, [row[1] for row in history], color=BLUE, label="training")
    axes.plot(done, [row[2] for row in history], "--", color=RED, label="held out")
    axes.set_xlim(0, steps)
    axes.set_ylim(0, highest)
    legend(axes, loc="lower left", ncols=2)
    label(axes, "", "step", "nats per character")


def finished_run() -> Figure:
    """Draw a whole run: the losses, and the samples written during training."""
    run = runs()["complete"]
    best = min(held_out for *_, held_out in run["history"])
    title = f"{run['steps']:,} steps from random weights: {best:.2f} nats per character on held-out names"
    figure, axes = canvas(10.4, 3.3, 2, title, width_ratios=(3, 2))
    losses(axes[0], run["history"], run["baselines"], run["steps"])
    axes[1].axis("off")
    written = list(run["samples"].items())
    lines = [f"step {int(step):,}:\n    {'  '.join(text[:CUT] for text in some[:4])}" for step, some in written]
    axes[1].text(0, 1, "\n".join(lines), va="top", fontsize=8.5)
    label(axes[1], "sampled on the way")
    return figure


def designs(yours: Mapping[str, tuple[float, Sequence[str]]] | None = None) -> Table:
    """Decoders with and without a part: its loss when the part is removed afterwards, and when it is trained without.

    If you pass your own results, only the designs you have trained are listed.
    """
    rows = []
    for design in REMOVED if yours is None else (design for design in REMOVED if design in yours):
        removed, run, mine = REMOVED[design], runs().get(design), (yours or {}).get(design)
        best = f"{min(held_out for *_, held_out in run['history']):.2f}" if run else ""
        written = mine[1] if mine else list(run["samples"].values())[-1] if run else []
        rows.append(
            (
                design,
                removed,
                best,
                f"{mine[0]:.2f}" if mine else "",
                " ".join(text or "(nothing)" for text in written[:3]),
            )
        )
    heads = ("decoder", "part removed after training", "trained without it", "trained by you", "it writes")
    return Table(rows, heads)


def models_so_far() -> Table:
    """Return the models of the ladder: their losses, and names from those that your functions make up."""
    reached = ladder.climbed()
    rows = [("", "which letter follows which, counted", "2.37", "")]
    for rung in ladder.RUNGS:
        written = ladder.sample(rung.module, 5) if rung in reached else ["?"]
        rows.append((f"{rung.module}.py", rung.model, f"{rung.loss:.2f}", " ".join(written)))
    return Table(rows, ("after", "the model", "nats per character", "your code writes"))


def gradient_check(modules: names.Modules) -> Table:
    """Return the gradient of a small decoder from the backward pass, next to finite differences."""
    for module, function in importlib.import_module("train").USED:
        getattr(getattr(modules, module), function)  # the functions that are checked
    gaps = importlib.import_module("tour.backward").gradient_check()
    rows = [(part, f"{tried}", short(gap, 1)) for part, (tried, gap) in gaps.items()]
    worst = max(gap for _, gap in gaps.values())
    verdict = "They agree." if worst < 1e-6 else "THEY DIFFER: training would go in the wrong direction."
    return Table([*rows, (verdict,)], ("gradient with respect to", "weights tried", "largest difference"))
