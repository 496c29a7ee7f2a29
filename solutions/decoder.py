"""A decoder-only Transformer: from tokens to the probability of the next token.

Tokens are a 1-D integer array. The parameters of a decoder:

    {"embedding" (vocab, d), "blocks": [block parameters, ...], "w_out" (d, vocab), "b_out" (vocab,)}

with block parameters as in transformer_block.py. Row i of the logits predicts the token at position i + 1.

Sources: Vaswani and others, Attention Is All You Need (2017), https://arxiv.org/abs/1706.03762; Radford and
others, Language Models are Unsupervised Multitask Learners (2019), the paper on GPT-2; Bengio and others, A
Neural Probabilistic Language Model (2003).
"""

from typing import Any

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t: int, d_model: int) -> np.ndarray:
    """Encode every position as a vector of sines and cosines, from high to low frequencies.

        result[p, 2i]     = sin(p / 10000**(2i / d_model))
        result[p, 2i + 1] = cos(p / 10000**(2i / d_model))

    Arguments: t, the number of positions p = 0, ..., t - 1; d_model, which must be even.
    Returns: (t, d_model) float64.
    Raises: ValueError if d_model is odd.
    Source: Vaswani and others (2017), section 3.5.

    >>> positional_encoding(3, 4).round(4)
    array([[ 0.    ,  1.    ,  0.    ,  1.    ],
           [ 0.8415,  0.5403,  0.01  ,  1.    ],
           [ 0.9093, -0.4161,  0.02  ,  0.9998]])
    """
    # BEGIN SOLUTION
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    positions = np.arange(t)[:, np.newaxis]
    angles = positions / 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    result = np.empty((t, d_model))
    result[:, 0::2] = np.sin(angles)
    result[:, 1::2] = np.cos(angles)
    return result
    # END SOLUTION


