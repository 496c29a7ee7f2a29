"""Measure, print, and write the results to the documentation: `python -m autograder.benchmarks [--quick]`."""

import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from autograder.benchmarks import floor
from autograder.benchmarks.against import processor_seconds
from autograder.benchmarks.mixed import mixed_class, right_styles, without_repair
from autograder.gradebook import pool
from autograder.grading.grader import Grader, open_grader
from autograder.homework.homework import PACKAGE, Homework
from autograder.sandbox.protocol import Call
from autograder.submissions.submission import Submission

HOMEWORK = Homework()

WORKERS = 2
PAGE = PACKAGE / "docs" / "reference" / "figures.md"
START, END = "<!-- figures -->", "<!-- end of figures -->"


def throughput(sample: int, size: int) -> dict[str, float]:
    """Submissions per second: `otter run` on `sample` uploads, `autograder grade` on three classes of `size`, all unique.

    The first class is graded "cold", including the start of the workers, the next "warm", and the last "plain", without
    single-edit repair.
    """
    with tempfile.TemporaryDirectory() as folder:
        rates = {"otter": _otter_rate(Path(folder), mixed_class(sample))}
    workers = pool.local(WORKERS)
    try:
        started = time.perf_counter()
        workers.submit(0, pool.prepare, None).result()
        for number, name in enumerate(("cold", "warm", "plain")):
            submissions = mixed_class(size, number * size)
            grade = without_repair if name == "plain" else pool.grade
            digest = pool.kit_digest(None)
            futures = [workers.submit(at % WORKERS, grade, one, digest, None) for at, one in enumerate(submissions)]
            for future in futures:
                future.result()
            rates[name] = size / (time.perf_counter() - started)
            started = time.perf_counter()
    finally:
        workers.end()
    return rates


def _otter_rate(folder: Path, submissions: list[Submission]) -> float:
    from autograder.release.build import build

    build(HOMEWORK, folder / "dist")
    zips = [_zipped(folder, submission) for submission in submissions]
    command = [sys.executable, "-m", "otter", "run", "-a", str(folder / "dist" / "autograder.zip"), "--no-logo"]

    def grade(path: Path) -> None:
        out = path.with_suffix("")
        out.mkdir()
        subprocess.run([*command, "-o", str(out), str(path)], check=True, capture_output=True)

    started = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(grade, zips))
    return len(zips) / (time.perf_counter() - started)


def _zipped(folder: Path, submission: Submission) -> Path:
    path = folder / f"{submission.name}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (submission.files or {"nothing.txt": b""}).items():
            archive.writestr(name, content)
    return path


