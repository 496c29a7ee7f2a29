"""Hidden tests of scaled_attention.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import (
    by_columns,
    criterion,
    leaves_no_trace,
    single,
    turned,
    varied,
    worked_examples,
)
from autograder.homework.suites.masks import masked_tokens, random_mask


def parameters(rng, d_model, dtype=np.float64):
    """Four different projections that preserve the scale of their input."""
    names = ("w_q", "w_k", "w_v", "w_o")
    return {name: (rng.normal(size=(d_model, d_model)) / d_model**0.5).astype(dtype) for name in names}


@criterion("scaled_attention.example")
def test_worked_examples(check):
    worked_examples(check, "scaled_attention")


@criterion("scaled_attention.softmax")
def test_sums_to_one_along_the_axis_asked_for(check, rng):
    for shape, axes in [
        ((3, 4), (0, 1, -2)),
        ((3, 3, 3), (0, 1, -3, -2, 2)),
        ((2, 1, 3, 2), (0, 2, -4, -2, 3)),
        ((2, 3, 2, 4), (1, -3)),
    ]:
        for axis, scores in zip(axes, varied(rng, *(shape for _ in axes)), strict=True):
            weights = check.softmax(scores, axis)
            assert np.allclose(weights.sum(axis=axis), 1)
    check.softmax(np.array([1.0, 2.5, 16.0, 3.0, 2.0]), axis=0)  # small weights count too


@criterion("scaled_attention.softmax")
def test_runs_along_the_last_axis_unless_told_otherwise(check, rng):
    for scores in varied(rng, (2, 2, 4), (4,), (2, 1, 2, 5), (3, 70), (3, 1)):
        check.softmax(scores)
    check.softmax(by_columns(rng.normal(0, 2, (2, 3, 4))))
    check.softmax(scores=single(rng.normal(0, 2, (2, 3))), axis=-1)


EXTREME = np.array([[-np.inf, 0.5, 2e3, -1.0], [-np.inf] * 4, [-2e3, -2e3, -2.001e3, -3e3], [3e3, 2.999e3, 0.0, 0.0]])


def slice_by_slice(f, scores, axis=-1):
    """softmax of large scores and of -inf, from the finite scores of each slice minus the largest one."""
    weights = np.zeros_like(scores)
    slices, results = np.moveaxis(scores, axis, -1), np.moveaxis(weights, axis, -1)
    for place in np.ndindex(slices.shape[:-1]):
        finite = slices[place] > -np.inf
        if finite.any():
            results[place][finite] = f(slices[place][finite] - slices[place].max())
    return weights


@criterion("scaled_attention.softmax_stability")
def test_large_scores_and_minus_infinity_along_any_axis(check):
    check = check.related(slice_by_slice)
    check.softmax(EXTREME)
    check.softmax(EXTREME[[1]])
    check.softmax(np.full(3, -np.inf))
    check.softmax(np.array([[2.0], [-np.inf]]))
    check.softmax(single(np.array([2e38, 3e38, 2e38])))
    check.softmax(EXTREME.T, axis=0)
    check.softmax(EXTREME.T[np.newaxis, :, :, np.newaxis], axis=1)
    check.softmax(EXTREME.T[:, :, np.newaxis], axis=-3)
    check.softmax(EXTREME.T[np.newaxis, :, :, np.newaxis], axis=-3)
    check.softmax(EXTREME[:, np.newaxis], axis=2)


@criterion("scaled_attention.softmax_stability")
def test_every_slice_has_a_largest_score_of_its_own(check, rng):
    check.related(slice_by_slice).softmax(single(rng.normal(0, 1, (3, 4)) + np.array([[2e3], [0.0], [-2e3]])))


def queries_keys_values(rng, leading, t_q, t_k, d_k, d_v):
    return (rng.normal(size=(*leading, *own)) for own in [(t_q, d_k), (t_k, d_k), (t_k, d_v)])


@criterion("scaled_attention.attention")
def test_is_the_scaled_softmax_average_of_the_values(check, rng):
    for leading, *sizes in [
        ((2, 3), 4, 5, 6, 7),
        ((3,), 4, 1, 2, 5),
        ((), 3, 3, 3, 3),
        ((2,), 1, 1, 3, 2),
    ]:
        check.scaled_dot_product_attention(*queries_keys_values(rng, leading, *sizes))
    check.scaled_dot_product_attention(*map(by_columns, queries_keys_values(rng, (2,), 3, 4, 5, 2)))
    for leading, *sizes in [((1, 2, 2), 2, 6, 1, 1), ((), 2, 40, 20, 2), ((1,), 20, 2, 4, 4)]:
        check.scaled_dot_product_attention(*queries_keys_values(rng, leading, *sizes), None)
    q, k, v = single(tuple(queries_keys_values(rng, (2,), 3, 4, 5, 2)))
    check.scaled_dot_product_attention(q=q, k=k, v=v, mask=None)


@criterion("scaled_attention.attention")
def test_queries_keys_and_values_of_any_size(check, rng):
    keys, values = np.eye(4, 5), rng.normal(size=(4, 3))
    output, _ = check.scaled_dot_product_attention(1e4 * keys[[2, 0]], keys, values)
    assert np.allclose(output, values[[2, 0]])
    check.scaled_dot_product_attention(np.zeros((2, 5)), keys, -rng.uniform(1, 2, (4, 3)))
    check.scaled_dot_product_attention(rng.uniform(1, 2, (2, 5)), -keys, np.zeros((4, 3)))
    check.scaled_dot_product_attention(-rng.uniform(1, 2, (2, 5)), np.zeros((4, 5)), np.eye(4, 3))
    check.scaled_dot_product_attention(keys[:2], keys, rng.uniform(1, 2, (4, 3)))


SEEING = {
    (): [(4, 5)],
    (4,): [(1, 5), (4, 1, 5), (1, 4, 5)],
    (2, 3): [(4, 5), (1, 5), (3, 4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 1, 4, 5), (1, 3, 4, 5)],
}


def query_by_query(f, q, k, v, mask):
    """Attention with a mask, from each query's attention to the keys that it may see."""
    output, weights = np.zeros_like(q @ np.swapaxes(k, -1, -2) @ v), np.zeros_like(q @ np.swapaxes(k, -1, -2))
    seen = np.broadcast_to(mask, weights.shape)
    for *place, query in np.ndindex(weights.shape[:-1]):
        place, keys = tuple(place), seen[(*place, query)]
        if keys.any():
            output[(*place, [query])], weights[(*place, [query], keys)] = f(
                q[place][[query]], k[place][keys], v[place][keys]
            )
    return output, weights


