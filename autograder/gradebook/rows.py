"""A class as rows, one per student: the submission that counts, its grade, and all adjustments.

The instructor's inputs apply in five steps:

- The roster identifies students and their due dates.
- `uploads` in the rubric chooses among several uploads.
- `counts` decides which criteria count.
- `due`, `late` and late days determine the late deduction.
- Overrides come last, so that nothing is deducted from points set by a person.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from autograder.feedback.results import Grade
from autograder.gradebook.inputs import EXCUSED, TOTAL, WITHHELD, Inputs, Line, Person
from autograder.gradebook.store import Outcome
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.submission import UNUSED, Student, Upload
from autograder.submissions.text import counted, number

NO_INPUTS = Inputs()
NOTHING = "nothing to grade in it"
ERROR = "Grader error"  # the status of a submission without a grade
NAMED = 3  # people listed in a message
ON_TIME = ("", 0.0, 0)  # the lateness in words, the deduction, and the late days used


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts and its grade, which is None after a grader error.

    `other_uploads` are in order of submission. `due` is an individual or extended due date. `absent` students are in the
    roster but have no submission. `late` is the lateness in words, `deduction` the points lost after
    `days_used` of the late days in `balance`. `total` is the manual total, `automatic` the score before overrides.
    """

    student: Student
    entry: Upload
    grade: Grade | None
    error: str = ""
    other_uploads: tuple[Upload, ...] = ()
    section: str = ""
    in_roster: bool = False
    absent: bool = False
    due: datetime | None = None
    excused: bool = False
    late: str = ""
    deduction: float = 0.0
    balance: Line | None = None
    days_used: int = 0
    total: float | None = None
    withheld: bool = False
    overrides: tuple[Line, ...] = ()
    automatic: float | None = None
    comments: tuple[Line, ...] = ()

    @property
    def score(self) -> float | None:
        """The final score: the manual total if there is one, else the grade's points minus the late deduction.

        None for an excused or missing student, a withheld grade and a grader error.
        """
        if self.excused or self.withheld:
            return None
        if self.total is not None:
            return self.total
        return self.grade.score - self.deduction if self.grade else None

    @property
    def max_score(self) -> float | None:
        return self.grade.max_score if self.grade else None

    @property
    def status(self) -> str:
        states = {"Excused": self.excused, "Withheld": self.withheld, "Missing": self.absent, "Graded": self.grade}
        return next((status for status, holds in states.items() if holds), ERROR)

    @property
    def who(self) -> str:
        return self.student.name or self.entry.key

    @property
    def _decisions(self) -> list[str]:
        """Reasons for the total other than grading and lateness."""
        reasons = ["no submission"] if self.absent else []
        return reasons + (["excused by the roster"] if self.excused and not self.overrides else [])

    @property
    def remark(self) -> str:
        parts = [f"not graded because of a grader error: {self.error}"] if self.status == ERROR else []
        parts += [*self._decisions, self.entry.remark, self.grade.remark if self.grade else ""]
        return "; ".join(filter(None, (*parts, *map(str, self.overrides))))

    @property
    def lateness(self) -> str:
        """The lateness in words, with the late days used."""
        return self.late + (f", {counted(self.days_used, 'late day')} used" if self.days_used else "")

    @property
    def outcome(self) -> Outcome:
        """The total, and the reasons for the part that no criterion explains."""
        reasons = self._decisions
        if self.deduction and self.total is None:
            reasons.append(f"{self.late}, {counted(number(self.deduction), 'point')} deducted")
        manual = tuple((one.about, one.points) for one in self.overrides if not isinstance(one.points, str))
        return Outcome(self.entry.key, self.student, self.score, (*reasons, *map(str, self.overrides)), manual)


