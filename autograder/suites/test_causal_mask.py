"""Hidden tests of causal_mask.py. The inputs of `example` stand in the docstrings."""

import numpy as np
import pytest

from autograder.suite import criterion


def standardised(x):
    """A layer norm without gamma and beta: it does not see a uniform shift of a row."""
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def mixing(weights):
    """A function whose dependency matrix is where `weights` is not zero."""
    return lambda x: weights @ x


@criterion("causal_mask.example")
def test_examples_of_the_masks(check):
    check.causal_mask(3)
    check.padding_mask(np.array([2, 3]), 3)
    check.apply_mask(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[True, False], [True, True]]))


@criterion("causal_mask.example")
def test_examples_of_the_dependencies(check):
    x = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])
    check.dependency_matrix(lambda x: np.cumsum(x, axis=0), x)
    assert check.is_autoregressive(lambda x: np.cumsum(x, axis=0), x)
    assert not check.is_autoregressive(lambda x: x - x.mean(axis=0), x)


@criterion("causal_mask.causal")
def test_a_query_sees_itself_and_what_came_before(check):
    for t in (5, 12, 1):
        assert check.causal_mask(t).sum() == t * (t + 1) / 2


@criterion("causal_mask.padding")
def test_the_first_keys_of_each_example_are_seen(check):
    check.padding_mask(np.array([3, 0, 5, 1]), 5)
    check.padding_mask(np.array([2, 1]), 4)


@criterion("causal_mask.padding")
@pytest.mark.parametrize("wrong", [6, -1])
def test_lengths_must_lie_between_zero_and_t(check, wrong):
    check.raises(ValueError).padding_mask(np.array([2, wrong, 4]), 5)
    check.padding_mask(np.array([2, 0, 5]), 5)


@criterion("causal_mask.apply")
@pytest.mark.parametrize("shape", [(4, 5), (1, 5), (2, 1, 5), (2, 1, 4, 5)])
def test_masks_of_every_broadcastable_shape(check, rng, shape):
    scores = rng.normal(size=(2, 3, 4, 5) if len(shape) == 4 else (2, 4, 5))
    mask = rng.random(shape) < 0.6
    mask[..., 0] = False
    check.apply_mask(scores, mask)


@criterion("causal_mask.apply")
def test_whole_numbers_can_be_masked(check):
    check.apply_mask(np.array([[3, 1], [0, -2]]), np.array([[False, True], [True, True]]))


@criterion("causal_mask.apply")
def test_the_result_is_a_new_array(check, rng):
    scores = rng.normal(size=(3, 4))
    check.new.apply_mask(scores, np.ones((1, 4), dtype=bool))
    check.new.apply_mask(scores, np.tri(3, 4, dtype=bool))


@criterion("causal_mask.dependency")
def test_finds_which_rows_are_mixed(check, rng):
    weights = np.array([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0], [1, 0, -1, 0]])
    check.dependency_matrix(mixing(weights), rng.normal(size=(4, 3)))


@criterion("causal_mask.dependency")
def test_the_output_may_have_another_width(check, rng):
    weights, x = -np.tri(4, k=-1), rng.normal(size=(4, 3))
    check.dependency_matrix(lambda x: weights @ x[:, 2:], x)
    check.dependency_matrix(lambda x: weights.T @ np.hstack([x, -x, 0 * x]), x)


@criterion("causal_mask.dependency")
def test_a_weak_influence_on_a_large_output_counts(check, rng):
    weights = np.array([[0.05, 0, 0.1, 0], [0, 0, 0.05, 0], [0.1, 0, 0, 0], [0.05, 0, 0, 0.05]])
    check.dependency_matrix(lambda x: 1000 + weights @ x, rng.normal(size=(4, 3)))


@criterion("causal_mask.dependency")
def test_delta_sets_the_size_of_the_change(check, rng):
    weights, x = np.tri(4, k=-1), rng.uniform(-0.5, 0.5, (4, 3))
    check.dependency_matrix(lambda x: weights @ np.maximum(np.abs(x) - 1, 0) + x, x)
    check.dependency_matrix(lambda x: weights @ np.maximum(np.abs(x) - 1, 0) + x, x, delta=50.0)


@criterion("causal_mask.dependency_change")
def test_sees_through_a_layer_norm(check, rng):
    x = rng.normal(size=(4, 5))
    check.dependency_matrix(lambda x: standardised(x)[::-1], x)
    check.dependency_matrix(lambda x: np.tri(4, k=1) @ standardised(x), x)


@criterion("causal_mask.dependency_change")
def test_a_function_may_return_its_argument(check, rng):
    check.dependency_matrix(lambda x: x, rng.normal(size=(3, 4)))


@criterion("causal_mask.dependency_change")
def test_rows_of_zeros_have_an_influence(check, rng):
    x = rng.normal(size=(4, 3)) * np.array([[1], [0], [1], [0]])
    check.dependency_matrix(lambda x: np.tri(4) @ np.abs(x), x)
    check.dependency_matrix(lambda x: x * np.roll(x, 1, axis=0), x)


@criterion("causal_mask.autoregressive")
def test_the_past_need_not_arrive(check, rng):
    x = rng.normal(size=(4, 3))
    assert check.is_autoregressive(mixing(np.diag([1.0, 1.0], k=-2)), x)
    assert not check.is_autoregressive(mixing(np.diag([1.0, 1.0], k=2)), x)


@criterion("causal_mask.autoregressive")
@pytest.mark.parametrize("leak", [(0, 1), (1, 3)])
def test_a_single_leak_from_the_future_is_found(check, rng, leak):
    weights, x = np.tri(4), rng.normal(size=(4, 3))
    assert check.is_autoregressive(mixing(weights.copy()), x)
    weights[leak] = -0.5
    assert not check.is_autoregressive(mixing(weights), x)


@criterion("causal_mask.autoregressive")
def test_a_leak_behind_a_layer_norm_is_found(check, rng):
    x = rng.normal(size=(4, 5))
    assert check.is_autoregressive(lambda x: np.tri(4) @ standardised(x), x)
    assert not check.is_autoregressive(lambda x: np.tri(4, k=1) @ standardised(x), x)


@criterion("causal_mask.autoregressive")
def test_a_leak_from_rows_of_zeros_is_found(check, rng):
    x = rng.normal(size=(4, 3)) * np.array([[1], [0], [0], [0]])
    assert check.is_autoregressive(mixing(np.tri(4)), x)
    assert not check.is_autoregressive(mixing(np.tri(4, k=1)), x)


@criterion("causal_mask.purity")
def test_arguments_stay_as_they_were(check, rng):
    x = rng.normal(0, 1e-4, (4, 3))  # so small that a change added and subtracted again leaves its rounding
    mask = np.array([[True, False, True], [False, True, True]])
    check.pure.padding_mask(np.array([2, 0, 3]), 3)
    check.pure.apply_mask(rng.normal(size=(2, 3)), mask)
    check.pure.dependency_matrix(mixing(np.tri(4)), x)
    assert not check.pure.is_autoregressive(mixing(np.tri(4, k=2)), x)
    assert check.pure.is_autoregressive(mixing(np.tri(4)), x)


@criterion("causal_mask.dtype")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_masked_scores_keep_their_dtype(check, rng, dtype):
    check.dtype.apply_mask(rng.normal(size=(2, 3)).astype(dtype), np.tri(2, 3, dtype=bool))
