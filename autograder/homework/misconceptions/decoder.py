"""Known mistakes in decoder.py."""

import numpy as np

from autograder.homework.catalogue import misconception
from autograder.homework.reference import causal_mask, decoder_logits, embed, positional_encoding, transformer_stack

# ---------------------------------------------------------------- positional_encoding


@misconception(
    "All sines stand first and all cosines after them; sines and cosines alternate, column by column.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__halves(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


@misconception(
    "Sine and cosine are swapped; the even columns (0, 2, ...) are sines.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__cosine_first(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "Positions are counted from 1; the first position is p = 0.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__from_one(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(1, t + 1)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "The exponent is i / d_model for the i-th pair; it is 2i / d_model.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__half_exponent(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(d_model // 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "The exponent is 2 * column / d_model; with i counting pairs, the even column of pair i is 2i already.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__double_exponent(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (2 * np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "Every column has a frequency of its own; the sine and the cosine of a pair share one.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__own_frequency(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


@misconception(
    "The frequencies end at exactly 1 / 10000, as in the tensor2tensor library; the paper's formula stops before.",
    read="Attention Is All You Need, section 3.5",
)
def positional_encoding__tensor2tensor(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    pairs = np.arange(d_model // 2)
    angles = np.arange(t)[:, None] / 10000 ** (pairs / max(d_model // 2 - 1, 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "The base of the wavelengths is 1000; it is 10000.",
    read="Attention Is All You Need, section 3.5",
)
def positional_encoding__base_1000(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 1000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "The position is multiplied by the power of 10000; it is divided by it.",
    read="the formula in the docstring of positional_encoding",
)
def positional_encoding__multiplied(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] * 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "Rows and columns are exchanged; the result is (t, d_model).",
    read="the shapes in the docstring of positional_encoding",
)
def positional_encoding__transposed(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model).T


@misconception(
    "An axis of length 1 is squeezed away; one position gives (1, d_model).",
    read="numpy.squeeze, argument axis",
)
def positional_encoding__squeezed(t, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model).squeeze()


@misconception(
    "An odd d_model is accepted, with a sine left over at the end; it raises ValueError.",
    read="the errors in the docstring of positional_encoding",
)
def positional_encoding__odd_accepted(t, d_model):
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, -1)[:, :d_model]


@misconception(
    "An odd d_model fails an assert, which raises AssertionError; ValueError is asked for.",
    read="Python library, built-in exceptions",
)
def positional_encoding__assert(t, d_model):
    assert d_model % 2 == 0, "d_model must be even"
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "An odd number of positions is refused as well; only d_model must be even.",
    read="the errors in the docstring of positional_encoding",
)
def positional_encoding__odd_length_refused(t, d_model):
    if t % 2 or d_model % 2:
        raise ValueError("t and d_model must be even")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


@misconception(
    "The table of the first call is kept for its d_model; a later call may need more positions.",
    read="Python FAQ, why default values are shared between calls",
)
def positional_encoding__cached(t, d_model, cache={}):
    if d_model % 2:
        raise ValueError("d_model must be even")
    if d_model not in cache:
        angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        cache[d_model] = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)
    return cache[d_model][:t]


# ---------------------------------------------------------------- embed


@misconception(
    "Tokens are not checked; a negative one silently counts from the end of the table.",
    read="NumPy user guide, indexing with integers",
)
def embed__unchecked(tokens, table):
    return table[tokens]


@misconception(
    "Negative tokens are not checked; they silently count from the end of the table.",
    read="NumPy user guide, indexing with integers",
)
def embed__negative_accepted(tokens, table):
    if np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "Only negative tokens raise ValueError; one that is too large does as well.",
    read="the errors in the docstring of embed",
)
def embed__large_unchecked(tokens, table):
    if np.any(tokens < 0):
        raise ValueError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "The token vocab itself passes the check; the largest token is vocab - 1.",
    read="the errors in the docstring of embed",
)
def embed__vocab_accepted(tokens, table):
    if np.any(tokens < 0) or np.any(tokens > len(table)):
        raise ValueError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "Tokens are compared with the width of the table; vocab is its number of rows.",
    read="the shapes in the docstring of embed",
)
def embed__width_for_vocab(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= table.shape[1]):
        raise ValueError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "Tokens outside the vocabulary are moved to its ends; they raise ValueError.",
    read="the errors in the docstring of embed",
)
def embed__clipped(tokens, table):
    return table[np.clip(tokens, 0, len(table) - 1)]


