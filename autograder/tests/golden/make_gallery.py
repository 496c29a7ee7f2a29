"""Writes solutions/tour/gallery, the notebook's pictures and tables with the solutions, and reference_values.npz.

Run manually, with the extra `notebook` installed, from the root of the clone, after a change to a picture, a table or
the calls in tour/reference_values.py:

    python autograder/tests/golden/make_gallery.py

Students see these pictures (small PNG files) and tables (HTML) as examples while a function is not written yet.
reference_values.npz has the results of the solutions for the calls in tour/reference_values.py. Results alone do not
reveal a solution.
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

from tour import controls, reference_values  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour.tables import Table  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

DOTS, COLOURS = 80, 96  # dots per inch; few enough for forty pictures to take half a megabyte


def sources() -> list[str]:
    """The code cells of the tour, without checks and without lines that only IPython understands."""
    cells = json.loads((SOLUTIONS / "transformer.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = [[line for line in text.splitlines() if not line.startswith("%")] for text in code]
    return ["\n".join(some) for some in lines if not some[0].startswith("def test_")]


def small(figure: Figure) -> bytes:
    """A figure as a PNG with few colours, chosen to keep thin green lines green and pale bands coloured."""
    image = (
        Image.open(io.BytesIO(controls.png(figure, DOTS)))
        .convert("RGB")
        .quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2)
    )
    file = io.BytesIO()
    image.save(file, format="png", optimize=True)
    return file.getvalue()


def right() -> dict[str, Any]:
    """The results of the solutions for the calls in tour/reference_values.py."""
    return {
        f"{module}.{function}": reference_values.results(module, function)
        for module, function in reference_values.CALLS
    }


def gallery() -> dict[str, bytes]:
    """Every picture and table of the notebook, by file name."""
    found: dict[str, bytes] = {}

    def keep(player: Any) -> None:
        player.redraw()
        if isinstance(player.result, Figure):
            name, data = f"{player.name}.png", small(player.result)
        elif isinstance(player.result, Table):
            name, data = f"{player.name}.html", (player.result._repr_html_() + "\n").encode()
        else:
            raise ValueError(player.result)
        if name in found:
            raise ValueError(f"two pictures or tables are called {player.name}: give one another name with like=")
        found[name] = data

    controls.Player.put = keep
    cells: dict[str, Any] = {}
    for source in sources():
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, cells)
    return found


def main() -> None:
    np.savez_compressed(reference_values.RIGHT, **right())
    found = gallery()
    for path in controls.GALLERY.iterdir():
        path.unlink()
    for name, data in found.items():
        (controls.GALLERY / name).write_bytes(data)


if __name__ == "__main__":
    main()
