"""Public examples that show students their mistakes.

The values come from step 1: the student's own files, before anything hidden. If an example has another outcome beside correct
modules, the message says so (feedback/counterexamples.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from autograder.grading.call_results import CallResult, TestCall, compared, of_function
from autograder.grading.diagnosis import Analysis, Diagnoser, Diagnosis, has
from autograder.grading.known_responses import alike, wrong_in_value
from autograder.grading.probes import ProbeResult, probes_of
from autograder.grading.runner.processes import Runner
from autograder.grading.scoring import CriterionScore

Results = Mapping[TestCall, CallResult]


@dataclass(frozen=True)
class Confirmed:
    """The first failing example of a function that also fails as the first call of a process, and its probes."""

    example: CallResult | None = None
    probes: tuple[ProbeResult, ...] = ()


def confirmed(runner: Runner, diagnoser: Diagnoser, module: str, at_home: Results) -> dict[str, Confirmed]:
    """Try the failing examples of each function alone. One that a misconception explains need not run."""
    diagnoses = diagnoser.explain(module, [at_home[test_call] for test_call in runner.plan.shown(module)])
    examples = [at_home[test_call] for test_call in runner.plan.examples[module]]
    return {name: _confirmed(runner, _ranked(examples, name), diagnosis) for name, diagnosis in diagnoses.items()}


def _confirmed(runner: Runner, examples: Iterable[CallResult], diagnosis: Diagnosis) -> Confirmed:
    chosen = diagnosis.chosen if diagnosis.complete and not diagnosis.memory else None
    for example in examples:
        if example.unwritten or (chosen is not None and chosen.fits(example) and chosen.fits_in_form(example)):
            return Confirmed(example)
        has_probes = not (diagnosis.complete or example.response.ended or example.is_absent)
        probes = probes_of(example.test_call) if has_probes else ()
        first, *responses = runner.alone(example.test_call, [probe.test_call for probe in probes])
        again = compared([example.test_call], [first])[0]
        if again.failed:
            tried = [pair for pair in zip(probes, responses, strict=False) if pair[1].ended is None]
            made = (ProbeResult(probe, *compared([probe.test_call], [response])) for probe, response in tried)
            return Confirmed(again, tuple(made))
    return Confirmed()


def _ranked(examples: Iterable[CallResult], function: str) -> list[CallResult]:
    """The failing examples of a function: the largest relative errors first, by order of magnitude."""
    return sorted(
        (call_result for call_result in of_function(examples, function) if call_result.failed),
        key=lambda r: max(0, int(-np.log10(r.deviation))) if 0 < r.deviation < np.inf else 0,
    )


def with_example(
    score: CriterionScore,
    analysis: Analysis,
    public: Results,
    at_home: Results,
    found: Mapping[str, Confirmed],
    imported: Mapping[str, bool],
) -> CriterionScore:
    """The score with the example to show; prefer one with the same outcome with the student's own files.

    `public` are the results that count, beside correct modules; `at_home` those with the student's own files. `found`
    has no entry for functions whose examples were not tried alone. `imported` says of each imported file whether it
    fails a public call.
    """
    failure = score.call_result
    if failure is None or not analysis.diagnoses:
        return score
    function = failure.target.function
    failing = [r for r in _ranked(public.values(), function) if r.test_call in analysis.wrong]
    examples = [call_result for call_result in failing if not call_result.test_call.criterion]
    examples.sort(key=lambda r: not same_outcome(r, at_home[r.test_call]))
    tried = found.get(function)
    alone = tried.example if tried is not None else next(iter(examples), None)
    if alone is not None and alone.test_call not in analysis.wrong:
        alone = None
    if tried is not None and alone is None and examples and not any(r.response.ended for r in examples):
        score = replace(score, depends=True)

    # The example must show the mistake that the criterion is lost to.
    diagnosis = analysis.diagnoses.get(function)
    example, chosen = alone, diagnosis.chosen if diagnosis is not None and wrong_in_value(failure) else None
    if chosen is not None:
        own = [m for m in score.misconceptions if has(chosen.misconceptions, m) and not chosen.memory]
        if own and chosen.is_complete:
            example = next((e for e in examples if chosen.shows(own, e)), None)
        elif own:
            example = next((e for e in examples if chosen.fits(e)), alone)
        elif score.why == "unexplained" and alone is not None and chosen.fits(alone):
            example = next((e for e in examples if not chosen.fits(e)), None)  # not of a mistake named elsewhere
    if example is None:
        return score
    shown = example if tried is not None and example is alone else at_home[example.test_call]
    if same_outcome(shown, example):
        return replace(score, shown=shown)
    fix_first = tuple(name for name, is_faulty in imported.items() if is_faulty)
    return replace(score, shown=shown, differs=True, fix_first=fix_first, imported=tuple(imported))


def same_outcome(first: CallResult, second: CallResult) -> bool:
    """Whether a call had the same outcome in two processes."""
    ends, others = first.response.ended, second.response.ended
    if ends is not None and others is not None:
        return ends.why == others.why
    return first.kind == second.kind and alike(first.test_call, first.response, second.response)
