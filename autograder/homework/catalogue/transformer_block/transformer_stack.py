"""Known mistakes in `transformer_stack` of transformer_block.py."""

import numpy as np

from autograder.homework.mistakes import KEPT, written
from autograder.homework.reference import post_norm_block, pre_norm_block

ORDER = "The blocks are applied in order, each to the output of the one before."
EXACTLY = 'Raise ValueError for a norm other than exactly "pre" or "post", whatever the blocks are.'
STACK = "the docstring of `transformer_stack`"


@written
def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    known = ("pre", "post")
    if norm not in known:
        raise ValueError("norm must be pre or post")
    layer = pre_norm_block if norm == "pre" else post_norm_block
    h = x
    for params in blocks:
        h = layer(h, params, n_heads, mask)
    return h


transformer_stack.wrong("always_pre", "stack", {'pre_norm_block if norm == "pre" else post_norm_block': "pre_norm_block"},
    does="Your blocks are pre-norm blocks, whatever norm says.", right='Use post-norm blocks for norm="post".', read=STACK)
transformer_stack.wrong("always_post", "stack", {'pre_norm_block if norm == "pre" else post_norm_block': "post_norm_block"},
    does="Your blocks are post-norm blocks, whatever norm says.", right='Use pre-norm blocks for norm="pre".', read=STACK)
transformer_stack.wrong("norms_swapped", "stack",
    {'pre_norm_block if norm == "pre" else post_norm_block': 'post_norm_block if norm == "pre" else pre_norm_block'},
    does='Your code exchanges "pre" and "post".', right='Use pre-norm blocks for norm="pre".', read=STACK)
transformer_stack.wrong("default_post", "stack", {'norm="pre", mask': 'norm="post", mask'},
    does='Your default of norm is "post".', right='The default of `transformer_stack` is "pre".',
    read="the signature of `transformer_stack`")
transformer_stack.wrong("reversed", "stack", {"in blocks": "in blocks[::-1]"},
    does="Your code applies the blocks from the last to the first.", right=ORDER, read=STACK)
transformer_stack.wrong("first_block_only", "stack", {"in blocks": "in blocks[:1]"},
    does="Your code applies the first block only, as a return inside the loop does.", right=ORDER, read=STACK)
transformer_stack.wrong("last_block_only", "stack", {"layer(h,": "layer(x,"}, {"in blocks": "in blocks[-1:]"},
    does="Your blocks all receive the original x, so that only the last one counts.", right=ORDER, read=STACK)
transformer_stack.wrong("skips_last", "stack", {"in blocks": "in blocks[:-1]"},
    does="Your code leaves out the last block.", right=ORDER, read=STACK)
transformer_stack.wrong("skips_first", "stack", {"in blocks": "in blocks[1:]"},
    does="Your code leaves out the first block.", right=ORDER, read=STACK)
transformer_stack.wrong("shared_block", "stack", {"in blocks": "in blocks[:1] * len(blocks)"},
    does="Your code applies the first block again and again.", right="Each layer has parameters of its own.", read=STACK)
transformer_stack.wrong("last_block_shared", "stack", {"in blocks": "in blocks[-1:] * len(blocks)"},
    does="Your code applies the last block again and again.", right="Each layer has parameters of its own.", read=STACK)
transformer_stack.wrong("blocks_twice", "stack", {"in blocks": "in [*blocks, *blocks]"},
    does="Your code applies all blocks twice.", right=ORDER, read=STACK)
transformer_stack.wrong("extra_residual", "stack", {"h = layer(h,": "h = h + layer(h,"},
    does="Your code adds the input of each block to its output once more.",
    right="The residual connections are inside the blocks.", read=STACK)
transformer_stack.wrong("outer_residual", "stack", {"return h": "return x + h if len(blocks) else h"}, {"return h": "return x + h"},
    does="Your code adds x to the result of the stack.", right="The residual connections are inside the blocks.", read=STACK)
transformer_stack.wrong("summed", "stack", {"h = layer(h,": "h = h + layer(x,"},
    does="Your code adds up what the blocks make of x.", right=ORDER, read=STACK)
transformer_stack.wrong("one_head", "stack", {"params, n_heads": "params, 1"},
    does="Your code always runs attention with one head.", right="Pass n_heads to the blocks.", read=STACK)
