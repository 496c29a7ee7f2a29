"""Diagnosis: the fewest misconceptions that reproduce every response of a function.

The search (search.py) tries one misconception, then growing combinations, first with correct helpers and then with the helpers as
they were diagnosed. It explains values, errors and state kept between calls. Changed arguments and wrong dtypes are observed
directly (`observed`, at the end).
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.known_responses import KnownResponses, wrong_in_value
from autograder.grading.probes import arguments
from autograder.grading.search import Candidate, Search
from autograder.grading.thresholds import LEAST_EVIDENCE, MOST_TOGETHER
from autograder.homework import reference
from autograder.homework.library import COPIES, KEEP_DTYPE, KEPT, Misconception, of_form, of_function
from autograder.homework.rubric import Rubric
from autograder.sandbox.wire import Kept
from autograder.values.changes import Change, in_words, part
from autograder.values.tree import arrays, leaves

MOST_HELD = 20_000  # versions whose responses are kept for the next submissions: about 60 MB
Helpers = tuple[tuple[str, tuple[Misconception, ...]], ...]


@dataclass(frozen=True)
class Diagnosis:
    """Why a function fails.

    `chosen` are the misconceptions that reproduce every response, or one that is evident next to an unknown mistake; `rivals`
    reproduce as much. `observed` are side effects and dtypes that none of these explain. `right_in_value`: nothing else is wrong.
    `empty`: the function computes nothing. `repair` stands for a single edit of the source that fixes every call (repair.py).
    """

    chosen: Candidate | None = None
    rivals: tuple[Candidate, ...] = ()
    observed: tuple[Misconception, ...] = ()
    right_in_value: bool = False
    empty: bool = False
    repair: Misconception | None = None

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The function's own."""
        if self.repair is not None:
            return (self.repair,)
        return self.chosen.misconceptions if self.chosen is not None else ()

    @property
    def helpers(self) -> tuple[Misconception, ...]:
        """The misconceptions of the functions it calls."""
        return self.chosen.known.misconceptions if self.chosen is not None else ()

    @property
    def complete(self) -> bool:
        """Whether every response is reproduced, in value."""
        return self.right_in_value or self.repair is not None or (self.chosen is not None and self.chosen.is_complete)

    @property
    def formal(self) -> bool:
        """Whether side effects and dtypes are reproduced too."""
        return self.repair is not None or (self.chosen is not None and self.chosen.is_formal)

    def explains(self, criterion: str) -> bool:
        """Whether every response of a criterion is reproduced."""
        return self.repair is not None or (self.chosen is not None and criterion in self.chosen.criteria)

    def replies_so(self, call_result: CallResult) -> bool:
        """Whether the chosen misconceptions explain everything, and this call regardless of earlier ones."""
        if (
            self.chosen is None
            or not self.chosen.is_complete
            or any(m.memory for m in (*self.misconceptions, *self.helpers))
        ):
            return False
        return self.chosen.fits(call_result) and self.chosen.fits_in_form(call_result)

    @property
    def named(self) -> tuple[Misconception, ...]:
        """The misconceptions to name: those in every set that explains everything, and what was observed."""
        return tuple(m for m in self.sure if all(m.id in rival.ids for rival in self.rivals)) + self.observed

    @property
    def sure(self) -> tuple[Misconception, ...]:
        """The misconceptions with enough evidence."""
        chosen = self.chosen if self.repair is None else None
        return () if chosen is not None and (chosen.is_guess or chosen.changes_unseen) else self.misconceptions

    @property
    def at_least(self) -> bool:
        """Whether more is wrong than the misconceptions explain."""
        return self.chosen is not None and not self.complete

    @property
    def inherited(self) -> tuple[Misconception, ...]:
        """The helpers' misconceptions, if they explain everything."""
        return self.helpers if self.complete else ()

    @property
    def undecided(self) -> tuple[Misconception, ...]:
        """Misconceptions with the same results on every call, so that none of them is named."""
        ids = {misconception.id for misconception in self.misconceptions}
        others = [rival.misconceptions for rival in self.rivals if not ids <= rival.ids]
        by_id = {m.id: m for chosen in (self.misconceptions, *others) for m in chosen} if others else {}
        return tuple(m for m in by_id.values() if not has(self.named, m))

    @property
    def shared(self) -> str:
        """The correction that the undecided misconceptions have in common, "" if they differ."""
        right = {misconception.right for misconception in self.undecided}
        return right.pop() if len(right) == 1 else ""


