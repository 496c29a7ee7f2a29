"""Misconceptions about decoder_logits."""

import numpy as np

from autograder.homework.library import ANY_ORDER, COPIES, KEPT, written
from causal_mask import causal_mask
from decoder import embed, positional_encoding
from transformer_block import transformer_stack

LOGITS = "the formula in the docstring of `decoder_logits`"
MASK = "Position i attends to the tokens 0 to i: use causal_mask(t)."
ADDED = "Add the positional encoding to the embedding, once, before the stack."
STACK = "Apply all blocks in order: transformer_stack(x, params[\"blocks\"], n_heads, mask=...)."


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


decoder_logits.wrong("dict_order", "logits",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("embedding", "blocks", "w_out", "b_out"))},
    does="Your code reads the parameters by their order in the dict.", right=ANY_ORDER, read=LOGITS)
decoder_logits.wrong("no_positions", "logits", {"x + positions.astype(x.dtype)": "x"},
    does="Your code does not add the positional encoding, so apart from the causal mask, attention does not see the order of the tokens.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_last", "logits", {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
    "x @ params": "(x + positions) @ params"}, does="Your code adds the positions after the stack.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_twice", "logits", {"x + positions.astype": "x + 2 * positions.astype"},
    does="Your code adds the positional encoding twice.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_in_every_block", "logits",
    {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
     "x = transformer_stack(x, blocks, n_heads": "for block in blocks:\n        x = transformer_stack(x + positions, [block], n_heads"},
    {'x = transformer_stack(x, blocks, n_heads, norm="pre", mask=mask)': "for block in blocks:\n"
     '        x = transformer_stack(x, [block], n_heads, norm="pre", mask=mask) + positions.astype(x.dtype)'},
    does="Your code adds the positional encoding in the loop, once per block, so its weight against the tokens grows with the depth.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_multiplied", "logits", {"x + positions": "x * positions"},
    does="Your code multiplies the embedding by the positional encoding.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_truncated", "logits", {"positions.astype(x.dtype)": "positions.astype(int)"},
    does="Your code truncates the positional encoding to integers.", right=ADDED, read="numpy.ndarray.astype")
decoder_logits.wrong("scaled_embedding", "logits", {"x = embed(tokens, params[\"embedding\"])":
    "x = embed(tokens, params[\"embedding\"])\n    x = x * float(x.shape[1]) ** 0.5"},
    does="Your code multiplies the embedding by sqrt(d), as the original paper does.", right="Use the embedding without scaling.",
    read="Vaswani et al. 2017, section 3.4, and the docstring of `decoder_logits`")
decoder_logits.wrong("no_mask", "logits", {"mask = causal_mask(t)": "mask = None"},
    does="Your code has no causal mask, so every position attends to the tokens it has to predict.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_transposed", "logits", {"causal_mask(t)": "causal_mask(t).T"},
    does="Your mask is transposed: every position attends to the future instead of the past.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_strict", "logits", {"causal_mask(t)": "np.tri(t, k=-1, dtype=bool)"},
    does="Your mask hides a position from itself, so its own token reaches it only through the residual.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_one_ahead", "logits", {"causal_mask(t)": "np.tri(t, k=1, dtype=bool)"},
    does="Your mask allows the next token, which the position has to predict, so training shows it the answer.", right=MASK,
    read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_inverted", "logits", {"causal_mask(t)": "~causal_mask(t)"},
    does="Your mask is inverted: it hides the past and allows the future.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("mask_window", "logits", {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-8, dtype=bool)"},
    {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-4, dtype=bool)"},
    {"causal_mask(t)": "causal_mask(t) & ~np.tri(t, k=-16, dtype=bool)"},
    does="Your mask hides distant earlier tokens.", right=MASK, read="the docstring of `causal_mask`")
decoder_logits.wrong("padding_token", "logits", {"causal_mask(t)": "causal_mask(t) & (tokens != 0)"},
    does="Your code masks token 0 as if it were padding, so no position sees that token.", right="Token 0 is an ordinary token.", read=LOGITS)
