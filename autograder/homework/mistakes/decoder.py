"""Known mistakes in decoder.py."""

import numpy as np

from autograder.homework.mistakes import written
from autograder.homework.reference import causal_mask, transformer_stack

PE = "the formula in the docstring of `positional_encoding`"
SHARED = "Sine and cosine of the pair i share the angle p / 10000**(2i / d_model)."
PROMOTION = "NumPy's page on data type promotion (NEP 50)"
KEPT = "the Python FAQ on default values shared between calls"


@written
def positional_encoding(t, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    positions = np.arange(t)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000.0**exponents
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    result = pairs.reshape(t, d_model)
    return result


positional_encoding.wrong("halves", "positions", {"np.stack([np.sin(angles), np.cos(angles)], axis=-1)":
    "np.concatenate([np.sin(angles), np.cos(angles)], axis=1)"},
    does="Your code puts all sines first and all cosines after them.", right="Sines and cosines alternate, column by column.",
    read=PE)
positional_encoding.wrong("cosine_first", "positions", {"np.sin(": "np.cos(", "np.cos(": "np.sin("},
    does="Your code has cosines in the even columns.", right="The even columns 0, 2, ... are sines, the odd ones cosines.", read=PE)
positional_encoding.wrong("only_sines", "positions", {"np.cos(": "np.sin("},
    does="Your code has sines in the odd columns too.", right="The odd columns are cosines.", read=PE)
positional_encoding.wrong("from_one", "positions", {"np.arange(t)": "np.arange(1, t + 1)"},
    does="Your code counts the positions from 1.", right="The first position is p = 0.", read=PE)
positional_encoding.wrong("scaled_to_length", "positions", {"np.arange(t)[:, None]": "np.arange(t)[:, None] / t"},
    {"np.arange(t)[:, None]": "np.arange(t)[:, None] / max(t - 1, 1)"},
    does="Your code divides the positions by the length of the sequence.",
    right="A position counts 0, 1, 2, ... whatever the length is.", read=PE)
positional_encoding.wrong("wrapped", "positions", {"np.arange(t)": "(np.arange(t) % 512)"}, {"np.arange(t)": "(np.arange(t) % 64)"},
    {"np.arange(t)": "np.minimum(np.arange(t), 63)"},
    does="Your code stops counting, or starts again, beyond some position.", right="Every position has an encoding of its own.",
    read=PE)
positional_encoding.wrong("half_exponent", "positions", {"np.arange(0, d_model, 2)": "np.arange(d_model // 2)"},
    does="Your exponent is i / d_model.", right=SHARED, read=PE)
positional_encoding.wrong("double_exponent", "positions", {"np.arange(0, d_model, 2)": "2 * np.arange(0, d_model, 2)"},
    does="Your exponent is 4i / d_model: with i counting pairs, the even column is 2i already.", right=SHARED, read=PE)
positional_encoding.wrong("own_frequency", "positions", {"np.arange(0, d_model, 2)": "np.arange(d_model)",
    "np.stack([np.sin(angles), np.cos(angles)], axis=-1)": "np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))"},
    does="Your code gives every column a frequency of its own.", right=SHARED, read=PE)
positional_encoding.wrong("tensor2tensor", "positions", {"np.arange(0, d_model, 2) / d_model":
    "np.arange(d_model // 2) / max(d_model // 2 - 1, 1)"},
    does="Your frequencies end at exactly 1 / 10000, as in the tensor2tensor library.", right=SHARED,
    read="Vaswani and others 2017, section 3.5")
positional_encoding.wrong("base_1000", "positions", {"10000.0": "1000.0"}, {"10000.0": "100.0"}, {"10000.0": "np.e"},
    does="Your code takes powers of another number than 10000.", right=SHARED, read="Vaswani and others 2017, section 3.5")
positional_encoding.wrong("multiplied", "positions", {"positions / ": "positions * "},
    does="Your code multiplies the position by the power of 10000.", right="Divide by it.", read=PE)
positional_encoding.wrong("degrees", "positions", {"    pairs": "    angles = np.deg2rad(angles)\n    pairs"},
    does="Your code converts the angles from degrees.", right="They are radians, as np.sin takes them.", read="numpy.sin")
positional_encoding.wrong("transposed", "positions", {"return result": "return result.T"},
    does="Your code exchanges rows and columns.", right="The result is (t, d_model): a row for each position.", read=PE)
positional_encoding.wrong("batch_axis", "positions", {"return result": "return result[None]"},
    does="Your result has an axis of length 1 in front.", right="Return an array of shape (t, d_model).", read=PE)
positional_encoding.wrong("squeezed", "positions", {"return result": "return result.squeeze()"},
    does="Your code removes an axis of length 1.", right="One position gives an array of shape (1, d_model).", read="numpy.squeeze")
positional_encoding.wrong("odd_accepted", "positions", {"    if d_model % 2 != 0:\n": "    if False:\n",
    "pairs.reshape(t, d_model)": "pairs.reshape(t, -1)[:, :d_model]"},
    does="Your code accepts an odd d_model.", right="Raise ValueError for it.",
    read="the part Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("assert", "positions", {'    if d_model % 2 != 0:\n        raise ValueError("d_model must be even")\n':
    "    assert d_model % 2 == 0\n"},
    does="Your code refuses an odd d_model with an assert, which raises AssertionError.", right="Raise ValueError.",
    read="the part Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("odd_length_refused", "positions", {"if d_model % 2 != 0": "if d_model % 2 != 0 or (t > 1 and t % 2)"},
    {"if d_model % 2 != 0": "if d_model % 2 != 0 or t % 2"},
    does="Your code refuses an odd number of positions.", right="Only d_model must be even.",
    read="the part Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("one_position_refused", "positions", {"if d_model % 2 != 0": "if d_model % 2 != 0 or t < 2"},
    does="Your code refuses a single position.", right="Any t from 1 on is allowed.", read=PE)
