"""The audit of repairs: mutants in no list are repaired at their line, two known mistakes are not."""

import pytest

from autograder.audit import cases, mutants
from autograder.audit.cases import Case
from autograder.audit.mutants import _text_of, try_repairs


@pytest.mark.slow
def test_mutants_are_repaired_at_their_line_and_pairs_are_not() -> None:
    tried = list(try_repairs(1, ("layernorm",), number=1))
    assert {case.kind for case, _ in tried} == {"mutant", "pair"}
    repaired = [(case.kind, what) for case, what in tried if what in ("at its line", "elsewhere", "not told")]
    assert set(repaired) == {("mutant", "at its line")}


def test_the_line_is_the_first_that_differs_from_the_right_text() -> None:
    mutant: Case = next(m for m in mutants.mutants("layernorm") if "->  var = (beta ** 2)" in m.name)
    text, line = _text_of(mutant)
    assert text.splitlines()[line - 1].strip() == "var = (beta ** 2).mean(axis=-1, keepdims=True)"
    assert (
        text.count(f"def {mutant.function}(")
        == cases.submission(mutant).files["layernorm.py"].count(b"def rms_norm(")
        == 1
    )
