"""Misconceptions about dependency_matrix."""

import numpy as np

from autograder.homework.library import written


@written
def dependency_matrix(f, x, delta=1e-3):
    t, d = x.shape
    change = delta * np.linspace(1.0, 2.0, d)
    before = np.array(f(x.copy()))
    result = np.zeros((t, t), dtype=bool)
    for j in range(t):
        for step in (change, -change):
            changed = x.copy()
            changed[j] += step
            after = np.array(f(changed))
            difference = np.abs(after - before)
            result[:, j] |= np.any(difference > 1e-8, axis=1)
    return result


# Ways to try a row: all features at once, up and down or up alone, then one by one. A mistake shows differently in each.
STEPS = ("(change, -change)", "(change,)", "delta * np.eye(d)", "delta * np.vstack([np.eye(d), -np.eye(d)])")
THINGS = "the docstring of `dependency_matrix`"
ANY = "np.any(difference > 1e-8, axis=1)"


def tried(edits, steps=STEPS):
    return [edits | {STEPS[0]: step} for step in steps]


ROWS = "Rows are outputs, columns are inputs: result[i, j] is True if row j of x affects row i of f(x)."
EVERY = "A change of more than 1e-8 in one output, in either direction, is enough."
VARIED = "Change every feature of the row by a different amount."
COMPARED = "Compare f(changed x) with f(x)."
ADDED = "Add steps of about delta, which also change zeros, a different one to each feature."

dependency_matrix.wrong("transposed", "dependency", {"return result": "return result.T"}, does="Your matrix is transposed, so a causal function looks as if it saw the future.",
    right=ROWS)
dependency_matrix.wrong("differences_cancel", "dependency",
    *tried({ANY: "np.abs((after - before).sum(axis=1)) > 1e-8"}),
    does="Your code sums the differences in a row, which can cancel out.", right=EVERY)
dependency_matrix.wrong("lengths_compared", "dependency",
    *tried({ANY: "np.abs(np.sqrt((after**2).sum(axis=1)) - np.sqrt((before**2).sum(axis=1))) > 1e-8"}),
    does="Your code compares the norms of the output rows, which do not change when a row only rotates.", right=EVERY)
dependency_matrix.wrong("only_rises", "dependency", *tried({"np.abs(after - before)": "after - before"}, STEPS[1:3]),
    does="Your code counts only outputs that increase.", right=EVERY, read="numpy.abs")
dependency_matrix.wrong("only_falls", "dependency", *tried({"np.abs(after - before)": "before - after"}, STEPS[1:3]),
    does="Your code counts only outputs that decrease.", right=EVERY, read="numpy.abs")
dependency_matrix.wrong("threshold_delta", "dependency", *tried({"> 1e-8": "> delta"}),
    does="Your code counts only changes above delta.", right=EVERY)
dependency_matrix.wrong("threshold_high", "dependency",
    *tried({"> 1e-8": "> 1e-4"}), *tried({"> 1e-8": "> 1e-3"}),
    does="Your code misses small changes in the output because its threshold is too high.", right=EVERY)
dependency_matrix.wrong("isclose", "dependency", *tried({ANY: "~np.all(np.isclose(after, before), axis=1)"}),
    *tried({ANY: "~np.all(np.isclose(after, before, atol=0), axis=1)"}),
    does="Your code uses a tolerance relative to the output, as np.isclose does, which hides small changes in large outputs.",
    right=EVERY,
    read="numpy.isclose, argument rtol")
dependency_matrix.wrong("all_features", "dependency", *tried({"np.any(difference": "np.all(difference"}),
    does="Your code requires all outputs of a row to change.", right=EVERY, read="numpy.any and numpy.all")
dependency_matrix.wrong("first_output_feature", "dependency", *tried({"(difference >": "(difference[:, :1] >"}),
    does="Your code checks only the first output feature.", right=EVERY)
dependency_matrix.wrong("same_row_only", "dependency", {"return result": "return result & np.eye(t, dtype=bool)"},
    does="Your code checks only the output row with the same index as the changed input row.", right=ROWS)
dependency_matrix.wrong("delta_ignored", "dependency",
    *({"change = delta *": "change = 1e-3 *", STEPS[0]: step.replace("delta", "1e-3")} for step in STEPS),
    does="Your code ignores the argument delta and uses 1e-3.", right="Use delta as the size of the change.")
dependency_matrix.wrong("at_the_origin", "dependency", *tried({"f(x.copy())": "f(0 * x)", "changed = x.copy()": "changed = 0 * x"}),
    does="Your code evaluates f near zero instead of near x.", right="Evaluate f near x: its dependencies can differ elsewhere.")
dependency_matrix.wrong("causal_by_decree", "dependency", {"return result": "return np.tril(result)"},
    does="Your code sets every entry above the diagonal to False, so it never finds a leak from the future.",
    right="Report effects in both directions: result[i, j] is True if row j of x affects row i of f(x), also for j > i.")
dependency_matrix.wrong("diagonal_by_decree", "dependency", {"return result": "return result | np.eye(t, dtype=bool)"},
    does="The diagonal of your matrix is always True.", right="An output row may be independent of its own input row.")
dependency_matrix.wrong("width_of_x", "dependency",
    {"f(changed))": "f(changed)).reshape(x.shape)", "f(x.copy()))": "f(x.copy())).reshape(x.shape)"},
    does="Your code requires f(x) to be as wide as x.", right="The rows of f(x) may have any width.")
dependency_matrix.wrong("compared_with_x", "dependency", *tried({"before = np.array(f(x.copy()))": "before = x.copy()"}),
    does="Your code compares f(changed x) with x.", right=COMPARED)
