"""What a message may mention: only criteria that are shown no later than itself."""

from autograder.homework.rubric import Criterion

ORDER = ("visible", "after_due_date", "after_published", "hidden")
TELLS = ("score", "diagnosis", "full")


def may_name(reader: Criterion, subject: Criterion) -> bool:
    """Whether the verdict of `subject` is visible wherever the message of `reader` is."""
    return ORDER.index(subject.visibility) <= ORDER.index(reader.visibility)


def tells_as_much(reader: Criterion, subject: Criterion) -> bool:
    """Whether a reader of the message of `reader` can read as much under `subject`."""
    return may_name(reader, subject) and TELLS.index(subject.feedback) >= TELLS.index(reader.feedback)
