"""The test plan of a homework: every call that grading makes, recorded once from the suites and the public examples.

The suites run on the reference under pytest, without student processes. This reveals errors in the suites before any
grading: a test that fails on the reference or names no criterion, or a criterion without a test.
"""

import doctest
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError, in_one_line
from autograder.grading.call_results import Rules, Target, TestCall
from autograder.grading.recorder import HOMEWORK, RECORDERS, Recorder, functions
from autograder.homework.homework import Homework
from autograder.homework.reference import hidden as hidden_modules
from autograder.homework.rubric import INTEGRATION, TESTS, Rubric
from autograder.shared.compare import TOLERANCE, tolerance
from autograder.shared.display import literal
from autograder.shared.tree import copied


@dataclass(frozen=True)
class Plan:
    """The test calls of each module and of "integration", in the order of the suites; public examples separately."""

    homework: Homework
    hidden: dict[str, tuple[TestCall, ...]]
    visible: dict[str, tuple[TestCall, ...]]
    examples: dict[str, tuple[TestCall, ...]]

    @cached_property
    def rubric(self) -> Rubric:
        return self.homework.rubric

    @cached_property
    def public(self) -> dict[str, tuple[TestCall, ...]]:
        """The test calls whose responses a student may see, by module: those of visible criteria, then the public examples."""
        return {module: test_calls + self.examples.get(module, ()) for module, test_calls in self.visible.items()}

    @cached_property
    def second(self) -> dict[str, tuple[TestCall, ...]]:
        """The calls of the second process of a module: a public one of each function, then the hidden calls."""
        first = {m: {t.target.function: t for t in reversed(calls)} for m, calls in self.examples.items()}
        return {module: (*reversed(calls.values()), *self.hidden[module]) for module, calls in first.items()}

    @cached_property
    def together(self) -> dict[str, tuple[TestCall, ...]]:
        """The test calls of each criterion of the integration."""
        every = self.visible[INTEGRATION] + self.hidden[INTEGRATION]
        return {c.id: tuple(t for t in every if t.criterion == c.id) for c in self.rubric.of(INTEGRATION)}


def record(homework: Homework) -> Plan:
    """Record the test plan of a homework.

    Raises CommandError if suites and rubric do not match, or if a test fails on the reference.
    """
    rubric = homework.rubric
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        test_calls = [test_call for recorder in _run(homework) for test_call in recorder.test_calls]
        examples = {module: tuple(_examples(homework, module)) for module in rubric.modules}
    if problems := [*_mismatches(homework, test_calls)]:
        raise CommandError("\n".join(problems))
    hidden: dict[str, tuple[TestCall, ...]] = dict.fromkeys((*rubric.modules, INTEGRATION), ())
    visible = dict(hidden)
    for test_call in test_calls:
        criterion = rubric.criteria[test_call.criterion]
        # Students see these results immediately. The calls for questions have no inputs that could leak.
        is_shown = criterion.visible or test_call.rules.question
        (visible if is_shown else hidden)[criterion.module] += (test_call,)
    return Plan(homework, hidden, visible, examples)


def _mismatches(homework: Homework, test_calls: Iterable[TestCall]) -> Iterator[str]:
    """Yield each criterion whose `grades` do not match its tests, and each docstring example that no criterion grades."""
    rubric, tested = homework.rubric, dict[str, dict[str, None]]()  # functions by criterion, in the order of the tests
    for test_call in test_calls:
        tested.setdefault(test_call.criterion, {})[test_call.target.function] = None
    for name, criterion in rubric.criteria.items():
        if criterion.module != TESTS and name not in tested:
            yield f"{rubric.source_of(name)}: no test of this criterion calls check.f(...); add one in {homework.suites}"
        missing = [function for function in tested.get(name, ()) if function not in criterion.grades]
        if missing and criterion.module in rubric.modules:
            functions = ", ".join(missing)
            yield f"{rubric.source_of(f'{name}.grades')}: add {functions}: the tests of this criterion call it"
        untested = [function for function in criterion.grades if name in tested and function not in tested[name]]
        if untested and criterion.module in rubric.modules:
            yield f"{rubric.source_of(f'{name}.grades')}: no test of this criterion calls {', '.join(untested)}"
    for module, entry in rubric.modules.items():
        graded = {
            function
            for c in rubric.of(module)
            if c.looks_at == "examples"
            for function in (*c.grades, *tested.get(c.id, ()))
        }
        for function in entry.functions:
            if function not in graded and doctest.DocTestParser().get_examples(
                homework.functions[function].__doc__ or ""
            ):
                why = "its docstring has an example, which no criterion with `looks_at: examples` grades"
                yield f"{rubric.source_of_key(f'modules.{module}.functions.{function}')}: {why}"


