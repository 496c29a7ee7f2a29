"""The lower bound: the same calls made directly, without a sandbox."""

import contextlib
import os
import tempfile
import time
import warnings
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.grading.call_results import compared
from autograder.grading.plan import Plan
from autograder.grading.runner.processes import Direct
from autograder.homework import reference
from autograder.homework.homework import Homework

HOMEWORK = Homework()


def run_once(plan: Plan) -> None:
    """Make every test call on the references once, and compare the results."""
    for module in plan.rubric.groups:
        test_calls = (*plan.public[module], *plan.hidden.get(module, ()))
        compared(test_calls, Direct(HOMEWORK.functions).run(test_call.call for test_call in test_calls))


def direct_seconds(plan: Plan, files: Mapping[str, bytes]) -> float:
    """Processor seconds of all test calls on the functions of trusted files, in a separate process, without comparison.

    The files are imported and the functions warmed up first.
    """
    here, there = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_call, args=(plan, files, there))
    process.start()
    try:
        return float(here.recv())
    finally:
        process.join()


def _call(plan: Plan, files: Mapping[str, bytes], end: Connection) -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        for name, text in files.items():
            (Path(folder) / name).write_bytes(text)
        modules = reference.load(Path(folder), tuple(plan.rubric.modules))
        functions = {
            name: getattr(modules[module], name)
            for module, entry in plan.rubric.modules.items()
            for name in entry.functions
        }
        seconds = 0.0
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            for _ in range(2):
                started = time.process_time()
                for module in plan.rubric.groups:
                    Direct(functions).run(t.call for t in (*plan.public[module], *plan.hidden.get(module, ())))
                seconds = time.process_time() - started
    end.send(seconds)
