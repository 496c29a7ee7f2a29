"""Measures how many of our misconceptions the public tests of two other courses detect, and what trivial code earns.

    python -m autograder.benchmarks.peers --tinytorch CLONE --deep-ml CLONE

reads the tests from clones of MLSysBook/TinyTorch and Open-Deep-ML/DML-OpenProblem (on GitHub), runs them on our code
through adapters (peer_signatures.py), and writes the table to docs/explanation/peers.md. None of their code is
included. A test counts if the reference passes it. A misconception counts if it changes any result of the adapters.
"""

import argparse
import ast
import contextlib
import importlib
import io
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from autograder.audit import audit, cases, public
from autograder.benchmarks import peer_signatures
from autograder.grading.grader import open_grader
from autograder.homework import reference
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.library import Misconception
from autograder.release import handout
from autograder.shared.compare import equal
from autograder.submissions.submission import Submission

HOMEWORK = Homework()

PAGE = PACKAGE / "docs" / "explanation" / "peers.md"
START, END = "<!-- table -->", "<!-- end of table -->"
MODULES = ("layernorm", "scaled_attention", "causal_mask", "transformer_block", "decoder")
TRIVIAL = {"zeros": "zeros", "constant": "ones", "first_argument": "`return x`", "": "nothing written"}
INLINE = ("src/12_attention/12_attention.py", "src/13_transformers/13_transformers.py")
SUITES = ("tests/12_attention/test_attention_core.py", "tests/13_transformers/test_transformers_core.py")
# softmax, self-attention, positions, multi-head and masked attention, layer norm
QUESTIONS = (23, 53, 85, 94, 107, 109)
DIGITS = 1e-3  # tolerance for printed numbers, since the expected ones are rounded
Functions = Mapping[str, Callable[..., Any]]
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Peer:
    """A course: `tests` by name, which raise an exception if they fail; `probe` returns what its signatures show."""

    name: str
    version: str
    tests: Mapping[str, Callable[[Functions], None]]
    probe: Callable[[Functions], list[Any]]


# Tests of the peers


def tinytorch(clone: Path) -> Peer:
    """The tests in the notebooks on attention and Transformers, and the core tests of both modules."""
    tests = {f"{path}: {name}": test for path in (*INLINE, *SUITES) for name, test in _tests_of(clone / path)}
    return Peer("TinyTorch", _version(clone), tests, peer_signatures.probe_tinytorch)


def _tests_of(path: Path) -> Iterator[tuple[str, Callable[[Functions], None]]]:
    """The test functions and methods of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name != "test_module":
            yield node.name, partial(_run, ast.Module([node], []), node.name, "")
        if isinstance(node, ast.ClassDef):
            for test in node.body:
                if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                    yield test.name, partial(_run, ast.Module([node], []), node.name, test.name)


def _run(code: ast.Module, name: str, method: str, functions: Functions) -> None:
    """Define a test next to our functions with TinyTorch's signatures, and run it."""
    names = {**vars(peer_signatures.tinytorch(functions)), "np": np, "pytest": importlib.import_module("pytest")}
    exec(compile(code, "<a test of TinyTorch>", "exec"), names)  # noqa: S102 - from a clone that the user has chosen
    with peer_signatures.importable(names):
        getattr(names[name](), method)() if method else names[name]()


def deep_ml(clone: Path) -> Peer:
    """The tests of the exercises on attention, norms and positions. Each is a snippet and its expected output."""
    tests: dict[str, Callable[[Functions], None]] = {}
    for question in QUESTIONS:
        (path,) = (clone / "questions").glob(f"{question}_*/tests.json")
        for number, case in enumerate(json.loads(path.read_text(encoding="utf-8")), 1):
            tests[f"{path.parent.name} {number}"] = partial(_prints, question, case["test"], case["expected_output"])
    return Peer("Deep-ML", _version(clone), tests, peer_signatures.probe_deep_ml)


