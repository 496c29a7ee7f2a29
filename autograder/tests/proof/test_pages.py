"""The audit's tables can be read: every letter in them is explained, on the console and on the page."""

from pathlib import Path

from autograder.proof import cases, pages
from autograder.proof.cases import Case
from autograder.proof.rows import Row, Verdict

WRONG = next(case for case in cases.singles("layernorm") if case.name == "layer_norm.sample_variance")
OTHERS = ("layer_norm.sample_variance", "layer_norm.no_root")
ROW = Row(
    WRONG,
    {
        "layernorm.statistics": Verdict(False, "mistake", (WRONG.name,)),
        "layernorm.example": Verdict(False, "mistake", (WRONG.name,)),
        "layernorm.affine": Verdict(True, "elsewhere", (WRONG.name,)),
        "layernorm.stability": Verdict(False, "hidden", (WRONG.name,), unseen=("layer_norm.one_pass_variance",)),
        "layernorm.rms": Verdict(False, "unexplained"),
    },
)
UNDECIDED = Row(WRONG, {"layernorm.statistics": Verdict(False, "mistake", (), OTHERS, "Divide by d.")})
RIGHT = Row(Case("alternative", "loops"), {})


def test_marks() -> None:
    criteria = ("statistics", "example", "affine", "stability", "rms", "purity")
    assert [pages.mark(ROW, f"layernorm.{name}") for name in criteria] == ["N", "E", "+", "H", "x", "-"]
    assert pages.mark(UNDECIDED, "layernorm.statistics") == "S"


def test_console_explains_its_letters_and_lists_what_is_hidden() -> None:
    said = "\n".join(pages.text([ROW, UNDECIDED, RIGHT]))
    for letter, what in pages.MEANS.items():
        assert f"  {letter}  {what}" in said
    assert "layer_norm.sample_variance: layernorm.stability (layer_norm.one_pass_variance)" in said
    assert "layer_norm.sample_variance: layer_norm.no_root" in said
    assert "loops: nothing lost" in said
    assert "1 of 2 known mistakes are named as themselves." in said


def test_page_has_its_legend_a_table_for_the_module_and_the_problems(tmp_path: Path) -> None:
    pages.write([ROW, RIGHT], ["something is wrong"], tmp_path / "new" / "audit.html")
    page = (tmp_path / "new" / "audit.html").read_text(encoding="utf-8")
    for what in (
        *pages.MEANS.values(),
        "<h2>layernorm</h2>",
        "something is wrong",
        "layer_norm.sample_variance",
        "loops",
    ):
        assert what in page
    assert "http" not in page.replace("http-equiv", "")
