"""Known mistakes in causal_mask.py."""

import numpy as np

from autograder.homework.catalogue import misconception
from autograder.homework.reference import dependency_matrix

# causal_mask


@misconception(
    "The diagonal is False; a position may see itself, else the first one sees nothing.",
    read="np.tril, argument k",
)
def causal_mask__strict(t):
    return np.tril(np.ones((t, t), dtype=bool), k=-1)


@misconception(
    "The next position is visible as well; a query sees itself and what came before.",
    read="np.tril, argument k",
)
def causal_mask__one_ahead(t):
    return np.tril(np.ones((t, t), dtype=bool), k=1)


@misconception(
    "The mask is transposed; rows are queries, columns are keys.",
    read="causal_mask docstring, formula",
)
def causal_mask__transposed(t):
    return np.triu(np.ones((t, t), dtype=bool))


@misconception(
    "True marks what is hidden; True means that the query may look.",
    read="module docstring, on masks",
)
def causal_mask__inverted(t):
    return np.triu(np.ones((t, t), dtype=bool), k=1)


@misconception(
    "The mask holds 0 and -inf, to be added to scores; it is boolean, True where the query may look.",
    read="causal_mask docstring, Returns",
)
def causal_mask__additive(t):
    return np.where(np.tri(t, dtype=bool), 0.0, -np.inf)


@misconception(
    "The mask holds the numbers 0 and 1; it is boolean.",
    read="np.ones, argument dtype",
)
def causal_mask__numbers(t):
    return np.tril(np.ones((t, t)))


@misconception(
    "The mask has a leading axis of length one; it is (t, t).",
    read="causal_mask docstring, Returns",
)
def causal_mask__batch_axis(t):
    return np.tri(t, dtype=bool)[np.newaxis]


@misconception(
    "The mask is cut from a table of fixed size, too small for a longer sequence; make it for each t.",
    read="causal_mask docstring, Arguments",
)
def causal_mask__fixed_size(t):
    return np.tri(8, dtype=bool)[:t, :t]


@misconception(
    "A single position is refused; t may be 1, and the mask is then [[True]].",
    read="causal_mask docstring, Arguments",
)
def causal_mask__one_refused(t):
    if t < 2:
        raise ValueError("t must be above 1")
    return np.tri(t, dtype=bool)


# padding_mask


@misconception(
    "True marks the padding; True means that the key may be seen.",
    read="module docstring, on masks",
)
def padding_mask__inverted(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t) >= lengths[:, np.newaxis, np.newaxis]


@misconception(
    "One key too many is visible; a sequence of length n has the keys 0 to n - 1.",
    read="padding_mask docstring, formula",
)
def padding_mask__one_too_many(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t) <= lengths[:, np.newaxis, np.newaxis]


@misconception(
    "The last key of each sequence is hidden; a sequence of length n has the keys 0 to n - 1.",
    read="padding_mask docstring, formula",
)
def padding_mask__one_too_few(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(1, t + 1) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "The padding is taken to stand in front; it stands at the end.",
    read="padding_mask docstring, formula",
)
def padding_mask__padding_in_front(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t)[::-1] < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "The axis of the queries is missing; (b, 1, t) is what broadcasts against scores (b, t_q, t).",
    read="padding_mask docstring, Returns",
)
def padding_mask__no_query_axis(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t) < lengths[:, np.newaxis]


@misconception(
    "Queries are masked instead of keys; the keys are the last axis, in (b, 1, t).",
    read="padding_mask docstring, Returns",
)
def padding_mask__queries_masked(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return (np.arange(t) < lengths[:, np.newaxis])[:, :, np.newaxis]


@misconception(
    "The mask is as wide as the longest sequence; it is t wide.",
    read="padding_mask docstring, Returns",
)
def padding_mask__width_of_the_longest(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(lengths.max()) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "Lengths out of range are accepted; ValueError is due for a negative length and for one above t.",
    read="padding_mask docstring, Raises",
)
def padding_mask__no_error(lengths, t):
    return np.arange(t) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "Negative lengths are accepted; ValueError is due.",
    read="padding_mask docstring, Raises",
)
def padding_mask__negative_accepted(lengths, t):
    if np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "An assert raises AssertionError; ValueError is due for lengths out of range.",
    read="padding_mask docstring, Raises",
)
def padding_mask__assertion(lengths, t):
    assert np.all(lengths >= 0) and np.all(lengths <= t)
    return np.arange(t) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "A length of 0 is refused; such a sequence is padding throughout, and allowed.",
    read="padding_mask docstring, Raises",
)
def padding_mask__zero_refused(lengths, t):
    if np.any(lengths < 1) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    return np.arange(t) < lengths[:, np.newaxis, np.newaxis]


