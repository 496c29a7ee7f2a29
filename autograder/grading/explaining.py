"""Steps 3 and 4 of grading: explain the failing calls of one function, with as few mistakes as possible.

Each function here takes the analysis of a module, and returns it with more known about one function. None computes points.
"""

from collections.abc import Iterable
from dataclasses import replace

from autograder.grading.call_results import CallResult, compared, of_function, repeats, with_needed
from autograder.grading.diagnosis import Analysis, Diagnoser, Diagnosis
from autograder.grading.known_responses import alike, wrong_in_value
from autograder.grading.repair import Repairs, as_misconception
from autograder.grading.runner.processes import Runner
from autograder.homework.rubric import Rubric
from autograder.values.compare import Failure


def with_correct_helpers(runner: Runner, diagnoser: Diagnoser, analysis: Analysis, function: str) -> Analysis:
    """Run an unexplained function again with the reference in place of its wrong helpers.

    The new results count if fewer calls fail, or if as many fail and fewer end the process.
    """
    wrong = {test_call.target.function for test_call in analysis.wrong}
    helpers = tuple(name for name in runner.rubric.helpers(analysis.module, (function,)) if name in wrong)
    diagnosis, lost = analysis.diagnoses.get(function), _lost(runner.rubric, analysis, function)
    if not helpers or diagnosis is None or not lost:
        return analysis
    on_values = {name for name in lost if runner.rubric.criteria[name].looks_at == "values"}
    is_excused = not diagnosis.empty and not diagnosis.misconceptions and on_values <= diagnosis.criteria
    if is_excused and runner.rubric.charge == "mistakes":
        return analysis  # the mistakes of its helpers explain everything
    earlier = of_function(analysis.call_results, function)
    test_calls = with_needed([r.test_call for r in analysis.call_results], [r.test_call for r in earlier])
    responses = runner.with_helpers(analysis.module, helpers, test_calls)
    again = {r.test_call: r for r in of_function(compared(responses, responses.values()), function)}
    if _badness(again.values()) > _badness(earlier):
        return analysis
    before = tuple(call_result for call_result in earlier if call_result.failed)
    is_changed = any(not alike(r.test_call, r.response, again[r.test_call].response) for r in before)
    call_results = tuple(again.get(call_result.test_call, call_result) for call_result in analysis.call_results)
    helped = analysis.helped | {function: (helpers, before if is_changed else ())}
    return diagnoser.diagnosed(replace(analysis, call_results=call_results, helped=helped), function)


def with_kept_state(runner: Runner, analysis: Analysis, function: str) -> Analysis:
    """Repeat the pure calls of an unexplained function in a new process; a different response shows kept state."""
    diagnosis, every = analysis.diagnoses.get(function), analysis.call_results
    if diagnosis is None or diagnosis.memory or diagnosis.empty:
        return analysis
    pure = [r for r in of_function(every, function) if r.test_call.rules.repeats]
    # The diagnosis compares no values of a wrong type, which may depend on earlier calls.
    if diagnosis.complete and all(call_result.kind != "type" for call_result in pure):
        return analysis
    test_calls = with_needed([r.test_call for r in every], [r.test_call for r in pure])
    again = runner.with_helpers(analysis.module, analysis.helpers(function), test_calls)
    call_results = tuple(
        r if repeats(r.response, again.get(r.test_call)) else replace(r, failure=Failure("unsteady")) for r in every
    )
    return replace(analysis, call_results=call_results)


def repaired(repairs: Repairs, diagnoser: Diagnoser, analysis: Analysis, function: str) -> Analysis:
    """Explain a function by the single edit that makes every call pass, or name one misconception next to an unknown mistake."""
    diagnosis, rubric = analysis.diagnoses.get(function), repairs.runner.rubric
    if diagnosis is None or not _lost(rubric, analysis, function):
        return analysis
    is_settled = diagnosis.complete and diagnosis.sure == diagnosis.misconceptions
    if is_settled and (len(diagnosis.misconceptions) < 2 or len({m.criteria for m in diagnosis.misconceptions}) > 1):
        return analysis
    found: Diagnosis | None = None
    if repair := repairs.search(analysis, function):
        mistakes = (as_misconception(repair, rubric, analysis, function),)
        every = frozenset(criterion.id for criterion in rubric.of(analysis.module))
        found = Diagnosis(mistakes, mistakes, complete=True, formal=True, criteria=every, memory=True, repaired=True)
    elif not is_settled and not diagnosis.empty:
        found = _beside(repairs, diagnoser, analysis, function)
    return analysis if found is None else replace(analysis, diagnoses=analysis.diagnoses | {function: found})


def _beside(repairs: Repairs, diagnoser: Diagnoser, analysis: Analysis, function: str) -> Diagnosis | None:
    """A misconception next to an unknown mistake: an edit leaves only this one, or several calls show it and it excuses nothing."""
    own = of_function(analysis.call_results, function)
    evident = diagnoser.evident(analysis.module, function, own)
    left = [candidate for candidate in evident[:1] if repairs.beside(analysis, function, candidate)]
    reported = left or ([] if analysis.diagnoses[function].chosen else [c for c in evident if c.is_evident])
    if len({candidate.ids for candidate in reported}) != 1:
        return None
    lost = {r.test_call.criterion for r in own if r.failed}
    costs = {name for misconception in reported[0].misconceptions for name in misconception.criteria}
    excused = set() if left else reported[0].criteria & lost - costs
    return Diagnosis.of(reported[0]) if costs <= lost and not excused else None


def _lost(rubric: Rubric, analysis: Analysis, function: str) -> set[str]:
    """The criteria, other than worked examples, of failing calls that are wrong in more than side effects and dtype."""
    wrong = [r for r in of_function(analysis.call_results, function) if r.failed]
    if all(call_result.is_absent for call_result in wrong):
        return set()
    in_form = {call_result.test_call.criterion for call_result in wrong if not wrong_in_value(call_result)}
    failing = {call_result.test_call.criterion for call_result in wrong} - in_form - {""}
    return {name for name in failing if rubric.criteria[name].looks_at != "examples"}


def _badness(call_results: Iterable[CallResult]) -> tuple[int, int]:
    """The numbers of failing calls and of calls that ended the process."""
    own = list(call_results)
    return sum(r.failed for r in own), sum(r.response.ended is not None for r in own)
