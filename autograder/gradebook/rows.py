"""A class as rows, one for each student: what they handed in, what it earned, and what was made of that.

What an instructor adds is five steps, in this order: who is who, with which due date (the roster), which of several uploads
counts (the rubric's `uploads`), which criteria (`counts`), what lateness costs (`due` and `late`), and last what was set by
hand, so that nothing is taken off from points that a person has decided.
"""

import codecs
import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

from autograder.exceptions import ArgumentsError
from autograder.feedback.text import number
from autograder.gradebook.store import Grade, Outcome
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.entries import Entry, Identity, Student

# The csv files that an instructor gives: a roster of people, and points set by hand.
#
# As Excel writes them, also in Europe: separated by commas, semicolons or tabs, in UTF-8, UTF-16 or Latin-1. A file that cannot
# be used is refused with the file and every bad line.

LARGEST = 2**24  # bytes of a table that is read
SEPARATORS = ",;\t"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# The headers by which Gradescope's roster, Canvas's gradebook, Moodle's tables and hand-made ones name the same thing.
NAME = ("name", "student", "full name")
SID = ("sid", "sis user id", "student id", "id number")
EMAIL = ("email", "sis login id", "login id", "email address")
CANVAS = ("id",)
MOODLE = re.compile(r"\D+(\d+)")  # in a grading worksheet's column "Identifier", as "Participant 700112"
SECTION = ("section", "sections", "section name", "groups")
YES, NO = {"x", "yes", "y", "true", "1", "ex", "excused"}, {"", "no", "n", "false", "0"}
TIME = "2026-11-27T23:59+01:00"  # an example
LAST_MOMENT = time(23, 59, 59, 999_999)  # of a due date without a time

COLUMNS, WHO = ("student", "criterion", "points", "reason"), ("author", "date")
PEOPLE = """a csv such as
  name,sid,email,section
  Ada Abel,3000001,ada@example.org,Monday"""
BY_HAND = """a csv such as
  student,criterion,points,reason
  ada@example.org,total,90,oral exam"""
TOTAL, EXCUSED = "total", "ex"
NOTHING = "nothing to grade in it"
ERROR = "Grader error"  # the status of a submission without a grade
NAMED = 3  # people that a message names
Made = TypeVar("Made")


def _lines(path: Path, example: str, needed: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its place ("file.csv:7"), cells by header in lower case, blank lines left out.

    Raises ArgumentsError, with an example, for a file that is no table or lacks a column of `needed`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST)
    except OSError as error:
        raise ArgumentsError(f"{path}: cannot be read ({error.strerror or error}); give {example}") from None
    if b"\0" in data and not data.startswith(UTF_16):
        raise ArgumentsError(f"{path}: is not a CSV file; save an Excel workbook as CSV (UTF-8). Give {example}")
    try:
        text = _decoded(data)
        separator = max(SEPARATORS, key=text.partition("\n")[0].count)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ArgumentsError(f"{path}: cannot be read ({error}); save it in UTF-8, as {example}") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    absent = [name for name in needed if name not in header]
    if absent:
        raise ArgumentsError(f"{path}:1: there is no column {absent[0]!r}; give {example}")
    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            yield f"{path}:{line}", {name: cell.strip() for name, cell in zip(header, row, strict=False)}


def _decoded(data: bytes) -> str:
    if data.startswith(UTF_16):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")  # Windows' form of Latin-1, in which Excel writes in Western Europe


def _made(
    lines: Iterable[tuple[str, dict[str, str]]], make: Callable[[str, dict[str, str]], Made | None]
) -> tuple[list[Made], list[str]]:
    """The results of `make` for all lines, without None, and a sentence for each line that it refuses with a ValueError."""
    values, problems = [], []
    for place, cells in lines:
        try:
            value = make(place, cells)
            values += [] if value is None else [value]
        except ValueError as error:
            problems.append(f"{place}: {error}")
    return values, problems


def refuse(problems: Iterable[str]) -> None:
    """Raise ArgumentsError with all of them, if there are any."""
    if text := "\n".join(problems):
        raise ArgumentsError(text)


# The roster


