"""Misconceptions about batch_norm."""

import numpy as np

from autograder.homework.library import KEPT, written


@written
def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        y = gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta
        return y, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    moved = x.mean(axis=0)
    unbiased = x.var(axis=0, ddof=1)
    new_mean = (1 - momentum) * running_mean + momentum * moved
    new_var = (1 - momentum) * running_var + momentum * unbiased
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    return y, new_mean, new_var


BATCH = "In training, normalise with the mean and the population variance of the batch, over axis 0."
INSIDE = "Add eps to the variance, inside the root: sqrt(var + eps)."
FORMULA = "the formula in the docstring of `batch_norm`; Ioffe and Szegedy 2015, algorithms 1 and 2"
SOURCE = "Ioffe and Szegedy 2015, algorithms 1 and 2"

batch_norm.wrong("unbiased_in_training", "training", {" var = x.var(axis=0)": " var = x.var(axis=0, ddof=1)"},
    does="In training, your code normalises with the unbiased variance (n - 1), so the normalised features have a variance below 1.",
    right="Divide by n; n - 1 is for the running variance only.", read=FORMULA)
batch_norm.wrong("layer_statistics", "training",
    {" mean = x.mean(axis=0)": " mean = x.mean(axis=1, keepdims=True)",
    " var = x.var(axis=0)": " var = x.var(axis=1, keepdims=True)"},
    does="In training, your code normalises each example over its own features, as layer norm does, so a feature does not get mean 0 over the batch.", right=BATCH, read=SOURCE)
batch_norm.wrong("over_features", "training", {"axis=0": "axis=1"}, {"axis=0": "axis=1, keepdims=True"},
    *({"mean(axis=0)": f"mean({axis})", "x.var(axis=0)": f"x.var({axis})", "x.var(axis=0, ddof=1)": f"x.var({axis}) * len(x) / (len(x) - 1)"}
      for axis in ("axis=1", "axis=1, keepdims=True")),
    does="Your code takes all statistics over the features, as layer norm does.", right=BATCH, read=SOURCE)
batch_norm.wrong("whole_array", "training", {" mean = x.mean(axis=0)": " mean = x.mean()",
    " var = x.var(axis=0)": " var = x.var()"},
    does="In training, your code uses one mean and one variance for the whole array.", right=BATCH, read=SOURCE)
batch_norm.wrong("mean_of_whole_array", "training", {" mean = x.mean(axis=0)": " mean = x.mean()"},
    does="In training, your code subtracts the mean of the whole array.", right=BATCH, read=SOURCE)
batch_norm.wrong("variance_of_whole_array", "training", {" var = x.var(axis=0)": " var = x.var()"},
    does="In training, your code divides by the standard deviation of the whole array.", right=BATCH, read=SOURCE)
batch_norm.wrong("training_uses_running", "training", {"(x - mean) / np.sqrt(var +": "(x - new_mean) / np.sqrt(new_var +"},
    does="In training, your code normalises with the updated running statistics.", right=BATCH, read=SOURCE)
batch_norm.wrong("training_uses_old_running", "training",
    {"(x - mean) / np.sqrt(var +": "(x - running_mean) / np.sqrt(running_var +"},
    does="In training, your code normalises with the running statistics, so with the initial statistics 0 and 1 it normalises nothing.", right=BATCH, read=SOURCE)
batch_norm.wrong("variance_about_running_mean", "training",
    {" var = x.var(axis=0)": " var = np.mean((x - running_mean) ** 2, axis=0)",
    "x.var(axis=0, ddof=1)": "np.sum((x - running_mean) ** 2, axis=0) / (len(x) - 1)"},
    {" var = x.var(axis=0)": " var = np.mean((x - running_mean) ** 2, axis=0)"},
    does="In training, your code computes the variance around the running mean.", right=BATCH, read=SOURCE)
batch_norm.wrong("mean_square", "training", {" var = x.var(axis=0)": " var = (x**2).mean(axis=0)"},
    does="In training, your code uses the mean of x**2 as the variance.", right=BATCH, read=FORMULA)
batch_norm.wrong("not_centred", "training", {"(x - mean)": "x", "(x - running_mean)": "x"},
    does="Your code does not subtract the mean.", right="y = gamma * (x - mean) / sqrt(var + eps) + beta.", read=FORMULA)
batch_norm.wrong("no_root", "training", {"np.sqrt(": "("},
    does="Your code divides by the variance.", right="Divide by the standard deviation, sqrt(var + eps).", read=FORMULA)
