"""A class as rows, one for each student: what they handed in, what it earned, and what was made of that.

What an instructor adds is four steps, in this order: what counts at all (the rubric's `counts`), who is who (the roster), what
lateness costs (the rubric's `due` and `late`), and last what was set by hand, so that nothing is taken off from points that a
person has decided.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from autograder.cohort.instructor_files import TOTAL, Override, Person
from autograder.cohort.store import Grade
from autograder.faults import ArgumentsError
from autograder.homework.rubric import LateEntry, Rubric
from autograder.intake.entries import Entry, Identity, Student

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lateness:
    """How late a submission is, and the points that it loses. `days` are started days after the grace."""

    by: timedelta
    days: int
    deduction: float

    def __str__(self) -> str:
        days, hours, minutes = self.by.days, self.by.seconds // 3600, self.by.seconds % 3600 // 60
        parts = [f"{days} d"] if days else []
        return " ".join([*parts, f"{hours} h {minutes} min late"])


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts (`grade` is None if it is a fault) and those that do not.

    `absent`: in the roster, but without a submission. `total` and `overrides`: set by hand, and what is said about it.
    """

    student: Student
    entry: Entry
    grade: Grade | None
    fault: str = ""
    others: tuple[Entry, ...] = ()
    section: str = ""
    absent: bool = False
    late: Lateness | None = None
    total: float | None = None
    overrides: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """What counts in the end: the total that was set by hand, else the grade without what lateness costs."""
        if self.total is not None:
            return self.total
        return self.grade.score - (self.late.deduction if self.late else 0) if self.grade else None

    @property
    def status(self) -> str:
        return "Missing" if self.absent else "Graded" if self.grade else "Fault"

    @property
    def remark(self) -> str:
        """What an instructor should know about a row."""
        parts = [f"not graded, a fault of the grader: {self.fault}"] if self.status == "Fault" else []
        parts += ["has not handed in anything"] if self.absent else []
        parts += [self.entry.remark] if self.entry.remark else []
        parts += [self.grade.remark] if self.grade is not None and self.grade.remark else []
        return "; ".join([*parts, *self.overrides])


def rows(entries: Sequence[Entry], grades: Mapping[str, Grade], faults: Mapping[str, str]) -> list[StudentRow]:
    """Every student once, in the order of the entries; of several submissions the newest counts."""
    emails = _emails(entries)
    handed_in: dict[object, list[tuple[Student, Entry]]] = {}
    for entry in entries:
        for student in entry.students or (Student(),):
            handed_in.setdefault(_identity(student, entry, emails), []).append((student, entry))
    return [_row(found, grades, faults) for found in handed_in.values()]


def _row(found: list[tuple[Student, Entry]], grades: Mapping[str, Grade], faults: Mapping[str, str]) -> StudentRow:
    latest = max(range(len(found)), key=lambda i: (found[i][1].created_at, _number(found[i][1].key), i))
    student, entry = found[latest]
    others = tuple(other for i, (_, other) in enumerate(found) if i != latest)
    return StudentRow(student, entry, grades.get(entry.key), faults.get(entry.key, ""), others, entry.section)


