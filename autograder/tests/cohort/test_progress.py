"""What is seen while a class is graded."""

from io import StringIO

import pytest

from autograder.cohort import progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "count"), [(Terminal(), "5/6"), (StringIO(), "5 of 6")])
def test_progress_shows_count_and_median(stream: StringIO, count: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    shown = progress.Display(stream)
    shown.start(6)
    for score in (10.0, None, 30.0):
        shown.advance(score)
    shown.advance(20.0, kept=True)
    shown.advance(0.0, counts=False)
    shown.close()
    text = stream.getvalue()
    for part in (count, "median 20", "1 unchanged", "1 faults"):
        assert part in text


def test_silent_work_says_what_it_is_and_for_how_long_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0001)
    stream = StringIO()
    with progress.waiting("Building", stream):
        while stream.getvalue().count("\n") < 3:
            pass
    assert stream.getvalue().startswith("Building ...\n... 0 s\n... 0 s\n")


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress.Display()
    shown.start(1)
    shown.advance(1.0)
    shown.close()
    assert capsys.readouterr() == ("", "")
