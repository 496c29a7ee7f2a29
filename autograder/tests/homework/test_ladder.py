"""After each module, a model made of the functions written so far writes names."""

import inspect
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.tests.files import HOMEWORK
from autograder.tests.homework.test_checks_at_home import pytest_output

LOSSES = {"layernorm": 2.14, "scaled_attention": 2.05, "causal_mask": 2.02, "transformer_block": 1.98, "decoder": 1.95}
LETTER_PAIRS = 2.37


def folder_with(home: Path, modules: list[str]) -> Path:
    """Fill a student's folder in which these modules are written."""
    runpy.run_path(str(HOMEWORK.folder / ".ci" / "students.py"))["student_folder"](home)
    for module in modules:
        shutil.copy(HOMEWORK.solutions / f"{module}.py", home)
    return home


def test_each_model_has_its_loss_and_none_is_worse_than_the_one_before(homework: Any) -> None:
    losses = {rung.module: rung.loss for rung in homework.ladder.RUNGS}
    assert losses == LOSSES and sorted(losses.values(), reverse=True) == [*losses.values()]
    assert max(losses.values()) < LETTER_PAIRS
    assert homework.ladder.WEIGHTS.stat().st_size < 300_000


@pytest.mark.slow
@pytest.mark.parametrize("module", LOSSES)
def test_loss_is_that_of_the_weights_on_held_out_names(homework: Any, module: str) -> None:
    losses = [homework.ladder.nats(module, name) for name in homework.names.census()[1]]
    assert np.mean(losses) == pytest.approx(LOSSES[module], abs=0.006)


@pytest.mark.parametrize("module", LOSSES)
def test_pytest_shows_names_from_stubs_and_the_functions_of_the_modules_so_far(tmp_path: Path, module: str) -> None:
    names = [*LOSSES]
    written = names[: names.index(module) + 1]
    home = folder_with(tmp_path / "home", written)
    line = pytest_output(home, f"{module}.py").partition("Names by your code so far: ")[2].partition("\n\n")[0]
    assert f" ({LOSSES[module]:.2f} nats per character" in " ".join(line.split())
    following = [f"{later}.py brings it to {LOSSES[later]:.2f})" for later in names[len(written) :]]
    assert all(text in " ".join(line.split()) for text in following[:1])


def test_layer_norm_alone_writes_names_and_a_wrong_one_does_not(tmp_path: Path) -> None:
    home = folder_with(tmp_path / "home", [])
    file = home / "layernorm.py"
    file.write_text(f"{file.read_text()}\n\n{inspect.getsource(HOMEWORK.functions['layer_norm'])}")
    assert "Names by your code so far: " in pytest_output(home)
    assert "Names by your code" not in pytest_output(home, "scaled_attention.py"), "it is not about this module"
    file.write_text(file.read_text().replace("+ eps)", "+ 2 * eps)"))
    assert "Names by your code" not in pytest_output(home)
