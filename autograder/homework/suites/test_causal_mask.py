"""Hidden tests of causal_mask.py. The inputs of `example` stand in the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


def standardised(x):
    """A layer norm without gamma and beta: it does not see a uniform shift of a row."""
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def beyond_one(x):
    """How far x is beyond 1 or -1, and the negative of it: small values do not count."""
    excess = x - np.clip(x, -1, 1)
    return np.tri(len(x)) @ np.hstack([excess, -excess])


def hiding(x):
    """Each row hides what it depends on from one careless kind of change."""
    return np.stack([standardised(x)[1], np.abs(x[2]), np.clip(x[0], 0, 1) * np.round(x[1])])


@criterion("causal_mask.example")
def test_examples_of_the_masks(check):
    check.causal_mask(3)
    check.padding_mask(np.array([2, 3]), 3)
    check.apply_mask(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[True, False], [True, True]]))


@criterion("causal_mask.example")
def test_examples_of_the_dependencies(check):
    x = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])
    check.dependency_matrix(lambda x: np.cumsum(x, axis=0), x)
    check.is_autoregressive(lambda x: np.cumsum(x, axis=0), x)
    check.is_autoregressive(lambda x: x - x.mean(axis=0), x)


@criterion("causal_mask.causal")
def test_a_query_sees_itself_and_what_came_before(check):
    for t in (40, 1):
        assert check.causal_mask(t).sum() == t * (t + 1) / 2


@criterion("causal_mask.padding")
def test_the_first_keys_of_each_example_are_seen(check):
    check.padding_mask(np.array([2, 1]), 4)
    check.padding_mask(np.array([2]), 3)


@criterion("causal_mask.padding")
def test_lengths_must_lie_between_zero_and_t(check):
    check.padding_mask(np.array([3, 0, 5, 1]), 5)
    check.raises(ValueError).padding_mask(np.array([2, 6, 4]), 5)
    check.raises(ValueError).padding_mask(np.array([2, -1, 4]), 5)


@criterion("causal_mask.apply")
def test_the_mask_is_broadcast(check, rng):
    mask = rng.random((2, 1, 4, 4)) < 0.6
    check.apply_mask(rng.normal(size=(2, 3, 4, 4)), mask)


@criterion("causal_mask.apply")
def test_whole_numbers_can_be_masked(check):
    check.apply_mask(np.array([[3, 1], [0, -2]]), np.array([[False, True], [True, True]]))


@criterion("causal_mask.apply")
def test_the_result_is_a_new_array_even_when_nothing_is_hidden(check, rng):
    check.new.apply_mask(rng.normal(size=(3, 4)), np.ones((1, 4), dtype=bool))


@criterion("causal_mask.dependency")
def test_finds_weak_influences_on_a_large_output_of_another_width(check, rng):
    weights = np.array([[0, 0, -0.1], [0.05, 0, 0], [0, 0.1, 0.05]])
    check.dependency_matrix(lambda x: 1000 + weights @ np.hstack([x[:, 2:], 0 * x]), rng.normal(size=(3, 3)))


@criterion("causal_mask.dependency")
def test_delta_sets_the_size_of_the_change(check, rng):
    check.dependency_matrix(beyond_one, rng.uniform(-0.5, 0.5, (2, 3)), delta=50.0)


@criterion("causal_mask.dependency_change")
def test_sees_what_a_careless_change_does_not_show(check, rng):
    check.dependency_matrix(hiding, np.array([[1.0], [-1.0], [0.0]]) * rng.uniform(0.6, 0.9, (3, 5)))


@criterion("causal_mask.dependency_change")
def test_a_function_may_return_its_argument(check, rng):
    check.dependency_matrix(lambda x: x, rng.normal(size=(2, 4)))


@criterion("causal_mask.dependency_change")
def test_whole_numbers_count_as_floats(check):
    check.dependency_matrix(lambda x: np.cumsum(x, axis=0), np.array([[1, 0], [2, 3]]))


@criterion("causal_mask.autoregressive")
def test_the_past_may_arrive_but_not_a_single_leak_behind_a_layer_norm(check, rng):
    past, x = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 1]]), rng.normal(size=(5, 3))
    assert check.is_autoregressive(lambda x: past @ x, x[:3])
    leaking = np.tri(5)
    leaking[1, 3], x[2:] = -0.5, 0
    assert not check.is_autoregressive(lambda x: leaking @ standardised(x), x)


@criterion("causal_mask.autoregressive")
def test_it_is_tried_where_x_is(check, rng):
    assert not check.is_autoregressive(
        lambda x: np.triu(np.ones((2, 2))) @ np.maximum(x - 5, 0), 8 + rng.random((2, 3))
    )


@criterion("causal_mask.purity")
def test_arguments_of_the_masks_stay_as_they_were(check, rng):
    check.pure.padding_mask(np.array([2, 0, 3]), 3)
    check.pure.apply_mask(rng.normal(size=(2, 3)), np.array([[True, False, True], [False, True, True]]))


@criterion("causal_mask.purity")
def test_arguments_of_the_experiments_stay_as_they_were(check, rng):
    # So small that a change added and subtracted again leaves its rounding.
    x = np.vstack([rng.normal(0, 1e-4, 3), np.zeros(3)])
    check.pure.dependency_matrix(lambda x: np.tri(2) @ x, x)
    check.pure.is_autoregressive(lambda x: np.tri(2, k=1) @ x, x)
    check.is_autoregressive(lambda x: 2 * x, x[:1])


@criterion("causal_mask.dtype")
def test_masked_scores_keep_their_dtype(check, rng):
    for dtype in (np.float64, np.float32):
        check.dtype.apply_mask(rng.normal(size=(2, 3)).astype(dtype), np.tri(2, 3, dtype=bool))
