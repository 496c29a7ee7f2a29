"""A class as rows, one per student: the submission that counts, its grade, and all adjustments.

The instructor's inputs apply in five steps: who is who, with which due date (the roster); which of several uploads counts (the
rubric's `uploads`); which criteria count (`counts`); what lateness costs (`due`, `late` and late days); and last the overrides,
so that nothing is deducted from points that a person has decided.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from autograder.feedback.text import number
from autograder.gradebook.inputs import (
    EXCUSED,
    TOTAL,
    WITHHELD,
    Balance,
    Comment,
    Inputs,
    Override,
    Person,
    refuse,
)
from autograder.gradebook.store import Grade, Outcome
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.uploads import Student, Upload

NO_INPUTS = Inputs()
NOTHING = "nothing to grade in it"
ERROR = "Grader error"  # the status of a submission without a grade
NAMED = 3  # people listed in a message
DAY = timedelta(days=1)
ON_TIME = ("", 0.0, 0)  # how late, what it costs, and the late days used


class Line(Protocol):
    """A line of a table that concerns one student."""

    @property
    def student(self) -> str: ...
    @property
    def place(self) -> str: ...


L = TypeVar("L", bound=Line)


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts (`grade` is None after a grader error) and the others.

    `others` are in order of submission. `due`: the student's own date, or an extended one. `absent`: in the roster, but without a
    submission. `late`: how late, in words; `deduction`: the points that this costs after `days_used` of the late days in
    `balance` (None if there are none). `total` and `overrides`: the manual total and the notes on overrides; `automatic`: the
    score before.
    """

    student: Student
    entry: Upload
    grade: Grade | None
    error: str = ""
    others: tuple[Upload, ...] = ()
    section: str = ""
    absent: bool = False
    due: datetime | None = None
    excused: bool = False
    late: str = ""
    deduction: float = 0.0
    balance: Balance | None = None
    days_used: int = 0
    total: float | None = None
    withheld: bool = False
    overrides: tuple[str, ...] = ()
    automatic: float | None = None
    comments: tuple[Comment, ...] = ()

    @property
    def score(self) -> float | None:
        """The final points: the manual total, else those of the grade minus the late deduction.

        None for an excused or missing student, a withheld grade and a grader error.
        """
        if self.excused or self.withheld:
            return None
        if self.total is not None:
            return self.total
        return self.grade.score - self.deduction if self.grade else None

    @property
    def status(self) -> str:
        for status, holds in (("Excused", self.excused), ("Withheld", self.withheld), ("Missing", self.absent)):
            if holds:
                return status
        return "Graded" if self.grade else ERROR

    @property
    def remark(self) -> str:
        """The remark for an instructor."""
        parts = [f"not graded because of a grader error: {self.error}"] if self.status == ERROR else []
        parts += ["no submission"] if self.absent else []
        parts += ["excused by the roster"] if self.excused and not self.overrides else []
        parts += [self.entry.remark] if self.entry.remark else []
        parts += [self.grade.remark] if self.grade is not None and self.grade.remark else []
        return "; ".join([*parts, *self.overrides])

    @property
    def lateness(self) -> str:
        """How late, and how many late days were used for it."""
        return self.late + (
            f", {self.days_used} late day{'' if self.days_used == 1 else 's'} used" if self.days_used else ""
        )

    @property
    def outcome(self) -> Outcome:
        """The total, and the part of it that no criterion explains."""
        reasons = ["no submission"] if self.absent else []
        reasons += ["excused by the roster"] if self.excused and not self.overrides else []
        if self.deduction and self.total is None:
            points = number(self.deduction)
            reasons.append(f"{self.late}, {points} point{'' if points == 1 else 's'} deducted")
        return Outcome(self.entry.key, self.student, self.score, (*reasons, *self.overrides))


def rows(
    entries: Sequence[Upload], grades: Mapping[str, Grade], errors: Mapping[str, str], roster: Sequence[Person] = ()
) -> list[StudentRow]:
    """Every student once, in the order of the uploads, with the newest of several submissions."""
    students = [student for entry in entries for student in entry.students]
    emails: dict[str, set[str]] = {}  # the addresses that go with a student id
    for student in students:
        if student.sid and student.email:
            emails.setdefault(student.sid, set()).add(student.email.lower())
    persons = _known(students, roster)
    handed_in: dict[object, list[tuple[Student, Upload]]] = {}
    for entry in entries:
        for student in entry.students or (Student(),):
            identity = persons[student] if student in persons else _identity(student, entry, emails)
            handed_in.setdefault(identity, []).append((student, entry))
    made = []
    for uploads in handed_in.values():
        *others, (student, entry) = sorted(uploads, key=lambda upload: (upload[1].created_at, _number(upload[1].key)))
        earlier, error = tuple(entry for _, entry in others), errors.get(entry.key, "")
        made.append(StudentRow(student, entry, grades.get(entry.key), error, earlier, entry.section))
    return made


