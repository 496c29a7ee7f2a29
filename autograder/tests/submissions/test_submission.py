"""Notes have a sentence each, a missing file is explained, and what a student chose is no markup and no formula."""

from pathlib import Path

import pytest

from autograder.homework import rubric as rubrics
from autograder.submissions import submission
from autograder.submissions.submission import NOTES_SHOWN, Note, Submission
from autograder.submissions.text import cell, markdown, page, printable, shown


@pytest.mark.parametrize("kind", submission.TEXTS)
def test_every_note_is_one_sentence_that_a_student_can_use(kind: str) -> None:
    text = str(Note(kind, "[x](evil)\n.py", number=20, wanted="layernorm.py"))
    assert text.isprintable()
    assert "[x]" not in text
    assert text.endswith(".")


def test_file_that_is_there_is_not_missing() -> None:
    found = Submission("x", {"layernorm.py": b""}, (Note("damaged", "old/layernorm.py"),))
    assert found.missing("layernorm") is None


def test_file_that_was_refused_is_missing_for_that_reason() -> None:
    refused = Note("link", "hw/layernorm.py")
    found = Submission("x", {"LayerNorm.py": b"x"}, (refused,))
    assert found.missing("layernorm") == refused
    assert str(refused) == "`hw/layernorm.py` was not used: it is a link or a device, not a file."


def test_imports_are_followed_through_the_files_of_the_submission() -> None:
    decoder = b"import numpy as np\nfrom transformer_block import transformer_stack\n"
    block = b"def f(x):\n    import layernorm as ln, decoder\n"
    found = Submission(
        "x", {"decoder.py": decoder, "transformer_block.py": block, "layernorm.py": b"(", "other.py": b""}
    )
    assert found.imports("decoder") == {"numpy", "transformer_block", "layernorm", "decoder"}
    assert found.imports("layernorm") == set()


@pytest.mark.parametrize(
    ("name", "is_similar"), [("LayerNorm.py", True), ("test_layernorm.py", False), ("x.py", False)]
)
def test_file_of_a_similar_name_is_named(name: str, is_similar: bool) -> None:
    misnamed, absent = Note("misnamed", name, wanted="layernorm.py"), Note("absent", "layernorm.py")
    assert Submission("x", {name: b"x"}).missing("layernorm") == (misnamed if is_similar else absent)


@pytest.mark.parametrize("kind", [kind for kind in submission.TEXTS if kind != "absent"])
def test_a_name_of_a_student_stands_in_code(kind: str) -> None:
    """There Markdown has no links, entities or marks."""
    name = "www.evil.example_&#x202e;~~a~~.py"
    said = str(Note(kind, name, wanted="layernorm.py"))
    assert said.count(name) == said.count(f"`{name}`")


def test_a_notebook_in_the_place_of_a_module_is_named_and_any_other_is_not(tmp_path: Path) -> None:
    for name in ("decoder.ipynb", "transformer.ipynb", "layernorm.py"):
        (tmp_path / name).write_text("x = 1")
    found = submission.read(tmp_path, rubrics.current().limits)
    assert found.notes == ()
    assert str(found.missing("decoder")) == (
        "There is no file decoder.py, but there is `decoder.ipynb`: "
        "that is a notebook: copy its code into a file decoder.py and upload again."
    )


def test_only_some_of_very_many_notes_are_shown_but_all_are_known() -> None:
    found = Submission("x", {}, tuple(Note("damaged", f"{number}.py") for number in range(50)))
    assert len(found.notes) == NOTES_SHOWN
    assert found.missing("49") == Note("damaged", "49.py")


@pytest.mark.parametrize(("files", "taken"), [
    (["layernorm (1).py"], "layernorm (1).py"),
    (["LayerNorm.PY"], "LayerNorm.PY"),
    (["layernorm.py.txt"], "layernorm.py.txt"),
    (["part2/layernorm.py"], "part2/layernorm.py"),
    (["layernorm.py", "layernorm (1).py"], ""),
    (["layernorm (1).py", "layernorm (2).py"], ""),
    (["test_layernorm.py"], ""),
    (["layernorm_final.py"], "layernorm_final.py"),
    (["layer-norm.py.txt"], "layer-norm.py.txt"),
    (["norm.py"], ""),
    (["1.py"], ""),
    (["layernorm.npz"], ""),
    (["helpers.py"], ""),
])  # fmt: skip
def test_name_that_is_nearly_right_is_accepted_where_one_file_is_meant(files: list[str], taken: str) -> None:
    given = Submission("ada", {name: name.encode() for name in files})
    found = given.accepting_names()
    assert found.files == given.files | ({"layernorm.py": taken.encode()} if taken else {})
    assert found.refused == ((Note("accepted", taken, wanted="layernorm.py"),) if taken else ())


def test_two_copies_of_one_content_are_no_choice() -> None:
    found = Submission("ada", {"layernorm (1).py": b"x", "layernorm (2).py": b"x"}).accepting_names()
    assert found.files["layernorm.py"] == b"x"


STUB = b'def layer_norm(x):\n    """Docs."""\n    raise NotImplementedError("layer_norm is not written yet")\n'
DONE = b"def layer_norm(x):\n    return x - x.mean()\n"


@pytest.mark.parametrize(("text", "written"), [
    (STUB, False),
    (b"def layer_norm(x): pass", False),
    (b"def layer_norm(x): return None", False),
    (b"def layer_norm(x): ...", False),
    (b"import numpy\nX = 1\ndef helper(x): return x", False),
    (b"", False),
    (DONE, True),
    (STUB + b"def batch_norm(x): return 2 * x", True),
    (b"def layer_norm(x): return f(x)", True),
    (b"def layer_norm(x: return", None),
    (b"\0", None),
])  # fmt: skip
def test_function_is_written_if_its_body_does_anything(text: bytes, written: bool | None) -> None:
    assert submission.has_written(text, ["layer_norm", "batch_norm"]) is written


