"""Known mistakes in transformer_block.py."""

import numpy as np

from autograder.homework.catalogue import misconception
from autograder.homework.reference import (
    feed_forward,
    layer_norm,
    multi_head_attention,
    post_norm_block,
    pre_norm_block,
)

# ---------------------------------------------------------------- feed_forward


@misconception(
    "There is no relu between the two layers; without it they collapse into a single linear map.",
    read="the formula in the docstring of feed_forward",
)
def feed_forward__no_relu(x, params):
    return (x @ params["w_1"] + params["b_1"]) @ params["w_2"] + params["b_2"]


@misconception(
    "The relu comes after the second layer; it belongs between the two.",
    read="the formula in the docstring of feed_forward",
)
def feed_forward__relu_last(x, params):
    return np.maximum((x @ params["w_1"] + params["b_1"]) @ params["w_2"] + params["b_2"], 0)


@misconception(
    "The relu is applied after both layers; only the hidden layer has one, so that the output can be negative.",
    read="the formula in the docstring of feed_forward",
)
def feed_forward__relu_twice(x, params):
    hidden = np.maximum(x @ params["w_1"] + params["b_1"], 0)
    return np.maximum(hidden @ params["w_2"] + params["b_2"], 0)


@misconception(
    "The activation is a GELU, as in GPT-2; this homework uses relu, as in the original paper.",
    read="Attention Is All You Need, section 3.3",
)
def feed_forward__gelu(x, params):
    hidden = x @ params["w_1"] + params["b_1"]
    hidden = 0.5 * hidden * (1 + np.tanh(0.7978845608028654 * (hidden + 0.044715 * hidden**3)))
    return hidden @ params["w_2"] + params["b_2"]


@misconception("The bias b_1 is left out of the hidden layer.", read="the formula in the docstring of feed_forward")
def feed_forward__no_b_1(x, params):
    return np.maximum(x @ params["w_1"], 0) @ params["w_2"] + params["b_2"]


@misconception("The bias b_2 is left out of the output layer.", read="the formula in the docstring of feed_forward")
def feed_forward__no_b_2(x, params):
    return np.maximum(x @ params["w_1"] + params["b_1"], 0) @ params["w_2"]


@misconception(
    "The bias b_1 is added after the relu; it moves the point where the relu switches, so it comes before.",
    read="the formula in the docstring of feed_forward",
)
def feed_forward__bias_after_relu(x, params):
    return (np.maximum(x @ params["w_1"], 0) + params["b_1"]) @ params["w_2"] + params["b_2"]


@misconception(
    "The input is added to the result; the residual connection is the block's task, not that of feed_forward.",
    read="the formulas of pre_norm_block and feed_forward side by side",
)
def feed_forward__adds_input(x, params):
    return x + np.maximum(x @ params["w_1"] + params["b_1"], 0) @ params["w_2"] + params["b_2"]


@misconception(
    "The weights are transposed, as torch.nn.Linear stores them; here w_1 is (d, h) and the product is x @ w_1.",
    read="the shapes in the docstring of feed_forward",
)
def feed_forward__transposed_weights(x, params):
    return np.maximum(x @ params["w_1"].T + params["b_1"], 0) @ params["w_2"].T + params["b_2"]


@misconception(
    "Only arrays with exactly two dimensions are accepted; there may be any number of leading ones, also none.",
    read="numpy.matmul, notes on broadcasting",
)
def feed_forward__two_dimensions_only(x, params):
    _, _ = x.shape
    return np.maximum(x @ params["w_1"] + params["b_1"], 0) @ params["w_2"] + params["b_2"]


@misconception(
    "The leading dimensions are flattened for the product and not restored afterwards.", read="numpy.reshape"
)
def feed_forward__stays_flat(x, params):
    rows = x.reshape(-1, x.shape[-1])
    return np.maximum(rows @ params["w_1"] + params["b_1"], 0) @ params["w_2"] + params["b_2"]