def _identity(student: Student, entry: Upload, emails: Mapping[str, set[str]]) -> object:
    """The identity of a student: address, else id; a name alone does not identify, so the submission stands alone."""
    if student.email:
        return "email", student.email.lower()
    if student.sid:
        addresses = emails.get(student.sid, set())
        return ("email", *addresses) if len(addresses) == 1 else ("sid", student.sid)
    by_number = [identity for identity in student.identities if identity[0] in ("canvas", "moodle", "brightspace")]
    return by_number[0] if by_number else ("entry", entry.key, student.name)


def _number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdigit() else 0


# The five steps


def finished(
    entries: Sequence[Upload],
    grades: Mapping[str, Grade],
    errors: Mapping[str, str],
    rubric: Rubric,
    inputs: Inputs = NO_INPUTS,
) -> list[StudentRow]:
    """The rows of a class after all five steps. Raises ArgumentsError for lines that match nobody or contradict each other."""
    class_rows = with_roster(rows(entries, grades, errors, inputs.roster), inputs.roster, rubric)
    class_rows = with_late_days(class_rows, inputs)
    class_rows = without_dropped(with_choice(class_rows, grades, errors, rubric), rubric)
    class_rows = with_overrides(with_lateness(class_rows, rubric), inputs.overrides)
    return with_comments(class_rows, inputs.comments)


def problems(entries: Sequence[Upload], rubric: Rubric, inputs: Inputs) -> list[str]:
    """The same errors, as far as they need no grades; and a roster of another class."""
    roster = inputs.roster
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
    class_rows = with_roster(class_rows, roster, rubric)
    wrong += _by_position(class_rows, inputs.overrides)[1] + _commented(class_rows, inputs.comments)[1]
    return wrong + _balanced(class_rows, inputs.late_days)[1]


def _described(student: Student) -> str:
    return " ".join(filter(None, (student.name, *(f"({value})" for _, value in student.identities[:1])))) or "nobody"


def notes(rows: Sequence[StudentRow], rubric: Rubric, roster: Sequence[Person]) -> list[str]:
    """Notes to read before publishing: which uploads count, who is missing, who is not in the roster."""
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
    # Students whom the roster can match by name alone.
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
    due = (row for row in rows if row.grade is not None and row.total is None and not row.excused)  # undecided
    undated = [row for row in due if row.entry.late and not row.entry.created_at] if rubric.late else []
    if undated:
        late = "1 upload is" if len(undated) == 1 else f"{len(undated)} uploads are"
        said.append(
            f"{late} marked late by Canvas, which does not say by how much, so no points were deducted: "
            f"{', '.join(map(_who, undated))}; set the total with --overrides"
        )
    withheld = ", ".join(_who(row) for row in rows if row.withheld)
    said += [f"grade withheld: {withheld}; the computed score stays in the results folder"] if withheld else []
    missing = sum(row.status == "Missing" for row in rows)
    counts = "no score" if rubric.missing == "empty" else "0 points"
    return said + (
        [f"{missing} in the roster without a submission: {counts} (missing: {rubric.missing})"] if missing else []
    )


def _who(row: StudentRow) -> str:
    return row.student.name or row.entry.key


# Dropped criteria leave the tables; the results already have the points that count


