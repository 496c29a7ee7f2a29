"""The folders and files that Gradescope makes before it calls the autograder, in a temporary folder."""

import errno
import os
import shutil
import stat
import zipfile
from pathlib import Path

from autograder.faults import ArgumentsError

GRADESCOPE = "/autograder"  # where the tree stands on Gradescope
NEEDED = ("run_autograder", "setup.sh", "run_otter.py", "environment.yml")  # what Otter puts into its zip
UPLOAD_MB, UPLOAD_FILES = 100, 10_000  # a zip of more is not unpacked


def lay_out(tree: Path, zipped: Path, upload: Path) -> None:
    """Make the tree, with the zip for Gradescope in source/ and the upload in submission/.

    Raises ArgumentsError, or OSError for the machine.
    """
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text("{}")  # who handed in, and when: nothing here asks for it
    _unpack_autograder(zipped, tree / "source")
    _put(upload, tree / "submission")
    script = tree / "source" / "run_otter.py"
    text = script.read_text(encoding="utf-8")
    if f'"{GRADESCOPE}"' not in text:
        raise ArgumentsError(
            f"{zipped}: its run_otter.py does not grade in {GRADESCOPE}; was it made by `autograder build`?"
        )
    script.write_text(text.replace(f'"{GRADESCOPE}"', repr(str(tree))), encoding="utf-8")


def _unpack_autograder(path: Path, target: Path) -> None:
    advice = "give the autograder.zip that `autograder build` has written"
    if not zipfile.is_zipfile(path):
        raise ArgumentsError(f"{path}: {'this is no zip' if path.exists() else 'there is no such file'}; {advice}")
    with zipfile.ZipFile(path) as archive:
        missing = [name for name in NEEDED if name not in archive.namelist()]
        if missing:
            raise ArgumentsError(f"{path}: no zip for Gradescope, it has no {missing[0]}; {advice}")
        try:
            archive.extractall(target)
        except zipfile.BadZipFile as error:
            raise ArgumentsError(f"{path}: this zip is damaged ({error}); {advice}") from error


def _put(upload: Path, target: Path) -> None:
    """What arrives on Gradescope: files and folders, a zip unpacked if it can be; what is neither, as a link, stays out."""
    try:
        if upload.is_dir():
            shutil.copytree(upload, target, ignore=_neither_file_nor_folder, dirs_exist_ok=True)
        elif upload.suffix.lower() != ".zip" or not _unpacked(upload, target):
            shutil.copy(upload, target)
    except OSError as error:  # also shutil.Error
        if _is_full(error):
            raise
        why = "there is no such file or folder" if not upload.exists() else "it cannot be copied"
        raise ArgumentsError(f"{upload}: {why}") from error


def _neither_file_nor_folder(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


def _unpacked(path: Path, target: Path) -> bool:
    """Unpack a student's zip; False, and nothing there, where it is damaged, encrypted or far too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > UPLOAD_FILES or sum(entry.file_size for entry in entries) > UPLOAD_MB * 2**20:
                return False
            archive.extractall(target)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError) or _is_full(error):
            raise
        shutil.rmtree(target)
        target.mkdir()
        return False
    return True


def _is_full(error: Exception) -> bool:
    """Whether a disk is full: a fault of the machine, where everything else here is about the arguments."""
    full = (errno.ENOSPC, errno.EDQUOT)
    text = str(error) if isinstance(error, shutil.Error) else ""  # it keeps only the texts of what happened
    return (isinstance(error, OSError) and error.errno in full) or any(f"[Errno {number}]" in text for number in full)
