"""Misconceptions about sequence_log_prob."""

import numpy as np

from autograder.homework.library import written
from decoder import decoder_logits

SCORE = "the formula in the docstring of `sequence_log_prob`; Bengio et al. 2003, section 1"
SHIFT = "Score tokens[i] with row i - 1 of the logits, for every i >= 1."
SOFTMAX = "Use log softmax(s)_k = s_k - log(sum_j exp(s_j)) over the vocabulary."


@written
def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    rows = logits[:-1]
    scored = tokens[1:]
    shifted = rows - rows.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    log_probs = shifted - np.log(total)
    chosen = log_probs[np.arange(len(scored)), scored]
    result = chosen.sum()
    return float(result)


sequence_log_prob.wrong("not_shifted", "log_prob", {"logits[:-1]": "logits[1:]", "rows.max(axis=-1, keepdims=True)":
    "rows.max(axis=-1, keepdims=True, initial=-np.inf)"},
    does="Your code scores each token with its own row of the logits, which has already seen the token.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("first_token_scored", "log_prob", {"logits[:-1]": "logits", "tokens[1:]": "tokens"},
    does="Your code scores every token, including the first, with its own row of the logits, so each token is predicted by a row that has already seen it.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("loop_from_zero", "log_prob", {"logits[:-1]": "logits[np.arange(len(tokens)) - 1]", "tokens[1:]": "tokens"},
    does="Your code also scores the first token, with row -1 of the logits (the last row).", right="Do not score the first token: start at i = 1.", read=SCORE)
sequence_log_prob.wrong("shifted_back", "log_prob", {"logits[:-1]": "logits[1:]", "tokens[1:]": "tokens[:-1]"},
    does="Your code scores each token with the next row of the logits.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("shifted_by_two", "log_prob", {"logits[:-1]": "logits[:-2]", "tokens[1:]": "tokens[2:]"},
    does="Your code scores each token with the row two positions earlier.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("tokens_not_shifted", "log_prob", {"tokens[1:]": "tokens[:-1]"},
    does="Your code scores every token but the last with its own row of the logits.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("last_token_only", "log_prob", {"chosen.sum()": "chosen[-1:].sum()"},
    does="Your code scores only the last token.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("last_token_missing", "log_prob", {"logits[:-1]": "logits[:-2]", "tokens[1:]": "tokens[1:-1]"},
    does="Your code does not score the last token, so the last token does not affect the result.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("second_token_missing", "log_prob", {"chosen.sum()": "chosen[1:].sum()"},
    does="Your code does not score the token at position 1.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("mean", "log_prob", {"chosen.sum()": "chosen.sum() / max(len(chosen), 1)"},
    {"chosen.sum()": "chosen.sum() / len(tokens)"}, {"chosen.sum()": "chosen.mean()"},
    does="Your code averages over the tokens, so exp of the result is not the probability of the sequence.", right="Return the sum of the log-probabilities.", read=SCORE)
sequence_log_prob.wrong("nan_for_one_token", "log_prob", {"chosen.sum()": "chosen.mean() * len(chosen)"},
    does="Your code returns nan for one token: the mean of an empty array.",
    right="Return 0.0 for one token.", read=SCORE)
sequence_log_prob.wrong("negated", "log_prob", {"float(result)": "-float(result)"},
    does="Your result has the opposite sign, as a loss has.", right="A log-probability is never positive.", read=SCORE)
sequence_log_prob.wrong("probability", "log_prob", {"float(result)": "float(np.exp(result))"},
    does="Your code returns the probability.", right="Return the log-probability.", read=SCORE)
sequence_log_prob.wrong("log_2", "log_prob", {"float(result)": "float(result) / np.log(2)"},
    does="Your result uses the base-2 logarithm, so it is in bits and cannot be compared with the usual cross-entropy.", right="Use natural logarithms: np.log, without dividing by the logarithm of a base.", read="numpy.log")
sequence_log_prob.wrong("log_10", "log_prob", {"float(result)": "float(result) / np.log(10)"},
    does="Your result uses the base-10 logarithm.", right="Use natural logarithms: np.log, without dividing by the logarithm of a base.", read="numpy.log")