@dataclass(frozen=True)
class Person:
    """A student of the roster, from one line or several (`place`). `due` is this student's own due date, `extension` what is added
    to that of the class; `excused` is None where nothing is said.
    """

    student: Student
    section: str
    due: datetime | None = None
    extension: timedelta = timedelta(0)
    excused: bool | None = None
    place: str = ""


def roster(path: Path, rubric: Rubric) -> list[Person]:
    """Students of a roster; lines for other roles, and Canvas's line "Points Possible", are left out.

    Raises ArgumentsError for a file without anything to know a student by, for dates that cannot be used, and for two lines of one
    student that contradict one another.
    """
    people, problems = _made(_lines(path, PEOPLE), lambda place, cells: _person(place, cells, rubric))
    merged = _merged(people, problems)
    refuse(problems)
    if not merged:
        columns = ", ".join((*SID, *EMAIL, *CANVAS, "identifier"))
        raise ArgumentsError(
            f"{path}: no student has an email address or ID; known column names: {columns}. Give {PEOPLE}"
        )
    return merged


def _person(place: str, cells: Mapping[str, str], rubric: Rubric) -> Person | None:
    """Raises ValueError."""
    role = cells.get("role", "student").lower()
    if role not in ("student", "") or not _student(cells).identities:
        return None
    due, extension = _due(cells, rubric)
    excused = cells.get("excused", "").lower()
    if excused not in YES | NO:
        raise ValueError(f"excused is {excused!r}; write yes or no")
    return Person(_student(cells), _first(cells, SECTION), due, extension, excused in YES if excused else None, place)


def _merged(people: Iterable[Person], problems: list[str]) -> list[Person]:
    """Each student once; lines of one student that contradict one another are added to the problems."""
    by_identity: dict[Identity, Person] = {}
    for person in people:
        for earlier in dict.fromkeys(by_identity[key] for key in person.student.identities if key in by_identity):
            try:
                person = _joined(earlier, person)
            except ValueError as error:
                problems.append(f"{person.place}: the same student as in {earlier.place}, but {error}")
        by_identity |= dict.fromkeys(person.student.identities, person)
    return list(dict.fromkeys(by_identity.values()))


def _joined(first: Person, second: Person) -> Person:
    """What two lines say of one student. Raises ValueError where they contradict one another."""
    if (first.due and second.extension) or (first.extension and second.due):
        raise ValueError("one has due, the other extension_hours")
    parts = [_either(f.name, getattr(first.student, f.name), getattr(second.student, f.name)) for f in fields(Student)]
    sections = dict.fromkeys(part for person in (first, second) for part in person.section.split(", ") if part)
    return Person(
        Student(*parts),
        ", ".join(sections),
        _either("due", first.due, second.due),
        _either("extension_hours", first.extension, second.extension),
        _either("excused", first.excused, second.excused),
        f"{first.place}, {second.place}",
    )


def _either(name: str, first: Any, second: Any) -> Any:
    """The value that is given. Raises ValueError for two that differ by more than capitals."""
    empty = (None, "", timedelta(0))
    if first not in empty and second not in empty and first != second and str(first).lower() != str(second).lower():
        raise ValueError(f"{name} is {_as_written(second)} here and {_as_written(first)} there")
    return second if first in empty else first


def _as_written(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value / timedelta(hours=1):g}"
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str({True: "yes", False: "no"}.get(value, value))


def _due(cells: Mapping[str, str], rubric: Rubric) -> tuple[datetime | None, timedelta]:
    """A student's own due date, and what is added to that of the class; at most one of the two."""
    own, hours = cells.get("due", ""), cells.get("extension_hours", "")
    if own and hours:
        raise ValueError("give either due or extension_hours")
    if own:
        try:
            due = datetime.fromisoformat(own)
        except ValueError:
            raise ValueError(f"due is {own!r}; write it as {TIME}") from None
        if re.fullmatch(r"\d{4}-\d\d-\d\d", own):
            due = datetime.combine(due, LAST_MOMENT)
        zone = due.tzinfo or (rubric.due.tzinfo if rubric.due else None)
        if zone is None:
            raise ValueError(f"due is {own!r}, without a time zone; write it as {TIME}")
        return due.replace(tzinfo=zone), timedelta(0)
    if hours and rubric.due is None:
        raise ValueError(f"extension_hours needs a due date for the class; add due: {TIME} at the top of rubric.yaml")
    try:
        text = hours or "0"
        extension = float(text.replace(",", "."))
        if not 0 <= extension < float("inf"):
            raise ValueError(text)
        return None, timedelta(hours=extension)
    except (ValueError, OverflowError):
        raise ValueError(f"extension_hours is {hours!r}, which is not a number of hours such as 48") from None