dependency_matrix.wrong("numbers", "dependency", {"return result": "return result.astype(float)"},
    {"return result": "return result.astype(int)"},
    does="Your matrix contains numbers.", right="Return a boolean array: True where row j of x affects row i of f(x).",
    read="numpy.ndarray.astype")
dependency_matrix.wrong("inverted", "dependency", {"return result": "return ~result"},
    does="Your code swaps True and False.", right="True means that the output row depends on the input row.")

dependency_matrix.wrong("uniform_shift", "dependency_change", *tried({"np.linspace(1.0, 2.0, d)": "np.ones(d)"}, STEPS[:2]),
    does="Your code shifts all features of a row by the same amount, which a layer norm ignores.", right=VARIED, read=THINGS)
dependency_matrix.wrong("first_feature_only", "dependency_change", *tried({"np.linspace(1.0, 2.0, d)": "np.eye(d)[0]"}, STEPS[:2]),
    does="Your code changes only the first feature of a row.", right=VARIED, read=THINGS)
dependency_matrix.wrong("factor", "dependency_change", *tried({"changed[j] += step": "changed[j] *= 1 + step"}),
    *tried({"changed[j] += step": "changed[j] *= 1 + step", "np.linspace(1.0, 2.0, d)": "np.ones(d)"}, STEPS[:2]),
    {"changed[j] += step": "changed[j] *= 2"}, {"changed[j] += step": "changed[j] *= -1"},
    does="Your code multiplies the row by a factor, which does not change zeros.", right=ADDED, read=THINGS)
dependency_matrix.wrong("falls_missed", "dependency_change", *tried({"np.abs(after - before)": "after - before"}, (STEPS[0], STEPS[3])),
    does="Your code counts only outputs that increase.", right=EVERY, read="numpy.abs")
dependency_matrix.wrong("set_to_zero", "dependency_change", {"changed[j] += step": "changed[j] = 0"},
    does="Your code sets the row to zero instead of changing it by about delta.", right=ADDED, read=THINGS)
dependency_matrix.wrong("set_to_delta", "dependency_change", *tried({"changed[j] += step": "changed[j] = step"}),
    does="Your code replaces the row with the step.", right=ADDED, read=THINGS)
dependency_matrix.wrong("changes_pile_up", "dependency_change",
    *tried({"            changed = x.copy()\n": "", "    for j": "    changed = x.copy()\n    for j"}, STEPS[1:3]),
    does="When your code changes a row, the row before it has not returned to exactly its old values.",
    right="Change one row at a time, each in a new copy of x.", read=THINGS)
dependency_matrix.wrong("argument_shared", "dependency_change", *tried({
    "before = np.array(f(x.copy()))": "work = x.copy()\n    before = f(work)",
    "changed = x.copy()": "changed = work", "after = np.array(f(changed))": "after = f(changed)",
    "np.abs(after - before)": "np.abs(after - before)\n            work[j] = x[j]"}),
    does="Your code modifies an array that f received and may have returned.",
    right="Pass a copy to f, and copy the result.", read=THINGS)
dependency_matrix.wrong("central_difference", "dependency_change",
    *tried({"after - before": "after - np.array(f(2 * x - changed))"}, STEPS[1:3]),
    does="Your code compares f(x + step) with f(x - step), which are equal for an even function.", right=COMPARED, read=THINGS)
dependency_matrix.wrong("changes_x", "purity", *tried({"changed = x.copy()": "changed = x",
    "difference = np": "changed[j] -= step\n            difference = np"}, (STEPS[0], STEPS[3])),
    {"    t, d = x.shape": "    x += 0.1 * delta\n    t, d = x.shape"})


def argument_itself(x):
    return x


def row_before(x):
    return np.vstack([np.zeros_like(x[:1]), x[:-1]])


def behind_a_column_of_zeros(x):
    return np.hstack([0 * x[:, :1], x])


def a_hundredth(x):
    return 0.01 * x


def last_feature_of_the_next_row(x):
    return -np.roll(x, -1, axis=0)[:, -1:]


def centred(x):
    return x - x.mean(axis=1, keepdims=True)


def cube_on_top_of_100(x):
    return 100.0 + 0.01 * x**3


def beyond_one(x):
    return np.maximum(np.abs(x) - 1.0, 0.0)


def zero_near_0_and_at_1(x):
    return np.maximum(np.abs(x) - 0.5, 0.0) * (np.abs(x) - 1.0)


def sum_of_the_features(x):
    return x.sum(axis=1, keepdims=True)


def minus_the_distance_from_one_row(x):
    return -np.abs(x - np.array([[2.0, -1.0, 0.5]]))


ONE = np.array([[2.0, -1.0, 0.5]])
TWO = np.array([[3.0, 0.5], [0.0, 2.0]])
THREE = np.array([[2.0, 1.0, -1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]])

EXAMPLES = {
    "dependency_matrix": [
        ((argument_itself, ONE), {}),
        ((centred, ONE), {}),
        ((cube_on_top_of_100, ONE), {}),
        ((beyond_one, np.array([[0.5, 0.0]])), {"delta": 10.0}),
        ((last_feature_of_the_next_row, THREE), {}),
        ((row_before, TWO), {}),
        ((zero_near_0_and_at_1, np.array([[-1.0, 1.0]])), {}),
        ((behind_a_column_of_zeros, ONE), {}),
        ((a_hundredth, ONE), {}),
        ((minus_the_distance_from_one_row, ONE), {}),
        ((sum_of_the_features, ONE), {}),
    ],
}
