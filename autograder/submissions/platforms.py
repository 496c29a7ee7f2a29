"""The downloads of learning platforms, recognized by the names of their files and folders.

Each platform is a pattern that splits a name into the student, the attempt, and the file as it was uploaded. Sources:
moodle/moodle (mod/assign/locallib.php, download_submissions), instructure/canvas-lms (ContentZipper and
QuizSubmissionZipper), autolab/Autolab (app/models/submission.rb); for Brightspace and Blackboard, the public scripts that
read their downloads. Gradescope has a table of its own instead of names.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from os.path import commonpath, splitext
from typing import Any

import yaml

from autograder.exceptions import UnusableError
from autograder.submissions import tree as trees
from autograder.submissions.submission import ARCHIVES, Student, Upload
from autograder.submissions.text import few
from autograder.submissions.tree import Source, Tree, is_junk

Matches = Mapping[str, re.Match[str]]  # by the name of a file or folder
Read = tuple[list[Upload], list[str]]  # uploads, and notes for the instructor
STUDENT = {field.name for field in fields(Student)}
PAGES = {"index.html"}  # pages that a platform adds to a download
NAMED = 20  # files named in one note
LARGEST_CONFIG = 2**20  # bytes of a file of git

# These groups have a meaning; "" or a missing group is none:
#
# - a field of Student; `title` is what the platform writes before it
# - `version` (a number) and `time`: an attempt, which becomes an upload of its own
# - `late`: marked as late
# - `file` and `end`: the name of the file as it was uploaded; "" for a folder with everything
# - `again` and `number`: the order of several files with one name, of which the newest counts
_DAY = r"(?:(?! - ).)*\d{4}(?:(?! - ).)*"  # in any language: "Oct 10, 2025 1022 AM", "10 oct. 2025 1022"
PATTERNS = {
    # A folder for each student, in older versions with a `_` at the end, or one flat folder; onlinetext instead of files.
    "a Moodle download": r"(?P<name>.+?)_(?P<moodle>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?",
    # A folder for each upload, or one flat folder.
    "a Brightspace download": (
        rf"(?P<brightspace>\d+)-(?P<version>\d{{1,18}}) - (?P<name>.+?) - (?P<time>{_DAY})(?: - (?P<file>.+))?"
    ),
    # A receipt in text for each attempt, and its files.
    "a Blackboard download": (
        r"(?:(?P<title>.+)_)?(?P<login>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)"
    ),
    "an Autolab download": r"(?P<email>[^\s/]+?@[^\s_/]+)_(?P<version>\d{1,18})_(?P<file>.+)",
    "a Canvas quiz download": r"(?P<name>.*?)_?(?<!\d)(?P<canvas>\d{1,18})_question_\d+_(?P<number>\d{1,18})_(?P<file>.*)",
    # A number before the suffix if a file was handed in again; a code instead of the id in an anonymous assignment; a text or
    # link instead of files. A backslash in a file name becomes a folder, and so does an unpacked zip.
    "a Canvas download": (
        r"(?!.*\d_question_\d+_\d+_)(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?:(?P<sid>anon_[A-Za-z0-9]+)|(?P<canvas>\d+))_"
        r"(?:(?P<number>\d{1,18})_|(?=(?:text|link)\.html\Z))"
        r"(?P<file>.*?)(?:(?<!_)-(?P<again>\d{1,18})(?=\.(?i:py|zip)\Z))?(?P<end>\.\w+)?"
    ),
}
GRADESCOPE = "a Gradescope export"
GOOGLE = (
    r"(?P<name>.+?) - (?P<file>.+\.(?:py|ipynb|zip))"  # so common a form that two students and all files must have it
)


def named(tree: Tree, pattern: str) -> dict[str, re.Match[str]]:
    """Return the files and folders whose name has this form."""
    names = (name for name in (*tree.folders, *tree.files) if not is_junk(name))
    return {name: match for name in names if (match := re.fullmatch(pattern, name, re.DOTALL))}


def recognized(tree: Tree) -> dict[str, Matches]:
    """Return the platforms whose downloads are here, each with its files and folders: at least half of those that are left."""
    downloads = dict[str, Matches]()
    rest = {name for name in (*tree.folders, *tree.files) if not is_junk(name) and not name.startswith(".")}
    for what, pattern in PATTERNS.items():
        matches = {name: match for name, match in named(tree, pattern).items() if name in rest}
        unmatched = [name for name in rest - matches.keys() if name in tree.folders or is_work(name)]
        if matches and len(matches) >= len(unmatched):
            downloads[what] = matches
            rest -= matches.keys()
    matches = {name: match for name, match in named(tree, GOOGLE).items() if name in rest}
    is_whole = all(name in matches or not (name in tree.folders or is_work(name)) for name in rest)
    is_other = any(re.fullmatch(pattern, name, re.DOTALL) for pattern in PATTERNS.values() for name in matches)
    if is_whole and not is_other and len({match["name"] for match in matches.values()}) > 1:
        downloads["a Google Classroom folder"] = matches
    return downloads


def is_work(name: str) -> bool:
    """Return whether a file of this name is likely to have been handed in."""
    return splitext(name.lower())[1] in {".py", ".ipynb", ".zip", *ARCHIVES}


def uploads(what: str, tree: Tree, matches: Matches, due: datetime | None) -> Read:
    """Return one upload for each attempt of each student in a download, and notes on what does not count."""
    if what == GRADESCOPE:
        return _export_uploads(tree)
    attempts = defaultdict[tuple[Student, str, str, str], list[re.Match[str]]](list)
    names = defaultdict[str, set[tuple[str, str]]](set)  # by id
    for match in matches.values():
        groups = match.groupdict("")
        about = {name: value for name, value in groups.items() if name in STUDENT and value}
        student, title = Student(**{"name": next(iter(about.values()))} | about), groups.get("title", "")
        attempts[student, title, groups.get("version", ""), groups.get("time", "")].append(match)
        names[str(student.identities or student.name)].add((title, student.name))
    entries, older, undated = [], list[str](), list[str]()
    for (student, title, version, time), parts in attempts.items():
        ids = [value for _, value in student.identities[:1]]
        if len(names[str(student.identities or student.name)]) > 1:
            # The id may be misread, so these may be several people.
            student, ids = Student("_".join(filter(None, (title, student.name)))), []
        key = "_".join(dict.fromkeys(filter(None, (student.name, *ids, version or time))))
        upload, replaced = _merged(tree, key, parts)
        older += replaced
        late, at = any(match.groupdict().get("late") for match in parts), _local_time(time, due)
        undated += [key] if time and not at else []
        entries.append(Upload(key, upload, (student,), late, at, version=int(version or 0)))
    notes = [f"not graded, because a newer version of the file counts: {few(older, NAMED)}"] if older else []
    return entries, notes + ([f"the time of submission cannot be read: {few(undated, NAMED)}"] if undated else [])


def _merged(tree: Tree, key: str, parts: list[re.Match[str]]) -> tuple[Tree, list[str]]:
    """Return the files and folders of one upload under the names that the student gave them, and older versions of a file."""

    def order(match: re.Match[str]) -> list[int]:
        return [int(match.groupdict().get(group) or 0) for group in ("again", "number")]

    newest, folders, older = dict[str, str](), list[tuple[str, Tree]](), list[str]()
    for match in sorted(parts, key=order):
        name, file = match.string, "".join(match.groupdict("").get(group, "") for group in ("file", "end"))
        if name in tree.folders:
            folders.append((file, tree.folders[name]))
        elif file:  # else it is a receipt of the platform
            older += [newest[file]] if file in newest else []
            newest[file] = name

    def files() -> Iterator[tuple[str, Source]]:
        yield from ((file, tree.files[name]) for file, name in newest.items())
        for file, folder in folders:
            for path, source in folder.walk():
                if source.problem != "folder":  # it stands for a folder that is named like a file
                    yield f"{file}/{path}" if file and path else path, source

    if not newest and [file for file, _ in folders] == [""]:
        return replace(folders[0][1], name=key), older
    return trees.of_sources(key, tree.path, files, tree.zipped), older


def _local_time(text: str, due: datetime | None) -> str:
    """Return a time without a time zone, in that of the due date, as `_time` returns it; "" for an unknown format."""
    plain = re.sub(r"(\d{1,2}):?(\d\d)\s?([AP]M)$", r"\1:\2 \3", " ".join(text.split()))
    for form in ("%Y-%m-%d-%H-%M-%S", "%b %d, %Y %I:%M %p"):
        with suppress(ValueError):
            return _time(datetime.strptime(plain, form).replace(tzinfo=due.tzinfo if due else None).isoformat())
    return ""


# Gradescope's "Export Submissions": a folder for each submission, `submission_metadata.yml` with the names.
#
# The yml has Ruby's symbols as keys (`:submitters:`). It is read with every scalar as text and every tag as
# plain data, which is stricter than a safe load: nothing is constructed, and a name like `No` or an id like
# `007` is not converted.

METADATA = "submission_metadata.yml"
EXPORT_PART = r"submission_(?:(\d{1,18})|metadata\.yml)"
LARGEST = 2**28  # size limit of the yml, which has all results of a class


def is_export_name(name: str) -> bool:
    """Return whether a folder, or a zip without its suffix, has Gradescope's name for an export."""
    return re.fullmatch(r"assignment_\d+_export.*", name, re.DOTALL) is not None


