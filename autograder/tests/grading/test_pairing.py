"""Which pairs of known mistakes are tried, from bits that say of ten records where each shows and fits alone."""

from dataclasses import replace

import pytest

from autograder.grading.pairing import Evidence, Single, likely
from autograder.homework import mistakes

ALL = 0b11_1111_1111
NOWHERE = Evidence(right=0, groups=[ALL], criteria=[ALL], fresh=0, truths=False)


def single(name: str, shows: int, fits: int = 0, memory: bool = False) -> Single:
    (mistake,) = (m for m in mistakes.of_function("layernorm", "layer_norm") if m.name == name and m.way == 0)
    return Single(replace(mistake, memory=memory), shows, fits)


def tried(evidence: Evidence, *singles: Single) -> list[tuple[str, str]]:
    return [(one.name, other.name) for one, other in likely(singles, evidence)]


@pytest.mark.parametrize(("fits", "found"), [(0b11_1111_1000, True), (0b11_1111_0000, False)])
def test_a_pair_is_tried_unless_too_many_records_speak_against_it(fits: int, found: bool) -> None:
    pair = single("no_beta", ALL, fits), single("default_eps", 0)
    assert bool(tried(NOWHERE, *pair)) == found


def test_a_mistake_that_alone_reproduces_a_criterion_is_tried_beside_every_other_and_first() -> None:
    evidence = replace(NOWHERE, criteria=[0b11, ALL - 0b11])
    likelier = single("no_beta", ALL, ALL - 0b101)
    found = tried(evidence, likelier, single("no_root", ALL - 0b10, 0b11), single("default_eps", 0))
    assert found[:2] == [("no_beta", "no_root"), ("no_root", "default_eps")] and found[2:] == [
        ("no_beta", "default_eps")
    ]


def test_what_is_kept_may_show_wherever_it_was_not_seen_alone() -> None:
    pair = single("no_beta", ALL - 1, memory=True), single("default_eps", 0)
    assert tried(replace(NOWHERE, right=ALL), *pair) == []
    assert tried(replace(NOWHERE, right=ALL, fresh=1), *pair) == [("no_beta", "default_eps")]
    assert tried(replace(NOWHERE, fresh=1), *pair) == []  # the first call is wrong, and neither shows there


def test_what_is_kept_may_be_written_into_by_a_mistake_of_the_same_criterion() -> None:
    keeps, changes = single("statistics_kept", ALL, memory=True), single("changes_x", 0)
    assert keeps.mistake.criteria == changes.mistake.criteria == ("layernorm.purity",)
    assert tried(NOWHERE, keeps, changes) == [("statistics_kept", "changes_x")]
