"""Compares the processor time of this clone and another one: `python -m autograder.benchmarks.against OTHER [ROUNDS]`.

Both grade the same classes alternately, each in its own process, pinned to one core like the workers of a class. No upload occurs
twice. The output is the median in milliseconds per submission, and the median of the ratios of the rounds.
"""

import os
import pickle
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

Class = list[tuple[str, dict[str, bytes]]]


def compared(other: Path, rounds: int) -> None:
    """Print for each class the time of the other clone, the time of this one, and their ratio."""
    from autograder.homework.homework import PACKAGE

    made = classes()
    workers = [_worker(clone, made) for clone in (other, PACKAGE.parent)]
    print("class                          other     this   ratio")
    for name in made:
        taken: list[tuple[float, float]] = []
        for number in range(rounds + 1):
            order = workers if number % 2 else workers[::-1]
            seconds = {id(worker): _request(worker, f"{name}\n") for worker in order}
            taken += [(seconds[id(workers[0])], seconds[id(workers[1])])] if number else []  # the first round warms up
        theirs, ours = (statistics.median(column) * 1e3 for column in zip(*taken, strict=True))
        print(f"{name:27} {theirs:6.0f} ms {ours:6.0f} ms  {statistics.median(b / a for a, b in taken):.3f}")


def classes() -> dict[str, Class]:
    """Correct and wrong submissions; a wrong one has one misconception, in the reference or in another style."""
    from autograder.audit import cases
    from autograder.benchmarks.mixed import mixed_class, right_styles
    from autograder.homework.homework import Homework

    homework = Homework()
    misconceptions = [case for case in cases.cases(homework) if case.kind == "mistake"][::50]
    styled = [one for one in mixed_class(60)[::6] if one.files and "softmax.py" not in one.files]
    found = {
        "right: the references": [(f"reference {n}", homework.files) for n in range(10)],
        "right: other styles": [(one.name, one.files) for one in right_styles()[::2]],
        "wrong: beside the references": [
            (case.name, cases.submission(homework, case).files) for case in misconceptions
        ],
        "wrong: in other styles": [(one.name, one.files) for one in styled],
    }
    return {name: [(label, dict(files)) for label, files in made] for name, made in found.items()}


def _worker(clone: Path, made: dict[str, Class]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, __file__, "--work"]
    environment = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
    worker = subprocess.Popen(command, cwd=clone, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdin is not None
    pickle.dump(made, worker.stdin)
    return worker


def _request(worker: "subprocess.Popen[bytes]", line: str) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(line.encode())
    worker.stdin.flush()
    return float(worker.stdout.readline())


def work() -> None:
    """Grade the classes requested on standard input with the first kit on the path."""
    from autograder.grading import grader as grading

    homework: list[Any]
    try:
        from autograder.homework.homework import Homework
    except ImportError:  # older clones have one homework for the whole process
        homework = []
    else:
        homework = [Homework()]
    submission = vars(grading)["Submission"]  # older clones define it in a module with another name
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    made = pickle.load(sys.stdin.buffer)
    with grading.open_grader(*homework) as grader:
        for number, line in enumerate(sys.stdin.buffer):
            chosen, before = made[line.decode().strip()], processor_seconds()
            for name, files in chosen:
                head = f"# {name}, round {number}\n".encode()
                grader.grade(submission(name, {path: head + text for path, text in files.items()}))
            print((processor_seconds() - before) / len(chosen), flush=True)


def processor_seconds() -> float:
    """Processor time of this process and its descendants, including those that have ended."""
    family = [process.cpu_times() for process in (psutil.Process(), *psutil.Process().children())]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in family))


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        sys.path.pop(0)  # this file's folder
        work()
    elif len(sys.argv) in (2, 3) and Path(sys.argv[1], "autograder").is_dir():
        compared(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) == 3 else 10)
    else:
        sys.exit("usage: python -m autograder.benchmarks.against OTHER [ROUNDS]; OTHER is a clone of the kit")