positional_encoding.wrong("float32_result", "dtype", {"return result": "return result.astype(np.float32)"},
    does="Your result is float32.", right="The docstring asks for float64.",
    read="the part Returns of the docstring of `positional_encoding`")
positional_encoding.wrong("cached", "positions",
    {"def positional_encoding(t, d_model)": "def positional_encoding(t, d_model, cache={})",
     "    return result": "    result = cache.setdefault(d_model, result)[:t]\n    return result"}, memory=True,
    does="Your code keeps the table of the first call for its d_model.", right="A later call may need more positions.", read=KEPT)


TABLE = "Raise ValueError for a token that is negative or not below vocab, the number of rows of the table."
EMBED = "the docstring of `embed`"


@written
def embed(tokens, table):
    vocab = len(table)
    too_small = np.any(tokens < 0)
    too_large = np.any(tokens >= vocab)
    if too_small or too_large:
        raise ValueError("a token outside the vocabulary")
    result = table[tokens]
    return result


embed.wrong("unchecked", "embed", {"if too_small or too_large": "if False"},
    does="Your code does not check the tokens: NumPy takes a negative one from the end of the table.", right=TABLE,
    read="NumPy user guide, indexing with integers")
embed.wrong("negative_accepted", "embed", {"too_small or too_large": "too_large"},
    does="Your code accepts negative tokens, which NumPy takes from the end of the table.", right=TABLE,
    read="NumPy user guide, indexing with integers")
embed.wrong("large_unchecked", "embed", {"too_small or too_large": "too_small"},
    does="Your code does not check for tokens that are too large.", right=TABLE, read=EMBED)
embed.wrong("and_for_or", "embed", {"too_small or too_large": "too_small and too_large"},
    does="Your code raises ValueError only where one token is too small and another too large.", right=TABLE, read=EMBED)
embed.wrong("every_token_wrong", "embed", {"np.any(": "np.all("},
    does="Your code raises ValueError only where every token is outside the vocabulary.", right=TABLE, read="numpy.any")
embed.wrong("first_token_checked", "embed", {"np.any(tokens < 0)": "tokens[0] < 0",
    "np.any(tokens >= vocab)": "tokens[0] >= vocab"},
    does="Your code checks the first token only.", right=TABLE, read="numpy.any")
embed.wrong("vocab_accepted", "embed", {">= vocab": "> vocab"},
    does="Your check lets the token vocab pass.", right="The largest token is vocab - 1.", read=EMBED)
embed.wrong("last_refused", "embed", {">= vocab": ">= vocab - 1"},
    does="Your code refuses the token vocab - 1.", right="It is the last row of the table.", read=EMBED)
embed.wrong("width_for_vocab", "embed", {"len(table)": "table.shape[1]"},
    does="Your code compares the tokens with the width of the table.", right=TABLE, read=EMBED)
embed.wrong("clipped", "embed", {"if too_small or too_large": "if False", "table[tokens]": "table[np.clip(tokens, 0, vocab - 1)]"},
    does="Your code moves tokens outside the vocabulary to its ends.", right=TABLE, read=EMBED)
embed.wrong("wrapped", "embed", {"if too_small or too_large": "if False", "table[tokens]": "table[tokens % vocab]"},
    does="Your code takes tokens outside the vocabulary modulo vocab.", right=TABLE, read=EMBED)
embed.wrong("index_error", "embed", {"raise ValueError": "raise IndexError"},
    does="Your code raises IndexError for a token outside the vocabulary.", right="Raise ValueError.", read=EMBED)
embed.wrong("assert", "embed", {"raise ValueError": "raise AssertionError"},
    does="Your code refuses a token outside the vocabulary with an assert, which raises AssertionError.",
    right="Raise ValueError.", read=EMBED)
