"""Writes golden.json: small inputs and the results of PyTorch for them, computed in float64 in one thread.

Run manually, with NumPy and PyTorch installed, after adding a case. The test that reads the file does not need PyTorch:

    python autograder/tests/golden/make_golden.py

PyTorch's conventions are translated here, so that the file only uses those of the contract:

- Linear computes x @ weight.T + bias, so its weight is the transpose of ours.
- MultiheadAttention packs the three transposed input matrices, in the order q, k, v, into in_proj_weight.
- True in a boolean mask means "may attend" in scaled_dot_product_attention, as here, but "masked" in MultiheadAttention
  and TransformerEncoderLayer.
- scaled_dot_product_attention returns no weights. With the identity as values, its output is the weights.
- TransformerEncoderLayer has biases in its attention. They are zero here.

A case omits eps and momentum if the contract has PyTorch's default, and so tests the default too. (The default eps of
rms_norm differs, so the contract's is passed to PyTorch.) MultiheadAttention returns NaN for a query that cannot attend
to any key, unless need_weights is False. PyTorch has no positional encoding, so decoders() computes it.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

Case = dict[str, Any]
Params = dict[str, Any]
nn, F = torch.nn, torch.nn.functional


class Draw:
    """Random inputs with few digits, reproducible for the same seed."""

    def __init__(self, seed: str) -> None:
        self.rng = np.random.default_rng(zlib.crc32(seed.encode()))

    def __call__(self, *shape: int, mean: float = 0.0, spread: float = 1.0, digits: int = 2) -> Any:
        return torch.tensor(np.round(self.rng.normal(mean, spread, shape), digits))

    def positive(self, *shape: int) -> Any:
        return torch.tensor(np.round(self.rng.uniform(0.3, 2.0, shape), 2))

    def mask(self, *shape: int) -> Any:
        """A random mask that hides about half of the keys, but leaves at least one in each row."""
        seen = self.rng.random(shape) < 0.5
        np.put_along_axis(seen, self.rng.integers(0, shape[-1], (*shape[:-1], 1)), True, axis=-1)
        return torch.tensor(seen)

    def block(self, d: int, h: int) -> Params:
        """The parameters of one Transformer block, named as in the contract."""
        return {
            "ln_1": {"gamma": self.positive(d), "beta": self(d)},
            "attention": {name: self(d, d, spread=0.5) for name in ("w_q", "w_k", "w_v", "w_o")},
            "ln_2": {"gamma": self.positive(d), "beta": self(d)},
            "ffn": {"w_1": self(d, h), "b_1": self(h), "w_2": self(h, d), "b_2": self(d)},
        }


def case(name: str, function: str, args: Params, *expected: Any) -> Case:
    """A case for golden.json; `expected` are the parts of a tuple, or a single result."""
    return {"name": name, "function": function, "args": plain(args), "expected": [plain(e) for e in expected]}


def plain(value: Any) -> Any:
    """Tensors as nested lists. JSON keeps floats exactly, and distinguishes bool, int and float."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.detach().tolist() if isinstance(value, torch.Tensor) else value


def set_(parameter: Any, value: Any) -> None:
    """Copy a value of the same shape; broadcasting would hide a wrong layout."""
    assert parameter.shape == value.shape
    with torch.no_grad():
        parameter.copy_(value)


def packed(params: Params) -> Any:
    return torch.cat([params[name].T for name in ("w_q", "w_k", "w_v")])


def attention_module(params: Params, n_heads: int) -> Any:
    module = nn.MultiheadAttention(len(params["w_q"]), n_heads, bias=False, batch_first=True)
    set_(module.in_proj_weight, packed(params))
    set_(module.out_proj.weight, params["w_o"].T)
    return module


def encoder_layer(params: Params, n_heads: int, norm: str) -> Any:
    d, h = params["ffn"]["w_1"].shape
    layer = nn.TransformerEncoderLayer(
        d, n_heads, h, dropout=0.0, activation="relu", batch_first=True, norm_first=norm == "pre"
    )
    set_(layer.self_attn.in_proj_weight, packed(params["attention"]))
    set_(layer.self_attn.in_proj_bias, torch.zeros(3 * d))
    set_(layer.self_attn.out_proj.weight, params["attention"]["w_o"].T)
    set_(layer.self_attn.out_proj.bias, torch.zeros(d))
    set_(layer.linear1.weight, params["ffn"]["w_1"].T)
    set_(layer.linear1.bias, params["ffn"]["b_1"])
    set_(layer.linear2.weight, params["ffn"]["w_2"].T)
    set_(layer.linear2.bias, params["ffn"]["b_2"])
    for module, name in ((layer.norm1, "ln_1"), (layer.norm2, "ln_2")):
        set_(module.weight, params[name]["gamma"])
        set_(module.bias, params[name]["beta"])
    return layer


def encoder(blocks: list[Params], n_heads: int, norm: str) -> Any:
    layers = [encoder_layer(params, n_heads, norm) for params in blocks]
    module = nn.TransformerEncoder(layers[0], len(layers), enable_nested_tensor=False)
    module.layers = nn.ModuleList(layers)
    return module