def finished(
    entries: Sequence[Upload],
    grades: Mapping[str, Grade],
    errors: Mapping[str, str],
    rubric: Rubric,
    inputs: Inputs = NO_INPUTS,
) -> list[StudentRow]:
    """Return the rows of a class after all five steps; the input has no `problems`."""
    rows, _ = _with_inputs(students(entries, inputs.roster, rubric), inputs)
    return [_overridden(_late(_counting(row, grades, errors, rubric), rubric)) for row in rows]


def problems(entries: Sequence[Upload], rubric: Rubric, inputs: Inputs) -> list[str]:
    """Input lines that match nobody or contradict each other, and a roster of another class."""
    rows = students(entries, inputs.roster, rubric)
    lines = _with_inputs(rows, inputs)[1]
    if inputs.roster and all(row.absent or not row.in_roster for row in rows):
        each = ([*dict.fromkeys(str(row.student) for row in rows if row.in_roster is is_in)] for is_in in (True, False))
        in_roster, submitters = (", ".join(names[:NAMED]) for names in each)
        why = f"no submitter is in it. The roster has {in_roster}, ...; the submissions are from {submitters}, ..."
        how = "(matched by email address or ID, else by name)"
        lines.insert(0, f"the roster does not match the submissions: {why} {how}")
    return lines


def notes(rows: Sequence[StudentRow], rubric: Rubric, roster: Sequence[Person]) -> list[str]:
    """Return notes to read before publishing: uploads that count, missing students, students who are not in the roster."""
    lines = []
    for row in (row for row in rows if row.other_uploads):
        ignored = ", ".join(one.key + f" ({one.remark})" * bool(one.remark) for one in row.other_uploads)
        chosen = f"grading {row.entry.key} (uploads: {rubric.uploads}), ignoring {ignored}"
        lines.append(f"{row.who} has {len(row.other_uploads) + 1} uploads; {chosen}")
    strangers = [row for row in rows if roster and not row.in_roster]
    names = Counter(filter(None, (_words(person.student.name) for person in roster)))
    kinds = {kind for person in roster for kind, _ in person.student.identities}
    namesakes = [row for row in strangers if names[_words(row.student.name)] > 1 and _is_without(kinds, row.student)]
    unknown = ", ".join(row.who for row in strangers if row not in namesakes)
    lines += [f"not in the roster: {unknown}"] if unknown else []
    if namesakes:
        several = f"several students in the roster have the name {', '.join(row.who for row in namesakes)}"
        lines.append(f"{several}; name the upload after an email address or ID")
    undecided = (row for row in rows if row.grade is not None and row.total is None and not row.excused)
    undated = [row for row in undecided if row.entry.late and not row.entry.created_at] if rubric.late else []
    if undated:
        late = "1 upload is" if len(undated) == 1 else f"{len(undated)} uploads are"
        what, who = "marked late without a time, so no points were deducted", ", ".join(row.who for row in undated)
        lines.append(f"{late} {what}: {who}; set the total with --overrides")
    withheld = ", ".join(row.who for row in rows if row.withheld)
    lines += [f"grade withheld: {withheld}; the computed score stays in the results folder"] if withheld else []
    missing = sum(row.status == "Missing" for row in rows)
    if missing:
        counts = "no score" if rubric.missing == "empty" else "0 points"
        lines.append(f"{missing} in the roster without a submission: {counts} (missing: {rubric.missing})")
    return lines


def upload_notes(rows: Sequence[StudentRow], accept_names: bool) -> Iterator[str]:
    """Yield notes on uploads with nothing to grade, and on files that are misnamed or cannot be used."""
    grades = {row.grade.key: row.grade for row in rows if row.grade}
    names = names_by_key(rows)
    who = {key: key if names[key] in ("", key) else f"{names[key]} ({key})" for key in grades}
    for reason in dict.fromkeys(grade.empty for grade in grades.values() if grade.empty):
        yield f"{'; '.join(who[key] for key, grade in grades.items() if grade.empty == reason)}: {reason}"
    groups = {
        "graded despite the file name": {key: grade.accepted for key, grade in grades.items()},
        "not graded because of the file name": {key: grade.misnamed for key, grade in grades.items()},
        "not used": {key: () if grade.empty else grade.paths(*UNUSED) for key, grade in grades.items()},
    }
    for what, files in groups.items():
        if lines := [f"{who[key]}: {', '.join(paths)}" for key, paths in files.items() if any(paths)]:
            yield f"{what}: {'; '.join(lines)}"
    if any(grade.misnamed for grade in grades.values()):
        advice = "use --accept-names to grade misnamed files when the intended module is unambiguous"
        ambiguous = (
            "if two different files match, neither is used: rename one in the unpacked export, or set points with"
        )
        yield f"{ambiguous} --overrides" if accept_names else advice