COPY = "layernorm (1).py"


def test_finished_copy_beside_the_stub_is_listed_and_taken_if_asked_for() -> None:
    given = Submission("ada", {"layernorm.py": STUB, COPY: DONE, "layernorm (2).py": STUB}).with_notes()
    assert given.refused == (Note("unwritten", COPY, wanted="layernorm.py"),)
    assert given.files["layernorm.py"] == STUB
    found = given.accepting_names()
    assert found.refused == (Note("replaced", COPY, wanted="layernorm.py"),)
    assert found.files["layernorm.py"] == DONE


@pytest.mark.parametrize("files", [
    {"layernorm.py": DONE, COPY: DONE + b"# 2"},
    {"layernorm.py": b"def layer_norm(x: ", COPY: DONE},
    {"layernorm.py": STUB, COPY: STUB + b"# 2"},
    {"layernorm.py": STUB, COPY: b"def layer_norm(x: "},
    {"layernorm.py": b"#" * submission.MOST_BYTES + b"\n" + DONE, COPY: DONE},
], ids=["both", "not Python", "neither", "copy not Python", "too long to look at"])  # fmt: skip
def test_file_in_which_anything_may_be_written_is_not_replaced(files: dict[str, bytes]) -> None:
    given = Submission("ada", files).with_notes()
    assert given.refused == ()
    assert given.accepting_names() == given


def test_of_very_many_copies_no_more_is_read_than_of_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(submission, "parsed", lambda content: read.append(len(content)))
    copies = {f"part{number}/layernorm.py": b"x" * 30_000 + b"%d" % number for number in range(400)}
    Submission("ada", {"layernorm.py": STUB, **copies}).with_notes()
    assert 30_000 < sum(read) <= 2 * submission.MOST_BYTES + len(STUB)


def test_of_two_finished_copies_none_is_taken() -> None:
    given = Submission("ada", {"layernorm.py": STUB, COPY: DONE, "layernorm (2).py": DONE + b"# 2"}).with_notes()
    assert [note.kind for note in given.accepting_names().refused] == ["unwritten"]


def test_copy_beside_a_blank_file_is_taken_and_a_blank_copy_is_none() -> None:
    given = Submission("ada", {"layernorm.py": b"\n", COPY: DONE}).with_notes()
    assert (given.files, given.refused) == ({COPY: DONE}, (Note("unwritten", COPY, wanted="layernorm.py"),))
    found = given.accepting_names()
    assert (found.files["layernorm.py"], [note.kind for note in found.refused]) == (DONE, ["replaced"])
    found = Submission("ada", {COPY: b"\n"}).with_notes()
    assert found.missing("layernorm") == Note("absent", "layernorm.py")
    assert found.accepting_names() == found


def test_of_a_file_that_nobody_writes_by_hand_the_grader_reads_nothing() -> None:
    submission = Submission("s", {"short.py": b"x = 1", "long.py": b"x = [" + b"1," * 5_000_000 + b"]"})
    assert [submission.text(name) for name in ("short.py", "long.py", "none.py")] == [b"x = 1", b"", b""]


def test_printable_is_one_line_without_control_and_direction() -> None:
    assert printable("a\x1b[31m\u202eb\n\ud800c") == "a?[31m?b??c"
    assert printable("李 小龍 é🧮") == "李 小龍 é🧮"
    assert printable("x" * 650_000, most=300) == "x" * 297 + "..."


def test_a_page_has_lines_but_no_control_and_direction() -> None:
    assert page("a\x1b[31m\n\tb\u202ec\x9b\u2066é") == "a?[31m\n\tb?c??é"
    assert page("a\u200b\u2060\ufeff\xad\u2028\U000e0041b") == "a??????b"


def test_shown_name_is_short_and_has_no_markup() -> None:
    assert shown("a`<b>|*[c]\\_d.py") == "a??b????c??_d.py"
    assert len(shown("n" * 500)) == 60


@pytest.mark.parametrize(
    "text", [r"[x](http://a)", r"\[x](http://a)", r"\\[x](http://a)", "**b**", "`c`", "~~d~~", "#e"]
)
def test_markdown_takes_every_mark_for_a_letter(text: str) -> None:
    """Read back as a Markdown reader does: a backslash before a mark stands for the mark."""
    escaped = markdown(text)
    plain, position = "", 0
    while position < len(escaped):
        position += escaped[position] == "\\"
        plain += escaped[position]
        position += 1
    assert plain == text.replace("://", ": //")
    assert not [at for at, c in enumerate(escaped) if c in "[]*`~#" and (at == 0 or escaped[at - 1] != "\\")]


@pytest.mark.parametrize("text", ["www.evil.example", "me@evil.example", "https://evil.example"])
def test_markdown_has_no_address(text: str) -> None:
    assert markdown(text).split() != [text] and markdown(text).replace(" ", "") == text


def test_markdown_has_no_html() -> None:
    assert markdown("<b>&lt;") == "&lt;b&gt;&amp;lt;"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", "\n=1", "Ada;=cmd()", 'a;"=b"']
)
def test_no_cell_is_a_formula_not_even_after_a_semicolon(text: str) -> None:
    found = str(cell(text))
    for part in found.split(";"):
        assert not part.lstrip(' "').startswith(("=", "+", "-", "@", "＝"))


def test_cell_has_no_control_characters_and_numbers_stay_numbers() -> None:
    assert cell("a\x1b[31m\u202eb\0c\nd") == "a[31mbc d"
    assert (cell(-1.5), cell('O\'Neil, "Pat"; x'), cell("")) == (-1.5, 'O\'Neil, "Pat"; x', "")
