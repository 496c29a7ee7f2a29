"""Hidden tests of causal_mask.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import (
    by_columns,
    criterion,
    leaves_no_trace,
    single,
    varied,
    worked_examples,
)
from autograder.homework.suites.masks import random_mask


def beyond_one(x):
    """The excess of x above 1 or below -1, and its negative: small values have no effect."""
    excess = x - np.clip(x, -1, 1)
    return np.tri(len(x)) @ np.hstack([excess, -excess])


def turning(x):
    """Two features of each row, rotated by an angle that depends on the earlier rows: the norm does not change."""
    turned = (x[:, 0] + 1j * x[:, 1]) * np.exp(1j * (np.tri(len(x), k=-1) @ x @ np.array([0.4, -0.7, 1.1])))
    return np.hstack([np.stack([turned.real, turned.imag], axis=1), x[:, 2:]])


def hiding(x):
    """Each row depends on another row in a way that one careless kind of change does not reveal."""
    later = np.arange(x.shape[1]) > 0  # all features but the first
    shape = (x[1] - x[1].min()) / (np.ptp(x[1]) + 1e-5)
    return np.stack([shape, later * np.abs(x[2]), np.clip(x[0], 0, 1) * np.round(x[1])])


@criterion("causal_mask.example")
def test_worked_examples(check):
    worked_examples(check, "causal_mask")


@criterion("causal_mask.causal")
def test_a_query_sees_itself_and_what_came_before(check):
    for t in (40, 1, 2, 3, 17):
        assert check.causal_mask(t).sum() == t * (t + 1) / 2
    check.causal_mask(t=6)
    leaves_no_trace(check, "causal_mask", (4,), (4,))


@criterion("causal_mask.padding")
def test_the_first_keys_of_each_example_are_seen(check):
    for lengths, t in [
        ([2], 3),
        ([2, 0, 3, 3], 4),
        ([0, 0, 0], 2),
        ([2, 2, 2], 2),
    ]:
        check.padding_mask(np.array(lengths), t)
    check.padding_mask(lengths=np.arange(20), t=19)
    check.padding_mask(np.array([280, 130, 1], dtype=np.int32), 300)


@criterion("causal_mask.padding")
def test_lengths_must_lie_between_zero_and_t(check):
    for lengths in ([2, 6, 4], [2, -1, 4], [6], [-1], [1, 100], [-100, 5]):
        check.raises(ValueError).padding_mask(np.array(lengths), 5)
    check.raises(ValueError).padding_mask(np.array([1, 2]), 1)


SHAPES = {
    (): [(4, 1)],
    (4,): [(1, 4, 5), (4, 4, 1)],
    (2, 3): [(4, 5), (1, 5), (3, 4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 1, 4, 5), (1, 3, 4, 5), (2, 3, 4, 5)],
    (2, 1, 2): [(4, 5)],
}


@criterion("causal_mask.apply")
def test_the_mask_is_broadcast(check, rng):
    for leading, shapes in SHAPES.items():
        for shape in shapes:
            check.apply_mask(rng.normal(size=(*leading, 4, 5)), rng.random(shape) < 0.6)


@criterion("causal_mask.apply")
def test_scores_of_any_size_and_sign(check, rng):
    past = np.tri(3, dtype=bool)
    for scores in varied(rng, (2, 1, 3), (2, 20, 2), (2, 2, 33), (2, 4, 4), start=1):
        check.apply_mask(1e9 * scores, random_mask(rng, *scores.shape[1:]))
    check.apply_mask(rng.normal(size=(3, 3, 3)), past)
    check.apply_mask(np.array([[2.0]]), np.array([[True]]))
    check.apply_mask(scores=by_columns(rng.normal(size=(2, 3, 3))), mask=np.stack([past & False, past]))
    check.apply_mask(rng.normal(size=(3, 3, 3)), past[:, np.newaxis])
    check.apply_mask(rng.normal(size=(3, 3)), past.T)
    check.apply_mask(single(rng.normal(size=(2, 3, 3))), past & False)


@criterion("causal_mask.apply")
def test_the_result_is_a_new_array_even_when_nothing_is_hidden(check, rng):
    check.new.apply_mask(rng.normal(size=(3, 4)), np.ones((1, 4), dtype=bool))
    check.new.apply_mask(rng.normal(size=(2, 3, 4)), np.ones((2, 3, 4), dtype=bool))


@criterion("causal_mask.dependency")
def test_finds_weak_influences_on_a_large_output_of_another_width(check, rng):
    check.dependency_matrix(
        lambda x: 1e5 + np.array([[0, 0, -0.03], [0.02, 0, 0], [0, 0.03, 0.02]]) @ np.hstack([0 * x, x[:, 2:]]),
        np.round(rng.normal(0, 5, (3, 3))),
    )


@criterion("causal_mask.dependency")
def test_sees_a_row_that_turns_and_keeps_its_length(check, rng):
    check.dependency_matrix(turning, rng.uniform(1, 2, (4, 3)))


@criterion("causal_mask.dependency")
def test_delta_sets_the_size_of_the_change(check, rng):
    check.dependency_matrix(beyond_one, rng.uniform(-0.5, 0.5, (2, 3)), delta=50.0)
    hardly = lambda x: np.tri(2) @ (x - np.clip(x, -5e-4, 5e-4)) + 100 * x[:, :1]  # noqa: E731
    check.dependency_matrix(hardly, np.zeros((2, 3)), 1e-6)


@criterion("causal_mask.dependency")
def test_from_no_influence_to_every_influence(check, rng):
    check.dependency_matrix(
        f=lambda x: np.pad(np.vstack([x[7:], 0 * x[1:7], x[:1]])[:, 1:], ((0, 0), (1, 1))),
        x=by_columns(rng.normal(size=(8, 2))),
    )
    check.dependency_matrix(lambda x: np.ones((len(x), 2)), rng.uniform(1, 2, (3, 2)))
    check.dependency_matrix(lambda x: np.full((len(x), 1), (x @ [0.7, 1.9]).sum()), -rng.uniform(1, 2, (2, 2)))
    check.dependency_matrix(lambda x: np.ones((1, 2)), np.array([[2.0]]))
    check.dependency_matrix(lambda x: np.cumsum(x, axis=0), single(rng.normal(size=(2, 1))))


@criterion("causal_mask.dependency_change")
def test_sees_what_a_careless_change_does_not_show(check, rng):
    check.dependency_matrix(hiding, np.array([[1.0], [-1.0], [0.0]]) * rng.uniform(0.6, 0.9, (3, 5)))
    check.dependency_matrix(lambda x: -np.abs(np.cumsum(x[::-1], axis=0)[::-1]), np.zeros((2, 3)))


@criterion("causal_mask.dependency_change")
def test_a_function_may_return_its_argument(check, rng):
    check.dependency_matrix(lambda x: x, rng.normal(size=(2, 4)))


@criterion("causal_mask.autoregressive")
def test_a_single_leak_that_a_uniform_shift_of_a_row_does_not_show(check, rng):
    x = np.pad(rng.normal(size=(2, 3)), ((0, 3), (0, 0)))
    f = lambda x: np.hstack([0 * x, (np.tri(5) - np.diag([0, 0.5, 0], 2)) @ np.diff(x)])  # noqa: E731
    assert not check.is_autoregressive(f, x)


@criterion("causal_mask.autoregressive")
def test_one_leak_is_enough_and_none_need_be_seen(check, rng):
    for f in (
        lambda x: 1e5 + ((np.eye(3) + np.diag([0.03], 2)) @ x)[:, :1],
        lambda x: 1e5 + ((np.eye(3) + np.diag([0, 0.03], 1)) @ x)[:, :1],
        lambda x: 1e5 + ((np.eye(3) + np.diag([0.03, 0], 1)) @ x)[:, :1],
    ):
        assert not check.is_autoregressive(f, -rng.uniform(1, 2, (3, 2)))
    assert check.is_autoregressive(lambda x: x, np.zeros((2, 3)))
    assert check.is_autoregressive(lambda x: np.ones((len(x), 4)), rng.normal(size=(2, 3)))
    assert check.is_autoregressive(f=lambda x: np.cumsum(x, axis=0), x=single(rng.normal(size=(8, 1))))
    assert check.is_autoregressive(lambda x: 2 * x, np.array([[3.0]]))
    # Whether this f leaks depends on x: only positive entries of later rows have an effect.
    assert check.is_autoregressive(lambda x: np.tri(3).T @ np.maximum(x, 0), -rng.uniform(1, 2, (3, 2)))


@criterion("causal_mask.purity")
def test_calls_of_the_masks_leave_no_trace(check, rng):
    leaves_no_trace(check, "padding_mask", (np.array([2, 0, 3]), 3), (np.array([1, 3, 2]), 3))
    check.padding_mask(np.array([2, 0, 3]), 4)
    first, second = ((rng.normal(size=(2, 3)), random_mask(rng, 2, 3)) for _ in "12")
    leaves_no_trace(check, "apply_mask", first, second)
    past, scores = np.tri(3, dtype=bool), rng.normal(size=(2, 3, 3))
    for mask in (past | True, past[:1], np.stack([past & False, past])):
        check.untouched.apply_mask(scores, mask)
    check.untouched.apply_mask(single(scores[0, :1]), past[:1] & False)
    for lengths in ([1, 4], [-1, 2]):
        check.untouched.raises(ValueError).padding_mask(np.array(lengths), 3)


@criterion("causal_mask.purity")
def test_calls_of_the_experiments_leave_no_trace(check, rng):
    # So small compared with delta that adding and subtracting a change leaves a rounding error.
    x, zeros = np.vstack([rng.normal(0, 1e-4, 3), np.zeros(3)]), np.zeros((2, 3))
    check.untouched.dependency_matrix(lambda x: np.tri(2) @ x, x, 1e3)
    far = lambda x: np.tri(2).T @ np.maximum(np.abs(x) - 1, 0)  # noqa: E731
    for function in ("dependency_matrix", "is_autoregressive"):
        leaves_no_trace(check, function, (lambda x: np.tri(2) @ x, 3 + zeros), (far, zeros))
    check.untouched.dependency_matrix(lambda x: x, x)
    check.untouched.is_autoregressive(lambda x: x, x)


@criterion("causal_mask.dtype")
def test_masked_scores_keep_their_dtype(check, rng):
    for dtype in (np.float64, np.float32):
        check.dtype.apply_mask(rng.normal(size=(2, 3)).astype(dtype), np.tri(2, 3, dtype=bool))
    check.dtype.apply_mask(rng.normal(size=(2, 2, 3)).astype(np.float32), np.ones((1, 3), dtype=bool))
