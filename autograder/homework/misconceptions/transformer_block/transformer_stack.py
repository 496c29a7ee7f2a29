"""Misconceptions about transformer_stack."""

import numpy as np

from autograder.homework.library import KEPT, written
from transformer_block import post_norm_block, pre_norm_block

ORDER = "Apply the blocks in order, each to the output of the previous one."
EXACTLY = 'Raise ValueError for every norm except exactly "pre" and "post", even if there are no blocks.'
STACK = "the docstring of `transformer_stack`; Vaswani et al. 2017, section 3.1"


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
    does="Your code ignores the argument norm and uses pre-norm blocks.", right='Use post-norm blocks for norm="post".', read=STACK)
transformer_stack.wrong("always_post", "stack", {'pre_norm_block if norm == "pre" else post_norm_block': "post_norm_block"},
    does="Your code ignores the argument norm and uses post-norm blocks.", right='Use pre-norm blocks for norm="pre".', read=STACK)
transformer_stack.wrong("norms_swapped", "stack",
    {'pre_norm_block if norm == "pre" else post_norm_block': 'post_norm_block if norm == "pre" else pre_norm_block'},
    does='Your code swaps "pre" and "post".', right='Use pre-norm blocks for norm="pre".', read=STACK)
transformer_stack.wrong("default_post", "stack", {'norm="pre", mask': 'norm="post", mask'},
    does='Your default is norm="post".', right='The default is norm="pre".',
    read="the signature of `transformer_stack`")
transformer_stack.wrong("reversed", "stack", {"in blocks": "in blocks[::-1]"},
    does="Your code applies the blocks in reverse order.", right=ORDER, read=STACK)
transformer_stack.wrong("first_block_only", "stack", {"in blocks": "in blocks[:1]"},
    does="Your code applies only the first block, as happens with a return inside the loop.", right=ORDER, read=STACK)
transformer_stack.wrong("last_block_only", "stack", {"layer(h,": "layer(x,"}, {"in blocks": "in blocks[-1:]"},
    does="Only the last block has an effect, as happens when every block receives x.", right=ORDER, read=STACK)
transformer_stack.wrong("skips_last", "stack", {"in blocks": "in blocks[:-1]"},
    does="Your code leaves out the last block.", right=ORDER, read=STACK)
transformer_stack.wrong("skips_first", "stack", {"in blocks": "in blocks[1:]"},
    does="Your code leaves out the first block.", right=ORDER, read=STACK)
transformer_stack.wrong("shared_block", "stack", {"in blocks": "in blocks[:1] * len(blocks)"},
    does="Your code applies the first block again and again.", right="Each layer has its own parameters.", read=STACK)
transformer_stack.wrong("last_block_shared", "stack", {"in blocks": "in blocks[-1:] * len(blocks)"},
    does="Your code applies the last block again and again, so the weights of the other layers are never used.", right="Each layer has its own parameters.", read=STACK)
transformer_stack.wrong("blocks_twice", "stack", {"in blocks": "in [*blocks, *blocks]"},
    does="Your code applies all blocks twice.", right=ORDER, read=STACK)
transformer_stack.wrong("extra_residual", "stack", {"h = layer(h,": "h = h + layer(h,"},
    does="Your code adds the input of each block to its output.",
    right="The residual connections are inside the blocks.", read=STACK)
transformer_stack.wrong("outer_residual", "stack", {"return h": "return x + h if len(blocks) else h"}, {"return h": "return x + h"},
    does="Your code adds x to the result of the stack.", right="The residual connections are inside the blocks.", read=STACK)
transformer_stack.wrong("summed", "stack", {"h = layer(h,": "h = h + layer(x,"},
    does="Your code passes x to every block and sums the outputs.", right=ORDER, read=STACK)
transformer_stack.wrong("one_head", "stack", {"params, n_heads": "params, 1"},
    does="Your code always runs attention with one head.", right="Pass n_heads to the blocks.", read=STACK)
transformer_stack.wrong("mask_dropped", "stack", {"n_heads, mask)\n    return": "n_heads)\n    return"},
    does="Your code does not pass the mask to the blocks, so under a causal mask every position also attends to the tokens it has to predict.", right="Pass the mask to every block.", read=STACK)
transformer_stack.wrong("mask_in_first_block", "stack",
    {"n_heads, mask)\n    return": "n_heads, mask)\n        mask = None\n    return"},
    does="Your code passes the mask only to the first block.", right="Pass the mask to every block.", read=STACK)
transformer_stack.wrong("mask_in_last_block", "stack",
    {"n_heads, mask)\n    return": "n_heads, mask if params is blocks[-1] else None)\n    return"},
    does="Your code passes the mask only to the last block.", right="Pass the mask to every block.", read=STACK)
transformer_stack.wrong("mask_in_pre_norm_only", "stack",
    {"n_heads, mask)\n    return": 'n_heads, mask if norm == "pre" else None)\n    return'},
    {"n_heads, mask)\n    return": 'n_heads, mask if norm == "post" else None)\n    return'},
    does="Your code passes the mask for only one kind of norm.", right="Pass the mask to every block.", read=STACK)
