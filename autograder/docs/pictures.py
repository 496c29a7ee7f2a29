"""Take the screenshots of a student's feedback page, the class report and the students' page for README.md.

`python -m autograder.docs.pictures` grades the sample class and one more submission, and writes student.png and report.png. With
a folder as for `autograder build --pyodide`, it writes browser.png instead. It needs the package playwright and Debian's chromium.
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


def workbench(pyodide: Path) -> None:
    """Take the screenshot of the students' page with a mistake and its hint."""
    from autograder.tests.release import workbench

    body = (
        "mean = x.mean(axis=-1, keepdims=True)\n"
        "var = x.var(axis=-1, keepdims=True, ddof=1)\n"
        "return gamma * (x - mean) / np.sqrt(var + eps) + beta"
    )
    with tempfile.TemporaryDirectory() as folder, workbench.browser() as browser:
        site = Path(folder, "site")
        workbench.write_site(site, workbench.student_folder(Path(folder, "transformer")), pyodide)
        with workbench.served(site) as address:
            bench = workbench.Workbench(browser.new_page(viewport=workbench.LAPTOP), address).open()
            bench.page.get_by_label("Python code").click()
            for key in ("Control+A", "Delete"):
                bench.page.keyboard.press(key)
            bench.page.keyboard.type(f"import numpy as np\n\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n{body}")
            for name in ("Check", "Hint"):
                bench.press(name)
            bench.page.screenshot(path=DOCS / "browser.png")


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
    workbench(Path(sys.argv[1])) if sys.argv[1:] else main()