sequence_log_prob.wrong("raw_logits", "log_prob", {"shifted - np.log(total)": "rows"},
    does="Your code sums the logits without normalising them, so adding a constant to every logit changes the result.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("only_shifted", "log_prob", {"shifted - np.log(total)": "shifted"},
    does="Your code subtracts the largest logit but does not normalise.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("no_log", "log_prob", {"shifted - np.log(total)": "np.exp(shifted) / total"},
    does="Your code sums probabilities.", right="Sum the log-probabilities.", read=SCORE)
sequence_log_prob.wrong("product", "log_prob", {"chosen.sum()": "chosen.prod()"},
    does="Your code multiplies the log-probabilities.", right="Sum the log-probabilities.", read=SCORE)
sequence_log_prob.wrong("wrong_axis", "log_prob", {"axis=-1": "axis=0", "rows = logits[:-1]": "rows = logits"},
    {"axis=-1": "axis=0"},
    does="Your code applies the softmax over the positions, so the probabilities of one position do not sum to 1.", right="Apply it over the vocabulary, the last axis.", read=SCORE)
sequence_log_prob.wrong("whole_array", "log_prob", {".sum(axis=-1, keepdims=True)": ".sum()"},
    {".sum(axis=-1, keepdims=True)": ".sum()", "rows.max(axis=-1, keepdims=True)": "rows.max(initial=-np.inf)"},
    does="Your code normalises over the whole array.", right="Normalise each row over the vocabulary.", read=SCORE)
sequence_log_prob.wrong("overflow", "log_prob", {"rows - rows.max(axis=-1, keepdims=True)": "rows"},
    does="Your exponentials of large logits overflow.", right="Subtract the largest logit of each row before exp.", read=SCORE)
sequence_log_prob.wrong("one_maximum", "log_prob", {"rows.max(axis=-1, keepdims=True)": "logits.max()"},
    does="Your code subtracts the largest logit of the whole array, so rows with much smaller logits underflow.",
    right="Subtract the largest logit of each row before exp.",
    read="numpy.max, arguments axis and keepdims")
sequence_log_prob.wrong("log_of_product", "log_prob", {"chosen.sum()": "np.log(np.exp(chosen.astype(float)).prod())"},
    does="Your code multiplies the probabilities before the logarithm, so the product of many tokens underflows to 0.",
    right="Sum the log-probabilities.", read=SCORE)
sequence_log_prob.wrong("log_with_eps", "log_prob", {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-9)"},
    {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-8)"},
    does="Your code adds a small number to the probabilities before the logarithm.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("not_summed", "log_prob", {"float(result)": "chosen"},
    does="Your code returns one log-probability per token.", right="Return the sum, a float.", read=SCORE)
sequence_log_prob.wrong("array_of_one", "log_prob", {"float(result)": "np.array([result])"},
    does="Your code returns an array of length 1.", right="Return a float.",
    read="the section Returns of the docstring of `sequence_log_prob`")
sequence_log_prob.wrong("one_token_refused", "log_prob",
    {"    logits =": "    if len(tokens) < 2:\n        raise ValueError\n    logits ="},
    does="Your code rejects a single token.", right="Return 0.0 for one token.", read=SCORE)
sequence_log_prob.wrong("repeats_once", "log_prob", {"chosen = log_probs[np.arange(len(scored)), scored]":
    "seen = np.unique(scored, return_index=True)[1]\n    chosen = log_probs[np.arange(len(scored)), scored][seen]"},
    does="Your code scores a repeated token only once.", right=SHIFT, read=SCORE)


THREE = {
    "embedding": np.array([[2.0, 0.5], [-1.0, 1.0], [0.5, -0.5]]),
    "blocks": [],
    "w_out": np.array([[1.5, -1.0, 0.5], [0.5, 2.0, -1.0]]),
    "b_out": np.array([0.2, 0.0, -0.4]),
}
LARGE = {
    "embedding": np.array([[900.0, 0.5], [0.0, 1.0]]),
    "blocks": [],
    "w_out": np.array([[2.0, 2.0], [0.5, -0.5]]),
    "b_out": np.array([0.25, 0.5]),
}
SURPRISING = LARGE | {"embedding": np.array([[2.0, 0.5], [-1.0, 1.5]]), "b_out": np.array([25.0, 0.5])}

EXAMPLES = {
    "sequence_log_prob": [
        ((np.array([1]), THREE, 1), {}),
        ((np.array([1, 2]), THREE, 1), {}),
        ((np.array([0, 1, 0]), LARGE, 1), {}),
        ((np.ones(60, dtype=int), SURPRISING, 1), {}),
    ],
}