def is_export(tree: Tree) -> bool:
    """Return whether this is an export: the yml next to one or more folders, all named by Gradescope."""
    return METADATA in tree.files and 0 < len(tree.folders) == sum(
        name in tree.folders for name in named(tree, EXPORT_PART)
    )


def _export_uploads(tree: Tree) -> Read:
    """Return one upload per folder, and one with a problem per submission without a folder."""
    problems = []
    counting, earlier = dict[str, Upload](), dict[str, Upload]()  # earlier: older submissions of the same students
    try:
        text = tree.files[METADATA].read(LARGEST)
        document = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        for name, value in document.items() if isinstance(document, dict) else ():
            people = [[_plain(who, key) for key in ("name", "sid", "email")] for who in _list(value, "submitters")]
            students = tuple(dict.fromkeys(Student(*person) for person in people if any(person)))
            counting[str(name)] = Upload(str(name), None, students, created_at=_time(_plain(value, "created_at")))
            for old in _list(value, "history"):
                folder = f"submission_{_plain(old, 'id')}"
                earlier[folder] = Upload(folder, None, students, created_at=_time(_plain(old, "created_at")))
    except (yaml.YAMLError, UnusableError) as error:
        problems = [f"{METADATA} cannot be read, so no names are known: {' '.join(str(error).split())[:200]}"]
    entries = []
    for name in sorted(tree.folders, key=lambda name: (len(name), name)):  # submission_9 before submission_10
        entry = counting.get(name) or earlier.get(name) or Upload(name, remark=f"not in {METADATA}")
        remark = entry.remark or ("" if entry.students else f"nobody is named in {METADATA}")
        match = re.fullmatch(EXPORT_PART, name)
        version = int((match and match[1]) or 0)
        entries.append(replace(entry, upload=tree.folders[name], remark=remark, version=version))
    if not problems:
        unknown = (entry.key for entry in entries if not entry.students)
        problems = [f"{key}: {METADATA} names no student; it was graded anyway" for key in unknown]
    problem = f"it is in {METADATA}, but the export has no folder for it"
    return entries + [replace(u, problem=problem) for name, u in counting.items() if name not in tree.folders], problems