decoder_logits.wrong("post_norm", "logits", {'norm="pre"': 'norm="post"'},
    does="Your code uses post-norm blocks.", right="Use pre-norm blocks: norm=\"pre\".", read=LOGITS)
decoder_logits.wrong("final_norm", "logits", {"    logits = x":
    "    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)\n    logits = x"},
    {"    logits = x": "    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-6)\n    logits = x"},
    does="Your code applies a final layer norm, as GPT-2 does.", right="This decoder has no final norm.", read=LOGITS)
decoder_logits.wrong("one_block", "logits", {'params["blocks"]': 'params["blocks"][:1]'},
    does="Your code applies only the first block, so the depth of the model is lost.", right=STACK, read=LOGITS)
decoder_logits.wrong("last_block_only", "logits", {'params["blocks"]': 'params["blocks"][-1:]'},
    does="Your code applies only the last block.", right=STACK, read=LOGITS)
decoder_logits.wrong("last_block_missing", "logits", {'params["blocks"]': 'params["blocks"][:-1]'},
    does="Your code leaves out the last block.", right=STACK, read=LOGITS)
decoder_logits.wrong("blocks_reversed", "logits", {'params["blocks"]': 'params["blocks"][::-1]'},
    does="Your code applies the blocks in reverse order.", right=STACK, read=LOGITS)
decoder_logits.wrong("no_blocks", "logits", {'params["blocks"]': "[]"},
    does="Your code applies no blocks.", right=STACK, read=LOGITS)
decoder_logits.wrong("blocks_shared", "logits", {'params["blocks"]': 'params["blocks"][:1] * len(params["blocks"])'},
    does="Your code applies the first block again and again.", right=STACK, read=LOGITS)
decoder_logits.wrong("one_head", "logits", {"blocks, n_heads": "blocks, 1"},
    does="Your code always runs attention with one head, so each position has one pattern of attention per block instead of several.", right="Pass n_heads to the stack.", read=LOGITS)
decoder_logits.wrong("bias_forgotten", "logits", {' + params["b_out"]': ""},
    does="Your code does not add b_out, so the learned preference for frequent tokens is lost.", right="The logits are x @ w_out + b_out.", read=LOGITS)
decoder_logits.wrong("bias_subtracted", "logits", {' + params["b_out"]': ' - params["b_out"]'},
    does="Your code subtracts b_out.", right="The logits are x @ w_out + b_out.", read=LOGITS)
decoder_logits.wrong("softmax", "logits", {"return logits":
    "odds = np.exp(logits - logits.max(axis=-1, keepdims=True))\n    return odds / odds.sum(axis=-1, keepdims=True)"},
    does="Your code returns probabilities.", right="Return the logits as they are, without a softmax.", read=LOGITS)
decoder_logits.wrong("log_softmax", "logits", {"return logits":
    "logits = logits - logits.max(axis=-1, keepdims=True)\n    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))"},
    does="Your code returns log-probabilities.", right="Return the logits as they are, without a softmax.", read=LOGITS)
decoder_logits.wrong("tied_weights", "logits", {'x @ params["w_out"]': 'x @ params["embedding"].T'},
    does="Your code uses the transposed embedding as the output matrix, as GPT-2 does.", right="Use w_out.", read=LOGITS)
decoder_logits.wrong("last_row_only", "logits", {"return logits": "return logits[-1]"},
    does="Your code returns only the last row, so a training step would learn from one position instead of all.", right="Return the logits of every position: (t, vocab).", read=LOGITS)
decoder_logits.wrong("transposed", "logits", {"return logits": "return logits.T"},
    does="Your result is the transpose of the expected one.", right="The shape is (t, vocab): one row per position.", read=LOGITS)
decoder_logits.wrong("batch_axis", "logits", {"return logits": "return logits[None]"},
    does="Your result has an extra leading axis of length 1.", right="Return an array of shape (t, vocab).", read=LOGITS)
