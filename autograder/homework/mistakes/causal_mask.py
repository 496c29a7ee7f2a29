"""Known mistakes in causal_mask.py."""

import numpy as np

from autograder.homework.mistakes import written

COPIES = "NumPy's page on copies and views"
LOOK = "True means that the query may look."


@written
def causal_mask(t):
    return np.tril(np.ones((t, t), dtype=bool))


SEES = "A position sees itself and what came before: mask[i, j] = (j <= i)."
BOOLEAN = "Return a boolean array, True where the query may look."
WHOLE = "np.tril(np.ones((t, t), dtype=bool))"

causal_mask.wrong("strict", "causal", {"=bool))": "=bool), k=-1)"}, does="Your diagonal is False.", right=SEES,
    read="numpy.tril, argument k")
causal_mask.wrong("one_ahead", "causal", {"=bool))": "=bool), k=1)"},
    does="Your mask shows the next position as well.", right=SEES, read="numpy.tril, argument k")
causal_mask.wrong("transposed", "causal", {"np.tril": "np.triu"},
    does="Your mask shows the future and hides the past.", right="Rows are queries, columns are keys: mask[i, j] = (j <= i).")
causal_mask.wrong("inverted", "causal", {WHOLE: "np.triu(np.ones((t, t), dtype=bool), k=1)"},
    does="Your True marks what is hidden.", right=LOOK)
causal_mask.wrong("nothing_hidden", "causal", {WHOLE: "np.ones((t, t), dtype=bool)"}, does="Your mask hides nothing.", right=SEES)
causal_mask.wrong("only_itself", "causal", {WHOLE: "np.eye(t, dtype=bool)"}, does="Your mask shows the diagonal alone.", right=SEES)
causal_mask.wrong("additive", "causal", {WHOLE: "np.where(np.tri(t, dtype=bool), 0.0, -np.inf)"},
    {WHOLE: "np.where(np.tri(t, dtype=bool), 0.0, -1e9)"}, does="Your mask holds numbers to be added to scores.", right=BOOLEAN)
causal_mask.wrong("numbers", "causal", {"dtype=bool": "dtype=float"}, {"dtype=bool": "dtype=int"},
    {"dtype=bool": "dtype=np.float32"},
    {"dtype=bool": "dtype=np.int8"}, {"dtype=bool": "dtype=np.uint8"},
    does="Your mask holds the numbers 0 and 1.", right=BOOLEAN, read="numpy.ones, argument dtype")
causal_mask.wrong("list", "causal", {WHOLE: WHOLE + ".tolist()"}, does="Your mask is a list of lists.", right=BOOLEAN,
    read="numpy.array")
causal_mask.wrong("batch_axis", "causal", {WHOLE: WHOLE + "[np.newaxis]"},
    does="Your mask has a leading axis of length one.", right="Its shape is (t, t).")
causal_mask.wrong("one_too_large", "causal", {"(t, t)": "(t + 1, t + 1)"}, {"(t, t)": "(t - 1, t - 1)"},
    does="Your mask has another size.", right="Its shape is (t, t).")
causal_mask.wrong("fixed_size", "causal", {"(t, t)": "(8, 8)", "=bool))": "=bool))[:t, :t]"}, {"(t, t)": "(32, 32)",
    "=bool))": "=bool))[:t, :t]"},
    does="Your mask is cut from a table of a fixed size.", right="Make it as large as t asks for.")
causal_mask.wrong("first_size_kept", "causal",
    {"(t):": "(t, kept=[]):", f"return {WHOLE}": f"kept.append({WHOLE})\n    return kept[0][:t, :t]"},
    memory=True, does="Your code cuts the mask from that of an earlier call.", right="Make it anew for each t.",
    read="the Python FAQ on default values shared between calls")
causal_mask.wrong("one_refused", "causal", {"    return": '    if t < 2:\n        raise ValueError("t is too small")\n    return'},
    does="Your code refuses a single position.", right="t may be 1, and the mask is [[True]].")


