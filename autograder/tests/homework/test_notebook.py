"""The students' notebook runs before and after the modules are written, and its pictures follow the sliders."""

import base64
import contextlib
import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from autograder.release import handout
from autograder.tests.files import HOMEWORK, python_says
from autograder.tests.making import known

TOUR = HOMEWORK.solutions / "tour"
MODULES = tuple(HOMEWORK.rubric.modules)
FILE = HOMEWORK.solutions / "transformer.ipynb"
Cells = list[Any]


def all_cells() -> Cells:
    return list(nbformat.read(FILE, as_version=4).cells)  # type: ignore[no-untyped-call]


def tour() -> Cells:
    """The cells, except Otter's markers and checks, which start pytest."""
    cells, in_tests = [], False
    for cell in all_cells():
        in_tests = in_tests or "# BEGIN TESTS" in cell.source
        if cell.cell_type != "raw" and not in_tests:
            cells.append(cell)
        in_tests = in_tests and "# END TESTS" not in cell.source
    return cells


@functools.cache
def text() -> str:
    """All text of the notebook, without line breaks and without breaks in strings."""
    return " ".join(" ".join("".join(cell.source).split()) for cell in all_cells()).replace('" "', "")


def says(*expected: str) -> bool:
    """Check that the notebook contains these texts. The tests recompute the numbers in them."""
    assert [words for words in expected if words not in text()] == []
    return True


def code(some: str) -> Any:
    """The first code cell that contains this text."""
    return next(cell for cell in tour() if cell.cell_type == "code" and some in cell.source)


FIRST = tour().index(code("steps = play("))  # the cell with the first picture


# The file


def test_file_has_a_reproducible_format_and_no_outputs() -> None:
    """Otter writes format 4.4, without cell ids, identically each time."""
    notebook = json.loads(FILE.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    assert not any("id" in cell for cell in notebook["cells"])
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])
    nbformat.validate(notebook)


def test_sections_depend_only_on_the_first_cell() -> None:
    """Students can start anywhere, and a homework can have fewer modules."""
    sections = {"": ""}
    for cell in tour():
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            sections[cell.source.partition("\n")[0]] = ""
        elif cell.cell_type == "code":
            sections[[*sections][-1]] += re.sub("^%", "#", cell.source, flags=re.MULTILINE) + "\n"
    first = sections.pop("")
    undefined = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"]
    for heading, source in sections.items():
        done = subprocess.run(undefined, input=first + source, capture_output=True, text=True)
        assert done.returncode == 0, (heading, done.stdout)


# Running the whole notebook


def student_folder(folder: Path, written: bool) -> Path:
    """Fill a student's folder, with the solutions if `written`, else with stubs."""
    shutil.copy(HOMEWORK.solutions / "train.py", folder)
    shutil.copytree(TOUR, folder / "tour", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "checks").mkdir()
    shutil.copy(HOMEWORK.solutions / "checks" / "student_setup.py", folder / "checks")
    for name in MODULES:
        text = (HOMEWORK.solutions / f"{name}.py").read_text()
        if not written:
            text = handout.stub(text, tuple(HOMEWORK.rubric.modules[name].functions))
        (folder / f"{name}.py").write_text(text)
    return folder


def outputs(cells: Cells) -> list[Any]:
    return [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]


def texts(cells: Cells) -> list[str]:
    """The text output of cells, without pictures and controls."""
    shown = [output.data for output in outputs(cells) if "data" in output]
    said = [data["text/plain"] for data in shown if not any("image" in kind or "widget" in kind for kind in data)]
    return said + [output.text for output in outputs(cells) if output.output_type == "stream"]


def pictures_in(cells: Cells) -> list[str]:
    return [output.data["image/png"] for output in outputs(cells) if "image/png" in output.get("data", {})]


def errors_in(cells: Cells) -> list[str]:
    return [str(found) for found in outputs(cells) if found.output_type == "error" or found.get("name") == "stderr"]


