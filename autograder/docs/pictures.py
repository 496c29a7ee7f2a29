"""Take the screenshots of a student's feedback page and of the class report for README.md.

`python -m autograder.docs.pictures` grades the sample class and one more submission, and writes student.png and report.png. It
needs the package playwright and Debian's chromium. The tests of the site write browser.png.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from autograder.gradebook import sample
from autograder.homework.homework import Homework

DOCS = Path(__file__).parent
MISTAKE = "layer_norm.sample_variance"
SIZES = {"student": (1000, 700), "report": (1100, 740)}


def pages(folder: Path) -> dict[str, Path]:
    """Grade, and return the pages by the name of their picture."""
    homework = Homework()
    misconception = homework.misconception(MISTAKE)
    assert misconception is not None
    (folder / "class" / "maria").mkdir(parents=True)
    for name, text in sample.with_mistakes(sample.references(homework), misconception).items():
        (folder / "class" / "maria" / name).write_text(text, encoding="utf-8")
    kit = [sys.executable, "-m", "autograder"]
    subprocess.run([*kit, "grade", folder / "class", "-o", folder / "one", "--feedback"], check=True)
    subprocess.run([*kit, "demo", "-o", folder / "demo"], check=True)
    return {"student": folder / "one" / "feedback" / "maria.html", "report": folder / "demo" / "graded" / "report.html"}


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path in pages(Path(folder)).items():
            width, height = SIZES[name]
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(path.as_uri())
            page.screenshot(path=DOCS / f"{name}.png")
            Image.open(DOCS / f"{name}.png").quantize(64).save(DOCS / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
