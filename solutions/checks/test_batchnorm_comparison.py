"""Public checks of batchnorm_comparison.py."""

import numpy as np
from student_calls import Caller

# Four examples with three features.
TABLE = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5], [2.0, -1.0, 1.5], [0.0, 4.0, 1.0]])
ONE, ZERO = np.ones(3), np.zeros(3)
PARTS = ("y", "new_running_mean", "new_running_var")


def test_training(call: Caller) -> None:
    call.batch_norm(TABLE, ONE, ZERO, ZERO, ONE, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [-0.447212, 0.27735, -1.603558],
                    [1.341635, -0.27735, 0.0],
                    [0.447212, -1.386748, 1.069039],
                    [-1.341635, 1.386748, 0.534519],
                ]
            ),
            np.array([0.15, 0.15, 0.05]),
            np.array([1.066667, 1.333333, 1.016667]),
        )
    )


def test_training_with_gamma_beta_and_momentum(call: Caller) -> None:
    gamma, beta = np.array([1.0, 2.0, 3.0]), np.array([0.0, -1.0, 1.0])
    running_mean, running_var = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    call.batch_norm(TABLE, gamma, beta, running_mean, running_var, True, 0.25).returning(*PARTS).gives(
        (
            np.array(
                [
                    [-0.447212, -0.445301, -3.810675],
                    [1.341635, -1.554699, 1.0],
                    [0.447212, -3.773497, 4.207117],
                    [-1.341635, 1.773497, 2.603558],
                ]
            ),
            np.array([1.125, 1.875, 2.375]),
            np.array([3.416667, 4.833333, 4.791667]),
        )
    )


def test_eps_in_training(call: Caller) -> None:
    call.batch_norm(0.001 * TABLE, ONE, ZERO, ZERO, ONE, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [-0.149071, 0.137361, -0.454859],
                    [0.447214, -0.137361, 0.0],
                    [0.149071, -0.686803, 0.303239],
                    [-0.447214, 0.686803, 0.15162],
                ]
            ),
            np.array([0.00015, 0.00015, 5e-05]),
            np.array([0.9, 0.9, 0.9]),
        )
    )


def test_training_needs_two_examples(call: Caller) -> None:
    call.batch_norm(TABLE[:1], ONE, ZERO, ZERO, ONE, True).raises(ValueError, because="one example has no spread")


def test_evaluation(call: Caller) -> None:
    gamma, beta = np.array([1.0, 2.0, 3.0]), np.array([0.0, -1.0, 1.0])
    running_mean, running_var = np.array([1.0, 0.0, -1.0]), np.array([4.0, 1.0, 0.00002])
    call.batch_norm(TABLE, gamma, beta, running_mean, running_var, training=False).returning(*PARTS).gives(
        (
            np.array(
                [
                    [0.0, 2.99998, 1.0],
                    [0.999999, 0.99999, 822.583836],
                    [0.499999, -2.99999, 1370.306394],
                    [-0.499999, 6.99996, 1096.445115],
                ]
            ),
            np.array([1.0, 0.0, -1.0]),
            np.array([4.0, 1.0, 2e-05]),
        )
    )


def test_evaluation_of_one_example(call: Caller) -> None:
    running_mean, running_var = np.array([1.0, 0.0, -1.0]), np.array([4.0, 1.0, 0.25])
    call.batch_norm(TABLE[1:2], ONE, ZERO, running_mean, running_var, training=False).returning(*PARTS).gives(
        (np.array([[0.999999, 0.999995, 2.99994]]), np.array([1.0, 0.0, -1.0]), np.array([4.0, 1.0, 0.25]))
    )


def test_moments_of_layer_norm(call: Caller) -> None:
    call.norm_moments(TABLE, "layer").returning("mean", "var").gives(
        (
            np.array([[0.666667], [1.5], [0.833333], [1.666667]]),
            np.array([[1.555556], [1.166667], [1.722222], [2.888889]]),
        )
    )


def test_moments_of_batch_norm(call: Caller) -> None:
    call.norm_moments(TABLE, "batch").returning("mean", "var").gives(
        (np.array([[1.5, 1.5, 0.5]]), np.array([[1.25, 3.25, 0.875]]))
    )


def test_moments_of_another_kind(call: Caller) -> None:
    call.norm_moments(TABLE, "group").raises(ValueError, because='only "layer" and "batch" are known')


def test_influence(call: Caller) -> None:
    """Layer norm uses one example at a time; running statistics are constants and do not depend on the batch."""
    call.influence(TABLE, "layer").gives(np.eye(4, dtype=bool))
    call.influence(TABLE, "batch_train").gives(np.ones((4, 4), dtype=bool))
    call.influence(TABLE, "batch_eval").gives(np.eye(4, dtype=bool))


def test_influence_of_another_kind(call: Caller) -> None:
    call.influence(TABLE, "group").raises(ValueError, because='the kinds are "layer", "batch_train" and "batch_eval"')
    call.influence(TABLE, "batch").raises(ValueError, because='the kinds are "layer", "batch_train" and "batch_eval"')


def test_float32_stays_float32(call: Caller) -> None:
    x, one, zero = (array.astype(np.float32) for array in (TABLE, ONE, ZERO))
    call.batch_norm(x, one, zero, zero, one, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [-0.447212, 0.27735, -1.603558],
                    [1.341635, -0.27735, 0.0],
                    [0.447212, -1.386748, 1.069039],
                    [-1.341635, 1.386748, 0.534519],
                ],
                dtype=np.float32,
            ),
            np.array([0.15, 0.15, 0.05], dtype=np.float32),
            np.array([1.066667, 1.333333, 1.016667], dtype=np.float32),
        )
    )


def test_float32_stays_float32_in_the_moments(call: Caller) -> None:
    call.norm_moments(TABLE.astype(np.float32), "layer").returning("mean", "var").gives(
        (
            np.array([[0.666667], [1.5], [0.833333], [1.666667]], dtype=np.float32),
            np.array([[1.555556], [1.166667], [1.722222], [2.888889]], dtype=np.float32),
        )
    )
