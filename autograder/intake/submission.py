"""What a student handed in, as data: files, and a note for each thing that could not be used."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from autograder.faults import CommandError
from autograder.intake.text import shown
from autograder.values.names import mend, resembles

MOST_BYTES = 100_000  # of a file that the grader itself reads; Python's tree of a text takes up to 500 times as much
NOTES_SHOWN = 20  # notes on one upload that a student is shown

_TEXTS: dict[str, Callable[["Note"], str]] = {
    "outside": lambda note: f"{note.shown} was not used: its path leads out of the upload.",
    "name": lambda note: f"{note.shown} was not used: its name is too long or has characters that cannot be printed.",
    "encrypted": lambda note: f"{note.shown} was not used: it is encrypted.",
    "compression": lambda note: f"{note.shown} was not used: it is compressed in an unusual way.",
    "folder": lambda note: f"{note.shown} was not used: it is a folder, not a file.",
    "link": lambda note: f"{note.shown} was not used: it is a link or a device, not a file.",
    "large": lambda note: f"{note.shown} was not used: it is too large ({note.number} MB).",
    "damaged": lambda note: f"{note.shown} was not used: it is damaged.",
    "deep": lambda note: f"{note.shown} was not used: it lies in too many folders.",
    "many": lambda note: (
        f"The upload has too many files; at most {note.number} are graded. Upload only your .py files."
    ),
    "zip_large": lambda note: f"The zip is larger than {note.number} MB. Upload only your .py files.",
    "zip_many": lambda note: (
        f"The zip holds too many files; at most {note.number} are graded. Upload only your .py files."
    ),
    "zip_overlaps": lambda note: (
        "The upload is a zip whose files overlap, as no program makes them. Upload the .py files themselves."
    ),
    "no_zip": lambda note: (
        "The upload is not a zip file that can be opened. Make it again, or upload the .py files themselves."
    ),
    "absent": lambda note: f"There is no file {note.shown} in the upload. Upload it under exactly this name.",
    "accepted": lambda note: f"There was no file {note.wanted}; {note.shown} was graded as {note.wanted}.",
    "notebook": lambda note: (
        f"There is no .py file in the upload, only {note.shown}. Notebooks are not graded and never run: put "
        f"{note.wanted or 'your functions'} into the .py files, and upload these."
    ),
    "misnamed": lambda note: (
        f"There is no file {note.wanted}, but {note.shown}: {mend(note.path, note.wanted)} and upload again."
    ),
}


class UnreadableError(CommandError):
    """The grader cannot read a submission: its own fault or the machine's, never a student's."""


@dataclass(frozen=True)
class Note:
    """Something about an upload that its student must know. `path` is a name that the student chose, "" for the whole.

    `number` is a size in MB or a count, `wanted` the name that a file should have, or what a notebook defines.
    """

    kind: str
    path: str = ""
    number: int = 0
    wanted: str = ""

    @property
    def shown(self) -> str:
        return shown(self.path)

    def __str__(self) -> str:
        """The sentence for the student."""
        return _TEXTS[self.kind](self)


@dataclass(frozen=True)
class Submission:
    """Files by relative path, flattened to the folder that holds the modules, and what could not be used."""

    name: str
    files: dict[str, bytes]
    refused: tuple[Note, ...] = ()

    def text(self, name: str) -> bytes:
        """A file that the grader itself reads; b"" for none, and for one so long that reading it takes seconds and gigabytes."""
        content = self.files.get(name, b"")
        return content if len(content) <= MOST_BYTES else b""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a student is shown of `refused`."""
        return self.refused[:NOTES_SHOWN]

    @cached_property
    def _by_name(self) -> dict[str, Note]:
        return {PurePosixPath(note.path).name: note for note in reversed(self.refused) if note.path}

    def missing(self, module: str, known: Collection[str]) -> Note | None:
        """Why the file of a module is not there, as far as one can tell; None if it is. `known`: names with a use."""
        wanted = f"{module}.py"
        if wanted in self.files:
            return None
        if wanted in self._by_name:
            return self._by_name[wanted]
        close = self._close(module, known)
        return Note("misnamed", close[0], wanted=wanted) if close else Note("absent", wanted)

    def _close(self, module: str, known: Collection[str]) -> list[str]:
        """The files that are likely meant to be a module."""
        return [name for name in self.files if resembles(name, module) and name not in known]

    def accepting_names(self, modules: Collection[str]) -> "Submission":
        """The same with each missing module taken from the one file that is likely meant to be it, and a note that says so.

        Nothing is taken where two different files could be meant.
        """
        files, notes = dict(self.files), []
        known = {f"{module}.py" for module in modules}
        for module in modules:
            close = [name for name in self._close(module, known) if is_likely_code(name)]
            if f"{module}.py" not in files and len({files[name] for name in close}) == 1:
                files[f"{module}.py"] = files[close[0]]
                notes.append(Note("accepted", close[0], wanted=f"{module}.py"))
        return replace(self, files=files, refused=(*notes, *self.refused))

    def trouble(self, module: str, known: Collection[str]) -> str:
        """The sentence of `missing`, "" if the file is there."""
        return str(self.missing(module, known) or "")


def is_likely_code(name: str) -> bool:
    """Whether a file may hold a module whose name is only nearly right; `test_layernorm.py` are the public checks."""
    last = PurePosixPath(name).name.lower()
    return last.endswith((".py", ".txt")) and not last.startswith("test_")
