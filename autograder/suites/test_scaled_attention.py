"""Hidden tests of scaled_attention.py. The inputs of `example` stand in the docstrings."""

import numpy as np
import pytest

from autograder.suite import criterion


def parameters(rng, d_model, dtype=np.float64):
    """Four different projections that keep the size of their input."""
    names = ("w_q", "w_k", "w_v", "w_o")
    return {name: (rng.normal(size=(d_model, d_model)) / d_model**0.5).astype(dtype) for name in names}


@criterion("scaled_attention.example")
def test_example_of_softmax(check):
    check.softmax(np.array([10.0, 2.0, 3.0, 1.0]))


@criterion("scaled_attention.example")
def test_example_of_attention(check):
    keys = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 0.5]])
    check.scaled_dot_product_attention(np.array([[1.0, 0.0, 1.0]]), keys, keys)


@criterion("scaled_attention.example")
def test_example_of_heads(check):
    x = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    heads = check.split_heads(x, 2)
    assert np.allclose(check.merge_heads(heads), x)


@criterion("scaled_attention.example")
def test_example_of_multi_head_attention(check):
    eye = np.eye(2)
    params = {"w_q": eye, "w_k": eye, "w_v": eye, "w_o": 10 * eye}
    check.multi_head_attention(np.array([[1.0, 0.0], [0.0, 2.0]]), params, n_heads=2)


@criterion("scaled_attention.softmax")
def test_sums_to_one_along_the_axis_asked_for(check, rng):
    scores = rng.normal(0, 2, (2, 4, 3))
    for axis in (-1, 1, -3):
        assert np.allclose(check.softmax(scores, axis=axis).sum(axis=axis), 1)


@criterion("scaled_attention.softmax")
def test_runs_along_the_last_axis_of_any_number(check, rng):
    check.softmax(rng.normal(0, 2, 5))
    check.softmax(rng.normal(0, 2, (2, 3, 2, 4)))


@criterion("scaled_attention.softmax")
def test_accepts_whole_numbers(check):
    check.softmax(np.array([[1, -2, 0], [3, 3, 1]]))


@criterion("scaled_attention.softmax_stability")
def test_large_scores_do_not_overflow(check, rng):
    scores = rng.normal(0, 1, (3, 4))
    large = check.softmax(scores + np.array([[2e3], [0.0], [-2e3]]))
    assert np.allclose(large, check.softmax(scores), atol=1e-8)


@criterion("scaled_attention.softmax_stability")
@pytest.mark.parametrize("axis", [-1, 0])
def test_minus_infinity_gets_zero_even_throughout_a_slice(check, axis):
    scores = np.array([[0.5, -np.inf, 2.0, -1.0], [-np.inf] * 4, [-np.inf, -np.inf, 1.5, 1.0]])
    check.softmax(scores, axis)


@criterion("scaled_attention.attention")
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_is_the_scaled_softmax_average_of_the_values(check, rng, leading):
    q, k, v = (rng.normal(size=leading + shape) for shape in [(3, 6), (5, 6), (5, 4)])
    _, weights = check.scaled_dot_product_attention(q, k, v)
    assert np.allclose(weights.sum(axis=-1), 1)


@criterion("scaled_attention.attention")
def test_very_large_scores_pick_one_value(check, rng):
    keys, values = np.eye(4, 5), rng.normal(size=(4, 3))
    output, _ = check.scaled_dot_product_attention(1e4 * keys[[2, 0]], keys, values)
    assert np.allclose(output, values[[2, 0]])


@criterion("scaled_attention.mask")
@pytest.mark.parametrize("shape", [(4, 5), (1, 5), (2, 1, 5), (2, 4, 5)])
def test_masks_of_every_broadcastable_shape(check, rng, shape):
    q, k, v = (rng.normal(size=size) for size in [(2, 4, 3), (2, 5, 3), (2, 5, 6)])
    mask = rng.random(shape) < 0.5
    mask[..., 1] = True
    mask[..., 3] = False
    _, weights = check.scaled_dot_product_attention(q, k, v, mask)
    assert np.allclose(weights[..., 3], 0)


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