def names_by_key(rows: Iterable[StudentRow]) -> dict[str, str]:
    """Return the names of the students for each submission that counts, in one text."""
    names = defaultdict[str, list[str]](list)
    for row in rows:
        names[row.entry.key].append(row.student.name)
    return {key: ", ".join(filter(None, who)) for key, who in names.items()}


# Identifying students


def students(entries: Sequence[Upload], roster: Sequence[Person], rubric: Rubric) -> list[StudentRow]:
    """One row per student, without a grade.

    First those who submitted, in the order of the uploads, with their newest submission; then the others in the roster.
    """
    submitters = [student for entry in entries for student in entry.students]
    emails = defaultdict[str, set[str]](set)  # the addresses that go with a student id
    for student in submitters:
        if student.sid and student.email:
            emails[student.sid].add(student.email.lower())
    persons = _in_roster(submitters, roster)
    handed_in: dict[object, list[tuple[Student, Upload]]] = {}
    for entry in entries:
        for student in entry.students or (Student(),):
            addresses = emails.get(student.sid, set())
            if student in persons:
                identity: object = persons[student]
            elif student.sid and not student.email and len(addresses) == 1:
                identity = "email", *addresses
            else:  # a name is ambiguous
                identity = student.identities[0] if student.identities else ("entry", entry.key, student.name)
            handed_in.setdefault(identity, []).append((student, entry))
    rows = []
    for identity, uploads in handed_in.items():
        uploads.sort(key=lambda pair: (pair[1].created_at, pair[1].version))
        *earlier, (student, entry) = uploads
        row = StudentRow(student, entry, None, "", tuple(entry for _, entry in earlier), entry.section)
        rows.append(_completed(row, identity) if isinstance(identity, Person) else row)
    absent = StudentRow(Student(), Upload(""), None, absent=True, total=0.0 if rubric.missing == "zero" else None)
    return rows + [_completed(absent, person) for person in roster if person not in handed_in]


def _completed(row: StudentRow, person: Person) -> StudentRow:
    """Complete a row from the roster, which also has the official name."""
    upload, listed = asdict(row.student), asdict(person.student)
    student = Student(
        **{field: upload[field] or listed[field] for field in upload} | {"name": listed["name"] or upload["name"]}
    )
    return replace(row, student=student, in_roster=True, section=person.section, due=person.due, excused=person.excused)


def _in_roster(submitters: Iterable[Student], roster: Sequence[Person]) -> dict[Student, Person]:
    """Match students with the roster.

    Students without an address or id, such as those known only by a folder name, are matched by a unique name, address
    or sid.
    """
    submitters = dict.fromkeys(submitters)
    by_identity = {identity: person for person in roster for identity in person.student.identities}
    kinds = {kind for kind, _ in by_identity}
    by_name = defaultdict[str, set[Person]](set)
    for person in roster:
        student = person.student
        for alias in (student.name, student.sid, student.email, student.login, f"{student.name} {student.sid}"):
            by_name[_words(alias)].add(person)
    namesakes = Counter(_words(student.name) for student in submitters)
    matches = {}
    for student in submitters:
        persons = [by_identity[identity] for identity in student.identities if identity in by_identity]
        name = _words(student.name)
        if name and namesakes[name] == len(by_name[name]) == 1 and _is_without(kinds, student):
            persons += by_name[name]
        if persons:
            matches[student] = persons[0]
    return matches