@criterion("scaled_attention.mask")
def test_masks_of_every_broadcastable_shape(check, rng):
    check = check.related(query_by_query)
    for leading, shapes in SEEING.items():
        for shape in shapes:
            q, k, v = queries_keys_values(rng, leading, 4, 5, 3, 2)
            check.scaled_dot_product_attention(q, k, v, random_mask(rng, *shape))


@criterion("scaled_attention.mask")
def test_what_masks_hide(check, rng):
    check = check.related(query_by_query)
    q, k, v = queries_keys_values(rng, (4,), 4, 4, 3, 6)
    k[:, 1] = 0  # seen, with a score of exactly 0
    past, one, far = np.tri(4, dtype=bool), np.ones((4, 4, 4), dtype=bool), k.copy()
    one[1, :, 3] = False  # one example alone has something hidden
    far[:, 3] *= 1e4  # hidden, however large its scores
    for mask in (past, past.T, np.ones((1, 1), dtype=bool), one):
        check.scaled_dot_product_attention(q, k, v, mask=mask)
    low = np.array([[-2e5], [-1e5], [0.0], [-3e5]])  # what is seen has scores far below what is hidden
    check.scaled_dot_product_attention(np.full((1, 1), 1e5), low, v[0], np.array([[True, True, False, True]]))
    check.scaled_dot_product_attention(q, far, v, np.arange(4) < 3 * past[:, :1])