class Diagnoser:
    """Diagnoses submissions. Responses of known versions are kept for the next submission."""

    def __init__(self, rubric: Rubric, test_calls: Mapping[str, Sequence[Sequence[TestCall]]]):
        """`test_calls` are those of each module, by process, in order."""
        self.rubric, self.test_calls = rubric, test_calls
        self._kept: dict[tuple[str, str, Helpers], KnownResponses] = {}  # last used last

    def known_responses(self, module: str, function: str, helpers: Helpers = ()) -> KnownResponses:
        """The replies of a function's known versions, beside helpers with these mistakes."""
        key = (module, function, helpers)
        known = self._kept.pop(key) if key in self._kept else None
        self._kept[key] = known or KnownResponses(module, function, self.test_calls[module], dict(helpers))
        return self._kept[key]

    def forget(self) -> None:
        """Drop the responses used longest ago, so memory does not grow with the class."""
        held = sum(known_responses.held for known_responses in self._kept.values())
        while held > MOST_HELD:
            held -= self._kept.pop(next(iter(self._kept))).held

    def explain(
        self,
        module: str,
        call_results: Iterable[CallResult],
        before: Mapping[str, Diagnosis] | None = None,
    ) -> dict[str, Diagnosis]:
        """Explain every function of a module that has a failing call, in the order of the rubric.

        Only these call results are used: messages shown before the due date are made from visible ones. `before` explains some of
        them; a diagnosis of all of them must explain these too.
        """
        diagnoses: dict[str, Diagnosis] = {}
        every = list(call_results)
        for function in self.rubric.modules[module].functions:
            some = (before or {}).get(function)
            helpers = self.rubric.helpers(module, (function,))
            hopeless = some is not None and not some.complete and not any(name in diagnoses for name in helpers)
            diagnoses |= self.explained(module, function, every, diagnoses, hopeless)
        return diagnoses

    def explained(
        self,
        module: str,
        function: str,
        call_results: Iterable[CallResult],
        above: Mapping[str, Diagnosis],
        hopeless: bool = False,
    ) -> dict[str, Diagnosis]:
        """Explain one function of a module, if it has a failing call, with helpers that are wrong as explained `above`."""
        own = [call_result for call_result in call_results if call_result.target.function == function]
        if all(not call_result.failed for call_result in own):
            return {}
        nothing = Diagnosis(empty=computes_nothing(own))
        diagnosis = nothing if hopeless else self._explain(module, function, own, above)
        chosen = diagnosis.chosen if diagnosis.complete else None
        strange = [call_result for call_result in own if chosen is None or not chosen.fits_in_form(call_result)]
        unnamed = tuple(m for m in observed(strange, diagnosis.complete) if not has(diagnosis.named, m))
        return {function: replace(diagnosis, observed=unnamed)}

    def evident(self, module: str, function: str, call_results: Sequence[CallResult]) -> list[Candidate]:
        """Single misconceptions that reproduce some failing calls and every passing one, the best first."""
        known = self.known_responses(module, function)
        search = Search(self.rubric, module, function, call_results, [known])
        exact = [m for m in of_function(module, function) if not m.inexact and not m.memory]
        right = [call_result for call_result in call_results if not call_result.failed]
        wrong = [
            call_result
            for call_result in call_results
            if wrong_in_value(call_result) and call_result.response.error is None
        ]
        candidates = filter(None, (search.candidate(known, (misconception,)) for misconception in exact))
        ranked = [(sum(map(c.fits, wrong)), c) for c in candidates if c.reproduces(right)]
        return [c for calls, c in sorted(ranked, key=lambda pair: -pair[0]) if calls >= LEAST_EVIDENCE]

    def _explain(
        self,
        module: str,
        function: str,
        call_results: list[CallResult],
        above: Mapping[str, Diagnosis],
    ) -> Diagnosis:
        wrong = [call_result for call_result in call_results if wrong_in_value(call_result)]
        if wrong and all(r.response.ended is not None or is_absent(r) for r in wrong):
            return Diagnosis(empty=computes_nothing(call_results))
        helpers = self.rubric.helpers(module, (function,))
        if any(name in above and not above[name].complete for name in helpers):
            # It runs again with correct helpers; a match now would be chance.
            return Diagnosis(empty=computes_nothing(call_results))
        # A function that computes nothing loses every criterion, so a match in one decides nothing.
        empty = bool(wrong) and computes_nothing(call_results)
        tables, rivals = self._tables(module, function, above)
        largest = 1 if empty else MOST_TOGETHER
        search = Search(self.rubric, module, function, call_results, tables, rivals, largest)
        if not wrong:
            return Diagnosis(search.formal(), right_in_value=True)
        candidates = search.complete()
        return Diagnosis(next(iter(candidates), None), tuple(candidates[1:]), empty=empty)

    def _tables(
        self, module: str, function: str, above: Mapping[str, Diagnosis]
    ) -> tuple[list[KnownResponses], list[KnownResponses]]:
        """The responses to search: with correct helpers and with the submission's; with rivals in a helper, which may differ
        here."""
        helpers = self.rubric.helpers(module, (function,))
        wrong = {name: above[name].sure for name in helpers if name in above and above[name].sure}
        others = [{name: r.misconceptions} for name in wrong for r in above[name].rivals if r.misconceptions]
        tables = [{}, wrong] if wrong else [{}]
        return (
            [self.known_responses(module, function, tuple(own.items())) for own in tables],
            [self.known_responses(module, function, tuple((wrong | own).items())) for own in others],
        )