def _prints(question: int, snippet: str, expected: str, functions: Functions) -> None:
    """Run a snippet and compare the numbers that it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet, {"np": np, **peer_signatures.deep_ml(functions)[question]})  # noqa: S102 - the same
    found, wanted = (list(map(float, re.findall(_NUMBER, text))) for text in (printed.getvalue(), expected))
    assert len(found) == len(wanted) and np.allclose(found, wanted, DIGITS, DIGITS)


_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)"


def _version(clone: Path) -> str:
    """The commit of a clone, with its date."""
    done = subprocess.run(["git", "-C", str(clone), "log", "-1", "--format=%h, %cs"], capture_output=True, text=True)
    return done.stdout.strip() or "no git folder"


# Our code: correct, wrong, trivial


@dataclass(frozen=True)
class Code:
    """A submission of our own code: its contract functions, and its modules, which some import when they are called."""

    functions: Functions
    modules: Mapping[str, ModuleType]


def code_of(files: Files) -> Code:
    """Import a submission of our own code."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_bytes(text)
        loaded = reference.load(Path(folder), tuple(name.removesuffix(".py") for name in files))
    entries = HOMEWORK.rubric.modules
    functions = {name: getattr(loaded[module], name) for module in MODULES for name in entries[module].functions}
    return Code(functions, loaded)


def with_mistake(mistake: Misconception) -> Files:
    return cases.submission(
        HOMEWORK, cases.Case("mistake", mistake.id, mistake.module, mistake.function, (mistake,))
    ).files


def trivial_files(name: str) -> Files:
    """The references with each function replaced by trivial code or, if `name` is "", by the stub that students get."""
    files = dict(HOMEWORK.files)
    for module in MODULES:
        entry, file = HOMEWORK.rubric.modules[module], f"{module}.py"
        if not name:
            files[file] = handout.stub(files[file].decode(), tuple(entry.functions)).encode()
            continue
        for function in entry.functions:
            every = cases.trivial(HOMEWORK, function)
            chosen = every.get(name) or next(source for key, source in every.items() if "returns_" in key)
            files[file] += f"\n\n{chosen}".encode()
    return files


# Test results


def passed(peer: Peer, names: Sequence[str], code: Code) -> list[str]:
    """The tests among `names` that pass."""
    return [name for name in names if _passes(peer.tests[name], code)]


def _passes(test: Callable[[Functions], None], code: Code) -> bool:
    np.random.seed(0)
    with _running(code):
        try:
            test(code.functions)
        except BaseException as error:  # pytest's outcomes are not Exceptions
            if isinstance(error, KeyboardInterrupt):
                raise
            return False
    return True


@contextlib.contextmanager
def _running(code: Code) -> Iterator[None]:
    """Make the modules of the code importable, and suppress output."""
    path, before = [*sys.path], {name: sys.modules.get(name) for name in code.modules}
    sys.modules.update(code.modules)
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            sys.path[:] = path
            for name, module in before.items():
                del sys.modules[name]
                if module is not None:
                    sys.modules[name] = module


def shows(peer: Peer, right: Sequence[Any], code: Code) -> bool:
    """Whether the code gives other results than the reference through the signatures of a peer."""
    with _running(code):
        try:
            found = peer.probe(code.functions)
        except Exception:
            return True
    return not all(equal(one, other, 1e-6) for one, other in zip(right, found, strict=True))


@dataclass(frozen=True)
class Measured:
    """The outcome for one peer; `misconceptions` change a result, and its tests detect the `detected` ones."""

    peer: Peer
    tests: list[str]
    misconceptions: list[Misconception]
    detected: list[Misconception]
    trivial: dict[str, float]  # the share of tests that pass
    losing: list[str]  # correct styles that fail a test


def measure(peer: Peer) -> Measured:
    right = code_of(HOMEWORK.files)
    tests = passed(peer, list(peer.tests), right)
    with _running(right):
        expected = peer.probe(right.functions)
    every = {m: code_of(with_mistake(m)) for name in MODULES for m in HOMEWORK.of_module(name) if m.way == 0}
    showing = {m: code for m, code in every.items() if shows(peer, expected, code)}
    styles = {case.name: code_of(cases.submission(HOMEWORK, case).files) for case in cases.alternatives(HOMEWORK)}
    return Measured(
        peer,
        tests,
        list(showing),
        [m for m, code in showing.items() if len(passed(peer, tests, code)) < len(tests)],
        {name: len(passed(peer, tests, code_of(trivial_files(name)))) / len(tests) for name in TRIVIAL},
        [name for name, code in styles.items() if len(passed(peer, tests, code)) < len(tests)],
    )


