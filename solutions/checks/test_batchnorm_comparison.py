"""Public checks of batchnorm_comparison.py."""

import numpy as np
from student_calls import Caller

# Four examples with three features.
TABLE = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -1.0], [2.0, -1.0, 1.5], [0.0, 4.0, 1.0]])
GAMMA, BETA = np.array([2.0, 1.0, 0.5]), np.array([0.5, 0.0, -1.0])
MEAN, VAR = np.array([-1.0, 0.0, 0.5]), np.array([2.0, 1.0, 0.5])
PARTS = ("y", "new_running_mean", "new_running_var")


def test_training(call: Caller) -> None:
    call.batch_norm(TABLE, GAMMA, BETA, MEAN, VAR, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [3.183271, -0.27735, -1.0],
                    [-0.394424, 0.27735, -1.801779],
                    [1.394424, -1.386748, -0.465481],
                    [-2.183271, 1.386748, -0.73274],
                ]
            ),
            np.array([-0.75, 0.15, 0.5]),
            np.array([1.966667, 1.333333, 0.566667]),
        )
    )


def test_training_with_gamma_beta_and_momentum(call: Caller) -> None:
    gamma, beta = np.array([2.0, 1.0, 3.0]), np.array([-1.0, 0.0, 1.0])
    running_mean, running_var = np.array([2.0, 1.0, 3.0]), np.array([4.0, 5.0, 6.0])
    call.batch_norm(TABLE, gamma, beta, running_mean, running_var, True, momentum=0.25).returning(*PARTS).gives(
        (
            np.array(
                [
                    [1.683271, -0.27735, 1.0],
                    [-1.894424, 0.27735, -3.810675],
                    [-0.105576, -1.386748, 4.207117],
                    [-3.683271, 1.386748, 2.603558],
                ]
            ),
            np.array([1.875, 1.125, 2.375]),
            np.array([3.416667, 4.833333, 4.791667]),
        )
    )


def test_eps_in_training(call: Caller) -> None:
    call.batch_norm(0.001 * TABLE, GAMMA, BETA, MEAN, VAR, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [1.394427, -0.137361, -1.0],
                    [0.201858, 0.137361, -1.227429],
                    [0.798142, -0.686803, -0.84838],
                    [-0.394427, 0.686803, -0.92419],
                ]
            ),
            np.array([-0.89985, 0.00015, 0.45005]),
            np.array([1.8, 0.9, 0.45]),
        )
    )


def test_eps_from_the_caller_in_training(call: Caller) -> None:
    call.batch_norm(TABLE, GAMMA, BETA, MEAN, VAR, True, eps=0.75).returning(*PARTS).gives(
        (
            np.array(
                [
                    [2.62132, -0.25, -1.0],
                    [-0.207107, 0.25, -1.588348],
                    [1.207107, -1.25, -0.607768],
                    [-1.62132, 1.25, -0.803884],
                ]
            ),
            np.array([-0.75, 0.15, 0.5]),
            np.array([1.966667, 1.333333, 0.566667]),
        )
    )


def test_first_batch(call: Caller) -> None:
    """Running statistics begin with 0 and 1; they move by the momentum here too."""
    call.batch_norm(TABLE[:2], GAMMA, BETA, np.zeros(3), np.ones(3), True).returning(*PARTS).gives(
        (
            np.array([[2.49999, -0.99998, -0.500004], [-1.49999, 0.99998, -1.499996]]),
            np.array([0.2, 0.15, -0.025]),
            np.array([1.1, 0.95, 1.0125]),
        )
    )


def test_momentum_of_zero_keeps_the_running_statistics(call: Caller) -> None:
    call.batch_norm(TABLE, GAMMA, BETA, MEAN, VAR, True, momentum=0.0).returning(*PARTS).gives(
        (
            np.array(
                [
                    [3.183271, -0.27735, -1.0],
                    [-0.394424, 0.27735, -1.801779],
                    [1.394424, -1.386748, -0.465481],
                    [-2.183271, 1.386748, -0.73274],
                ]
            ),
            np.array([-1.0, 0.0, 0.5]),
            np.array([2.0, 1.0, 0.5]),
        )
    )


def test_eps_from_the_caller(call: Caller) -> None:
    call.batch_norm(TABLE, GAMMA, BETA, MEAN, VAR, False, eps=0.25).returning(*PARTS).gives(
        (
            np.array(
                [
                    [5.833333, 0.894427, -1.0],
                    [3.166667, 1.788854, -1.866025],
                    [4.5, -0.894427, -0.42265],
                    [1.833333, 3.577709, -0.711325],
                ]
            ),
            MEAN,
            VAR,
        )
    )