def without_dropped(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows without dropped criteria."""
    dropped = {criterion.id for criterion in rubric.criteria.values() if criterion.counts == "dropped"}
    return [replace(row, grade=_without(dropped, row.grade)) if row.grade else row for row in rows]


def _without(dropped: Collection[str], grade: Grade) -> Grade:
    return replace(grade, marks=tuple(mark for mark in grade.marks if mark.criterion not in dropped))


# Who is who


def with_roster(rows: Sequence[StudentRow], roster: Sequence[Person], rubric: Rubric) -> list[StudentRow]:
    """The rows with the data of the roster, and a row without a submission for each student who has none."""
    if not roster:
        return list(rows)
    persons = _known((row.student for row in rows), roster)
    completed = [_completed(row, persons[row.student], rubric) if row.student in persons else row for row in rows]
    there = set(persons.values())
    absent = [person for person in roster if person not in there]
    empty = StudentRow(Student(), Upload("", None), None, absent=True, total=0.0 if rubric.missing == "zero" else None)
    return completed + [_completed(empty, person, rubric) for person in absent]


def _completed(row: StudentRow, person: Person, rubric: Rubric) -> StudentRow:
    """The student from the export; missing parts, and the official name, come from the roster."""
    from_upload, from_roster = row.student, person.student
    student = Student(
        from_roster.name or from_upload.name,
        from_upload.sid or from_roster.sid,
        from_upload.email or from_roster.email,
        from_upload.canvas or from_roster.canvas,
        from_upload.moodle or from_roster.moodle,
        from_upload.brightspace,
    )
    longer = rubric.due + person.extension if rubric.due and person.extension else None
    return replace(row, student=student, section=person.section, due=person.due or longer, excused=bool(person.excused))


def _known(students: Iterable[Student], roster: Sequence[Person]) -> dict[Student, Person]:
    """The roster line of each student who is in it.

    Students without an address or id, such as those known by a folder name only, are matched by a unique name, address or sid.
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
    """The words of a name, sorted: "Abel, Ada" and "Ada_Abel" are one name."""
    return " ".join(sorted(re.findall(r"[^\W_]+", name.casefold())))


# Which of several uploads counts


def with_choice(
    rows: Sequence[StudentRow], grades: Mapping[str, Grade], errors: Mapping[str, str], rubric: Rubric
) -> list[StudentRow]:
    """The rows with the upload that counts by the rubric: the last, the best after lateness, or the last that is on time.

    If none was on time, the last counts. Of equally good ones the last counts; a grader error is never the best. An upload
    with nothing to grade counts only if there is no other.
    """
    return [_chosen(row, grades, errors, rubric) if row.others else row for row in rows]


def _chosen(row: StudentRow, grades: Mapping[str, Grade], errors: Mapping[str, str], rubric: Rubric) -> StudentRow:
    uploads = [
        replace(row, entry=upload, grade=grades.get(upload.key), error=errors.get(upload.key, ""))
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
    """The sort key by which the rubric chooses among the uploads of one student."""
    if rubric.uploads == "best":
        score = _late(row, rubric).score
        return -1.0 if score is None else score
    due, at = row.due or rubric.due, row.entry.created_at
    if rubric.uploads == "last" or due is None or not at:
        return float(rubric.uploads == "last_on_time" and not row.entry.late)
    return float(lateness(at, 0, due, rubric.late or LatePolicy()) == ON_TIME)


# Late work: only the kit's own scores count. Gradescope's deductions are never read, so none is counted twice


def lateness(created_at: str, raw: float, due: datetime, rule: LatePolicy, free: int = 0) -> tuple[str, float, int]:
    """How late a submission is, in words, the points that it loses, and how many of the `free` late days it used.

    Percent or points are deducted for each started day after the grace period that no late day covers; late days are used
    only if they change the deduction. `created_at` is a time in ISO format, `raw` the score to deduct from.
    """
    by = datetime.fromisoformat(created_at) - due
    if by <= timedelta(minutes=rule.grace_minutes):
        return ON_TIME
    days = math.ceil((by - timedelta(minutes=rule.grace_minutes)) / DAY)
    words = f"{f'{by.days} d ' * bool(by.days)}{by.seconds // 3600} h {by.seconds % 3600 // 60} min late"
    full, used = _deduction(days, raw, rule), min(days, free)
    reduced = _deduction(days - used, raw, rule)
    return (words, reduced, used) if reduced < full else (words, full, 0)


def _deduction(days: int, raw: float, rule: LatePolicy) -> float:
    return min(days * (rule.points_a_day + raw * rule.percent_a_day / 100), raw * (1 - rule.floor_percent / 100))


def with_lateness(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows with their late deductions; unchanged without a due date or a known time."""
    return [_late(row, rubric) for row in rows]


def _late(row: StudentRow, rubric: Rubric) -> StudentRow:
    due = row.due or rubric.due
    if row.grade is None or not row.entry.created_at or due is None:
        return row
    late = lateness(
        row.entry.created_at, row.grade.score, due, rubric.late or LatePolicy(), row.balance.days if row.balance else 0
    )
    return replace(row, late=late[0], deduction=late[1], days_used=late[2])


def with_late_days(rows: Sequence[StudentRow], inputs: Inputs) -> list[StudentRow]:
    """The rows with their late-day balances; without those of students who are excused, or whose total is manual.

    Raises ArgumentsError for ambiguous lines.
    """
    by_row, problems = _balanced(rows, inputs.late_days)
    refuse(problems)
    totals = [override for override in inputs.overrides if override.criterion == TOTAL and override.points != WITHHELD]
    decided = {at for at, row in enumerate(rows) if row.excused} | {at for at, _ in _matched(rows, totals)[0]}
    return [replace(row, balance=None if at in decided else by_row.get(at)) for at, row in enumerate(rows)]


def remaining(rows: Sequence[StudentRow], balances: Sequence[Balance]) -> list[tuple[str, int, int]]:
    """For each balance: its student, the late days left after this homework, and those used for it."""
    used = {row.balance: row.days_used for row in rows}
    return [(line.student, line.days - used.get(line, 0), used.get(line, 0)) for line in balances]


def _balanced(rows: Sequence[StudentRow], balances: Sequence[Balance]) -> tuple[dict[int, Balance], list[str]]:
    """The balance of each row that has one; a balance without a row, perhaps of another homework, is not an error."""
    matches, problems = _matched(rows, balances, all_present=False)
    by_row: dict[int, Balance] = {}
    for at, balance in matches:
        first = by_row.setdefault(at, balance)
        if first is not balance:
            problems.append(f"{balance.place}: the same student as in {first.place}; give each student once")
    return by_row, problems


# Overrides


def with_overrides(rows: Sequence[StudentRow], overrides: Sequence[Override]) -> list[StudentRow]:
    """The rows with their overrides.

    Raises ArgumentsError with every line that matches no student or several, or a student without a grade to change, and every two
    contradictory lines.
    """
    by_row, problems = _by_position(rows, overrides)
    refuse(problems)
    return [_set_by_hand(row, by_row[at]) if at in by_row else row for at, row in enumerate(rows)]


def _by_position(
    rows: Sequence[StudentRow], overrides: Sequence[Override]
) -> tuple[dict[int, list[Override]], list[str]]:
    """The overrides of each row, duplicates removed; and the errors."""
    by_row: dict[int, dict[str, Override]] = {}
    matches, problems = _matched(rows, overrides)
    for at, override in matches:
        if (rows[at].absent or rows[at].error) and override.criterion != TOTAL:
            problems.append(f"{override.place}: {override.student} has no grade; only the total can be set")
        first = by_row.setdefault(at, {}).setdefault(override.criterion, override)
        if first.points != override.points:
            problems.append(f"{override.place}: {override.student}: {override}; but {first.place} says: {first}")
    return {at: list(overrides_of_row.values()) for at, overrides_of_row in by_row.items()}, problems


def with_comments(rows: Sequence[StudentRow], comments: Sequence[Comment]) -> list[StudentRow]:
    """The rows with graders' comments. Raises ArgumentsError for lines that match nobody, or nothing submitted."""
    by_row, problems = _commented(rows, comments)
    refuse(problems)
    return [replace(row, comments=tuple(by_row.get(at, ()))) for at, row in enumerate(rows)]


def _commented(rows: Sequence[StudentRow], comments: Sequence[Comment]) -> tuple[dict[int, list[Comment]], list[str]]:
    matches, problems = _matched(rows, comments)
    problems += [f"{c.place}: {c.student} has handed in nothing to comment on" for at, c in matches if rows[at].absent]
    by_row: dict[int, list[Comment]] = {}
    for at, comment in matches:
        by_row.setdefault(at, []).append(comment)
    return by_row, problems


def _matched(
    rows: Sequence[StudentRow], lines: Iterable[L], all_present: bool = True
) -> tuple[list[tuple[int, L]], list[str]]:
    """Each line with the position of its row; and a sentence for each that matches several students or, if `all_present`, none."""
    matches, problems = [], []
    for line in lines:
        wanted = line.student.lower()
        certain = [at for at, row in enumerate(rows) if wanted in _surely(row)]
        found = certain or [at for at, row in enumerate(rows) if wanted == row.student.name.lower()]
        if len(found) == 1:
            matches.append((found[0], line))
        elif found:
            several = f"{len(found)} students are named {line.student}; use an email address or ID"
            problems.append(f"{line.place}: {several}")
        elif all_present:
            problems.append(f"{line.place}: no student is named {line.student}")
    return matches, problems


def _surely(row: StudentRow) -> set[str]:
    """Everything that identifies this student only: address, ids, and submissions by key and by the export's name."""
    student, uploads = row.student, (row.entry, *row.others)
    names = [entry.upload.name for entry in uploads if entry.upload is not None]
    numbers = (student.sid, student.canvas, student.moodle)
    return {part.lower() for part in (student.email, *numbers, *(entry.key for entry in uploads), *names) if part}


def _set_by_hand(row: StudentRow, overrides: Sequence[Override]) -> StudentRow:
    automatic = row.grade.score if row.grade else None
    criteria = {o.criterion: float(o.points) for o in overrides if o.criterion != TOTAL}
    if row.grade and criteria:
        marks = tuple(replace(mark, score=criteria.get(mark.criterion, mark.score)) for mark in row.grade.marks)
        row = replace(row, grade=replace(row.grade, marks=marks, score=sum(mark.score for mark in marks)))
    row = replace(row, overrides=tuple(map(str, overrides)), automatic=automatic)
    for total in (override.points for override in overrides if override.criterion == TOTAL):
        if isinstance(total, str):
            row = replace(row, excused=total == EXCUSED, withheld=total == WITHHELD, total=None)
        else:
            row = replace(row, excused=False, total=total)
    return row
