"""Mistakes in words: what the code does, and what is right."""

from autograder.feedback.sentences import line, paragraphs
from autograder.homework.library import Misconception
from autograder.tests.making import misconception

SAMPLE = misconception("layer_norm", "sample_variance", does="Your code divides by d - 1.", right="Divide by d.")
OUTSIDE = misconception("layer_norm", "eps_outside", does="Your code adds eps outside.", right="Add eps inside.")
SEEN = misconception("layer_norm", "changes_x", does="Your code writes into `x`.", right="Work on a copy.", known=False)


def named(misconceptions: list[Misconception], function: str) -> str:
    return paragraphs("named", misconceptions, function)


def test_the_two_halves_cannot_be_confused() -> None:
    assert named([SAMPLE], "layer_norm") == "**Probably:** Your code divides by d - 1.\n\n**Fix:** Divide by d."


def test_what_was_observed_is_no_guess() -> None:
    assert named([SEEN], "layer_norm").startswith("**Observed:** Your code writes into `x`.")


def test_a_mistake_of_a_helper_says_where_it_is() -> None:
    assert named([SAMPLE], "layer_norm_backward").startswith("**Probably, in `layer_norm`:**")


def test_two_mistakes_are_a_list() -> None:
    text = named([SAMPLE, OUTSIDE], "layer_norm")
    assert text.startswith("**Probably:**\n\n1. Your code divides by d - 1.")
    assert "\n2. Your code adds eps outside.  \n   **Fix:** Add eps inside." in text


def test_what_is_right_is_said_once() -> None:
    other = misconception(
        "layer_norm", "whole", "layernorm.statistics", does="Your code takes all.", right="Divide by d."
    )
    text = named([SAMPLE, other], "layer_norm")
    assert text.count("Divide by d.") == 1 and text.endswith("2. Your code takes all.\n\n**Fix:** Divide by d.")
    later = misconception(
        "layer_norm", "changes_y", does="Your code writes into `y`.", right="Work on a copy.", known=False
    )
    said = "**Observed:** Your code writes into `x`. Your code writes into `y`.\n\n**Fix:** Work on a copy."
    assert named([SEEN, later], "layer_norm") == said


def test_the_same_mistake_in_two_functions_is_told_once() -> None:
    again = misconception("rms_norm", "eps_outside", does="Your code adds eps outside.", right="Add eps inside.")
    text = named([OUTSIDE, again], "layer_norm")
    assert text.startswith("**Probably, in `layer_norm` and `rms_norm`:** Your code adds eps outside.")
    assert text.count("outside") == 1


def test_of_undecided_ones_only_what_they_share() -> None:
    other = misconception("layer_norm", "other", does="Your code does another thing.", right="Divide by d.")
    assert paragraphs("undecided", [SAMPLE, other]) == "**Fix:** Divide by d."
    assert paragraphs("undecided", [SAMPLE, OUTSIDE]) == ""


def test_a_reference_to_mistakes_says_only_what_the_code_does() -> None:
    assert line("briefly", [SAMPLE, OUTSIDE]) == "Your code divides by d - 1. Your code adds eps outside."
