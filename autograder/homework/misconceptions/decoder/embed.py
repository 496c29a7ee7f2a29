"""Misconceptions about embed."""

import numpy as np

from autograder.homework.library import written

TABLE = "Raise ValueError for a token that is negative or not below vocab, the number of rows."
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
    {"too_small or too_large": "too_small and too_large"},
    does="Your code accepts a token outside the vocabulary. If you combine the two conditions with `and`, use `or`. "
    "NumPy counts a negative index from the end of the table.", right=TABLE,
    read="the NumPy user guide, Integer array indexing")
embed.wrong("negative_accepted", "embed", {"too_small or too_large": "too_large"},
    does="Your code accepts negative tokens, which NumPy counts from the end of the table, so a wrong id silently gets another token's vector.", right=TABLE,
    read="the NumPy user guide, Integer array indexing")
embed.wrong("large_unchecked", "embed", {"too_small or too_large": "too_small"},
    does="Your code does not check for tokens that are too large.", right=TABLE, read=EMBED)
embed.wrong("every_token_wrong", "embed", {"np.any(": "np.all("},
    does="Your code raises ValueError only if every token is outside the vocabulary.", right=TABLE, read="numpy.any")
embed.wrong("first_token_checked", "embed", {"np.any(tokens < 0)": "tokens[0] < 0",
    "np.any(tokens >= vocab)": "tokens[0] >= vocab"},
    does="Your code checks only the first token.", right=TABLE, read="numpy.any")
embed.wrong("vocab_accepted", "embed", {">= vocab": "> vocab"},
    does="Your check lets a token equal to vocab pass.", right="The largest token is vocab - 1.", read=EMBED)
embed.wrong("last_refused", "embed", {">= vocab": ">= vocab - 1"},
    does="Your code rejects the token vocab - 1.", right="The token vocab - 1 is valid: it is the last row of the table.", read=EMBED)
embed.wrong("width_for_vocab", "embed", {"len(table)": "table.shape[1]"},
    does="Your code compares the tokens with the width of the table.", right=TABLE, read=EMBED)
embed.wrong("clipped", "embed", {"if too_small or too_large": "if False", "table[tokens]": "table[np.clip(tokens, 0, vocab - 1)]"},
    {"if too_small or too_large": "if False", "table[tokens]": "table[tokens % vocab]"},
    does="Your code maps a token outside the vocabulary to another token, by clipping or modulo.", right=TABLE, read=EMBED)
embed.wrong("index_error", "embed", {"raise ValueError": "raise IndexError"},
    does="Your code raises IndexError for a token outside the vocabulary.", right="Raise ValueError.", read=EMBED)
embed.wrong("assert", "embed", {"raise ValueError": "raise AssertionError"},
    does="Your code checks the tokens with assert, which raises AssertionError.",
    right="Raise ValueError.", read=EMBED)
embed.wrong("zero_refused", "embed", {"tokens < 0": "tokens <= 0"},
    does="Your code rejects token 0.", right="Token 0 is the first token of the vocabulary.", read=EMBED)
embed.wrong("zero_is_padding", "embed", {"return result": "return np.where(tokens[:, None] == 0, 0, result)"},
    does="Your code returns zeros for token 0, as if it were padding.", right="Token 0 is an ordinary token: return row 0 of the table.",
    read=EMBED)
embed.wrong("scaled", "embed", {"return result": "return result * float(table.shape[1]) ** 0.5"},
    does="Your code multiplies the rows by sqrt(d), as the original paper does.", right="Return the rows unchanged.",
    read="Vaswani et al. 2017, section 3.4, and the docstring of `embed`")
embed.wrong("adds_positions", "embed",
    {"return result": "return result + positional_encoding(len(tokens), table.shape[1] + table.shape[1] % 2)[:, : table.shape[1]]"},
    does="Your code adds the positions.", right="Return the rows unchanged: decoder_logits adds the positions.",
    read=EMBED)
embed.wrong("columns", "embed", {"table[tokens]": "table[:, tokens]"}, {"table[tokens]": "table[:, tokens].T"},
    does="Your code selects columns of the table.", right="A token is the index of a row.", read=EMBED)
embed.wrong("transposed", "embed", {"return result": "return result.T"},
    does="Your result is the transpose of the expected one.", right="The shape is (t, d): one row per token.", read=EMBED)
embed.wrong("unique", "embed", {"table[tokens]": "table[np.unique(tokens)]"},
    does="Your code drops repeated tokens and sorts the others.", right="Return one row per position, in the order of the tokens.", read="numpy.unique")
embed.wrong("batch_axis", "embed", {"return result": "return result[None]"},
    does="Your result has an extra leading axis of length 1.", right="Return an array of shape (t, d).", read=EMBED)
embed.wrong("squeezed", "embed", {"return result": "return result.squeeze()"},
    does="Your code removes an axis of length 1.", right="One token gives an array of shape (1, d).", read="numpy.squeeze")
embed.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


EXAMPLES = {
    "embed": [
        ((np.array([1, 0, 1]), np.array([[2.0, 1.0, 0.5], [3.0, -1.0, 4.0]])), {}),
        ((np.array([2, 1]), np.array([[2.0, 1.0], [3.0, -1.0], [0.5, 4.0]])), {}),
        ((np.array([0, -1]), np.array([[2.0, 1.0], [3.0, -1.0]])), {}),
        ((np.array([0, 2]), np.array([[2.0, 1.0], [3.0, -1.0]])), {}),
        ((np.array([3]), np.array([[2.0, 1.0], [3.0, -1.0]])), {}),
    ],
}
