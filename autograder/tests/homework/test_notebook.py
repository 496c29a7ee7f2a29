"""The students' notebook: it runs before and after the modules are written, and its pictures follow the sliders."""

import ast
import base64
import builtins
import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient

from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import handout

HELPERS = ("examples", "pictures", "tour")
MODULES = tuple(rubrics.current().modules)
NOTEBOOK = "transformer.ipynb"
Cells = list[Any]


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
    for name in (*HELPERS, *MODULES):
        text = (kit.solutions() / f"{name}.py").read_text()
        if name in MODULES and not written:
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


def faults(cells: Cells) -> list[str]:
    return [
        f"{output.get('ename', output.get('name'))}: {output.get('evalue', output.get('text'))}"
        for output in outputs(cells)
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


@pytest.fixture(scope="module")
def with_solutions(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return execute(tour(), homework(tmp_path_factory.mktemp("solutions"), written=True))


@pytest.fixture(scope="module")
def with_stubs(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    return execute(tour(), homework(tmp_path_factory.mktemp("stubs"), written=False))


@pytest.fixture(scope="module")
def homework_modules() -> Iterator[dict[str, ModuleType]]:
    """The solutions and the helpers, imported here as they are in a student's kernel."""
    names = (*HELPERS, *MODULES)
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(kit.solutions()))
    yield {name: importlib.import_module(name) for name in names}
    sys.path.remove(str(kit.solutions()))
    for name in names:
        sys.modules.pop(name, None)
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
    assert all(f"- {name}.py" in given for name in HELPERS)


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


def names_in(sources: list[str], context: type[ast.expr_context]) -> set[str]:
    """Every name that is read or bound."""
    nodes = [node for text in sources for node in ast.walk(ast.parse(text.replace("%", "#")))]
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        found |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        found |= {alias.asname or alias.name for node in imports for alias in node.names}
    return found


# Run as a whole


def test_runs_with_the_solutions_and_shows_everything(with_solutions: Cells) -> None:
    assert faults(with_solutions) == []
    assert len(pictures_in(with_solutions)) >= 20
    assert [text for text in texts(with_solutions) if "Nothing to show" in text or "not written" in text] == []


def test_runs_before_anything_is_written_and_says_what_is_missing(with_stubs: Cells) -> None:
    assert faults(with_stubs) == []
    missing = [text for text in texts(with_stubs) if text.startswith("Nothing to show: ")]
    assert len(missing) >= 20
    assert all(text.endswith("is not written yet") and "\n" not in text for text in missing)


def test_its_tables_agree_with_the_notes_where_the_notes_are_right(with_solutions: Cells) -> None:
    """Numbers that the errata confirm stay confirmed, and the wrong ones stay wrong."""
    lines = [line for text in texts(with_solutions) if "the notes print" in text for line in text.splitlines()]
    verdicts = [line.rsplit("  ", 1)[1] for line in lines if line.endswith(("same", "rounding", "DIFFERS"))]
    assert {verdict: verdicts.count(verdict) for verdict in set(verdicts)} == {"same": 9, "rounding": 2, "DIFFERS": 15}


# Alive


def test_moving_a_slider_redraws_in_the_kernel(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    cells = [code("%autoreload"), code("steps = play("), new('steps.controls["gamma"].value = -2.0')]
    cells = execute(cells, homework(tmp_path, written=True), lambda cells: seen.append(pictures_in(cells)))
    assert faults(cells) == []
    drawn, redrawn = seen[1:]
    assert len(drawn) == len(redrawn) == 1
    assert drawn != redrawn
    assert base64.b64decode(redrawn[0]).startswith(b"\x89PNG")


def test_a_saved_file_is_enough_to_see_the_change(tmp_path: Path) -> None:
    folder = homework(tmp_path, written=False)
    shutil.copy(kit.solutions() / "layernorm.py", folder / "written.txt")
    save = "import shutil\nshutil.copyfile('written.txt', 'layernorm.py')"
    cells = [code("%autoreload"), code("steps = play("), new(save), code("steps = play(")]
    cells = execute(cells, folder)
    assert faults(cells) == []
    assert texts(cells[:2]) == ["Nothing to show: layer_norm is not written yet"]
    assert len(pictures_in(cells[3:])) == 1


@pytest.fixture
def steps(homework_modules: dict[str, ModuleType]) -> Callable[[], Any]:
    """The first picture with its sliders, in this process."""
    m = homework_modules

    def play() -> Any:
        x = np.array([4.0, 2.0, 0.0, -2.0])
        return m["tour"].play(
            m["pictures"].layer_norm_steps,
            m["layernorm"],
            x,
            gamma=m["tour"].Slide(-2, 2, 1),
            beta=m["tour"].Slide(-1, 1, 0),
        )

    return play


def heights(figure: Figure) -> list[float]:
    return [bar.get_height() for bar in figure.axes[-1].containers[0]]


def test_moving_a_slider_draws_another_picture(steps: Callable[[], Any]) -> None:
    player = steps()
    first = heights(player.result)
    player.controls["gamma"].value = 2.0
    assert heights(player.result) == pytest.approx([2 * height for height in first])
    player.controls["beta"].value = 1.0
    assert heights(player.result) == pytest.approx([2 * height + 1 for height in first])


def test_without_ipywidgets_there_is_still_a_picture(
    steps: Callable[[], Any], homework_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homework_modules["tour"], "ipywidgets", None)
    player = steps()
    assert player.controls == {}
    assert isinstance(player.result, Figure)


def test_a_slider_of_whole_numbers_gives_whole_numbers(homework_modules: dict[str, ModuleType]) -> None:
    tour = homework_modules["tour"]
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
    tour = homework_modules["tour"]
    if text is not None:
        (tmp_path / "troubled.py").write_text(text)
    monkeypatch.setattr(tour, "__file__", str(tmp_path / "tour.py"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "troubled", raising=False)
    said = tour.attempt(lambda: tour.Lazy("troubled").f())
    assert said.startswith(f"Nothing to show: {line}")
    assert "\n" not in said


def test_a_picture_of_a_wrong_result_is_one_line(homework_modules: dict[str, ModuleType]) -> None:
    class Wrong:
        def softmax(self, scores: Any) -> None:
            return None

    said = homework_modules["tour"].attempt(homework_modules["pictures"].sizes_of_scores, Wrong())
    assert said.startswith("Nothing to show: AttributeError")
    assert said.endswith("(does the check of this module pass?)")


# Each picture


def test_every_picture_is_a_figure_with_a_title_and_named_axes(homework_modules: dict[str, ModuleType]) -> None:
    m = homework_modules
    pictures, norms, attention, masks, blocks = (
        m[name] for name in ("pictures", "layernorm", "scaled_attention", "causal_mask", "transformer_block")
    )
    table, words = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5], [2.0, -1.0, 1.5]]), ["a", "b", "c"]
    teller = m["examples"].lookup_table(np.full((4, 4), 0.25))
    drawn = {
        pictures.layer_norm_steps: (norms, table[0]),
        pictures.two_norms: (norms, table[0]),
        pictures.small_variances: (norms, table[0]),
        pictures.sigmoid_zones: (norms,),
        pictures.both_norms_on_a_table: (norms, m["batchnorm_comparison"], table),
        pictures.influences: (m["batchnorm_comparison"], table),
        pictures.weights_of_cat: (attention, words, table[:1], table, table, table[0]),
        pictures.attention_steps: (attention, masks, 16, True, True),
        pictures.sizes_of_scores: (attention,),
        pictures.dice: (1,),
        pictures.two_heads: (attention, words),
        pictures.masks_side_by_side: (masks, words, 2),
        pictures.before_or_after: (attention, masks),
        pictures.dependencies: (masks, {"RNN": m["examples"].rnn}, table),
        pictures.gradient_bars: (blocks, 30, 0.5, False),
        pictures.depth: (norms, blocks, 4, 1.0),
        pictures.positions: (m["decoder"], 5, 8),
        pictures.generation: (m["decoder"], teller, ["a", "b", "c", "d"], [0], 2),
        pictures.losses: ([3.0, 1.0],),
    }
    public = {f for name, f in vars(pictures).items() if callable(f) and f.__module__ == "pictures" and name[0] != "_"}
    assert public == set(drawn)
    for draw, given in drawn.items():
        figure = draw(*given)
        assert isinstance(figure, Figure)
        assert figure.get_suptitle(), draw.__name__
        assert any(axes.get_xlabel() for axes in figure.axes), draw.__name__
        figure.canvas.draw()
