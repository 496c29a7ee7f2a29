"""The downloads of Gradescope, Canvas, Moodle and Brightspace, recognized by the names of their files and folders."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import yaml

from autograder.homework import rubric
from autograder.submissions.tree import Source, Tree, UnusableError, is_junk, is_litter
from autograder.submissions.uploads import Student, Upload

# Gradescope's "Export Submissions": a folder for each submission, `submission_metadata.yml` with the names.
#
# The yml has Ruby's symbols as keys (`:submitters:`). It is read with every scalar as text and every tag as
# plain data, which is stricter than a safe load: nothing is constructed, and a name like `No` or an id like
# `007` stays what it is.

METADATA = "submission_metadata.yml"
LARGEST = 2**28  # size limit of the yml, which has all results of a class
_FOLDER = re.compile(r"submission_\d{1,18}")
_WRAPPER = re.compile(r"assignment_\d+_export.*", re.DOTALL)
_MISSING = {"", "~", "null"}


def is_export_part(name: str) -> bool:
    """Whether a file or folder belongs to an export."""
    return name == METADATA or _FOLDER.fullmatch(name) is not None


def is_export_name(name: str) -> bool:
    """Whether a folder, or a zip without its suffix, has a name of Gradescope."""
    return _WRAPPER.fullmatch(name) is not None


def is_export(tree: Tree, inside: bool) -> bool:
    """Whether this is an export: the yml, and next to it only folders named by Gradescope, at least one.

    A student can submit such a yml, and it would claim other submissions. So it is believed only at the top of the given path, or
    (`inside`) in a folder there that has Gradescope's own name or that of its zip.
    """
    named = is_export_name(tree.name) or (tree.zipped and tree.name == tree.place.stem)
    if METADATA not in tree.files or (inside and not named):
        return False
    return bool(tree.folders) and all(map(_FOLDER.fullmatch, tree.folders))


def gradescope_entries(tree: Tree) -> tuple[list[Upload], list[str]]:
    """One upload per folder, one with a problem per submission without a folder; and notes."""
    problems = []
    counting: dict[str, Upload] = {}
    earlier: dict[str, Upload] = {}  # earlier submissions of the same students
    try:
        text = tree.files[METADATA].read(LARGEST)
        document = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        for name, value in document.items() if isinstance(document, dict) else ():
            students = _students(value)
            counting[str(name)] = Upload(str(name), None, students, created_at=_time(_get(value, "created_at")))
            for old in _list(_get(value, "history")):
                folder = f"submission_{_plain(_get(old, 'id'))}"
                earlier[folder] = Upload(folder, None, students, created_at=_time(_get(old, "created_at")))
    except (yaml.YAMLError, UnusableError) as error:
        problems = [f"{METADATA} cannot be read, so no names are known: {' '.join(str(error).split())[:200]}"]
    # submission_9 before submission_10
    folders = sorted(
        tree.folders, key=lambda name: [(int(n) if n.isdigit() else 0, n) for n in re.split(r"(\d+)", name)]
    )
    entries = [_with_upload(tree.folders[name], name, counting.get(name) or earlier.get(name)) for name in folders]
    unknown = [entry.key for entry in entries if not entry.students and not problems]
    problems += [f"{key}: {METADATA} names no student; it was graded anyway" for key in unknown]
    problem = f"it is in {METADATA}, but the export has no folder for it"
    lost = [replace(entry, problem=problem) for name, entry in counting.items() if name not in folders]
    return entries + lost, problems


def _with_upload(upload: Tree, name: str, entry: Upload | None) -> Upload:
    if entry is None:
        return Upload(name, upload, remark=f"not in {METADATA}")
    return replace(entry, upload=upload, remark="" if entry.students else f"nobody is named in {METADATA}")


# The yml


def _students(value: Any) -> tuple[Student, ...]:
    """The submitters; entries without any data are skipped."""
    parts = [[_plain(_get(who, key)) for key in ("name", "sid", "email")] for who in _list(_get(value, "submitters"))]
    return tuple(dict.fromkeys(Student(*own) for own in parts if any(own)))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _get(value: Any, key: str) -> Any:
    """A Ruby symbol or a plain key."""
    return value.get(f":{key}", value.get(key)) if isinstance(value, dict) else None


def _plain(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in _MISSING else text


def _time(value: Any) -> str:
    """A time in UTC with fixed width, so that texts sort by time; "" for anything else."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", _plain(value))
    text = re.sub(r"\s+(Z|UTC|[+-]\d\d:?\d\d)$", r"\1", text).replace("UTC", "+00:00")
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return ""
    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# Canvas's bulk download: one flat folder, each file named after its student.
#
# Names as Canvas's ContentZipper makes them: `<name>_<LATE_>?<user id>_<file id>_<file name>`; in an anonymous
# assignment `<LATE_>?anon_<code>_<file id>_<file name>`; a text or a link instead of files ends in `_text.html`
# or `_link.html`. A file name with a backslash makes a folder of it, and so does whoever unpacks a student's zip.

_CANVAS_NAME = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+|\d+)_"
    r"(?:(?P<number>\d{1,18})_(?P<file>.+)|(?P<page>text\.html|link\.html))",
    re.DOTALL,
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,18})(?P<end>\.(?:py|zip))", re.IGNORECASE | re.DOTALL)


def is_canvas_name(name: str) -> bool:
    return _CANVAS_NAME.fullmatch(name) is not None