class Run(NamedTuple):
    """The executed tour, then one or two more cells in the same kernel. One run serves many tests."""

    cells: Cells
    more: Cells


def run(folder: Path, *more: Any) -> Run:
    """Execute the tour; pictures do not wait for a guess."""
    cells = tour()
    cells[cells.index(code("show_all_button()"))].source += "\nfrom tour.predictions import show_all\nshow_all()"
    document = {"cells": [*cells, *more], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    notebook = nbformat.from_dict(document)  # type: ignore[no-untyped-call]

    options: dict[str, Any] = {"timeout": 120, "kernel_name": "python3", "allow_errors": True}
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}, **options).execute()
    return Run(notebook.cells[: len(cells)], notebook.cells[len(cells) :])


def new(some: str) -> Any:
    return {"cell_type": "code", "metadata": {}, "source": some, "outputs": [], "execution_count": None}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with the solutions. At the end, a slider is moved, and the same picture is drawn again."""
    folder = student_folder(tmp_path_factory.mktemp("solutions"), written=True)
    plotting = folder / "tour" / "plotting.py"
    plotting.write_text(plotting.read_text().replace('LAYOUT = "constrained"', 'LAYOUT = "none"'))
    move = new("import asyncio\nsteps.controls['gamma'].value = -2.0\nawait asyncio.sleep(1)")
    return run(folder, move, code("steps = play("))


@pytest.fixture(scope="module")
def unwritten(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with stubs. At the end, a file is saved, and a picture that needs it is drawn again."""
    folder = student_folder(tmp_path_factory.mktemp("stubs"), written=False)
    shutil.copy(HOMEWORK.solutions / "layernorm.py", folder / "written.txt")
    save = "import shutil\nshutil.copyfile('written.txt', 'layernorm.py')"
    return run(folder, new(save), code("steps = play("))


@pytest.mark.slow
def test_runs_with_the_solutions_and_shows_everything(solved: Run) -> None:
    assert errors_in(solved.cells) == []
    assert len(pictures_in(solved.cells)) >= 38
    assert [text for text in texts(solved.cells) if "Cannot draw" in text or "not written" in text] == []
    [moved], [unmoved] = pictures_in([solved.cells[FIRST]]), pictures_in(solved.more)
    assert errors_in(solved.more) == [] and moved != unmoved
    assert base64.b64decode(moved).startswith(b"\x89PNG")
    gallery = [*(TOUR / "gallery").iterdir()]
    source = " ".join(cell.source for cell in solved.cells)
    assert len([path for path in gallery if path.suffix == ".png"]) == len(pictures_in(solved.cells))
    assert all(re.search(f'pictures\\.{path.stem}\\b|like="{path.stem}"', source) for path in gallery)
    assert sum(path.stat().st_size for path in gallery) < 600_000
    lines = [line for text in texts(solved.cells) if "printed in the notes" in text for line in text.splitlines()]
    verdicts = [line.rsplit("  ", 1)[1] for line in lines if line.endswith(("same", "rounding", "DIFFERS"))]
    tables = "".join(path.read_text() for path in gallery if path.suffix == ".html")
    assert sorted(verdicts) == sorted(re.findall(">(same|rounding|DIFFERS)<", tables)), "comparisons with the notes"


@pytest.mark.slow
def test_runs_with_stubs_and_shows_an_example_of_each_picture_and_table(unwritten: Run) -> None:
    assert errors_in(unwritten.cells) == []
    shown = [output.get("data", {}) for output in outputs(unwritten.cells)]
    missing = [data for data in shown if data.get("text/plain", "").endswith("is not written yet")]
    assert len(missing) >= 40 and not any("\n" in data["text/plain"] for data in missing)
    assert [data for data in missing if not re.search("<img|<table", data["text/html"])] == []
    assert not any(text.startswith("Cannot draw") for text in texts(unwritten.cells))
    question, verdict, picture, reason = texts([unwritten.cells[FIRST]])
    assert (
        question.startswith("Predict first. ") and "nothing \u2713" in verdict and reason.startswith("Stages 3 and 4")
    )
    assert picture == "layer_norm is not written yet"
    assert errors_in(unwritten.more) == [] and len(pictures_in(unwritten.more)) == 1, "a saved file is used at once"


