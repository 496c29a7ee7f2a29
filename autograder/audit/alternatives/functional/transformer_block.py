"""Functional: blocks composed by reduce, gradients by recursion, other modules imported inside a function."""

from functools import partial, reduce

import numpy as np


def compose(*functions):
    return lambda x: reduce(lambda value, function: function(value), functions, x)


def floats(x):
    return x.astype(np.result_type(x, 1.0))


def affine(x, w, b):
    return x @ w + b


def feed_forward(x, params):
    first = partial(affine, w=params["w_1"], b=params["b_1"])
    second = partial(affine, w=params["w_2"], b=params["b_2"])
    return compose(floats, first, lambda h: h * (h > 0), second)(x)


def residual(x, sublayer):
    return sum(map(floats, (x, sublayer(x))))


def parts(params, n_heads, mask):
    from layernorm import layer_norm
    from scaled_attention import multi_head_attention

    return (
        lambda x: layer_norm(x, params["ln_1"]["gamma"], params["ln_1"]["beta"]),
        lambda x: multi_head_attention(x, params["attention"], n_heads, mask),
        lambda x: layer_norm(x, params["ln_2"]["gamma"], params["ln_2"]["beta"]),
        lambda x: feed_forward(x, params["ffn"]),
    )


def pre_norm_block(x, params, n_heads, mask=None):
    norm_1, attention, norm_2, ffn = parts(params, n_heads, mask)
    return reduce(residual, [compose(norm_1, attention), compose(norm_2, ffn)], x)


def post_norm_block(x, params, n_heads, mask=None):
    norm_1, attention, norm_2, ffn = parts(params, n_heads, mask)
    return compose(lambda x: residual(x, attention), norm_1, lambda x: residual(x, ffn), norm_2)(x)


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    match norm, blocks:
        case "pre" | "post", []:
            return x
        case "pre", [first, *rest]:
            return transformer_stack(pre_norm_block(x, first, n_heads, mask), rest, n_heads, norm, mask)
        case "post", [first, *rest]:
            return transformer_stack(post_norm_block(x, first, n_heads, mask), rest, n_heads, norm, mask)
        case _:
            raise ValueError(f"blocks are 'pre' or 'post', not {norm!r}")


def gradient_flow(jacobians, grad_out, residual=True):
    def backwards(layers, grad):
        yield np.sqrt(grad @ grad)
        if len(layers):
            yield from backwards(layers[:-1], (grad if residual else 0) + layers[-1].T @ grad)

    return np.array(list(backwards(jacobians, floats(grad_out)))[::-1])
