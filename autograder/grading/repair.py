"""Single-edit repair: the smallest edits of the student's own source that fix a function.

A repair shows that the failure is one mistake, and where. Edits are made from the source alone (edits.py), in a process of the
submission that receives the code for it (edit_runner.py). The grader compares their results: first on up to four failing calls,
then on all others, and finally on every call, side effects included, in a process that has seen no other edit. The search is
bounded by counts, so it ends the same way on every machine; time ends it only for a submission that has used half of its own.
"""

import inspect
import marshal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from autograder.grading import edit_runner, edits
from autograder.grading.call_results import CallResult, TestCall, compared, with_needed
from autograder.grading.edits import MOST_EDITS
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.runner import Runner
from autograder.grading.thresholds import (
    FEW,
    FIRST_CALLS,
    MOST_ENDLESS,
    MOST_SPENT,
    MOST_SURVIVORS,
)
from autograder.homework.library import Misconception
from autograder.homework.rubric import Rubric
from autograder.sandbox.messages import Call, Reference, Response, prepared_extension, prepared_request
from autograder.sandbox.process import SPENT
from autograder.sandbox.student import bindings

TOGETHER = 50  # edits per message
Play = Callable[[Sequence[TestCall]], list[Response]]
Replied = Callable[[CallResult], Response]
# An edit: (whether it is on a line of no earlier repair, its size), its number, its line.
Row = tuple[tuple[bool, int], int, int]
# A repair: the edited function and the number of the edit; its place; the lines of each of the smallest edits, () if they
# are not shown.
Repair = tuple[tuple[str, int], str, tuple[tuple[int, ...], ...]]


class Repairs:
    """The searches of one submission, and their remaining budget."""

    def __init__(self, runner: Runner):
        self.runner = runner
        self.edits, self.endless = runner.edits, 0
        self.lines: dict[str, set[int]] = {}  # of earlier repairs, by module: tried first
        self.made: dict[str, list[Repair]] = {}  # by module

    def search(
        self, module: str, function: str, helpers: tuple[str, ...], call_results: Sequence[CallResult]
    ) -> Repair | None:
        """The smallest edits that fix every call of a function, with correct `helpers`; None if there are none."""
        own = [call_result for call_result in call_results if call_result.target.function == function]
        first = _first_calls(own)
        if not first or not self.edits:
            return None
        self.endless = 0
        rest = [test_call for test_call in _made_alone(own) if test_call not in first]
        fixed = partial(self.lines_of, module, function, helpers, call_results)

        earlier = self.made.setdefault(module, [])
        for repair in earlier:  # one edit of shared code may fix both functions
            if fixed(*repair[0]):
                return repair

        others = [name for name in self.runner.rubric.modules[module].functions if name != function]
        known = self.lines.setdefault(module, set())
        call = first[0].call
        asked = prepared_request("edits", module, function, others, sorted(known), call.payload)
        before = replace(first[0], call=extension())
        after = replace(first[0], call=replace(asked, runs=call.runs, callbacks=call.callbacks))
        with self.runner.apart(module, helpers, [before], [after]) as play:
            found = _edits((play([]) or [SPENT])[-1].value)
            ordered = sorted(((line not in known, size), edit, line) for edit, size, line in found)
            for _, same in groupby(ordered, key=itemgetter(0)):
                probe_results = list(same)[: self.edits]
                self.edits -= len(probe_results)
                passed = list(self._passing(play, probe_results, first))
                tells = len(passed) <= MOST_SURVIVORS
                places: dict[int, tuple[int, ...]] = {}  # by the reported line
                chosen = -1
                # All of them first: the next check replaces this process.
                for _, edit, line in list(self._passing(play, passed[:MOST_SURVIVORS], rest)):
                    if line not in places and (tells or not places) and (lines := fixed(function, edit)):
                        places[line], chosen = lines, edit if not places else chosen
                if places:
                    known.update(line for lines in places.values() for line in lines)
                    spots = tuple(dict.fromkeys(places.values()))
                    shown = spots if tells and sum(map(len, spots)) <= FEW else ()
                    earlier.append(((function, chosen), _place(spots[0]), shown))
                    return earlier[-1]
        return None

    def lines_of(
        self,
        module: str,
        function: str,
        helpers: tuple[str, ...],
        call_results: Sequence[CallResult],
        edited: str,
        edit: int,
    ) -> tuple[int, ...]:
        """The lines of an edit that fixes every call, in a process that has seen no other edit; else ()."""
        wanted = [call_result.test_call for call_result in call_results if call_result.target.function == function]
        test_calls = with_needed([call_result.test_call for call_result in call_results], wanted)
        left = [name for name in self.runner.rubric.modules[module].functions if name != edited]
        before = [extension(), prepared_request("edit", module, edited, left, edit)]
        with self.runner.apart(module, helpers, [replace(test_calls[0], call=call) for call in before]) as play:
            said, *responses = play(test_calls)[1:] or [SPENT]
        right = len(responses) == len(test_calls) and _all_right(test_calls, responses, function)
        return self._lines(module, said.value) if right else ()  # it may report an error

    def _lines(self, module: str, value: Any) -> tuple[int, ...]:
        """The lines of an edit as a process reports them; () for anything else."""
        last = self.runner.submission.files[f"{module}.py"].count(b"\n") + 1
        lines = tuple(value) if isinstance(value, list) else ()
        return lines if all(type(line) is int and 0 < line <= last for line in lines) else ()

    def beside(
        self,
        module: str,
        function: str,
        helpers: tuple[str, ...],
        call_results: Sequence[CallResult],
        response: Replied,
    ) -> bool:
        """Whether an edit makes the function respond as a misconception does; `response` gives its responses."""
        test_calls = [
            _as(r.test_call, response(r)) if r.target.function == function else r.test_call for r in call_results
        ]
        named = [
            test_call.expected
            for test_call in test_calls
            if test_call.parts and test_call.kind == "call" and not test_call.rules.error
        ]
        fits = all(isinstance(value, tuple) for value in named)
        altered = compared(test_calls, [call_result.response for call_result in call_results])
        return fits and self.search(module, function, helpers, altered) is not None

    def _passing(self, play: Play, edits: list[Row], calls: Sequence[TestCall]) -> Iterator[Row]:
        """The edits that fix some calls."""
        for start in range(0, len(edits), TOGETHER):
            left = edits[start : start + TOGETHER]
            for test_call in calls:
                if not left:
                    break
                call = test_call.call
                payloads = [prepared_request("edited", number, call.payload).payload for _, number, _ in left]
                edited = [replace(test_call, call=replace(call, payload=payload)) for payload in payloads]
                ends = self.endless >= MOST_ENDLESS or self.runner.spent() >= MOST_SPENT
                responses = [] if ends else play(edited)
                self.endless += sum(r.error is not None and r.error.kind == "BaseException" for r in responses)
                left = [
                    edit for edit, response in zip(left, responses, strict=False) if _all_right([test_call], [response])
                ]
            yield from left