@criterion("scaled_attention.fully_masked")
def test_an_example_that_sees_nothing_gets_zeros(check, rng):
    q, k, v = (rng.normal(size=size) for size in [(2, 3, 4), (2, 5, 4), (2, 5, 6)])
    mask = np.arange(5) < np.array([0, 3])[:, None, None]
    check.scaled_dot_product_attention(q, k, v, mask)


@criterion("scaled_attention.split_heads")
@pytest.mark.parametrize(("shape", "n_heads"), [((5, 6), 2), ((2, 4, 12), 3), ((2, 3, 4, 10), 5)])
def test_each_head_takes_a_consecutive_run_of_features(check, rng, shape, n_heads):
    check.split_heads(rng.normal(size=shape), n_heads)


@criterion("scaled_attention.split_heads")
def test_heads_must_divide_the_features(check, rng):
    x = rng.normal(size=(4, 10))
    check.raises(ValueError).split_heads(x, 4)
    check.split_heads(x, 5)


@criterion("scaled_attention.merge_heads")
@pytest.mark.parametrize("shape", [(3, 4, 2), (2, 3, 5, 4), (2, 3, 2, 4, 5)])
def test_heads_stand_side_by_side_again(check, rng, shape):
    check.merge_heads(rng.normal(size=shape))


@criterion("scaled_attention.multi_head")
@pytest.mark.parametrize(("shape", "n_heads"), [((4, 6), 2), ((2, 5, 12), 4), ((2, 3, 4, 6), 3)])
def test_heads_attend_and_are_projected(check, rng, shape, n_heads):
    check.multi_head_attention(rng.normal(size=shape), parameters(rng, shape[-1]), n_heads)


@criterion("scaled_attention.multi_head_mask")
@pytest.mark.parametrize("shape", [(4, 4), (2, 4, 4), (2, 1, 4)])
def test_all_heads_share_the_mask_of_their_example(check, rng, shape):
    mask = rng.random(shape) < 0.5
    mask[..., 2] = True
    mask[..., 0] = False
    check.multi_head_attention(rng.normal(size=(2, 4, 6)), parameters(rng, 6), 3, mask)


@criterion("scaled_attention.multi_head_mask")
def test_as_many_heads_as_examples_do_not_mix_the_masks(check, rng):
    mask = np.arange(5) < np.array([5, 2, 3])[:, None, None]
    check.multi_head_attention(rng.normal(size=(3, 5, 6)), parameters(rng, 6), 3, mask)


@criterion("scaled_attention.purity")
def test_arguments_stay_as_they_were(check, rng):
    x, values = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 5))
    check.pure.softmax(x, 1)
    check.pure.scaled_dot_product_attention(x, x[:, ::-1].copy(), values, np.tri(3, dtype=bool))
    check.pure.merge_heads(check.pure.split_heads(x, 2))
    check.pure.multi_head_attention(x, parameters(rng, 4), 2, np.tri(3, dtype=bool))


@criterion("scaled_attention.purity")
def test_nothing_is_remembered_from_an_earlier_call(check, rng):
    x = rng.normal(size=(2, 3, 4))
    check.multi_head_attention(x, parameters(rng, 4), 2)
    check.multi_head_attention(x, parameters(rng, 4), 2)


@criterion("scaled_attention.dtype")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_have_the_dtype_of_the_arguments(check, rng, dtype):
    x, values = rng.normal(size=(2, 3, 4)).astype(dtype), rng.normal(size=(2, 3, 5)).astype(dtype)
    check.dtype.softmax(x)
    check.dtype.scaled_dot_product_attention(x, x, values, np.tri(3, dtype=bool))
    check.dtype.merge_heads(check.dtype.split_heads(x, 2))
    check.dtype.multi_head_attention(x, parameters(rng, 4, dtype), 2)