decoder_logits.wrong("squeezed", "logits", {"return logits": "return logits.squeeze()"},
    does="Your code removes an axis of length 1.", right="One token gives an array of shape (1, vocab).", read="numpy.squeeze")
decoder_logits.wrong("shifted", "logits", {"return logits": "return np.roll(logits, 1, axis=0)"},
    does="Your rows are shifted by one position.", right="Row i predicts the token at position i + 1.", read=LOGITS)
decoder_logits.wrong("changes_params", "logits",
    {'params["blocks"]': '[params["blocks"].pop(0) for _ in range(len(params["blocks"]))]'},
    {'x = embed(tokens, params["embedding"])': 'params["embedding"] += 0.5\n    x = embed(tokens, params["embedding"])'})
decoder_logits.wrong("embedding_in_place", "logits",
    {'x = embed(tokens, params["embedding"])': 'x = embed(tokens, params["embedding"])\n    table = params["embedding"]',
     "x = x + positions.astype(x.dtype)":
     "for place, token in enumerate(tokens):\n        table[token] += positions[place].astype(x.dtype)\n    x = table[tokens]"},
    does="Your code adds the positions to the rows of the table itself, so repeated tokens get several positions.",
    right="Add them to a new array: x + positions.", read=COPIES)
decoder_logits.wrong("positions_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = x + positions": "    positions = cache.setdefault(t, positions)\n    x = x + positions"}, memory=True,
    does="Your code reuses the positional encoding from an earlier call with the same number of tokens, even if the width differs.",
    right="Compute the positional encoding for the width of this model.", read=KEPT)
decoder_logits.wrong("params_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = embed(": "    params = cache.setdefault(params[\"embedding\"].shape, params)\n    x = embed("}, memory=True,
    does="Your code reuses the parameters from an earlier call.", right="Use the params passed to this call.", read=KEPT)
decoder_logits.wrong("float64_result", "dtype", {"positions.astype(x.dtype)": "positions"})


BLOCK = {
    "ln_1": {"gamma": np.array([2.0, 0.5]), "beta": np.array([0.2, -0.1])},
    "attention": {
        "w_q": np.array([[0.5, -1.0], [1.0, 0.5]]),
        "w_k": np.array([[0.5, 0.0], [-1.0, 1.0]]),
        "w_v": np.array([[2.0, -0.5], [0.5, 1.0]]),
        "w_o": np.array([[0.5, 1.0], [1.0, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 2.0]), "beta": np.array([-0.2, 0.3])},
    "ffn": {
        "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
        "b_1": np.array([0.5, -0.5, 0.2]),
        "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
        "b_2": np.array([0.1, -0.3]),
    },
}
OTHER_BLOCK = {**BLOCK, "ln_1": BLOCK["ln_2"], "ln_2": BLOCK["ln_1"]}
THREE = {
    "embedding": np.array([[2.0, 0.5], [-1.0, 1.0], [0.5, -0.5]]),
    "blocks": [],
    "w_out": np.array([[1.5, -1.0, 0.5], [0.5, 2.0, -1.0]]),
    "b_out": np.array([0.2, 0.0, -0.4]),
}
TWO_BLOCKS = {**THREE, "blocks": [BLOCK, OTHER_BLOCK]}
WIDE = {**THREE, "embedding": np.array([[2.0, 0.5, 1.0, -1.0]]), "w_out": np.array([[1.5], [0.5], [2.0], [-1.0]]), "b_out": np.array([0.2])}

EXAMPLES = {
    "decoder_logits": [
        ((np.array([2]), THREE, 1), {}),
        ((np.array([0, 1, 2]), TWO_BLOCKS, 2), {}),
        ((np.array([2]), dict(reversed(TWO_BLOCKS.items())), 1), {}),
        ((np.array([0]), WIDE, 2), {}),
    ],
}
