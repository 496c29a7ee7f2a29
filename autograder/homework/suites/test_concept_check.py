"""Hidden tests of concept_check.py: one criterion per question."""

from autograder.homework.suite import criterion


@criterion("concept_check.q1")
def test_variance_after_a_layer_norm(check):
    check.answer("q1")


@criterion("concept_check.q2")
def test_what_gamma_and_beta_can_undo(check):
    check.answer("q2")


@criterion("concept_check.q3")
def test_what_a_residual_connection_guarantees(check):
    check.answer("q3")


@criterion("concept_check.q4")
def test_why_scores_are_scaled(check):
    check.answer("q4")


@criterion("concept_check.q5")
def test_mask_after_the_softmax(check):
    check.answer("q5")


@criterion("concept_check.q6")
def test_size_of_the_residual_stream(check):
    check.answer("q6")


@criterion("concept_check.q7")
def test_batch_norm_in_evaluation(check):
    check.answer("q7")


@criterion("concept_check.q8")
def test_whether_a_token_sees_itself(check):
    check.answer("q8")
