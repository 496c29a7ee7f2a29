"""Input classes for the functions of decoder.py."""

import numpy as np

from autograder.homework.factors import count, factor, inputs, layout, length, order

POSITIONAL_ENCODING = inputs(
    factor("t", "positions", {**count("t", 1, 2, 3, above=1024), "as many as features": lambda t, d_model: t == d_model}),
    factor("d_model", "positions", {
        **count("d_model", 2, 4, 6, above=32),
        "a multiple of 4": lambda d_model: d_model % 4 == 0,
        "no multiple of 4": lambda d_model: d_model % 4 == 2,
    }),
    factor("rejected", "positions", {
        "1": lambda d_model: d_model == 1,
        "a larger odd width": lambda d_model: d_model % 2 and d_model > 1,
        "one token": lambda t, d_model: t == 1 and d_model % 2,
    }),
)  # fmt: skip

EMBED = inputs(
    factor("tokens", "embed", {
        **length("tokens", 0),
        "the first of the table": lambda tokens: (tokens == 0).any(),
        "the last of the table": lambda tokens, table, result: (tokens == len(table) - 1).any(),
        "a token twice": lambda tokens, result: len(set(tokens.tolist())) < len(tokens),
        "all the same": lambda tokens, result: len(set(tokens.tolist())) == 1 < len(tokens),
        "more tokens than rows": lambda tokens, table, result: len(tokens) > len(table),
        "the table in order": lambda tokens, table: np.array_equal(tokens, np.arange(len(table))),
        "in another integer dtype": lambda tokens: tokens.dtype != np.int64,
    }),
    factor("table", "embed", {
        "one row": lambda table, result: len(table) == 1,
        "one feature": lambda table: table.shape[1] == 1,
        "many rows": lambda table: len(table) > 32,
        "float32": lambda table: table.dtype == np.float32,
        **layout("table"),
    }),
    factor("a negative token", "embed", {
        "-1": lambda tokens: tokens.min() == -1,
        "another": lambda tokens, table: -len(table) <= tokens.min() < -1,
        "far below": lambda tokens, table: tokens.min() < -len(table),
        "the first": lambda tokens: tokens[0] < 0 <= tokens[1:].min(initial=0) and len(tokens) > 1,
        "the last": lambda tokens: tokens[-1] < 0 <= tokens[:-1].min(initial=0) and len(tokens) > 1,
        "between others": lambda tokens: tokens[1:-1].min(initial=0) < 0,
        "the only one": lambda tokens: len(tokens) == 1 and tokens[0] < 0,
    }),
    factor("a token not below vocab", "embed", {
        "vocab": lambda tokens, table: tokens.max() == len(table),
        "far above": lambda tokens, table: tokens.max() > 10 * len(table),
        "the first": lambda tokens, table: tokens[0] >= len(table) > tokens[1:].max(initial=0) and len(tokens) > 1,
        "the last": lambda tokens, table: tokens[-1] >= len(table) > tokens[:-1].max(initial=0) and len(tokens) > 1,
        "between others": lambda tokens, table: tokens[1:-1].max(initial=0) >= len(table),
        "the only one": lambda tokens, table: len(tokens) == 1 and tokens[0] >= len(table),
        "with a table of one row": lambda tokens, table: len(table) == 1 <= tokens.max(),
    }),
    factor("float32", "dtype", {"table": lambda table: True}),
)  # fmt: skip

BLOCKS = {
    words: lambda params, n=n: len(params["blocks"]) == n
    for n, words in enumerate(("no block", "one block", "two blocks"))
}


def decoder(about):
    """The factors that the three functions of a whole decoder share."""
    return (
        factor("tokens", about, {
            **length("tokens", 0),
            "a token twice": lambda tokens: len(set(tokens.tolist())) < len(tokens),
            "all the same": lambda tokens: len(set(tokens.tolist())) == 1 < len(tokens),
            "in another integer dtype": lambda tokens: tokens.dtype != np.int64,
        }),
        factor("blocks", about, {**BLOCKS, "different hidden layers": lambda params: len(params["blocks"]) > 1}),
        factor("vocabulary", about, {
            "one token": lambda params: len(params["embedding"]) == 1,
            "as many as features": lambda params: len(params["embedding"]) == params["embedding"].shape[1],
            "many": lambda params: len(params["embedding"]) > 32,
        }),
        factor("features", about, {
            "two": lambda params: params["embedding"].shape[1] == 2,
            "four": lambda params: params["embedding"].shape[1] == 4,
            "six": lambda params: params["embedding"].shape[1] == 6,
        }),
        factor("n_heads", about, {
            **count("n_heads", 1, 2),
            "as many as features": lambda params, n_heads: params["embedding"].shape[1] == n_heads,
        }),
        factor("dtype", about, {"float32": lambda params: params["w_out"].dtype == np.float32}),
    )  # fmt: skip