def _emails(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """The addresses that go with a student id."""
    emails: dict[str, set[str]] = {}
    for student in (student for entry in entries for student in entry.students):
        if student.sid and student.email:
            emails.setdefault(student.sid, set()).add(student.email.lower())
    return emails


def _identity(student: Student, entry: Entry, emails: Mapping[str, set[str]]) -> object:
    """Who it is: by address, else by id; by the name alone nobody is known, and the submission stands alone."""
    if student.email:
        return "email", student.email.lower()
    if student.sid:
        known = emails.get(student.sid, set())
        return ("email", *known) if len(known) == 1 else ("sid", student.sid)
    return ("canvas", student.canvas) if student.canvas else ("entry", entry.key, student.name)


def _number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdigit() else 0


# The four steps


def finished(
    rows: Sequence[StudentRow], rubric: Rubric, roster: Sequence[Person] = (), overrides: Sequence[Override] = ()
) -> list[StudentRow]:
    """The rows after all four steps. Raises ArgumentsError for an override that fits nobody."""
    named = with_roster(without_dropped(rows, rubric), roster)
    return with_overrides(with_lateness(named, rubric), overrides)


def check(rows: Sequence[StudentRow], roster: Sequence[Person], overrides: Sequence[Override]) -> None:
    """Raises ArgumentsError for an override of a student who is nobody or several; `rows` need no grades yet."""
    named = with_roster(rows, roster)
    for one in overrides:
        _position(one, named)


# What counts: a dropped criterion leaves the tables; the results have the points as they count already


def without_dropped(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows without dropped criteria."""
    dropped = {criterion.id for criterion in rubric.criteria.values() if criterion.counts == "dropped"}
    return [replace(row, grade=_without(dropped, row.grade)) if row.grade else row for row in rows]


def notices(rubric: Rubric) -> list[str]:
    """A sentence for each criterion that was dropped or given to all, with the reason."""
    return [f"{one.id} {one.counted}" for one in rubric.criteria.values() if one.counts]


def _without(dropped: Collection[str], grade: Grade) -> Grade:
    return replace(grade, marks=tuple(mark for mark in grade.marks if mark.criterion not in dropped))


# Who is who


def with_roster(rows: Sequence[StudentRow], roster: Sequence[Person]) -> list[StudentRow]:
    """The rows with what the roster adds to them, then a row without a submission for each student who has none."""
    if not roster:
        return list(rows)
    positions = _positions(person.student for person in roster)
    seen: set[int] = set()
    completed = []
    for row in rows:
        at = _found(row.student, positions)
        completed.append(row if at is None else _completed(row, roster[at]))
        seen |= set() if at is None else {at}
    absent = [person for at, person in enumerate(roster) if at not in seen]
    return completed + [_absent(person) for person in absent]


def _completed(row: StudentRow, person: Person) -> StudentRow:
    """What the export says stays; the roster fills what it leaves open, and gives the name that is official."""
    one, other = row.student, person.student
    student = Student(
        other.name or one.name, one.sid or other.sid, one.email or other.email, one.canvas or other.canvas
    )
    return replace(row, student=student, section=person.section)


def _absent(person: Person) -> StudentRow:
    return StudentRow(person.student, Entry("", None), None, "", (), section=person.section, absent=True)


def _positions(students: Iterable[Student]) -> dict[Identity, int]:
    """The position of each student by everything that nobody else is known by."""
    positions: dict[Identity, int] = {}
    shared = set()
    for position, student in enumerate(students):
        for one in student.identities:
            shared |= {one} if one in positions else set()
            positions[one] = position
    return {one: position for one, position in positions.items() if one not in shared}


def _found(student: Student, positions: Mapping[Identity, int]) -> int | None:
    """The position of a student, by the surest of what they are known by."""
    return next((positions[one] for one in student.identities if one in positions), None)


# Late work: only the kit's own scores are reckoned with. What Gradescope has taken off is never read, so it cannot be counted twice


def lateness(created_at: str, raw: float, due: datetime, rule: LateEntry) -> Lateness | None:
    """None for work in time. `created_at` is a time in ISO form, `raw` the score to take points from."""
    by = datetime.fromisoformat(created_at) - due
    if by <= timedelta(minutes=rule.grace_minutes):
        return None
    days = math.ceil((by - timedelta(minutes=rule.grace_minutes)) / DAY)
    deduction = days * (rule.points_a_day + raw * rule.percent_a_day / 100)
    return Lateness(by, days, min(deduction, raw * (1 - rule.floor_percent / 100)))


def with_lateness(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows with what their lateness costs, as they are where the rubric has no `due` or no time is known."""
    if rubric.due is None:
        return list(rows)
    return [_late(row, rubric.due, rubric.late or LateEntry()) for row in rows]


def _late(row: StudentRow, due: datetime, rule: LateEntry) -> StudentRow:
    if row.grade is None or not row.entry.created_at:
        return row
    return replace(row, late=lateness(row.entry.created_at, row.grade.score, due, rule))


# What was set by hand


def with_overrides(rows: Sequence[StudentRow], overrides: Sequence[Override]) -> list[StudentRow]:
    """The rows with their overrides.

    Raises ArgumentsError for a student who is nobody, several, or has no grade whose criterion could be set.
    """
    mine: dict[int, list[Override]] = {}
    for one in overrides:
        mine.setdefault(_position(one, rows), []).append(one)
    return [_set_by_hand(row, mine.get(at, [])) for at, row in enumerate(rows)]


def _position(override: Override, rows: Sequence[StudentRow]) -> int:
    wanted = override.student.lower()
    for known_as in (_surely, lambda row: {row.student.name.lower()}):
        found = [at for at, row in enumerate(rows) if wanted in known_as(row)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ArgumentsError(
                f"{override.place}: {override.student} is {len(found)} students; give an address or id"
            )
    raise ArgumentsError(f"{override.place}: nobody here is called {override.student}")


def _surely(row: StudentRow) -> set[str]:
    student = row.student
    return {part.lower() for part in (student.email, student.sid, student.canvas, row.entry.key) if part}


def _set_by_hand(row: StudentRow, overrides: Sequence[Override]) -> StudentRow:
    if not overrides:
        return row
    criteria = {one.criterion: one.points for one in overrides if one.criterion != TOTAL}
    if criteria and row.grade is None:
        raise ArgumentsError(f"{overrides[0].place}: {overrides[0].student} has no grade; only the total can be set")
    total = next((one.points for one in overrides if one.criterion == TOTAL), None)
    grade = _with(row.grade, criteria) if row.grade and criteria else row.grade
    return replace(row, grade=grade, total=total, overrides=tuple(map(str, overrides)))


def _with(grade: Grade, criteria: Mapping[str, float]) -> Grade:
    marks = tuple(replace(mark, score=criteria.get(mark.criterion, mark.score)) for mark in grade.marks)
    return replace(grade, marks=marks, score=sum(mark.score for mark in marks))
