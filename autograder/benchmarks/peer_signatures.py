"""Adapters that give our functions the signatures of TinyTorch and Deep-ML, so their tests can run on our code.

Only forward passes are adapted. Tests of gradients do not count, because the reference fails them here.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

Functions = Mapping[str, Callable[..., Any]]


# TinyTorch


class Tensor:
    """An array with the attributes that their tests read."""

    def __init__(self, data: Any, requires_grad: bool = False):
        self.data: Any = np.asarray(data)
        self.requires_grad, self.grad = requires_grad, None

    @property
    def shape(self) -> Any:
        return self.data.shape

    @property
    def size(self) -> Any:
        return self.data.size


class Linear:
    def __init__(self, width: int, out: int):
        self.weight = Tensor(np.random.randn(width, out) / np.sqrt(width))
        self.bias = Tensor(np.zeros(out))

    def forward(self, x: Tensor) -> Tensor:
        return Tensor(x.data @ self.weight.data + self.bias.data)

    def parameters(self) -> list[Tensor]:
        return [self.weight, self.bias]


class _Layer:
    """Base class of their layers."""

    f: Functions

    def forward(self, *inputs: Any) -> Tensor:
        raise NotImplementedError

    def __call__(self, *inputs: Any) -> Tensor:
        return self.forward(*inputs)

    def parameters(self) -> list[Tensor]:
        found: list[Tensor] = []
        for part in vars(self).values():
            for one in part if isinstance(part, list) else [part]:
                found += [one] if isinstance(one, Tensor) else one.parameters() if hasattr(one, "parameters") else []
        return found


class _MultiHeadAttention(_Layer):
    def __init__(self, embed_dim: int, num_heads: int):
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.f["split_heads"](np.zeros((1, 1, embed_dim)), num_heads)  # may reject the number of heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (Linear(embed_dim, embed_dim) for _ in range(4))

    def matrices(self) -> dict[str, np.ndarray]:
        names = {"w_q": self.q_proj, "w_k": self.k_proj, "w_v": self.v_proj, "w_o": self.out_proj}
        return {name: layer.weight.data for name, layer in names.items()}

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return Tensor(self.f["multi_head_attention"](x.data, self.matrices(), self.num_heads, _mask(mask)))


class _LayerNorm(_Layer):
    def __init__(self, normalized_shape: int, eps: float | None = None):
        self.gamma, self.beta, self.eps = Tensor(np.ones(normalized_shape)), Tensor(np.zeros(normalized_shape)), eps

    def forward(self, x: Tensor) -> Tensor:
        more = {} if self.eps is None else {"eps": self.eps}
        return Tensor(self.f["layer_norm"](x.data, self.gamma.data, self.beta.data, **more))


class _MLP(_Layer):
    def __init__(self, embed_dim: int, hidden_dim: int | None = None):
        self.hidden_dim = hidden_dim or 4 * embed_dim
        self.linear1, self.linear2 = Linear(embed_dim, self.hidden_dim), Linear(self.hidden_dim, embed_dim)

    def matrices(self) -> dict[str, np.ndarray]:
        first, second = self.linear1, self.linear2
        return {"w_1": first.weight.data, "b_1": first.bias.data, "w_2": second.weight.data, "b_2": second.bias.data}

    def forward(self, x: Tensor) -> Tensor:
        return Tensor(self.f["feed_forward"](x.data, self.matrices()))


def tinytorch(functions: Functions) -> SimpleNamespace:
    """The names that their tests use."""
    attention_class, norm_class, mlp_class = (
        type(kind.__name__.strip("_"), (kind,), {"f": functions}) for kind in (_MultiHeadAttention, _LayerNorm, _MLP)
    )

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        output, weights = functions["scaled_dot_product_attention"](q.data, k.data, v.data, _mask(mask))
        return Tensor(output), Tensor(weights)

    class TransformerBlock(_Layer):
        def __init__(self, embed_dim: int, num_heads: int, mlp_ratio: float = 4):
            self.attention = attention_class(embed_dim, num_heads)
            self.ln1, self.ln2 = norm_class(embed_dim), norm_class(embed_dim)
            self.mlp = mlp_class(embed_dim, int(embed_dim * mlp_ratio))

        def block(self) -> dict[str, Any]:
            norms = [{"gamma": norm.gamma.data, "beta": norm.beta.data} for norm in (self.ln1, self.ln2)]
            matrices = {"attention": self.attention.matrices(), "ffn": self.mlp.matrices()}
            return {"ln_1": norms[0], "attention": matrices["attention"], "ln_2": norms[1], "ffn": matrices["ffn"]}

        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            heads = self.attention.num_heads
            return Tensor(functions["pre_norm_block"](x.data, self.block(), heads, _mask(mask)))

    class GPT(_Layer):
        def __init__(self, vocab_size: int, embed_dim: int, num_layers: int, num_heads: int):
            self.num_heads, self.table = num_heads, Tensor(np.random.randn(vocab_size, embed_dim))
            self.blocks, self.head = (
                [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)],
                Linear(embed_dim, vocab_size),
            )

        def params(self) -> dict[str, Any]:
            blocks = [block.block() for block in self.blocks]
            output = {"w_out": self.head.weight.data, "b_out": self.head.bias.data}
            return {"embedding": self.table.data, "blocks": blocks, **output}

        def forward(self, tokens: Tensor) -> Tensor:
            rows = [functions["decoder_logits"](row, self.params(), self.num_heads) for row in tokens.data]
            return Tensor(np.stack(rows))

        def generate(self, prompt: Tensor, max_new_tokens: int = 50) -> Tensor:
            rows = [functions["generate"](row, self.params(), self.num_heads, max_new_tokens) for row in prompt.data]
            return Tensor(np.stack(rows))

    return SimpleNamespace(
        Tensor=Tensor,
        scaled_dot_product_attention=attention,
        MultiHeadAttention=attention_class,
        LayerNorm=norm_class,
        MLP=mlp_class,
        TransformerBlock=TransformerBlock,
        GPT=GPT,
        enable_autograd=lambda: None,
    )


def _mask(mask: Tensor | None) -> Any:
    """Convert their mask, which is 0 where attention is not allowed, to ours."""
    return None if mask is None else mask.data != 0


@contextlib.contextmanager
def importable(names: Mapping[str, Any]) -> Iterator[None]:
    """Make `from tinytorch.nn import ...` find these names, whatever is installed."""
    modules = ("core", "core.tensor", "core.autograd", "nn")
    packages = ("tinytorch", *(f"tinytorch.{name}" for name in modules))
    before = {name: sys.modules.get(name) for name in packages}
    for name in packages:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(names)
    try:
        yield
    finally:
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def probe_tinytorch(functions: Functions) -> list[Any]:
    """The results of many calls through these signatures, and their arguments afterwards."""
    rng, t = np.random.default_rng(1), tinytorch(functions)
    lower = np.tril(np.ones((5, 5)))
    masks = [None, *map(Tensor, (lower, np.stack([lower, np.eye(5)]), np.triu(np.ones((5, 5)), 1)))]
    results: list[Any] = []
    for scale in (1.0, 1e-3, 100.0):
        for mask in masks:
            results += _outcome(
                t.scaled_dot_product_attention, *map(Tensor, scale * rng.normal(size=(3, 2, 5, 8))), mask
            )
        for more in ((), (0.5,)):
            results += _outcome(_random_layer(t.LayerNorm, 8, *more), Tensor(scale * rng.normal(size=(2, 5, 8)) + 3))
    for width, heads in ((8, 2), (8, 8), (6, 3), (8, 3)):
        for mask in masks:
            x = Tensor(rng.normal(size=(2, 5, width)))
            results += _outcome(
                lambda x, mask, *sizes: _random_layer(t.MultiHeadAttention, *sizes)(x, mask), x, mask, width, heads
            )
    for kind, *sizes in ((t.MLP, 8), (t.MLP, 8, 3), (t.TransformerBlock, 8, 2)):
        results += _outcome(_random_layer(kind, *sizes), Tensor(rng.normal(size=(2, 5, 8))))
    tokens = Tensor(rng.integers(0, 11, (2, 6)))
    model = _random_layer(t.GPT, 11, 8, 3, 2)
    return [*results, *_outcome(model.forward, tokens), *_outcome(model.generate, tokens, 4)]


def _random_layer(kind: Callable[..., Any], *sizes: Any) -> Any:
    """A layer with random parameters."""
    np.random.seed(2)
    layer = kind(*sizes)
    for part in layer.parameters():
        part.data = part.data + 0.3 * np.random.randn(*part.shape)
    return layer


def _outcome(call: Callable[..., Any], *args: Any) -> list[Any]:
    """The result of a call, or the name of its error, and its arguments afterwards."""
    try:
        result = call(*args)
    except Exception as error:
        result = type(error).__name__
    return [_plain(one) for one in (result, *args) if one is not None]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value.data if isinstance(value, Tensor) else value


# Deep-ML


def deep_ml(functions: Functions) -> dict[int, dict[str, Callable[..., Any]]]:
    """The functions that the tests of each exercise call, by exercise number."""
    attention = functions["scaled_dot_product_attention"]

    def projected(x: Any, w_q: Any, w_k: Any, w_v: Any) -> tuple[Any, Any, Any]:
        return x @ w_q, x @ w_k, x @ w_v

    def softmax(scores: list[float]) -> list[float]:
        return [round(float(one), 4) for one in functions["softmax"](np.array(scores, dtype=float))]

    def multi_head(q: Any, k: Any, v: Any, n_heads: int) -> Any:
        heads = [functions["split_heads"](one, n_heads) for one in (q, k, v)]
        return functions["merge_heads"](attention(*heads)[0])

    def layer_norm(x: Any, gamma: Any, beta: Any, epsilon: float | None = None) -> Any:
        more = {} if epsilon is None else {"eps": epsilon}
        return functions["layer_norm"](x, gamma.reshape(-1), beta.reshape(-1), **more)

    return {
        23: {"softmax": softmax},
        53: {"compute_qkv": projected, "self_attention": lambda q, k, v: attention(q, k, v)[0]},
        85: {"pos_encoding": lambda t, d_model: np.float16(functions["positional_encoding"](t, d_model))},
        94: {"compute_qkv": projected, "multi_head_attention": multi_head},
        107: {"compute_qkv": projected, "masked_attention": lambda q, k, v, mask: attention(q, k, v, mask == 0)[0]},
        109: {"layer_normalization": layer_norm},
    }


def probe_deep_ml(functions: Functions) -> list[Any]:
    """The results of many calls through these signatures, and their arguments afterwards."""
    rng = np.random.default_rng(1)
    names = {name: f for exercise in deep_ml(functions).values() for name, f in exercise.items()}
    results: list[Any] = []
    for scale in (1.0, 1e-3, 1000.0):
        results += _outcome(names["softmax"], list(scale * rng.normal(size=5)))
        qkv = scale * rng.normal(size=(3, 5, 8))
        results += _outcome(names["self_attention"], *qkv)
        for heads in (2, 3):
            results += _outcome(names["multi_head_attention"], *qkv, heads)
        for diagonal in (0, -1):
            results += _outcome(names["masked_attention"], *qkv, np.where(np.tri(5, k=diagonal), 0.0, -np.inf))
        for more in ((), (0.5,)):
            x, (gamma, beta) = scale * rng.normal(size=(2, 3, 4)) + 3, rng.normal(size=(2, 1, 1, 4))
            results += _outcome(names["layer_normalization"], x, gamma, beta, *more)
    for sizes in ((1, 4), (5, 16), (100, 6), (4, 5)):
        results += _outcome(names["pos_encoding"], *sizes)
    return results