embed.wrong("zero_refused", "embed", {"tokens < 0": "tokens <= 0"},
    does="Your code refuses the token 0.", right="It is the first token of the vocabulary.", read=EMBED)
embed.wrong("zero_is_padding", "embed", {"return result": "return np.where(tokens[:, None] == 0, 0, result)"},
    does="Your code gives zeros for the token 0, as for padding.", right="Token 0 is a token like the others: row 0 of the table.",
    read=EMBED)
embed.wrong("scaled", "embed", {"return result": "return result * float(table.shape[1]) ** 0.5"},
    does="Your code multiplies the rows by sqrt(d), as the original paper does.", right="Return the rows as they are.",
    read="Vaswani and others 2017, section 3.4, beside the docstring of `embed`")
embed.wrong("adds_positions", "embed",
    {"return result": "return result + positional_encoding(len(tokens), table.shape[1] + table.shape[1] % 2)[:, : table.shape[1]]"},
    does="Your code adds the positions here already.", right="Return the rows as they are: decoder_logits adds the positions.",
    read=EMBED)
embed.wrong("columns", "embed", {"table[tokens]": "table[:, tokens]"}, {"table[tokens]": "table[:, tokens].T"},
    does="Your code takes columns of the table.", right="A token is a row: table[tokens].", read=EMBED)
embed.wrong("transposed", "embed", {"return result": "return result.T"},
    does="Your code exchanges rows and columns.", right="The result is (t, d): a row for each token.", read=EMBED)
embed.wrong("unique", "embed", {"table[tokens]": "table[np.unique(tokens)]"},
    does="Your code drops repeated tokens and sorts the others.", right="Every position keeps its own row.", read="numpy.unique")
embed.wrong("batch_axis", "embed", {"return result": "return result[None]"},
    does="Your result has an axis of length 1 in front.", right="Return an array of shape (t, d).", read=EMBED)
embed.wrong("squeezed", "embed", {"return result": "return result.squeeze()"},
    does="Your code removes an axis of length 1.", right="One token gives an array of shape (1, d).", read="numpy.squeeze")
embed.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the table.", read=PROMOTION)


LOGITS = "the formula in the docstring of `decoder_logits`"
MASK = "Row i sees the tokens 0 to i, its own included: mask=causal_mask(t)."
ADDED = "Add the positional encoding to the embedding, once, before the stack."
STACK = "All blocks follow one another: transformer_stack(x, params[\"blocks\"], n_heads, mask=...)."


@written
def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    t, d = x.shape
    positions = positional_encoding(t, d)
    x = x + positions.astype(x.dtype)
    mask = causal_mask(t)
    blocks = params["blocks"]
    x = transformer_stack(x, blocks, n_heads, norm="pre", mask=mask)
    logits = x @ params["w_out"] + params["b_out"]
    return logits


decoder_logits.wrong("no_positions", "logits", {"x + positions.astype(x.dtype)": "x"},
    does="Your code does not add the positional encoding.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_last", "logits", {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
    "x @ params": "(x + positions) @ params"}, does="Your code adds the positions after the stack.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_twice", "logits", {"x + positions.astype": "x + 2 * positions.astype"},
    does="Your code adds the positional encoding twice.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_in_every_block", "logits",
    {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
     "x = transformer_stack(x, blocks, n_heads": "for block in blocks:\n        x = transformer_stack(x + positions, [block], n_heads"},
    does="Your code adds the positional encoding again before every block.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_multiplied", "logits", {"x + positions": "x * positions"},
    does="Your code multiplies the embedding by the positional encoding.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_truncated", "logits", {"positions.astype(x.dtype)": "positions.astype(int)"},
    does="Your code cuts the positional encoding to whole numbers.", right=ADDED, read="numpy.ndarray.astype")
decoder_logits.wrong("scaled_embedding", "logits", {"x = embed(tokens, params[\"embedding\"])":
    "x = embed(tokens, params[\"embedding\"])\n    x = x * float(x.shape[1]) ** 0.5"},
    does="Your code multiplies the embedding by sqrt(d), as the original paper does.", right="Use the embedding as it is.",
    read="Vaswani and others 2017, section 3.4, beside the docstring of `decoder_logits`")
decoder_logits.wrong("no_mask", "logits", {"mask = causal_mask(t)": "mask = None"},
    does="Your code has no causal mask, so that every position sees the tokens that it has to predict.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_transposed", "logits", {"causal_mask(t)": "causal_mask(t).T"},
    does="Your mask is transposed: every position sees the future and not the past.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_strict", "logits", {"causal_mask(t)": "np.tri(t, k=-1, dtype=bool)"},
    does="Your mask hides a position from itself.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_one_ahead", "logits", {"causal_mask(t)": "np.tri(t, k=1, dtype=bool)"},
    does="Your mask shows each position the next token, which it has to predict.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_inverted", "logits", {"causal_mask(t)": "~causal_mask(t)"},
    does="Your mask is inverted: it hides the past and shows the future.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_window", "logits", {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-8, dtype=bool)"},
    {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-4, dtype=bool)"},
    {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-16, dtype=bool)"},
    does="Your mask hides tokens that are far back.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("padding_token", "logits", {"causal_mask(t)": "causal_mask(t) & (tokens != 0)"},
    does="Your code hides the token 0, as if it were padding.", right="Token 0 is a token like the others.", read=LOGITS)