def _student(cells: Mapping[str, str]) -> Student:
    parts = (cells.get("first name", ""), cells.get("last name", "") or cells.get("surname", ""))
    name = _first(cells, NAME) or " ".join(filter(None, parts))
    participant = MOODLE.fullmatch(cells.get("identifier", ""))
    moodle = participant[1] if participant else ""
    return Student(name, _first(cells, SID), _first(cells, EMAIL), _first(cells, CANVAS), moodle)


def _first(cells: Mapping[str, str], headers: Iterable[str]) -> str:
    return next((cells[header] for header in headers if cells.get(header)), "")


# Overrides: points that an instructor sets by hand, each with a reason; they come last and are shown


@dataclass(frozen=True)
class Override:
    """One line: `criterion` is a criterion's id or "total", `student` an address, an id, a submission or a name.

    `points` is None for a student who is excused.
    """

    student: str
    criterion: str
    points: float | None
    reason: str
    place: str = ""
    author: str = ""
    date: str = ""

    def __str__(self) -> str:
        what = "excused" if self.points is None else f"{self.criterion} set to {number(self.points)}"
        who = ", ".join(filter(None, (self.author, self.date)))
        return f"{what}: {self.reason}" + (f" ({who})" if who else "")


def overrides(paths: Iterable[Path], rubric: Rubric) -> tuple[list[Override], list[str]]:
    """The lines of all files, and every line in which anything is missing, unknown or out of range.

    Raises ArgumentsError for a file that cannot be read or lacks a column.
    """
    lines = (line for path in paths for line in _lines(path, BY_HAND, COLUMNS))
    return _made(lines, lambda place, cells: _override(place, cells, rubric))


def _override(place: str, cells: Mapping[str, str], rubric: Rubric) -> Override:
    """Raises ValueError."""
    absent = next((name for name in (*COLUMNS, *WHO) if name in (*COLUMNS, *cells) and not cells.get(name)), "")
    if absent:
        raise ValueError(f"the column {absent!r} is empty")
    criterion = cells["criterion"]
    graded = rubric.criteria.get(criterion)
    if graded is None and criterion != TOTAL:
        raise ValueError(f"there is no criterion {criterion!r}; give an id from grades.csv, or 'total'")
    when = cells.get("date", "")
    try:
        date.fromisoformat(when or "2026-11-27")
    except ValueError:
        raise ValueError(f"date is {when!r}; write it as 2026-11-27") from None
    points = _points(cells["points"], criterion, graded.most if graded else rubric.most)
    return Override(cells["student"], criterion, points, cells["reason"], place, cells.get("author", ""), when)


def _points(text: str, criterion: str, most: float) -> float | None:
    if text.lower() == EXCUSED:
        if criterion != TOTAL:
            raise ValueError(f"EX excuses a student from the whole homework: use it with total, not with {criterion}")
        return None
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{text!r} is not a number of points; EX excuses a student") from None
    if not 0 <= points <= most:
        raise ValueError(f"{number(points)} points, but {criterion} allows 0 to {number(most)}")
    return points


# The rows