def _median(run: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def wire(grader: Grader) -> dict[str, float]:
    """Median microseconds per call with a 16 kB array: sent alone, ten per message as in grading, and direct."""
    x, ones = np.random.default_rng(0).normal(size=(32, 64)), np.ones(64)
    grader.sandbox.write(HOMEWORK.files)
    together = [Call("layernorm", "layer_norm", (x, ones, ones), {}, [])] * 10
    with grader.sandbox.start() as student:
        student.load(["layernorm"])
        over = _median(lambda: student.run(together[:1]), 3000) * 1e6
        tenth = _median(lambda: student.run(together), 300) * 1e5
    direct = _median(lambda: HOMEWORK.functions["layer_norm"](x, ones, ones), 3000) * 1e6
    return {"over": over, "direct": direct, "alone": over - direct, "together": tenth - direct}


def against_floor(grader: Grader, times: int) -> dict[str, float]:
    """Milliseconds of processor time to grade the references, and to make the same calls directly, alternating."""
    submission = Submission("references", HOMEWORK.files)
    ours = lowest = 0.0
    for number in range(times + 2):
        began = processor_seconds()
        grader.grade(submission)
        between = processor_seconds()
        floor.run_once(grader.plan)
        if number > 1:  # the first ones warm up
            ours, lowest = ours + between - began, lowest + processor_seconds() - between
    return {"ours": ours / times * 1e3, "floor": lowest / times * 1e3, "ratio": ours / lowest}


def against_styles(grader: Grader, times: int) -> dict[str, float]:
    """The same, averaged over the correct solutions in audit/alternatives; results of direct calls are not compared."""
    ours = lowest = 0.0
    styles = right_styles()
    for number in range(times + 1):
        for style in styles:
            began = processor_seconds()
            grader.grade(style)
            if number:  # the first ones warm up
                ours += processor_seconds() - began
                lowest += floor.direct_seconds(grader.plan, style.files)
    each = times * len(styles) / 1e3
    return {"ours": ours / each, "floor": lowest / each, "ratio": ours / lowest}


def growth(grader: Grader, sizes: tuple[int, ...]) -> list[dict[str, float]]:
    """Milliseconds of processor time per submission, and the grader's memory, after various numbers of submissions."""
    rows, done = [], 0
    before = processor_seconds()
    for number, submission in enumerate(mixed_class(max(sizes)), 1):
        grader.grade(submission)
        if number in sizes:
            spent = processor_seconds() - before
            memory = psutil.Process().memory_info().rss / 2**20
            rows.append({"size": number, "cost": spent / (number - done) * 1e3, "memory": memory})
            before, done = before + spent, number
    return rows


def deadline(grader: Grader) -> float:
    """Seconds to grade a submission with one endless function."""
    files = HOMEWORK.files
    files["layernorm.py"] += b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    while True:\n        pass\n"
    started = time.perf_counter()
    grader.grade(Submission("endless", files))
    return time.perf_counter() - started


def main() -> None:
    quick = "--quick" in sys.argv
    sizes = (15, 30, 45) if quick else (100, 900, 1000)
    rate = throughput(4, 24) if quick else throughput(24, 240)
    pool.keep_to_core(0)  # as each worker does
    with open_grader(HOMEWORK) as grader:
        wired, floored = wire(grader), against_floor(grader, 5 if quick else 100)
        styled = against_styles(grader, 1 if quick else 5)
        endless, grown = deadline(grader), growth(grader, sizes)
    text = _report(rate, wired, floored, styled, grown, endless)
    print(text)
    if not quick and PAGE.is_file():
        PAGE.write_text(with_figures(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8", newline="\n")


def with_figures(page: str, figures: str) -> str:
    """The page with these figures between its markers."""
    return re.sub(f"{START}.*{END}", lambda _: f"{START}\n{figures}\n{END}", page, flags=re.DOTALL)


def _report(rate: Any, wired: Any, floored: Any, styled: Any, grown: Any, endless: float) -> str:
    ratios = ", ".join(f"{rate[name] / rate['otter']:.0f}" for name in ("cold", "warm", "plain"))
    rows = [
        ("submissions per second, mixed class, two workers: cold, including the start", f"{rate['cold']:.1f}"),
        ("warm", f"{rate['warm']:.1f}"),
        ("warm, without repair", f"{rate['plain']:.1f}"),
        ("the same with `otter run`", f"{rate['otter']:.2f}"),
        ("ratio to it: cold, warm, warm without repair (goal: at least 50)", ratios),
        ("processor time of the references as a submission", f"{floored['ours']:.0f} ms"),
        ("the same tests called directly", f"{floored['floor']:.0f} ms"),
        ("ratio (goal: at most 2)", f"{floored['ratio']:.1f}"),
        ("processor time of a correct submission of that class", f"{styled['ours']:.0f} ms"),
        ("the same calls made directly, results not compared", f"{styled['floor']:.0f} ms"),
        ("ratio (goal: at most 2)", f"{styled['ratio']:.1f}"),
        ("a call with a 16 kB array over the wire, median", f"{wired['over']:.0f} µs"),
        ("its overhead against a direct call (goal: below 100)", f"{wired['alone']:.0f} µs"),
        ("the same for each of ten calls in one message, as in grading", f"{max(wired['together'], 0):.0f} µs"),
    ]
    starts = [1, *(row["size"] + 1 for row in grown)]
    rows += [
        (
            f"processor time of submissions {start} to {row['size']}, memory",
            f"{row['cost']:.0f} ms, {row['memory']:.0f} MB",
        )
        for start, row in zip(starts, grown, strict=False)
    ]
    rows.append(("a submission with one infinite loop, measured separately", f"{endless:.1f} s"))
    machine = (
        f"{platform.machine()}, {psutil.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    lines = [f"Measured on {machine}.", "", "| figure | value |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows)])


if __name__ == "__main__":
    main()