batch_norm.wrong("gamma_beta_swapped", "training", {"gamma *": "beta *", "+ beta": "+ gamma"},
    does="Your code scales by beta and adds gamma.", right="Scale by gamma and add beta; check the order of the arguments.",
    read=FORMULA)
batch_norm.wrong("shift_before_scale", "training",
    {"gamma * (x": "gamma * ((x", "eps) + beta": "eps) + beta)"},
    does="Your code adds beta before scaling, so gamma also scales beta.", right="Scale first, then add beta.", read=FORMULA)
batch_norm.wrong("no_affine", "training", {"gamma * ": "", " + beta": ""},
    does="Your code uses neither gamma nor beta.", right="Scale by gamma and add beta, in training and in evaluation.",
    read=FORMULA)
batch_norm.wrong("no_gamma", "training", {"gamma * ": ""}, does="Your code does not use gamma.", right="Scale by gamma.",
    read=FORMULA)
batch_norm.wrong("no_beta", "training", {" + beta": ""}, does="Your code does not use beta.", right="Add beta after scaling.",
    read=FORMULA)
batch_norm.wrong("training_reversed", "training", {"if not training": "if training"},
    does="Your code swaps training and evaluation.", right="training=True means training.", read=SOURCE)
batch_norm.wrong("always_evaluation", "training", {"if not training": "if True"},
    does="Your code ignores the argument training and always evaluates, so the running statistics are never learned.", right=BATCH, read=SOURCE)
batch_norm.wrong("eps_outside_root", "training", {"np.sqrt(running_var + eps)": "(np.sqrt(running_var) + eps)",
    "np.sqrt(var + eps)": "(np.sqrt(var) + eps)"}, does="Your code adds eps outside the root, so a nearly constant feature is amplified far more.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_outside_root_in_training", "training", {"np.sqrt(var + eps)": "(np.sqrt(var) + eps)"},
    does="In training, your code adds eps outside the root.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_missing", "training", {"var + eps": "var"}, does="Your code does not use eps.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_missing_in_training", "training", {"np.sqrt(var + eps)": "np.sqrt(var)"},
    does="In training, your code does not use eps.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_squared", "training", {"+ eps": "+ eps**2"}, does="Your code adds eps squared.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_floor", "training", {"np.sqrt(running_var + eps)": "np.maximum(np.sqrt(running_var), eps)",
    "np.sqrt(var + eps)": "np.maximum(np.sqrt(var), eps)"},
    does="Your code uses eps as a lower bound of the standard deviation.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_floor_variance", "training", {"(running_var + eps)": "(np.maximum(running_var, eps))",
    "(var + eps)": "(np.maximum(var, eps))"},
    does="Your code uses eps as a lower bound of the variance.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_hard_coded", "training", {"+ eps": "+ 1e-5"}, {"+ eps": "+ 1e-6"}, {"+ eps": "+ 1e-8"},
    ignores="eps", read="the signature of `batch_norm`")
for name, value in (("default_eps", "1e-6"), ("default_eps_1e_3", "1e-3"), ("default_eps_1e_8", "1e-8")):
    batch_norm.wrong(name, "training", {"eps=1e-5": f"eps={value}"},
        does=f"Your default eps is {value}.", right="The default of `batch_norm` is 1e-5.", read="the signature of `batch_norm`")

UPDATE = "Use new = (1 - momentum) * old + momentum * batch for the mean and for the unbiased variance."
UNBIASED = "Update the running variance with the unbiased variance: var * n / (n - 1)."

batch_norm.wrong("momentum_zero_is_missing", "running", {"    moved = ": "    momentum = momentum or 0.1\n    moved = "},
    does="Your code replaces a momentum of 0 with the default.", right="With momentum=0 the running statistics do not change.",
    read="the Python library reference, Truth Value Testing")
batch_norm.wrong("count_of_features", "running", {"if len(x) < 2": "if x.shape[1] < 2",
    "x.var(axis=0, ddof=1)": "x.var(axis=0) * x.shape[1] / (x.shape[1] - 1)"},
    {"x.var(axis=0, ddof=1)": "x.var(axis=0) * x.shape[1] / (x.shape[1] - 1)"},
    does="Your code uses the number of features as n.", right="n is the number of examples: len(x).", read=FORMULA)
batch_norm.wrong("population_running_var", "running", {"x.var(axis=0, ddof=1)": "x.var(axis=0)"},
    does="Your code updates the running variance with the population variance (divided by n), so it is too small on average, most of all for small batches.", right=UNBIASED, read=FORMULA)
batch_norm.wrong("correction_inverted", "running", {"x.var(axis=0, ddof=1)": "x.var(axis=0) * (len(x) - 1) / len(x)"},
    does="Your code multiplies the variance by (n - 1) / n, so the running variance is too small twice over.", right=UNBIASED, read=FORMULA)
