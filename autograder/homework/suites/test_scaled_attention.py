"""Hidden tests of scaled_attention.py. The inputs of `example` stand in the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


def parameters(rng, d_model, dtype=np.float64):
    """Four different projections that keep the size of their input."""
    names = ("w_q", "w_k", "w_v", "w_o")
    return {name: (rng.normal(size=(d_model, d_model)) / d_model**0.5).astype(dtype) for name in names}


@criterion("scaled_attention.example")
def test_worked_examples(check):
    check.softmax(np.array([10.0, 2.0, 3.0, 1.0]))
    keys = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 0.5]])
    check.scaled_dot_product_attention(np.array([[1.0, 0.0, 1.0]]), keys, keys)
    check.merge_heads(check.split_heads(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), 2))
    params = {"w_q": np.eye(2), "w_k": np.eye(2), "w_v": np.eye(2), "w_o": 10 * np.eye(2)}
    check.multi_head_attention(np.array([[1.0, 0.0], [0.0, 2.0]]), params, n_heads=2)


@criterion("scaled_attention.softmax")
def test_sums_to_one_along_the_axis_asked_for(check, rng):
    assert np.allclose(check.softmax(rng.normal(0, 2, (2, 4, 3)), axis=-2).sum(axis=-2), 1)


@criterion("scaled_attention.softmax")
def test_runs_along_the_last_axis_of_whole_numbers(check):
    check.softmax(np.array([[1, -2, 0], [3, 3, 1]]))
    check.softmax(np.array([1.0, 3.0, 2.5]), 0)


@criterion("scaled_attention.softmax_stability")
def test_large_scores_do_not_overflow(check, rng):
    scores = rng.normal(0, 1, (3, 4)) + np.array([[2e3], [0.0], [-2e3]])
    scores[0, 1] = -3e3
    check.softmax(scores)


@criterion("scaled_attention.softmax_stability")
def test_minus_infinity_gets_zero_even_throughout_a_slice(check):
    scores = np.array([[0.5, -np.inf, 2.0, -1.0], [-np.inf] * 4, [-np.inf, -np.inf, 1.5, 1.0]])
    check.softmax(scores.T, axis=0)


@criterion("scaled_attention.attention")
def test_is_the_scaled_softmax_average_of_the_values(check, rng):
    q, k, v = (rng.normal(size=(2, 3, *shape)) for shape in [(4, 6), (5, 6), (5, 7)])
    check.scaled_dot_product_attention(q, k, v)


@criterion("scaled_attention.attention")
def test_very_large_scores_pick_one_value(check, rng):
    keys, values = np.eye(4, 5), rng.normal(size=(4, 3))
    output, _ = check.scaled_dot_product_attention(1e4 * keys[[2, 0]], keys, values)
    assert np.allclose(output, values[[2, 0]])


@criterion("scaled_attention.mask")
def test_each_example_has_a_mask_of_its_own(check, rng):
    q, k, v = (rng.normal(size=size) for size in [(2, 4, 3), (2, 5, 3), (2, 5, 6)])
    mask = np.array([[[True, False, True, True, False]], [[False, True, True, False, False]]])
    k[:, 4] *= 1e4  # hidden from all, however large its scores
    check.scaled_dot_product_attention(q, k, v, mask)


@criterion("scaled_attention.mask")
def test_one_mask_serves_several_leading_dimensions(check, rng):
    q, k, v = (rng.normal(size=size) for size in [(2, 3, 4, 2), (2, 3, 4, 2), (2, 3, 4, 5)])
    mask = rng.random((2, 1, 4, 4)) < 0.5
    check.scaled_dot_product_attention(q, k, v, mask | np.eye(4, dtype=bool))


@criterion("scaled_attention.fully_masked")
def test_a_query_that_sees_nothing_gets_zeros(check, rng):
    q, k, v = (rng.normal(size=size) for size in [(3, 4), (5, 4), (5, 2)])
    mask = np.array([[True, False, True, True, False], [False] * 5, [False, False, False, True, True]])
    check.scaled_dot_product_attention(q, k, v, mask)


@criterion("scaled_attention.split_heads")
def test_each_head_takes_a_consecutive_run_of_features(check, rng):
    x = rng.normal(size=(3, 5, 2, 12))
    check.split_heads(x, 4)
    check.raises(ValueError).split_heads(x, 5)


@criterion("scaled_attention.merge_heads")
def test_heads_stand_side_by_side_again(check, rng):
    check.merge_heads(rng.normal(size=(2, 3, 2, 4, 5)))


@criterion("scaled_attention.multi_head")
def test_heads_attend_and_are_projected(check, rng):
    check.multi_head_attention(rng.normal(size=(2, 3, 5, 8)), parameters(rng, 8), 4)


@criterion("scaled_attention.multi_head_mask")
def test_all_heads_share_one_mask(check, rng):
    check.multi_head_attention(rng.normal(size=(2, 4, 6)), parameters(rng, 6), 3, np.tri(4, dtype=bool))
    mask = (rng.random((2, 3, 4, 4)) < 0.5) | np.eye(4, dtype=bool)
    check.multi_head_attention(rng.normal(size=(2, 3, 4, 6)), parameters(rng, 6), 2, mask)


@criterion("scaled_attention.multi_head_mask")
def test_as_many_heads_as_examples_do_not_mix_the_masks(check, rng):
    mask = np.arange(5) < np.array([5, 2, 3])[:, None, None]
    check.multi_head_attention(rng.normal(size=(3, 5, 6)), parameters(rng, 6), 3, mask)


@criterion("scaled_attention.purity")
def test_arguments_stay_as_they_were(check, rng):
    x, mask = rng.normal(size=(2, 3, 4)), np.tri(3, dtype=bool)
    check.pure.softmax(x, 1)
    check.pure.scaled_dot_product_attention(x, x[:, ::-1].copy(), rng.normal(size=(2, 3, 5)), mask)
    check.pure.merge_heads(check.pure.split_heads(x, 2))
    check.pure.multi_head_attention(x, parameters(rng, 4), 2, mask)


@criterion("scaled_attention.purity")
def test_parameters_of_an_earlier_call_are_forgotten(check, rng):
    check.multi_head_attention(rng.normal(size=(2, 3, 4)), parameters(rng, 4), 2)


@criterion("scaled_attention.dtype")
def test_float32_stays_float32(check, rng):
    x, values = (rng.normal(size=size).astype(np.float32) for size in [(2, 3, 4), (2, 3, 5)])
    check.dtype.softmax(x)
    check.dtype.scaled_dot_product_attention(x, x, values, np.tri(3, dtype=bool))
    check.dtype.merge_heads(check.dtype.split_heads(x, 2))
    check.dtype.multi_head_attention(x, parameters(rng, 4, np.float32), 2)