def causal(t: int) -> Any:
    """PyTorch's causal mask (0 for visible keys, minus infinity for others) as a boolean mask, True if visible."""
    return nn.Transformer.generate_square_subsequent_mask(t) == 0


def layer_norms(draw: Draw) -> Iterator[Case]:
    inputs = {
        "vector": draw(5),
        "batch": draw(2, 3, 4, mean=3.0, spread=10.0),
        "small_spread": draw(3, 5, spread=0.005, digits=4),
        "large_mean": draw(2, 6, mean=1e4),
    }
    for name, x in inputs.items():
        x.requires_grad_()
        module = nn.LayerNorm(x.shape[-1])
        set_(module.weight, draw.positive(x.shape[-1]))
        set_(module.bias, draw(x.shape[-1]))
        gamma, beta, grad_out = module.weight, module.bias, draw(*x.shape)
        y = module(x)
        y.backward(grad_out)
        yield case(name, "layer_norm", {"x": x, "gamma": gamma, "beta": beta}, y)
        args = {"grad_out": grad_out, "x": x, "gamma": gamma}
        yield case(name, "layer_norm_backward", args, x.grad, gamma.grad, beta.grad)
    x, gamma, beta, grad_out = (t.requires_grad_() for t in (draw(2, 7), draw(7), draw(7), draw(2, 7)))
    y = F.layer_norm(x, (7,), gamma, beta, eps=0.25)
    grads = torch.autograd.grad(y, (x, gamma, beta), grad_out)
    yield case("eps", "layer_norm", {"x": x, "gamma": gamma, "beta": beta, "eps": 0.25}, y)
    args = {"grad_out": grad_out, "x": x, "gamma": gamma, "eps": 0.25}
    yield case("eps", "layer_norm_backward", args, *grads)


def rms_norms(draw: Draw) -> Iterator[Case]:
    for name, x, eps in (
        ("vector", draw(5), 1e-6),
        ("batch", draw(2, 3, 4, mean=3.0), 1e-6),
        ("small_spread", draw(4, 6, spread=0.003, digits=4), 1e-6),
        ("eps", draw(2, 7), 0.25),
    ):
        gamma = draw.positive(x.shape[-1])
        args = {"x": x, "gamma": gamma} | ({} if eps == 1e-6 else {"eps": eps})
        yield case(name, "rms_norm", args, F.rms_norm(x, gamma.shape, gamma, eps))


def batch_norms(draw: Draw) -> Iterator[Case]:
    for name, n, d, more in (
        ("default", 5, 3, {}),
        ("two_examples", 2, 4, {}),
        ("momentum_and_eps", 6, 4, {"momentum": 0.4, "eps": 0.25}),
    ):
        for training in (True, False):
            module = nn.BatchNorm1d(d, **more).train(training)
            set_(module.weight, draw.positive(d))
            set_(module.bias, draw(d))
            set_(module.running_mean, draw(d))
            set_(module.running_var, draw.positive(d))
            args = {"x": draw(n, d, mean=2.0, spread=0.3), "gamma": module.weight, "beta": module.bias}
            args |= {"running_mean": module.running_mean.clone(), "running_var": module.running_var.clone()}
            y = module(args["x"])
            label = f"{name}-{'training' if training else 'evaluation'}"
            args |= {"training": training} | more
            yield case(label, "batch_norm", args, y, module.running_mean, module.running_var)


def softmaxes(draw: Draw) -> Iterator[Case]:
    scores = draw(3, 4, 2, spread=3.0)
    for axis in (-1, 0, 1):
        yield case(f"axis_{axis}", "softmax", {"scores": scores, "axis": axis}, torch.softmax(scores, axis))
    yield case("large", "softmax", {"scores": 1000 * scores}, torch.softmax(1000 * scores, -1))
    hidden = scores.masked_fill(~draw.mask(*scores.shape), -torch.inf)
    yield case("hidden", "softmax", {"scores": hidden}, torch.softmax(hidden, -1))


def attentions(draw: Draw) -> Iterator[Case]:
    name = "scaled_dot_product_attention"
    padding = torch.tensor([[True, True, False, False, False], [True] * 5])[:, None, :]
    blind = draw.mask(4, 5)
    blind[2] = False
    for label, leading, t_q, t_k, mask in (
        ("no_mask", (2, 3), 3, 4, None),
        ("no_leading", (), 4, 3, None),
        ("mask", (2,), 3, 4, draw.mask(2, 3, 4)),
        ("shared_mask", (2, 3), 2, 3, draw.mask(2, 3)),
        ("padding", (2,), 3, 5, padding),
        ("blind_query", (), 4, 5, blind),
    ):
        q, k, v = draw(*leading, t_q, 6), draw(*leading, t_k, 6), draw(*leading, t_k, 2)
        output = F.scaled_dot_product_attention(q, k, v, mask)
        weights = F.scaled_dot_product_attention(q, k, torch.eye(t_k).expand(*leading, t_k, t_k), mask)
        yield case(label, name, {"q": q, "k": k, "v": v, "mask": mask}, output, weights)
    q, k, v = draw(2, 5, 3), draw(2, 5, 3), draw(2, 5, 2)
    output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    weights = F.scaled_dot_product_attention(q, k, torch.eye(5).expand(2, 5, 5), is_causal=True)
    yield case("causal", name, {"q": q, "k": k, "v": v, "mask": causal(5)}, output, weights)
    yield case("mask", "causal_mask", {"t": 5}, causal(5))