@misconception(
    "A length of t is refused; such a sequence has no padding, and is allowed.",
    read="padding_mask docstring, Raises",
)
def padding_mask__full_length_refused(lengths, t):
    if np.any(lengths < 0) or np.any(lengths >= t):
        raise ValueError("a length is out of range")
    return np.arange(t) < lengths[:, np.newaxis, np.newaxis]


# apply_mask


@misconception(
    "Scores are hidden where the mask is True; True means that the query may look.",
    read="module docstring, on masks",
)
def apply_mask__inverted(scores, mask):
    return np.where(mask, -np.inf, scores)


@misconception(
    "Hidden scores become zero, which still gets a weight since exp(0) = 1; they become -inf.",
    read="apply_mask docstring, formula",
)
def apply_mask__zero(scores, mask):
    return np.where(mask, scores, 0.0)


@misconception(
    "Hidden scores become -1e9; they become -inf, which no score comes near.",
    read="apply_mask docstring, formula",
)
def apply_mask__minus_1e9(scores, mask):
    return np.where(mask, scores, -1e9)


@misconception(
    "Minus infinity times the mask is added, and -inf * 0 is nan; choose with np.where instead.",
    read="np.where",
)
def apply_mask__infinity_times_zero(scores, mask):
    return scores + ~mask * -np.inf


@misconception(
    "The mask is transposed; its rows are the queries and its columns the keys.",
    read="apply_mask docstring, Arguments",
)
def apply_mask__transposed(scores, mask):
    return np.where(np.swapaxes(mask, -1, -2), scores, -np.inf)


@misconception(
    "Indexing with the mask needs it in full shape; let it broadcast, as np.where does.",
    read="np.where; NumPy manual, Broadcasting",
)
def apply_mask__mask_as_index(scores, mask):
    result = scores.astype(np.result_type(scores, np.float32))
    result[..., ~mask] = -np.inf
    return result


@misconception(
    "-inf is written into a copy of integer scores, which cannot hold it; integers count as float64.",
    read="np.where; NumPy manual, Data type promotion",
)
def apply_mask__integers_stay_integers(scores, mask):
    result = scores.copy()
    result[~np.broadcast_to(mask, scores.shape)] = -np.inf
    return result


@misconception(
    "Hidden scores are overwritten in the caller's array; the result is a new one.",
    read="NumPy manual, Copies and views",
)
def apply_mask__in_place(scores, mask):
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    return scores


@misconception(
    "The caller's array itself comes back when nothing is hidden; the result is always a new array.",
    read="NumPy manual, Copies and views",
)
def apply_mask__argument_returned(scores, mask):
    return scores if mask.all() else np.where(mask, scores, -np.inf)


@misconception(
    "The result is float64 whatever the scores are; float32 scores stay float32.",
    read="np.full, argument dtype",
)
def apply_mask__always_float64(scores, mask):
    result = np.full(scores.shape, -np.inf)
    return np.where(mask, scores, result)


# dependency_matrix


