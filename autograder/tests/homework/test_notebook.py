"""The students' notebook: it runs before and after the modules are written, and its pictures follow the sliders."""

import ast
import base64
import builtins
import contextlib
import importlib
import itertools
import json
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from PIL import Image

from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import handout

TOUR = kit.solutions() / "tour"
MODULES = tuple(rubrics.current().modules)
NOTEBOOK = "transformer.ipynb"
Cells = list[Any]
Figure = Any  # Matplotlib's: to import it takes a second, and every test process imports this file


def source() -> Any:
    return nbformat.read(kit.solutions() / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def tour() -> Cells:
    """The cells without Otter's marks and checks, which start pytest."""
    cells, in_tests = [], False
    for cell in source().cells:
        in_tests = in_tests or "# BEGIN TESTS" in cell.source
        if cell.cell_type != "raw" and not in_tests:
            cells.append(cell)
        in_tests = in_tests and "# END TESTS" not in cell.source
    return cells


def code(text: str) -> Any:
    """The code cell that has this text."""
    return next(cell for cell in tour() if cell.cell_type == "code" and text in cell.source)


def new(text: str) -> Any:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}


def homework(folder: Path, written: bool) -> Path:
    """A student's folder, with stubs or with everything written."""
    shutil.copy(kit.solutions() / "train.py", folder)
    shutil.copytree(TOUR, folder / "tour", ignore=shutil.ignore_patterns("__pycache__"))
    for name in MODULES:
        text = (kit.solutions() / f"{name}.py").read_text()
        if not written:
            text = handout.stub(text, tuple(rubrics.current().modules[name].functions))
        (folder / f"{name}.py").write_text(text)
    return folder


def execute(cells: Cells, folder: Path, after_each: Callable[[Cells], None] = lambda cells: None) -> Cells:
    """Run cells in a kernel of their own; after_each gets all of them, with the outputs so far."""
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    notebook = nbformat.from_dict(document)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=lambda **_: after_each(notebook.cells),
    )
    client.execute()
    return list(notebook.cells)


def outputs(cells: Cells) -> list[Any]:
    return [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]


def texts(cells: Cells) -> list[str]:
    """What the cells say, controls apart."""
    shown = [output.data for output in outputs(cells) if "data" in output]
    said = [data["text/plain"] for data in shown if not any("image" in kind or "widget" in kind for kind in data)]
    return said + [output.text for output in outputs(cells) if output.output_type == "stream"]


def pictures_in(cells: Cells) -> list[str]:
    return [output.data["image/png"] for output in outputs(cells) if "image/png" in output.get("data", {})]


def position(text: str) -> int:
    """Where in the tour the code cell with this text is."""
    return tour().index(code(text))


