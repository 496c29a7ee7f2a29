"""Single-edit repair: the smallest edits of the student's source that fix a function.

A repair shows that the failure is one mistake, and locates it. Edits are generated from the source alone (edits.py), in
a process of the submission that receives the code for it (edit_runner.py). The grader compares their results: first on
a few failing calls, then on all others, and finally on every call, side effects included, in a process that has
seen no other edit. The search is bounded by counts, so it ends the same way on every machine. A time limit applies only
after half of the submission's time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from autograder.grading.call_results import TestCall, compared, of_function, with_needed
from autograder.grading.diagnosis import Analysis, Candidate, shortest
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.runner import edit_runner
from autograder.grading.runner.edit_runner import Edit, Edited, Edits
from autograder.grading.runner.processes import Runner, extension
from autograder.grading.thresholds import FEW, MOST_ENDLESS, MOST_SPENT, MOST_SURVIVORS
from autograder.homework.library import Misconception
from autograder.homework.rubric import Rubric
from autograder.sandbox.process import SPENT
from autograder.sandbox.protocol import Response
from autograder.values import bindings, edits

TOGETHER = 50  # edits per message
CODE = (bindings, edits, edit_runner)
Run = Callable[[Sequence[TestCall]], list[Response]]
# An edit: (whether it is on a line of no earlier repair, its size), its number, its line.
Row = tuple[tuple[bool, int], int, int]


class Repair(NamedTuple):
    """An edit that fixes a function, and the lines of each of the smallest such edits. `is_shown`: these are few."""

    edited: str
    edit: int
    places: tuple[tuple[int, ...], ...]
    is_shown: bool


class Repairs:
    """The searches of one submission."""

    def __init__(self, runner: Runner):
        self.runner = runner
        self.endless = 0
        self.found: dict[str, list[Repair]] = defaultdict(list)  # by module

    def search(self, analysis: Analysis, function: str) -> Repair | None:
        """The smallest edits that fix every call of a function; None if there are none."""
        own = of_function(analysis.call_results, function)
        first = [r.test_call for r in shortest(r for r in own if r.failed and _is_alone(r.test_call))]
        left = self.runner.edits
        if not first or not left:
            return None
        self.endless = 0
        rest = [r.test_call for r in own if _is_alone(r.test_call) and r.test_call not in first]
        earlier = self.found[analysis.module]
        for repair in earlier:  # one edit of shared code may fix both functions
            if self.lines_of(analysis, function, repair.edited, repair.edit):
                return repair

        known = {line for repair in earlier for lines in repair.places for line in lines}  # tried first
        call = first[0].call
        others = self._others(analysis.module, function)
        before = replace(first[0], call=extension(*CODE))
        after = replace(first[0], call=Edits(analysis.module, function, others, sorted(known), call))
        with self.runner.apart(analysis.module, analysis.helpers(function), [before], [after]) as run:
            found = (run([]) or [SPENT])[-1].value or []
            ordered = sorted(((line not in known, size), edit, line) for edit, size, line in found)
            for _, same in groupby(ordered, key=itemgetter(0)):
                rows = list(same)[:left]
                left -= len(rows)
                passed = list(self._passing(run, rows, first))
                is_few = len(passed) <= MOST_SURVIVORS
                fixing: dict[int, tuple[int, tuple[int, ...]]] = {}  # by the reported line: the edit and its lines
                # All of them first: the next check replaces this process.
                for _, edit, line in list(self._passing(run, passed[:MOST_SURVIVORS], rest)):
                    if line in fixing or (fixing and not is_few):
                        continue
                    if lines := self.lines_of(analysis, function, function, edit):
                        fixing[line] = edit, lines
                if fixing:
                    places = tuple(dict.fromkeys(lines for _, lines in fixing.values()))
                    is_shown = is_few and sum(map(len, places)) <= FEW
                    earlier.append(Repair(function, next(iter(fixing.values()))[0], places, is_shown))
                    return earlier[-1]
        return None

    def lines_of(self, analysis: Analysis, function: str, edited: str, edit: int) -> tuple[int, ...]:
        """The lines of an edit that fixes every call of a function, in a process that has seen no other edit; else ()."""
        module, every = analysis.module, [call_result.test_call for call_result in analysis.call_results]
        test_calls = with_needed(every, [test_call for test_call in every if test_call.target.function == function])
        before = [extension(*CODE), Edit(module, edited, self._others(module, edited), edit)]
        requests = [replace(test_calls[0], call=call) for call in before]
        with self.runner.apart(module, analysis.helpers(function), requests) as run:
            report, *responses = run(test_calls)[1:] or [SPENT]
        if len(responses) != len(test_calls) or any(
            call_result.failed for call_result in of_function(compared(test_calls, responses), function)
        ):
            return ()
        last = self.runner.submission.files[f"{module}.py"].count(b"\n") + 1
        lines: tuple[int, ...] = report.value or ()
        return lines if all(0 < line <= last for line in lines) else ()  # the process may report anything

    def beside(self, analysis: Analysis, function: str, candidate: Candidate) -> bool:
        """Whether an edit makes the function respond like the misconceptions of a candidate."""
        altered = [
            _as(r.test_call, candidate.response(r)) if r.target.function == function else r.test_call
            for r in analysis.call_results
        ]
        named = [t.expected for t in altered if t.parts and t.kind == "call" and not t.rules.error]
        if not all(isinstance(value, tuple) for value in named):
            return False
        call_results = tuple(compared(altered, [call_result.response for call_result in analysis.call_results]))
        return self.search(replace(analysis, call_results=call_results), function) is not None

    def _others(self, module: str, function: str) -> list[str]:
        """The contract functions that are not edited."""
        return [name for name in self.runner.rubric.modules[module].functions if name != function]

    def _passing(self, run: Run, rows: list[Row], calls: Sequence[TestCall]) -> Iterator[Row]:
        """The edits that fix some calls."""
        for start in range(0, len(rows), TOGETHER):
            left = rows[start : start + TOGETHER]
            for test_call in calls:
                if not left:
                    break
                edited = [replace(test_call, call=Edited(number, test_call.call)) for _, number, _ in left]
                ends = self.endless >= MOST_ENDLESS or self.runner.spent() >= MOST_SPENT
                responses = [] if ends else run(edited)
                self.endless += sum(r.error is not None and r.error.kind == "BaseException" for r in responses)
                answered = zip(left, responses, strict=False)
                left = [row for row, response in answered if not compared([test_call], [response])[0].failed]
            yield from left


def _as(test_call: TestCall, response: Response) -> TestCall:
    """A test call whose expected value is a known response."""
    if test_call.kind != "call":
        return test_call
    error = response.error.kind if response.error is not None else ""
    return replace(test_call, expected=response.value, rules=replace(test_call.rules, error=error))


def as_misconception(repair: Repair, rubric: Rubric, analysis: Analysis, function: str) -> Misconception:
    """A repair costs the criterion of a call that shows kept state, else the first failing one, on values if possible."""
    module, wrong = analysis.module, [r for r in of_function(analysis.call_results, function) if r.failed]
    kept_state = {call_result.test_call.criterion for call_result in wrong if call_result.kind == "unsteady"}
    in_value = {call_result.test_call.criterion for call_result in wrong if wrong_in_value(call_result)}
    failing = {call_result.test_call.criterion for call_result in wrong}
    criteria = [c for c in rubric.of(module) if c.id in failing and c.looks_at != "examples"]
    on_values = [c for c in criteria if c.id in in_value and c.looks_at == "values"]
    home = next((c for c in criteria if c.id in kept_state), (on_values or criteria)[0])
    where = " or on ".join(map(_place, repair.places))
    does = f"A single edit on {where} makes every call of `{function}` pass." if repair.is_shown else ""
    name, read = f"repair ({_place(repair.places[0])})", f"the docstring of `{function}` in `{module}.py`"
    return Misconception(module, function, name, (home.id,), does, "", read, twice=str(repair[:2]))


def _is_alone(test_call: TestCall) -> bool:
    """Whether a call can be made alone."""
    return test_call.kind == "call" and not test_call.needs and not test_call.rules.repeats


def _place(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