decoder_logits.wrong("post_norm", "logits", {'norm="pre"': 'norm="post"'},
    does="Your stack is built of post-norm blocks.", right="The decoder has pre-norm blocks: norm=\"pre\".", read=LOGITS)
decoder_logits.wrong("final_norm", "logits", {"    logits = x":
    "    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)\n    logits = x"},
    does="Your code has a layer norm before the output matrix, as GPT-2 has.", right="Here is no final norm.", read=LOGITS)
decoder_logits.wrong("one_block", "logits", {'params["blocks"]': 'params["blocks"][:1]'},
    does="Your code applies the first block only.", right=STACK, read=LOGITS)
decoder_logits.wrong("last_block_only", "logits", {'params["blocks"]': 'params["blocks"][-1:]'},
    does="Your code applies the last block only.", right=STACK, read=LOGITS)
decoder_logits.wrong("last_block_missing", "logits", {'params["blocks"]': 'params["blocks"][:-1]'},
    does="Your code leaves out the last block.", right=STACK, read=LOGITS)
decoder_logits.wrong("blocks_reversed", "logits", {'params["blocks"]': 'params["blocks"][::-1]'},
    does="Your code applies the blocks in reverse order.", right=STACK, read=LOGITS)
decoder_logits.wrong("no_blocks", "logits", {'params["blocks"]': "[]"},
    does="Your code applies no block.", right=STACK, read=LOGITS)
decoder_logits.wrong("blocks_shared", "logits", {'params["blocks"]': 'params["blocks"][:1] * len(params["blocks"])'},
    does="Your code applies the first block again in the place of the others.", right=STACK, read=LOGITS)
decoder_logits.wrong("one_head", "logits", {"blocks, n_heads": "blocks, 1"},
    does="Your code always runs attention with one head.", right="Pass n_heads on.", read=LOGITS)
decoder_logits.wrong("bias_forgotten", "logits", {' + params["b_out"]': ""},
    does="Your code does not add b_out.", right="The logits are x @ w_out + b_out.", read=LOGITS)
decoder_logits.wrong("bias_subtracted", "logits", {' + params["b_out"]': ' - params["b_out"]'},
    does="Your code subtracts b_out.", right="The logits are x @ w_out + b_out.", read=LOGITS)
decoder_logits.wrong("softmax", "logits", {"return logits":
    "odds = np.exp(logits - logits.max(axis=-1, keepdims=True))\n    return odds / odds.sum(axis=-1, keepdims=True)"},
    does="Your code returns probabilities.", right="Return the logits as they are, without a softmax.", read=LOGITS)
decoder_logits.wrong("log_softmax", "logits", {"return logits":
    "logits = logits - logits.max(axis=-1, keepdims=True)\n    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))"},
    does="Your code returns log-probabilities.", right="Return the logits as they are, without a softmax.", read=LOGITS)
decoder_logits.wrong("tied_weights", "logits", {'x @ params["w_out"]': 'x @ params["embedding"].T'},
    does="Your code uses the embedding as output matrix, as GPT-2 does.", right="Use w_out.", read=LOGITS)
decoder_logits.wrong("last_row_only", "logits", {"return logits": "return logits[-1]"},
    does="Your code returns the last row only.", right="Return the logits of every position, (t, vocab).", read=LOGITS)
decoder_logits.wrong("transposed", "logits", {"return logits": "return logits.T"},
    does="Your code exchanges rows and columns.", right="The result is (t, vocab): a row for each position.", read=LOGITS)
decoder_logits.wrong("batch_axis", "logits", {"return logits": "return logits[None]"},
    does="Your result has an axis of length 1 in front.", right="Return an array of shape (t, vocab).", read=LOGITS)
decoder_logits.wrong("squeezed", "logits", {"return logits": "return logits.squeeze()"},
    does="Your code removes an axis of length 1.", right="One token gives an array of shape (1, vocab).", read="numpy.squeeze")
decoder_logits.wrong("shifted", "logits", {"return logits": "return np.roll(logits, 1, axis=0)"},
    does="Your rows are shifted by one position.", right="Row i is about the token at position i + 1.", read=LOGITS)
decoder_logits.wrong("changes_params", "logits",
    {'params["blocks"]': '[params["blocks"].pop(0) for _ in range(len(params["blocks"]))]'},
    {'x = embed(tokens, params["embedding"])': 'params["embedding"] += 0.5\n    x = embed(tokens, params["embedding"])'},
    does="Your code changes the argument `params`.", right="Leave the caller's parameters as they are; work on copies.",
    read="NumPy's page on copies and views")