transformer_stack.wrong("mask_dropped", "stack", {"n_heads, mask)\n    return": "n_heads)\n    return"},
    does="Your code does not pass the mask to the blocks.", right="Every block needs the mask.", read=STACK)
transformer_stack.wrong("mask_in_first_block", "stack",
    {"n_heads, mask)\n    return": "n_heads, mask)\n        mask = None\n    return"},
    does="Your code passes the mask to the first block only.", right="Every block needs the mask.", read=STACK)
transformer_stack.wrong("mask_in_last_block", "stack",
    {"n_heads, mask)\n    return": "n_heads, mask if params is blocks[-1] else None)\n    return"},
    does="Your code passes the mask to the last block only.", right="Every block needs the mask.", read=STACK)
transformer_stack.wrong("mask_in_pre_norm_only", "stack",
    {"n_heads, mask)\n    return": 'n_heads, mask if norm == "pre" else None)\n    return'},
    {"n_heads, mask)\n    return": 'n_heads, mask if norm == "post" else None)\n    return'},
    does="Your code passes the mask with one kind of norm only.", right="Every block needs the mask.", read=STACK)
transformer_stack.wrong("mask_inverted", "stack",
    {"n_heads, mask)\n    return": "n_heads, None if mask is None else ~mask)\n    return"},
    does="Your code inverts the mask.", right="True means that the key may be seen.", read=STACK)
transformer_stack.wrong("mask_truthiness", "stack", {"n_heads, mask)\n    return": "n_heads, mask if mask else None)\n    return"},
    {"    h = x": "    mask = mask if mask else None\n    h = x"},
    does="Your code asks whether the mask as a whole is true, which raises ValueError for an array.",
    right="Ask whether it is None.",
    read="NumPy's page on the truth value of an array")
transformer_stack.wrong("always_causal", "stack",
    {"n_heads, mask)\n    return": "n_heads, np.tri(x.shape[-2], dtype=bool) if mask is None else mask)\n    return"},
    {"n_heads, mask)\n    return": "n_heads, np.tri(x.shape[-2], dtype=bool))\n    return"},
    does="Without a mask your code uses a causal one.", right="With mask=None every position sees every other.", read=STACK)
transformer_stack.wrong("final_norm", "stack",
    {"return h": "return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)"},
    {"return h": "return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5) if len(blocks) else h"},
    does="Your stack ends with a layer norm of its own.", right="It ends with the last block.", read=STACK)
transformer_stack.wrong("unknown_norm_accepted", "norm_names", {"if norm not in known": "if False"},
    {"if norm not in known": "if False", 'if norm == "pre" else post_norm_block': 'if norm != "post" else post_norm_block'},
    does="Your code takes an unknown norm for one of the two.", right=EXACTLY, read=STACK)
transformer_stack.wrong("checked_in_loop", "norm_names", {"if norm not in known": "if norm not in known and len(blocks)"},
    does="Your code checks norm inside the loop, so that a wrong one passes when there are no blocks.", right=EXACTLY, read=STACK)
transformer_stack.wrong("any_case", "norm_names", {"    known": "    norm = norm.lower()\n    known"},
    does="Your code accepts capital letters in norm.", right=EXACTLY, read=STACK)
transformer_stack.wrong("stripped", "norm_names", {"    known": "    norm = norm.strip()\n    known"},
    does="Your code accepts spaces around norm.", right=EXACTLY, read=STACK)
transformer_stack.wrong("substring", "norm_names", {"if norm not in known": 'if norm not in "pre post"'},
    {"if norm not in known": 'if norm not in "prepost"'},
    {"if norm not in known": 'if norm not in "pre, post"'}, {"if norm not in known": 'if norm not in "pre/post"'},
    {"if norm not in known": 'if norm not in "pre" and norm not in "post"'},
    does="Your code looks for norm inside a string, where '' and 'p' are found too.", right=EXACTLY,
    read="Python language reference, membership tests")
transformer_stack.wrong("prefix", "norm_names",
    {"    known": '    norm = next((name for name in ("pre", "post") if norm.startswith(name)), norm)\n    known'},
    does="Your code accepts longer names that begin like the two.", right=EXACTLY, read=STACK)
transformer_stack.wrong("key_error", "norm_names", {"raise ValueError": "raise KeyError"},
    does="For an unknown norm your code raises KeyError, from a look-up.", right="Raise ValueError.", read=STACK)