@misconception(
    "The result is float64 for float32 inputs: the array of zeros in the relu is float64; a plain 0 keeps the dtype.",
    read="NumPy 2 migration guide, promotion of Python scalars",
)
def feed_forward__float64_zeros(x, params):
    hidden = x @ params["w_1"] + params["b_1"]
    return np.maximum(hidden, np.zeros(hidden.shape)) @ params["w_2"] + params["b_2"]


# ---------------------------------------------------------------- residual


@misconception(
    "The sub-layer's output is returned alone; the residual connection adds it to x.",
    read="Deep Residual Learning for Image Recognition, section 3",
)
def residual__no_skip(x, sublayer):
    return sublayer(x)


@misconception("The sub-layer's output is subtracted from x; it is added.", read="the docstring of residual")
def residual__subtracted(x, sublayer):
    return x - sublayer(x)


@misconception("The sum is halved; a residual connection adds without averaging.", read="the docstring of residual")
def residual__averaged(x, sublayer):
    return (x + sublayer(x)) / 2


@misconception(
    "The sub-layer runs on its own output a second time; it runs once, on x.",
    read="the docstring of residual",
)
def residual__applied_twice(x, sublayer):
    return x + sublayer(sublayer(x))


@misconception(
    "x is overwritten by the sub-layer's output before the addition, so that this output is added to itself.",
    read="the docstring of residual",
)
def residual__overwritten(x, sublayer):
    x = sublayer(x)
    return x + x


@misconception(
    "The sub-layer's input is normalised here; residual only adds, the norm belongs to the block.",
    read="the formula of pre_norm_block",
)
def residual__normed_input(x, sublayer):
    d = x.shape[-1]
    return x + sublayer(layer_norm(x, np.ones(d), np.zeros(d)))


@misconception(
    "The sum is normalised here; residual only adds, the norm belongs to the block.",
    read="the formula of post_norm_block",
)
def residual__normed_sum(x, sublayer):
    d = x.shape[-1]
    return layer_norm(x + sublayer(x), np.ones(d), np.zeros(d))


@misconception(
    "A relu follows the addition, as in image networks; in a Transformer the sum is passed on unchanged.",
    read="the docstring of residual",
)
def residual__relu_after(x, sublayer):
    return np.maximum(x + sublayer(x), 0)


@misconception(
    "x and the sub-layer's output are put side by side; they are added, and the shape stays (..., d).",
    read="the docstring of residual",
)
def residual__concatenated(x, sublayer):
    return np.concatenate([x, sublayer(x)], axis=-1)


@misconception(
    "The sub-layer is called for one row at a time; it needs the whole of x, because attention mixes the rows.",
    read="the docstring of residual",
)
def residual__row_by_row(x, sublayer):
    return x + np.stack([sublayer(row) for row in x])


@misconception(
    "The argument x is changed by +=; write x + sublayer(x), which makes a new array.",
    read="NumPy user guide, copies and views",
)
def residual__in_place(x, sublayer):
    x += sublayer(x)
    return x


@misconception(
    "The result takes the dtype of x, which cuts off decimals when x holds integers.", read="numpy.zeros_like"
)
def residual__dtype_of_x(x, sublayer):
    out = np.zeros_like(x)
    out[...] = x + sublayer(x)
    return out


@misconception(
    "The result is float64 for float32 inputs: np.zeros(shape) is float64 unless it is given a dtype.",
    read="numpy.zeros, argument dtype",
)
def residual__float64_buffer(x, sublayer):
    out = np.zeros(x.shape)
    out += x
    out += sublayer(x)
    return out


# ---------------------------------------------------------------- pre_norm_block


