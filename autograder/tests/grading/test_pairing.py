"""Which pairs of known mistakes are tried, from bits that say of ten records where each shows and fits alone."""

from dataclasses import replace
from typing import Any

from autograder.grading.search import Single, likely
from autograder.homework import mistakes

ALL = 0b11_1111_1111
NOWHERE: dict[str, Any] = {"right": 0, "groups": [ALL], "criteria": [ALL]}


def single(name: str, shows: int, fits: int = 0, memory: bool = False) -> Single:
    (mistake,) = (m for m in mistakes.of_function("layernorm", "layer_norm") if m.name == name and m.way == 0)
    return Single(replace(mistake, memory=memory), shows, fits)


def tried(evidence: dict[str, Any], *singles: Single) -> list[tuple[str, str]]:
    return [(one.name, other.name) for one, other in likely(singles, **evidence)]


def test_the_fewer_records_speak_against_a_pair_the_sooner_it_is_tried() -> None:
    most, some, none = single("no_beta", ALL, ALL - 0b1), single("no_root", ALL, 0b1111), single("default_eps", 0)
    # Where both show, nothing speaks against a pair.
    assert tried(NOWHERE, none, some, most) == [
        ("no_root", "no_beta"),
        ("default_eps", "no_beta"),
        ("default_eps", "no_root"),
    ]


def test_a_pair_that_most_records_speak_against_is_not_tried() -> None:
    assert tried(NOWHERE, single("default_eps", 0), single("no_root", ALL, 0b111)) == []


def test_a_mistake_that_alone_reproduces_a_criterion_is_tried_beside_every_other_and_first() -> None:
    evidence = NOWHERE | {"criteria": [0b11, ALL - 0b11]}
    likelier = single("no_beta", ALL, ALL - 0b101)
    found = tried(evidence, likelier, single("no_root", ALL - 0b10, 0b11), single("default_eps", 0))
    assert found[:2] == [("no_beta", "no_root"), ("no_root", "default_eps")] and found[2:] == [
        ("no_beta", "default_eps")
    ]


OTHERS = single("no_root", ALL), single("eps_missing", ALL)  # nothing speaks against them


def test_what_is_kept_may_be_written_into_by_a_mistake_of_the_same_criterion() -> None:
    keeps, changes = single("statistics_kept", ALL, memory=True), single("changes_x", 0)
    assert keeps.mistake.criteria == changes.mistake.criteria == ("layernorm.purity",)
    assert tried(NOWHERE, keeps, changes, *OTHERS)[0] == ("statistics_kept", "changes_x")