@pytest.mark.slow
def test_every_picture_has_its_question_in_the_same_hidden_cell(solved: Run) -> None:
    cells = [cell for cell in solved.cells if cell.cell_type == "code"]
    asking = [cell for cell in cells if "guess=predict(" in cell.source]
    assert [cell.source for cell in cells if pictures_in([cell]) and cell not in asking] == []
    for cell in asking:
        assert cell.metadata.get("jupyter") == {"source_hidden": True}, "the answer is in the code"
        assert "Predict first." in texts([cell])[0] and "\u2713" in texts([cell])[1]


WRONG = {  # the body of every function of a module
    "layernorm": "return None",
    "batchnorm_comparison": "return np.full(3, np.nan)",
    "scaled_attention": "return np.zeros((2, 3))",
    "causal_mask": "raise SystemExit(3)",
    "transformer_block": "return residual(*args)",  # infinite recursion
    "decoder": "return [99.5] * 3",
}


@pytest.mark.slow
@pytest.mark.parametrize("module", WRONG)
def test_runs_with_a_wrong_module(tmp_path: Path, module: str) -> None:
    """A line appears in place of a picture that cannot be drawn. No cell ends in a traceback."""
    file = student_folder(tmp_path, written=True) / f"{module}.py"
    functions = HOMEWORK.rubric.modules[module].functions
    wrong = "".join(f"\n\ndef {name}(*args, **named):\n    {WRONG[module]}\n" for name in functions)
    file.write_text(file.read_text() + wrong)
    cells = run(tmp_path).cells
    assert [output for output in outputs(cells) if output.output_type == "error"] == []
    assert not any("Traceback" in text for text in texts(cells))
    assert any(text.startswith("Cannot draw this: ") for text in texts(cells))


# Controls


# Errors in a student's code take one line


