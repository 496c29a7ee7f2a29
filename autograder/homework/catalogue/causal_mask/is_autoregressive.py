"""Known mistakes in is_autoregressive."""

import numpy as np

from autograder.homework.mistakes import written
from autograder.homework.reference import dependency_matrix

THINGS = "the part Things to think of in the docstring of `dependency_matrix`"
VARIED = "Change every feature of the row, each by another amount."


@written
def is_autoregressive(f, x):
    influences = dependency_matrix(f, x)
    return not np.triu(influences, k=1).any()


FUTURE = "Everything above the diagonal counts, and nothing else: np.triu(influences, k=1)."
ANY = "One output row that depends on one later input row is enough for False."
ASKED = "not np.triu(influences, k=1).any()"

is_autoregressive.wrong("negated", "autoregressive", {"not ": ""}, does="Your answer is reversed.",
    right="True says that no output row depends on a later input row.")
is_autoregressive.wrong("past_examined", "autoregressive", {"np.triu(influences, k=1)": "np.tril(influences, k=-1)"},
    does="Your code looks below the diagonal, at the past.", right=FUTURE, read="numpy.triu")
is_autoregressive.wrong("diagonal_forbidden", "autoregressive", {", k=1": ""},
    does="Your code counts the row itself as the future.", right=FUTURE, read="numpy.triu, argument k")
is_autoregressive.wrong("second_diagonal_allowed", "autoregressive", {"k=1": "k=2"},
    does="Your code allows an output row to depend on the next input row.", right=FUTURE, read="numpy.triu, argument k")
is_autoregressive.wrong("whole_past_required", "autoregressive", {ASKED: "np.array_equal(influences, np.tri(len(x), dtype=bool))"},
    does="Your code demands that every row depends on all earlier ones.", right="A row need not depend on them. " + FUTURE)
is_autoregressive.wrong("all_leaks_required", "autoregressive", {ASKED: "not influences[np.triu_indices(len(x), k=1)].all()"},
    does="Your code counts a leak only if every later row is seen.", right=ANY, read="numpy.any and numpy.all")
is_autoregressive.wrong("next_row_only", "autoregressive", {"np.triu(influences, k=1)": "np.diagonal(influences, offset=1)"},
    does="Your code looks at the next input row alone.", right=FUTURE, read="numpy.triu")
is_autoregressive.wrong("last_input_only", "autoregressive", {"np.triu(influences, k=1)": "influences[:-1, -1]"},
    does="Your code looks at the last input row alone.", right=FUTURE)
is_autoregressive.wrong("first_output_only", "autoregressive", {"np.triu(influences, k=1)": "influences[0, 1:]"},
    does="Your code looks at the first output row alone.", right=FUTURE)
is_autoregressive.wrong("first_pair_only", "autoregressive", {"np.triu(influences, k=1)": "influences[:1, 1:2]"},
    does="Your code answers after it has looked at one pair of rows.", right="Return True only after all pairs. " + ANY)
is_autoregressive.wrong("another_x", "autoregressive",
    *({"(f, x)\n    return": f"(f, {own})\n    return"} for own in ("np.random.default_rng(0).normal(size=x.shape)", "np.ones_like(x)", "0 * x")),
    does="Your code tries f at another x than the one passed in.", right="Try it at x, where its dependencies may be others.")


@is_autoregressive.instead("future_set_to_zero", "autoregressive",
    does="Your code sets the later rows to zero, which shows nothing where they are zero.",
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
    does="Your code shifts all features of a row alike, which a layer norm does not see.", right=VARIED, read=THINGS)
def is_autoregressive__uniform_shift(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] += 1e-3
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@is_autoregressive.instead("called_with_fewer_rows", "autoregressive",
    does="Your code calls f with the first rows alone.", right="Give f all rows of x: it may need them.")
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