transformer_stack.wrong("mask_inverted", "stack",
    {"n_heads, mask)\n    return": "n_heads, None if mask is None else ~mask)\n    return"},
    does="Your code inverts the mask.", right="True means that the query may attend to the key.", read=STACK)
transformer_stack.wrong("mask_truthiness", "stack", {"n_heads, mask)\n    return": "n_heads, mask if mask else None)\n    return"},
    {"    h = x": "    mask = mask if mask else None\n    h = x"},
    does="Your code tests the truth value of the mask, which raises ValueError for an array.",
    right="Test `mask is not None`.",
    read="the Python documentation, Truth Value Testing")
transformer_stack.wrong("always_causal", "stack",
    {"n_heads, mask)\n    return": "n_heads, np.tri(x.shape[-2], dtype=bool) if mask is None else mask)\n    return"},
    {"n_heads, mask)\n    return": "n_heads, np.tri(x.shape[-2], dtype=bool))\n    return"},
    does="Your code applies a causal mask that the caller did not pass.", right="Apply exactly the mask that is passed in; with mask=None, attend to every position.", read=STACK)
transformer_stack.wrong("final_norm", "stack",
    {"return h": "return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)"},
    {"return h": "return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5) if len(blocks) else h"},
    {"return h": "return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-6)"},
    {"return h": "return (h - h.mean(-1, keepdims=True)) / (h.std(-1, keepdims=True) + 1e-6)"},
    does="Your code applies a final layer norm.", right="Return the output of the last block.", read=STACK)
transformer_stack.wrong("unknown_norm_accepted", "norm_names", {"if norm not in known": "if False"},
    {"if norm not in known": "if False", 'if norm == "pre" else post_norm_block': 'if norm != "post" else post_norm_block'},
    does="Your code accepts an unknown norm, so a misspelt norm silently gives another model.", right=EXACTLY, read=STACK)
transformer_stack.wrong("checked_in_loop", "norm_names", {"if norm not in known": "if norm not in known and len(blocks)"},
    does="Your code does not check norm if there are no blocks.", right=EXACTLY, read=STACK)
transformer_stack.wrong("any_case", "norm_names", {"    known": "    norm = norm.lower()\n    known"},
    does="Your code ignores the case of norm.", right=EXACTLY, read=STACK)
transformer_stack.wrong("stripped", "norm_names", {"    known": "    norm = norm.strip()\n    known"},
    does="Your code accepts spaces around norm.", right=EXACTLY, read=STACK)
transformer_stack.wrong("substring", "norm_names", {"if norm not in known": 'if norm not in "pre post"'},
    {"if norm not in known": 'if norm not in "prepost"'},
    {"if norm not in known": 'if norm not in "pre, post"'}, {"if norm not in known": 'if norm not in "pre/post"'},
    {"if norm not in known": 'if norm not in "pre" and norm not in "post"'},
    does="Your code tests whether norm is a substring of another string, so it accepts '' and 'p' too.", right=EXACTLY,
    read="the Python language reference, Membership test operations")
transformer_stack.wrong("prefix", "norm_names",
    {"    known": '    norm = next((name for name in ("pre", "post") if norm.startswith(name)), norm)\n    known'},
    does='Your code accepts longer names that start with "pre" or "post".', right=EXACTLY, read=STACK)
transformer_stack.wrong("key_error", "norm_names", {"raise ValueError": "raise KeyError"},
    does="Your code raises KeyError for an unknown norm.", right="Raise ValueError.", read=STACK)
transformer_stack.wrong("assert", "norm_names", {"raise ValueError": "raise AssertionError"},
    does="Your code checks norm with assert, which raises AssertionError.", right="Raise ValueError.", read=STACK)
transformer_stack.wrong("empty_refused", "stack", {"if norm not in known": "if norm not in known or not blocks"},
    does="Your code rejects an empty list of blocks.", right="Return x if there are no blocks.", read=STACK)
transformer_stack.wrong("empty_gives_none", "stack", {"return h": "return h if len(blocks) else None"},
    does="Your code returns None for an empty list of blocks.", right="Return x if there are no blocks.", read=STACK)
transformer_stack.wrong("empty_gives_zeros", "stack", {"return h": "return h if len(blocks) else 0 * h"},
    does="Your code returns zeros for an empty list of blocks.", right="Return x if there are no blocks.", read=STACK)
transformer_stack.wrong("squeezed", "stack", {"return h": "return h.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
transformer_stack.wrong("changes_blocks", "purity", {"in blocks": "in [blocks.pop(0) for _ in range(len(blocks))]"},
    {"    h = x": "    blocks.reverse()\n    h = x", "in blocks": "in blocks[::-1]"})
transformer_stack.wrong("changes_x", "purity", {"h = layer(h, params, n_heads, mask)": "h[...] = layer(h, params, n_heads, mask)"})
transformer_stack.wrong("remembers", "purity", {"mask=None):": "mask=None, cache={}):",
    "    h = x": "    blocks = cache.setdefault((x.shape, len(blocks)), blocks)\n    h = x"},
    memory=True, does="Your code reuses the blocks from an earlier call.", right="Use the blocks of this call.", read=KEPT)
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
