"""Notes are single sentences, missing files are explained, and almost right file names are accepted on request."""

from pathlib import Path

import pytest

from autograder.submissions import submission
from autograder.submissions.submission import NOTES_SHOWN, Note, Submission
from autograder.tests.files import HOMEWORK


@pytest.mark.parametrize("kind", submission.TEXTS)
def test_every_note_is_one_sentence_with_file_names_as_code(kind: str) -> None:
    """Markdown has no links, entities or emphasis in code."""
    text = str(Note(kind, "[x](evil)\n.py", number=20, target="layernorm.py"))
    assert text.isprintable() and text.endswith(".") and "[x]" not in text
    name = "www.evil.example_&#x202e;~~a~~.py"
    said = str(Note(kind, name, target="layernorm.py"))
    assert kind == "absent" or said.count(name) == said.count(f"`{name}`")


REFUSED = Note("link", "hw/layernorm.py")


@pytest.mark.parametrize(("name", "refused", "missing"), [
    ("layernorm.py", [Note("damaged", "old/layernorm.py")], None),
    ("LayerNorm.py", [REFUSED], REFUSED),
    ("LayerNorm.py", [], Note("misnamed", "LayerNorm.py", target="layernorm.py")),
    ("test_layernorm.py", [], Note("absent", "layernorm.py")),
    ("x.py", [], Note("absent", "layernorm.py")),
])  # fmt: skip
def test_missing_file_is_explained(name: str, refused: list[Note], missing: Note | None) -> None:
    assert Submission("x", {name: b"x"}, tuple(refused)).missing("layernorm", HOMEWORK.rubric) == missing


def test_imports_are_followed_across_the_files_of_a_submission() -> None:
    decoder = b"import numpy as np\nfrom transformer_block import transformer_stack\n"
    block = b"def f(x):\n    import layernorm as ln, decoder\n"
    found = Submission(
        "x", {"decoder.py": decoder, "transformer_block.py": block, "layernorm.py": b"(", "other.py": b""}
    )
    assert found.imports("decoder") == {"numpy", "transformer_block", "layernorm", "decoder"}
    assert found.imports("layernorm") == set()


def test_only_a_notebook_with_the_name_of_a_module_is_reported(tmp_path: Path) -> None:
    for name in ("decoder.ipynb", "transformer.ipynb", "layernorm.py"):
        (tmp_path / name).write_text("x = 1")
    found = submission.read(tmp_path, HOMEWORK.rubric)
    assert found.notes == ()
    assert str(found.missing("decoder", HOMEWORK.rubric)) == (
        "There is no file decoder.py, but there is `decoder.ipynb`: "
        "that is a notebook: copy its code into a file decoder.py and upload again."
    )


def test_number_of_shown_notes_is_limited_but_all_are_kept() -> None:
    found = Submission("x", {}, tuple(Note("damaged", f"{number}.py") for number in range(50)))
    assert len(found.notes) == NOTES_SHOWN
    assert found.missing("49", HOMEWORK.rubric) == Note("damaged", "49.py")


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
def test_almost_right_name_is_accepted_if_unambiguous(files: list[str], taken: str) -> None:
    given = Submission("ada", {name: name.encode() for name in files})
    found = given.accepting_names(HOMEWORK.rubric)
    assert found.files == given.files | ({"layernorm.py": taken.encode()} if taken else {})
    assert found.refused == ((Note("accepted", taken, target="layernorm.py"),) if taken else ())


STUB = b'def layer_norm(x):\n    """Docs."""\n    raise NotImplementedError("layer_norm is not written yet")\n'
DONE = b"def layer_norm(x):\n    return x - x.mean()\n"


@pytest.mark.parametrize(("text", "written"), [
    (STUB, False),
    (b"import numpy\nX = 1\ndef helper(x): return x", False),
    (b"", False),
    (DONE, True),
    (STUB + b"def batch_norm(x): return 2 * x", True),
    (b"def layer_norm(x: return", None),
    (b"\0", None),
])  # fmt: skip
def test_function_counts_as_written_if_its_body_does_anything(text: bytes, written: bool | None) -> None:
    assert submission.has_written(text, ["layer_norm", "batch_norm"]) is written


