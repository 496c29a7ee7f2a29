"""Folders, zips and files become a Submission in memory, within limits on their total; hostile uploads do no harm."""

import codecs
import io
import os
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.sandbox.process import Limits
from autograder.submissions.exports import listing
from autograder.submissions.submission import Note, load, read
from autograder.submissions.tree import of_folder
from autograder.tests.files import HOMEWORK, put, put_special, zipped
from autograder.tests.making import FIRST, SECOND, Files, as_nobody, limited

SMALL = Limits(upload_mb=1, upload_files=5)
POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices are POSIX")
PLACES = pytest.mark.parametrize("place", ["ada", "ada.zip"])


@PLACES
@pytest.mark.parametrize("inner", ["", "hw/", "a/b/hw/", ".hw/"])
def test_folder_and_zip_are_read_alike_from_the_folder_of_the_modules(tmp_path: Path, place: str, inner: str) -> None:
    files = {f"{inner}{FIRST}": "1", f"{inner}data/x.txt": "2", "README.md": "", "notes.txt": "3"}
    litter = {f"{inner}__MACOSX/x.py": "", f"{inner}._x.py": ""}
    found = read(put(tmp_path / place, files | litter), HOMEWORK.rubric)
    assert found.name == "ada"
    assert found.files == {FIRST: b"1", "data/x.txt": b"2"} | ({} if inner else {"notes.txt": b"3"})
    assert found.notes == ()


@PLACES
@pytest.mark.parametrize(
    ("first", "second"), [("layernorm/", "decoder/"), ("", "part2/"), ("part1/", "week 2/own/"), ("b/", "a/")]
)
def test_module_in_another_folder_is_read_with_the_files_next_to_it(
    tmp_path: Path, place: str, first: str, second: str
) -> None:
    files = {f"{first}{FIRST}": "1", f"{second}{SECOND}": "2", f"{second}helpers.py": "3"}
    found = read(put(tmp_path / place, files | {"x/data.txt": "", "README": ""}), HOMEWORK.rubric)
    assert {FIRST: b"1", SECOND: b"2", "helpers.py": b"3"}.items() <= found.files.items()
    assert found.notes == ()


def patched(data: bytes, local: int, central: int, new: bytes) -> bytes:
    """A zip of one member with new bytes at these offsets of its local and central headers."""
    for signature, offset in ((b"PK\3\4", local), (b"PK\1\2", central)):
        at = data.index(signature) + offset
        data = data[:at] + new + data[at + len(new) :]
    return data


