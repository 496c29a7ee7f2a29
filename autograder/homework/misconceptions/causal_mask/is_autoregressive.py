"""Misconceptions about is_autoregressive."""

import numpy as np

from autograder.homework.library import written
from causal_mask import dependency_matrix

THINGS = "the docstring of `dependency_matrix`"
VARIED = "Change every feature of the row by a different amount."


@written
def is_autoregressive(f, x):
    influences = dependency_matrix(f, x)
    return not np.triu(influences, k=1).any()


FUTURE = "Check exactly the entries above the diagonal of the dependency matrix, as np.triu(..., k=1) selects them."
ANY = "One output row that depends on one later input row is enough to return False."
ASKED = "not np.triu(influences, k=1).any()"

is_autoregressive.wrong("negated", "autoregressive", {"not ": ""}, does="Your code swaps True and False.",
    right="True means that no output row depends on a later input row.")
is_autoregressive.wrong("past_examined", "autoregressive", {"np.triu(influences, k=1)": "np.tril(influences, k=-1)"},
    does="Your code checks below the diagonal, which is the past.", right=FUTURE, read="numpy.triu")
is_autoregressive.wrong("diagonal_forbidden", "autoregressive", {", k=1": ""},
    does="Your code counts the diagonal as the future, so it rejects every decoder in which a position uses its own token.", right=FUTURE, read="numpy.triu, argument k")
is_autoregressive.wrong("second_diagonal_allowed", "autoregressive", {"k=1": "k=2"},
    does="Your code allows an output row to depend on the next input row.", right=FUTURE, read="numpy.triu, argument k")
is_autoregressive.wrong("whole_past_required", "autoregressive", {ASKED: "np.array_equal(influences, np.tri(len(x), dtype=bool))"},
    does="Your code requires every row to depend on all earlier rows, so it rejects a decoder that ignores part of the past.", right="A row may be independent of earlier rows. " + FUTURE)
is_autoregressive.wrong("all_leaks_required", "autoregressive", {ASKED: "not influences[np.triu_indices(len(x), k=1)].all()"},
    does="Your code counts a leak only if an output row depends on every later row.", right=ANY, read="numpy.any and numpy.all")
is_autoregressive.wrong("next_row_only", "autoregressive", {"np.triu(influences, k=1)": "np.diagonal(influences, offset=1)"},
    does="Your code checks only the next input row.", right=FUTURE, read="numpy.triu")
is_autoregressive.wrong("last_input_only", "autoregressive", {"np.triu(influences, k=1)": "influences[:-1, -1]"},
    does="Your code checks only the last input row, so it accepts a function that leaks any other row.", right=FUTURE)
is_autoregressive.wrong("first_output_only", "autoregressive", {"np.triu(influences, k=1)": "influences[0, 1:]"},
    does="Your code checks only the first output row.", right=FUTURE)
is_autoregressive.wrong("first_pair_only", "autoregressive", {"np.triu(influences, k=1)": "influences[:1, 1:2]"},
    does="Your code returns after it has checked one pair of rows.", right="Return True only after checking all pairs. " + ANY)
is_autoregressive.wrong("another_x", "autoregressive",
    *({"(f, x)\n    return": f"(f, {own})\n    return"} for own in ("np.random.default_rng(0).normal(size=x.shape)", "np.ones_like(x)", "0 * x")),
    does="Your code ignores the argument x and evaluates f near a different input.", right="Evaluate f near x: its dependencies can differ elsewhere.")


@is_autoregressive.instead("future_set_to_zero", "autoregressive",
    does="Your code sets the later rows to zero, which does not change rows of zeros.",
    right=VARIED, read=THINGS)
def is_autoregressive__future_set_to_zero(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] = 0
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@is_autoregressive.instead("uniform_shift", "autoregressive",
    does="Your code shifts all features of a row by the same amount, which a layer norm ignores.", right=VARIED, read=THINGS)
def is_autoregressive__uniform_shift(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] += 1e-3
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@is_autoregressive.instead("called_with_fewer_rows", "autoregressive",
    does="Your code calls f with only the first rows.", right="Call f with all rows of x.")
def is_autoregressive__called_with_fewer_rows(f, x):
    before = np.array(f(x.copy()))
    return all(bool(np.allclose(f(x[:i].copy()), before[:i], atol=1e-8)) for i in range(1, len(x)))


is_autoregressive.wrong("changes_x", "purity", {"    influences =": "    x += 1e-3\n    influences ="})


def argument_itself(x):
    return x


def row_before(x):
    return np.vstack([np.zeros_like(x[:1]), x[:-1]])


def first_centred_row_plus_the_third(x):
    return np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]]) @ (x - x.mean(axis=1, keepdims=True))


def first_row_plus_the_second(x):
    return np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]) @ x


def second_centred_row_plus_the_third(x):
    return np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]) @ (x - x.mean(axis=1, keepdims=True))


def first_row_plus_what_is_positive_in_the_second(x):
    return x + np.array([[1], [0], [0]]) * np.maximum(x[1], 0)


ONE = np.array([[2.0, -1.0, 0.5]])
TWO = np.array([[3.0, 0.5], [0.0, 2.0]])
THREE = np.array([[2.0, 1.0, -1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]])
BELOW_ZERO = np.array([[2.0, -1.0], [-1.0, -2.0], [0.5, 3.0]])

EXAMPLES = {
    "is_autoregressive": [
        ((argument_itself, ONE), {}),
        ((row_before, TWO), {}),
        ((first_row_plus_the_second, THREE), {}),
        ((first_centred_row_plus_the_third, THREE), {}),
        ((second_centred_row_plus_the_third, THREE), {}),
        ((first_row_plus_what_is_positive_in_the_second, BELOW_ZERO), {}),
    ],
}
