"""The rules of order, tried with processes that only note what happens to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from autograder.grading import direct, thresholds
from autograder.grading import script as scripts
from autograder.grading.player import Imports, Player
from autograder.grading.record import Step, with_needed
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Ended, Error, Reply

Event = tuple[str, int, Any]
Wrong = Callable[[Step, Any], bool | Reply]  # or the wrong reply
COMPLETE = Submission("complete", reference.files())
GROUPS = rubrics.current().groups
ABOVE = ("batchnorm_comparison", "transformer_block")  # what stands on the lowest level
WRONG = Reply(value=0)


class Process:
    """Notes what it is asked for; `ends` are functions whose calls end it."""

    why = "deadline"

    def __init__(self, number: int, events: list[Event], ends: Sequence[str]):
        self.number, self.events, self.ends = number, events, ends
        self.ended: Ended | None = None

    def load(self, imports: Imports) -> Reply:
        self.events.append(("load", self.number, imports))
        return Reply()

    def play(self, steps: Sequence[Step]) -> list[Reply]:
        replies: list[Reply] = []
        for step in steps:
            self.events.append(("play", self.number, step))
            if step.target.function in self.ends:
                self.ended = Ended(self.why)
                return [*replies, Reply(ended=self.ended)]
            replies.append(Reply(value=0))
        return replies

    def close(self) -> None:
        self.events.append(("close", self.number, None))


class RightProcess(Process):
    """Replies as the references do, apart from what `is_wrong` says of a step and of what its module may ask for."""

    def __init__(self, number: int, events: list[Event], ends: Sequence[str], is_wrong: Wrong):
        super().__init__(number, events, ends)
        self.is_wrong, self.direct, self.imports = is_wrong, direct.Direct(reference.functions()), dict[str, Imports]()

    def load(self, imports: Imports) -> Reply:
        self.imports[imports.context] = imports
        return super().load(imports)

    def play(self, steps: Sequence[Step]) -> list[Reply]:
        replies = super().play(steps)
        if replies and replies[-1].ended is not None:
            return [*self.play(steps[: len(replies) - 1]), replies[-1]]
        right = [self.direct.play(step) for step in steps]
        asks = {step: self.imports[step.target.module].answered for step in steps}
        said = [self.is_wrong(step, asks[step]) for step in steps]
        return [
            one if isinstance(one, Reply) else WRONG if one else reply for one, reply in zip(said, right, strict=True)
        ]


class Processes:
    """Starts such processes."""

    def __init__(self, ends: Sequence[str] = (), is_wrong: Wrong | None = None):
        self.events: list[Event] = []
        self.started, self.ends, self.is_wrong = 0, ends, is_wrong
        self.shares: list[float] = []

    def __call__(self, share: float) -> Process:
        self.started += 1
        self.shares.append(share)
        if self.is_wrong is not None:
            return RightProcess(self.started, self.events, self.ends, self.is_wrong)
        return Process(self.started, self.events, self.ends)

    def player(self) -> Player:
        return Player(self, scripts.current(), COMPLETE)


def played(processes: Processes) -> Player:
    with processes.player() as player:
        player.shown(GROUPS)
        for number in range(len(player.levels)):
            player.hidden(number)
    return player


@pytest.fixture(scope="module")
def events() -> list[Event]:
    processes = Processes()
    played(processes)
    return processes.events


def is_hidden(step: Step) -> bool:
    return bool(step.criterion) and step not in scripts.current().shown(step.target.module)


def test_a_module_and_one_that_may_ask_for_it_are_never_in_one_process(events: list[Event]) -> None:
    together: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    for kind, process, what in events:
        if kind == "load":
            together.setdefault(process, []).append((what.context, tuple(what.answered)))
    right = Processes(is_wrong=lambda step, asks: False)  # where nothing has to be tried alone
    played(right)
    assert right.started == 1 + max(rubrics.current().level(name) for name in rubrics.current().modules)
    for loaded in together.values():
        present = {context for context, _ in loaded}
        assert not any(present.intersection(asked) for _, asked in loaded)


def test_everything_that_may_be_shown_comes_before_the_first_hidden_call(events: list[Event]) -> None:
    plays = [(number, what) for number, (kind, _, what) in enumerate(events) if kind == "play"]
    first = min(number for number, step in plays if is_hidden(step))
    assert not [step for number, step in plays if number > first and not is_hidden(step)]
    imports = [
        number for number, (kind, _, what) in enumerate(events) if kind == "load" and what.context != INTEGRATION
    ]
    assert max(imports) < first


def test_hidden_calls_come_from_the_lowest_level_up_and_lower_processes_are_gone(events: list[Event]) -> None:
    rubric, highest, closed = rubrics.current(), 0, set[int]()
    for kind, process, what in events:
        if kind == "close":
            closed.add(process)
        if kind == "play" and is_hidden(what) and what.criterion.partition(".")[0] != INTEGRATION:
            level = rubric.level(what.target.module)
            assert level >= highest
            assert process not in closed
            highest = level
    assert highest > 0


def test_what_is_shown_again_alone_comes_before_hidden_calls_or_not_at_all() -> None:
    with Processes().player() as player:
        player.shown(GROUPS)
        example = scripts.current().examples["layernorm"][0]
        assert player.alone(example).value == 0
        player.hidden(0)
        with pytest.raises(AssertionError, match="a shown call after a hidden one"):
            player.alone(example)
        player.hidden(1)
        with pytest.raises(AssertionError, match="a lower level after a higher one"):
            player.hidden(0)


def test_only_what_was_not_answered_is_played_again_and_a_function_that_ends_processes_is_given_up() -> None:
    processes = Processes(ends=("rms_norm",), is_wrong=lambda step, asks: False)
    player = played(processes)
    counts: dict[int, int] = {}
    for kind, _, what in processes.events:
        if kind == "play" and what.target.function != "rms_norm":
            counts[id(what)] = counts.get(id(what), 0) + 1
    again = [what for kind, _, what in processes.events if kind == "play" and counts.get(id(what), 0) > 1]
    assert not [step for step in again if not step.test]  # only steps that later ones of their test build on come again
    assert player.restarts["layernorm"] > 0 and max(player.restarts.values()) <= thresholds.RESTARTS


def test_modules_that_end_their_processes_again_and_again_leave_others_their_restarts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autograder.grading.player.RESTARTS", 2)
    processes = Processes(
        ends=list(rubrics.current().modules["layernorm"].functions), is_wrong=lambda step, asks: False
    )
    with processes.player() as player:
        records = player.shown(GROUPS)
        for number, _ in enumerate(player.levels):
            records |= player.hidden(number)
    assert player.restarts["layernorm"] == 2
    ended = {step.target.module for step, record in records.items() if record.reply.ended is not None}
    assert ended == {"layernorm"}


@pytest.mark.parametrize("why", ["deadline", "memory"])
def test_a_process_that_ends_for_memory_gets_what_waiting_ones_hold(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Process, "why", why)
    ends = list[str]()
    with Processes(ends=ends).player() as player:
        player.shown(GROUPS)
        assert all(level.process is not None for level in player.levels)
        ends.append("rms_norm")
        player.hidden(0)
        waiting = [level.process is not None for level in player.levels[1:]]
        assert waiting and set(waiting) == {why == "deadline"}


def test_the_integration_comes_last_in_processes_of_its_own_and_what_is_said_of_imports_stays() -> None:
    lowest = scripts.current().hidden["layernorm"][-1].target.function
    processes = Processes(ends=(lowest,))
    with processes.player() as player:
        player.shown(GROUPS)
        said = {name: player.broken(name) for name in GROUPS}
        with pytest.raises(AssertionError, match="the integration before a module"):
            player.together("integration.norms")
        for number in range(len(player.levels)):
            player.hidden(number)
        before = len(processes.events)
        _, imported = player.together("integration.norms")
        contexts = [what.context for kind, _, what in processes.events[before:] if kind == "load"]
        assert imported and set(contexts) == {"integration.norms"}
        assert {name: player.broken(name) for name in GROUPS} == said
        with pytest.raises(AssertionError, match="an import that may be shown after a hidden call"):
            player._load(player.levels[0], Imports("layernorm", ("layernorm",), {}))


def test_what_takes_over_in_the_integration_sees_the_same_correct_modules() -> None:
    step = scripts.current().hidden[INTEGRATION][0]
    processes = Processes(ends=(step.target.function,))
    with processes.player() as player:
        player.shown(GROUPS)
        for number in range(len(player.levels)):
            player.hidden(number)
        before = len(processes.events)
        player.together(step.criterion, ("layernorm",))
    loads = [what for kind, _, what in processes.events[before:] if kind == "load"]
    assert len(loads) > 1
    assert all(imports == loads[0] and "layernorm" in imports.answered for imports in loads)


def test_a_process_that_takes_over_is_given_what_a_step_needs_and_nothing_else() -> None:
    every = [step for step in scripts.current().hidden["scaled_attention"] if step.test == "test_calls_leave_no_trace"]
    step = next(step for step in every if step.target.function == "split_heads" and step.needs)
    needed = with_needed(every, [step])
    assert needed[-1] is step and len(needed) < len(every)
    numbers = {one.number for one in needed}
    assert all(one.needs <= numbers for one in needed)
    writes = [one for one in every if one.kind == "write" and one.about in numbers and one.number < step.number]
    assert {one.number for one in writes} <= numbers


def graded(is_wrong: Wrong) -> tuple[Player, list[Imports], Mapping[Step, Reply]]:
    """A submission that is right otherwise: its player, what was imported, and the replies that count."""
    processes = Processes(is_wrong=is_wrong)
    with processes.player() as player:
        records = player.shown(GROUPS)
        for number, _ in enumerate(player.levels):  # which may become more on the way
            records |= player.hidden(number)
    loads = [what for kind, _, what in processes.events if kind == "load"]
    return player, loads, {step: record.reply for step, record in records.items()}


def wrong(replies: Mapping[Step, Reply]) -> list[Step]:
    return [step for step, reply in replies.items() if reply is WRONG]


def asking(loads: Sequence[Imports]) -> list[str]:
    return [imports.context for imports in loads if imports.answered]


def test_beside_right_modules_nothing_is_asked_for() -> None:
    player, loads, replies = graded(lambda step, asks: False)
    assert len(loads) == len(rubrics.current().modules) and not asking(loads)
    assert len(player.levels) == 3 and all(player.right.values()) and not wrong(replies)


def test_a_process_with_neighbours_of_the_submission_has_little_time_and_ends_for_them_alone() -> None:
    processes = Processes(is_wrong=lambda step, asks: False)
    assert len(played(processes).levels) == len(processes.shares) == 3
    assert processes.shares == [1, thresholds.BESIDE_OWN, thresholds.BESIDE_OWN]


def test_what_is_wrong_beside_its_own_neighbours_counts_beside_correct_ones() -> None:
    player, loads, replies = graded(lambda step, asks: step.target.module == "transformer_block" and not asks)
    # What builds on it asks as well, since it has been wrong; what stands beside it does not.
    assert asking(loads) == ["transformer_block", "transformer_block", "decoder"] and not wrong(replies)
    assert [level.modules for level in player.levels][1:] == [
        ("batchnorm_comparison",),
        ("transformer_block",),
        ("decoder",),
    ]


@pytest.mark.parametrize("spoilt", ["causal_mask", "concept_check", "batchnorm_comparison"])
def test_what_another_module_does_to_their_process_costs_a_module_nothing(
    spoilt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = RightProcess.play

    def spoiling(own: RightProcess, steps: Sequence[Step]) -> list[Reply]:
        replies = play(own, steps)
        is_spoilt = [len(own.imports) > 1 and step.target.module == spoilt for step in steps]
        return [WRONG if wrong else reply for wrong, reply in zip(is_spoilt, replies, strict=True)]

    monkeypatch.setattr(RightProcess, "play", spoiling)
    player, _, replies = graded(lambda step, asks: False)
    assert not wrong(replies)
    assert (spoilt,) in [level.modules for level in player.levels]


def test_what_cannot_be_imported_beside_others_is_imported_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, load = Reply(error=Error(("ImportError",), "", "", 1, "")), RightProcess.load

    def spoilt(own: RightProcess, imports: Imports) -> Reply:
        reply = load(own, imports)
        return broken if len(own.imports) > 1 and imports.context == "causal_mask" else reply

    monkeypatch.setattr(RightProcess, "load", spoilt)
    player, _, replies = graded(lambda step, asks: False)
    assert not wrong(replies) and all(reply is not broken for reply in replies.values())
    assert player.broken("causal_mask") is None


def test_an_import_that_needs_the_memory_of_waiting_processes_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    load, refused = RightProcess.load, list[str]()

    def short(own: RightProcess, imports: Imports) -> Reply:
        if imports.context == "decoder" and not refused:
            refused.append("decoder")
            own.ended = Ended("memory")
            return Reply(ended=own.ended)
        return load(own, imports)

    monkeypatch.setattr(RightProcess, "load", short)
    player, _, replies = graded(lambda step, asks: False)
    assert refused and player.broken("decoder") is None
    assert not [step for step, reply in replies.items() if reply.ended is not None]


def test_what_is_wrong_otherwise_beside_correct_neighbours_counts_as_it_is_there() -> None:
    other = Reply(value=np.zeros(3))
    _, _, replies = graded(lambda step, asks: step.target.function == "pre_norm_block" and (other if asks else WRONG))
    assert [step.target.function for step, reply in replies.items() if reply is other] and not wrong(replies)


def test_what_a_module_is_wrong_in_wherever_it_stands_is_its_own() -> None:
    player, loads, replies = graded(lambda step, asks: step.target.function == "pre_norm_block" and is_hidden(step))
    # Only what is wrong is tried beside correct neighbours, and no other file names it.
    assert asking(loads) == ["transformer_block"] and len(player.levels) == 3
    assert {step.target.function for step in wrong(replies)} == {"pre_norm_block"}
    _, loads, replies = graded(lambda step, asks: step.target.function == "transformer_stack" and is_hidden(step))
    assert asking(loads) == ["transformer_block", "decoder"]
    assert {step.target.function for step in wrong(replies)} == {"transformer_stack"}


def test_beside_a_neighbour_that_is_wrong_in_a_hidden_call_correct_ones_are_asked_for_and_no_import_is_shown() -> None:
    def is_wrong(step: Step, asks: object) -> bool:
        return is_hidden(step) and (step.target.module == "layernorm" or (step.target.module in ABOVE and not asks))

    player, loads, replies = graded(is_wrong)
    assert set(asking(loads)) == {*ABOVE, "decoder"}
    assert {step.target.module for step in wrong(replies)} == {"layernorm"}
    late = [level for level in player.levels if level.late]
    assert [level.modules for level in late] == [ABOVE, ("decoder",)]
    assert late[0].own == {"scaled_attention"}
    late[0].broken["transformer_block"] = Reply(error=None)
    assert player.broken("transformer_block") is None


def test_why_a_module_cannot_be_imported_does_not_tell_whether_another_was_wrong_in_a_hidden_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, load = Reply(error=Error(("SyntaxError",), "", "", 1, "")), RightProcess.load
    monkeypatch.setattr(
        RightProcess, "load", lambda own, what: broken if what.context == "batchnorm_comparison" else load(own, what)
    )
    said = []
    for number in (0, 1):

        def is_wrong(step: Step, asks: object, fails: int = number) -> bool:
            # layernorm is wrong where it is shown, so that batchnorm_comparison stands beside users of others, using none itself.
            return step.target.module == "layernorm" or (fails == 1 and attends(step))

        player, _, replies = graded(is_wrong)
        assert any(map(attends, wrong(replies))) == bool(number)
        said.append({name: player.broken(name) for name in GROUPS if name != INTEGRATION})
    assert said[0] == said[1] and said[0]["batchnorm_comparison"] is broken


def attends(step: Step) -> bool:
    return is_hidden(step) and step.target.module == "scaled_attention"