@dataclass(frozen=True)
class Here:
    """The same for this homework: misconceptions detected by public checks and hidden tests, and points of trivial code."""

    public: set[str]
    hidden: set[str]
    trivial: dict[str, float]
    losing: list[str]


def measure_here() -> Here:
    at_home = {
        row.misconception.id for row in public.run(HOMEWORK, MODULES) if row.checks and row.misconception.way == 0
    }
    singles = [case for name in MODULES for case in cases.singles(HOMEWORK, name) if case.misconceptions[0].way == 0]
    lost = {row.case.misconceptions[0].id for row in audit.run(HOMEWORK, singles) if row.lost}
    shares = {}
    with open_grader(HOMEWORK) as grader:
        most = sum(grader.rubric.modules[name].points for name in MODULES)
        for name in TRIVIAL:
            shares[name] = grader.grade(Submission(name, dict(trivial_files(name))), MODULES).points / most
        styles = {
            case.name: grader.grade(cases.submission(HOMEWORK, case)).graded for case in cases.alternatives(HOMEWORK)
        }
    losing = [name for name, graded in styles.items() if not all(one.passed for one in graded)]
    return Here(at_home, lost, shares, losing)


# The table


def table(measured: Sequence[Measured], here: Here) -> str:
    styles = len(cases.alternatives(HOMEWORK))
    lines = [f"Our misconceptions: {sum(m.way == 0 for n in MODULES for m in HOMEWORK.of_module(n))}.", ""]
    heads = [f"{one.peer.name} ({one.peer.version})" for one in measured]
    lines += [f"| | {' | '.join(heads)} |", f"|---|{'---|' * len(measured)}"]

    def row(title: str, cell: Callable[[Measured], str]) -> None:
        lines.append(f"| {title} | {' | '.join(map(cell, measured))} |")

    row("tests that the reference passes", lambda one: f"{len(one.tests)} of {len(one.peer.tests)}")
    row("our misconceptions that show through its signatures", lambda one: str(len(one.misconceptions)))
    row("its tests detect", lambda one: _share(len(one.detected), len(one.misconceptions)))
    row("our public checks detect", lambda one: _detected(one, here.public))
    row("our hidden tests detect", lambda one: _detected(one, here.hidden))
    for name, title in TRIVIAL.items():
        row(f"{title}: share of its tests that pass", lambda one, name=name: f"{one.trivial[name]:.0%}")  # type: ignore[misc]
    row("correct styles that fail one of its tests", lambda one: f"{len(one.losing)} of {styles}")
    lines += ["", "| here | |", "|---|---|"]
    lines += [f"| {title}: share of the points | {here.trivial[name]:.0%} |" for name, title in TRIVIAL.items()]
    lines.append(f"| correct styles that lose a point | {len(here.losing)} of {styles} |")
    return "\n".join(lines)


def _detected(one: Measured, ids: set[str]) -> str:
    return _share(sum(m.id in ids for m in one.misconceptions), len(one.misconceptions))


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m autograder.benchmarks.peers", description=__doc__)
    parser.add_argument("--tinytorch", type=Path, required=True, help="a clone of MLSysBook/TinyTorch")
    parser.add_argument("--deep-ml", type=Path, required=True, help="a clone of Open-Deep-ML/DML-OpenProblem")
    given = parser.parse_args(arguments)
    for path in (given.tinytorch / INLINE[0], given.deep_ml / "questions"):
        if not path.exists():
            parser.error(f"there is no {path}; give the folder of a clone")
    measured = [measure(peer) for peer in (tinytorch(given.tinytorch), deep_ml(given.deep_ml))]
    text = table(measured, measure_here())
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{head}{START}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