def masks(draw: Draw, t: int) -> Iterator[tuple[str, Any, Params]]:
    """For a batch of two: a label, the contract's mask, and the equivalent masks of PyTorch."""
    keys = torch.arange(t) < torch.tensor([[t], [t - 2]])
    some, blind = draw.mask(t, t), draw.mask(t, t)
    blind[1] = False
    yield "no_mask", None, {}
    yield "causal", causal(t), {"attn": ~causal(t)}
    yield "mask", some, {"attn": ~some}
    yield "blind_query", blind, {"attn": ~blind}
    yield "padding", keys[:, None, :], {"padding": ~keys}
    yield "causal_and_padding", causal(t) & keys[:, None, :], {"attn": ~causal(t), "padding": ~keys}


def multi_head_attentions(draw: Draw) -> Iterator[Case]:
    for label, mask, hidden in masks(draw, 4):
        x, params = draw(2, 4, 6), draw.block(6, 1)["attention"]
        args = {"x": x, "params": params, "n_heads": 3, "mask": mask}
        masked = {"attn_mask": hidden.get("attn"), "key_padding_mask": hidden.get("padding")}
        y, _ = attention_module(params, 3)(x, x, x, need_weights=False, **masked)
        yield case(label, "multi_head_attention", args, y)
    x, params = draw(4, 6), draw.block(6, 1)["attention"]
    y, _ = attention_module(params, 1)(x, x, x)
    yield case("one_head", "multi_head_attention", {"x": x, "params": params, "n_heads": 1}, y)


def blocks(draw: Draw) -> Iterator[Case]:
    for norm in ("pre", "post"):
        for label, mask, hidden in masks(draw, 3):
            x, params = draw(2, 3, 4), draw.block(4, 5)
            args = {"x": x, "params": params, "n_heads": 2, "mask": mask}
            masked = {"src_mask": hidden.get("attn"), "src_key_padding_mask": hidden.get("padding")}
            yield case(label, f"{norm}_norm_block", args, encoder_layer(params, 2, norm)(x, **masked))
        x, layers = draw(5, 4), [draw.block(4, 5) for _ in range(2)]
        args = {"x": x, "blocks": layers, "n_heads": 2, "norm": norm, "mask": causal(5)}
        yield case(norm, "transformer_stack", args, encoder(layers, 2, norm)(x, mask=~causal(5)))
    x, ffn = draw(2, 3, 4), draw.block(4, 5)["ffn"]
    layer = encoder_layer(draw.block(4, 5) | {"ffn": ffn}, 2, "pre")
    y = layer.linear2(torch.relu(layer.linear1(x)))
    yield case("batch", "feed_forward", {"x": x, "params": ffn}, y)


def gradient_flows(draw: Draw) -> Iterator[Case]:
    jacobians, grad_out = draw(4, 3, 3), draw(3)
    for residual in (True, False):
        points = [draw(3).requires_grad_()]
        for jacobian in jacobians:
            points.append(jacobian @ points[-1] + (points[-1] if residual else 0))
        grads = torch.autograd.grad(points[-1], points, grad_out)
        args = {"jacobians": jacobians, "grad_out": grad_out, "residual": residual}
        label = "residual" if residual else "plain"
        yield case(label, "gradient_flow", args, torch.stack([g.norm() for g in grads]))


def decoders(draw: Draw) -> Iterator[Case]:
    vocab, d, tokens = 9, 4, torch.tensor([3, 8, 0, 3, 5])
    params = {"embedding": draw(vocab, d), "blocks": [draw.block(d, 6), draw.block(d, 6)]}
    params |= {"w_out": draw(d, vocab), "b_out": draw(vocab)}
    angles = torch.arange(len(tokens))[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    positions = torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(1)
    x = F.embedding(tokens, params["embedding"]) + positions
    h = encoder(params["blocks"], 2, "pre")(x, mask=~causal(len(tokens)))
    logits = F.linear(h, params["w_out"].T, params["b_out"])
    log_prob = -F.cross_entropy(logits[:-1], tokens[1:], reduction="sum")
    args = {"tokens": tokens, "params": params, "n_heads": 2}
    yield case("two_blocks", "decoder_logits", args, logits)
    yield case("two_blocks", "sequence_log_prob", args, log_prob)


GROUPS: tuple[Callable[[Draw], Iterator[Case]], ...] = (
    layer_norms,
    rms_norms,
    batch_norms,
    softmaxes,
    attentions,
    multi_head_attentions,
    blocks,
    gradient_flows,
    decoders,
)


def main() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    cases = [c for make in GROUPS for c in make(Draw(make.__name__))]
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    text = f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n'
    if "NaN" in text:
        raise ValueError("PyTorch answered NaN: such a case proves nothing")
    Path(__file__).with_name("golden.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
