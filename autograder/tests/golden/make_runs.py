"""Writes solutions/tour/finished_runs.json: the default training run for each design of the decoder.

Run manually, from the root of the clone, after a change to solutions/train.py or solutions/tour/backward.py. It takes
about ten minutes:

    python autograder/tests/golden/make_runs.py

A test repeats the first steps of each run and compares the losses.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

import train  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

RUNS = SOLUTIONS / "tour" / "finished_runs.json"
SAMPLED = (0, 50, 150, 500, 1500, 3000)  # names are sampled after these steps
SEED = 0


def finished(design: str) -> dict[str, Any]:
    """One run: its losses, and names sampled at some of its steps."""
    corpus, samples = train.census(), {}
    training, began = train.Training(corpus, train.DESIGNS[design], seed=SEED), time.process_time()
    training.measure()
    while True:
        if training.step in SAMPLED:
            samples[str(training.step)] = training.sample()
        if training.finished:
            break
        training.advance()
    return {
        "steps": training.steps,
        "seed": SEED,
        "processor_seconds": round(time.process_time() - began),
        "baselines": {name: round(loss, 4) for name, loss in train.baselines(corpus).items()},
        "history": [[step, round(training, 4), round(held_out, 4)] for step, training, held_out in training.history],
        "samples": samples,
    }


def main() -> None:
    runs = {design: finished(design) for design in train.DESIGNS}
    RUNS.write_text(json.dumps(runs, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