@criterion("scaled_attention.fully_masked")
def test_a_query_that_sees_nothing_gets_zeros(check, rng):
    check = check.related(query_by_query)
    for leading, shape in [
        ((4,), (4, 1)),
        ((2, 3), (3, 4, 1)),
        ((2, 3), (2, 3, 4, 5)),
    ]:
        mask = random_mask(rng, *shape)
        mask[..., -2, :] = False
        if len(shape) > 2:
            mask[:-1] = True  # in one example alone
        keys = max(shape[-1], 4)  # a mask of one column: as many keys as queries, for one shape as examples too
        check.scaled_dot_product_attention(*queries_keys_values(rng, leading, 4, keys, 3, 2), mask)


@criterion("scaled_attention.fully_masked")
def test_nothing_at_all_is_seen(check, rng):
    check = check.related(query_by_query)
    one = np.array([True, False, True])[:, np.newaxis, np.newaxis] & np.ones(3, dtype=bool)
    check.scaled_dot_product_attention(*queries_keys_values(rng, (), 2, 3, 4, 2), np.zeros((1, 1), dtype=bool))
    q, k, v = single(tuple(queries_keys_values(rng, (3,), 2, 3, 4, 2)))
    q[1] = 0  # scores of exactly 0, so that adding -1e4 rounds nothing in float32
    check.scaled_dot_product_attention(q, k, v, one)


@criterion("scaled_attention.split_heads")
def test_each_head_takes_a_consecutive_run_of_features(check, rng):
    for shape, n_heads in [((5, 12), 4), ((3, 5, 2, 12), 4), ((2, 3, 6), 1), ((2, 1, 6), 6), ((1, 2, 3, 2, 6), 3)]:
        check.split_heads(rng.normal(size=shape), n_heads)
    for shape, n_heads in [((3, 20, 40), 20), ((2, 1, 2, 2, 4), 4), ((1, 2, 3, 2), 2)]:
        check.split_heads(x=by_columns(rng.normal(size=shape)), n_heads=n_heads)
    check.split_heads(single(rng.normal(size=(1, 1))), 1)


@criterion("scaled_attention.split_heads")
def test_heads_that_cannot_share_the_features_are_refused(check, rng):
    for shape, n_heads in [((3, 5, 2, 12), 5), ((3, 6), 4), ((3, 1), 2)]:
        check.raises(ValueError).split_heads(rng.normal(size=shape), n_heads)


@criterion("scaled_attention.merge_heads")
def test_heads_stand_side_by_side_again(check, rng):
    for shape in [
        (2, 3, 2, 4, 5),
        (1, 2, 1, 20, 4, 2),
        (3, 4, 1),
        (3, 3, 3),
        (1, 2, 20),
        (2, 2, 20, 3),
        (1, 1, 1, 3),
    ]:
        check.merge_heads(rng.normal(size=shape))
    check.merge_heads(by_columns(rng.normal(size=(2, 3, 3, 4))))
    check.merge_heads(x=single(rng.normal(size=(2, 3, 2))))


# In this order the tokens that are zero throughout are those of which the shape does not matter.
TOKENS = {
    1: [(1, 1), (2, 1, 6), (2, 3, 5, 4)],
    2: [(2, 17, 4), (1, 2, 4), (2, 2, 2), (2, 3, 3, 6), (2, 2, 2, 4, 6)],
    3: [(3, 3, 3), (1, 3, 2, 6)],
    10: [(3, 20)],
    4: [(4, 4), (2, 1, 3, 4)],
}


@criterion("scaled_attention.multi_head")
def test_heads_attend_and_are_projected(check, rng):
    pairs = [(shape, n_heads) for n_heads, shapes in TOKENS.items() for shape in shapes]
    for x, (shape, n_heads) in zip(varied(rng, *(shape for shape, _ in pairs)), pairs, strict=True):
        check.multi_head_attention(x, parameters(rng, shape[-1]), n_heads)
    check.multi_head_attention(by_columns(rng.normal(size=(2, 3, 4))), turned(parameters(rng, 4)), 2)
    x, params = single((rng.normal(size=(2, 3, 4)), parameters(rng, 4)))
    check.multi_head_attention(x=x, params=params, n_heads=2, mask=None)


@criterion("scaled_attention.multi_head")
def test_large_tokens(check, rng):
    check.multi_head_attention(-rng.uniform(1e3, 2e3, (3, 4)), parameters(rng, 4), 2)