batch_norm.wrong("correction_rounded", "running", {"x.var(axis=0, ddof=1)": "x.var(axis=0) * (len(x) // (len(x) - 1))"},
    does="Your code multiplies the variance by n // (n - 1), which drops the fraction.", right=UNBIASED, read="the Python language reference, the operator //")
batch_norm.wrong("running_deviation", "running", {"x.var(axis=0, ddof=1)": "x.std(axis=0, ddof=1)"},
    does="Your code updates the running variance with the standard deviation of the batch.", right=UNBIASED, read=FORMULA)
batch_norm.wrong("running_eps", "running", {"momentum * unbiased": "momentum * (unbiased + eps)"},
    does="Your code adds eps to the running variance.", right="eps is used only to compute y.", read=FORMULA)
batch_norm.wrong("momentum_swapped", "running", {"(1 - momentum) * running": "momentum * running",
    "+ momentum *": "+ (1 - momentum) *"},
    does="Your code swaps the weights of the update: momentum for the old statistics, 1 - momentum for the batch, so with the default momentum the running statistics follow almost only the last batch.", right=UPDATE, read=FORMULA)
batch_norm.wrong("momentum_swapped_in_mean", "running",
    {"(1 - momentum) * running_mean": "momentum * running_mean", "+ momentum * moved": "+ (1 - momentum) * moved"},
    does="Your code swaps the weights of the running mean: momentum for the old one, 1 - momentum for the batch.", right=UPDATE, read=FORMULA)
batch_norm.wrong("momentum_swapped_in_variance", "running",
    {"(1 - momentum) * running_var": "momentum * running_var", "+ momentum * unbiased": "+ (1 - momentum) * unbiased"},
    does="Your code swaps the weights of the running variance: momentum for the old one, 1 - momentum for the batch.", right=UPDATE, read=FORMULA)
for name, value in (("momentum_default", "0.9"), ("momentum_default_0_99", "0.99"), ("momentum_default_0_01", "0.01")):
    batch_norm.wrong(name, "running", {"momentum=0.1": f"momentum={value}"},
        does=f"Your default momentum is {value}.", right="The default is 0.1: momentum is the weight of the batch.",
    read="the signature of `batch_norm`")
batch_norm.wrong("momentum_hard_coded", "running", {"(1 - momentum) * running": "0.9 * running", "+ momentum *": "+ 0.1 *"},
    does="Your code ignores the argument momentum and uses 0.1.", right="Use the argument momentum.",
    read="the signature of `batch_norm`")
batch_norm.wrong("running_not_updated", "running", {"return y, new_mean, new_var": "return y, running_mean, running_var "},
    does="In training, your code returns the running statistics unchanged.", right=UPDATE, read=FORMULA)
batch_norm.wrong("mean_not_updated", "running", {"return y, new_mean,": "return y, running_mean,"},
    does="In training, your code returns the running mean unchanged.", right=UPDATE, read=FORMULA)
batch_norm.wrong("variance_not_updated", "running", {"new_mean, new_var": "new_mean, running_var"},
    does="In training, your code returns the running variance unchanged, so evaluation divides by the initial variance however long the training.", right=UPDATE, read=FORMULA)
batch_norm.wrong("batch_statistics_returned", "running", {"return y, new_mean, new_var": "return y, moved, unbiased"},
    {"return y, new_mean, new_var": "return y, moved, x.var(axis=0)"},
    does="In training, your code returns the batch statistics instead of the running statistics.", right=UPDATE, read=FORMULA)
batch_norm.wrong("nothing_forgotten", "running", {"(1 - momentum) * running": "running"},
    does="Your code adds momentum * batch without reducing the old statistics.", right=UPDATE, read=FORMULA)
SWAPPED = {"new_mean, new_var\n": "new_var, new_mean\n"}

batch_norm.wrong("results_swapped", "running", SWAPPED,
    {**SWAPPED, "y, running_mean, running_var": "y, running_var, running_mean"},
    does="Your code returns the variance before the mean.", right="Return (y, new_running_mean, new_running_var).",
    read="the section Returns of the docstring of `batch_norm`")
batch_norm.wrong("first_batch_copied", "running",
    {"    y = gamma * (x - mean)": "    if not running_mean.any():\n"
     "        new_mean, new_var = moved, unbiased\n    y = gamma * (x - mean)"},
    does="Your code copies the batch statistics while the running mean is all zeros.", right="Always apply the update. " + UPDATE,
    read=FORMULA)