decoder_logits.wrong("embedding_in_place", "logits",
    {'x = embed(tokens, params["embedding"])': 'x = embed(tokens, params["embedding"])\n    table = params["embedding"]',
     "x = x + positions.astype(x.dtype)":
     "for place, token in enumerate(tokens):\n        table[token] += positions[place].astype(x.dtype)\n    x = table[tokens]"},
    does="Your code adds the positions to rows of the table itself, so that repeated tokens collect several and params is changed.",
    right="Add them to a copy: x + positions makes a new array.", read="NumPy's page on copies and views")
decoder_logits.wrong("positions_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = x + positions": "    positions = cache.setdefault(t, positions)\n    x = x + positions"}, memory=True,
    does="Your code keeps the positional encoding of an earlier call by its length.",
    right="Another model may have another width: compute it from the shape of this call.", read=KEPT)
decoder_logits.wrong("params_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = embed(": "    params = cache.setdefault(params[\"embedding\"].shape, params)\n    x = embed("}, memory=True,
    does="Your code uses the parameters of an earlier call again.", right="Use the params of this call.", read=KEPT)
decoder_logits.wrong("float64_result", "dtype", {"positions.astype(x.dtype)": "positions"},
    does="Your result is float64 for float32 parameters.",
    right="Bring the float64 positions to the dtype of the embedding before you add them.",
    read="the part Returns of the docstring of `decoder_logits`")


SCORE = "the formula in the docstring of `sequence_log_prob`"
SHIFT = "Row i - 1, which has seen tokens[:i], scores tokens[i], for every i from 1 on."
SOFTMAX = "Use log softmax(s)_k = s_k - log(sum_j exp(s_j)), over the vocabulary."


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
    does="Your code scores each token with its own row, which has seen it already.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("first_token_scored", "log_prob", {"logits[:-1]": "logits", "tokens[1:]": "tokens"},
    does="Your code scores every token with its own row, the first one too.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("shifted_back", "log_prob", {"logits[:-1]": "logits[1:]", "tokens[1:]": "tokens[:-1]"},
    does="Each of your rows scores the token before its position.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("shifted_by_two", "log_prob", {"logits[:-1]": "logits[:-2]", "tokens[1:]": "tokens[2:]"},
    does="Your code scores each token with the row two positions before it.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("tokens_not_shifted", "log_prob", {"tokens[1:]": "tokens[:-1]"},
    does="Each of your rows scores its own token, and the last token is not scored.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("last_token_only", "log_prob", {"chosen.sum()": "chosen[-1:].sum()"},
    does="Your code scores the last token only.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("last_token_missing", "log_prob", {"logits[:-1]": "logits[:-2]", "tokens[1:]": "tokens[1:-1]"},
    does="Your code does not score the last token.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("second_token_missing", "log_prob", {"chosen.sum()": "chosen[1:].sum()"},
    does="Your code does not score the token at position 1.", right=SHIFT, read=SCORE)
sequence_log_prob.wrong("mean", "log_prob", {"chosen.sum()": "chosen.sum() / max(len(chosen), 1)"},
    {"chosen.sum()": "chosen.sum() / len(tokens)"},
    does="Your code averages over the tokens.", right="A sequence's log-probability is the sum.", read=SCORE)
sequence_log_prob.wrong("negated", "log_prob", {"float(result)": "-float(result)"},
    does="Your result has the sign of a loss.", right="A log-probability is 0 at most.", read=SCORE)
sequence_log_prob.wrong("probability", "log_prob", {"float(result)": "float(np.exp(result))"},
    does="Your code returns the probability.", right="Return its logarithm.", read=SCORE)
sequence_log_prob.wrong("log_2", "log_prob", {"float(result)": "float(result) / np.log(2)"},
    does="Your result is in bits, from log2.", right="Use the natural logarithm, np.log.", read="numpy.log")
sequence_log_prob.wrong("log_10", "log_prob", {"float(result)": "float(result) / np.log(10)"},
    does="Your result comes from log10.", right="Use the natural logarithm, np.log.", read="numpy.log")
sequence_log_prob.wrong("raw_logits", "log_prob", {"shifted - np.log(total)": "rows"},
    does="Your code sums the logits without normalising them.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("only_shifted", "log_prob", {"shifted - np.log(total)": "shifted"},
    does="Your code subtracts the largest logit and does not normalise.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("no_log", "log_prob", {"shifted - np.log(total)": "np.exp(shifted) / total"},
    does="Your code sums probabilities.", right="Sum their logarithms.", read=SCORE)
sequence_log_prob.wrong("product", "log_prob", {"chosen.sum()": "chosen.prod()"},
    does="Your code multiplies the logarithms.", right="Logarithms of probabilities are added.", read=SCORE)