@misconception(
    "The norms stand after the additions (post-norm); in a pre-norm block each sub-layer's input is normalised.",
    read="On Layer Normalization in the Transformer Architecture, figure 1",
)
def pre_norm_block__post_norm(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "Attention receives x itself; in a pre-norm block it receives LN_1(x).",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__no_first_norm(x, params, n_heads, mask=None):
    h = x + multi_head_attention(x, params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The feed-forward network receives h itself; in a pre-norm block it receives LN_2(h).",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__no_second_norm(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(h, params["ffn"])


@misconception(
    "The residuals start from the normed values; the additions keep x and h as they were before the norms.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__residual_from_normed(x, params, n_heads, mask=None):
    normed = layer_norm(x, **params["ln_1"])
    h = normed + multi_head_attention(normed, params["attention"], n_heads, mask)
    normed = layer_norm(h, **params["ln_2"])
    return normed + feed_forward(normed, params["ffn"])


@misconception(
    "The second addition starts from x again, which loses the attention's contribution; it starts from h.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__second_residual_from_x(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return x + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The feed-forward network reads x beside the attention; it reads h, the stream after the attention.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__parallel(x, params, n_heads, mask=None):
    attended = multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return x + attended + feed_forward(layer_norm(x, **params["ln_2"]), params["ffn"])


@misconception(
    "The attention's output replaces x; it is added to x.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__no_first_residual(x, params, n_heads, mask=None):
    h = multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The feed-forward output replaces h; it is added to h.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__no_second_residual(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The feed-forward half comes first; attention comes first.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__ffn_first(x, params, n_heads, mask=None):
    h = x + feed_forward(layer_norm(x, **params["ln_2"]), params["ffn"])
    return h + multi_head_attention(layer_norm(h, **params["ln_1"]), params["attention"], n_heads, mask)


@misconception(
    "Both norms use the parameters of ln_1; the second one has its own, ln_2.",
    read="the block parameters at the top of transformer_block.py",
)
def pre_norm_block__one_norm_twice(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_1"]), params["ffn"])


@misconception(
    "The block's output is normalised once more; a pre-norm block ends with an addition.",
    read="the formula in the docstring of pre_norm_block",
)
def pre_norm_block__final_norm(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    out = h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])
    return layer_norm(out, **params["ln_2"])


@misconception("The mask is not passed on to attention.", read="the arguments of multi_head_attention")
def pre_norm_block__mask_ignored(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The mask is inverted; True means that the key may be seen.",
    read="the first lines of scaled_attention.py, on masks",
)
def pre_norm_block__mask_inverted(x, params, n_heads, mask=None):
    hidden = None if mask is None else ~mask
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, hidden)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "A causal mask is used when none is given; with mask=None every position sees every other.",
    read="the default of mask",
)
def pre_norm_block__always_causal(x, params, n_heads, mask=None):
    if mask is None:
        mask = np.tri(x.shape[-2], dtype=bool)
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "Attention always runs with a single head; n_heads is to be passed on.",
    read="the arguments of multi_head_attention",
)
def pre_norm_block__one_head(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], 1, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "x must have exactly two dimensions (t, d); there may be leading ones, such as a batch.",
    read="the shapes in the docstring of pre_norm_block",
)
def pre_norm_block__two_dimensions_only(x, params, n_heads, mask=None):
    _, _ = x.shape
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The argument x is changed by +=; write x = x + ..., which makes a new array.",
    read="NumPy user guide, copies and views",
)
def pre_norm_block__in_place(x, params, n_heads, mask=None):
    x += multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    x += feed_forward(layer_norm(x, **params["ln_2"]), params["ffn"])
    return x


@misconception(
    "x is converted to float64 first, so that float32 inputs give a float64 result.",
    read="numpy.asarray, argument dtype",
)
def pre_norm_block__float64_input(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return np.asarray(h, dtype=float) + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


# ---------------------------------------------------------------- post_norm_block


@misconception(
    "The norms stand before the sub-layers (pre-norm); in a post-norm block each sum is normalised.",
    read="Attention Is All You Need, section 3.1",
)
def post_norm_block__pre_norm(x, params, n_heads, mask=None):
    h = x + multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])