DECODER_LOGITS = inputs(
    *decoder("logits"),
    factor("more", "logits", {
        "three blocks": lambda params: len(params["blocks"]) == 3,
        "three heads": lambda n_heads: n_heads == 3,
        "as many tokens as the vocabulary": lambda tokens, params: len(tokens) == len(params["embedding"]),
        "as many tokens as features": lambda tokens, params: len(tokens) == params["embedding"].shape[1],
        "one token without blocks": lambda tokens, params: len(tokens) == 1 and not params["blocks"],
        "one token with blocks": lambda tokens, params: len(tokens) == 1 and params["blocks"],
        "w_out by columns": lambda params: params["w_out"].flags.fnc,
        **order("params", "embedding"),
    }),
    factor("float32", "dtype", {words: BLOCKS[words] for words in ("no block", "one block")}),
)  # fmt: skip

SEQUENCE_LOG_PROB = inputs(
    *decoder("log_prob"),
    factor("more", "log_prob", {
        "three heads": lambda n_heads: n_heads == 3,
        "one token without blocks": lambda tokens, params: len(tokens) == 1 and not params["blocks"],
        "one token with blocks": lambda tokens, params: len(tokens) == 1 and params["blocks"],
    }),
    factor("logits", "log_prob", {
        "very large": lambda params: params["b_out"].min() > 1e3,
        "all far below zero": lambda params: params["b_out"].max() < -1e3,
        "of very different sizes": lambda params: np.ptp(params["embedding"]) > 1e3,
    }),
    factor("result", "log_prob", {"a probability too small for float64": lambda result: result < -750}),
)  # fmt: skip


def produced(tokens, result):
    """The tokens that were added to the prompt."""
    return result[len(tokens) :].tolist()


PLACES = {
    "left out": lambda eos: eos is None,
    "the first token": lambda tokens, eos, result: produced(tokens, result)[:1] == [eos],
    "a later token": lambda tokens, eos, max_new_tokens, result: (
        produced(tokens, result)[-1:] == [eos] and 1 < len(produced(tokens, result)) < max_new_tokens
    ),
    "at the last allowed step": lambda tokens, eos, max_new_tokens, result: (
        len(produced(tokens, result)) == max_new_tokens > 1 and produced(tokens, result)[-1] == eos
    ),
    "none": lambda tokens, eos, result: (
        eos is not None and len(result) > len(tokens) and eos not in produced(tokens, result)
    ),
}
PROMPTS = {
    "without it": lambda tokens, eos: eos is not None and eos not in tokens,
    "beginning with it": lambda tokens, eos: len(tokens) > 1 and tokens[0] == eos,
    "ending with it": lambda tokens, eos: len(tokens) > 1 and tokens[-1] == eos,
}

GENERATE = inputs(
    *(one for one in decoder("generate") if one.name != "dtype"),
    factor("max_new_tokens", "generate", count("max_new_tokens", 0, 1, 2, 3, above=8)),
    factor("max_new_tokens and eos", "stopping", {
        "0": lambda max_new_tokens, eos: max_new_tokens == 0 and eos is not None,
        "0, eos at the end of the prompt": lambda tokens, max_new_tokens, eos: max_new_tokens == 0 and eos == tokens[-1],
        "0, eos between others": lambda tokens, max_new_tokens, eos: max_new_tokens == 0 and eos in tokens[1:-1],
    }),
    factor("ties", "generate", {
        "of all tokens": lambda params, max_new_tokens: max_new_tokens and np.ptp(params["b_out"]) == 0 < len(params["b_out"]) - 1
        and not params["w_out"].any(),
        "among tokens other than the first": lambda params: params["b_out"][0] < params["b_out"].max() and _tied(params["b_out"]),
        "none, but nearly": lambda params: not params["w_out"].any() and 0 < _distance(params["b_out"]) < 1e-4,
        "below zero": lambda params: params["b_out"].max() < 0 and _tied(params["b_out"]),
    }),
    factor("eos", "stopping", PLACES),
    factor("prompt and eos", "stopping", PROMPTS),
    factor("eos of id", "stopping", {
        "0": lambda eos: eos == 0,
        "another": lambda eos: eos is not None and eos > 0,
        "above 256": lambda eos: eos is not None and eos > 256,
        "the last": lambda params, eos: eos == len(params["embedding"]) - 1,
    }),
    pairs=(("eos", "prompt and eos"),),
    never=tuple(("left out", words) for words in PROMPTS),
)  # fmt: skip


def _distance(values):
    """The smallest distance between two values."""
    return np.diff(np.sort(values)).min(initial=np.inf)


def _tied(values):
    return (values == values.max()).sum() > 1


INPUTS = {
    "positional_encoding": POSITIONAL_ENCODING,
    "embed": EMBED,
    "decoder_logits": DECODER_LOGITS,
    "sequence_log_prob": SEQUENCE_LOG_PROB,
    "generate": GENERATE,
}
