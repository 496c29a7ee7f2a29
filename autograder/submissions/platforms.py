"""The downloads of Gradescope, Canvas, Moodle and Brightspace, recognized by the names of their files and folders."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import yaml

from autograder.homework import rubric
from autograder.submissions import tree as trees
from autograder.submissions.submission import Student, Upload
from autograder.submissions.tree import Source, Tree, UnusableError, is_junk, is_litter


@dataclass(frozen=True)
class Platform:
    """How to recognize and read the download of a platform. `uploads` also returns notes for the instructor."""

    what: str
    part: re.Pattern[str]  # the names of its files and folders
    not_part: str  # the reason for a note
    is_download: Callable[[Tree], bool]
    uploads: Callable[[Tree], tuple[list[Upload], list[str]]]


# Gradescope's "Export Submissions": a folder for each submission, `submission_metadata.yml` with the names.
#
# The yml has Ruby's symbols as keys (`:submitters:`). It is read with every scalar as text and every tag as
# plain data, which is stricter than a safe load: nothing is constructed, and a name like `No` or an id like
# `007` is not converted.

METADATA = "submission_metadata.yml"
LARGEST = 2**28  # size limit of the yml, which has all results of a class
_EXPORT_PART = re.compile(r"submission_(\d{1,18}|metadata\.yml)")


def is_export_name(name: str) -> bool:
    """Whether a folder, or a zip without its suffix, has Gradescope's name for an export."""
    return re.fullmatch(r"assignment_\d+_export.*", name, re.DOTALL) is not None


def is_named_export(tree: Tree) -> bool:
    """Whether a folder has Gradescope's name, or that of its zip."""
    return is_export_name(tree.name) or (tree.zipped and tree.name == tree.place.stem)


def _is_export(tree: Tree) -> bool:
    """Whether this is an export: the yml next to one or more folders, all named by Gradescope."""
    return METADATA in tree.files and bool(tree.folders) and all(map(_EXPORT_PART.fullmatch, tree.folders))


def _export_uploads(tree: Tree) -> tuple[list[Upload], list[str]]:
    """One upload per folder, and one with a problem per submission without a folder."""
    problems = []
    counting: dict[str, Upload] = {}
    earlier: dict[str, Upload] = {}  # earlier submissions of the same students
    try:
        text = tree.files[METADATA].read(LARGEST)
        document = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        for name, value in document.items() if isinstance(document, dict) else ():
            submitters = _list(_get(value, "submitters"))
            parts = [[_plain(_get(who, key)) for key in ("name", "sid", "email")] for who in submitters]
            students = tuple(dict.fromkeys(Student(*own) for own in parts if any(own)))
            counting[str(name)] = Upload(str(name), None, students, created_at=_time(_get(value, "created_at")))
            for old in _list(_get(value, "history")):
                folder = f"submission_{_plain(_get(old, 'id'))}"
                earlier[folder] = Upload(folder, None, students, created_at=_time(_get(old, "created_at")))
    except (yaml.YAMLError, UnusableError) as error:
        problems = [f"{METADATA} cannot be read, so no names are known: {' '.join(str(error).split())[:200]}"]
    uploads = []
    for name in sorted(tree.folders, key=lambda name: (len(name), name)):  # submission_9 before submission_10
        known = counting.get(name) or earlier.get(name) or Upload(name, remark=f"not in {METADATA}")
        remark = known.remark or ("" if known.students else f"nobody is named in {METADATA}")
        uploads.append(replace(known, upload=tree.folders[name], remark=remark))
    unknown = [upload.key for upload in uploads if not upload.students and not problems]
    problems += [f"{key}: {METADATA} names no student; it was graded anyway" for key in unknown]
    problem = f"it is in {METADATA}, but the export has no folder for it"
    return uploads + [replace(u, problem=problem) for name, u in counting.items() if name not in tree.folders], problems


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _get(value: Any, key: str) -> Any:
    """Look up a key, as a Ruby symbol or plain."""
    return value.get(f":{key}", value.get(key)) if isinstance(value, dict) else None


def _plain(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in ("~", "null") else text


def _time(value: Any) -> str:
    """A time in UTC with fixed width, so that strings sort by time; "" for anything else."""
    text = re.sub(r"\s+(Z|UTC|[+-]\d\d:?\d\d)$", r"\1", _plain(value)).replace("UTC", "+00:00")
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        return ""


# Moodle's "Download all submissions": a folder for each student, or one flat folder, both named after their students.
#
# Names as Moodle makes them (moodle/moodle, mod/assign/locallib.php, download_submissions): `<name>_<participant id>_
# assignsubmission_file/`, in older versions with a `_` at the end, or the same in front of each file's name;
# `..._assignsubmission_onlinetext` for text instead of files.

_MOODLE_NAME = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL
)


def _is_moodle(tree: Tree) -> bool:
    """Whether most files and folders here have Moodle's names."""
    names = [name for name in (*tree.folders, *tree.files) if not name.startswith(".") and not is_litter(name)]
    return _are_most(_MOODLE_NAME, names)


def _moodle_uploads(tree: Tree) -> tuple[list[Upload], list[str]]:
    """One upload per student, who may have several folders or files."""
    uploads: list[Upload] = []
    parts: dict[str, list[Tree]] = {}  # by participant id
    for name in (*tree.folders, *tree.files):
        if match := _MOODLE_NAME.fullmatch(name):
            student, number = match["name"], match["id"]
            if number not in parts:
                parts[number] = []
                upload = trees.merged(name, tree.place, parts[number], tree.zipped)
                uploads.append(Upload(f"{student}_{number}", upload, (Student(student, moodle=number),)))
            file = {match["file"] or name: tree.files[name]} if name in tree.files else {}
            parts[number].append(trees.of_sources(name, tree.place, file) if file else tree.folders[name])
    return uploads, []