def faults(cells: Cells) -> list[str]:
    return [
        f"{output.get('ename', output.get('name'))}: {output.get('evalue', output.get('text'))}"
        for output in outputs(cells)
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


class Run(NamedTuple):
    """The tour, executed, and then one or two cells more in the same kernel, which is started once for many tests."""

    cells: Cells
    more: Cells
    first: (
        str  # the picture with gamma and beta, or what stands in its place, as it was before the cells that came later
    )


def unfolded(cells: Cells) -> Cells:
    """The same, where no picture waits for a guess."""
    cells[cells.index(code("show_all_button()"))].source += "\nfrom tour.predictions import show_all\nshow_all()"
    return cells


def run(folder: Path, *more: Any) -> Run:
    cells, seen = unfolded(tour()), {}
    place = position("steps = play(")

    def look(done: Cells) -> None:
        if "first" not in seen and done[place].outputs:
            seen["first"] = str([*pictures_in([done[place]]), *texts([done[place]])])

    done = execute([*cells, *more], folder, look)
    return Run(done[: len(cells)], done[len(cells) :], seen["first"])


@pytest.fixture(scope="module")
def run_with_solutions(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """At the end a slider is moved."""
    move = "import asyncio\nsteps.controls['gamma'].value = -2.0\nawait asyncio.sleep(1)"
    folder = homework(tmp_path_factory.mktemp("solutions"), written=True)
    plotting = folder / "tour" / "plotting.py"
    plotting.write_text(plotting.read_text().replace('LAYOUT = "constrained"', 'LAYOUT = "none"'))
    return run(folder, new(move))


@pytest.fixture(scope="module")
def run_with_stubs(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """At the end a file is saved, and a picture that needs it is drawn once more."""
    folder = homework(tmp_path_factory.mktemp("stubs"), written=False)
    shutil.copy(kit.solutions() / "layernorm.py", folder / "written.txt")
    save = "import shutil\nshutil.copyfile('written.txt', 'layernorm.py')"
    return run(folder, new(save), code("steps = play("))


@pytest.fixture(scope="module")
def with_solutions(run_with_solutions: Run) -> Cells:
    return run_with_solutions.cells


@pytest.fixture(scope="module")
def with_stubs(run_with_stubs: Run) -> Cells:
    return run_with_stubs.cells


@pytest.fixture(scope="module")
def homework_modules() -> Iterator[dict[str, ModuleType]]:
    """The solutions and the helpers, imported here as they are in a student's kernel."""
    before = {
        name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in ("tour", "train", *MODULES)
    }
    sys.path.insert(0, str(kit.solutions()))
    helpers = (
        "tour",
        *(f"tour.{path.stem}" for path in TOUR.glob("[a-z]*.py")),
        "tour.pictures",
        "tour.pictures.attention",
        "tour.pictures.blocks",
        "tour.pictures.drawings",
        "tour.pictures.names",
        "tour.pictures.training",
        "train",
    )
    yield {name.removeprefix("tour."): importlib.import_module(name) for name in (*helpers, *MODULES)}
    sys.path.remove(str(kit.solutions()))
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("tour", "train", *MODULES):
            del sys.modules[name]
    sys.modules.update(before)


# The file


def test_has_the_format_that_otter_writes_alike_each_time_and_no_outputs() -> None:
    text = (kit.solutions() / NOTEBOOK).read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    assert not any("id" in cell for cell in notebook["cells"])
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])
    nbformat.validate(source())


def test_gives_students_what_its_cells_import() -> None:
    given = source().cells[0].source.partition("\nfiles:\n")[2].partition("\n# ")[0]
    assert "    - tour\n    - train.py\n" in given + "\n"


def test_every_section_needs_only_the_first_cell_and_itself() -> None:
    """So that a student may begin anywhere, and a homework may have fewer modules."""
    sections: dict[str, list[str]] = {"": []}
    for cell in tour():
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            sections[cell.source.partition("\n")[0]] = []
        elif cell.cell_type == "code":
            sections[list(sections)[-1]].append(cell.source)
    first = names_in(sections.pop(""), ast.Store) | set(dir(builtins))
    for heading, sources in sections.items():
        assert names_in(sources, ast.Load) - names_in(sources, ast.Store) <= first, heading


def questions() -> list[str]:
    """The texts of all guesses, without their choices."""
    calls = [
        node
        for cell in tour()
        if "predict(" in cell.source
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "predict"
    ]
    return [ast.literal_eval(call.args[0]) for call in calls]


def test_is_not_too_long() -> None:
    """Pages and questions; a formula is a word, and what is folded does not count."""
    pages = [cell.source for cell in source().cells if cell.cell_type == "markdown"]
    text = re.sub("<details>.*?</details>", "", " ".join([*pages, *questions()]), flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "formula", text, flags=re.DOTALL)
    assert len([word for word in re.sub(r"\]\([^)]*\)|<[^>]*>", " ", text).split() if re.search(r"\w", word)]) <= 5000


def test_nothing_unfolded_is_shown_before_its_guess() -> None:
    """Of the results that wait for no guess, only these are not folded: none answers a question."""
    cells = [cell.source for cell in tour() if re.search(r"^\w+ = (show|play)\(", cell.source, flags=re.MULTILINE)]
    names = [
        re.findall(r"^(\w+) = (?:show|play)\(", cell, flags=re.MULTILINE)[-1]
        for cell in cells
        if not re.search("guess=|folded=", cell)
    ]
    assert names == ["models", "greedy"]


def test_its_contents_lead_to_each_section() -> None:
    pages = [cell.source for cell in source().cells if cell.cell_type == "markdown"]
    links = re.findall(r"\]\(#([^)]+)\)", next(page for page in pages if "**Contents.**" in page))
    headings = [re.sub("`", "", page.splitlines()[0]) for page in pages if page.startswith("## ")]
    assert links == [heading.removeprefix("## ").replace(" ", "-") for heading in headings]


def names_in(sources: list[str], context: type[ast.expr_context]) -> set[str]:
    """Every name that is read or bound."""
    nodes = [node for text in sources for node in ast.walk(ast.parse(re.sub("^%", "#", text, flags=re.MULTILINE)))]
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        found |= {alias.asname or alias.name for node in imports for alias in node.names}
    return found


# Run as a whole


@pytest.mark.slow
def test_runs_with_the_solutions_and_shows_everything(with_solutions: Cells) -> None:
    assert faults(with_solutions) == []
    assert len(pictures_in(with_solutions)) >= 38
    assert [text for text in texts(with_solutions) if "Cannot draw" in text or "not written" in text] == []


@pytest.mark.slow
def test_runs_before_anything_is_written_and_says_what_is_missing(with_stubs: Cells) -> None:
    assert faults(with_stubs) == []
    missing = [text for text in texts(with_stubs) if text.endswith("is not written yet")]
    assert len(missing) >= 40 and not any("\n" in text for text in missing)
    assert not any(text.startswith("Cannot draw") for text in texts(with_stubs))


@pytest.mark.slow
def test_shows_how_a_picture_or_table_will_look_before_its_module_is_written(with_stubs: Cells) -> None:
    missing = [
        data
        for data in (output.get("data", {}) for output in outputs(with_stubs))
        if data.get("text/plain", "").endswith("is not written yet")
    ]
    assert [data for data in missing if not re.search("<img|<table", data["text/html"])] == []


@pytest.mark.slow
def test_its_tables_agree_with_the_notes_where_the_notes_are_right(with_solutions: Cells) -> None:
    """Numbers that the errata confirm stay confirmed, and the wrong ones stay wrong."""
    lines = [line for text in texts(with_solutions) if "printed in the notes" in text for line in text.splitlines()]
    verdicts = [line.rsplit("  ", 1)[1] for line in lines if line.endswith(("same", "rounding", "DIFFERS"))]
    assert {verdict: verdicts.count(verdict) for verdict in set(verdicts)} == {"same": 9, "rounding": 2, "DIFFERS": 17}


WRONG = [  # the module, what is written at its end, and a line that takes the place of a picture
    (
        "layernorm",
        "def layer_norm(x, *rest, **named): return None\ndef layer_norm_backward(*rest): return 3",
        r"scaled_attention\.py, line \d+: TypeError",
    ),
    (
        "layernorm",
        "def layer_norm(x, gamma, beta, eps=1e-5): return np.zeros(3)\ndef rms_norm(x, *rest): return [1]",
        r"scaled_attention\.py, line \d+: ValueError",
    ),
    (
        "batchnorm_comparison",
        "def batch_norm(x, *rest): return x * np.nan\ndef influence(*rest): return 'x'",
        r"AttributeError: 'str' object has no attribute 'shape' \(does the check",
    ),
    (
        "scaled_attention",
        "def softmax(s, axis=-1): return s * np.nan\ndef merge_heads(x): return x",
        r"scaled_attention\.py, line \d+: ValueError",
    ),
    (
        "scaled_attention",
        "def split_heads(x, n): raise SystemExit(3)\ndef softmax(s, axis=-1): print('!'); return s / 0",
        r"scaled_attention\.py, line \d+: SystemExit: 3",
    ),
    (
        "causal_mask",
        "def causal_mask(t): return np.tril(np.ones((t, t)))\ndef dependency_matrix(*rest): return np.zeros((2, 3))",
        r"TypeError: .*\(does the check",
    ),
    (
        "transformer_block",
        "def feed_forward(x, p): return feed_forward(x, p)\ndef residual(x, f): return {}",
        r"transformer_block\.py, line \d+: RecursionError",
    ),
    (
        "transformer_block",
        "def transformer_stack(*rest, **named): return 1j\ndef gradient_flow(*rest, **named): return []",
        r"IndexError: .*\(does the check",
    ),
    ("decoder", "def f(:", r"decoder\.py, line \d+: SyntaxError"),
    (
        "decoder",
        "def generate(*rest, **named): return [99.5] * 3\ndef sequence_log_prob(*rest): return np.inf",
        r"TypeError: .*\(does the check",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "definitions", "said"), WRONG)
def test_runs_with_a_wrong_module(tmp_path: Path, module: str, definitions: str, said: str) -> None:
    """The picture that cannot be drawn says so in a line; nothing ends in a traceback."""
    folder = homework(tmp_path, written=True)
    (folder / f"{module}.py").write_text((folder / f"{module}.py").read_text() + "\n\n" + definitions + "\n")
    cells = execute(unfolded(tour()), folder)
    assert [output for output in outputs(cells) if output.output_type == "error"] == []
    assert not any("Traceback" in text for text in texts(cells))
    assert any(re.match(f"Cannot draw this: {said}", text) for text in texts(cells))


# Alive


@pytest.mark.slow
def test_moving_a_slider_redraws_in_the_kernel(run_with_solutions: Run) -> None:
    [redrawn] = pictures_in([run_with_solutions.cells[position("steps = play(")]])
    assert faults(run_with_solutions.more) == []
    assert run_with_solutions.first.startswith("['iVBOR") and redrawn not in run_with_solutions.first
    assert base64.b64decode(redrawn).startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_saved_file_is_enough_to_see_the_change(run_with_stubs: Run) -> None:
    assert run_with_stubs.first.startswith("['Predict first. ")
    assert "'layer_norm is not written yet', 'The right answer: nothing." in run_with_stubs.first
    assert faults(run_with_stubs.more) == []
    assert len(pictures_in(run_with_stubs.more)) == 1


@pytest.fixture
def steps(homework_modules: dict[str, ModuleType]) -> Callable[[], tuple[Any, list[Figure]]]:
    """The first picture with its sliders, in this process, and all figures that have been drawn of it."""
    m = homework_modules

    def play() -> tuple[Any, list[Figure]]:
        drawn: list[Figure] = []

        def draw(**settings: Any) -> Figure:
            drawn.append(m["pictures"].layer_norm_steps(m["layernorm"], np.array([4.0, 2.0, 0.0, -2.0]), **settings))
            return drawn[-1]

        sliders = {"gamma": m["controls"].Slide(-2, 2, 1), "beta": m["controls"].Slide(-1, 1, 0)}
        return m["controls"].play(draw, **sliders), drawn

    return play


def heights(figure: Figure) -> list[float]:
    return [bar.get_height() for bar in figure.axes[-1].containers[0]]


def test_moving_a_slider_draws_another_picture(steps: Callable[[], tuple[Any, list[Figure]]]) -> None:
    player, drawn = steps()
    player.controls["gamma"].value = 2.0
    player.controls["beta"].value = 1.0
    first, second, third = map(heights, drawn)
    assert second == pytest.approx([2 * height for height in first])
    assert third == pytest.approx([2 * height + 1 for height in first])


def test_figures_are_not_kept(steps: Callable[[], tuple[Any, list[Figure]]]) -> None:
    """Forty kept ones make garbage collection so slow that a slider stands still."""
    player, drawn = steps()
    assert drawn[0] not in vars(player).values() and player.result == "a picture"


def test_without_ipywidgets_there_is_still_a_picture(
    steps: Callable[[], tuple[Any, list[Figure]]],
    homework_modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(homework_modules["controls"], "ipywidgets", None)
    player, drawn = steps()
    assert player.controls == {}
    assert len(drawn) == 1 and player.result == "a picture"


def test_a_slider_of_whole_numbers_gives_whole_numbers(homework_modules: dict[str, ModuleType]) -> None:
    tour = homework_modules["controls"]
    player = tour.play(lambda n, kind, flag: f"{n} {kind} {flag}", n=tour.Slide(1, 9, 3, 1), kind=["a", "b"], flag=True)
    assert player.result == "3 a True"
    player.controls["n"].value, player.controls["kind"].value, player.controls["flag"].value = 5, "b", False
    assert player.result == "5 b False"


# Trouble in a student's code is one line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f():\n    return [][1]\n", "troubled.py, line 2: IndexError: list index out of range"),
        ("def f(:\n", "troubled.py, line 1: SyntaxError: invalid syntax"),
        ("def g():\n    pass\n", "AttributeError: module 'troubled' has no attribute 'f'"),
        (None, "ModuleNotFoundError: No module named 'troubled'"),
    ],
)
def test_trouble_is_said_in_one_line(
    homework_modules: dict[str, ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    line: str,
) -> None:
    tour = homework_modules["controls"]
    if text is not None:
        (tmp_path / "troubled.py").write_text(text)
    monkeypatch.setattr(tour, "HOME", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "troubled", raising=False)
    said = tour.attempt(lambda: tour.Lazy("troubled").f())
    assert said.startswith(f"Cannot draw this: {line}")
    assert "\n" not in said


def test_a_picture_of_a_wrong_result_is_one_line(homework_modules: dict[str, ModuleType]) -> None:
    class Wrong:
        def softmax(self, scores: Any) -> None:
            return None

    said = homework_modules["controls"].attempt(homework_modules["pictures"].sizes_of_scores, Wrong())
    assert said.startswith("Cannot draw this: AttributeError")
    assert said.endswith("(does the check of this module pass?)")


def test_a_picture_that_cannot_be_painted_is_one_line(homework_modules: dict[str, ModuleType]) -> None:
    """A logarithmic axis, for example, cannot show numbers that are all NaN."""

    from matplotlib.figure import Figure

    class Unpaintable(Figure):
        def draw(self, renderer: Any) -> None:
            raise ValueError("no number above 0")

    player = homework_modules["controls"].Player(Unpaintable, (), {})
    player.redraw()
    assert repr(player.shown()).startswith("Cannot draw this: ValueError: no number above 0")


def test_warnings_of_arithmetic_are_shown_only_where_they_come_from_the_students_file(
    homework_modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dividing.py").write_text("import numpy as np\n\ndef f():\n    return np.ones(1) / 0\n")
    monkeypatch.setattr(homework_modules["controls"], "HOME", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    dividing = homework_modules["controls"].Lazy("dividing")
    with warnings.catch_warnings(record=True) as seen:
        homework_modules["controls"].attempt(lambda: dividing.f() - dividing.f())
    assert [Path(warning.filename).name for warning in seen] == ["dividing.py"]


# Predictions


@pytest.fixture
def predictions(homework_modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with a file of its own."""
    found = homework_modules["predictions"]
    monkeypatch.setattr(found, "FILE", tmp_path / "guesses.json")
    monkeypatch.setattr(found, "asked", [])
    monkeypatch.setattr(found, "everything", False)
    found.kept.cache_clear()
    yield found
    found.kept.cache_clear()


def asked(predictions: Any) -> Any:
    return predictions.Guess("Which?", ["this", "that"], "that", "It is &radic;2.")


def test_an_answer_says_whether_the_guess_was_right(predictions: Any) -> None:
    guess = asked(predictions)
    assert guess.said() == "" and not guess.settled
    guess.buttons.value = "this"
    assert repr(predictions.Said(guess.said())) == "You predicted this. The right answer: that.\nIt is \u221a2."


def test_a_right_guess_is_said_to_be_right(predictions: Any) -> None:
    guess = asked(predictions)
    guess.buttons.value = "that"
    assert "that is right" in guess.said()


def test_the_first_guess_counts_and_lasts_beyond_the_kernel(predictions: Any) -> None:
    guess = asked(predictions)
    guess.buttons.value = "this"
    guess.buttons.value = "that"
    predictions.kept.cache_clear()  # as in another kernel
    assert json.loads(predictions.FILE.read_text()) == {"Which?": {"guess": "this", "right": False}}
    assert (
        asked(predictions).settled
        and asked(predictions).buttons.value == "this"
        and asked(predictions).buttons.disabled
    )


@pytest.mark.parametrize("text", ["", "[1]", '{"Which?": 3}', '{"Which?": {"guess": "those"}}'])
def test_a_spoiled_file_of_guesses_is_no_guess(predictions: Any, text: str) -> None:
    predictions.FILE.write_text(text)
    assert not asked(predictions).settled


def test_the_right_answer_is_one_of_the_choices(predictions: Any) -> None:
    with pytest.raises(ValueError, match="'these' is not one of the choices"):
        predictions.Guess("Which?", ["this", "that"], "these", "")


def waiting(predictions: Any, tour: ModuleType) -> tuple[Any, Any, list[int]]:
    """A question, its picture, and what has been drawn."""
    drawn: list[int] = []
    guess = asked(predictions)
    player = tour.play(lambda n: drawn.append(n), n=tour.Slide(1, 9, 3, 1), guess=guess)
    return guess, player, drawn


@pytest.mark.parametrize(
    "settle", [lambda guess: setattr(guess.buttons, "value", "this"), lambda guess: guess.button.click()]
)
def test_a_picture_waits_for_a_guess_or_for_show_me(
    predictions: Any, homework_modules: dict[str, ModuleType], settle: Callable[[Any], None]
) -> None:
    guess, player, drawn = waiting(predictions, homework_modules["controls"])
    assert drawn == [] and player.box.layout.display == "none"
    settle(guess)
    assert drawn == [3] and player.box.layout.display is None


def test_a_slider_shows_no_picture_before_the_answer(predictions: Any, homework_modules: dict[str, ModuleType]) -> None:
    """A browser rounds the values of sliders, as if somebody had moved them."""
    guess, player, drawn = waiting(predictions, homework_modules["controls"])
    player.controls["n"].value = 5
    assert drawn == []
    guess.button.click()
    assert drawn == [5]


def test_without_ipywidgets_no_picture_waits(
    predictions: Any, homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictions, "ipywidgets", None)
    monkeypatch.setattr(homework_modules["controls"], "ipywidgets", None)
    assert waiting(predictions, homework_modules["controls"])[2] == [3]


def test_the_choices_fold_away_with_the_answer(predictions: Any) -> None:
    guess = asked(predictions)
    guess.put()
    assert guess.box.layout.display is None
    guess.buttons.value = "this"
    assert guess.box.layout.display == "none"


def test_the_button_shows_all_pictures_once_also_those_that_come_later(
    predictions: Any, homework_modules: dict[str, ModuleType]
) -> None:
    _, _, drawn = waiting(predictions, homework_modules["controls"])
    predictions.show_all()
    predictions.show_all()
    assert drawn == [3]
    assert waiting(predictions, homework_modules["controls"])[2] == [3]


@pytest.mark.slow
def test_every_picture_has_its_question_in_the_same_hidden_cell(with_solutions: Cells) -> None:
    asking = [cell for cell in with_solutions if cell.cell_type == "code" and "guess=predict(" in cell.source]
    drawn = [cell for cell in with_solutions if cell.cell_type == "code" and pictures_in([cell])]
    assert [cell.source for cell in drawn if cell not in asking] == []
    for cell in asking:
        assert cell.metadata.get("jupyter") == {"source_hidden": True}, "the answer is in the code"
        assert "Predict first." in texts([cell])[0] and texts([cell])[-1].startswith("The right answer: ")


# Tables


def test_a_table_says_whose_numbers_it_shows(homework_modules: dict[str, ModuleType]) -> None:
    m = homework_modules
    yours = m["controls"].Lazy("scaled_attention")
    shown = m["tables"].compare(
        [
            ("mine", "0.5 0.5", lambda: yours.softmax(np.zeros(2))),
            ("by hand", "3.1", lambda: 3.0, "It is 3."),
        ]
    )
    assert [row[3:] for row in shown.rows if len(row) > 1] == [("your softmax", "same"), ("NumPy", "rounding")]
    assert "<td" in shown._repr_html_() and "It is 3." in shown._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0000"), (2e-16, "2e-16"), (-0.00001, "-1e-05"), (-2.5, "-2.5000")]
)
def test_what_is_nearly_zero_is_not_shown_as_zero(
    homework_modules: dict[str, ModuleType], value: float, text: str
) -> None:
    assert homework_modules["tables"].numbers(value) == text


# Whether your functions are right


def test_the_solutions_are_known_to_be_right(homework_modules: dict[str, ModuleType]) -> None:
    reference_values = homework_modules["reference_values"]
    functions = {(module, name) for module, entry in rubrics.current().modules.items() for name in entry.functions}
    assert set(reference_values.CALLS) == {name for name in functions if name[0] != "concept_check"}
    assert reference_values.wrong(reference_values.CALLS) == [] and reference_values.doubt(reference_values.CALLS) == ""


@pytest.mark.parametrize(
    "name", [name for module in MODULES for name in rubrics.current().modules[module].functions if name != "answers"]
)
def test_every_function_that_is_wrong_is_known_to_be(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Its results, but for the last number."""
    reference_values = homework_modules["reference_values"]
    key = next(key for key in reference_values.CALLS if key[1] == name)
    right = getattr(homework_modules[key[0]], name)
    monkeypatch.setattr(reference_values, "results", lambda *_: reference_values.expected(f"{key[0]}.{name}") + 1e-3)
    assert not reference_values.right(*key, "a state of its own") and right is not None
    reference_values.right.cache_clear()


def test_a_table_does_not_blame_a_lecture_for_a_mistake_of_yours(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    m = homework_modules

    def sample_variance(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.std(x, axis=-1, ddof=1, keepdims=True) + beta

    monkeypatch.setattr(m["layernorm"], "layer_norm", sample_variance)
    lazy = m["controls"].Lazy("layernorm")
    token = np.array([4.0, 2.0, 0.0, -2.0])
    rows = [("one", "1.34 0.45 -0.45 -1.34", lambda: lazy.layer_norm(token, np.ones(4), np.zeros(4)), "A remark.")]
    shown = m["tables"].compare(rows)
    assert [row[-1] for row in shown.rows] == ["your layer_norm is not right yet"]
    assert "Fix <code>layer_norm</code> first" in m["reference_values"].doubt([("layernorm", "layer_norm")])


def test_what_a_wrong_function_rests_on_is_named_first(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    m, wrong = homework_modules, {"__name__": "scaled_attention"}
    text = "def softmax(scores, axis=-1): return scores"
    exec(compile(text, str(kit.solutions() / "scaled_attention.py"), "exec"), wrong)
    monkeypatch.setattr(m["scaled_attention"], "softmax", wrong["softmax"])
    said = m["reference_values"].doubt([("scaled_attention", "scaled_dot_product_attention")])
    assert (
        "your <code>scaled_dot_product_attention</code> disagrees" in said and "Fix <code>softmax</code> first" in said
    )


def test_a_picture_that_cannot_be_drawn_names_the_wrong_function(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    m = homework_modules
    monkeypatch.setattr(m["scaled_attention"], "merge_heads", lambda x: x)
    player = m["controls"].play(m["pictures"].heads_drawing, m["controls"].Lazy("scaled_attention"), n_heads=[3, 2])
    assert repr(player.shown()).startswith("Cannot draw this: ")
    assert repr(player.comment()) == (
        "Not right yet: your merge_heads disagrees with the formulas. "
        "Fix merge_heads first; run the scaled_attention.py checks for details."
    )


def test_a_saved_file_is_used_at_once_and_a_broken_one_is_one_line(
    homework_modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = homework_modules
    for name in ("controls", "reference_values"):
        monkeypatch.setattr(m[name], "HOME", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    saved = tmp_path / "saved.py"
    saved.write_text("def f():\n    return 'first'\n")
    (tmp_path / "using.py").write_text("from saved import f\n")
    player = m["controls"].play(lambda: m["controls"].Lazy("using").f())
    assert player.result == "first"
    for text, result in (
        ("def f():\n    return 'the second'\n", "the second"),
        ("def f(:\n    return 'broken'\n", "Cannot draw this: saved.py, line 1: SyntaxError: invalid syntax"),
        ("def f():\n    return 'mended'\n", "mended"),
    ):
        saved.write_text(text)
        player.redraw()
        assert str(player.result) == result
    sys.modules.pop("saved"), sys.modules.pop("using")


def test_what_is_not_written_yet_is_not_called_wrong(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwritten(*_: Any, **__: Any) -> None:
        raise NotImplementedError("rms_norm is not written yet")

    monkeypatch.setattr(homework_modules["layernorm"], "rms_norm", unwritten)
    assert homework_modules["reference_values"].wrong([("layernorm", "rms_norm")]) == []


@pytest.mark.slow
def test_a_wrong_decoder_with_pretty_names_is_told(
    homework_modules: dict[str, ModuleType], modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Additions start from the normed x, and there is no mask."""
    m = homework_modules
    block, norm = m["transformer_block"], m["layernorm"].layer_norm

    def from_normed(x: Any, params: Any, n_heads: int, mask: Any = None) -> Any:
        n = norm(x, **params["ln_1"])
        h = n + block.multi_head_attention(n, params["attention"], n_heads)
        n = norm(h, **params["ln_2"])
        return n + block.feed_forward(n, params["ffn"])

    monkeypatch.setattr(block, "pre_norm_block", from_normed)
    monkeypatch.setattr(m["reference_values"], "state", lambda: "a wrong block")
    rows = {row[0]: row[1:] for row in m["pictures"].first_name(modules).rows}
    assert rows["your generate writes"][0] == "marinda" and said("still writes *marinda*")
    assert [row[1] for row in rows.values()] == ["", "not right yet", "right: 1.95"]
    loss = float(rows["the loss of your decoder on held-out names"][0].split()[0])
    assert round(loss, 2) != 1.95
    assert "Fix <code>" in m["reference_values"].doubt([("decoder", "decoder_logits")])


# Figures that the text says, computed


def said(words: str) -> bool:
    """Whether the notebook says something, wherever its lines and strings break."""
    text = " ".join(" ".join("".join(cell.source).split()) for cell in source().cells)
    return words in text.replace('" "', "")


def test_figures_of_the_sigmoid(homework_modules: dict[str, ModuleType]) -> None:
    z = np.random.default_rng(1).normal(2, 3, 1_000_000)
    slope, normed = (s * (1 - s) for s in (1 / (1 + np.exp(-x)) for x in (z, (z - 2) / 3)))
    assert (round(slope.mean(), 2), round(normed.mean(), 2)) == (0.10, 0.21)
    assert 0.4 < (slope < 0.05).mean() < 0.5 and round((normed < 0.05).mean(), 3) == 0.004
    assert said("0.10, and 0.21 after the norm") and said(
        "for more than four in ten of the features, with it for four in a thousand"
    )


def test_figures_of_layer_norm(homework_modules: dict[str, ModuleType]) -> None:
    backward = homework_modules["layernorm"].layer_norm_backward
    x = 1e-8 * np.array([4.0, 2.0, 0.0, -2.0])
    steepest = [np.linalg.norm(backward(np.eye(4), np.tile(x, (4, 1)), np.ones(4), eps)[0], 2) for eps in (1e-5, 1e-6)]
    assert np.round(steepest).tolist() == [316, 1000] and said("which is 316 for 1e-5 and 1000 for 1e-6")
    assert np.var([0.46, 0.93, -1.39]).round(4) == 1.0029 and np.var([1.34, 0.45, -0.45, -1.34]).round(4) == 0.9991
    assert said("it is 1.0029 for 0.46 0.93 -1.39 and 0.9991 for 1.34 0.45 -0.45 -1.34")
    rank = np.linalg.matrix_rank(backward(np.eye(6), np.tile(np.arange(6.0) ** 2, (6, 1)), np.ones(6), 0.0)[0])
    assert rank == 6 - 2 and said("eps aside, the Jacobian of layer norm has rank d - 2")


def test_figures_of_gradients(homework_modules: dict[str, ModuleType]) -> None:
    def chain(slope: float, layers: int, residual: bool) -> float:
        jacobians = np.full((layers, 1, 1), slope)
        return float(homework_modules["transformer_block"].gradient_flow(jacobians, np.ones(1), residual)[0])

    assert round(chain(0.9, 50, False), 3) == 0.005 and said("with slope 0.9 half a percent arrives")
    assert f"{chain(0.5, 50, False):.0e}" == "9e-16" and said("with 0.5 nothing (9e-16)")
    assert round(chain(0.1, 96, True)) == 9412 and said("1.1<sup>96</sup> is 9412")
    assert round(chain(-0.02, 50, True), 2) == 0.36 and said("$0.98^{50} = 0.36$")


def test_figures_of_deep_networks(homework_modules: dict[str, ModuleType]) -> None:
    deep = np.load(TOUR / "depth.npz")
    low, after, high = ({key: values[row, 96] for key, values in deep.items()} for row in range(3))
    alone, last = "norms alone/1.0/gradient", "pre-norm/1.0/normed"
    assert round(after["post-norm/1.0/gradient"], 2) == 0.49 and said("its median falls to 0.49")
    assert said("median 0.49 after 96 blocks")
    assert round(after[alone], 2) == 0.21 and said("a median of 0.21 of the gradient arrives through 96 blocks")
    assert (round(low[alone], 2), round(high[alone], 1)) == (0.02, 2.9) and said("80 % band goes from 0.02 to 2.9")
    assert low[alone] < 0.03 and said("in one network in ten it is less than 0.03, in another more than 2.9")
    assert (round(low[last], 2), round(high[last], 1)) == (0.87, 1.7) and said("the right scale, 0.87 to 1.7")
    assert np.abs(deep["norms alone/1.0/stream"][1] - 1).max() < 0.1 and said("the magnitude is right at every depth")
    too_large = {key for key, value in after.items() if key.endswith("1.0/gradient") and value > 5}
    assert too_large == {"residuals alone/1.0/gradient", "pre-norm/1.0/gradient"}
    assert 0.9 < after[last] < 1.2 and said("near 1 with a norm at the end")
    assert 1e28 < after["residuals alone/1.0/gradient"] < 1e29 and said("by a factor of 1e28")
    assert 1e-193 < after["plain/0.1/gradient"] < 1e-192 and said("plain networks are dead (1e-193)")
    assert f"{deep['post-norm/1.0/direct'][1, 48]:.0e}" == "1e-14" and f"{after['post-norm/1.0/direct']:.0e}" == "2e-28"
    assert said("1e-14 after 48 blocks, 2e-28 after 96")
    assert abs(after["post-norm/0.1/gradient"] - after["pre-norm/0.1/normed"]) < 0.03
    assert said("at gain 0.1 no difference")
    assert after["pre-norm/1.0/stream"] == pytest.approx((2 * 96) ** 0.5, rel=0.1)
    assert said("grows like the root of the depth")


@pytest.mark.slow
def test_the_deep_networks_are_those_of_the_solutions(
    homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program that made the lines is run again, for the first two blocks of all forty networks."""
    monkeypatch.syspath_prepend(str(kit.home() / "autograder" / "tests" / "golden"))
    make_depth = importlib.import_module("make_depth")
    monkeypatch.setattr(make_depth, "BLOCKS", 2)
    deep = np.load(TOUR / "depth.npz")
    for kind in homework_modules["examples"].KINDS:
        runs = [make_depth.measured(kind, 1.0, seed) for seed in range(make_depth.NETWORKS)]
        for name in runs[0]:
            values = np.quantile([run[name] for run in runs], make_depth.QUANTILES, axis=0)
            np.testing.assert_allclose(deep[f"{kind}/1.0/{name}"][:, :3], values, rtol=1e-4)


@pytest.mark.slow
def test_figures_of_scores(homework_modules: dict[str, ModuleType]) -> None:
    rng = np.random.default_rng(0)
    for d, deviation, mean_size in ((64, 8, 6.4), (1024, 32, 25.5)):
        scores = np.einsum("nd,nd->n", *rng.normal(size=(2, 20_000, d)))
        assert scores.std() == pytest.approx(deviation, rel=0.03) and np.abs(scores).mean() == pytest.approx(
            mean_size, rel=0.03
        )
    assert said("its mean magnitude is 6.4; at 1024 the standard deviation is 32 and the mean magnitude 25.5")
    slopes = homework_modules["pictures.attention"].query_slopes
    q, keys = rng.normal(size=(2000, 1024)), rng.normal(size=(2000, 8, 1024))
    scores, softmax = np.einsum("nd,nkd->nk", q, keys), homework_modules["scaled_attention"].softmax
    raw, rooted, divided = (slopes(softmax(scores / by), keys / by) for by in (1.0, 1024**0.5, 1024.0))
    assert np.median(raw) < 0.001 and raw.max() > 5 and said("half of the queries get less than 0.001 at d_k = 1024")
    assert np.quantile(rooted, 0.05) > 0.3 and np.quantile(rooted, 0.95) < 0.5 and divided.max() < 0.02
    one = np.eye(8)[[0]] * 0.3 + 0.0875  # weights 0.3875 and 0.0875
    jacobian = (np.diag(one[0]) - np.outer(one[0], one[0])) @ keys[0]
    assert slopes(one, keys[:1])[0] == pytest.approx(np.linalg.norm(jacobian))
    assert sum([0.1, 0.3, 0.4, 0.1, 0.05, 0.35, 0.1]) == pytest.approx(1.40) and said("They sum to 1.40 and to 1.132")


def test_figures_of_the_view_on_the_plane(homework_modules: dict[str, ModuleType]) -> None:
    """At one turn we look along (1, 1, 1), from which the plane is seen as a whole, at the other at a right angle to it."""
    up = np.deg2rad(homework_modules["pictures.drawings"].ABOVE)
    along = [np.cos(up) * (np.cos(turn) + np.sin(turn)) + np.sin(up) for turn in np.deg2rad([45, 165])]
    np.testing.assert_allclose(along, [3**0.5, 0], atol=1e-12)
    assert said("directly down on the plane (45), and along it (165)")


def test_figures_of_positions(homework_modules: dict[str, ModuleType]) -> None:
    waves = homework_modules["decoder"].positional_encoding(12, 32)
    gaps = np.abs(waves[11] - waves[10])
    assert gaps[:4].min() > 50 * gaps[-4:].max() and said('"In the first ones, the fast waves')
    assert 2 * np.pi / np.arcsin(waves[1, 30]) > 30_000 and said("more than 30,000 positions for one wave")


def test_figures_of_cost(homework_modules: dict[str, ModuleType]) -> None:
    t, d = np.arange(1, 1025), 768
    again, cached = (12 * t * d**2 + 2 * t**2 * d).sum(), (12 * d**2 + 2 * t * d).sum()
    assert 450 < again / cached < 550 and said("takes some 500 times as many multiplications as with a cache")


# The model of names


@pytest.fixture(scope="module")
def modules(homework_modules: dict[str, ModuleType]) -> Any:
    m = homework_modules
    return m["names"].Modules(*map(m["controls"].Lazy, m["names"].Modules._fields))


def test_the_model_is_small_and_as_large_as_it_is_said_to_be(homework_modules: dict[str, ModuleType]) -> None:
    assert (TOUR / "names.npz").stat().st_size <= 300_000
    with np.load(TOUR / "names.npz") as arrays:
        counts = {
            norm: sum(array.size for path, array in arrays.items() if path.startswith(norm)) for norm in ("pre", "post")
        }
    assert counts == {"pre": 58_923, "post": 58_923} and said("its 58,923 weights are not")


@pytest.mark.slow
def test_the_model_has_learned_what_names_look_like(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    names = homework_modules["names"]
    trained, apart = names.census()
    assert not set(trained) & set(apart) and len(apart) == (len(trained) + len(apart)) // 10
    unseen = sum(names.nats(modules, name) * (len(name) + 1) for name in apart) / sum(len(name) + 1 for name in apart)
    assert unseen < 2
    scrambled = ["".join(np.random.default_rng(0).permutation(list(name))) for name in apart[::5]]
    assert np.mean([names.nats(modules, name) for name in scrambled]) > 3.2 and said("$\\log 27 = 3.30$")


@pytest.mark.slow
def test_the_model_with_post_norm_is_as_good(homework_modules: dict[str, ModuleType]) -> None:
    m, names = homework_modules, homework_modules["names"]
    params, costs = names.model("post"), []
    for name in names.census()[1]:
        tokens = names.tokens(name)
        x = m["decoder"].embed(tokens, params["embedding"])
        x = x + m["decoder"].positional_encoding(*x.shape)
        mask = m["causal_mask"].causal_mask(len(x))
        x = m["transformer_block"].transformer_stack(x, params["blocks"], names.HEADS, "post", mask)
        chances = m["scaled_attention"].softmax(x @ params["w_out"] + params["b_out"])
        costs += [*-np.log(chances[np.arange(len(tokens) - 1), tokens[1:]])]
    assert np.mean(costs) < 2 and said("a second model, as good as the first")


def test_the_model_writes_new_names_and_the_same_ones_for_the_same_seed(
    homework_modules: dict[str, ModuleType], modules: Any
) -> None:
    names = homework_modules["names"]
    written = [names.sample(modules, np.random.default_rng(seed), 0.7) for seed in range(30)]
    assert written == [names.sample(modules, np.random.default_rng(seed), 0.7) for seed in range(30)]
    known = {name for group in names.census() for name in group}
    assert len({name for name in written if name not in known}) > 10
    greedy = homework_modules["decoder"].generate(np.array([0]), names.model(), names.HEADS, 16, eos=0)
    assert names.sample(modules, np.random.default_rng(0), 0) == names.text(greedy)


def test_the_model_expects_the_letters_that_it_is_said_to_expect(homework_modules: dict[str, ModuleType]) -> None:
    m, names = homework_modules, homework_modules["names"]
    chances = {
        start: m["scaled_attention"].softmax(
            m["decoder"].decoder_logits(names.tokens(start, ended=False), names.model(), names.HEADS)[-1]
        )
        for start in ("q", "jenn")
    }
    assert round(chances["q"][names.ALPHABET.index("u")], 1) == 0.9 and said("nine tenths go to u")
    assert [names.ALPHABET[i] for i in np.argsort(-chances["jenn"])[:3]] == [*"iea"] and said("it expects i, e or a")


def introduction() -> str:
    """The text before the first picture."""
    cells = tour()
    first = next(place for place, cell in enumerate(cells) if cell.source.startswith("### Where all this"))
    return "\n".join(str(cell.source) for cell in cells[:first] if cell.cell_type == "markdown")


def tables_in(text: str) -> dict[str, list[str]]:
    """The rows of tables in Markdown, by their first cell."""
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {first: rest for first, *rest in rows}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["notebook", "README"])
def test_the_tables_at_the_beginning_are_what_the_solutions_do(
    homework_modules: dict[str, ModuleType], modules: Any, where: str
) -> None:
    m, readme = homework_modules, (kit.solutions() / "README.md").read_text()
    text = introduction() if where == "notebook" else readme
    rows = tables_in(text)
    parts = {
        "norms": "no norms",
        "attention": "no attention",
        "the mask": "no mask",
        "residuals": "no residuals",
        "the MLPs": "no MLPs",
        "positions": "no positions",
        "nothing": "nothing",
    }
    shown = {change: entry for change, *entry in m["pictures"].changes(modules).rows}
    checked = [part for part in parts if part in rows]
    assert [rows[part][:2] for part in checked] == [shown[parts[part]] for part in checked] and len(checked) >= 6
    written = [name for name, _ in m["pictures"].written(modules).rows]
    assert f"*{', '.join(written)}*" in text
    assert sum(name not in m["names"].census()[0] for name in written) == 7


@pytest.mark.slow
def test_the_ladder_is_what_counting_gives(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    names, rows = homework_modules["names"], tables_in(introduction())
    by_counting = [f"{cost:.2f}" for cost in names.by_counting().values()]
    mine = f"{names.costs(modules).mean():.2f}"
    assert [row[0] for row in rows.values() if re.fullmatch(r"[0-9.]+", row[0])][:4] == [*by_counting, mine]
    assert (
        by_counting == ["3.30", "2.81", "2.37"] and mine == "1.95" == f"{homework_modules['pictures.names'].RIGHT_LOSS}"
    )


@pytest.mark.slow
def test_what_is_taken_out_hurts_as_it_is_said(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    names = homework_modules["names"]
    costs = {change: names.costs(modules, change).mean() for change in names.CHANGES}
    assert min(costs, key=lambda change: costs[change]) == names.NOTHING
    hurts = {change: cost for change, cost in costs.items() if change != names.NOTHING}
    assert min(hurts, key=lambda change: hurts[change]) == names.NO_SCALE
    count, pairs = [*names.by_counting().values()][1:]
    assert costs[names.NO_SUMS] > count and said("Without residuals it does worse than letter frequencies")
    assert abs(costs[names.NO_ATTENTION] - pairs) < 0.02 and said("2.36 against 2.37 nats")
    for text, change in (
        ("scores 2.19 instead of 1.95", names.NO_NORMS),
        ("the decoder scores 2.36", names.NO_ATTENTION),
        ("the loss jumps to 3.02", names.NO_FUTURE),
        ("the decoder scores 3.20", names.NO_SUMS),
        ("without them it scores 2.30", names.NO_MLP),
        ("it scores 2.42 and writes katharinyurifex", names.NO_ORDER),
    ):
        assert said(text) and f"{costs[change]:.2f}" in text


@pytest.mark.parametrize(
    ("misconception", "writes", "loss"),
    [
        ("one position", "kreylisngasmare, jamellinvorildw, katortarlathhau", "The loss is 2.81."),
        ("mask transposed", "ky, te, re, ane, re, clany, kysi", "the loss is 3.60, worse than random guessing"),
        (
            "heads reversed",
            "lolonfo, lash, rlldonfn, kvttttttttttttt",
            "2.92, and no shape is wrong",
        ),
    ],
)
def test_the_puzzles_write_what_is_said(
    homework_modules: dict[str, ModuleType], modules: Any, misconception: str, writes: str, loss: str
) -> None:
    names, rng = homework_modules["names"], np.random.default_rng(1)
    expected = writes.split(", ")
    assert [names.sample(modules, rng, 0.8, change=misconception) for _ in expected] == expected
    assert said(writes) and said(loss) and f"{names.costs(modules, misconception).mean():.2f}" in loss


@pytest.mark.slow
def test_how_likely_names_are(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    figure, names = homework_modules["pictures"].likely(modules), homework_modules["names"]
    means = [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("mean")]
    assert means == ["mean 1.76", "mean 1.95", "mean 3.65"] and said("1.76, 1.95 and 3.65 nats per character")
    assert pytest.approx(1.1, abs=0.02) == 1.95 / 1.76 and said("costs a tenth more than one of a known name")
    for name in ("Wei", "Oluwaseun"):
        assert said(f"{name} costs {names.nats(modules, name):.2f}") or said(f"{name} {names.nats(modules, name):.2f}")


@pytest.mark.slow
def test_letters_that_the_model_does_not_know_are_not_lost_without_a_word(
    homework_modules: dict[str, ModuleType], modules: Any
) -> None:
    names, likely = homework_modules["names"], homework_modules["pictures"].likely
    assert [names.letters(name) for name in ("Zoë-Ann", "Björn", "Жанна")] == ["zoeann", "bjorn", ""]
    assert "'Björn' is read as \"bjorn\"" in likely(modules, "Björn").axes[1].get_title()
    assert names.lost("Ada") == ""


def test_the_letter_on_its_way_is_where_it_is_said_to_be(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    names = homework_modules["names"]
    trace = names.trace(modules, names.tokens("christopher", ended=False))
    chances = trace.read_out(modules)
    likeliest = ["".join(names.ALPHABET[i] for i in chances[:, place].argmax(axis=1)) for place in (5, 8)]
    assert likeliest[0] == "i....ttt" and said("then for four parts the end of the name")
    assert np.round(chances[[5, 7], 5, names.ALPHABET.index("t")], 2).tolist() == [0.33, 0.95]
    assert said("t takes the lead, at 0.33; block 3 makes it 0.95")
    assert likeliest[1] == "heeeeeeh" and said("turns to h only with the very last part")


def test_with_nothing_taken_out_the_parts_are_the_decoder(
    homework_modules: dict[str, ModuleType], modules: Any
) -> None:
    names, decoder = homework_modules["names"], homework_modules["decoder"]
    tokens = names.tokens("Zoë-Ann")
    whole = decoder.decoder_logits(tokens, names.model(), names.HEADS)
    stream = sum(vectors for _, vectors in names.trace(modules, tokens).added)
    np.testing.assert_allclose(stream @ names.model()["w_out"] + names.model()["b_out"], whole, atol=1e-12)


def test_a_function_is_replaced_wherever_it_is_used_and_comes_back(
    homework_modules: dict[str, ModuleType], modules: Any
) -> None:
    m, names = homework_modules, homework_modules["names"]
    original = m["layernorm"].layer_norm
    with contextlib.suppress(KeyError), names.replaced(modules, original, len):
        assert m["layernorm"].layer_norm is m["transformer_block"].layer_norm is len
        raise KeyError
    assert m["layernorm"].layer_norm is m["transformer_block"].layer_norm is original


@pytest.mark.slow
def test_what_cannot_be_taken_out_is_said(
    homework_modules: dict[str, ModuleType], modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A student may have written a mask of their own in the decoder; then another causal_mask changes nothing."""
    mask = homework_modules["decoder"].causal_mask
    copied = FunctionType(mask.__code__, mask.__globals__)
    monkeypatch.setattr(homework_modules["decoder"], "causal_mask", copied)
    rows = {row[0]: row[2] for row in homework_modules["pictures"].changes(modules).rows}
    assert rows["no mask"].startswith("(no difference")
    assert not rows["no norms"].startswith("(no difference")


@pytest.mark.slow
def test_what_is_wrong_already_is_not_said_to_be_elsewhere(
    homework_modules: dict[str, ModuleType], modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A causal mask that hides nothing is called, and what takes its place gives the same."""
    for name in ("causal_mask", "decoder"):
        monkeypatch.setattr(homework_modules[name], "causal_mask", lambda t: np.ones((t, t), dtype=bool))
    rows = {row[0]: row[2] for row in homework_modules["pictures"].changes(modules).rows}
    assert "already lacks this part" in rows["no mask"] and "does not call" not in rows["no mask"]


def test_costs_of_a_wrong_decoder_stay_in_the_picture(
    homework_modules: dict[str, ModuleType], modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some are above those of chance, and where it sees the future, some of a single character below 0."""
    m = homework_modules
    monkeypatch.setattr(m["names"], "costs", lambda *_, **__: np.array([3.98]))
    assert m["pictures"].ladder(modules).axes[0].get_xlim()[1] > 1.1 * 3.98
    monkeypatch.setattr(m["decoder"], "sequence_log_prob", lambda tokens, *_: [0.0, -2.0, -1.0][len(tokens) % 3])
    monkeypatch.setattr(m["pictures.names"], "_nats", lambda *_: np.array([3.0]))
    [lowest, _] = m["pictures"].likely(modules).axes[1].get_ylim()
    assert lowest < -1.0


def test_what_is_ready_made_shows_the_controls_as_they_were_at_first(
    homework_modules: dict[str, ModuleType],
) -> None:
    m = homework_modules

    def draw(**settings: Any) -> Any:
        raise NotImplementedError("layer_norm is not written yet")

    player = m["controls"].play(draw, like="layer_norm_steps", gamma=m["controls"].Slide(-2, 2, 1))
    for unmoved in (1.0, 1.0 + 1e-12):  # a browser may round the value of a slider
        player.controls["gamma"].value = unmoved
        assert "layer_norm is not written yet. Here is an example:" in player.shown()._repr_html_()
    player.controls["gamma"].value = 2.0
    assert "an example, with the controls in their first position:" in player.shown()._repr_html_()


def test_labels_of_controls_are_typeset_as_in_the_text(homework_modules: dict[str, ModuleType]) -> None:
    """In TeX: JupyterLab removes <sub> from the label of a control."""
    m = homework_modules
    player = m["controls"].play(lambda **_: "", d_k=[16, 64], d_model=m["controls"].Slide(8, 64, 32, 8), stretch=True)
    labels = [control.description for control in player.controls.values()]
    assert labels == ["$d_k$", r"$d_\text{model}$", "stretch"]


@pytest.mark.slow
def test_heads_look_where_it_is_said(homework_modules: dict[str, ModuleType], modules: Any) -> None:
    names, pictures, found, shares = homework_modules["names"], homework_modules["pictures.names"], [], []
    for name in names.census()[1][::5]:
        tokens = names.tokens(name, ended=False)
        weights = names.trace(modules, tokens).weights
        found.append((pictures.shares(weights[1, 1], tokens)[1], pictures.shares(weights[0, 3], tokens)[2]))
        shares.append(pictures.even(tokens)[1:])
    (before, vowels), (even_before, even_vowels) = np.mean(found, axis=0), np.mean(shares, axis=0)
    assert before == pytest.approx(0.5, abs=0.05) and said("About half, where an even share would be about a quarter")
    assert even_before == pytest.approx(0.25, abs=0.05)
    assert vowels == pytest.approx(0.5 * even_vowels, rel=0.15)
    assert said("head 4 of block 1 gives vowels about half of an even share")


# Each picture


def to_rgb(colour: str) -> Any:
    from matplotlib import colors

    return colors.to_rgb(colour)


def contrast(one: Any, other: Any) -> float:
    lighter, darker = sorted((one + 0.05, other + 0.05), reverse=True)
    return float(lighter / darker)


def test_colours_stand_out(homework_modules: dict[str, ModuleType]) -> None:
    """From white and the pale ground three to one, as web pages are asked to; text in a coloured cell four to one."""
    plotting = homework_modules["plotting"]
    for colour in (plotting.BLUE, plotting.RED, plotting.GREEN, plotting.PURPLE, plotting.GREY):
        for ground in ("white", plotting.PALE):
            assert contrast(*(plotting.luminance(to_rgb(one)) for one in (colour, ground))) >= 3, colour
    for colours in (plotting.MINUS_TO_PLUS, plotting.ZERO_TO_ONE):
        for ground in colours(np.linspace(0, 1, 64)):
            assert contrast(plotting.luminance(ground), plotting.luminance(to_rgb(plotting.ink(ground)))) >= 4


# What colours become for those who lack one kind of cones (Machado, Oliveira and Fernandes, 2009, severity 1.0), on linear RGB.
SEEN_BY = {
    "deuteranope": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanope": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}


@pytest.mark.parametrize("reader", SEEN_BY)
def test_lines_that_the_colour_blind_take_for_one_differ_in_style_and_mark(
    homework_modules: dict[str, ModuleType], reader: str
) -> None:
    kinds = [*homework_modules["pictures.blocks"].KINDS.values()]
    seen = [np.clip(SEEN_BY[reader] @ np.array(to_rgb(colour)) ** 2.2, 0, 1) ** (1 / 2.2) for colour, *_ in kinds]
    alike = [
        (one, other)
        for one, other in itertools.combinations(range(len(kinds)), 2)
        if np.linalg.norm(seen[one] - seen[other]) < 0.25
    ]
    assert alike, "else the marks would not be needed"
    for one, other in alike:
        assert kinds[one][1] != kinds[other][1] and kinds[one][2] != kinds[other][2]


def test_the_boxes_of_the_decoder_are_named_and_not_only_coloured(homework_modules: dict[str, ModuleType]) -> None:
    written = " ".join(text.get_text() for text in homework_modules["pictures"].decoder_drawing().axes[0].texts)
    assert all(
        f"{module}.py" in written for module in MODULES if module not in ("concept_check", "batchnorm_comparison")
    )


def drawings(m: dict[str, ModuleType], modules: Any) -> dict[Any, list[tuple[Any, ...]]]:
    """Every picture, with what it is given at both ends of its sliders."""
    p, norms, attention, masks, blocks, decoder = (
        m[name] for name in ("pictures", "layernorm", "scaled_attention", "causal_mask", "transformer_block", "decoder")
    )
    table, words = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5], [2.0, -1.0, 1.5]]), ["a", "b", "c"]
    teller = m["examples"].lookup_table(np.full((4, 4), 0.25))
    heads = (attention, words, table[:1], table, table)
    return {
        p.layer_norm_steps: [(norms, table[0], -2, -1.5, 0, -2), (norms, table[0], 2, 1.5, 1.5, 2, "3 normalised")],
        p.two_norms: [(norms, table[0], -4), (norms, table[0], 4)],
        p.small_variances: [(norms, table[0])],
        p.sigmoid_zones: [(norms, -3, 0.1), (norms, 5, 4)],
        p.both_norms_on_a_table: [
            (norms, m["batchnorm_comparison"], table, -3, 0),
            (norms, m["batchnorm_comparison"], table, 3, 4),
        ],
        p.influences: [(m["batchnorm_comparison"], table)],
        p.gradient_through_norm: [(norms, table[0], 1), (norms, table[0], 3)],
        p.geometry: [(norms, 0.2, 0), (norms, 2, 180)],
        p.weights_of_cat: [heads],
        p.weighted_sum: [heads],
        p.attention_steps: [(attention, masks, 4, True, True), (attention, masks, 1024, False, False)],
        p.sizes_of_scores: [(attention,)],
        p.similarity: [(attention, 0, 0), (attention, 360, 3)],
        p.dice: [(1,), (10,)],
        p.two_heads: [(attention, words)],
        p.heads_drawing: [(attention, 1), (attention, 6)],
        p.masks_side_by_side: [(masks, words, 0), (masks, words, 3)],
        p.before_or_after: [(attention, masks, -4), (attention, masks, 4)],
        p.dependencies: [(masks, {"RNN": m["examples"].rnn}, table)],
        p.reach: [({"a": lambda n: n, "b": lambda n: n, "c": lambda n: 1},)],
        p.stream_drawing: [()],
        p.decoder_drawing: [(order,) for order in m["pictures.drawings"].ORDERS],
        p.gradient_bars: [(blocks, 1, -1), (blocks, 96, 1, "without"), (blocks, 96, 0, "both"), (blocks, 10, -0.02)],
        p.depth: [
            (norms, blocks, "three", 1.0, "plain"),
            (norms, blocks, "all", 0.1, "post-norm"),
            (norms, blocks, "all", 0.5, "norms alone"),
        ],
        p.lost_and_kept: [(blocks, 1), (blocks, 8)],
        p.scale_returns: [(norms, blocks, 0.5), (norms, blocks, 6)],
        p.positions: [(decoder, 2, 8), (decoder, 200, 64)],
        p.relative_positions: [(decoder, 10, 8, 99), (decoder, 100, 64, 0)],
        p.in_context: [([("one", table), ("two", table)], words, [0, 2])],
        p.generation: [
            (decoder, teller, ["a", "b", "c", "d"], [0], 0),
            (decoder, teller, ["a", "b", "c", "d"], [0], 2),
        ],
        p.finished_run: [()],
        p.cost: [(48, 16), (12288, 2048)],
        p.next_letter: [(modules, "", 0.1), (modules, "jenn", 3)],
        p.likely: [(modules, ""), (modules, "x" * 40)],
        p.attention_maps: [(modules, "", 1), (modules, "christopher" * 3, 3)],
        p.additions: [(modules, ""), (modules, "christopher" * 3)],
        p.ladder: [(modules,)],
        p.journey: [(modules, "", 13, 0), (modules, "christopher" * 3, 13, 7), (modules, "ada", 1, 4)],
    }


@pytest.mark.slow
def test_every_picture_is_a_figure_with_a_title_at_both_ends_of_its_sliders(
    homework_modules: dict[str, ModuleType], modules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.figure

    m = homework_modules
    monkeypatch.setattr(m["plotting"], "LAYOUT", "none")
    drawn, tables = (
        drawings(m, modules),
        {
            getattr(m["pictures"], name)
            for name in (
                "byte_pairs",
                "depth_table",
                "designs",
                "gradient_check",
                "users",
                "written",
                "changes",
                "first_name",
            )
        },
    )
    assert {getattr(m["pictures"], name) for name in m["pictures"].__all__} == {*drawn, *tables}
    for draw, ends in drawn.items():
        for given in ends:
            figure = draw(*given)
            assert isinstance(figure, matplotlib.figure.Figure)
            assert figure.get_suptitle(), draw.__name__
            assert figure.get_figwidth() <= 10.5, f"{draw.__name__} is too wide for a small screen"
            figure.canvas.draw()


@pytest.mark.slow
def test_the_gallery_has_each_picture_and_table_and_no_other(with_solutions: Cells) -> None:
    gallery = {path.stem for path in (TOUR / "gallery").iterdir()}
    code_of_the_tour = " ".join(cell.source for cell in with_solutions)
    drawn = len(pictures_in(with_solutions))
    assert len([*(TOUR / "gallery").glob("*.png")]) == drawn
    assert all(re.search(f'pictures\\.{name}\\b|like="{name}"', code_of_the_tour) for name in gallery)
    assert sum(path.stat().st_size for path in (TOUR / "gallery").iterdir()) < 600_000


@pytest.mark.parametrize(
    ("picture", "colours"),
    [
        ("depth", ("BLUE", "RED", "GREY")),
        ("gradient_through_norm", ("BLUE", "RED", "PURPLE")),
        ("likely", ("BLUE", "RED", "GREEN", "PURPLE")),
        ("positions", ("BLUE", "RED", "GREEN")),
    ],
)
def test_the_gallery_has_the_colours_of_the_pictures(
    homework_modules: dict[str, ModuleType], picture: str, colours: tuple[str, ...]
) -> None:
    """With the usual palette of few colours a thin green line became as blue as the one beside it."""
    with Image.open(TOUR / "gallery" / f"{picture}.png") as image:
        found = np.array([colour for _, colour in image.convert("RGB").getcolors(256) or ()])
    for colour in colours:
        wanted = (255 * np.array(to_rgb(getattr(homework_modules["plotting"], colour)))).round()
        assert np.abs(found - wanted).max(axis=1).min() <= 20, colour
