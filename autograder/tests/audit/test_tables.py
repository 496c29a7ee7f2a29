"""The audit's tables can be read: every letter in them is explained."""

from autograder.audit import audit, cases
from autograder.audit.cases import Case
from autograder.tests.making import graded, made

WRONG = next(case for case in cases.singles("layernorm") if case.name == "layer_norm.sample_variance")
ROW = made(
    WRONG,
    graded("layernorm.statistics", "mistake", "sample_variance"),
    graded("layernorm.example", "mistake", "sample_variance"),
    graded("layernorm.affine", "elsewhere", "sample_variance"),
    graded("layernorm.purity", "too little"),
    graded("layernorm.rms", "unexplained"),
)
RIGHT = made(Case("alternative", "loops"))


def test_marks() -> None:
    criteria = ("statistics", "example", "affine", "purity", "rms", "stability")
    assert [audit.mark(ROW, f"layernorm.{name}") for name in criteria] == ["N", "E", "+", "H", "x", "-"]


def test_a_sentence_that_is_shared_has_its_letter() -> None:
    alike = graded("layernorm.statistics", "mistake", undecided=("sample_variance", "sample_variance"))
    other = graded("layernorm.statistics", "mistake", undecided=("sample_variance", "no_root"))
    assert [audit.mark(made(WRONG, one), "layernorm.statistics") for one in (alike, other)] == ["S", "x"]


def test_console_explains_its_letters() -> None:
    undecided = made(WRONG, graded("layernorm.statistics", "mistake", undecided=("sample_variance", "no_root")))
    said = "\n".join(audit.table_lines([ROW, undecided, RIGHT]))
    for letter, what in audit.MEANS.items():
        assert f"  {letter}  {what}" in said
    assert "\nlayernorm: misconceptions\n" in said
    assert "layer_norm.sample_variance: layer_norm.no_root" in said
    assert "loops: nothing lost" in said
    assert "1 of 2 misconceptions are named correctly." in said