DAY = timedelta(days=1)
ON_TIME = ("", 0.0)  # how late, and what it costs


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts (`grade` is None if it is a fault) and those that do not.

    `others` stand in the order in which they were handed in. `due`: this student's own date, or a longer one. `absent`: in the
    roster, but without a submission. `late`: how late, in words; `deduction`: the points that this costs. `total` and `overrides`:
    set by hand, and what is said about it.
    """

    student: Student
    entry: Entry
    grade: Grade | None
    fault: str = ""
    others: tuple[Entry, ...] = ()
    section: str = ""
    absent: bool = False
    due: datetime | None = None
    excused: bool = False
    late: str = ""
    deduction: float = 0.0
    total: float | None = None
    overrides: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """The points that count in the end: the total that was set by hand, else those of the grade less the late deduction.

        None where nothing counts: for who is excused, or missing, and for a fault.
        """
        if self.excused or self.total is not None:
            return None if self.excused else self.total
        return self.grade.score - self.deduction if self.grade else None

    @property
    def status(self) -> str:
        if self.excused or self.absent:
            return "Excused" if self.excused else "Missing"
        return "Graded" if self.grade else ERROR

    @property
    def remark(self) -> str:
        """The remark about a row, for an instructor."""
        parts = [f"not graded because of a grader error: {self.fault}"] if self.status == ERROR else []
        parts += ["no submission"] if self.absent else []
        parts += ["excused by the roster"] if self.excused and not self.overrides else []
        parts += [self.entry.remark] if self.entry.remark else []
        parts += [self.grade.remark] if self.grade is not None and self.grade.remark else []
        return "; ".join([*parts, *self.overrides])

    @property
    def outcome(self) -> Outcome:
        """The total, and what it owes to no criterion."""
        reasons = ["no submission"] if self.absent else []
        reasons += ["excused by the roster"] if self.excused and not self.overrides else []
        if self.deduction and self.total is None:
            points = number(self.deduction)
            reasons.append(f"{self.late}, {points} point{'' if points == 1 else 's'} deducted")
        return Outcome(self.entry.key, self.student, self.score, (*reasons, *self.overrides))


def rows(
    entries: Sequence[Entry], grades: Mapping[str, Grade], faults: Mapping[str, str], roster: Sequence[Person] = ()
) -> list[StudentRow]:
    """Every student once, in the order of the entries, with the newest of several submissions."""
    students = [student for entry in entries for student in entry.students]
    emails: dict[str, set[str]] = {}  # the addresses that go with a student id
    for student in students:
        if student.sid and student.email:
            emails.setdefault(student.sid, set()).add(student.email.lower())
    persons = _known(students, roster)
    handed_in: dict[object, list[tuple[Student, Entry]]] = {}
    for entry in entries:
        for student in entry.students or (Student(),):
            identity = persons[student] if student in persons else _identity(student, entry, emails)
            handed_in.setdefault(identity, []).append((student, entry))
    made = []
    for uploads in handed_in.values():
        *others, (student, entry) = sorted(uploads, key=lambda upload: (upload[1].created_at, _number(upload[1].key)))
        earlier, fault = tuple(entry for _, entry in others), faults.get(entry.key, "")
        made.append(StudentRow(student, entry, grades.get(entry.key), fault, earlier, entry.section))
    return made


def _identity(student: Student, entry: Entry, emails: Mapping[str, set[str]]) -> object:
    """Who it is: by address, else by id; by the name alone nobody is known, and the submission stands alone."""
    if student.email:
        return "email", student.email.lower()
    if student.sid:
        addresses = emails.get(student.sid, set())
        return ("email", *addresses) if len(addresses) == 1 else ("sid", student.sid)
    by_number = [identity for identity in student.identities if identity[0] in ("canvas", "moodle")]
    return by_number[0] if by_number else ("entry", entry.key, student.name)


def _number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdigit() else 0


# The five steps


def finished(
    entries: Sequence[Entry],
    grades: Mapping[str, Grade],
    faults: Mapping[str, str],
    rubric: Rubric,
    roster: Sequence[Person] = (),
    overrides: Sequence[Override] = (),
) -> list[StudentRow]:
    """The rows of a class after all five steps. Raises ArgumentsError for overrides that fit nobody or one another."""
    class_rows = with_roster(rows(entries, grades, faults, roster), roster, rubric)
    class_rows = without_dropped(with_choice(class_rows, grades, faults, rubric), rubric)
    return with_overrides(with_lateness(class_rows, rubric), overrides)


def problems(
    entries: Sequence[Entry], rubric: Rubric, roster: Sequence[Person], overrides: Sequence[Override]
) -> list[str]:
    """The same complaints, as far as they need no grades; and that of a roster of another class."""
    class_rows = rows(entries, {}, {}, roster)
    wrong = []
    if roster and not _known((row.student for row in class_rows), roster):
        there, here = (
            ", ".join([*dict.fromkeys(map(_described, students))][:NAMED])
            for students in ([person.student for person in roster], [row.student for row in class_rows])
        )
        wrong = [
            f"the roster does not match the submissions: no submitter is in it. The roster has {there}, ...; "
            f"the submissions are from {here}, ... (matched by email address or ID, else by name)"
        ]
    return wrong + _by_position(with_roster(class_rows, roster, rubric), overrides)[1]


def _described(student: Student) -> str:
    return " ".join(filter(None, (student.name, *(f"({value})" for _, value in student.identities[:1])))) or "nobody"


def notes(rows: Sequence[StudentRow], rubric: Rubric, roster: Sequence[Person]) -> list[str]:
    """Notes for an instructor, before the tables are published: which uploads count, who is missing, who is not in the roster."""
    said = []
    for row in rows:
        if row.others:
            uploads = ", ".join(upload.key + f" ({upload.remark})" * bool(upload.remark) for upload in row.others)
            said.append(
                f"{_who(row)} has {len(row.others) + 1} uploads; grading {row.entry.key} (uploads: {rubric.uploads}), "
                f"ignoring {uploads}"
            )
    persons = _known((row.student for row in rows), roster)
    strangers = [row for row in rows if roster and not row.absent and row.student not in persons]
    names = Counter(filter(None, (_words(person.student.name) for person in roster)))
    kinds = {kind for person in roster for kind, _ in person.student.identities}
    # Whom the roster can know by the name alone.
    nameable = [row for row in strangers if kinds.isdisjoint(kind for kind, _ in row.student.identities)]
    of_several = [row for row in nameable if names[_words(row.student.name)] > 1]
    several = ", ".join(map(_who, of_several))
    unknown = ", ".join(_who(row) for row in strangers if row not in of_several)
    said += [f"not in the roster: {unknown}"] if unknown else []
    said += (
        [f"several students in the roster have the name {several}; name the upload after an email address or ID"]
        if several
        else []
    )
    undated = [row for row in rows if _is_undated(row)] if rubric.late else []
    if undated:
        late = "1 upload is" if len(undated) == 1 else f"{len(undated)} uploads are"
        said.append(
            f"{late} marked late by Canvas, which does not say by how much, so no points were deducted: "
            f"{', '.join(map(_who, undated))}; set the total with --overrides"
        )
    missing = sum(row.status == "Missing" for row in rows)
    counts = "no score" if rubric.missing == "empty" else "0 points"
    return said + (
        [f"{missing} in the roster without a submission: {counts} (missing: {rubric.missing})"] if missing else []
    )


def _is_undated(row: StudentRow) -> bool:
    """Whether a late policy concerns work of which no time is known, and nobody has decided about it."""
    return (
        row.entry.late and not row.entry.created_at and row.grade is not None and row.total is None and not row.excused
    )


def _who(row: StudentRow) -> str:
    return row.student.name or row.entry.key


# What counts: a dropped criterion leaves the tables; the results have the points as they count already


def without_dropped(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows without dropped criteria."""
    dropped = {criterion.id for criterion in rubric.criteria.values() if criterion.counts == "dropped"}
    return [replace(row, grade=_without(dropped, row.grade)) if row.grade else row for row in rows]


