"""Public examples that show students their mistakes, and probes: such a call with one change.

The values come from step 1: the student's own files, before anything hidden. If an example has another outcome beside correct
modules, the message says so (feedback/counterexamples.py).

A *change* drops an argument, replaces a flag, number, string or mask, or keeps only the first row; a correct result
then points to the cause. A *move* adds to the numbers of one argument or of one row, to show whether a result depends
on them. Probes run on the student's code and on the reference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall, alike, compared, of_function, wrong_in_value
from autograder.grading.diagnosis import Analysis, Diagnoser, Diagnosis
from autograder.grading.runner.processes import Runner
from autograder.grading.scoring import CriterionScore
from autograder.grading.thresholds import MOVES, SAME, TIMES
from autograder.homework import other_arguments
from autograder.homework.other_arguments import Arguments
from autograder.sandbox.protocol import Call
from autograder.shared.compare import deviations, magnitude, values_agree
from autograder.shared.signatures import as_tested

Results = Mapping[TestCall, CallResult]
MOST_SMALLNESS = 1  # of a difference that does not look like rounding


@dataclass(frozen=True)
class Probe:
    """A made-up call. `change` describes its change; `moved` is the argument that a move adds to, perhaps only in a `row`."""

    test_call: TestCall
    change: str = ""
    moved: str = ""
    row: int | None = None


ProbeResult = tuple[Probe, CallResult]
# The first failing example of a function that also fails as the first call of a process, if there is one, and its probes.
Confirmed = tuple[CallResult | None, tuple[ProbeResult, ...]]


def confirmed(runner: Runner, diagnoser: Diagnoser, module: str, at_home: Results) -> dict[str, Confirmed]:
    """Try the failing examples of each function alone. One that a misconception explains need not run."""
    diagnoses = diagnoser.explain(module, [at_home[test_call] for test_call in runner.plan.public[module]])
    examples = [at_home[test_call] for test_call in runner.plan.examples[module]]
    return {name: _confirmed(runner, _failing(examples, name), diagnosis) for name, diagnosis in diagnoses.items()}


def _confirmed(runner: Runner, examples: Iterable[CallResult], diagnosis: Diagnosis) -> Confirmed:
    chosen = diagnosis.chosen if diagnosis.complete and not diagnosis.memory else None
    for example in examples:
        if example.unwritten or (chosen is not None and chosen.fits(example) and chosen.fits_in_form(example)):
            return example, ()
        is_clear = diagnosis.complete or example.response.ended or example.is_absent
        probes = [Probe(example.test_call), *(() if is_clear else probes_of(example.test_call))]
        responses = runner.alone(example.test_call, [probe.test_call for probe in probes[1:]])
        results = compared([probe.test_call for probe in probes[: len(responses)]], responses)
        # One that passes alone may fail when repeated.
        if failing := next((r for r in results if r.failed and r.test_call is example.test_call), None):
            pairs = zip(probes, [example, *results[1:]], strict=False)  # its result after other calls first
            return failing, tuple(pair for pair in pairs if not pair[1].response.ended)
    return None, ()


def _failing(call_results: Iterable[CallResult], function: str) -> list[CallResult]:
    """Return the failing calls of a function: the largest relative errors first, by order of magnitude."""
    return sorted((r for r in of_function(call_results, function) if r.failed), key=_smallness)


def _smallness(call_result: CallResult) -> int:
    """Return the order of magnitude of a relative error: 2 for 0.01; 0 for one that is large or not a number."""
    return max(0, int(-np.log10(call_result.deviation))) if 0 < call_result.deviation < np.inf else 0


def with_example(
    score: CriterionScore,
    analysis: Analysis,
    public: Results,
    at_home: Results,
    tried_examples: Mapping[str, Confirmed],
) -> CriterionScore:
    """Return the score with the example to show; prefer one with the same outcome with the student's own files.

    `public` are the results that count, beside correct modules; `at_home` those with the student's own files. `tried_examples`
    has no entry for functions whose examples were not tried alone.
    """
    failure = score.call_result
    if failure is None or not analysis.diagnoses:
        return score
    function = failure.target.function
    failing = [r for r in _failing(public.values(), function) if r.test_call in analysis.failing_calls]
    examples = [call_result for call_result in failing if not call_result.test_call.criterion]
    examples.sort(key=lambda r: not same_outcome(r, at_home[r.test_call]))
    tried = tried_examples.get(function)
    alone = tried[0] if tried is not None else next(iter(examples), None)
    if alone is not None and alone.test_call not in analysis.failing_calls:
        alone = None
    if tried is not None and alone is None and examples and not any(r.response.ended for r in examples):
        score = replace(score, depends=True)

    # The example must show the mistake that the criterion is lost to.
    diagnosis = analysis.diagnoses.get(function)
    chosen = diagnosis.chosen if diagnosis is not None and wrong_in_value(failure) else None
    mistakes = [m for m in score.misconceptions if chosen and m.id in chosen.ids and not chosen.memory]
    if chosen is not None and mistakes:
        showing = [example for example in examples if chosen.shows(mistakes[:1], example)]
        fitting = list(filter(chosen.fits, showing)) or showing
        small = [example for example in fitting if _smallness(example) <= MOST_SMALLNESS] or fitting
        example = min(small, key=chosen.number_alike, default=None)
    elif chosen is not None and score.why == "unexplained" and alone is not None and chosen.fits(alone):
        example = next((e for e in examples if not chosen.fits(e)), None)  # not of a mistake named elsewhere
    elif alone is None or fails_alike(alone, failure) or (tried is not None and is_unsteady(tried[1])):
        example = alone  # if its outcome depends on earlier calls, so may those of other examples
    else:
        example = next((e for e in examples if fails_alike(e, failure)), alone)
    if example is None:
        return score
    preview = example if tried is not None and example is alone else at_home[example.test_call]
    return replace(score, example=preview, differs=not same_outcome(preview, example))


def fails_alike(first: CallResult, second: CallResult) -> bool:
    """Whether two calls fail in the same way: with the same kind of error or difference, in the same part."""
    ways = [
        (r.kind, r.failure and r.failure.part, r.error.kind if r.error is not None else "") for r in (first, second)
    ]
    return ways[0] == ways[1]


def same_outcome(first: CallResult, second: CallResult) -> bool:
    """Whether a call had the same outcome in two processes."""
    end, other_end = first.response.ended, second.response.ended
    if end is not None and other_end is not None:
        return end.why == other_end.why
    return first.kind == second.kind and alike(first.test_call, first.response, second.response)


# Probes


@lru_cache(maxsize=1024)
def probes_of(test_call: TestCall) -> tuple[Probe, ...]:
    """Return the probes of a public example, starting with repetitions of it; none if it takes functions or must raise."""
    arguments = test_call.arguments
    if test_call.rules.error or any(map(callable, arguments.values())):
        return ()
    changes = dict[bytes, Probe]()  # by payload: the same call may have several descriptions
    for words, changed in other_arguments.changes(test_call.reference, arguments):
        for probe in with_arguments(test_call, changed):
            changes.setdefault(probe.call.payload, Probe(probe, words))
    each = ((name, row, with_arguments(test_call, moved)) for name, row, moved in _moves(arguments))
    moves = [Probe(probe, "", name, row) for name, row, probes in each for probe in probes]
    return (*[Probe(test_call)] * TIMES, *changes.values(), *moves)


def is_unsteady(outcomes: Sequence[ProbeResult]) -> bool:
    """Whether the same call had different results."""
    values = [call_result.response.value for _, call_result in outcomes[:TIMES]]
    return not all(values_agree(values[0], value) for value in values)


def with_arguments(test_call: TestCall, arguments: Arguments) -> Iterator[TestCall]:
    """Yield the call with other arguments; none if the reference rejects them."""
    expected = other_arguments.result(test_call.reference, arguments)
    if expected is not None:
        args, kwargs = as_tested(test_call.reference, (), arguments)
        call = Call(test_call.target.module, test_call.target.function, args, kwargs)
        names = (*test_call.names[: len(args)], *kwargs)
        yield replace(test_call, args=args, kwargs=kwargs, names=names, expected=expected, call=call)


def _moves(arguments: Arguments) -> Iterator[tuple[str, int | None, Arguments]]:
    """Add different amounts to the numbers of one argument or part of one, then to those of one row of a matrix."""
    for argument, value in arguments.items():
        yield from ((f"`{name}`", None, arguments | {argument: moved}) for name, moved in _each_moved(argument, value))
    for name, matrix in arguments.items():
        if isinstance(matrix, np.ndarray) and matrix.dtype.kind in "fb" and matrix.ndim == 2:
            for row, moved in enumerate(_moved(matrix)):
                changed = matrix.copy()
                changed[row] = moved
                yield f"`{name}`", row, arguments | {name: changed}


def _each_moved(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value with one of its float or boolean arrays, or floats, moved; `name` is its name."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            for part_name, moved in _each_moved(f"{name}[{key!r}]", item):
                changed = value.copy()
                changed[key] = moved
                yield part_name, changed
    elif isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind in "fb"):
        yield name, _moved(np.asarray(value)) if np.ndim(value) else value * 1.5 + 0.1


def _moved(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    if array.dtype.kind == "b":
        return ~array
    amounts = 1 + np.arange(array.size).reshape(array.shape) % 7 / 10
    return (array + amounts * (0.2 + np.abs(np.where(np.isfinite(array), array, 0)) / 4)).astype(array.dtype)


def tuple_part(value: Any, number: int, names: Sequence[str]) -> Any:
    """Return one part of a tuple; None if there is no such part."""
    if len(names) < 2:
        return value
    return value[number] if isinstance(value, tuple | list) and len(value) == len(names) else None


def moved(before: Any, after: Any, scale: float = 0.0) -> "np.ndarray[Any, Any] | None":
    """For each entry: 1 moved, 0 unmoved, -1 unclear; None if this cannot be determined.

    `scale` is the unit of a change, by default the largest magnitude of `before`.
    """
    if not all(isinstance(v, np.ndarray | float) and np.asarray(v).dtype.kind == "f" for v in (before, after)):
        return None
    first, second = np.asarray(before), np.asarray(after)
    if first.shape != second.shape or np.isnan(first).any() or np.isnan(second).any():
        return None
    away = deviations(first, second) * (magnitude(first) / scale if scale else 1.0)
    return np.where(away > MOVES, 1, np.where(away <= SAME, 0, -1))