COPY = "layernorm (1).py"


def test_finished_copy_next_to_the_stub_is_noted_and_used_on_request() -> None:
    given = Submission("ada", {"layernorm.py": STUB, COPY: DONE, "layernorm (2).py": STUB}).with_notes(HOMEWORK.rubric)
    assert given.refused == (Note("unwritten", COPY, target="layernorm.py"),)
    assert given.files["layernorm.py"] == STUB
    found = given.accepting_names(HOMEWORK.rubric)
    assert found.refused == (Note("replaced", COPY, target="layernorm.py"),)
    assert found.files["layernorm.py"] == DONE


@pytest.mark.parametrize(("files", "noted"), [
    ({"layernorm.py": DONE, COPY: DONE + b"# 2"}, "second"),
    ({"layernorm.py": b"def layer_norm(x: ", COPY: DONE}, "second"),
    ({"layernorm.py": STUB, COPY: STUB + b"# 2"}, ""),
    ({"layernorm.py": STUB, COPY: b"def layer_norm(x: "}, ""),
    ({"layernorm.py": b"#" * submission.MOST_BYTES + b"\n" + DONE, COPY: DONE}, "second"),
], ids=["both", "not Python", "neither", "copy not Python", "too long to look at"])  # fmt: skip
def test_file_is_not_replaced_unless_only_the_copy_is_written(files: dict[str, bytes], noted: str) -> None:
    given = Submission("ada", files).with_notes(HOMEWORK.rubric)
    assert given.refused == ((Note(noted, COPY, target="layernorm.py"),) if noted else ())
    assert given.accepting_names(HOMEWORK.rubric) == given


def test_parsing_limit_applies_to_all_copies_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(submission, "parsed", lambda content: read.append(len(content)))
    copies = {f"part{number}/layernorm.py": b"x" * 30_000 + b"%d" % number for number in range(400)}
    Submission("ada", {"layernorm.py": STUB, **copies}).with_notes(HOMEWORK.rubric)
    assert 30_000 < sum(read) <= 2 * submission.MOST_BYTES + len(STUB)


def test_two_copies_are_ambiguous_unless_identical() -> None:
    second = "layernorm (2).py"
    given = Submission("ada", {"layernorm.py": STUB, COPY: DONE, second: DONE + b"# 2"}).with_notes(HOMEWORK.rubric)
    assert [note.kind for note in given.accepting_names(HOMEWORK.rubric).refused] == ["unwritten"]
    assert Submission("ada", {COPY: b"x", second: b"x"}).accepting_names(HOMEWORK.rubric).files["layernorm.py"] == b"x"


def test_copy_next_to_a_blank_file_is_used_but_a_blank_copy_is_not() -> None:
    given = Submission("ada", {"layernorm.py": b"\n", COPY: DONE}).with_notes(HOMEWORK.rubric)
    assert (given.files, given.refused) == ({COPY: DONE}, (Note("unwritten", COPY, target="layernorm.py"),))
    found = given.accepting_names(HOMEWORK.rubric)
    assert (found.files["layernorm.py"], [note.kind for note in found.refused]) == (DONE, ["replaced"])
    found = Submission("ada", {COPY: b"\n"}).with_notes(HOMEWORK.rubric)
    assert found.missing("layernorm", HOMEWORK.rubric) == Note("absent", "layernorm.py")
    assert found.accepting_names(HOMEWORK.rubric) == found


def test_oversized_file_is_read_as_empty() -> None:
    submission = Submission("s", {"short.py": b"x = 1", "long.py": b"x = [" + b"1," * 5_000_000 + b"]"})
    assert [submission.text(name) for name in ("short.py", "long.py", "none.py")] == [b"x = 1", b"", b""]