batch_norm.wrong("only_y_in_training", "running", {"return y, new_mean, new_var": "return y"},
    does="In training, your code returns only y.", right="Return (y, new_running_mean, new_running_var).",
    read="the section Returns of the docstring of `batch_norm`")

EVALUATION = "In evaluation, normalise with running_mean and running_var and return both unchanged."
SINGLE_EXAMPLE = "Raise ValueError only in training, if n < 2."
OLD = "        return y, running_mean, running_var"
MIXED = "        return y, (1 - momentum) * running_mean + momentum * x.mean(axis=0), (1 - momentum) * running_var + momentum * "
CHECKED = '    if len(x) < 2:\n        raise ValueError("training needs two examples")\n'

batch_norm.wrong("always_training", "evaluation", {"if not training": "if False"}, {"if not training": "if False", CHECKED: ""},
    does="Your code ignores the argument training and always trains.", right=EVALUATION, read=SOURCE)
batch_norm.wrong("running_statistics_unused", ("running", "evaluation"), {"if not training": "if False", CHECKED: "",
    "return y, new_mean, new_var": "return y, running_mean, running_var "}, {"if not training": "if False",
    "return y, new_mean, new_var": "return y, running_mean, running_var "},
    does="Your code normalises with the batch statistics in evaluation too, and never updates the running statistics.",
    right="Update them in training, and normalise with them in evaluation.", read=FORMULA)
batch_norm.wrong("evaluation_uses_batch", "evaluation",
    {"(x - running_mean) / np.sqrt(running_var": "(x - x.mean(axis=0)) / np.sqrt(x.var(axis=0)"},
    does="In evaluation, your code normalises with the batch statistics, so a prediction depends on the other examples of its batch.", right=EVALUATION,
    read="Ioffe and Szegedy 2015, section 3.1")
batch_norm.wrong("evaluation_updates", "evaluation", {OLD: f"{MIXED}x.var(axis=0) * len(x) / max(len(x) - 1, 1)"},
    {OLD: f"{MIXED}x.var(axis=0, ddof=1)"}, {OLD: f"{MIXED}x.var(axis=0)"},
    does="In evaluation, your code updates the running statistics, so a prediction depends on the examples before it.", right=EVALUATION, read=SOURCE)
batch_norm.wrong("evaluation_returns_batch", "evaluation", {OLD: "        return y, x.mean(axis=0), x.var(axis=0)"},
    {OLD: "        return y, x.mean(axis=0), x.var(axis=0, ddof=1)"},
    does="In evaluation, your code returns the batch statistics.", right=EVALUATION, read=SOURCE)
batch_norm.wrong("unbiased_in_evaluation", "evaluation", {"running_var + eps": "running_var * len(x) / max(len(x) - 1, 1) + eps"},
    does="In evaluation, your code multiplies the running variance by n / (n - 1).", right="Use the running variance directly: it is already unbiased.",
    read=SOURCE)
batch_norm.wrong("deviation_in_evaluation", "evaluation", {"np.sqrt(running_var + eps)": "(running_var + eps)"},
    does="In evaluation, your code divides by the running variance.", right="Divide by the standard deviation, sqrt(running_var + eps).",
    read=FORMULA)
batch_norm.wrong("eps_hard_coded_in_evaluation", "evaluation", {"running_var + eps": "running_var + 1e-5"},
    does="In evaluation, your code ignores the argument eps and uses 1e-5.", right="Use the argument eps.",
    read="the signature of `batch_norm`")
batch_norm.wrong("eps_missing_in_evaluation", "evaluation", {"running_var + eps": "running_var"},
    does="In evaluation, your code does not use eps, so a feature with running variance 0 gives nan or infinity.", right=INSIDE, read=FORMULA)
batch_norm.wrong("eps_outside_root_in_evaluation", "evaluation", {"np.sqrt(running_var + eps)": "(np.sqrt(running_var) + eps)"},
    does="In evaluation, your code adds eps outside the root.", right=INSIDE, read=FORMULA)
batch_norm.wrong("no_affine_in_evaluation", "evaluation", {"gamma * (x - running_mean)": "(x - running_mean)",
    "(running_var + eps) + beta": "(running_var + eps)"},
    does="In evaluation, your code uses neither gamma nor beta, so a trained model computes something else than in training.", right="Scale by gamma and add beta, in training and in evaluation.",
    read=FORMULA)
batch_norm.wrong("only_y", "evaluation", {OLD: "        return y"}, {OLD: "        return y",
    "return y, new_mean, new_var": "return y"},
    does="Your code returns only y.", right="Return (y, running_mean, running_var), in training and in evaluation.",
    read="the section Returns of the docstring of `batch_norm`")
