"""`autograder build`: run `otter assign`, refresh assignments/, write a zip for Gradescope and one for students.

Otter stamps the time on what it packs, so what it has written is packed anew: the same tree, and the same packages
installed, give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

from autograder.faults import ArgumentsError, of_system
from autograder.grading import script
from autograder.homework import kit, rubric
from autograder.release import files, selection
from autograder.release.assign import assigned
from autograder.release.prerequisites import MASTER


def build(out: Path, assignments: Path | None = None, only: Sequence[str] = ()) -> list[Path]:
    """Write OUT/autograder.zip and OUT/student.zip and bring assignments/ up to date; what has been written.

    With `only`, the homework has these modules and no others, and its students' folder is OUT/assignments.
    Raises CommandError, also when the solutions do not get full marks, RubricError, and ArgumentsError for an unusable
    `only`.
    """
    script.record(
        rubric.current()
    )  # first, because a rubric that does not fit is to be said in its own words, not in Otter's
    if not only:
        with assigned() as result:
            return write(result, out, assignments or kit.home() / "assignments")
    students = assignments or out / "assignments"
    if students.resolve() == kit.home() / "assignments":
        raise ArgumentsError(f"{students} is for the whole homework; give another folder with -o")
    with selection.selected(only) as root, assigned(root=root) as result:
        return write(result, out, students)


def write(result: Path, out: Path, assignments: Path) -> list[Path]:
    """The two zips and assignments/, from a RESULT of `otter assign`.

    Raises CommandError.
    """
    found = next((result / "autograder").glob("*.zip"))
    student = files.contents(result / "student")
    try:
        out.mkdir(parents=True, exist_ok=True)
        zips = [
            files.pack(files.unzipped(found), out / "autograder.zip"),
            files.pack({f"{Path(MASTER).stem}/{name}": data for name, data in student.items()}, out / "student.zip"),
        ]
        files.refresh(student, assignments)
    except OSError as error:
        raise of_system(error, out) from error
    return [*zips, assignments]
