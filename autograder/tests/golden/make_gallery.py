"""Writes solutions/tour/gallery: each picture of the notebook as it looks with the solutions, small, a PNG each.

Run by hand, with the extra `notebook` installed, from the root of the clone, when a picture has changed:

    python autograder/tests/golden/make_gallery.py

A student sees them where a function is not written yet. They are images, so they give no solution away.
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

from tour import stage  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

DOTS, COLOURS = 80, 48  # an inch; few enough that forty pictures take half a megabyte


def sources() -> list[str]:
    """The code cells of the tour, without the lines that only IPython understands, and without the checks."""
    cells = json.loads((SOLUTIONS / "transformer.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = [[line for line in text.splitlines() if not line.startswith("%")] for text in code]
    return ["\n".join(some) for some in lines if not some[0].startswith("def test_")]


def small(figure: Figure) -> bytes:
    """A figure as a PNG with few colours."""
    image = Image.open(io.BytesIO(stage.png(figure, DOTS))).convert("RGB").quantize(COLOURS)
    file = io.BytesIO()
    image.save(file, format="png", optimize=True)
    return file.getvalue()


def main() -> None:
    found: dict[str, bytes] = {}

    def keep(player: Any) -> None:
        player.redraw()
        if not isinstance(player.result, Figure):
            return
        if player.name in found:
            raise ValueError(f"two pictures are called {player.name}: give one of them another name with like=")
        found[player.name] = small(player.result)

    stage.Player.put = keep
    names: dict[str, Any] = {}
    for source in sources():
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, names)
    for path in stage.GALLERY.glob("*.png"):
        path.unlink()
    for name, data in found.items():
        (stage.GALLERY / f"{name}.png").write_bytes(data)


if __name__ == "__main__":
    main()