@misconception(
    "The norms are applied to the sub-layer outputs before the additions; post-norm normalises the sums.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__norm_before_addition(x, params, n_heads, mask=None):
    h = x + layer_norm(multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return h + layer_norm(feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The sum after the attention is not normalised; LN_1 belongs there.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__no_first_norm(x, params, n_heads, mask=None):
    h = x + multi_head_attention(x, params["attention"], n_heads, mask)
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The last sum is not normalised; a post-norm block ends with LN_2.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__no_second_norm(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return h + feed_forward(h, params["ffn"])


@misconception(
    "Sub-layer inputs are normalised as well as the sums; a post-norm block has no norm before attention.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__both_sides(x, params, n_heads, mask=None):
    attended = multi_head_attention(layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    h = layer_norm(x + attended, **params["ln_1"])
    return layer_norm(h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"]), **params["ln_2"])


@misconception(
    "The second addition starts from x again; it starts from h.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__second_residual_from_x(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return layer_norm(x + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The second addition keeps the sum from before LN_1; it adds to the normalised h.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__residual_before_norm(x, params, n_heads, mask=None):
    summed = x + multi_head_attention(x, params["attention"], n_heads, mask)
    h = layer_norm(summed, **params["ln_1"])
    return layer_norm(summed + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The attention's output replaces x; it is added to x before the norm.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__no_first_residual(x, params, n_heads, mask=None):
    h = layer_norm(multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The feed-forward output replaces h; it is added to h before the norm.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__no_second_residual(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return layer_norm(feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "ln_1 and ln_2 are swapped; ln_1 follows attention, ln_2 the feed-forward network.",
    read="the formula in the docstring of post_norm_block",
)
def post_norm_block__norms_swapped(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_2"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_1"])


@misconception(
    "Both norms use the parameters of ln_1; the second one has its own, ln_2.",
    read="the block parameters at the top of transformer_block.py",
)
def post_norm_block__one_norm_twice(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_1"])


@misconception("The mask is not passed on to attention.", read="the arguments of multi_head_attention")
def post_norm_block__mask_ignored(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The mask is inverted; True means that the key may be seen.",
    read="the first lines of scaled_attention.py, on masks",
)
def post_norm_block__mask_inverted(x, params, n_heads, mask=None):
    hidden = None if mask is None else ~mask
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, hidden), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "Attention always runs with a single head; n_heads is to be passed on.",
    read="the arguments of multi_head_attention",
)
def post_norm_block__one_head(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], 1, mask), **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The argument x is changed by +=; write x = x + ..., which makes a new array.",
    read="NumPy user guide, copies and views",
)
def post_norm_block__in_place(x, params, n_heads, mask=None):
    x += multi_head_attention(x, params["attention"], n_heads, mask)
    h = layer_norm(x, **params["ln_1"])
    return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


@misconception(
    "The result is float64 for float32 inputs: a norm without gamma starts from np.ones(d), which is float64.",
    read="numpy.ones, argument dtype",
)
def post_norm_block__float64_ones(x, params, n_heads, mask=None):
    h = layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    last = params["ln_2"]
    d = x.shape[-1]
    normed = layer_norm(h + feed_forward(h, params["ffn"]), np.ones(d), np.zeros(d))
    return last["gamma"] * normed + last["beta"]


# ---------------------------------------------------------------- transformer_stack


@misconception("Every block is a pre-norm block, whatever norm says.", read="the docstring of transformer_stack")
def transformer_stack__always_pre(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    for params in blocks:
        x = pre_norm_block(x, params, n_heads, mask)
    return x


@misconception("norm is 'post' when it is not given; the default is 'pre'.", read="the signature of transformer_stack")
def transformer_stack__default_post(x, blocks, n_heads, norm="post", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "The blocks are applied from the last to the first; the first block comes first.",
    read="the docstring of transformer_stack",
)
def transformer_stack__reversed(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in reversed(blocks):
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "Only the first block is applied; the return stands inside the loop.",
    read="the docstring of transformer_stack",
)
def transformer_stack__first_block_only(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        return block(x, params, n_heads, mask)
    return x


@misconception(
    "Every block receives the original x, so that only the last one counts; each receives the output before it.",
    read="the docstring of transformer_stack",
)
def transformer_stack__last_block_only(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    out = x
    for params in blocks:
        out = block(x, params, n_heads, mask)
    return out


@misconception(
    "The first block is applied again and again; each layer has parameters of its own.",
    read="the docstring of transformer_stack",
)
def transformer_stack__shared_block(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for _ in blocks:
        x = block(x, blocks[0], n_heads, mask)
    return x


@misconception(
    "x is added once more around each block; the residual connections are inside the blocks already.",
    read="the formulas of the two blocks",
)
def transformer_stack__extra_residual(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = x + block(x, params, n_heads, mask)
    return x


@misconception("The mask is not passed on to the blocks.", read="the docstring of transformer_stack")
def transformer_stack__mask_dropped(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads)
    return x


@misconception(
    "Only the first block receives the mask; every block needs it, or the future leaks in later layers.",
    read="the docstring of transformer_stack",
)
def transformer_stack__mask_in_first_block(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
        mask = None
    return x


@misconception(
    "The stack ends with a layer norm of its own; here it ends with the last block.",
    read="the docstring of transformer_stack",
)
def transformer_stack__final_norm(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return layer_norm(x, np.ones(x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype)) if blocks else x


@misconception(
    "An unknown norm is taken for 'post'; it raises ValueError.",
    read="the errors in the docstring of transformer_stack",
)
def transformer_stack__unknown_norm_is_post(x, blocks, n_heads, norm="pre", mask=None):
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "norm is checked inside the loop, so that a wrong one passes when there are no blocks; check it first.",
    read="the errors in the docstring of transformer_stack",
)
def transformer_stack__checked_in_loop(x, blocks, n_heads, norm="pre", mask=None):
    for params in blocks:
        if norm not in ("pre", "post"):
            raise ValueError("norm must be 'pre' or 'post'")
        block = pre_norm_block if norm == "pre" else post_norm_block
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "Capital letters are accepted in norm; anything other than exactly 'pre' or 'post' raises ValueError.",
    read="the errors in the docstring of transformer_stack",
)
def transformer_stack__any_case(x, blocks, n_heads, norm="pre", mask=None):
    if norm.lower() not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm.lower() == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "norm is looked for inside a string, where '' and 'p' are found too; compare it with 'pre' and 'post'.",
    read="Python reference, membership tests on strings",
)
def transformer_stack__substring(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in "pre post":
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm in "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "An unknown norm raises KeyError from a look-up; ValueError is asked for.",
    read="Python library, built-in exceptions",
)
def transformer_stack__key_error(x, blocks, n_heads, norm="pre", mask=None):
    block = {"pre": pre_norm_block, "post": post_norm_block}[norm]
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception("An empty list of blocks is refused; it returns x unchanged.", read="the docstring of transformer_stack")
def transformer_stack__empty_refused(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post") or not blocks:
        raise ValueError("norm must be 'pre' or 'post' and there must be blocks")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


@misconception(
    "The blocks are taken out of the caller's list with pop; the list must be the same after the call.",
    read="Python tutorial, more on lists",
)
def transformer_stack__pops_blocks(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    while blocks:
        x = block(x, blocks.pop(0), n_heads, mask)
    return x


@misconception(
    "x is converted to float64 first, so that float32 inputs give a float64 result.",
    read="numpy.asarray, argument dtype",
)
def transformer_stack__float64_input(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm must be 'pre' or 'post'")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(np.asarray(x, dtype=float), params, n_heads, mask)
    return x


# ---------------------------------------------------------------- gradient_flow


@misconception(
    "The gradient is multiplied by J; going backwards it is multiplied by the transpose of J.",
    read="the formula in the docstring of gradient_flow",
)
def gradient_flow__no_transpose(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The gradient passes through layer 1 first; it starts at the output, so the last layer comes first.",
    read="the formula in the docstring of gradient_flow",
)
def gradient_flow__first_layer_first(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians:
        grads.append(jacobian.T @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The norms are listed from the output to the input; the network's input stands first.",
    read="the docstring of gradient_flow",
)
def gradient_flow__output_first(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([np.linalg.norm(grad) for grad in grads])


@misconception(
    "The norm of grad_out itself is missing; there are L + 1 norms for L layers.",
    read="the docstring of gradient_flow",
)
def gradient_flow__without_grad_out(jacobians, grad_out, residual=True):
    grad, norms = grad_out, []
    for jacobian in jacobians[::-1]:
        grad = jacobian.T @ grad + (grad if residual else 0)
        norms.insert(0, np.linalg.norm(grad))
    return np.array(norms)


@misconception(
    "The residual path is left out; with residual=True a layer is x + f(x), so its Jacobian is I + J.",
    read="the docstring of gradient_flow",
)
def gradient_flow__never_residual(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1])
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The residual path is always there; with residual=False a layer is f(x) alone.",
    read="the docstring of gradient_flow",
)
def gradient_flow__always_residual(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + grads[-1])
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception("residual is False when it is not given; the default is True.", read="the signature of gradient_flow")
def gradient_flow__default_without_residual(jacobians, grad_out, residual=False):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "1 is added to every entry of the Jacobian; the residual path adds the identity matrix.", read="numpy.eye"
)
def gradient_flow__ones_for_identity(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append((jacobian + 1 if residual else jacobian).T @ grads[-1])
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The residual path adds grad_out in every layer; it adds the gradient that arrives at that layer.",
    read="the formula in the docstring of gradient_flow",
)
def gradient_flow__adds_grad_out(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + (grad_out if residual else 0))
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The residual path adds the norms; the gradients are added as vectors before the norm is taken.",
    read="the formula in the docstring of gradient_flow",
)
def gradient_flow__adds_norms(jacobians, grad_out, residual=True):
    grad, norms = grad_out, [np.linalg.norm(grad_out)]
    for jacobian in jacobians[::-1]:
        grad = jacobian.T @ grad
        norms.insert(0, np.linalg.norm(grad) + (norms[0] if residual else 0))
    return np.array(norms)


@misconception(
    "The squared norms are returned; the Euclidean norm is the square root of the sum of squares.",
    read="numpy.linalg.norm",
)
def gradient_flow__squared(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([(grad**2).sum() for grad in grads[::-1]])


@misconception(
    "The absolute values are summed; the Euclidean norm is the square root of the sum of squares.",
    read="numpy.linalg.norm, argument ord",
)
def gradient_flow__sum_of_absolute_values(jacobians, grad_out, residual=True):
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1] + (grads[-1] if residual else 0))
    return np.array([np.abs(grad).sum() for grad in grads[::-1]])


@misconception(
    "The identity is added to the caller's jacobians by +=; write jacobians + np.eye(d), which makes a new array.",
    read="NumPy user guide, copies and views",
)
def gradient_flow__in_place(jacobians, grad_out, residual=True):
    if residual:
        jacobians += np.eye(len(grad_out), dtype=jacobians.dtype)
    grads = [grad_out]
    for jacobian in jacobians[::-1]:
        grads.append(jacobian.T @ grads[-1])
    return np.array([np.linalg.norm(grad) for grad in grads[::-1]])


@misconception(
    "The norms are stored with the dtype of grad_out, which cuts off decimals when it holds integers.",
    read="numpy.zeros, argument dtype",
)
def gradient_flow__dtype_of_grad_out(jacobians, grad_out, residual=True):
    norms = np.zeros(len(jacobians) + 1, dtype=grad_out.dtype)
    grad = grad_out
    norms[-1] = np.linalg.norm(grad)
    for layer in range(len(jacobians) - 1, -1, -1):
        grad = jacobians[layer].T @ grad + (grad if residual else 0)
        norms[layer] = np.linalg.norm(grad)
    return norms


@misconception(
    "The result is float64 for float32 inputs: np.zeros(L + 1) is float64 unless it is given a dtype.",
    read="numpy.zeros, argument dtype",
)
def gradient_flow__float64_buffer(jacobians, grad_out, residual=True):
    norms = np.zeros(len(jacobians) + 1)
    grad = grad_out
    norms[-1] = np.linalg.norm(grad)
    for layer in range(len(jacobians) - 1, -1, -1):
        grad = jacobians[layer].T @ grad + (grad if residual else 0)
        norms[layer] = np.linalg.norm(grad)
    return norms


# ---------------------------------------------------------------- tiny public inputs

X = np.array([[1.0, 2.0], [0.5, -1.0]])
FFN = {
    "w_1": np.array([[1.0, -1.0, 0.5], [0.5, 2.0, -1.0]]),
    "b_1": np.array([0.5, -0.5, 0.2]),
    "w_2": np.array([[1.0, 0.0], [0.5, -1.0], [2.0, 1.0]]),
    "b_2": np.array([0.1, -0.3]),
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
    "ffn": FFN,
}
OTHER_BLOCK = {**BLOCK, "ln_1": BLOCK["ln_2"], "ln_2": BLOCK["ln_1"]}
LOWER = np.array([[True, False], [True, True]])
PADDING = np.array([[[True, False, True]]])
X_WIDE = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 1.5], [0.0, 1.0, 3.0]])
WIDE_BLOCK = {
    "ln_1": {"gamma": np.array([1.0, 0.5, 2.0]), "beta": np.array([0.2, -0.1, 0.5])},
    "attention": {
        "w_q": np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, -0.5, 1.0]]),
        "w_k": np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, -0.5]]),
        "w_v": np.array([[1.0, 2.0, 0.0], [-1.0, 0.5, 1.0], [0.0, 1.0, 0.5]]),
        "w_o": np.array([[0.0, 1.0, 0.5], [1.0, 0.0, -1.0], [0.5, 0.5, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 1.5, 1.0]), "beta": np.array([0.0, 0.3, -0.2])},
    "ffn": {
        "w_1": np.array([[1.0, -0.5], [0.5, 2.0], [-1.0, 1.0]]),
        "b_1": np.array([0.5, -0.5]),
        "w_2": np.array([[1.0, 0.5, -1.0], [0.0, 2.0, 0.5]]),
        "b_2": np.array([0.1, -0.3, 0.2]),
    },
}

EXAMPLES = {
    "feed_forward": [
        ((np.array([1.0, -2.0]), FFN), {}),
        ((X[None], FFN), {}),
    ],
    "residual": [
        ((np.array([1, -2, 3]), lambda h: 0.5 * h), {}),
        ((X, lambda h: h[::-1] - 1), {}),
    ],
    "pre_norm_block": [
        ((X, BLOCK, 1), {}),
        ((X_WIDE[None], WIDE_BLOCK, 3), {"mask": PADDING}),
    ],
    "post_norm_block": [
        ((X_WIDE[:2], WIDE_BLOCK, 3), {}),
        ((X_WIDE[None], WIDE_BLOCK, 3), {"mask": PADDING}),
    ],
    "transformer_stack": [
        ((X, [], 1), {}),
        ((X_WIDE[:2], [WIDE_BLOCK, WIDE_BLOCK], 3, "post"), {}),
        ((X, [BLOCK, OTHER_BLOCK], 2), {"mask": LOWER}),
        ((X, [], 1, "Pre"), {}),
        ((X, [BLOCK], 1, ""), {}),
    ],
    "gradient_flow": [
        (
            (np.array([[[0.0, 1.0], [2.0, 0.5]], [[1.0, 0.0], [-1.0, 0.5]]]), np.array([0.5, 2.0])),
            {"residual": True},
        ),
        (
            (np.array([[[0.0, 1.0], [2.0, 0.5]], [[1.0, 0.0], [-1.0, 0.5]]]), np.array([0.5, 2.0])),
            {"residual": False},
        ),
        ((np.array([[[0, 1], [2, 1]]]), np.array([1, 2])), {}),
    ],
}