def test_training_needs_two_examples(call: Caller) -> None:
    call.batch_norm(TABLE[:1], GAMMA, BETA, MEAN, VAR, True).raises(ValueError, because="one example has no spread")


def test_evaluation(call: Caller) -> None:
    gamma, beta = np.array([2.0, 1.0, 3.0]), np.array([-1.0, 0.0, 1.0])
    running_mean, running_var = np.array([-1.0, 0.0, 1.0]), np.array([4.0, 1.0, 0.00002])
    call.batch_norm(TABLE, gamma, beta, running_mean, running_var, False).returning(*PARTS).gives(
        (
            np.array(
                [
                    [2.999995, 0.999995, -272.861279],
                    [0.999998, 1.99999, -1094.445115],
                    [1.999996, -0.999995, 274.861279],
                    [-1.25e-06, 3.99998, 1.0],
                ]
            ),
            np.array([-1.0, 0.0, 1.0]),
            np.array([4.0, 1.0, 2e-05]),
        )
    )


def test_evaluation_of_one_example(call: Caller) -> None:
    running_mean, running_var = np.array([-1.0, 0.0, 1.0]), np.array([4.0, 1.0, 0.25])
    call.batch_norm(TABLE[:1], GAMMA, BETA, running_mean, running_var, False).returning(*PARTS).gives(
        (np.array([[4.499995, 0.999995, -1.49999]]), np.array([-1.0, 0.0, 1.0]), np.array([4.0, 1.0, 0.25]))
    )


def test_moments_of_layer_norm(call: Caller) -> None:
    call.norm_moments(TABLE, "layer").returning("mean", "var").gives(
        (
            np.array([[1.5], [0.666667], [0.833333], [1.666667]]),
            np.array([[1.166667], [1.555556], [1.722222], [2.888889]]),
        )
    )


def test_moments_of_batch_norm(call: Caller) -> None:
    call.norm_moments(TABLE, "batch").returning("mean", "var").gives(
        (np.array([[1.5, 1.5, 0.5]]), np.array([[1.25, 3.25, 0.875]]))
    )


def test_moments_of_another_kind(call: Caller) -> None:
    call.norm_moments(TABLE, "group").raises(ValueError, because='only "layer" and "batch" are known')
    for kind in ("Layer", " layer", "layers", "lay", "batch_train"):
        call.norm_moments(TABLE, kind).raises(ValueError, because='only "layer" and "batch" are known')


def test_influence(call: Caller) -> None:
    """Layer norm uses one example at a time; running statistics are constants and do not depend on the batch."""
    call.influence(TABLE, "layer").gives(np.eye(4, dtype=bool))
    call.influence(TABLE, "batch_train").gives(np.ones((4, 4), dtype=bool))
    call.influence(TABLE, "batch_eval").gives(np.eye(4, dtype=bool))


def test_influence_with_eps_from_the_caller(call: Caller) -> None:
    call.influence(TABLE, "batch_train", eps=0.5).gives(np.ones((4, 4), dtype=bool))


def test_influence_of_another_kind(call: Caller) -> None:
    call.influence(TABLE, "group").raises(ValueError, because='the kinds are "layer", "batch_train" and "batch_eval"')
    call.influence(TABLE, "batch").raises(ValueError, because='the kinds are "layer", "batch_train" and "batch_eval"')
    for kind in ("Layer", " layer", "batch_training", "batch_evaluation"):
        call.influence(TABLE, kind).raises(ValueError, because='the kinds are "layer", "batch_train" and "batch_eval"')


def test_float32_stays_float32(call: Caller) -> None:
    arrays = (array.astype(np.float32) for array in (TABLE, GAMMA, BETA, MEAN, VAR))
    call.batch_norm(*arrays, True).returning(*PARTS).gives(
        (
            np.array(
                [
                    [3.183271, -0.27735, -1.0],
                    [-0.394424, 0.27735, -1.801779],
                    [1.394424, -1.386748, -0.465481],
                    [-2.183271, 1.386748, -0.73274],
                ],
                dtype=np.float32,
            ),
            np.array([-0.75, 0.15, 0.5], dtype=np.float32),
            np.array([1.966667, 1.333333, 0.566667], dtype=np.float32),
        )
    )


def test_float32_stays_float32_in_the_moments(call: Caller) -> None:
    call.norm_moments(TABLE.astype(np.float32), "layer").returning("mean", "var").gives(
        (
            np.array([[1.5], [0.666667], [0.833333], [1.666667]], dtype=np.float32),
            np.array([[1.166667], [1.555556], [1.722222], [2.888889]], dtype=np.float32),
        )
    )
