"""The commands are all there, and start without what they do not need."""

from click.testing import CliRunner

from autograder.commands.main import main


def test_every_command_has_its_help() -> None:
    assert {"audit", "build", "compare", "demo", "doctor", "grade", "rehearse"} <= set(main.commands)
    for name, command in main.commands.items():
        done = CliRunner().invoke(main, [name, "--help"])
        assert done.exit_code == 0
        assert command.help


def test_module_that_the_rubric_does_not_have_is_refused_with_those_that_it_has() -> None:
    done = CliRunner().invoke(main, ["audit", "--only", "nosuch"])
    assert done.exit_code == 2
    assert "'nosuch'; known: layernorm" in done.stderr