sequence_log_prob.wrong("wrong_axis", "log_prob", {"axis=-1": "axis=0", "rows = logits[:-1]": "rows = logits"},
    {"axis=-1": "axis=0"},
    does="Your softmax runs over the positions.", right="It runs over the vocabulary, the last axis.", read=SCORE)
sequence_log_prob.wrong("whole_array", "log_prob", {".sum(axis=-1, keepdims=True)": ".sum()"},
    does="Your softmax runs over the whole array.", right="It runs over the vocabulary, row by row.", read=SCORE)
sequence_log_prob.wrong("overflow", "log_prob", {"rows - rows.max(axis=-1, keepdims=True)": "rows"},
    does="Your exponentials of large logits overflow.", right="Subtract the largest logit of each row first.", read=SCORE)
sequence_log_prob.wrong("one_maximum", "log_prob", {"rows.max(axis=-1, keepdims=True)": "logits.max()"},
    does="Your code subtracts the largest of all logits, so that rows far below it vanish.",
    right="Subtract the largest logit of each row.",
    read="numpy.max, arguments axis and keepdims")
sequence_log_prob.wrong("log_with_eps", "log_prob", {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-9)"},
    {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-12)"},
    {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-10)"},
    {"shifted - np.log(total)": "np.log(np.exp(shifted) / total + 1e-8)"},
    does="Your code adds a small number to the probabilities before the logarithm.", right=SOFTMAX, read=SCORE)
sequence_log_prob.wrong("not_summed", "log_prob", {"float(result)": "chosen"},
    does="Your code returns the logarithms one by one.", right="Return their sum, a float.", read=SCORE)
sequence_log_prob.wrong("array_of_one", "log_prob", {"float(result)": "np.array([result])"},
    does="Your code returns an array of one number.", right="Return a float.",
    read="the part Returns of the docstring of `sequence_log_prob`")
sequence_log_prob.wrong("one_token_refused", "log_prob",
    {"    logits =": "    if len(tokens) < 2:\n        raise ValueError\n    logits ="},
    does="Your code refuses a single token.", right="There is nothing to score then, and the sum is 0.0.", read=SCORE)
sequence_log_prob.wrong("repeats_once", "log_prob", {"chosen = log_probs[np.arange(len(scored)), scored]":
    "seen = np.unique(scored, return_index=True)[1]\n    chosen = log_probs[np.arange(len(scored)), scored][seen]"},
    does="Your code scores a repeated token only once.", right=SHIFT, read=SCORE)


GREEDY = "the docstring of `generate`"
STOP = "Stop right after an eos that was produced; it stays in the result."
COUNT = "Add at most max_new_tokens tokens to the prompt."
WHOLE_TEXT = "Each step gives the decoder the whole text so far, prompt and new tokens, and takes the last row."


@written
def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    text = tokens.astype(int)
    for _ in range(max_new_tokens):
        context = text
        logits = decoder_logits(context, params, n_heads)
        row = logits[-1]
        token = int(np.argmax(row))
        text = np.append(text, token)
        if token == eos:
            break
    return text


generate.wrong("prompt_dropped", "generate", {"return text": "return text[len(tokens):]"},
    does="Your code returns the new tokens only.", right="The result begins with the prompt.", read=GREEDY)
generate.wrong("one_too_many", "generate", {"range(max_new_tokens)": "range(max_new_tokens + 1)"},
    does="Your code produces one token too many.", right=COUNT, read=GREEDY)
generate.wrong("one_too_few", "generate", {"range(max_new_tokens)": "range(max_new_tokens - 1)"},
    does="Your code produces one token too few.", right=COUNT, read=GREEDY)
generate.wrong("at_least_one", "generate", {"range(max_new_tokens)": "range(max(max_new_tokens, 1))"},
    does="Your code always produces at least one token.", right="With max_new_tokens 0 the prompt is returned.", read=GREEDY)
generate.wrong("total_length", "generate", {"range(max_new_tokens)": "range(max_new_tokens - len(tokens))"},
    does="Your code takes max_new_tokens for the total length.", right=COUNT, read=GREEDY)
generate.wrong("one_token", "generate", {"range(max_new_tokens)": "range(min(max_new_tokens, 1))"},
    does="Your code produces one token and ends.", right="Produce max_new_tokens tokens, unless eos comes first.", read=GREEDY)
generate.wrong("eos_ignored", "stopping", {"if token == eos": "if False"},
    does="Your code does not stop at eos.", right=STOP, read=GREEDY)
generate.wrong("eos_dropped", "stopping", {"        text = np.append(text, token)\n        if token == eos:\n            break\n":
    "        if token == eos:\n            break\n        text = np.append(text, token)\n"},
    does="Your code leaves the final eos out of the result.", right=STOP, read=GREEDY)
