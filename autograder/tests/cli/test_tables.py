"""Printed tables steer no terminal, and in a file no line is broken."""

import pytest

from autograder.cli.grade import print_table


def test_cells_are_text_whatever_is_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "score"), [("[bold]a\x1b[31m", "1"), ("b" * 150, "2")])
    said = capsys.readouterr().out
    assert "[bold]a?[31m" in said
    assert "b" * 150 in said
    assert len(said.splitlines()) == 3