@misconception(
    "The matrix is transposed; rows are outputs, columns are inputs.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__transposed(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "All features of a row are shifted alike, which a layer norm does not see; let the shift differ.",
    read="dependency_matrix docstring, things to think of",
)
def dependency_matrix__uniform_shift(f, x, delta=1e-3):
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += delta
        result[:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "Only the first feature of a row is changed; f may depend on any of them.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__first_feature_only(f, x, delta=1e-3):
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j, 0] += delta
        result[:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "Rows are changed by a factor, which does nothing to a row of zeros; add something to them.",
    read="dependency_matrix docstring, things to think of",
)
def dependency_matrix__factor(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] *= 1 + change
        result[:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "A changed row is not put back before the next one is changed; change one row at a time.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__changes_pile_up(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    changed = x.copy()
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed[j] += change
        result[:, j] = np.any(np.abs(f(changed.copy()) - before) > 1e-8, axis=1)
    return result


@misconception(
    "f may return its argument itself, and that array is written into later; give f a copy.",
    read="dependency_matrix docstring, things to think of",
)
def dependency_matrix__argument_shared(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    work = x.copy()
    before = f(work)
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        work[j] += change
        result[:, j] = np.any(np.abs(f(work) - before) > 1e-8, axis=1)
        work[j] = x[j]
    return result


@misconception(
    "The differences of a row are added up and can cancel; look at each one's absolute value.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__differences_cancel(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = np.abs((f(changed) - before).sum(axis=1)) > 1e-8
    return result


@misconception(
    "Only a rise of the output counts; a fall is a change, too: take the absolute value.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__only_rises(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = np.any(f(changed) - before > 1e-8, axis=1)
    return result


@misconception(
    "Only a change of the output above delta counts; above 1e-8 is enough.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__threshold_delta(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = np.any(np.abs(f(changed) - before) > delta, axis=1)
    return result


@misconception(
    "np.isclose also allows a relative difference, which hides small changes of large outputs; use 1e-8.",
    read="np.isclose, argument rtol",
)
def dependency_matrix__isclose(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = ~np.all(np.isclose(f(changed), before), axis=1)
    return result


@misconception(
    "Every output row must change in all its features; one feature is enough.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__all_features(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = np.all(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "The argument delta is not used: the change is always about 1e-3.",
    read="dependency_matrix docstring, argument delta",
)
def dependency_matrix__delta_ignored(f, x, delta=1e-3):
    change = 1e-3 * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "f is tried at the origin instead of at x, where its dependencies may be others.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__at_the_origin(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    origin = np.zeros(x.shape)
    before = np.array(f(origin.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = origin.copy()
        changed[j] += change
        result[:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "A step up is compared with a step down, which an even function does not tell apart; use f(x).",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__central_difference(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        up, down = x.copy(), x.copy()
        up[j] += change
        down[j] -= change
        result[:, j] = np.any(np.abs(np.array(f(up)) - f(down)) > 1e-8, axis=1)
    return result


@misconception(
    "The future is taken for granted to be invisible: everything above the diagonal is set to False.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__causal_by_decree(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[j:, j] = np.any(np.abs(f(changed) - before) > 1e-8, axis=1)[j:]
    return result


@misconception(
    "The diagonal is set to True; an output row need not depend on its own input row.",
    read="dependency_matrix docstring, formula",
)
def dependency_matrix__diagonal_by_decree(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before = np.array(f(x.copy()))
    result = np.eye(len(x), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        result[:, j] |= np.any(np.abs(f(changed) - before) > 1e-8, axis=1)
    return result


@misconception(
    "The output is stored in an array of x's shape; f may return rows of another width.",
    read="dependency_matrix docstring, Arguments",
)
def dependency_matrix__width_of_x(f, x, delta=1e-3):
    change = delta * np.linspace(1.0, 2.0, x.shape[1])
    before, after = np.empty(x.shape), np.empty(x.shape)
    before[:] = f(x.copy())
    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += change
        after[:, :] = f(changed).reshape(x.shape)
        result[:, j] = np.any(np.abs(after - before) > 1e-8, axis=1)
    return result


# is_autoregressive


@misconception(
    "The answer is reversed; True says that no output row depends on a later input row.",
    read="is_autoregressive docstring, first line",
)
def is_autoregressive__negated(f, x):
    return bool(np.triu(dependency_matrix(f, x), k=1).any())


@misconception(
    "The triangle below the diagonal is examined; later inputs stand above it.",
    read="np.triu",
)
def is_autoregressive__past_examined(f, x):
    return not np.tril(dependency_matrix(f, x), k=-1).any()


@misconception(
    "The diagonal counts as future; an output row may depend on the input row of the same position.",
    read="np.triu, argument k",
)
def is_autoregressive__diagonal_forbidden(f, x):
    return not np.triu(dependency_matrix(f, x)).any()


@misconception(
    "The whole causal mask is demanded; an output row need not depend on every earlier input row.",
    read="is_autoregressive docstring, formula",
)
def is_autoregressive__whole_past_required(f, x):
    return bool(np.array_equal(dependency_matrix(f, x), np.tri(len(x), dtype=bool)))


@misconception(
    "A leak counts only if every later row is seen; a single one is enough.",
    read="np.any and np.all",
)
def is_autoregressive__all_leaks_required(f, x):
    above = np.triu(np.ones((len(x), len(x)), dtype=bool), k=1)
    return not dependency_matrix(f, x)[above].all()


@misconception(
    "Only the next input row is examined; a leak may come from further ahead.",
    read="np.triu, argument k",
)
def is_autoregressive__next_row_only(f, x):
    return not np.diagonal(dependency_matrix(f, x), offset=1).any()


@misconception(
    "Only the last input row is changed; a leak may come from any later row.",
    read="is_autoregressive docstring, first line",
)
def is_autoregressive__last_input_only(f, x):
    return not dependency_matrix(f, x)[:-1, -1].any()


@misconception(
    "Only the first output row is examined; any row may see a later one.",
    read="is_autoregressive docstring, first line",
)
def is_autoregressive__first_output_only(f, x):
    return not dependency_matrix(f, x)[0, 1:].any()


@misconception(
    "The later rows are replaced by zeros, which shows nothing where they are zero already; change them.",
    read="dependency_matrix docstring, things to think of",
)
def is_autoregressive__future_set_to_zero(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] = 0
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@misconception(
    "Later rows are shifted uniformly, which a layer norm does not see; let the shift differ.",
    read="dependency_matrix docstring, things to think of",
)
def is_autoregressive__uniform_shift(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] += 1e-3
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@misconception(
    "f is called with the first rows alone; it may need all t of them.",
    read="is_autoregressive docstring, Arguments",
)
def is_autoregressive__called_with_fewer_rows(f, x):
    before = np.array(f(x.copy()))
    return all(bool(np.allclose(f(x[:i].copy()), before[:i], atol=1e-8)) for i in range(1, len(x)))


def argument_itself(x):
    return x


def running_sum(x):
    return np.cumsum(x, axis=0)


def row_before(x):
    return np.vstack([np.zeros_like(x[:1]), x[:-1]])


def last_feature_of_the_next_row(x):
    return -np.roll(x, -1, axis=0)[:, -1:]


def centred(x):
    return x - x.mean(axis=1, keepdims=True)


def cube_on_top_of_100(x):
    return 100.0 + 0.01 * x**3


def beyond_one(x):
    return np.maximum(np.abs(x) - 1.0, 0.0)


def first_centred_row_plus_the_third(x):
    return np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]]) @ (x - x.mean(axis=1, keepdims=True))


def first_row_plus_the_second(x):
    return np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]) @ x


def second_centred_row_plus_the_third(x):
    return np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]) @ (x - x.mean(axis=1, keepdims=True))


ONE = np.array([[2.0, -1.0, 0.5]])
TWO = np.array([[1.0, 0.5], [0.0, 2.0]])
THREE = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]])
SCORES = np.array([[1.0, 2.0], [3.0, 4.0]])
WIDE_SCORES = np.array([[1.0, 0.0, 2.0], [0.5, -1.0, 3.0]])

EXAMPLES = {
    "causal_mask": [((1,), {}), ((3,), {}), ((9,), {})],
    "padding_mask": [
        ((np.array([1, 2, 0]), 3), {}),
        ((np.array([0, 3]), 3), {}),
        ((np.array([3]), 2), {}),
        ((np.array([-1]), 2), {}),
    ],
    "apply_mask": [
        ((SCORES, np.array([[True, False], [True, True]])), {}),
        ((WIDE_SCORES, np.array([[True, False, True]])), {}),
        ((np.array([[1, 2], [3, 4]]), np.array([[True, False], [True, True]])), {}),
    ],
    "dependency_matrix": [
        ((argument_itself, ONE), {}),
        ((centred, ONE), {}),
        ((cube_on_top_of_100, ONE), {}),
        ((beyond_one, np.array([[0.0, 0.0]])), {"delta": 10.0}),
        ((last_feature_of_the_next_row, THREE), {}),
    ],
    "is_autoregressive": [
        ((argument_itself, ONE), {}),
        ((row_before, TWO), {}),
        ((first_row_plus_the_second, THREE), {}),
        ((first_centred_row_plus_the_third, THREE), {}),
        ((second_centred_row_plus_the_third, THREE), {}),
    ],
}
