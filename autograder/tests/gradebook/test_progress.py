"""What is seen while a class is graded."""

import time
from io import StringIO

import pytest

from autograder.gradebook import progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("errors", [1, 2])
@pytest.mark.parametrize(("stream", "count"), [(Terminal, "{done}/6"), (StringIO, "{done} of 6")])
def test_counts_are_shown(stream: type[StringIO], count: str, errors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    shown = progress.Display(out := stream())
    shown.start(6)
    for score in (10.0, *[None] * errors):
        shown.advance(score)
    shown.advance(20.0, kept=True)
    shown.close()
    said = "1 grader error" if errors == 1 else "2 grader errors"
    for part in (count.format(done=2 + errors), "1 unchanged", said):
        assert part in out.getvalue()


@pytest.mark.parametrize("stream", [Terminal, StringIO])
def test_stages_are_named_when_they_begin(stream: type[StringIO]) -> None:
    with progress.stages({"Building": 2.0, "Checking": 1.0}, out := stream()) as stage:
        stage("Building")
        time.sleep(0.6)  # the bar of a terminal moves within a stage
        stage("Checking")
    text = out.getvalue()
    assert text.index("Building") < text.rindex("Checking")
    assert (text == "Building ...\nChecking ...\n") == (stream is StringIO)


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = progress.Display()
    shown.start(1)
    shown.advance(1.0)
    shown.close()
    assert capsys.readouterr() == ("", "")
