"""Misconceptions about influence."""

import numpy as np

from autograder.homework.library import written


@written
def influence(x, kind, eps=1e-5):
    n = len(x)
    if kind == "layer":
        return np.eye(n, dtype=bool)
    if kind == "batch_train":
        return np.ones((n, n), dtype=bool)
    if kind == "batch_eval":
        return np.eye(n, dtype=bool) | False
    raise ValueError("another kind")


ALONE = "np.eye(n, dtype=bool)\n    if"
EVAL = "np.eye(n, dtype=bool) | False"
TRAIN = "np.ones((n, n), dtype=bool)"
OWN = "Layer norm computes the mean and variance of example i from example i only, so only the diagonal is True."
SHARED = "In training, the mean and variance depend on every example of the batch, so every entry is True."
CONSTANT = "In evaluation, the mean and variance are constants, so only the diagonal is True."
THREE = 'Raise ValueError for every kind except "layer", "batch_train" and "batch_eval".'
PROBE = "Change the features by different amounts: a layer norm ignores a uniform shift."

influence.wrong("layer_mixes", "influence", {ALONE: "np.ones((n, n), dtype=bool)\n    if"},
    does='Your code reports that examples influence each other for "layer".', right=OWN,
    read="Ba et al. 2016, section 3")
influence.wrong("nothing_in_layer", "influence", {ALONE: "np.zeros((n, n), dtype=bool)\n    if"},
    does='Your code finds no influence at all for "layer", although each normalised example depends on the example itself.', right=PROBE)
influence.wrong("training_separates", "influence", {TRAIN: "np.eye(n, dtype=bool)"},
    does='Your code finds no influence between examples for "batch_train".', right=SHARED,
    read="Ioffe and Szegedy 2015, section 3.1")
influence.wrong("training_without_itself", "influence", {TRAIN: "~np.eye(n, dtype=bool)"},
    does='Your diagonal is False for "batch_train".', right=SHARED, read="Ioffe and Szegedy 2015, section 3.1")
influence.wrong("evaluation_mixes", "influence", {EVAL: "np.ones((n, n), dtype=bool)"},
    does='Your code reports that examples influence each other for "batch_eval".', right=CONSTANT,
    read="Ioffe and Szegedy 2015, section 3.1")
influence.wrong("nothing_in_evaluation", "influence", {EVAL: "np.zeros((n, n), dtype=bool)"},
    does='Your code finds no influence at all for "batch_eval".', right=CONSTANT, read="Ioffe and Szegedy 2015, section 3.1")
influence.wrong("kinds_swapped", "influence", {ALONE: "np.ones((n, n), dtype=bool)\n    if", TRAIN: "np.eye(n, dtype=bool)"},
    does='Your code swaps layer norm and batch norm, so "layer" mixes the examples of the batch.', right=OWN + " " + SHARED,
    read="Ba et al. 2016, section 3")
influence.wrong("modes_swapped", "influence", {EVAL: "np.ones((n, n), dtype=bool)", TRAIN: "np.eye(n, dtype=bool)"},
    does='Your code swaps "batch_train" and "batch_eval".', right=SHARED + " " + CONSTANT,
    read="Ioffe and Szegedy 2015, section 3.1")
influence.wrong("others_only", "influence",
    {ALONE: "~np.eye(n, dtype=bool)\n    if", EVAL: "~np.eye(n, dtype=bool)", TRAIN: "~np.eye(n, dtype=bool)"},
    does="The diagonal of your matrix is False.", right="Every example influences itself, so the diagonal is True for every kind.")
influence.wrong("inverted", "influence",
    {ALONE: "~np.eye(n, dtype=bool)\n    if", EVAL: "~np.eye(n, dtype=bool)", TRAIN: "np.zeros((n, n), dtype=bool)"},
    does="Your code swaps True and False.", right="True means that changing example j changes normalised example i.")
influence.wrong("earlier_only", "influence", {TRAIN: "np.tri(n, dtype=bool)"},
    does='For "batch_train", your code lets an example influence only later examples.', right=SHARED)
influence.wrong("features", "influence", {"len(x)": "x.shape[1]"},
    does="Your matrix has one row per feature.", right="The shape is (n, n): one row and one column per example.")
influence.wrong("numbers", "influence", {"dtype=bool": "dtype=int"},
    {ALONE: "np.eye(n)\n    if", TRAIN: "np.ones((n, n))", EVAL: "np.eye(n)"},
    does="Your matrix contains numbers.", right="Return a boolean array.", read="numpy.ones, argument dtype")
influence.wrong("no_value_error", "influence", {'raise ValueError("another kind")': "return np.eye(n, dtype=bool)"},
    {'raise ValueError("another kind")': "return None"},
    does="Your code accepts an unknown kind.", right=THREE)
influence.wrong("loose_kinds", "influence",
    {'kind == "batch_train"': 'kind.startswith("batch") and "train" in kind', 'kind == "batch_eval"': 'kind.startswith("batch")'},
    {'kind == "batch_train"': '"train" in kind', 'kind == "batch_eval"': 'kind.startswith("batch")'},
    {'kind == "batch_train"': '"train" in kind', 'kind == "batch_eval"': '"eval" in kind', 'kind == "layer"': '"layer" in kind'},
    {'kind == "batch_train"': 'kind in "batch_train"', 'kind == "batch_eval"': 'kind in "batch_eval"', 'kind == "layer"': 'kind in "layer"'},
    {"    n = len(x)": "    n = len(x)\n    kind = kind.lower()"}, {"    n = len(x)": "    n = len(x)\n    kind = kind.strip()"},
    does="Your code accepts names that only resemble the three kinds.", right=THREE)
for name, error in (("key_error", "KeyError"), ("assertion", "AssertionError"), ("type_error", "TypeError")):
    influence.wrong(name, "influence", {"ValueError": error}, does=f"Your code raises {error} for an unknown kind.", right=THREE)
influence.wrong("changes_x", "purity", {"    n = len(x)": "    n = len(x)\n    x[:, 0] += 1.0"})


TABLE = np.array([[2.0, 1.0, 6.0], [0.0, 4.0, 1.0], [3.0, 0.0, 5.0]])

EXAMPLES = {
    "influence": [
        ((TABLE, "layer"), {}),
        ((TABLE, "batch_train"), {}),
        ((TABLE, "batch_eval"), {}),
        ((np.vstack([TABLE, np.zeros(3)]), "layer"), {}),
        ((TABLE, "batch"), {}),
        ((TABLE, "Layer"), {}),
        ((TABLE, "lay"), {}),
        ((TABLE, " layer"), {}),
    ],
}