def is_canvas(tree: Tree) -> bool:
    """Whether most files that could be work are named as Canvas names them, other folders counted as one each."""
    work = [name for name in tree.files if name.lower().endswith((".py", ".zip", ".html")) and not is_litter(name)]
    strangers = [name for name in tree.folders if not is_canvas_name(f"{name}/") and not is_junk(name)]
    return 2 * sum(map(is_canvas_name, work)) > len(work) + len(strangers)


def canvas_entries(files: Mapping[str, Source], place: Path) -> list[Upload]:
    """One upload per student, with the newest version of each file, by path."""
    users: dict[str, list[re.Match[str]]] = {}
    for path in files:
        match = _CANVAS_NAME.fullmatch(path)
        if match is not None:
            users.setdefault(match["user"], []).append(match)
    return [_canvas_entry(user, matches, files, place) for user, matches in users.items()]


def _canvas_entry(user: str, matches: Sequence[re.Match[str]], files: Mapping[str, Source], place: Path) -> Upload:
    versions: list[tuple[tuple[int, int], str, Source]] = []
    for match in matches:
        file, again = (match["file"] or match["page"]).lstrip("/"), 0
        repeated = _AGAIN.fullmatch(file)
        if repeated is not None:
            file, again = repeated["stem"] + repeated["end"], int(repeated["number"])
        versions.append(((again, int(match["number"] or 0)), file, files[match.string]))
    newest = {file: source for _, file, source in sorted(versions, key=lambda version: version[0])}
    name, number = matches[0]["name"], user if user.isdigit() else ""
    key = f"{name}_{user}" if name else user
    student = Student(name or user, sid="" if number else user, canvas=number)
    return Upload(key, Tree(key, place, newest), (student,), any(match["late"] for match in matches))


# Moodle's "Download all submissions": a folder for each student, or one flat folder, both named after their students.
#
# Names as Moodle makes them (moodle/moodle, mod/assign/locallib.php, download_submissions): `<name>_<participant id>_
# assignsubmission_file/`, in older versions with a `_` at the end, or the same in front of each file's name;
# `..._assignsubmission_onlinetext` for text instead of files.

_MOODLE_NAME = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL
)


def is_moodle(tree: Tree) -> bool:
    """Whether most entries here are named as Moodle names them."""
    names = [name for name in (*tree.folders, *tree.files) if not name.startswith(".") and not is_litter(name)]
    return 2 * sum(map(is_moodle_name, names)) > len(names)


def is_moodle_name(name: str) -> bool:
    return _MOODLE_NAME.fullmatch(name) is not None


def moodle_entries(tree: Tree) -> list[Upload]:
    """One upload per student."""
    names: dict[str, tuple[str, str]] = {}  # of the student, and of the first folder or file
    uploads: dict[str, dict[str, Source]] = {}
    parts: list[tuple[str, Mapping[str, Source]]] = [(name, folder.sources) for name, folder in tree.folders.items()]
    parts += [(name, {name: source}) for name, source in tree.files.items()]
    for name, sources in parts:
        match = _MOODLE_NAME.fullmatch(name)
        if match is None:
            continue
        names.setdefault(match["id"], (match["name"], name))
        file = match["file"] if name in sources else ""
        uploads.setdefault(match["id"], {}).update({file: sources[name]} if file else sources)
    entries = []
    for number, own in uploads.items():
        name, part = names[number]
        upload = Tree(part, tree.place, own, tree.zipped)
        entries.append(Upload(f"{name}_{number}", upload, (Student(name, moodle=number),)))
    return entries


# Brightspace's "Download" of an assignment: a folder for each upload, `<user>-<upload> - <name> - Oct 10, 2025 1022 AM`, and an
# index.html. The time is that of the class, without its zone.

_BRIGHTSPACE_NAME = re.compile(
    r"(?P<user>\d+)-(?P<upload>\d+) - (?P<name>.+) - "
    r"(?P<day>\w+ \d{1,2}, \d{4}) (?P<hour>\d{1,2}):?(?P<minute>\d\d) (?P<half>[AP]M)",
    re.DOTALL,
)


def is_brightspace(tree: Tree) -> bool:
    """Whether most of the folders here are named as Brightspace names them, without code next to them."""
    names = [name for name in tree.folders if not name.startswith(".") and not is_junk(name)]
    code = any(name.lower().endswith((".py", ".zip")) for name in tree.files)
    return not code and 2 * sum(map(is_brightspace_name, names)) > len(names)


def is_brightspace_name(name: str) -> bool:
    return name == "index.html" or _BRIGHTSPACE_NAME.fullmatch(name) is not None


def brightspace_entries(tree: Tree) -> list[Upload]:
    """One entry per upload; times are in the time zone of the due date, or in UTC."""
    due = rubric.current().due
    zone = due.tzinfo if due is not None and due.tzinfo else UTC
    entries = []
    for name, upload in tree.folders.items():
        match = _BRIGHTSPACE_NAME.fullmatch(name)
        if match is None:
            continue
        student = Student(match["name"], brightspace=match["user"])
        key = f"{match['name']}_{match['user']}-{match['upload']}"
        entries.append(Upload(key, upload, (student,), created_at=_brightspace_time(match, zone)))
    return entries


def _brightspace_time(match: re.Match[str], zone: tzinfo) -> str:
    try:
        text = f"{match['day']} {match['hour']}:{match['minute']} {match['half']}"
        return _time(datetime.strptime(text, "%b %d, %Y %I:%M %p").replace(tzinfo=zone).isoformat())
    except ValueError:
        return ""
