"""Classes: pre-norm and post-norm are two subclasses in a registry; the layers of gradient_flow are linear maps."""

import numpy as np

import layernorm
import scaled_attention


class Block:
    kinds = {}

    def __init_subclass__(cls, name):
        cls.kinds[name] = cls

    def __init__(self, params, n_heads, mask):
        self.params, self.n_heads, self.mask = params, n_heads, mask

    def norm(self, which, x):
        return layernorm.layer_norm(x, **self.params[which])

    def attention(self, x):
        return scaled_attention.multi_head_attention(x, self.params["attention"], self.n_heads, mask=self.mask)

    def ffn(self, x):
        return feed_forward(x, self.params["ffn"])


class PreNorm(Block, name="pre"):
    def __call__(self, x):
        h = residual(x, lambda y: self.attention(self.norm("ln_1", y)))
        return residual(h, lambda y: self.ffn(self.norm("ln_2", y)))


class PostNorm(Block, name="post"):
    def __call__(self, x):
        h = self.norm("ln_1", residual(x, self.attention))
        return self.norm("ln_2", residual(h, self.ffn))


class Linear:
    def __init__(self, matrix, skip):
        self.matrix, self.skip = matrix, skip

    def backward(self, grad):
        return np.dot(grad, self.matrix) + (grad if self.skip else np.zeros_like(grad))


def feed_forward(x, params):
    hidden = (x * 1.0 @ params["w_1"] + params["b_1"]).clip(min=0)
    return hidden @ params["w_2"] + params["b_2"]


def residual(x, sublayer):
    result = np.array(sublayer(x), dtype=np.result_type(x, 1.0))
    result += x
    return result


def pre_norm_block(x, params, n_heads, mask=None):
    return PreNorm(params, n_heads, mask)(x)


def post_norm_block(x, params, n_heads, mask=None):
    return PostNorm(params, n_heads, mask)(x)


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    kind = Block.kinds.get(norm)
    if kind is None:
        raise ValueError(f"norm {norm!r} is not one of {', '.join(Block.kinds)}")
    for params in blocks:
        x = kind(params, n_heads, mask)(x)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    layers = [Linear(jacobian, residual) for jacobian in jacobians]
    grads = [grad_out * 1.0]
    while layers:
        grads.append(layers.pop().backward(grads[-1]))
    return np.array([np.linalg.norm(grad) for grad in reversed(grads)])
