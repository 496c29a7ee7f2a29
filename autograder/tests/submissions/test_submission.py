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
    (DONE.ljust(submission.MOST_BYTES, b"#"), True),
    (DONE.ljust(submission.MOST_BYTES + 1, b"#"), None),  # too long to parse
])  # fmt: skip
def test_function_counts_as_written_if_its_body_does_anything(text: bytes, written: bool | None) -> None:
    assert submission.has_written(text, ["layer_norm", "batch_norm"]) is written


COPY, COPY_2, NAME = "layernorm (1).py", "layernorm (2).py", "layernorm.py"
OTHER, LONG = DONE + b"# 2", b"#" * submission.MOST_BYTES + b"\n" + DONE


@pytest.mark.parametrize(("files", "noted", "taken"), [
    *(({name: b"x = 1"}, "", name) for name in (
        COPY, "LayerNorm.PY", "layernorm.py.txt", "part2/layernorm.py", "layernorm_final.py", "layer-norm.py.txt")),
    *(({name: b"x = 1"}, "", "") for name in ("test_layernorm.py", "norm.py", "1.py", "layernorm.npz", "helpers.py")),
    ({NAME: b"x = 1", COPY: b"x = 2"}, "", ""),
    ({COPY: b"x = 1", COPY_2: b"x = 2"}, "", ""),
    ({COPY: b"x = 1", COPY_2: b"x = 1"}, "", COPY),
    ({COPY: b"\n"}, "", ""),
    ({NAME: STUB, COPY: DONE, COPY_2: STUB}, "unwritten", COPY),
    ({NAME: STUB, COPY: DONE, COPY_2: OTHER}, "unwritten", ""),
    ({NAME: b"\n", COPY: DONE}, "unwritten", COPY),
    ({NAME: DONE, COPY: OTHER}, "second", ""),
    ({NAME: b"def layer_norm(x: ", COPY: DONE}, "second", ""),
    ({NAME: LONG, COPY: DONE}, "second", ""),  # too long to look at
    ({NAME: STUB, COPY: STUB + b"# 2"}, "", ""),
    ({NAME: STUB, COPY: b"def layer_norm(x: "}, "", ""),
])  # fmt: skip
def test_copy_of_a_module_is_noted_and_used_on_request_if_unambiguous(
    files: dict[str, bytes], noted: str, taken: str
) -> None:
    given = Submission("ada", files).with_notes(HOMEWORK.rubric)
    assert given.refused == ((Note(noted, COPY, target=NAME),) if noted else ())
    found = given.accepting_names(HOMEWORK.rubric)
    accepted = Note("replaced" if noted else "accepted", taken, target=NAME)
    assert found == Submission("ada", given.files | {NAME: files[taken]}, (accepted,)) if taken else found == given


def test_parsing_limit_applies_to_all_copies_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(submission, "parsed", lambda content: read.append(len(content)))
    copies = {f"part{number}/layernorm.py": b"x" * 30_000 + b"%d" % number for number in range(400)}
    Submission("ada", {"layernorm.py": STUB, **copies}).with_notes(HOMEWORK.rubric)
    assert 30_000 < sum(read) <= 2 * submission.MOST_BYTES + len(STUB)


def test_oversized_file_is_read_as_empty() -> None:
    files = {"short.py": b"#" * submission.MOST_BYTES, "long.py": b"#" * (submission.MOST_BYTES + 1)}
    read = Submission("s", files)
    assert [read.text(name) for name in ("short.py", "long.py", "none.py")] == [files["short.py"], b"", b""]