def member(mode: int, method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo(FIRST)
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd", method)
    return stream.getvalue()


DONE = b"def layer_norm(x):\n    return x - x.mean()\n"
THIRD = zipped({"third.py": "3"})
SECOND_ZIP = zipped({f"hw/{SECOND}": "2", "notes.txt": "inner", "three.zip": THIRD})
DAMAGED = zipped({FIRST: "1", "in.zip": b"marked" + THIRD}).replace(b"marked", b"harmed")
ZOE = zipped({"Zoë.py": ""})
LARGER_THAN_DECLARED = patched(zipped({FIRST: bytes(range(256)) * 40}, zipfile.ZIP_DEFLATED), 22, 24, b"\5\0\0\0")
SMALLER_THAN_DECLARED = patched(zipped({FIRST: "1"}, zipfile.ZIP_DEFLATED), 22, 24, b"\5\0\0\0")


@pytest.mark.parametrize(
    ("files", "read_files", "notes"),
    [
        ({f"a/{FIRST}": "1", "a/helpers.py": "own", f"b/{SECOND}": "2", "b/helpers.py": "other"},
         {FIRST: b"1", SECOND: b"2", "helpers.py": b"own", f"b/{SECOND}": b"2", "b/helpers.py": b"other"}, []),
        ({f"v1/{FIRST}": DONE, f"v2/{FIRST}": DONE + b"# new\n", f"v3/{FIRST}": DONE},
         {FIRST: DONE, f"v2/{FIRST}": DONE + b"# new\n", f"v3/{FIRST}": DONE},
         [Note("second", f"v2/{FIRST}", target=FIRST)]),
        ({"a.zip": zipped({FIRST: "1", "x.py": "file"}), "b.zip": zipped({SECOND: "2", "x.py/y.py": "below"})},
         {FIRST: b"1", SECOND: b"2", "x.py": b"file"}, [Note("folder", "x.py")]),
        ({"up.zip": zipped({"a.txt": "1", "A.txt/b.py": "2", FIRST: "3"})}, {"a.txt": b"1", FIRST: b"3"}, []),
        ({FIRST: "loose", "hw.zip": zipped({f"hw/{FIRST}": "zipped", f"hw/{SECOND}": "zipped"})},
         {FIRST: b"loose", SECOND: b"zipped"}, []),
        ({"week 3/one.zip": zipped({FIRST: "1", "notes.txt": "outer", "sent/two.zip": SECOND_ZIP}), "README.md": ""},
         {FIRST: b"1", SECOND: b"2", "notes.txt": b"outer"}, [Note("zip_deep", "three.zip")]),
        ({"hw.rar": "data", FIRST: "1"}, {FIRST: b"1"}, [Note("archive", "hw.rar")]),
        ({"week 1/hw.tar.gz": "data", FIRST: "1"}, {FIRST: b"1"}, [Note("archive", "week 1/hw.tar.gz")]),
        ({"a/bad.zip": b"no zip", FIRST: "1"}, {FIRST: b"1"}, [Note("no_zip", "a/bad.zip")]),
        *(({"up.zip": data}, {}, [Note("no_zip")]) for data in (b"", b"no zip", b"PK\5\6", THIRD[:-30])),
        ({"b/damaged.zip": DAMAGED}, {FIRST: b"1"}, [Note("damaged", "in.zip")]),
        *(({"up.zip": data}, {}, [Note("damaged", FIRST)]) for data in (LARGER_THAN_DECLARED, SMALLER_THAN_DECLARED)),
        ({"up.zip": zipped({FIRST: "1", "a.ipynb": "marked"}).replace(b"marked", b"harmed")}, {FIRST: b"1"}, []),
        ({"up.zip": patched(zipped({FIRST: "1"}), 6, 8, b"\1")}, {}, [Note("encrypted", FIRST)]),
        *(({"up.zip": zipped({name: "", FIRST: "1"})}, {FIRST: b"1"}, [Note(kind, name.removesuffix("/"))])
          for name, kind in (("C:evil.py", "outside"), ("a\x1bb.py", "name"), ("n" * 240 + ".py", "name"),
                             ("../x.py", "outside"), ("/etc/x.py", "outside"), ("x.py/", "folder"))),
        ({"up.zip": zipped({FIRST: "1", "data\\x.txt": "2", "x\\..\\..\\y.py": "3"})},
         {FIRST: b"1", "data/x.txt": b"2"}, [Note("outside", "x/../../y.py")]),
        ({"up.zip": zipped({f"./{FIRST}": "1", "data//x.txt": "2"})}, {FIRST: b"1", "data/x.txt": b"2"}, []),
        ({"up.zip": zipped({"d/" * 1100 + "a.py": "", FIRST: "1"})}, {FIRST: b"1"}, [Note("deep", "/".join("d" * 21))]),
        # A name with the UTF-8 flag, without it, and in the code page of old zip programs:
        *(({"up.zip": data}, {"Zoë.py": b""}, [])
          for data in (ZOE, patched(ZOE, 7, 9, b"\0"), zipped({"Zo?.py": ""}).replace(b"Zo?.py", b"Zo\x89.py"))),
        *(({"up.zip": member(mode, method)}, {} if kind else {FIRST: b"/etc/passwd"}, [Note(kind, FIRST)] * bool(kind))
          for mode, method, kind in ((0o120777, zipfile.ZIP_STORED, "link"), (0o010644, zipfile.ZIP_STORED, "link"),
                                     (0o100644, zipfile.ZIP_STORED, ""), (0, zipfile.ZIP_DEFLATED, ""),
                                     (0, zipfile.ZIP_BZIP2, "compression"))),
    ],
)  # fmt: skip
def test_files_and_notes_of_an_upload(
    tmp_path: Path, files: Files, read_files: dict[str, bytes], notes: list[Note]
) -> None:
    found = read(put(tmp_path, files), HOMEWORK.rubric)
    assert (found.files, list(found.notes)) == (read_files, notes)


def test_last_of_two_members_with_the_same_name_counts(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        archive.writestr(FIRST, "old")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(FIRST, "new")
    assert read(tmp_path, HOMEWORK.rubric).files == {FIRST: b"new"}


def test_no_copy_is_used_if_two_folders_have_different_ones(tmp_path: Path) -> None:
    found = read(put(tmp_path, {FIRST: "1", f"a/{SECOND}": "2", f"b/{SECOND}": "3"}), HOMEWORK.rubric)
    assert SECOND not in found.files
    assert str(found.missing(SECOND.removesuffix(".py"), HOMEWORK.rubric)) == (
        f"There is no file {SECOND}, but there is `a/{SECOND}`: move it to your other files and upload again."
    )


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf\n"])
def test_blank_file_counts_as_missing_with_its_own_note(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, {FIRST: content, SECOND: "1", "helpers/__init__.py": ""})
    found = read(tmp_path, HOMEWORK.rubric)
    assert found.files == {SECOND: b"1", "helpers/__init__.py": b""}
    assert found.missing(FIRST[:-3], HOMEWORK.rubric) == found.notes[0] == Note("blank", FIRST)


# Links, pipes, devices and very deep folders


@POSIX
@pytest.mark.parametrize("name", ["up.zip", FIRST, "hw"])
@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder"])
def test_special_files_are_not_read(tmp_path: Path, name: str, kind: str) -> None:
    work: Files = {FIRST: "right", "up.zip": zipped({FIRST: "right"}), f"hw/{FIRST}": "right"}
    put(tmp_path, {f"neighbour/{path}": content for path, content in work.items()} | {"up/x.txt": ""})
    put_special(tmp_path / "up" / name, kind, tmp_path / "neighbour" / name)
    found = read(tmp_path / "up", HOMEWORK.rubric)
    assert found.files == {"x.txt": b""}
    assert found.notes == (() if name == "hw" else (Note("folder" if kind == "folder" else "link", name),))


@POSIX
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_file_replaced_by_a_link_or_pipe_after_listing_is_not_read(tmp_path: Path, kind: str) -> None:
    place = put(tmp_path / "ada", {FIRST: "own", SECOND: "own"})
    (entry,) = listing([place], HOMEWORK.rubric).entries
    (place / FIRST).unlink()
    put_special(place / FIRST, kind, put(tmp_path, {"neighbour.py": "right"}) / "neighbour.py")
    found = load(entry, HOMEWORK.rubric)
    assert (found.files, found.notes) == ({SECOND: b"own"}, (Note("link", FIRST),))


@POSIX
def test_hard_link_is_a_grader_error_for_its_upload_only(tmp_path: Path) -> None:
    put(tmp_path, {"solution.py": "right", f"class/ada/{FIRST}": "own", f"class/bela/{SECOND}": "own"})
    os.link(tmp_path / "solution.py", tmp_path / "class" / "bela" / FIRST)
    ada, bela = listing([tmp_path / "class"], HOMEWORK.rubric).entries
    assert load(ada, HOMEWORK.rubric).files == {FIRST: b"own"}
    with pytest.raises(CommandError, match=f"bela: cannot be read .{FIRST} is a hard link"):
        load(bela, HOMEWORK.rubric)


@POSIX
def test_upload_may_be_a_link_to_a_file_but_not_a_pipe_or_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FIRST)
    assert read(tmp_path / FIRST, HOMEWORK.rubric).notes == (Note("link", FIRST),)
    assert read(Path("/dev/zero"), HOMEWORK.rubric).files == {}
    (tmp_path / SECOND).symlink_to(put(tmp_path, {"latest.py": "1"}) / "latest.py")
    assert read(tmp_path / SECOND, HOMEWORK.rubric).files == {SECOND: b"1"}


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder that `rm` removes, since it may be too deep for Python's own functions."""
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path)], check=True)