def _without(dropped: Collection[str], grade: Grade) -> Grade:
    return replace(grade, marks=tuple(mark for mark in grade.marks if mark.criterion not in dropped))


# Who is who


def with_roster(rows: Sequence[StudentRow], roster: Sequence[Person], rubric: Rubric) -> list[StudentRow]:
    """The rows with what the roster adds to them, then a row without a submission for each student who has none."""
    if not roster:
        return list(rows)
    persons = _known((row.student for row in rows), roster)
    completed = [_completed(row, persons[row.student], rubric) if row.student in persons else row for row in rows]
    there = set(persons.values())
    absent = [person for person in roster if person not in there]
    empty = StudentRow(Student(), Entry("", None), None, absent=True, total=0.0 if rubric.missing == "zero" else None)
    return completed + [_completed(empty, person, rubric) for person in absent]


def _completed(row: StudentRow, person: Person, rubric: Rubric) -> StudentRow:
    """The student as the export has it; missing parts, and the official name, come from the roster."""
    from_upload, from_roster = row.student, person.student
    student = Student(
        from_roster.name or from_upload.name,
        from_upload.sid or from_roster.sid,
        from_upload.email or from_roster.email,
        from_upload.canvas or from_roster.canvas,
        from_upload.moodle or from_roster.moodle,
    )
    longer = rubric.due + person.extension if rubric.due and person.extension else None
    return replace(row, student=student, section=person.section, due=person.due or longer, excused=bool(person.excused))