def embed(tokens: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Look up the vector of every token.

        result[i] = table[tokens[i]]

    Arguments: tokens (t,) ints; table (vocab, d).
    Returns: (t, d), in the dtype of table.
    Raises: ValueError if a token is negative or not below vocab. (NumPy would count a negative index from the
    end of the table.)
    Source: Vaswani and others (2017), section 3.4.

    >>> embed(np.array([2, 0, 2]), np.array([[7.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    array([[5., 6.],
           [7., 2.],
           [5., 6.]])
    """
    # BEGIN SOLUTION
    if np.any(tokens < 0) or np.any(tokens >= len(table)):
        raise ValueError(f"every token must lie between 0 and {len(table) - 1}")
    return table[tokens]
    # END SOLUTION


def decoder_logits(tokens: np.ndarray, params: dict[str, Any], n_heads: int) -> np.ndarray:
    """Compute, for every position, the logits of the next token.

        x      = embedding of the tokens + positional encoding
        logits = stack(x) @ w_out + b_out

    The stack uses pre-norm blocks and the causal mask. There is no final norm.

    Arguments: tokens (t,) ints with t >= 1; params of a decoder (see the top of this file); n_heads.
    Returns: (t, vocab), in the dtype of the parameters. The positional encoding is float64, so convert it
    to that dtype.
    Source: Vaswani and others (2017), figure 1, right side, without the encoder; pre-norm as in Radford and
    others (2019), section 2.3.

    >>> params = {"embedding": np.array([[0.5, 0.0], [0.0, 0.5]]), "blocks": [],
    ...           "w_out": np.array([[0.5, 0.0, 2.0], [0.0, 1.0, 2.0]]), "b_out": np.array([0.5, 0.0, -3.0])}
    >>> decoder_logits(np.array([0, 1]), params, 1).round(4)
    array([[0.75  , 1.    , 0.    ],
           [0.9207, 1.0403, 0.7635]])
    >>> zero, two, half = np.zeros((2, 2)), np.diag([2.0, 1.0]), np.diag([0.5, 1.0])
    >>> ln = {"gamma": np.array([2.0, 1.0]), "beta": np.array([-1.0, 0.0])}
    >>> attention = {"w_q": zero, "w_k": zero, "w_v": two, "w_o": half}
    >>> ffn = {"w_1": two, "b_1": np.array([0.5, 0.0]), "w_2": half, "b_2": np.array([-0.5, 0.5])}
    >>> params["blocks"] = 2 * [{"ln_1": ln, "attention": attention, "ln_2": ln, "ffn": ffn}]
    >>> decoder_logits(np.array([1, 0]), params, 1).round(4)
    array([[-3.    ,  6.5   , -4.    ],
           [-1.3293,  4.5398, -1.2375]])
    """
    # BEGIN SOLUTION
    x = 1.0 * embed(tokens, params["embedding"])
    t, d = x.shape
    x = x + positional_encoding(t, d).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, norm="pre", mask=causal_mask(t))
    return x @ params["w_out"] + params["b_out"]
    # END SOLUTION


def sequence_log_prob(tokens: np.ndarray, params: dict[str, Any], n_heads: int) -> float:
    """Compute the log-probability that the decoder assigns to a sequence, given its first token.

        log p = sum over i >= 1 of log p(tokens[i] given tokens[:i])
        log softmax(s)_k = s_k - log(sum_j exp(s_j))

    Row i - 1 of the logits, which depends on tokens[:i], scores tokens[i]. Subtract the largest logit of a
    row before you apply exp, so that large logits do not overflow.

    Arguments: tokens (t,) ints with t >= 1; params of a decoder; n_heads.
    Returns: a float; 0.0 for a single token, since the first token is given and not scored.
    Source: the chain rule of probability; Bengio and others (2003), section 1.

    >>> params = {"embedding": np.zeros((2, 2)), "blocks": [], "w_out": np.zeros((2, 2)),
    ...           "b_out": np.log(np.array([0.25, 0.75]))}
    >>> round(float(sequence_log_prob(np.array([0, 1, 1, 0]), params, 1)), 4)  # log(0.75 * 0.75 * 0.25)
    -1.9617
    >>> params["b_out"] = np.array([0.0, 2.0])  # not normalised yet
    >>> round(float(sequence_log_prob(np.array([0, 1, 1, 0]), params, 1)), 4)
    -2.3808
    """
    # BEGIN SOLUTION
    logits = decoder_logits(tokens, params, n_heads)[:-1]
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    scored = log_probs[np.arange(len(tokens) - 1), tokens[1:]]
    return float(scored.sum())
    # END SOLUTION


def generate(
    tokens: np.ndarray, params: dict[str, Any], n_heads: int, max_new_tokens: int, eos: int | None = None
) -> np.ndarray:
    """Continue a prompt greedily, one token at a time.

        next token = the one with the largest logit in the last row; in a tie, the lowest id

    Stop right after generating eos (which is part of the result), or after max_new_tokens tokens. An eos in the
    prompt does not count.

    Arguments: tokens, the prompt (t,) ints with t >= 1; params of a decoder; n_heads; max_new_tokens >= 0;
    eos a token id or None.
    Returns: a 1-D int array, the prompt and its continuation. The prompt itself is not changed.
    Source: greedy decoding, for a language model as in Radford and others (2019).

    >>> params = {"embedding": 9 * np.eye(4), "blocks": [], "b_out": np.array([-0.5, 0.0, 0.0, 0.0]),
    ...           "w_out": np.roll(np.eye(4), 1, axis=1) - 0.5}  # each token is followed by the next id, 3 by 0
    >>> generate(np.array([1]), params, 1, 5)
    array([1, 2, 3, 0, 1, 2])
    >>> generate(np.array([1]), params, 1, 5, eos=3)
    array([1, 2, 3])
    >>> params.update(embedding=np.zeros((4, 4)), w_out=2 * np.eye(4))  # now only the position of the last token matters
    >>> generate(np.array([0]), params, 1, 3)
    array([0, 1, 3, 3])
    """
    # BEGIN SOLUTION
    tokens = tokens.astype(np.int64)
    for _ in range(max_new_tokens):
        logits = decoder_logits(tokens, params, n_heads)
        next_token = int(np.argmax(logits[-1]))
        tokens = np.append(tokens, next_token)
        if next_token == eos:
            break
    return tokens
    # END SOLUTION