@misconception(
    "Tokens outside the vocabulary raise IndexError; ValueError is asked for.",
    read="Python library, built-in exceptions",
)
def embed__index_error(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise IndexError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "Token 0 is refused; it is the first token of the vocabulary.",
    read="the errors in the docstring of embed",
)
def embed__zero_refused(tokens, table):
    if np.any(tokens <= 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return table[tokens]


@misconception(
    "Token 0 gives zeros, as padding; here it is a token like the others.",
    read="the docstring of embed",
)
def embed__zero_is_padding(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return np.where(tokens[:, None] == 0, 0, table[tokens])


@misconception(
    "The rows are multiplied by sqrt(d), as in the original paper; here they are taken as they are.",
    read="Attention Is All You Need, section 3.4, beside the docstring of embed",
)
def embed__scaled(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return table[tokens] * float(table.shape[1]) ** 0.5


@misconception("Positions are added here already; decoder_logits adds them.", read="the docstring of embed")
def embed__adds_positions(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    d = table.shape[1]
    positions = positional_encoding(len(tokens), d + d % 2)[:, :d]
    return table[tokens] + positions.astype(table.dtype)


@misconception(
    "Columns of the table are taken; a token is a row.",
    read="the shapes in the docstring of embed",
)
def embed__columns(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return table[:, tokens]


@misconception(
    "Repeated tokens are dropped and the others sorted; every position keeps its own row.",
    read="numpy.unique",
)
def embed__unique(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    return table[np.unique(tokens)]


@misconception(
    "The result is float64 for a float32 table: np.zeros(shape) is float64 unless it is given a dtype.",
    read="numpy.zeros, argument dtype",
)
def embed__float64_buffer(tokens, table):
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError("token outside the vocabulary")
    out = np.zeros((len(tokens), table.shape[1]))
    out[:] = table[tokens]
    return out


# ---------------------------------------------------------------- decoder_logits


@misconception(
    "The positional encoding is not added to the embedding.",
    read="the formula in the docstring of decoder_logits",
)
def decoder_logits__no_positions(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The positions are added after the stack; attention needs them, so they come before.",
    read="the formula in the docstring of decoder_logits",
)
def decoder_logits__positions_last(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The embedding is multiplied by sqrt(d), as in the original paper; here it is used as it is.",
    read="Attention Is All You Need, section 3.4, beside the docstring of decoder_logits",
)
def decoder_logits__scaled_embedding(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x * float(x.shape[1]) ** 0.5 + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "There is no causal mask, so that every position sees the tokens that it has to predict.",
    read="causal_mask, and the docstring of decoder_logits",
)
def decoder_logits__no_mask(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The mask is transposed: every position sees the future and not the past.",
    read="the docstring of causal_mask",
)
def decoder_logits__mask_transposed(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)).T)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The mask hides a position from itself; row i predicts token i + 1, so it may see token i.",
    read="the docstring of causal_mask",
)
def decoder_logits__mask_strict(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    mask = np.tri(len(tokens), k=-1, dtype=bool)
    x = transformer_stack(x, params["blocks"], n_heads, mask=mask)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The stack is built of post-norm blocks; the decoder has pre-norm blocks.",
    read="the docstring of decoder_logits",
)
def decoder_logits__post_norm(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, norm="post", mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "A layer norm stands before the projection, as in GPT-2; here there is no final norm.",
    read="the docstring of decoder_logits",
)
def decoder_logits__final_norm(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "Only one block is applied; all of them follow one another.",
    read="the docstring of decoder_logits",
)
def decoder_logits__one_block(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"][:1], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "Attention always runs with a single head; n_heads is to be passed on.",
    read="the arguments of transformer_stack",
)
def decoder_logits__one_head(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], 1, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception("The bias b_out is left out of the projection.", read="the formula in the docstring of decoder_logits")
def decoder_logits__no_bias(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"]


@misconception(
    "The transposed embedding serves as the projection (tied weights); here w_out does.",
    read="the formula in the docstring of decoder_logits",
)
def decoder_logits__tied(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["embedding"].T + params["b_out"]


@misconception(
    "Probabilities are returned; logits are the scores before the softmax.",
    read="the formula in the docstring of decoder_logits",
)
def decoder_logits__probabilities(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    logits = x @ params["w_out"] + params["b_out"]
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


@misconception(
    "Only the last position's logits are returned; every position has a row.",
    read="the shapes in the docstring of decoder_logits",
)
def decoder_logits__last_row(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x[-1] @ params["w_out"] + params["b_out"]


@misconception(
    "The blocks are taken out of the caller's parameters with pop; they must be the same after the call.",
    read="Python tutorial, more on lists",
)
def decoder_logits__pops_blocks(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    mask = causal_mask(len(tokens))
    while params["blocks"]:
        x = transformer_stack(x, [params["blocks"].pop(0)], n_heads, mask=mask)
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The result is float64 for float32 parameters: something float64, such as the positional encoding, was mixed in.",
    read="the remark on dtypes in the docstring of decoder_logits",
)
def decoder_logits__float64_positions(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


@misconception(
    "The positions are cut to whole numbers, the dtype of the embedding; integers count as float64.",
    read="numpy.ndarray.astype",
)
def decoder_logits__positions_truncated(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


# ---------------------------------------------------------------- sequence_log_prob


@misconception(
    "Row i is used to score token i, which it has already seen; token i is scored by row i - 1.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__not_shifted(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)[1:]
    shifted = logits - logits.max(axis=-1, keepdims=True) if len(logits) else logits
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "The first token is scored as well, and every token by its own row; the first one is given.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__first_token_scored(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens)), tokens].sum())


@misconception(
    "Each row scores the token before its own position; it scores the one after it.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__shifted_back(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(1, len(tokens)), tokens[:-1]].sum())


@misconception(
    "The mean over the tokens is returned; a sequence's log-probability is the sum.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__mean(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum()) / max(len(tokens) - 1, 1)


@misconception(
    "The sign is that of a loss; a log-probability is 0 at most.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__negated(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return -float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "The probability itself is returned; its logarithm is asked for.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__probability(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(np.exp(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum()))


@misconception(
    "The raw logits are summed; log softmax also subtracts the logarithm of the sum of their exponentials.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__raw_logits(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    return float(logits[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "The softmax runs over the positions; it runs over the vocabulary, the last axis.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__wrong_axis(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=0, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "Only the last token is scored; all but the first are.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__last_token_only(tokens, params, n_heads):
    if len(tokens) == 1:
        return 0.0
    logits = decoder_logits(tokens, params, n_heads)[-2]
    shifted = logits - logits.max()
    return float(shifted[tokens[-1]] - np.log(np.exp(shifted).sum()))


@misconception(
    "Exponentials of large logits overflow; subtract the largest logit of each row first.",
    read="the formula in the docstring of sequence_log_prob",
)
def sequence_log_prob__overflow(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    log_probs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "The largest of all logits is subtracted, so that rows far below it vanish; each row has its own largest one.",
    read="numpy.max, arguments axis and keepdims",
)
def sequence_log_prob__one_maximum(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max()
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


@misconception(
    "The logarithms are returned one by one; their sum is asked for.",
    read="the docstring of sequence_log_prob",
)
def sequence_log_prob__not_summed(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_probs[np.arange(len(tokens) - 1), tokens[1:]]


@misconception(
    "A single token is refused; there is nothing to score then, and the sum is 0.0.",
    read="the docstring of sequence_log_prob",
)
def sequence_log_prob__one_token_refused(tokens, params, n_heads):
    if len(tokens) < 2:
        raise ValueError("nothing to score")
    logits = decoder_logits(tokens, params, n_heads)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(log_probs[np.arange(len(tokens) - 1), tokens[1:]].sum())


# ---------------------------------------------------------------- generate


@misconception("Only the new tokens are returned; the result begins with the prompt.", read="the docstring of generate")
def generate__prompt_dropped(tokens, params, n_heads, max_new_tokens, eos=None):
    length = len(tokens)
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens[length:]


@misconception(
    "One token too many is produced; max_new_tokens is the most that may be added.",
    read="the docstring of generate",
)
def generate__one_too_many(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens + 1):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "At least one token is always produced; with max_new_tokens 0 the prompt is returned.",
    read="the docstring of generate",
)
def generate__at_least_one(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max(max_new_tokens, 1)):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "max_new_tokens is taken for the total length; the prompt does not count.",
    read="the docstring of generate",
)
def generate__total_length(tokens, params, n_heads, max_new_tokens, eos=None):
    while len(tokens) < max_new_tokens:
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception("eos does not stop the generation.", read="the docstring of generate")
def generate__eos_ignored(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        tokens = np.append(tokens, np.argmax(decoder_logits(tokens, params, n_heads)[-1]))
    return tokens


@misconception("The eos that ends the text is left out of the result; it stays in.", read="the docstring of generate")
def generate__eos_dropped(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        if token == eos:
            break
        tokens = np.append(tokens, token)
    return tokens


@misconception(
    "The result is filled up with eos to the full length; it ends right after the first eos produced.",
    read="the docstring of generate",
)
def generate__eos_padded(tokens, params, n_heads, max_new_tokens, eos=None):
    done = False
    for _ in range(max_new_tokens):
        token = eos if done else np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        done = done or token == eos
    return tokens


@misconception(
    "An eos anywhere in the prompt stops the generation; only an eos that is produced does.",
    read="the docstring of generate",
)
def generate__eos_in_prompt(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        if eos is not None and eos in tokens:
            break
        tokens = np.append(tokens, np.argmax(decoder_logits(tokens, params, n_heads)[-1]))
    return tokens


@misconception(
    "A prompt that ends with eos stops the generation; only an eos that is produced does.",
    read="the docstring of generate",
)
def generate__eos_checked_first(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        if tokens[-1] == eos:
            break
        tokens = np.append(tokens, np.argmax(decoder_logits(tokens, params, n_heads)[-1]))
    return tokens


@misconception(
    "An eos of 0 counts as none, because 0 is false in a condition; compare with None instead.",
    read="Python library, truth value testing",
)
def generate__eos_zero_is_none(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if eos and token == eos:
            break
    return tokens


@misconception(
    "Without an eos the token 0 stops the generation; with eos=None nothing but the count does.",
    read="the signature of generate",
)
def generate__none_is_zero(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == (eos or 0):
            break
    return tokens


@misconception("The highest id wins a tie; the lowest does.", read="numpy.argmax, notes")
def generate__highest_id(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        logits = decoder_logits(tokens, params, n_heads)[-1]
        token = len(logits) - 1 - np.argmax(logits[::-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "The next token is drawn at random; greedy means the most likely one.",
    read="numpy.argmax, the docstring of generate",
)
def generate__sampled(tokens, params, n_heads, max_new_tokens, eos=None):
    dice = np.random.default_rng(0)
    for _ in range(max_new_tokens):
        logits = decoder_logits(tokens, params, n_heads)[-1]
        odds = np.exp(logits - logits.max())
        token = dice.choice(len(odds), p=odds / odds.sum())
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "The first row of the logits chooses the next token; the last row has seen the whole text.",
    read="the shapes in the docstring of decoder_logits",
)
def generate__first_row(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[0])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "The decoder receives only the newest token; it needs the whole text so far, at its true positions.",
    read="the formula in the docstring of generate",
)
def generate__newest_token_only(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens[-1:], params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception(
    "The decoder always receives the prompt; the tokens produced so far belong to its input.",
    read="the docstring of generate",
)
def generate__prompt_only(tokens, params, n_heads, max_new_tokens, eos=None):
    prompt = tokens
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(prompt, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens


@misconception("The result has a batch axis in front; it is a 1-D array.", read="the docstring of generate")
def generate__batch_axis(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        token = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.append(tokens, token)
        if token == eos:
            break
    return tokens[None]


@misconception(
    "The tokens are returned as floats; the result is an array of integers.",
    read="numpy.concatenate, how the dtype of the result is found",
)
def generate__float_tokens(tokens, params, n_heads, max_new_tokens, eos=None):
    new = np.zeros(0)
    for _ in range(max_new_tokens):
        text = np.concatenate([tokens, new]).astype(int)
        new = np.append(new, np.argmax(decoder_logits(text, params, n_heads)[-1]))
        if new[-1] == eos:
            break
    return np.concatenate([tokens, new])


@misconception(
    "Tokens of an earlier call are still there in the next one; a default value that is a list is made only once.",
    read="Python FAQ, why default values are shared between calls",
)
def generate__remembered(tokens, params, n_heads, max_new_tokens, eos=None, new=[]):
    for _ in range(max_new_tokens):
        text = np.append(tokens, new).astype(int)
        new.append(int(np.argmax(decoder_logits(text, params, n_heads)[-1])))
        if new[-1] == eos:
            break
    return np.append(tokens, new).astype(int)


# ---------------------------------------------------------------- tiny public inputs

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
WHOLE = {
    "embedding": np.eye(2, dtype=int),
    "blocks": [],
    "w_out": np.array([[1, 3], [2, 0]]),
    "b_out": np.array([0, 1]),
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
        ((np.array([0, 1]), WHOLE, 1), {}),
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
