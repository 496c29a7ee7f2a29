"""What each step is for: nothing known is lost with a step that is said to be for nothing, and what no step shows is told."""

from dataclasses import replace

import pytest

from autograder.audit.steps import CallGroup, Need, groups, needs, run
from autograder.grading import plan as scripts

MODULE = "layernorm"


@pytest.fixture(scope="module")
def wanted() -> list[Need]:
    return list(needs(MODULE, []))


def test_steps_that_speak_of_one_another_stand_together() -> None:
    hidden = scripts.current().hidden[MODULE]
    found = groups(hidden)
    assert sorted(step.number for group in found for step in group.steps) == [step.number for step in hidden]
    owner = {step.number: group for group in found for step in group.steps}
    for step in hidden:
        assert all(owner[number] is owner[step.number] for number in step.needs | {step.rules.repeats or step.number})


@pytest.mark.slow
def test_what_is_said_to_be_for_nothing_can_be_left_out_together(wanted: list[Need]) -> None:
    found = run(MODULE, wanted)
    out = {step.number for group, lost in found.items() if not lost for step in group.steps}
    owner = {step.number: group for group in found for step in group.steps}
    for need in wanted:
        before = {owner.get(number, number) for number in need.shown}
        after = {owner.get(number, number) for number in need.shown - out}
        assert len(after) >= min(need.times, len(before)), need.what


def test_a_step_is_for_what_it_alone_shows_and_one_of_two_for_what_is_asked_for_twice() -> None:
    every: list[CallGroup] = groups(scripts.current().hidden[MODULE])
    first, second, third = (group.steps[0].number for group in every[:3])
    alone, twice = Need("alone", frozenset({first})), Need("twice", frozenset({second, third}), times=2)
    names = {group.name: lost for group, lost in run(MODULE, [alone, twice]).items()}
    assert [
        next(lost for name, lost in names.items() if f"step {number} " in name) for number in (first, second, third)
    ] == [
        ["alone"],
        ["twice"],
        ["twice"],
    ]
    assert sum(bool(lost) for lost in names.values()) == 3
    spared = run(MODULE, [replace(twice, times=1)])
    assert sum(bool(lost) for lost in spared.values()) == 1


@pytest.mark.slow
def test_every_known_mistake_and_what_tells_it_from_others_is_asked_for(wanted: list[Need]) -> None:
    said = {need.what for need in wanted}
    assert "layer_norm.sample_variance in layernorm.statistics" in said
    assert any(what.startswith("right distinguished from layer_norm.") for what in said)
    assert any(what.startswith("rms_norm: values, eps") for what in said)
    assert all(need.shown for need in wanted)