@cache
def extension() -> Call:
    """The code that a process needs to make edits. Neither the fork server nor other processes have it."""
    sent = []
    for module, functions in ((bindings, ()), (edits, ()), (edit_runner, ("handlers",))):
        code = compile(inspect.getsource(module), f"{module.__name__}.py", "exec", dont_inherit=True)
        sent.append(Reference(module.__name__, marshal.dumps(code), functions))
    return prepared_extension(sent)


def _edits(value: Any) -> list[list[int]]:
    """The edits that a process reports: number, size and line of each."""
    known = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.shape[1:] == (3,)
    return value[:MOST_EDITS].tolist() if known else []


def _as(test_call: TestCall, response: Response) -> TestCall:
    """A test call whose expected value is a known response."""
    if test_call.kind != "call":
        return test_call
    error = response.error.kind if response.error is not None else ""
    return replace(test_call, expected=response.value, rules=replace(test_call.rules, error=error))


def charged_as(
    repair: Repair, rubric: Rubric, module: str, function: str, call_results: Sequence[CallResult]
) -> Misconception:
    """A repair as a misconception: it costs the first failing criterion of value, or of form if only form is wrong."""
    own = [call_result for call_result in call_results if call_result.target.function == function]
    in_value = {call_result.test_call.criterion for call_result in own if wrong_in_value(call_result)}
    wrong = {call_result.test_call.criterion for call_result in own if call_result.failed}
    criteria = [c.id for c in rubric.of(module) if c.id in wrong and c.looks_at != "examples"]
    home = next((c for c in criteria if c in in_value and rubric.criteria[c].looks_at == "values"), criteria[0])
    edit, place, shown = repair
    where = " or on ".join(map(_place, shown))
    does = f"A single edit on {where} makes every call of `{function}` pass." if shown else ""
    read = f"the docstring of `{function}` in `{module}.py`"
    return Misconception(module, function, f"repair ({place})", (home,), does, "", read, twice=str(edit))


def _all_right(test_calls: Sequence[TestCall], responses: Sequence[Response], function: str = "") -> bool:
    return all(
        not call_result.failed
        for call_result in compared(test_calls, responses)
        if function in ("", call_result.target.function)
    )


def _first_calls(call_results: Sequence[CallResult]) -> list[TestCall]:
    """Failing calls that can be made alone: the shortest of each criterion, the shortest of all first."""
    shortest: dict[str, TestCall] = {}
    for test_call in _made_alone(call_result for call_result in call_results if call_result.failed):
        shortest.setdefault(test_call.criterion, test_call)
    return list(shortest.values())[:FIRST_CALLS]


def _made_alone(call_results: Iterable[CallResult]) -> list[TestCall]:
    """The calls that can be made alone, the shortest first."""
    calls = [call_result.test_call for call_result in call_results if call_result.test_call.kind == "call"]
    alone = [test_call for test_call in calls if not test_call.needs and not test_call.rules.repeats]
    return sorted(alone, key=lambda test_call: len(test_call.call.payload))


def _place(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