@pytest.fixture
def own_file(homework: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The path of a student's file, own.py, in a separate folder."""
    for module in (homework.controls, homework.reference_values):
        monkeypatch.setattr(module, "HOME", tmp_path)
    monkeypatch.setattr(homework.reference_values, "_files", [])
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "own.py"
    for name in ("own", "using"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("text", "line"), [
    ("def f():\n    return [][1]\n", f"own.py, line 2: IndexError: {python_says('[][1]')}"),
    ("def f(:\n", f"own.py, line 1: SyntaxError: {python_says('def f(:')}"),
    ("def g():\n    pass\n", "AttributeError: "),
    (None, "ModuleNotFoundError: "),
])  # fmt: skip
def test_error_is_reported_in_one_line(homework: Any, own_file: Path, text: str | None, line: str) -> None:
    if text is not None:
        own_file.write_text(text)
    said = homework.controls.attempt(lambda: homework.controls.Lazy("own").f())
    assert said.startswith(f"Cannot draw this: {line}") and "\n" not in said


def test_saved_file_is_reloaded_and_its_syntax_error_takes_one_line(homework: Any, own_file: Path) -> None:
    own_file.write_text("def f():\n    return 'first'\n")
    own_file.with_name("using.py").write_text("from own import f\n")
    player = homework.controls.play(lambda: homework.controls.Lazy("using").f())
    assert player.result == "first"
    for text, result in (
        ("def f():\n    return 'the second'\n", "the second"),
        ("def f(:\n    return 'broken'\n", f"Cannot draw this: own.py, line 1: SyntaxError: {python_says('def f(:')}"),
        ("def f():\n    return 'mended'\n", "mended"),
    ):
        own_file.write_text(text)
        player.redraw()
        assert str(player.result) == result


# Predictions


@pytest.fixture
def predictions(homework: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module predictions, with a separate file for guesses."""
    found = homework.predictions
    monkeypatch.setattr(found, "FILE", tmp_path / "guesses.json")
    monkeypatch.setattr(found, "asked", [])
    monkeypatch.setattr(found, "everything", False)
    found.first_guesses.cache_clear()
    yield found
    found.first_guesses.cache_clear()


def asked(predictions: Any, waits: bool = True) -> Any:
    return predictions.Guess("Which?", ["this", "that"], "that", "It is &radic;2.", waits)


ANSWERS = [
    ("this", "Not quite. this \u2717 \xa0\xb7\xa0 that \u2713"),
    ("that", "Right. this \xa0\xb7\xa0 that \u2713"),
]


@pytest.mark.parametrize(("choice", "marked"), ANSWERS)
def test_choices_stay_with_the_right_one_and_the_students_marked(predictions: Any, choice: str, marked: str) -> None:
    guess = asked(predictions)
    guess.put()
    assert repr(guess.verdict()) == guess.reason() == "" and not guess.settled and guess.box.layout.display is None
    guess.buttons.value = choice
    assert repr(guess.verdict()) == marked and guess.reason() == "<p>It is &radic;2.</p>"
    assert guess.box.layout.display == "none"


def test_only_questions_that_wait_hide_their_picture(predictions: Any) -> None:
    guess = asked(predictions, waits=False)
    assert guess.settled and not guess.answered and guess.reason() == ""
    gating = [cell for cell in tour() if "waits=True" in cell.source]
    assert 10 <= len(gating) <= 15
    section, opened = "", set()
    for cell in tour():
        section = cell.source.partition("\n")[0] if cell.source.startswith("## ") else section
        if "guess=predict(" in cell.source and section not in opened:
            opened.add(section)
            assert section.startswith("## 9") or cell not in gating, f"{section} begins without a picture"


def test_first_guess_counts_and_survives_a_kernel_restart(predictions: Any) -> None:
    guess = asked(predictions)
    guess.buttons.value = "this"
    guess.buttons.value = "that"
    predictions.first_guesses.cache_clear()  # as in a new kernel
    assert json.loads(predictions.FILE.read_text()) == {"Which?": {"guess": "this", "right": False}}
    again = asked(predictions)
    assert again.settled and again.buttons.value == "this" and again.buttons.disabled


def waiting(predictions: Any, homework: Any) -> tuple[Any, Any, list[int]]:
    """A question, its picture, and a list of the values that were drawn."""
    drawn: list[int] = []
    guess, slide = asked(predictions), homework.controls.Slide(1, 9, 3, 1)
    return guess, homework.controls.play(lambda n: drawn.append(n), n=slide, guess=guess), drawn


@pytest.mark.parametrize(
    "settle", [lambda guess: setattr(guess.buttons, "value", "this"), lambda guess: guess.button.click()]
)
def test_picture_waits_for_a_guess_or_show_me(predictions: Any, homework: Any, settle: Callable[[Any], None]) -> None:
    """Browsers round the values of sliders, as if somebody had moved them. That must not show the picture."""
    guess, player, drawn = waiting(predictions, homework)
    player.controls["n"].value = 5
    assert drawn == [] and player.box.layout.display == "none"
    settle(guess)
    assert drawn == [5] and player.box.layout.display is None


def test_show_all_shows_current_and_later_pictures_once(predictions: Any, homework: Any) -> None:
    _, _, drawn = waiting(predictions, homework)
    predictions.show_all()
    predictions.show_all()
    assert drawn == [3]
    assert waiting(predictions, homework)[2] == [3]


# Tables, and whether a student's functions are correct


def test_solutions_agree_with_the_reference_values(homework: Any) -> None:
    calls = homework.reference_values.CALLS
    assert set(calls) <= {(m, name) for m, entry in HOMEWORK.rubric.modules.items() for name in entry.functions}
    assert homework.reference_values.disagreeing(calls) == [] and homework.reference_values.doubt(calls) == ""


def test_table_does_not_blame_the_notes_for_a_students_mistake(homework: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homework.layernorm, "layer_norm", HOMEWORK.alone(known("sample_variance")).fresh())
    yours, token = homework.controls.Lazy("layernorm"), np.array([4.0, 2.0, 0.0, -2.0])
    result = lambda: yours.layer_norm(token, np.ones(4), np.zeros(4))  # noqa: E731
    shown = homework.tables.compare([("one", "1.34 0.45 -0.45 -1.34", result, "A remark.")])
    assert [row[-1] for row in shown.rows] == ["your layer_norm is not right yet"]
    assert "Fix <code>layer_norm</code> first" in homework.reference_values.doubt([("layernorm", "layer_norm")])


def test_picture_that_cannot_be_drawn_names_the_wrong_function(homework: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homework.scaled_attention, "merge_heads", lambda x: x)
    yours = homework.controls.Lazy("scaled_attention")
    player = homework.controls.play(homework.pictures.heads_drawing, yours, n_heads=[3, 2])
    assert repr(player.shown()).startswith("Cannot draw this: ")
    said = repr(player.comment())
    assert said.startswith("Not right yet: your merge_heads disagrees with the formulas. Fix merge_heads first; run ")


# Numbers in the text, recomputed


def test_numbers_about_deep_networks_match_the_text() -> None:
    deep = np.load(TOUR / "depth.npz")
    low, after, high = ({key: values[row, 96] for key, values in deep.items()} for row in range(3))
    alone, last, post = "norms alone/1.0/gradient", "pre-norm/1.0/normed", after["post-norm/1.0/gradient"]
    half, whole = (deep["post-norm/1.0/direct"][1, blocks] for blocks in (48, 96))
    assert says(
        f"its median falls to {post:.2f}",
        f"median {post:.2f} after 96 blocks",
        f"a median of {after[alone]:.2f} of the gradient arrives through 96 blocks",
        f"80 % band goes from {low[alone]:.2f} to {high[alone]:.1f}",
        f"in one network in ten it is less than 0.03, in another more than {high[alone]:.1f}",
        f"the right scale, {low[last]:.2f} to {high[last]:.1f}",
        f"{half:.0e} after 48 blocks, {whole:.0e} after 96",
    )
    assert (
        low[alone] < 0.03
        and 1e28 < after["residuals alone/1.0/gradient"] < 1e29
        and says("by a factor of 10<sup>28</sup>")
    )
    assert 0.5e-193 < after["plain/0.1/gradient"] < 2e-193 and says("plain networks are dead (10<sup>&minus;193</sup>)")


# The model of names


@pytest.mark.slow
def test_names_on_the_first_pages_are_written_by_the_solutions(homework: Any) -> None:
    written = [name for name, _ in homework.pictures.written(homework.modules).rows]
    assert says(f"*{', '.join(written)}*")
    assert sum(name not in homework.names.census()[0] for name in written) == 7
    readme = (HOMEWORK.solutions / "README.md").read_text()
    for rung in homework.ladder.RUNGS:
        names = ", ".join(homework.ladder.sample(rung.module, 3))
        assert f"| `{rung.module}.py` | {rung.loss:.2f} | {names} |" in readme


@pytest.mark.slow
def test_losses_and_sizes_of_models_match_the_text(homework: Any) -> None:
    names, train = homework.names, homework.train
    costs = {change: names.costs(homework.modules, change).mean() for change in names.CHANGES}
    uniform, letters, pairs = (f"{cost:.2f}" for cost in names.by_counting().values())
    with np.load(TOUR / "names.npz") as arrays:
        pre, post = (sum(a.size for path, a in arrays.items() if path.startswith(norm)) for norm in ("pre", "post"))
    assert f"{names.costs(homework.modules).mean():.2f}" == "1.95" == str(homework.pictures.names.RIGHT_LOSS)
    assert homework.pictures.models_so_far().rows[0][2] == pairs and pre == post
    assert train.prefix_loss(names.model("post"), names.census()[1], names.ALPHABET, train.DESIGNS["post-norm"]) < 2
    assert says(
        f"its {pre:,} weights are not",
        "a second model, as good as the first",
        f"guessing scores {uniform}, the frequencies of the letters {letters}, counting which letter follows which {pairs}",
        f"{costs[names.NO_ATTENTION]:.2f} against 2.37 nats",
        f"scores {costs[names.NO_NORMS]:.2f} instead of 1.95",
        f"the decoder scores {costs[names.NO_ATTENTION]:.2f}",
        f"the loss jumps to {costs[names.NO_FUTURE]:.2f}",
        f"the decoder scores {costs[names.NO_SUMS]:.2f}",
        f"without them it scores {costs[names.NO_MLP]:.2f}",
        f"it scores {costs[names.NO_ORDER]:.2f} and writes katharinyurifex",
    )


@pytest.mark.parametrize(("misconception", "number", "loss"), [
    ("one position", 3, "The loss is {:.2f}."),
    ("mask transposed", 7, "the loss is {:.2f}, worse than random guessing"),
    ("heads reversed", 4, "{:.2f}, and no shape is wrong"),
])  # fmt: skip
def test_output_of_the_puzzles_matches_the_text(homework: Any, misconception: str, number: int, loss: str) -> None:
    names, rng = homework.names, np.random.default_rng(1)
    written = [names.sample(homework.modules, rng, 0.8, change=misconception) for _ in range(number)]
    assert says(", ".join(written), loss.format(names.costs(homework.modules, misconception).mean()))


def test_traced_parts_add_up_to_the_decoder(homework: Any) -> None:
    names = homework.names
    tokens = names.tokens("Zoë-Ann")
    whole = homework.decoder.decoder_logits(tokens, names.model(), names.HEADS)
    stream = sum(vectors for _, vectors in names.trace(homework.modules, tokens).added)
    np.testing.assert_allclose(stream @ names.model()["w_out"] + names.model()["b_out"], whole, atol=1e-12)


# Pictures


def ends(control: Any) -> list[Any]:
    """All choices of a control, or both ends of a slider; for a name, an empty one and one that is too long."""
    if hasattr(control, "min"):
        return [control.min, control.max]
    return list(getattr(control, "options", [False, True] if control.value in (False, True) else ["", "x" * 40]))


@pytest.mark.slow
def test_everything_is_drawn_at_both_ends_of_its_controls(homework: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    players: list[Any] = []
    monkeypatch.setattr(homework.plotting, "LAYOUT", "none")
    monkeypatch.setattr(homework.controls.Player, "put", lambda player: players.append(player))
    lines = [re.sub("^%.*", "", cell.source, flags=re.MULTILINE) for cell in tour() if cell.cell_type == "code"]
    with contextlib.redirect_stdout(None):
        exec("\n".join(lines), {})
    assert [name for name in homework.pictures.__all__ if f"pictures.{name}" not in "\n".join(lines)] == []
    for player in players:
        values = {name: ends(control) for name, control in player.controls.items()}
        for number in range(max(map(len, values.values()), default=1)):
            for name, found in values.items():
                player.controls[name].value = found[number % len(found)]
            player.redraw()
            assert not homework.controls.missing(player.result), (player.name, player.result)
            if isinstance(player.result, Figure):
                assert player.result.get_suptitle(), player.name
                assert player.result.get_figwidth() <= 10.5, f"{player.name} is too wide for a small screen"
                player.result.canvas.draw()