def _examples(homework: Homework, module: str) -> list[TestCall]:
    """Every public example as a test call; its dtype counts if the arguments are float32."""
    first = 1_000_000 * (1 + list(homework.rubric.modules).index(module))  # unique numbers
    recorder = Recorder(module, functions(homework), first=first)
    for function in homework.rubric.modules[module].functions:
        target = Target(module, function)
        table = homework.library[module][function]
        for number, example in enumerate(table.examples):
            where = f"{table.place_of_examples}: EXAMPLES[{function!r}][{number}]"
            match example:
                case (tuple() as args, dict() as kwargs):
                    pass
                case _:
                    advice = f"must be a tuple of arguments and a dict, such as ((2,), {{}}), not {literal(example)}"
                    raise CommandError(f"{where} {advice}")
            try:
                homework.functions[function](*copied(args), **copied(kwargs))
                rules = Rules(dtype=tolerance((args, kwargs)) == TOLERANCE["float32"])
            except ValueError:
                rules = Rules(error="ValueError")
            except Exception as error:
                call = f"{function}({', '.join([*map(literal, args), *map('{0[0]}={0[1]!r}'.format, kwargs.items())])})"
                raise CommandError(f"{where}: {call} raises {type(error).__name__}: {error}") from error
            recorder.call(target, args, kwargs, rules)
    return recorder.test_calls


# The suites under pytest


def _run(homework: Homework) -> list[Recorder]:
    """Run every suite on the reference; returns the recorders of all tests."""
    recording, suites = _Recording(homework), homework.suites
    options = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--disable-plugin-autoload"]
    options += ["-p", "no:autograder.grading.manual", "--assert=plain", "--import-mode=importlib", "--capture=no"]
    names = {path.stem for path in suites.glob("*")}  # another homework may have suites of the same names
    with pytest.MonkeyPatch.context() as environment, homework.importable(), hidden_modules(names):
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # the user's settings
            environment.delenv(name, raising=False)
        status = pytest.main([*options, "-c", str(suites / "pytest.ini"), str(suites)], [recording])
    if status == pytest.ExitCode.INTERRUPTED and not recording.errors:
        raise KeyboardInterrupt
    if status != pytest.ExitCode.OK and not recording.errors:
        recording.errors.append(f"pytest cannot run {suites}: run it there to see why")
    if recording.errors:
        raise CommandError("\n".join([*dict.fromkeys(recording.errors)][:3]))
    return recording.recorders


class _Recording:
    """A pytest plugin that collects the recorders and the errors of the suites."""

    def __init__(self, homework: Homework) -> None:
        self.homework = homework
        self.recorders: list[Recorder] = []
        self.errors: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[HOMEWORK] = self.homework
        config.stash[RECORDERS] = self.recorders

    def pytest_exception_interact(self, call: "pytest.CallInfo[Any]", report: Any) -> None:
        assert call.excinfo is not None
        error = call.excinfo.value
        cause = error.__cause__ if isinstance(error, pytest.Collector.CollectError) else None
        file, line, _ = report.location
        suites = self.homework.suites
        self.errors.append(in_one_line(cause or error, suites, f"{suites / file}:{(line or 0) + 1}"))

    def pytest_keyboard_interrupt(self, excinfo: "pytest.ExceptionInfo[Any]") -> None:
        if not isinstance(excinfo.value, KeyboardInterrupt):
            self.errors.append(f"{self.homework.suites}: a test ends pytest: {excinfo.value}")

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            self.errors.append(f"{report.nodeid} is skipped: a hidden test must run on the reference")

    pytest_collectreport = pytest_runtest_logreport
