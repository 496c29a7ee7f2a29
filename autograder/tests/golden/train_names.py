"""Trains the two small models of names for the notebook.

Run manually, with NumPy and PyTorch installed:

    python autograder/tests/golden/train_names.py

The data in names.txt are the first names of the 1990 census of the United States, which are in the public domain. A
random tenth is held out. Both models have the parameters of the contract's decoder. One is trained with pre-norm
blocks, like those of the decoder, the other with post-norm blocks.

The weights with the lowest loss on the held-out names are saved as float16.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

from tour.backward import flattened, leaves  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour.corpus import batch  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour.names import ALPHABET, census  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

D, HIDDEN, HEADS, BLOCKS = 48, 96, 4, 3
EPOCHS, BATCH, RATE, DROPOUT, DECAY = 100, 256, 3e-3, 0.15, 0.3
F, nn = torch.nn.functional, torch.nn
Params = dict[str, Any]


def initial() -> Params:
    """Small Gaussian weights. The last matrix of each sub-layer is smaller, since the stream sums many terms."""
    small = (2 * BLOCKS) ** -0.5

    def drawn(*shape: int, scale: float = 1.0) -> Any:
        return (torch.randn(*shape) * scale * shape[0] ** -0.5).requires_grad_()

    def block() -> Params:
        norms = {name: {"gamma": torch.ones(D), "beta": torch.zeros(D)} for name in ("ln_1", "ln_2")}
        attention = {name: drawn(D, D) for name in ("w_q", "w_k", "w_v")} | {"w_o": drawn(D, D, scale=small)}
        ffn = {"w_1": drawn(D, HIDDEN), "b_1": torch.zeros(HIDDEN)}
        ffn |= {"w_2": drawn(HIDDEN, D, scale=small), "b_2": torch.zeros(D)}
        return {**norms, "attention": attention, "ffn": ffn}

    embedding = (0.5 * torch.randn(len(ALPHABET), D)).requires_grad_()
    params = {"embedding": embedding, "blocks": [block() for _ in range(BLOCKS)]}
    params |= {"w_out": drawn(D, len(ALPHABET)), "b_out": torch.zeros(len(ALPHABET))}
    for leaf in leaves(params):
        leaf.requires_grad_()
    return params


def logits(tokens: Any, params: Params, norm: str, dropout: float = 0.0) -> Any:
    """The contract's decoder for a batch, with pre-norm or post-norm blocks: (n, t, vocab)."""
    t = tokens.shape[1]
    angles = torch.arange(t)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    positions = torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(1)
    x = F.dropout(F.embedding(tokens, params["embedding"]) + positions, dropout)
    for block in params["blocks"]:
        parts = (("ln_1", attention, block["attention"]), ("ln_2", network, block["ffn"]))
        for name, sublayer, weights in parts:
            gamma, beta = block[name]["gamma"], block[name]["beta"]
            if norm == "pre":
                x = x + F.dropout(sublayer(F.layer_norm(x, (D,), gamma, beta), weights), dropout)
            else:
                x = F.layer_norm(x + F.dropout(sublayer(x, weights), dropout), (D,), gamma, beta)
    return x @ params["w_out"] + params["b_out"]


def attention(x: Any, w: Params) -> Any:
    n, t, _ = x.shape
    q, k, v = ((x @ w[name]).view(n, t, HEADS, -1).transpose(1, 2) for name in ("w_q", "w_k", "w_v"))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(n, t, D) @ w["w_o"]


def network(x: Any, w: Params) -> Any:
    return torch.relu(x @ w["w_1"] + w["b_1"]) @ w["w_2"] + w["b_2"]


def loss(inputs: Any, targets: Any, params: Params, norm: str, dropout: float = 0.0) -> Any:
    """The mean negative log-probability of a character, in nats, including the full stop at the end."""
    scores = logits(inputs, params, norm, dropout)
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-1)


def train(norm: str) -> dict[str, Any]:
    """Train a model. Returns its arrays by path, such as pre/blocks/0/ffn/w_1."""
    training, held_out = ([torch.tensor(some) for some in batch(entries, ALPHABET)] for entries in census())
    inputs, targets = training
    torch.manual_seed(0)
    params = initial()
    matrices = [leaf for leaf in leaves(params) if leaf.dim() > 1]
    vectors = [leaf for leaf in leaves(params) if leaf.dim() == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    steps = EPOCHS * (len(inputs) // BATCH)
    warm = min(200, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / warm) * (1 + np.cos(np.pi * step / steps)) / 2
    )
    best, least = dict[str, Any](), np.inf
    for step in range(steps):
        chosen = torch.randint(len(inputs), (BATCH,))
        optimizer.zero_grad()
        loss(inputs[chosen], targets[chosen], params, norm, DROPOUT).backward()
        nn.utils.clip_grad_norm_(leaves(params), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            with torch.no_grad():
                now = loss(held_out[0], held_out[1], params, norm).item()
            if now < least:
                least = now
                best = {f"{norm}/{path}": leaf.detach().half().numpy() for path, leaf in flattened(params)}
    print(f"{norm}-norm: {least:.3f} nats a character on unseen names")
    return best


def main() -> None:
    torch.set_num_threads(1)
    np.savez(SOLUTIONS / "tour" / "names.npz", **train("pre"), **train("post"))


if __name__ == "__main__":
    main()