@criterion("scaled_attention.multi_head_mask")
def test_all_heads_share_one_mask(check, rng):
    for number, (leading, mask) in enumerate(masked_tokens(rng)):
        n_heads = (2, 3, 1, 6, 1, 2, 2)[number % 7]
        check.multi_head_attention(rng.normal(size=(*leading, 4, 6)), parameters(rng, 6), n_heads, mask)
    x, params = single((rng.normal(size=(2, 1, 4)), parameters(rng, 4)))
    check.multi_head_attention(x, params, n_heads=4, mask=np.zeros((2, 1, 1), dtype=bool))
    check.multi_head_attention(rng.normal(size=(4, 4, 4)), parameters(rng, 4), 4, np.tri(4, dtype=bool))
    x = rng.normal(size=(3, 4, 6)) * np.array([[1], [0], [1], [1]])  # a token whose scores are exactly 0
    check.multi_head_attention(x, parameters(rng, 6), 3, random_mask(rng, 3, 4, 4))
    check.multi_head_attention(rng.normal(size=(4, 4, 6)), parameters(rng, 6), 2, random_mask(rng, 4, 1, 4))


@criterion("scaled_attention.purity")
def test_calls_leave_no_trace(check, rng):
    first, second = (rng.normal(size=(2, 3, 4)) for _ in "12")
    leaves_no_trace(check, "softmax", (first, 1), (second, 0))
    leaves_no_trace(check, "split_heads", (first, 2), (second, 2))
    leaves_no_trace(check, "split_heads", (first[0], 1), (second[0], 1))
    check.split_heads(first, 4)
    leaves_no_trace(check, "merge_heads", (first,), (second,))
    leaves_no_trace(check, "merge_heads", (first[np.newaxis],), (second[np.newaxis],))
    first, second = ((*queries_keys_values(rng, (2,), 3, 3, 4, 4), random_mask(rng, 3, 3)) for _ in "12")
    leaves_no_trace(check, "scaled_dot_product_attention", first, second)
    past, others = np.tri(3, dtype=bool), ~np.eye(3, dtype=bool)  # with a single key the scores do not matter
    first, second = ((rng.normal(size=(2, 3, 4)), parameters(rng, 4), n, mask) for n, mask in ((2, past), (1, others)))
    leaves_no_trace(check, "multi_head_attention", first, second)


BLIND = np.array([[True, False, False], [False, False, False], [True, True, False]])


@criterion("scaled_attention.purity")
def test_arguments_of_every_shape_stay_as_they_are(check, rng):
    for scores, axis in [(EXTREME[0], 0), (rng.normal(size=(2, 2, 1, 3)), -2)]:
        check.untouched.softmax(scores, axis)
    q, k, v = queries_keys_values(rng, (2,), 3, 3, 4, 5)
    check.untouched.scaled_dot_product_attention(*single((q[0], k[0], v[0])))
    check.untouched.scaled_dot_product_attention(q, k, v, np.stack([BLIND, BLIND.T]))
    check.untouched.split_heads(v[0], 1)
    check.untouched.raises(ValueError).split_heads(v, 2)
    check.untouched.merge_heads(q[:1])
    for x, n_heads, mask in [(q, 2, None), (q, 4, BLIND[[[0], [1]]]), (q[0, :, :1], 1, BLIND.T)]:
        given = (x, parameters(rng, x.shape[-1]))
        check.untouched.multi_head_attention(*(given if mask is not None else single(given)), n_heads, mask)


@criterion("scaled_attention.dtype")
def test_float32_stays_float32(check, rng):
    x, values, params = single((rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 5)), parameters(rng, 4)))
    check.dtype.softmax(single(EXTREME))
    check.dtype.softmax(x[0], 0)
    check.dtype.merge_heads(x)
    check.dtype.split_heads(x, 2)
    check.dtype.scaled_dot_product_attention(x, x, values)
    seeing = BLIND.any(axis=-1, keepdims=True)  # other scores are exactly 0: adding -1e4 rounds nothing
    check.dtype.scaled_dot_product_attention(seeing * x[0], x[0], values[0], BLIND)
    check.dtype.multi_head_attention(x, params, 2)
    check.dtype.multi_head_attention(x[0], params, 1, BLIND)
