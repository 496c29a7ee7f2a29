"""The floor: the same steps with the references called directly, no process and no wire."""

from autograder.grading import direct
from autograder.grading.judge import judged
from autograder.grading.script import Script
from autograder.homework import reference


def run_once(script: Script) -> None:
    """Every step of the script, once, and its judgement."""
    for module in script.rubric.groups:
        steps = (*script.shown(module), *script.hidden.get(module, ()))
        judged(steps, direct.play(reference.functions(), steps))