generate.wrong("eos_padded", "stopping", {"            break\n":
    "            text = np.append(text, [eos] * (len(tokens) + max_new_tokens - len(text))).astype(int)\n            break\n"},
    does="Your code fills the result up with eos.", right="It ends right after the first eos produced.", read=GREEDY)
generate.wrong("one_after_eos", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if len(text) > len(tokens) + 1 and text[-2] == eos:\n            break\n        context = text\n"},
    does="Your code produces one more token after eos.", right=STOP, read=GREEDY)
generate.wrong("eos_in_prompt", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if eos is not None and eos in text:\n            break\n        context = text\n"},
    does="Your code stops at an eos anywhere in the prompt.", right="Only an eos that was produced ends the text.", read=GREEDY)
generate.wrong("eos_checked_first", "stopping", {"        if token == eos:\n            break\n": "",
    "        context = text\n": "        if text[-1] == eos:\n            break\n        context = text\n"},
    does="Your code does not continue a prompt that ends with eos.", right="Only an eos that was produced ends the text.",
    read=GREEDY)
generate.wrong("eos_zero_is_none", "stopping", {"if token == eos": "if eos and token == eos"},
    does="Your code takes an eos of 0 for none, because 0 is false in a condition.", right="Compare with None: eos is not None.",
    read="Python library, truth value testing")
generate.wrong("none_is_zero", "stopping", {"if token == eos": "if token == (eos or 0)"},
    does="Without an eos your code stops at the token 0.", right="With eos=None only the count ends the text.",
    read="the signature of `generate`")
generate.wrong("none_is_last", "stopping", {"if token == eos": "if token == (len(row) - 1 if eos is None else eos)"},
    does="Without an eos your code stops at the last token of the vocabulary.", right="With eos=None only the count ends the text.",
    read="the signature of `generate`")
generate.wrong("eos_identity", "stopping", {"if token == eos": "if token is eos and token <= 256"},
    does="Your code compares with eos by `is`, which holds for small ints only.", right="Compare with ==.",
    read="Python language reference, identity comparisons")
generate.wrong("stops_at_repetition", "stopping", {"if token == eos": "if token == eos or token == text[-2]"},
    does="Your code stops where a token repeats the one before.", right=STOP, read=GREEDY)
generate.wrong("highest_id", "generate", {"np.argmax(row)": "len(row) - 1 - np.argmax(row[::-1])"},
    {"np.argmax(row)": "np.argsort(row)[-1]"},
    {"np.argmax(row)": "np.argsort(row, kind='stable')[-1]"},
    does="In a tie your code does not take the lowest id.", right="The lowest id wins, as np.argmax does it.",
    read="numpy.argmax, notes")
generate.wrong("smallest_logit", "generate", {"np.argmax": "np.argmin"},
    does="Your code takes the smallest logit.", right="The largest logit gives the next token.", read=GREEDY)
generate.wrong("largest_magnitude", "generate", {"np.argmax(row)": "np.argmax(np.abs(row))"},
    does="Your code takes the logit of the largest magnitude.", right="The largest logit gives the next token, negative or not.",
    read=GREEDY)
generate.wrong("sampled", "generate", {"token = int(np.argmax(row))":
    "odds = np.exp(row - row.max())\n        token = int(np.random.default_rng(0).choice(len(row), p=odds / odds.sum()))"},
    does="Your code draws the next token at random.", right="Greedy means the most likely one: the largest logit.", read=GREEDY)
generate.wrong("first_row", "generate", {"logits[-1]": "logits[0]"},
    does="Your code takes the next token from the first row of the logits.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("row_before_last", "generate", {"logits[-1]": "logits[max(len(logits) - 2, 0)]"},
    does="Your code takes the next token from the last row but one.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("whole_logits", "generate", {"np.argmax(row)": "np.argmax(logits) % len(row)"},
    {"np.argmax(row)": "np.argmax(logits.max(axis=0))"},
    does="Your code takes the largest logit of all rows.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("newest_token_only", "generate", {"context = text": "context = text[-1:]"},
    does="Your code gives the decoder the newest token only.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("new_tokens_only", "generate",
    {"context = text": "context = text[len(tokens) :] if len(text) > len(tokens) else text"},
    does="Once there are new tokens, your code gives the decoder these only.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("prompt_only", "generate", {"context = text": "context = text[: len(tokens)]"},
    does="Your code always gives the decoder the prompt.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("window", "generate", {"context = text": "context = text[-len(tokens) :]"},
    {"context = text": "context = text[-8:]"},
    {"context = text": "context = text[-4:]"}, {"context = text": "context = text[-2:]"},
    does="Your code cuts the text that the decoder sees.", right=WHOLE_TEXT, read=GREEDY)
generate.wrong("prepended", "generate", {"np.append(text, token)": "np.append(token, text)"},
    does="Your code puts new tokens in front.", right="Append them at the end.", read=GREEDY)