def _is_without(kinds: Set[str], student: Student) -> bool:
    """Return whether a student has no address or id of these kinds, so that only the name can match."""
    return kinds.isdisjoint(kind for kind, _ in student.identities)


def _words(name: str) -> str:
    """Return the words of a name, sorted: "Abel, Ada" and "Ada_Abel" are one name."""
    return " ".join(sorted(re.findall(r"[^\W_]+", name.casefold())))


# The lines of the instructor's tables that concern a student


def _with_inputs(students: Sequence[StudentRow], inputs: Inputs) -> tuple[list[StudentRow], list[str]]:
    """Add overrides, comments and late days to the rows; also returns a sentence for each unusable line."""
    rows, problems, certain = list(students), [], []  # `certain`: everything that identifies one student only
    for row in rows:
        student, uploads = row.student, (row.entry, *row.other_uploads)
        ids = student.email, student.sid, student.canvas, student.moodle, student.login
        names = (entry.upload.name for entry in uploads if entry.upload is not None)
        certain.append({name.lower() for name in (*ids, *(entry.key for entry in uploads), *names) if name})

    def row_of(line: Line) -> int | None:
        name = line.student.lower()
        matches = [at for at, names in enumerate(certain) if name in names]
        matches = matches or [at for at, row in enumerate(rows) if name == row.student.name.lower()]
        if len(matches) > 1:
            several = f"{len(matches)} students are named {line.student}"
            if len({rows[at].entry.key for at in matches}) == 1:
                several = f"{line.student} is a group of {len(matches)}: {', '.join(rows[at].who for at in matches)}"
            problems.append(f"{line.where}: {several}; give one line for each, with an email address or ID")
        elif not matches and line not in inputs.late_days:  # late days may list students without a row
            problems.append(f"{line.where}: no student is named {line.student}")
        return matches[0] if len(matches) == 1 else None

    for override in inputs.overrides:
        if (at := row_of(override)) is not None:
            row = rows[at]
            if row.absent and override.about != TOTAL:
                problems.append(f"{override.where}: {override.student} has no grade; only the total can be set")
            first = next((one for one in row.overrides if one.about == override.about), None)
            if first is None:
                rows[at] = replace(row, overrides=(*row.overrides, override))
            elif first.points != override.points:
                problems.append(f"{override.where}: {override.student}: {override}; but {first.where} says: {first}")
    for comment in inputs.comments:
        if (at := row_of(comment)) is not None:
            rows[at] = replace(rows[at], comments=(*rows[at].comments, comment))
            if rows[at].absent:
                problems.append(f"{comment.where}: {comment.student} has handed in nothing to comment on")
    for balance in inputs.late_days:
        if (at := row_of(balance)) is not None:
            earlier = rows[at].balance
            rows[at] = replace(rows[at], balance=earlier or balance)
            if earlier:
                problems.append(f"{balance.where}: the same student as in {earlier.where}; give each student once")
    return rows, problems


# Which of several uploads counts, and which criteria


def _counting(row: StudentRow, grades: Mapping[str, Grade], errors: Mapping[str, str], rubric: Rubric) -> StudentRow:
    """Choose the upload that counts by the rubric: the last, the best after lateness, or the last on time.

    The last counts among equally good uploads, and if none was on time. A grader error is never the best. An upload
    with nothing to grade counts only if there is no other.
    """
    uploads = [
        replace(row, entry=upload, grade=grades.get(upload.key), error=errors.get(upload.key, ""))
        for upload in (*row.other_uploads, row.entry)
    ]
    empty = [upload.grade is not None and bool(upload.grade.empty) for upload in uploads]
    best = max(range(len(uploads)), key=lambda at: (not empty[at], _worth(uploads[at], rubric), at))
    entries = [replace(one.entry, remark=NOTHING if empty[at] else one.entry.remark) for at, one in enumerate(uploads)]
    chosen = replace(uploads[best], other_uploads=(*entries[:best], *entries[best + 1 :]))
    if not row.in_roster:
        chosen = replace(chosen, section=chosen.entry.section)
    if chosen.grade:
        names = {criterion.id for criterion in rubric.criteria.values() if criterion.counts == "dropped"}
        dropped = tuple(m for m in chosen.grade.marks if m.criterion in names)
        marks = tuple(m for m in chosen.grade.marks if m not in dropped)
        chosen = replace(chosen, grade=replace(chosen.grade, marks=marks, dropped=dropped))
    return chosen


