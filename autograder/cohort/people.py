"""Who is who: students of an export, of a roster and of a file of overrides, matched by address, id, or name."""

from collections.abc import Iterable, Mapping

from autograder.intake.entries import Student

Identity = tuple[str, str]


def identities(student: Student) -> list[Identity]:
    """What a student is known by, the surest first. A name alone is none: two people may share it."""
    found = [("email", student.email.lower()), ("sid", student.sid), ("canvas", student.canvas)]
    return [one for one in found if one[1]]


def by_identity(students: Iterable[Student]) -> dict[Identity, int]:
    """The position of each student by everything that nobody else is known by."""
    positions: dict[Identity, int] = {}
    shared = set()
    for position, student in enumerate(students):
        for one in identities(student):
            shared |= {one} if one in positions else set()
            positions[one] = position
    return {one: position for one, position in positions.items() if one not in shared}


def found(student: Student, positions: Mapping[Identity, int]) -> int | None:
    """The position of a student, by the surest of what they are known by."""
    return next((positions[one] for one in identities(student) if one in positions), None)
