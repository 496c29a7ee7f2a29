"""Known mistakes in `decoder_logits` of decoder.py."""

import numpy as np

from autograder.homework.mistakes import ANY_ORDER, COPIES, KEPT, written
from autograder.homework.reference import causal_mask, embed, positional_encoding, transformer_stack

LOGITS = "the formula in the docstring of `decoder_logits`"
MASK = "Row i sees the tokens 0 to i, its own included: that is causal_mask(t)."
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


decoder_logits.wrong("dict_order", "logits",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("embedding", "blocks", "w_out", "b_out"))},
    does="Your code takes the parameters in the order of the dict.", right=ANY_ORDER, read=LOGITS)
decoder_logits.wrong("no_positions", "logits", {"x + positions.astype(x.dtype)": "x"},
    does="Your code does not add the positional encoding.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_last", "logits", {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
    "x @ params": "(x + positions) @ params"}, does="Your code adds the positions after the stack.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_twice", "logits", {"x + positions.astype": "x + 2 * positions.astype"},
    does="Your code adds the positional encoding twice.", right=ADDED, read=LOGITS)
decoder_logits.wrong("positions_in_every_block", "logits",
    {"x = x + positions.astype(x.dtype)": "positions = positions.astype(x.dtype)",
     "x = transformer_stack(x, blocks, n_heads": "for block in blocks:\n        x = transformer_stack(x + positions, [block], n_heads"},
    {'x = transformer_stack(x, blocks, n_heads, norm="pre", mask=mask)': "for block in blocks:\n"
     '        x = transformer_stack(x, [block], n_heads, norm="pre", mask=mask) + positions.astype(x.dtype)'},
    does="Your code adds the positional encoding in the loop over the blocks: once for each block.", right=ADDED, read=LOGITS)
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
    {'x = embed(tokens, params["embedding"])': 'params["embedding"] += 0.5\n    x = embed(tokens, params["embedding"])'})
decoder_logits.wrong("embedding_in_place", "logits",
    {'x = embed(tokens, params["embedding"])': 'x = embed(tokens, params["embedding"])\n    table = params["embedding"]',
     "x = x + positions.astype(x.dtype)":
     "for place, token in enumerate(tokens):\n        table[token] += positions[place].astype(x.dtype)\n    x = table[tokens]"},
    does="Your code adds the positions to rows of the table itself, so that repeated tokens get the sum of several and params is changed.",
    right="Add them to a copy: x + positions makes a new array.", read=COPIES)
decoder_logits.wrong("positions_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = x + positions": "    positions = cache.setdefault(t, positions)\n    x = x + positions"}, memory=True,
    does="Your code takes the positional encoding of an earlier call of the same length, whatever its width was.",
    right="Another model may have another width: compute it from the shape of this call.", read=KEPT)
decoder_logits.wrong("params_cached", "logits", {"(tokens, params, n_heads):": "(tokens, params, n_heads, cache={}):",
    "    x = embed(": "    params = cache.setdefault(params[\"embedding\"].shape, params)\n    x = embed("}, memory=True,
    does="Your code uses the parameters of an earlier call again.", right="Use the params of this call.", read=KEPT)
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