generate.wrong("batch_axis", "generate", {"return text": "return text[None]"},
    does="Your result has a batch axis in front.", right="Return a 1-D array.", read=GREEDY)
generate.wrong("list", "generate", {"return text": "return text.tolist()"},
    does="Your code returns a list.", right="Return an array of integers.", read="the part Returns of the docstring of `generate`")
generate.wrong("float_tokens", "generate", {"return text": "return text.astype(float)"},
    does="Your code returns the tokens as floats.", right="Return an array of integers.",
    read="the part Returns of the docstring of `generate`")
generate.wrong("remembered", "generate", {"eos=None)": "eos=None, new=[])",
    "    for _": "    text = np.append(text, new).astype(int)\n    for _",
    "        if token": "        new.append(token)\n        if token"}, memory=True,
    does="Tokens of an earlier call are still there in the next one.",
    right="Start from the prompt of this call: a default value that is a list is made only once.",
    read=KEPT)
generate.wrong("one_step_cached", "generate", {"eos=None)": "eos=None, cache={})",
    "decoder_logits(context, params, n_heads)": "cache.setdefault(context.tobytes(), decoder_logits(context, params, n_heads))"},
    memory=True,
    does="Your code keeps the logits of an earlier call by its tokens.", right="Another call may have other parameters.", read=KEPT)


LOOKUP = {
    "embedding": np.array([[9.0, 0.0], [0.0, 9.0]]),
    "blocks": [],
    "w_out": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "b_out": np.array([0.0, 0.5]),
}
BLOCK = {
    "ln_1": {"gamma": np.array([1.0, 0.5]), "beta": np.array([0.2, -0.1])},
    "attention": {
        "w_q": np.array([[1.0, -0.5], [0.0, 1.0]]),
        "w_k": np.array([[0.5, 0.0], [-1.0, 1.0]]),
        "w_v": np.array([[1.0, -0.5], [0.5, 2.0]]),
        "w_o": np.array([[0.5, 1.0], [1.0, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 2.0]), "beta": np.array([0.0, 0.3])},
    "ffn": {
        "w_1": np.array([[1.0, -1.0, 0.5], [0.5, 2.0, -1.0]]),
        "b_1": np.array([0.5, -0.5, 0.2]),
        "w_2": np.array([[1.0, 0.0], [0.5, -1.0], [2.0, 1.0]]),
        "b_2": np.array([0.1, -0.3]),
    },
}
OTHER_BLOCK = {**BLOCK, "ln_1": BLOCK["ln_2"], "ln_2": BLOCK["ln_1"]}
THREE = {
    "embedding": np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, -0.5]]),
    "blocks": [],
    "w_out": np.array([[1.0, -1.0, 0.5], [0.5, 2.0, -1.0]]),
    "b_out": np.array([0.2, 0.0, -0.4]),
}
TIE = {
    "embedding": np.array([[1.0, 2.0], [0.5, 0.0], [1.0, 1.0]]),
    "blocks": [],
    "w_out": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "b_out": np.array([0.5, 1.0, 1.0]),
}
LARGE = {
    "embedding": np.array([[900.0, 0.5], [0.0, 1.0]]),
    "blocks": [],
    "w_out": np.array([[1.0, 1.0], [0.5, -0.5]]),
    "b_out": np.array([0.0, 0.5]),
}
TWO_BLOCKS = {**THREE, "blocks": [BLOCK, OTHER_BLOCK]}

EXAMPLES = {
    "positional_encoding": [((1, 2), {}), ((2, 4), {}), ((4, 4), {}), ((2, 3), {})],
    "embed": [
        ((np.array([1, 0, 1]), np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 4.0]])), {}),
        ((np.array([2, 1]), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])), {}),
        ((np.array([0, -1]), np.array([[1.0, 2.0], [3.0, -1.0]])), {}),
        ((np.array([0, 2]), np.array([[1.0, 2.0], [3.0, -1.0]])), {}),
        ((np.array([3]), np.array([[1.0, 2.0], [3.0, -1.0]])), {}),
    ],
    "decoder_logits": [
        ((np.array([2]), THREE, 1), {}),
        ((np.array([0, 1, 2]), TWO_BLOCKS, 2), {}),
    ],
    "sequence_log_prob": [
        ((np.array([1]), THREE, 1), {}),
        ((np.array([1, 2]), THREE, 1), {}),
        ((np.array([0, 1, 0]), LARGE, 1), {}),
    ],
    "generate": [
        ((np.array([0]), LOOKUP, 1, 0), {}),
        ((np.array([0]), TIE, 1, 2), {}),
        ((np.array([0, 1]), LOOKUP, 1, 3), {"eos": 0}),
        ((np.array([0, 1]), LOOKUP, 1, 3), {"eos": 1}),
        ((np.array([0, 2]), TWO_BLOCKS, 2, 3), {}),
    ],
}