def is_absent(call_result: CallResult) -> bool:
    """Whether the function is missing, unimplemented, or does not accept its arguments."""
    error = call_result.response.error
    return call_result.unwritten or (error is not None and error.hint in ("missing", "signature"))


def has(misconceptions: Iterable[Misconception], misconception: Misconception) -> bool:
    """Whether a misconception is among others, in whatever variant."""
    return any(m.id == misconception.id for m in misconceptions)


def computes_nothing(call_results: Iterable[CallResult]) -> bool:
    """Whether a function returns one constant, an unchanged argument, or an error, on every call."""
    calls = [
        r
        for r in call_results
        if r.test_call.kind == "call" and not r.test_call.rules.error and r.response.ended is None
    ]
    if all(call_result.response.error is not None for call_result in calls):
        return True
    if any(call_result.response.error is not None for call_result in calls):
        return False
    if _is_one_number(r.response.value for r in calls) and not _is_one_number(r.test_call.expected for r in calls):
        return True
    names = set[str](arguments(calls[0].test_call))  # arguments that may always be returned
    returned = set[str]()
    for call_result in calls:
        given = arguments(call_result.test_call)
        kept = {name for name in names if isinstance(given.get(name), Kept)}  # of an earlier call: not available
        same = {name for name in names - kept if _same(given.get(name), call_result.response.value)}
        names, returned = kept | same, returned | same
        if not names:
            return False
    return bool(names & returned)


def _is_one_number(values: Iterable[Any]) -> bool:
    """Whether all numbers in these values are equal."""
    numbers = (number for value in values for number in _numbers(value))
    first = next(numbers, None)
    return all(number == first for number in numbers)