transformer_stack.wrong("assert", "norm_names", {"raise ValueError": "raise AssertionError"},
    does="Your code refuses an unknown norm with an assert, which raises AssertionError.", right="Raise ValueError.", read=STACK)
transformer_stack.wrong("empty_refused", "stack", {"if norm not in known": "if norm not in known or not blocks"},
    does="Your code refuses an empty list of blocks.", right="It returns x.", read=STACK)
transformer_stack.wrong("empty_gives_none", "stack", {"return h": "return h if len(blocks) else None"},
    does="For an empty list of blocks your code returns None.", right="It returns x.", read=STACK)
transformer_stack.wrong("empty_gives_zeros", "stack", {"return h": "return h if len(blocks) else 0 * h"},
    does="For an empty list of blocks your code returns zeros.", right="It returns x.", read=STACK)
transformer_stack.wrong("squeezed", "stack", {"return h": "return h.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
transformer_stack.wrong("changes_blocks", "purity", {"in blocks": "in [blocks.pop(0) for _ in range(len(blocks))]"},
    {"    h = x": "    blocks.reverse()\n    h = x", "in blocks": "in blocks[::-1]"})
transformer_stack.wrong("changes_x", "purity", {"h = layer(h, params, n_heads, mask)": "h[...] = layer(h, params, n_heads, mask)"})
transformer_stack.wrong("remembers", "purity", {"mask=None):": "mask=None, cache={}):",
    "    h = x": "    blocks = cache.setdefault((x.shape, len(blocks)), blocks)\n    h = x"},
    memory=True, does="Your code uses the blocks of an earlier call again.", right="Use the blocks of this call.", read=KEPT)
transformer_stack.wrong("float64_result", "dtype", {"return h": "return h.astype(float)"})


X = np.array([[2.0, 1.0], [0.5, -1.0]])
FFN = {
    "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
    "b_1": np.array([0.5, -0.5, 0.2]),
    "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
    "b_2": np.array([0.1, -0.3]),
}
BLOCK = {
    "ln_1": {"gamma": np.array([2.0, 0.5]), "beta": np.array([0.2, -0.1])},
    "attention": {
        "w_q": np.array([[0.5, -1.0], [1.0, 0.5]]),
        "w_k": np.array([[0.5, 0.0], [-1.0, 1.0]]),
        "w_v": np.array([[2.0, -0.5], [0.5, 1.0]]),
        "w_o": np.array([[0.5, 1.0], [1.0, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 2.0]), "beta": np.array([-0.2, 0.3])},
    "ffn": FFN,
}
OTHER_BLOCK = {**BLOCK, "ln_1": BLOCK["ln_2"], "ln_2": BLOCK["ln_1"]}
LOWER = np.array([[True, False], [True, True]])
X_WIDE = np.array([[2.0, 1.0, -1.0], [0.5, -1.0, 1.5], [0.0, 1.0, 3.0]])
WIDE_BLOCK = {
    "ln_1": {"gamma": np.array([1.5, 0.5, 2.0]), "beta": np.array([0.2, -0.1, 0.5])},
    "attention": {
        "w_q": np.array([[2.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, -0.5, 1.0]]),
        "w_k": np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, -0.5]]),
        "w_v": np.array([[0.5, 2.0, 0.0], [-1.0, 0.5, 1.0], [0.0, 1.0, 0.5]]),
        "w_o": np.array([[-1.0, 1.0, 0.5], [1.0, 0.0, -1.0], [0.5, 0.5, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 1.5, 1.0]), "beta": np.array([0.4, 0.3, -0.2])},
    "ffn": {
        "w_1": np.array([[1.5, -0.5], [0.5, 2.0], [-1.0, 1.0]]),
        "b_1": np.array([0.5, -0.5]),
        "w_2": np.array([[2.0, 0.5, -1.0], [0.0, 2.0, 0.5]]),
        "b_2": np.array([0.1, -0.3, 0.2]),
    },
}

EXAMPLES = {
    "transformer_stack": [
        ((X, [], 1), {}),
        ((X_WIDE[:2], [WIDE_BLOCK, WIDE_BLOCK], 3, "post"), {}),
        ((X, [BLOCK, OTHER_BLOCK], 2), {"mask": LOWER}),
        ((X, [], 1, "Pre"), {}),
        ((X, [BLOCK], 1, ""), {}),
    ],
}