def _get(value: Any, key: str) -> Any:
    """Look up a key, as a Ruby symbol or plain."""
    return value.get(f":{key}", value.get(key)) if isinstance(value, dict) else None


def _list(value: Any, key: str) -> list[Any]:
    items = _get(value, key)
    return items if isinstance(items, list) else [items] if isinstance(items, dict) else []


def _plain(value: Any, key: str) -> str:
    text = _get(value, key)
    return text.strip() if isinstance(text, str) and text.strip() not in ("~", "null") else ""


def _time(text: str) -> str:
    """Return a time in UTC with fixed width, so that strings sort by time; "" for anything else."""
    text = re.sub(r"\s+(Z|UTC|[+-]\d\d:?\d\d)$", r"\1", text).replace("UTC", "+00:00")
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError):
        return ""


# Clones of repositories, of GitHub Classroom or its successors. `.git` is written by the instructor's git; if each folder of a
# class has one, it says whose repository it is.

REMOTE = r"(?:.*://)?(?:.*@)?(?P<host>[^/@:]+)[:/].*?(?P<owner>[^/:]+)/(?P<repository>[^/]+?)(?:\.git)?/?"


def logins(units: Mapping[str, Tree]) -> dict[str, str]:
    """Return the account of each student of a class of clones; nothing unless each folder is a clone of another student's.

    The account is the owner of the repository, or if all have one owner, the end of the repository's name: `ada` of
    `course/homework-ada`.
    """
    clones = {name: one for name, unit in units.items() if (one := clone(unit))}
    accounts = {name: one["owner"] for name, one in clones.items()}
    if len({*accounts.values()}) < len(accounts):
        shared = len(commonpath([f"x/{one['repository'].replace('-', '/')}" for one in clones.values()])) - 1
        accounts = {name: one["repository"][shared:] for name, one in clones.items()}
    is_clear = 1 < len(accounts) == len(units) == len({*accounts.values()}) and all(accounts.values())
    return accounts if is_clear else {}


def clone(unit: Tree) -> dict[str, str]:
    """Return where a folder was cloned from: `host`, `owner` and `repository`; nothing for any other folder.

    Also the last `commit` and the `time` when it was cloned or updated, and `classroom` and `assignment` of
    `.classroom50.yaml`, if they are known.
    """
    config = re.search(r'^\[remote "origin"\]\n(?:\s.*\n)*?\s+url = (.+)$', _text(unit, ".git", "config"), re.M)
    url = re.fullmatch(REMOTE, config[1], re.DOTALL) if config else None
    if url is None:
        return {}
    about = url.groupdict("")
    with suppress(IndexError, ValueError, OverflowError):
        _, commit, *_, seconds, _ = _text(unit, ".git", "logs", "HEAD").splitlines()[-1].partition("\t")[0].split()
        about |= {"commit": commit, "time": f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}"}
    with suppress(yaml.YAMLError, KeyError, TypeError):
        document = yaml.load(_text(unit, ".classroom50.yaml"), Loader=yaml.BaseLoader)
        about |= {name: str(document[name]) for name in ("classroom", "assignment") if document[name]}
    return about


def _text(folder: Tree, *path: str) -> str:
    """Return the text of a file below a folder, "" if it cannot be read."""
    *above, name = path
    with suppress(UnusableError, OSError, KeyError):
        for step in above:
            folder = folder.folders[step]
        return folder.files[name].read(LARGEST_CONFIG).decode("utf-8", "replace")
    return ""