def _numbers(value: Any) -> Iterator[float]:
    """The smallest and the largest number of each array."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, np.ndarray | np.generic | float | int) and np.asarray(value).dtype.kind in "biuf":
        array = np.asarray(value)
        yield from {float(array.min()), float(array.max())} if array.size else ()


def _same(given: Any, value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return isinstance(given, np.ndarray) and all(isinstance(p, np.ndarray) and np.array_equal(p, given) for p in parts)


# Side effects and wrong dtypes are named by observation: which argument changed and how, which dtype came back.
#
# Their ids look like those of misconceptions: `<function>.changes_<argument>`, `.float64_result`, `.changes_<argument>_later`,
# `.shares_memory`, `.overwrites_result`, `.remembers`.


def observed(call_results: Sequence[CallResult], explained: bool) -> tuple[Misconception, ...]:
    """The side effects and dtypes that are wrong in the results of one function, each once, in order.

    `explained`: the values are explained, so a result that differs the second time needs no name of its own.
    """
    by_name: dict[str, Misconception] = {}
    for call_result in call_results:
        if call_result.failed:
            for misconception in seen(call_result, explained):
                by_name.setdefault(misconception.name, misconception)
    again = {name for name in by_name if name.endswith("_later") and name[:-6] in by_name}
    return tuple(misconception for name, misconception in by_name.items() if name not in again)


def seen(call_result: CallResult, explained: bool) -> Iterator[Misconception]:
    """The side effects and dtypes that are wrong in one call result."""
    yield from _changed(call_result)
    name, floats = _dtypes(call_result)
    if name:
        _, right, read = of_form("float64_result", call_result.target.function)
        does = f"Your result is {name} for {floats} arguments."
        yield _mistake(call_result, f"{name}_result", does, right if name == "float64" else f"{KEEP_DTYPE}.", read)
    if call_result.response.shared:
        does, right = "Your result shares memory with an argument.", "Return a new array, or a copy."
        yield _mistake(call_result, "shares_memory", does, right, COPIES)
    kind = call_result.kind if call_result.failed else ""
    if kind == "overwritten":
        does = "An array you returned earlier changed later, because it shares memory with another array."
        yield _mistake(call_result, "overwrites_result", does, "Return a new array in every call.", COPIES)
    if kind == "unsteady" and not explained:
        does, right = (
            "The same call returned a different result the second time.",
            "Do not keep anything from one call to the next.",
        )
        yield _mistake(call_result, "remembers", does, right, KEPT)


def _changed(call_result: CallResult) -> Iterator[Misconception]:
    later = call_result.test_call.kind == "changes"
    names = list(inspect.signature(reference.functions()[call_result.target.function]).parameters)
    first: dict[int, Change] = {}  # of each argument
    for change in call_result.response.changed:
        first.setdefault(change.argument, change)
    for number, change in first.items():
        name = part(names, number, ()).replace(" ", "_")
        does, right, read = of_form(f"changes_{name}", call_result.target.function)
        how = in_words(names, [change]) + (", which is visible only after the call" if later else "")
        does = f"{does.rstrip('.')}: {how}."
        yield _mistake(call_result, f"changes_{name}" + ("_later" if later else ""), does, right, read)


def _dtypes(call_result: CallResult) -> tuple[str, str]:
    """The first returned dtype that is not expected, and the expected one; "" if none is wrong.

    A wrong shape or number of results does not mask a wrong dtype.
    """
    response, test_call = call_result.response, call_result.test_call
    expected = [part.dtype for part in arrays(test_call.expected)]
    due = next((dtype for dtype in expected if dtype.kind == "f"), None)
    if due is None or not test_call.rules.dtype or response.error is not None or response.ended is not None:
        return "", ""
    returned = [part.dtype for part in leaves(response.value) if isinstance(part, np.ndarray | np.generic)]
    wrong = next((dtype for dtype in returned if dtype.kind in "fiu" and dtype not in expected), None)
    return (str(wrong), str(due)) if wrong is not None else ("", "")


def _mistake(call_result: CallResult, name: str, does: str, right: str, read: str) -> Misconception:
    criteria = (call_result.test_call.criterion,) if call_result.test_call.criterion else ()
    return Misconception(call_result.target.module, call_result.target.function, name, criteria, does, right, read)
