"""Training the decoder: the gradient, the loop, the user's own texts, the files, the command line and the panel."""

import math
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.tests.files import HOMEWORK
from autograder.tests.making import known

DESIGNS = ("complete", "without norms", "without the mask", "without residuals", "without positions", "post-norm")
VARIANTS = [f"ada{'l' * (i % 5)}{'u' * (i // 5)}" for i in range(24)]
LINES = "\n".join(f"line {a}{b} of the song" for a in "abcdefg" for b in "abcdefg")  # 49 entries


@pytest.fixture
def train(homework: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """train.py, with an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return homework.train


def small(train: Any, **options: Any) -> Any:
    """A short training run on a text of 49 lines."""
    return train.Training(train.read_text(LINES), **{"steps": 20, "batch_size": 16, "every": 10, **options})


def finished(training: Any) -> Any:
    while not training.finished:
        training.advance()
    return training


@pytest.mark.parametrize(
    "design", [name if name == "complete" else pytest.param(name, marks=pytest.mark.slow) for name in DESIGNS]
)
def test_gradient_agrees_with_finite_differences(homework: Any, design: str) -> None:
    gaps = homework.backward.gradient_check(homework.backward.DESIGNS[design], entries=8)
    assert {"embedding", "attention", "ffn", "ln_1", "ln_2", "w_out", "b_out"} == set(gaps)
    assert max(gap for _, gap in gaps.values()) < 1e-8


def test_twenty_steps_lower_the_loss_on_held_out_names(train: Any) -> None:
    training = finished(train.Training(train.census(), steps=20, every=20))
    first, last = training.history
    assert first.held_out == pytest.approx(math.log(27), abs=0.1), "it starts as if all characters were equally likely"
    assert last.held_out < first.held_out - 0.4 and last.training < first.training - 0.4
    assert training.best_loss == last.held_out and not math.isnan(training.seconds_left)


@pytest.mark.slow
def test_first_steps_of_the_finished_runs_are_reproducible(train: Any, homework: Any) -> None:
    runs = homework.pictures.training.runs()
    assert tuple(train.DESIGNS) == DESIGNS == tuple(runs)
    for name, run in runs.items():
        training = train.Training(train.census(), train.DESIGNS[name])
        while training.step < training.every:
            training.advance()
        # Without residuals, rounding errors, which differ between processors, grow the fastest.
        rounding = 1e-2 if name == "without residuals" else 2e-3
        np.testing.assert_allclose(training.history, run["history"][:2], atol=rounding)
        assert (run["steps"], run["seed"]) == (training.steps, training.seed)
        assert len(run["history"]) == run["steps"] // training.every + 1
    baselines = [round(loss, 2) for loss in train.baselines(train.census()).values()]
    assert baselines == [3.30, 2.81, 2.37] == [round(loss, 2) for loss in runs["complete"]["baselines"].values()]


def test_notebook_text_matches_the_finished_runs(homework: Any) -> None:
    runs, text = (
        homework.pictures.training.runs(),
        "".join((HOMEWORK.solutions / "transformer.ipynb").read_text().split()),
    )
    lowest = {name: min(run["history"], key=lambda row: row[2]) for name, run in runs.items()}
    best, last = {name: f"{row[2]:.2f}" for name, row in lowest.items()}, runs["without residuals"]["history"][-1]
    assert best["without positions"] == best["complete"] and f"{last[2]:.2f}" == "2.80"
    for words in (
        f"*From3.30natsto{best['complete']}",
        f"(seed0,{runs['complete']['processor_seconds']}s;",
        f"{best['without residuals']}natsafter{lowest['without residuals'][0]}steps",
        f"scores{best['without the mask']}when",
        f"Withoutnormsitscores{best['without norms']}.",
        f"decoder,{best['post-norm']}.",
        f"justasgood,{best['without positions']}:",
    ):
        assert words in text


def test_weights_with_the_lowest_held_out_loss_are_kept(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    training, losses = small(train), iter([3.0, 2.0, 2.5])
    monkeypatch.setattr(training, "loss", lambda entries: next(losses) if entries is training.corpus.held_out else 0.0)
    training.measured["held_out"] = training.corpus.held_out
    kept = []
    for _ in range(3):
        training.measure()
        kept.append(training.best["b_out"].copy())
        training.params["b_out"] += 1
    assert training.best_loss == 2.0
    assert (kept[1] == kept[0] + 1).all() and (kept[2] == kept[1]).all()


def test_trained_parameters_work_with_decoder_logits(train: Any, homework: Any) -> None:
    training = small(train)
    training.advance()
    train.save(training)
    params, alphabet, design = train.load()
    inputs, _ = train.batch(["line ab of"], alphabet)
    logits = homework.decoder.decoder_logits(inputs[0], params, design.heads)
    np.testing.assert_allclose(logits, train.forward(training.best, inputs, design)[0][0], atol=1e-4)


@pytest.mark.parametrize(("text", "first", "says"), [
    ("\n".join(f"Anna{'abcde'[i % 5] * (i % 7)}" for i in range(40)), "anna", "different entries"),
    (", ".join(VARIANTS), "adalu", "24 different entries, 5 of them held out"),
    (" ".join(VARIANTS), "adalu", "24 different entries"),
    ("\n".join(VARIANTS).replace("ada", "Жанна"), "жаннаlu", "24 different entries"),
    ("\n".join(f"ab{'cd' * (i % 20)}!x" if i == 1 else f"ab{'cd' * i}" for i in range(25)), "ab", "(dropped: ! x)"),
    ("\n".join(f"{'word ' * 9}{'abcdefg'[i // 7]}{'abcdefg'[i % 7]}" for i in range(40)), "word" + " word" * 5, ""),
])  # fmt: skip
def test_text_is_normalised_and_dropped_characters_are_reported(train: Any, text: str, first: str, says: str) -> None:
    corpus = train.read_text(text)
    entries = [*corpus.training, *corpus.held_out]
    assert first in entries and says in corpus.report
    assert len(set(entries)) == len(entries) and not set(corpus.training) & set(corpus.held_out)
    assert set("".join(entries)) <= set(corpus.alphabet) and corpus.alphabet[0] == "\n"
    assert max(map(len, entries)) <= 30


def unwritten(*_: Any) -> None:
    raise NotImplementedError("not written yet")


def test_wrong_and_unwritten_functions_are_named_before_training(
    train: Any, homework: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.problems() == []
    with monkeypatch.context() as patched:
        patched.setattr(homework.layernorm, "layer_norm", HOMEWORK.alone(known("sample_variance")).fresh())
        assert train.main(["--steps", "5"]) == 1
    said = "train.py: your layer_norm disagrees with the formula; run: pytest layernorm.py\n"
    assert capsys.readouterr().err == said
    for name in ("split_heads", "merge_heads"):
        monkeypatch.setattr(homework.scaled_attention, name, unwritten)
    assert train.main(["--steps", "5"]) == 1
    assert capsys.readouterr().err == "train.py: split_heads (scaled_attention.py) is not written yet (and 1 more)\n"


def test_files_of_an_earlier_run_are_kept(train: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path("song.txt").write_text(LINES, encoding="utf-8")
    for number in range(3):
        before = Path("model.npz").read_bytes() if number else b""
        assert train.main(["--text", "song.txt", "--steps", "1", f"--seed={number}"]) == 0
        said = capsys.readouterr().out
        assert (f"Kept from an earlier run: model-{number}.npz and samples-{number}.txt." in said) is bool(number)
        assert not number or Path(f"model-{number}.npz").read_bytes() == before != Path("model.npz").read_bytes()


def test_interrupt_saves_the_best_weights(
    train: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("song.txt").write_text(LINES, encoding="utf-8")
    right = train.Training.advance

    def interrupted(training: Any) -> None:
        if training.step == 3:
            raise KeyboardInterrupt
        right(training)

    monkeypatch.setattr(train.Training, "advance", interrupted)
    assert train.main(["--text", "song.txt"]) == 0
    assert "Stopped after 3 steps." in capsys.readouterr().out
    assert train.load()[2] == train.DESIGNS["complete"]


@pytest.mark.parametrize(("arguments", "line"), [
    (["--text", "nothing.txt"], "train.py: .*'nothing.txt'"),
    (["--text", "bytes.bin"], "train.py: bytes.bin is not a UTF-8 text"),
    (["--text", "short.txt"], "train.py: the text has 0 different entries; training needs at least 20"),
    (["--resume", "short.txt"], "train.py: short.txt is not a model written by train.py"),
    (["--resume", "song.npz"], "train.py: song.npz was trained on another alphabet; .*"),
])  # fmt: skip
def test_error_is_reported_in_one_line(
    train: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    Path("bytes.bin").write_bytes(b"\xff\xfe\x00\x80")
    Path("short.txt").write_text("a")
    corpus = train.read_text(LINES)
    train.save(train.Training(corpus._replace(alphabet="\nxyz")), Path("song.npz"))
    assert train.main(arguments) == 1
    assert re.fullmatch(line + "\n", capsys.readouterr().err)


@pytest.fixture
def panel(train: Any, homework: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class TrainingPanel, without panels or results from other tests."""
    pytest.importorskip("ipywidgets")
    found = homework.training_panel.TrainingPanel
    monkeypatch.setattr(found, "panels", {})
    monkeypatch.setattr(found, "results", {})
    return found


@pytest.mark.slow
def test_panel_trains_on_the_users_own_text(panel: Any) -> None:
    shown = panel(text=LINES, steps=100)
    shown.steps.min, shown.steps.value = 1, 12
    shown.button.click()
    shown.thread.join()
    assert shown.progress.value == 12 and shown.button.description == "Train"
    assert "49 different entries" in shown.status.value and "Finished after" in shown.status.value
    assert "data:image/png;base64,iVBOR" in shown.picture.value and "<b>step 12</b>" in shown.written.value
    assert Path("own_model.npz").is_file() and Path("own_samples.txt").is_file()


def test_stopped_training_continues_when_the_cell_runs_again(panel: Any) -> None:
    shown = panel(text=LINES, steps=6000)
    shown.go()
    while shown.training.step < 5:
        time.sleep(0.01)
    shown.stop()
    assert 5 <= shown.training.step < 6000 and Path("own_model.npz").is_file()
    again = panel(text=LINES, steps=6000)
    assert again.training is shown.training and f"Step {shown.training.step:,}" in again.status.value
    again.over.click()
    assert again.training is None


@pytest.mark.parametrize(
    ("text", "said"), [("ada", "the text has 0 different entries"), (LINES, "your softmax disagrees with the formula")]
)
def test_panel_says_why_it_cannot_train(
    panel: Any, homework: Any, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    if "softmax" in said:
        monkeypatch.setattr(homework.scaled_attention, "softmax", lambda scores, axis=-1: scores)
    shown = panel(text=text)
    shown.go()
    assert "Cannot train yet:" in shown.status.value and said in shown.status.value and shown.thread is None