def _known(students: Iterable[Student], roster: Sequence[Person]) -> dict[Student, Person]:
    """The line of the roster of each student who is in it.

    A student whom the roster cannot know by address or id, as where a folder's name is all there is, is known by a name, address
    or sid that only one has.
    """
    students = dict.fromkeys(students)
    surely = {identity: person for person in roster for identity in person.student.identities}
    kinds = {kind for kind, _ in surely}
    by_name: dict[str, list[Person]] = {}
    for person in roster:
        name, sid, email = person.student.name, person.student.sid, person.student.email
        for words in {*map(_words, (name, sid, email, f"{name} {sid}"))}:
            by_name.setdefault(words, []).append(person)
    namesakes = Counter(_words(student.name) for student in students)
    matches = {}
    for student in students:
        persons = [surely[identity] for identity in student.identities if identity in surely]
        name = _words(student.name)
        if name and namesakes[name] == 1 and kinds.isdisjoint(kind for kind, _ in student.identities):
            persons += by_name.get(name, []) if len(by_name.get(name, [])) == 1 else []
        if persons:
            matches[student] = persons[0]
    return matches


def _words(name: str) -> str:
    """The words of a name in one order: "Abel, Ada" and "Ada_Abel" are one name."""
    return " ".join(sorted(re.findall(r"[^\W_]+", name.casefold())))


# Which of several uploads counts


def with_choice(
    rows: Sequence[StudentRow], grades: Mapping[str, Grade], faults: Mapping[str, str], rubric: Rubric
) -> list[StudentRow]:
    """The rows with the upload that counts by the rubric: the last, the best after lateness, or the last that is on time.

    Where none was on time, the last counts. Of equally good ones the last counts, and a fault is not the best. An upload with
    nothing to grade in it counts only where there is no other.
    """
    return [_chosen(row, grades, faults, rubric) if row.others else row for row in rows]


def _chosen(row: StudentRow, grades: Mapping[str, Grade], faults: Mapping[str, str], rubric: Rubric) -> StudentRow:
    uploads = [
        replace(row, entry=upload, grade=grades.get(upload.key), fault=faults.get(upload.key, ""))
        for upload in (*row.others, row.entry)
    ]
    empty = [upload.grade is not None and bool(upload.grade.empty) for upload in uploads]
    at = max(range(len(uploads)), key=lambda at: (not empty[at], _worth(uploads[at], rubric), at))
    own = row.section != row.entry.section  # from the roster, not from where the upload lay
    others = tuple(
        replace(upload.entry, remark=NOTHING if empty[n] else upload.entry.remark)
        for n, upload in enumerate(uploads)
        if n != at
    )
    return replace(uploads[at], others=others, section=row.section if own else uploads[at].entry.section)


def _worth(row: StudentRow, rubric: Rubric) -> float:
    """By what the rubric chooses among uploads of one student."""
    if rubric.uploads == "best":
        score = _late(row, rubric).score
        return -1.0 if score is None else score
    due, at = row.due or rubric.due, row.entry.created_at
    if rubric.uploads == "last" or due is None or not at:
        return float(rubric.uploads == "last_on_time" and not row.entry.late)
    return float(lateness(at, 0, due, rubric.late or LatePolicy()) == ON_TIME)


# Late work: only the kit's own scores are reckoned with. What Gradescope has taken off is never read, so it cannot be counted twice


