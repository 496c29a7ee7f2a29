"""Public checks of batchnorm_comparison.py, mostly on the table of three tokens of the notes."""

import numpy as np
from student_calls import Caller

TABLE = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5], [2.0, -1.0, 1.5]])
ONE, ZERO = np.ones(3), np.zeros(3)


def test_training_normalises_the_columns(call: Caller) -> None:
    y = call.batch_norm(TABLE, ONE, ZERO, ZERO, ONE, True).then("y (part 0 of the tuple)", lambda parts: parts[0])
    y.gives(
        np.array([[-1.224736, 1.069042, -1.297765], [1.224736, 0.267260, 0.162221], [0.0, -1.336302, 1.135545]]),
        hint="Column variances 0.6667, 1.5556, 1.0556 (divide by n). The notes print 1.11 for the third, "
        "and from it -1.26 and 1.10.",
    )


def test_training_moves_the_running_statistics(call: Caller) -> None:
    result = call.batch_norm(TABLE, ONE, ZERO, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), True, 0.25)
    result.then("new_running_mean", lambda parts: parts[1]).gives(
        np.array([1.25, 1.666667, 2.333333]),
        hint="(1 - momentum) * old + momentum * batch, here with momentum 0.25.",
    )
    result.then("new_running_var", lambda parts: parts[2]).gives(
        np.array([3.25, 4.333333, 4.895833]),
        hint="The batch variance that enters the running one divides by n - 1: here 1, 2.3333, 1.5833.",
    )


def test_evaluation_uses_the_running_statistics(call: Caller) -> None:
    running_mean, running_var = np.array([1.0, 0.0, -1.0]), np.array([4.0, 1.0, 0.25])
    gamma, beta = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    call.batch_norm(TABLE[1:2], gamma, beta, running_mean, running_var, training=False).gives(
        (np.array([[0.999999, 1.999990, 9.999820]]), running_mean, running_var),
        hint="In evaluation nothing of the batch enters, so one example is enough, and the statistics stay.",
    )


def test_training_needs_two_examples(call: Caller) -> None:
    call.batch_norm(TABLE[:1], ONE, ZERO, ZERO, ONE, True).raises(
        ValueError, hint="One example has no spread: n < 2 in training is an error."
    )


def test_moments(call: Caller) -> None:
    x = TABLE[:2]
    call.norm_moments(x, "layer").gives(
        (np.array([[0.666667], [1.5]]), np.array([[1.555556], [1.166667]])),
        hint="layer: one mean and one variance for each example, shape (n, 1).",
    )
    call.norm_moments(x, "batch").gives(
        (np.array([[2.0, 1.5, -0.25]]), np.array([[1.0, 0.25, 0.5625]])),
        hint="batch: one mean and one variance for each feature, shape (1, d).",
    )
    call.norm_moments(x, "group").raises(ValueError, hint="Only 'layer' and 'batch' are known.")


def test_influence(call: Caller) -> None:
    x = np.vstack([TABLE, [[0.0, 4.0, 1.0]]])
    call.influence(x, "layer").gives(np.eye(4, dtype=bool), hint="Layer norm looks at one example at a time.")
    call.influence(x, "batch_train").gives(
        np.ones((4, 4), dtype=bool), hint="Every example has a share in the mean and variance of the batch."
    )
    call.influence(x, "batch_eval").gives(
        np.eye(4, dtype=bool), hint="The running statistics are constants: they do not come from this batch."
    )
    call.influence(x, "batch").raises(ValueError, hint="The kinds are 'layer', 'batch_train' and 'batch_eval'.")