batch_norm.wrong("refuses_two", "training", {"len(x) < 2": "len(x) <= 2"},
    does="In training, your code rejects a batch of two examples.", right="Raise ValueError only for fewer than two examples.",
    read="the docstring of `batch_norm`")
batch_norm.wrong("no_value_error", "evaluation", {CHECKED: ""},
    does="In training, your code accepts a single example, although one example has no spread to normalise by.", right=SINGLE_EXAMPLE, read="the section Raises of the docstring of `batch_norm`")
for name, error in (("assertion", "AssertionError"), ("zero_division", "ZeroDivisionError"), ("type_error", "TypeError")):
    batch_norm.wrong(name, "evaluation", {"ValueError": error},
        does=f"Your code raises {error} for a single example.", right=SINGLE_EXAMPLE,
    read="the section Raises of the docstring of `batch_norm`")
batch_norm.wrong("refuses_evaluation", "evaluation", {CHECKED: "", "    if not training:": CHECKED + "    if not training:"},
    does="Your code rejects a single example in evaluation too, so a trained model cannot predict for one example.", right=SINGLE_EXAMPLE,
    read="the section Raises of the docstring of `batch_norm`")
batch_norm.wrong("evaluation_refused_instead", "evaluation", {CHECKED: "",
    "    if not training:\n": "    if not training:\n    " + CHECKED.replace("\n ", "\n     ")},
    does="Your code rejects a single example in evaluation and accepts it in training.", right=SINGLE_EXAMPLE,
    read="the section Raises of the docstring of `batch_norm`")

batch_norm.wrong("changes_x", "purity", {"    y = gamma * (x - mean)": "    x -= mean\n    y = gamma * x"})
for name, new, old in (("running_mean", "new_mean", "moved"), ("running_var", "new_var", "unbiased")):
    batch_norm.wrong(f"changes_{name}", "purity", {f"    {new} = (1 - momentum) * {name} + momentum * {old}":
        f"    {name} *= 1 - momentum\n    {name} += momentum * {old}\n    {new} = {name}"})
STORED = {"eps=1e-5)": "eps=1e-5, kept={})",
    "    return y, new_mean,": "    kept[x.shape[1]] = new_mean, new_var\n    return y, new_mean,"}
GET = "running_mean, running_var = kept.get(x.shape[1], (running_mean, running_var))\n"
batch_norm.wrong("remembers", "purity", STORED | {"    if not training:\n": f"    {GET}    if not training:\n"},
    STORED | {"    if not training:\n": f"    if not training:\n        {GET}"}, memory=True,
    does="Your code reuses the running statistics from an earlier call.", right="Use the running statistics that are passed in, and return the new ones; keep nothing between calls.", read=KEPT)
batch_norm.wrong("float64_result", "dtype", {"momentum * unbiased": "np.float64(momentum) * unbiased"})


FEATURES = (np.array([2.0, 0.5]), np.array([0.5, -1.0]), np.array([0.5, 1.0]), np.array([4.0, 2.0]))
CLOSE = (*FEATURES[:2], np.array([0.005, 0.0]), np.array([0.0002, 0.0001]))
SINGLE = np.array([[3.0, 1.0], [2.0, 0.5]], np.float32)

EXAMPLES = {
    "batch_norm": [
        ((np.array([[3.0, 1.0], [2.0, 0.0], [4.0, 1.0]]), *FEATURES, True), {}),
        ((np.array([[3.0, 1.0], [2.0, 0.0], [4.0, 1.0]]), *FEATURES, False), {}),
        ((np.array([[2.0, 1.0], [0.0, 4.0], [3.0, 0.0]]), *FEATURES, True), {"momentum": 0.25, "eps": 0.5}),
        ((np.array([[2.0, 1.0], [0.0, 4.0], [3.0, 0.0]]), *FEATURES, True), {"momentum": 0.0, "eps": 0.0}),
        ((np.array([[3.0, 1.0], [2.0, 0.0]]), *FEATURES[:2], np.zeros(2), FEATURES[3], True), {}),
        ((np.array([[3.0, 1.0]]), *FEATURES, False), {"eps": 0.5}),
        ((np.array([[3.0, 1.0]]), *FEATURES, True), {}),
        ((np.array([[0.02, 0.0], [0.01, 0.002]]), *CLOSE, True), {}),
        ((np.array([[0.02, 0.0], [0.01, 0.002]]), *CLOSE, False), {}),
        ((SINGLE, *SINGLE[[0, 1, 1, 1]], True), {}),
    ],
}