def _worth(row: StudentRow, rubric: Rubric) -> float:
    """Return the sort key by which the rubric chooses among the uploads of one student."""
    if rubric.uploads == "best":
        score = _late(row, rubric).score
        return -1.0 if score is None else score
    due, at = row.due or rubric.due, row.entry.created_at
    if rubric.uploads == "last" or due is None or not at:
        return float(rubric.uploads == "last_on_time" and not row.entry.late)
    return float(lateness(at, 0, due, rubric.late or LatePolicy()) == ON_TIME)


# Late work: only the kit's scores count. Gradescope's deductions are never read, so none is counted twice


def lateness(created_at: str, raw: float, due: datetime, rule: LatePolicy, free: int = 0) -> tuple[str, float, int]:
    """Return the lateness in words, the deduction in points, and how many of the `free` late days are used.

    Points or a percentage are deducted for each started day after the grace period that no late day covers. Late days
    are used only if they change the deduction. `created_at` is a time in ISO format, `raw` the score to deduct from.
    """
    by = datetime.fromisoformat(created_at) - due
    grace = timedelta(minutes=rule.grace_minutes)
    if by <= grace:
        return ON_TIME
    days = math.ceil((by - grace) / timedelta(days=1))
    words = f"{f'{by.days} d ' * bool(by.days)}{by.seconds // 3600} h {by.seconds % 3600 // 60} min late"
    used, most = min(days, free), raw * (1 - rule.floor_percent / 100)
    full, reduced = (min(n * (rule.points_a_day + raw * rule.percent_a_day / 100), most) for n in (days, days - used))
    return (words, reduced, used) if reduced < full else (words, full, 0)


def _late(row: StudentRow, rubric: Rubric) -> StudentRow:
    """Return the row with its late deduction; unchanged without a due date or a known time."""
    due, at = row.due or rubric.due, row.entry.created_at
    if row.grade is None or not at or due is None:
        return row
    # No late days for those who are excused, or whose total is manual.
    decided = row.excused or any(one.about == TOTAL and one.points != WITHHELD for one in row.overrides)
    free = int(row.balance.points) if row.balance and not decided else 0
    late, deduction, used = lateness(at, row.grade.score, due, rubric.late or LatePolicy(), free)
    return replace(row, late=late, deduction=deduction, days_used=used)


def remaining(rows: Sequence[StudentRow], balances: Sequence[Line]) -> list[tuple[str, int, int]]:
    """For each balance: its student, the late days left after this homework, and those used for it."""
    used = {row.balance: row.days_used for row in rows}
    return [(line.student, int(line.points) - used.get(line, 0), used.get(line, 0)) for line in balances]


def _overridden(row: StudentRow) -> StudentRow:
    if not row.overrides:
        return row
    row = replace(row, automatic=row.grade.score if row.grade else None)
    total = next((override.points for override in row.overrides if override.about == TOTAL), None)
    points = {override.about: float(override.points) for override in row.overrides if override.about != TOTAL}
    if row.grade and points:
        marks = tuple(replace(mark, score=points.get(mark.criterion, mark.score)) for mark in row.grade.marks)
        row = replace(row, grade=replace(row.grade, marks=marks, score=sum(mark.score for mark in marks)))
    if isinstance(total, str):
        return replace(row, excused=total == EXCUSED, withheld=total == WITHHELD, total=None)
    return row if total is None else replace(row, excused=False, total=total)