def lateness(created_at: str, raw: float, due: datetime, rule: LatePolicy) -> tuple[str, float]:
    """How late work is, in words, and the points that it loses: percent or points for each started day after the grace.

    `created_at` is a time in ISO form, `raw` the score to take points from.
    """
    by = datetime.fromisoformat(created_at) - due
    if by <= timedelta(minutes=rule.grace_minutes):
        return ON_TIME
    days = math.ceil((by - timedelta(minutes=rule.grace_minutes)) / DAY)
    deduction = days * (rule.points_a_day + raw * rule.percent_a_day / 100)
    words = f"{f'{by.days} d ' * bool(by.days)}{by.seconds // 3600} h {by.seconds % 3600 // 60} min late"
    return words, min(deduction, raw * (1 - rule.floor_percent / 100))


def with_lateness(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows with what their lateness costs, as they are where there is no due date or no time is known."""
    return [_late(row, rubric) for row in rows]


def _late(row: StudentRow, rubric: Rubric) -> StudentRow:
    due = row.due or rubric.due
    if row.grade is None or not row.entry.created_at or due is None:
        return row
    late, deduction = lateness(row.entry.created_at, row.grade.score, due, rubric.late or LatePolicy())
    return replace(row, late=late, deduction=deduction)


# What was set by hand


def with_overrides(rows: Sequence[StudentRow], overrides: Sequence[Override]) -> list[StudentRow]:
    """The rows with their overrides.

    Raises ArgumentsError with every line whose student is nobody, several, or has no grade whose criterion could be set, and
    every two lines that contradict one another.
    """
    by_row, problems = _by_position(rows, overrides)
    refuse(problems)
    return [_set_by_hand(row, by_row[at]) if at in by_row else row for at, row in enumerate(rows)]


def _by_position(
    rows: Sequence[StudentRow], overrides: Sequence[Override]
) -> tuple[dict[int, list[Override]], list[str]]:
    """The overrides of each row, of several that say the same the first; and what is wrong with those that cannot be used."""
    by_row: dict[int, dict[str, Override]] = {}
    problems = []
    for override in overrides:
        try:
            at = _position(override, rows)
        except ValueError as error:
            problems.append(f"{override.place}: {error}")
            continue
        if (rows[at].absent or rows[at].fault) and override.criterion != TOTAL:
            problems.append(f"{override.place}: {override.student} has no grade; only the total can be set")
        first = by_row.setdefault(at, {}).setdefault(override.criterion, override)
        if first.points != override.points:
            problems.append(f"{override.place}: {override.student}: {override}; but {first.place} says: {first}")
    return {at: list(overrides_of_row.values()) for at, overrides_of_row in by_row.items()}, problems


def _position(override: Override, rows: Sequence[StudentRow]) -> int:
    """Raises ValueError for nobody or several."""
    wanted = override.student.lower()
    for known_as in (_surely, lambda row: {row.student.name.lower()}):
        matches = [at for at, row in enumerate(rows) if wanted in known_as(row)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ValueError(f"{len(matches)} students are named {override.student}; use an email address or ID")
    raise ValueError(f"no student is named {override.student}")


def _surely(row: StudentRow) -> set[str]:
    """Everything that is this student's alone: address, ids, and submissions by key and by the name that the export has."""
    student, uploads = row.student, (row.entry, *row.others)
    names = [entry.upload.name for entry in uploads if entry.upload is not None]
    numbers = (student.sid, student.canvas, student.moodle)
    return {part.lower() for part in (student.email, *numbers, *(entry.key for entry in uploads), *names) if part}


def _set_by_hand(row: StudentRow, overrides: Sequence[Override]) -> StudentRow:
    criteria = {o.criterion: o.points for o in overrides if o.criterion != TOTAL and o.points is not None}
    if row.grade and criteria:
        marks = tuple(replace(mark, score=criteria.get(mark.criterion, mark.score)) for mark in row.grade.marks)
        row = replace(row, grade=replace(row.grade, marks=marks, score=sum(mark.score for mark in marks)))
    row = replace(row, overrides=tuple(map(str, overrides)))
    totals = [override.points for override in overrides if override.criterion == TOTAL]
    return replace(row, total=totals[0], excused=totals[0] is None) if totals else row