# Brightspace's "Download" of an assignment: a folder for each upload, `<user>-<upload> - <name> - Oct 10, 2025 1022 AM`, and an
# index.html. The time is local to the class and has no time zone.

_BRIGHTSPACE_NAME = re.compile(
    r"(?P<user>\d+)-(?P<upload>\d+) - (?P<name>.+) - (?P<day>\w+ \d{1,2}, \d{4}) (?P<hour>\d{1,2}):?(?P<minute>\d\d [AP]M)"
    r"|index\.html",
    re.DOTALL,
)


def _is_brightspace(tree: Tree) -> bool:
    """Whether most folders here have Brightspace's names, without code next to them."""
    names = [name for name in tree.folders if not name.startswith(".") and not is_junk(name)]
    code = any(name.lower().endswith((".py", ".zip")) for name in tree.files)
    return not code and _are_most(_BRIGHTSPACE_NAME, names)


def _brightspace_uploads(tree: Tree) -> tuple[list[Upload], list[str]]:
    """One upload per folder; times are in the time zone of the due date, or in UTC."""
    due = rubric.current().due
    uploads = []
    for name, upload in tree.folders.items():
        match = _BRIGHTSPACE_NAME.fullmatch(name)
        if match and match["user"]:
            key = f"{match['name']}_{match['user']}-{match['upload']}"
            try:
                local = datetime.strptime(f"{match['day']} {match['hour']}:{match['minute']}", "%b %d, %Y %I:%M %p")
                created_at = _time(local.replace(tzinfo=due.tzinfo if due else None).isoformat())
            except ValueError:
                created_at = ""
            student = Student(match["name"], brightspace=match["user"])
            uploads.append(Upload(key, upload, (student,), created_at=created_at))
    return uploads, []


# Canvas's bulk download: one flat folder, each file named after its student.
#
# Names as Canvas's ContentZipper makes them: `<name>_<LATE_>?<user id>_<file id>_<file name>`; in an anonymous
# assignment `<LATE_>?anon_<code>_<file id>_<file name>`; a text or a link instead of files ends in `_text.html`
# or `_link.html`. A backslash in a file name creates a folder, and so does unpacking a student's zip.

CANVAS_NAME = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+|\d+)_"
    r"(?:(?P<number>\d{1,18})_(?P<file>.*)|(?P<page>text\.html|link\.html))",
    re.DOTALL,
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,18})(?P<end>\.(?:py|zip))", re.IGNORECASE | re.DOTALL)


def _is_canvas(tree: Tree) -> bool:
    """Whether most files that could be work have Canvas's names; each other folder counts as one file."""
    work = [name for name in tree.files if name.lower().endswith((".py", ".zip", ".html")) and not is_litter(name)]
    strangers = [name for name in tree.folders if not CANVAS_NAME.fullmatch(name) and not is_junk(name)]
    has_module = any(name in tree.files for name in rubric.current().files)
    return not has_module and _are_most(CANVAS_NAME, work, len(strangers))


def canvas_uploads(tree: Tree) -> tuple[list[Upload], list[str]]:
    """One upload per student, with the newest version of each file."""
    versions: list[tuple[int, int, str, re.Match[str]]] = []
    files = {name: source for name, source in tree.files.items() if not is_junk(name)}
    for name, folder in tree.folders.items():
        files |= {f"{name}/{path}".removesuffix("/"): source for path, source in folder.walk() if not is_junk(name)}
    for match in filter(None, map(CANVAS_NAME.fullmatch, files)):
        file, again = (match["file"] or match["page"]).lstrip("/"), 0
        if repeated := _AGAIN.fullmatch(file):
            file, again = repeated["stem"] + repeated["end"], int(repeated["number"])
        versions.append((again, int(match["number"] or 0), file, match))
    own: dict[str, list[re.Match[str]]] = {}  # by user
    for *_, match in versions:
        own.setdefault(match["user"], []).append(match)
    newest: dict[str, dict[str, Source]] = {user: {} for user in own}
    for *_, file, match in sorted(versions, key=itemgetter(0, 1)):
        newest[match["user"]][file] = files[match.string]
    uploads = []
    for user, matches in own.items():
        name, number = matches[0]["name"], user if user.isdigit() else ""
        key = f"{name}_{user}" if name else user
        student = Student(name or user, sid="" if number else user, canvas=number)
        upload = trees.of_sources(key, tree.place, newest[user])
        uploads.append(Upload(key, upload, (student,), any(match["late"] for match in matches)))
    return uploads, []


def _are_most(pattern: re.Pattern[str], names: Sequence[str], others: int = 0) -> bool:
    return 2 * len([*filter(pattern.fullmatch, names)]) > len(names) + others


GRADESCOPE = Platform(
    "a Gradescope export", _EXPORT_PART, "not part of a Gradescope export", _is_export, _export_uploads
)
PLATFORMS = (
    Platform("a Moodle download", _MOODLE_NAME, "not named as Moodle names submissions", _is_moodle, _moodle_uploads),
    Platform(
        "a Brightspace download",
        _BRIGHTSPACE_NAME,
        "not named as Brightspace names submissions",
        _is_brightspace,
        _brightspace_uploads,
    ),
    Platform("a Canvas download", CANVAS_NAME, "not named as Canvas names files", _is_canvas, canvas_uploads),
)