@written
def padding_mask(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    keys = np.arange(t)
    seen = keys < lengths[:, np.newaxis]
    return seen[:, np.newaxis, :]


FIRST = "A sequence of length n shows the keys 0 to n - 1."
THREE_AXES = "The shape is (b, 1, t), with an axis of length 1 for the queries."
RANGE = "Raise ValueError if any length is negative or above t, and only then."
RAISES = "the part Raises of the docstring of `padding_mask`"
CHECK = '    if np.any(lengths < 0) or np.any(lengths > t):\n        raise ValueError("a length is out of range")\n'

padding_mask.wrong("inverted", "padding", {"keys <": "keys >="}, does="Your True marks the padding.",
    right="True marks keys that may be seen. " + FIRST)
padding_mask.wrong("one_too_many", "padding", {"keys <": "keys <="}, does="Your mask shows one key too many.", right=FIRST)
padding_mask.wrong("one_too_few", "padding", {"keys <": "keys + 1 <"}, does="Your mask hides the last key of each sequence.",
    right=FIRST)
padding_mask.wrong("padding_in_front", "padding", {"np.arange(t)": "np.arange(t)[::-1]"},
    does="Your mask hides the first keys of the shorter sequences.", right="The padding stands at the end. " + FIRST)
padding_mask.wrong("sorted", "padding", {"    keys": "    lengths = np.sort(lengths)[::-1]\n    keys"},
    {"    keys": "    lengths = np.sort(lengths)\n    keys"},
    does="Your code sorts the lengths, so that the rows belong to other sequences.",
    right="Keep their order: row i belongs to lengths[i].")
padding_mask.wrong("first_for_all", "padding", {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths[0])"},
    {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths.max())"},
    {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths.min())"},
    does="Your code takes one length for all sequences.", right="Row i belongs to lengths[i].")
padding_mask.wrong("reshaped", "padding",
    {"seen = keys < lengths[:, np.newaxis]": "seen = (keys[:, np.newaxis] < lengths).reshape(len(lengths), t)"},
    does="Your code compares as (t, b) and reshapes, which mixes the sequences.",
    right="Compare keys with lengths[:, None], as (b, t).",
    read="numpy.reshape, and NumPy's page on broadcasting")
padding_mask.wrong("no_query_axis", "padding", {"seen[:, np.newaxis, :]": "seen"}, does="Your mask has no axis for the queries.",
    right=THREE_AXES)
padding_mask.wrong("queries_masked", "padding", {"[:, np.newaxis, :]": "[:, :, np.newaxis]"},
    does="Your mask has the keys where the queries belong.", right=THREE_AXES)
padding_mask.wrong("every_query", "padding", {"seen[:, np.newaxis, :]": "np.repeat(seen[:, np.newaxis, :], t, axis=1)"},
    does="Your mask has a row for each of t queries.", right=THREE_AXES)
padding_mask.wrong("pairs", "padding", {"seen[:, np.newaxis, :]": "seen[:, np.newaxis, :] & seen[:, :, np.newaxis]"},
    does="Your mask hides queries as well as keys.", right=THREE_AXES)
padding_mask.wrong("heads_axis", "padding", {"[:, np.newaxis, :]": "[:, np.newaxis, np.newaxis, :]"},
    does="Your mask has an axis too many, as for heads.", right=THREE_AXES)
padding_mask.wrong("width_of_the_longest", "padding", {"np.arange(t)": "np.arange(lengths.max())"},
    does="Your mask is as wide as the longest length.", right="It is t wide.")
padding_mask.wrong("numbers", "padding", {"return seen[:, np.newaxis, :]": "return seen[:, np.newaxis, :].astype(float)"},
    {"return seen[:, np.newaxis, :]": "return seen[:, np.newaxis, :].astype(int)"}, does="Your mask holds numbers.", right=BOOLEAN,
    read="numpy.ndarray.astype")
padding_mask.wrong("additive", "padding",
    {"return seen[:, np.newaxis, :]": "return np.where(seen[:, np.newaxis, :], 0.0, -np.inf)"},
    does="Your mask holds numbers to be added to scores.", right=BOOLEAN)
padding_mask.wrong("list", "padding", {"[:, np.newaxis, :]": "[:, np.newaxis, :].tolist()"}, does="Your mask is a list.",
    right=BOOLEAN, read="numpy.array")
padding_mask.wrong("no_error", "padding", {CHECK: ""}, does="Your code accepts lengths out of range.", right=RANGE, read=RAISES)
padding_mask.wrong("negative_accepted", "padding", {"np.any(lengths < 0) or ": ""}, does="Your code accepts negative lengths.",
    right=RANGE, read=RAISES)
padding_mask.wrong("above_accepted", "padding", {" or np.any(lengths > t)": ""}, does="Your code accepts a length above t.",
    right=RANGE, read=RAISES)
padding_mask.wrong("only_all", "padding", {"np.any": "np.all"}, does="Your code raises only if all lengths are out of range.",
    right=RANGE, read="numpy.any")
padding_mask.wrong("both_needed", "padding", {" or ": " and "},
    does="Your code raises only if one length is negative and another above t.",
    right=RANGE, read=RAISES)
padding_mask.wrong("first_checked", "padding", {"(lengths < 0)": "(lengths[0] < 0)", "(lengths > t)": "(lengths[0] > t)"},
    does="Your code checks the first length alone.", right=RANGE, read="numpy.any")
padding_mask.wrong("zero_refused", "padding", {"lengths < 0": "lengths < 1"},
    does="Your code refuses a length of 0.", right="Such a sequence is padding throughout: no key is shown. " + RANGE, read=RAISES)
padding_mask.wrong("full_length_refused", "padding", {"lengths > t": "lengths >= t"},
    does="Your code refuses a length of t.", right="Such a sequence has no padding. " + RANGE, read=RAISES)
for name, error in (("assertion", "AssertionError"), ("index_error", "IndexError"), ("type_error", "TypeError")):
    padding_mask.wrong(name, "padding", {"ValueError": error}, does=f"Your code raises {error} for a length out of range.",
    right=RANGE, read=RAISES)
padding_mask.wrong("changes_lengths", "purity", {"    keys": "    lengths -= 1\n    keys", "keys <": "keys <="},
    {"    keys": "    lengths.sort()\n    keys"},
    does="Your code changes the argument `lengths`.", right="Work on a new array.", read=COPIES)


@written
def apply_mask(scores, mask):
    result = np.where(mask, scores, -np.inf)
    return result


HIDDEN = "Hidden scores become -inf, so that the softmax gives them no weight at all."
CHOOSE = "np.where(mask, scores, -np.inf) lets the mask broadcast."
NEW = "Return a new array and leave the scores as they are."
CALL = "np.where(mask, scores, -np.inf)"

apply_mask.wrong("inverted", "apply", {"scores, -np.inf": "-np.inf, scores"},
    does="Your code hides the scores where the mask is True.", right=LOOK)
apply_mask.wrong("zero", "apply", {"-np.inf": "0.0"},
    does="Your hidden scores become 0, which still gets weight since exp(0) = 1.", right=HIDDEN)
apply_mask.wrong("minus_1e9", "apply", *({"-np.inf": f"-{number}"} for number in "1e9 1e10 1e4 1e5 1e6 1e8 1e12 1e20 1e30 100.0 1000.0".split()),
    {"-np.inf": "np.finfo(scores.dtype).min"}, does="Your hidden scores become a finite number.", right=HIDDEN)
apply_mask.wrong("infinity", "apply", {"-np.inf": "np.inf"}, does="Your hidden scores become +inf.", right=HIDDEN)
apply_mask.wrong("nan", "apply", {"-np.inf": "np.nan"}, does="Your hidden scores become nan.", right=HIDDEN)
apply_mask.wrong("infinity_times_zero", "apply", {CALL: "scores + ~mask * -np.inf"}, {CALL: "scores + (1 - mask) * -np.inf"},
    does="Your code adds -inf times the mask, and -inf * 0 is nan.", right=CHOOSE, read="numpy.where")
apply_mask.wrong("added", "apply", {CALL: "scores + mask"}, does="Your code adds the mask, whose True counts as 1.", right=CHOOSE,
    read="numpy.where")
apply_mask.wrong("softmax_too", "apply", {CALL: f"np.exp({CALL}) / np.exp({CALL}).sum(axis=-1, keepdims=True)"},
    does="Your code takes the softmax as well.", right="Return the scores; the softmax comes next.")
apply_mask.wrong("nothing_hidden", "apply", {CALL: "scores.copy()"}, does="Your code does not use the mask.", right=HIDDEN)
apply_mask.wrong("transposed", "apply", {"(mask,": "(np.swapaxes(mask, -1, -2),"},
    does="Your code transposes the mask.", right="Its rows are the queries and its columns the keys.")
apply_mask.wrong("mask_as_index", "apply", {CALL: "scores.copy()\n    result[..., ~mask] = -np.inf"},
    {CALL: "scores.copy()\n    result[~mask] = -np.inf"},
    does="Your code indexes with the mask, which needs it in the shape of the scores.", right=CHOOSE,
    read="numpy.where; NumPy's page on broadcasting")
apply_mask.wrong("shares_memory", "apply", {"return result": "return scores if mask.all() else result"},
    does="Your code returns the scores themselves where nothing is hidden.", right=NEW, read=COPIES)
apply_mask.wrong("changes_scores", "purity", {"return result": "scores[...] = result\n    return scores"},
    {"return result": "scores[...] = result\n    return result"},
    does="Your code writes into the argument `scores`.", right=NEW, read=COPIES)
apply_mask.wrong("float64_result", "dtype", {"-np.inf": "np.full(scores.shape, -np.inf)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the scores.",
    read="numpy.full, argument dtype")


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


# Correct ways to try a row: both directions, one direction, feature by feature in one or in both. A mistake shows differently in each.
STEPS = ("(change, -change)", "(change,)", "delta * np.eye(d)", "delta * np.vstack([np.eye(d), -np.eye(d)])")
THINGS = "the part Things to think of in the docstring of `dependency_matrix`"


def tried(edits, steps=STEPS):
    return [edits | {STEPS[0]: step} for step in steps]


ROWS = "Rows are outputs, columns are inputs: result[i, j] says whether row j of x moves row i of f(x)."
EVERY = "A change of a single output by more than 1e-8, up or down, is enough."
VARIED = "Change every feature of the row, each by another amount."
COMPARED = "Compare f(changed x) with f(x)."
ADDED = "Add a step of about delta to the row, so that zeros move too."

dependency_matrix.wrong("transposed", "dependency", {"return result": "return result.T"}, does="Your matrix is transposed.",
    right=ROWS)
dependency_matrix.wrong("differences_cancel", "dependency",
    *tried({"np.any(difference > 1e-8, axis=1)": "np.abs((after - before).sum(axis=1)) > 1e-8"}),
    does="Your code adds up the differences of a row, where they can cancel.", right=EVERY)
dependency_matrix.wrong("only_rises", "dependency", *tried({"np.abs(after - before)": "after - before"}),
    does="Your code counts only outputs that rise.", right=EVERY, read="numpy.abs")
dependency_matrix.wrong("only_falls", "dependency", *tried({"np.abs(after - before)": "before - after"}),
    does="Your code counts only outputs that fall.", right=EVERY, read="numpy.abs")
dependency_matrix.wrong("threshold_delta", "dependency", *tried({"> 1e-8": "> delta"}),
    does="Your code counts only changes above delta.", right=EVERY)
dependency_matrix.wrong("threshold_high", "dependency",
    *tried({"> 1e-8": "> 1e-4"}), *tried({"> 1e-8": "> 1e-3"}), *tried({"> 1e-8": "> 1e-5"}),
    does="Your code misses small changes of the output.", right=EVERY)
dependency_matrix.wrong("isclose", "dependency", *tried({"np.any(difference > 1e-8, axis=1)": "~np.all(np.isclose(after, before), axis=1)"}),
    *tried({"np.any(difference > 1e-8, axis=1)": "~np.all(np.isclose(after, before, atol=0), axis=1)"}),
    does="Your code allows a difference relative to the output, as np.isclose does, which hides small changes of large outputs.",
    right=EVERY,
    read="numpy.isclose, argument rtol")
dependency_matrix.wrong("all_features", "dependency", *tried({"np.any(difference": "np.all(difference"}),
    does="Your code demands that all outputs of a row change.", right=EVERY, read="numpy.any and numpy.all")
dependency_matrix.wrong("first_output_feature", "dependency", *tried({"(difference >": "(difference[:, :1] >"}),
    does="Your code looks at the first output feature alone.", right=EVERY)
dependency_matrix.wrong("same_row_only", "dependency", {"return result": "return result & np.eye(t, dtype=bool)"},
    does="Your code looks only at the output row of the changed input row.", right=ROWS)
dependency_matrix.wrong("delta_ignored", "dependency",
    *({"change = delta *": "change = 1e-3 *", STEPS[0]: step.replace("delta", "1e-3")} for step in STEPS),
    does="Your changes are about 1e-3 whatever delta is.", right="Use the argument delta for the size of the change.")
dependency_matrix.wrong("at_the_origin", "dependency", *tried({"f(x.copy())": "f(0 * x)", "changed = x.copy()": "changed = 0 * x"}),
    does="Your code tries f at the origin.", right="Try it at x, where its dependencies may be others.")
dependency_matrix.wrong("causal_by_decree", "dependency", {"return result": "return np.tril(result)"},
    does="Your code takes for granted that the future is not seen.", right=ROWS)
dependency_matrix.wrong("diagonal_by_decree", "dependency", {"return result": "return result | np.eye(t, dtype=bool)"},
    does="Your diagonal is always True.", right="An output row need not depend on its own input row.")
dependency_matrix.wrong("width_of_x", "dependency",
    {"f(changed))": "f(changed)).reshape(x.shape)", "f(x.copy()))": "f(x.copy())).reshape(x.shape)"},
    does="Your code wants outputs as wide as x.", right="f may return rows of another width.")
dependency_matrix.wrong("compared_with_x", "dependency", *tried({"before = np.array(f(x.copy()))": "before = x.copy()"}),
    does="Your code compares f(changed x) with x.", right=COMPARED)
dependency_matrix.wrong("numbers", "dependency", {"return result": "return result.astype(float)"},
    {"return result": "return result.astype(int)"},
    does="Your matrix holds numbers.", right="It holds booleans, True where row j of x moves row i of f(x).",
    read="numpy.ndarray.astype")
dependency_matrix.wrong("inverted", "dependency", {"return result": "return ~result"},
    does="Your True and False have changed places.", right="True means that the output row depends on the input row.")

dependency_matrix.wrong("uniform_shift", "dependency_change", *tried({"np.linspace(1.0, 2.0, d)": "np.ones(d)"}, STEPS[:2]),
    does="Your code shifts all features of a row alike, which a layer norm does not see.", right=VARIED, read=THINGS)
dependency_matrix.wrong("first_feature_only", "dependency_change", *tried({"np.linspace(1.0, 2.0, d)": "np.eye(d)[0]"}, STEPS[:2]),
    does="Your code changes the first feature of a row alone.", right=VARIED, read=THINGS)
dependency_matrix.wrong("factor", "dependency_change", *tried({"changed[j] += step": "changed[j] *= 1 + step"}),
    does="Your code multiplies the row, which leaves zeros where they are.", right=ADDED, read=THINGS)
dependency_matrix.wrong("same_factor", "dependency_change",
    *tried({"changed[j] += step": "changed[j] *= 1 + step", "np.linspace(1.0, 2.0, d)": "np.ones(d)"}, STEPS[:2]),
    {"changed[j] += step": "changed[j] *= 2"}, {"changed[j] += step": "changed[j] *= -1"},
    does="Your code stretches the whole row by one factor, which neither zeros nor a layer norm see.", right=ADDED, read=THINGS)
dependency_matrix.wrong("set_to_zero", "dependency_change", {"changed[j] += step": "changed[j] = 0"},
    does="Your code sets the row to zero, which changes nothing where it is zero.", right=ADDED, read=THINGS)
dependency_matrix.wrong("set_to_delta", "dependency_change", *tried({"changed[j] += step": "changed[j] = step"}),
    does="Your code puts the step in the place of the row.", right=ADDED, read=THINGS)
dependency_matrix.wrong("step_down", "dependency_change", *tried({"changed[j] += step": "changed[j] -= step"}, (STEPS[1], STEPS[2])),
    does="Your code tries steps down alone, which a relu at 0 does not see.", right="Try steps up as well.", read=THINGS)
dependency_matrix.wrong("changes_pile_up", "dependency_change",
    *tried({"            changed = x.copy()\n": "", "    for j": "    changed = x.copy()\n    for j"}, STEPS[1:3]),
    does="Your code does not put a changed row back before it changes the next one.",
    right="Change one row of a fresh copy at a time.", read=THINGS)
dependency_matrix.wrong("argument_shared", "dependency_change", *tried({"before = np.array(f(x.copy()))": "work = x.copy()\n    before = f(work)",
    "changed = x.copy()": "changed = work", "after = np.array(f(changed))": "after = f(changed)",
    "np.abs(after - before)": "np.abs(after - before)\n            work[j] = x[j]"}),
    does="Your code goes on writing into an array that f was given and may have returned.",
    right="Give f a copy, and copy what it returns.", read=THINGS)
dependency_matrix.wrong("central_difference", "dependency_change",
    *tried({"after - before": "after - np.array(f(2 * x - changed))"}, STEPS[1:3]),
    does="Your code compares a step up with a step down, which an even function does not tell apart.", right=COMPARED, read=THINGS)
dependency_matrix.wrong("changes_x", "purity", *tried({"changed = x.copy()": "changed = x",
    "difference = np": "changed[j] -= step\n            difference = np"}),
    {"    t, d = x.shape": "    x += 0.1 * delta\n    t, d = x.shape"},
    does="Your code changes the argument `x`.", right="Change a copy; a step added and subtracted again leaves its rounding.",
    read=COPIES)


@written
def is_autoregressive(f, x):
    influences = dependency_matrix(f, x)
    return not np.triu(influences, k=1).any()


FUTURE = "Everything above the diagonal counts, and nothing else: np.triu(influences, k=1)."
ANY = "A single later input row that an output row depends on is a leak."
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


@is_autoregressive.instead("future_set_to_zero", "autoregressive",
    does="Your code sets the later rows to zero, which shows nothing where they are zero.",
    right="Change them by something that is added.", read=THINGS)
def is_autoregressive__future_set_to_zero(f, x):
    before = np.array(f(x.copy()))
    for i in range(len(x)):
        changed = x.copy()
        changed[i + 1 :] = 0
        if np.any(np.abs(f(changed)[: i + 1] - before[: i + 1]) > 1e-8):
            return False
    return True


@is_autoregressive.instead("uniform_shift", "autoregressive",
    does="Your code shifts the later rows alike in all features, which a layer norm does not see.", right=VARIED, read=THINGS)
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


is_autoregressive.wrong("changes_x", "purity", {"    influences =": "    x += 1e-3\n    influences ="},
    does="Your code changes the argument `x`.", right="Change a copy.", read=COPIES)


def argument_itself(x):
    return x


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
    "causal_mask": [((1,), {}), ((3,), {}), ((2,), {}), ((9,), {})],
    "padding_mask": [
        ((np.array([1, 2, 0]), 3), {}),
        ((np.array([0, 3]), 3), {}),
        ((np.array([1, 3]), 2), {}),
        ((np.array([1, -1]), 2), {}),
    ],
    "apply_mask": [
        ((SCORES, np.array([[True, False], [True, True]])), {}),
        ((WIDE_SCORES, np.array([[True, False, True]])), {}),
        ((np.array([SCORES, -SCORES]), np.array([[[True, False]], [[True, True]]])), {}),
        ((SCORES.astype(np.float32), np.array([[True, False], [True, True]])), {}),
    ],
    "dependency_matrix": [
        ((argument_itself, ONE), {}),
        ((centred, ONE), {}),
        ((cube_on_top_of_100, ONE), {}),
        ((beyond_one, np.array([[0.0, 0.0]])), {"delta": 10.0}),
        ((last_feature_of_the_next_row, THREE), {}),
        ((row_before, TWO), {}),
        ((beyond_one, np.array([[1.0, 1.0]])), {}),
    ],
    "is_autoregressive": [
        ((argument_itself, ONE), {}),
        ((row_before, TWO), {}),
        ((first_row_plus_the_second, THREE), {}),
        ((first_centred_row_plus_the_third, THREE), {}),
        ((second_centred_row_plus_the_third, THREE), {}),
    ],
}
