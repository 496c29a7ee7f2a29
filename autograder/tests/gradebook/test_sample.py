"""The sample class shows everything that can happen, whatever the homework is."""

from pathlib import Path

from autograder.gradebook import sample
from autograder.homework import rubric
from autograder.submissions.exports import listing


def test_class_has_right_wrong_misnamed_broken_and_empty_work(tmp_path: Path) -> None:
    sample.make(tmp_path)
    made, modules = sample.students(), [f"{name}.py" for name in rubric.current().modules]
    assert [entry.key for entry in listing([tmp_path]).entries] == sorted(made)
    assert made["ada"] == sample.references()
    assert made["nobody-yet"] == sample.stubs()
    assert set(made["emil"]) != set(modules)
    assert "unfinished(:" in "".join(made["fatima"].values())


def test_wrong_version_is_the_last_of_its_name() -> None:
    (misconception, *_) = sample.mistakes(0)
    right = sample.references()
    changed = {name: text for name, text in sample.wrong(right, misconception).items() if text != right[name]}
    assert list(changed) == [f"{rubric.current().module_of(misconception.function)}.py"]
    assert next(iter(changed.values())).endswith(misconception.source)