@POSIX
@pytest.mark.parametrize(("name", "depth", "kinds"), [("d", 1100, ["deep"]), ("d" * 250, 22, [])])
def test_deep_folders_are_not_entered(deep: Path, name: str, depth: int, kinds: list[str]) -> None:
    """The second path exceeds the system's path length before it exceeds the depth limit."""
    descriptor = os.open(put(deep, {FIRST: "1"}), os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    found = read(deep, HOMEWORK.rubric)
    assert (found.files, [note.kind for note in found.refused]) == ({FIRST: b"1"}, kinds)


# Limits


HALF = zipped({f"{number}.txt": " " * 400_000 for number in range(2)})
HARMED = zipped({f"{number}.txt": "marked" + " " * 400_000 for number in range(4)}).replace(b"marked", b"harmed")


@pytest.mark.parametrize(("place", "files", "number", "notes"), [
    ("up", {"a.py": "#" * 400_000, "one.zip": HALF, "two.zip": HALF}, 2, {("large", 0): 3}),  # the total of all zips and files
    ("up", {f"{name}.zip": bytes(900_000) for name in "abcd"}, 0, {("no_zip", 0): 2, ("zip_large", 2): 2}),
    ("up.zip", {f"{number}.zip": zipped({f"{number}.md": ""}) for number in range(9)}, 0, {("zip_many", 5): 5}),
    # Damaged members count, otherwise ten thousand of them would all be decompressed.
    ("up", {"up.zip": HARMED}, 0, {("damaged", 0): 2, ("large", 0): 2}),
    # The last of each that is allowed, and one more:
    ("up", {"a.py": "#" * 2**19, "b.py": "#" * (2**19 + 1), "c.py": "#" * 2**19}, 2, {("large", 0): 1}),
    ("up", {"a.py": "#" * 2**19, "b.py": "#" * 2**19, "c.py": "#"}, 2, {("large", 0): 1}),
    ("up", {f"{number}.txt": "" for number in range(5)}, 5, {}),
    ("up", {f"{number:02d}.pdf": "" for number in range(99)} | {"z.py": "1"}, 1, {}),
    ("up", {f"{number:03d}.pdf": "" for number in range(100)} | {"z.py": "1"}, 0, {("many", 5): 1}),
    ("up", {f"{number}.zip": zipped({f"{number}.txt": "1"}) for number in range(5)}, 5, {}),
    ("up", {f"{number}.zip": zipped({"1.txt": "1"}) for number in range(6)}, 1, {("zip_many", 5): 1}),
    ("up", {f"{number}.txt": "" for number in range(9)}, 5, {("many", 5): 1}),
    ("up", {f"{number:04d}.pdf": "" for number in range(150)} | {"z.py": ""}, 0, {("many", 5): 1}),  # names are not looked at
])  # fmt: skip
def test_limits_apply_to_files_names_and_zips(
    tmp_path: Path, place: str, files: Files, number: int, notes: dict[tuple[str, int], int]
) -> None:
    found = read(put(tmp_path / place, files), limited(SMALL))
    assert (len(found.files), Counter((note.kind, note.number) for note in found.notes)) == (number, notes)
    assert sum(map(len, found.files.values())) <= SMALL.upload_mb * 2**20


def test_zip_bomb_is_rejected_by_its_declared_size(tmp_path: Path) -> None:
    put(tmp_path, {"up.zip": zipped({"bomb.py": bytes(60 * 2**20), FIRST: "1"}, zipfile.ZIP_DEFLATED)})
    found = read(tmp_path / "up.zip", HOMEWORK.rubric)
    assert (found.files, found.notes) == ({FIRST: b"1"}, (Note("large", "bomb.py", number=60),))


def test_zip_with_too_many_members_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up = put(tmp_path / "up.zip", {f"{number}.pdf": "" for number in range(101)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert read(up, limited(SMALL)).notes == (Note("zip_many", "up.zip", 5),)


@pytest.mark.parametrize(("most", "files"), [(5, 3), (4, 2), (0, 0)])
def test_walk_ends_after_a_number_of_names(tmp_path: Path, most: int, files: int) -> None:
    tree = of_folder(put(tmp_path, {"a": "", "b": "", "c/d": "", ".git/x": ""}))
    found = [(path, source.problem) for path, source in tree.walk(most)]
    assert found == [("a", ""), ("b", ""), ("c/d", "")][:files] + [("", "many")] * (most < 5)


# Files that the grader cannot read


@pytest.mark.parametrize("closed", [FIRST, "data", "up.zip", "a.ipynb"])
def test_unreadable_file_or_folder_is_an_error(closed: str) -> None:
    """A notebook would not be graded, so it need not be readable."""
    with as_nobody() as folder:
        put(folder, {FIRST: "1", "data/x.txt": "", "up.zip": zipped({SECOND: "2"}), "a.ipynb": "{}"})
        (folder / closed).chmod(0)
        if closed == "a.ipynb":
            assert read(folder, HOMEWORK.rubric).refused == (Note("beside", closed),)
        else:
            with pytest.raises(CommandError, match=r"^/.*: cannot be read \(Permission denied\)$"):
                read(folder, HOMEWORK.rubric)
        with (
            pytest.raises(ArgumentsError, match=f"^{folder}/up.zip: Permission")
            if closed == "up.zip"
            else nullcontext()
        ):
            assert len(listing([folder / "up.zip", folder / FIRST], HOMEWORK.rubric).entries) == 2
        (folder / closed).chmod(0o700)


def test_missing_or_vanished_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=f"^{tmp_path}/nowhere: there is no such file or folder$"):
        read(tmp_path / "nowhere", HOMEWORK.rubric)
    put(tmp_path, {FIRST: "1"})
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(FileNotFoundError(2, "gone")))
    with pytest.raises(CommandError, match="gone"):
        read(tmp_path, HOMEWORK.rubric)


@PLACES
def test_file_cannot_choose_its_codec(tmp_path: Path, place: str) -> None:
    """Python's punycode codec takes quadratic time. This test records every codec that a file requests."""
    asked: list[str] = []
    watched = asked.append
    codecs.register(watched)
    try:
        hostile = ("# coding: trap\n# " + "b" * 45_000 + chr(0x10000) * 44_900).encode("punycode")
        files: Files = {FIRST: b"# coding: latin-1\ndef layer_norm(x):\n    'caf\xe9'\n", SECOND: hostile}
        files |= {f"{FIRST[:-3]} (1).py": hostile, "helpers.py": hostile, f"{SECOND}.txt": hostile}
        found = read(put(tmp_path / place, files), HOMEWORK.rubric).accepting_names(HOMEWORK.rubric)
    finally:
        codecs.unregister(watched)
    assert asked == [] and set(found.files) == {FIRST}
    assert {note.kind for note in found.notes} == {"encoding"} and len(found.notes) == 4
    assert str(found.missing(SECOND[:-3], HOMEWORK.rubric)) == (
        f"`{SECOND}` was not used: it declares the encoding trap. The grader reads UTF-8 and Latin-1: "
        "delete that line and save the file as UTF-8."
    )
