"""Trains the two small models of names that the notebook plays with.

Run by hand, with NumPy, PyTorch and the distribution `names` installed; nothing else needs them:

    python autograder/tests/golden/train_names.py

The data are the first names of the census of the United States of 1990, which are in the public domain; `names` carries
them. Every tenth name, in an order drawn by chance, is kept apart and never trained on. Both models have the parameters of
the contract's decoder; one was trained with pre-norm blocks, as the decoder computes, one with post-norm blocks.

Of a run, the weights with the least loss on the names kept apart are written, as float16: the loss on the names trained on
goes on falling after that (the model learns them by heart).
"""

import sys
from pathlib import Path
from typing import Any

import names  # type: ignore[import-not-found, unused-ignore]
import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

from tour.backward import flattened, leaves  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

ALPHABET = ".abcdefghijklmnopqrstuvwxyz"  # the full stop stands before and after each name
D, HIDDEN, HEADS, BLOCKS = 48, 96, 4, 3
EPOCHS, BATCH, RATE, DROPOUT, DECAY = 100, 256, 3e-3, 0.15, 0.3
F, nn = torch.nn.functional, torch.nn
Params = dict[str, Any]


def census() -> tuple[list[str], list[str]]:
    """The names to train on and the names kept apart, each in alphabetical order."""
    lines = [line for key in ("first:female", "first:male") for line in Path(names.FILES[key]).read_text().splitlines()]
    found = np.array(sorted({line.split()[0].lower() for line in lines}))
    order = np.random.default_rng(0).permutation(len(found))
    apart = len(found) // 10
    return sorted(found[order[apart:]].tolist()), sorted(found[order[:apart]].tolist())


def table(some: list[str]) -> Any:
    """Names as rows of tokens, (n, longest + 2), filled up with -1."""
    rows = [[ALPHABET.index(letter) for letter in f".{name}."] for name in some]
    longest = max(map(len, rows))
    return torch.tensor([row + [-1] * (longest - len(row)) for row in rows])


def initial() -> Params:
    """Small Gaussian weights; the last matrix of each sub-layer is smaller, since a deep sum has many terms."""
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
    """The contract's decoder on a batch, with blocks of either kind: (n, t, vocab)."""
    t = tokens.shape[1]
    angles = torch.arange(t)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    positions = torch.stack([torch.sin(angles), torch.cos(angles)], -1).flatten(1)
    x = F.dropout(F.embedding(tokens.clamp(min=0), params["embedding"]) + positions, dropout)
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


def loss(rows: Any, params: Params, norm: str, dropout: float = 0.0) -> Any:
    """Minus the log-probability of a character, in nats, the full stop at the end included."""
    scores = logits(rows[:, :-1], params, norm, dropout)
    return F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=-1)


def train(norm: str, training: Any, apart: Any) -> dict[str, Any]:
    """Arrays by path, such as pre/blocks/0/ffn/w_1."""
    torch.manual_seed(0)
    params = initial()
    matrices = [leaf for leaf in leaves(params) if leaf.dim() > 1]
    vectors = [leaf for leaf in leaves(params) if leaf.dim() == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    steps = EPOCHS * (len(training) // BATCH)
    warm = min(200, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / warm) * (1 + np.cos(np.pi * step / steps)) / 2
    )
    best, least = dict[str, Any](), np.inf
    for step in range(steps):
        rows = training[torch.randint(len(training), (BATCH,))]
        optimizer.zero_grad()
        loss(rows, params, norm, DROPOUT).backward()
        nn.utils.clip_grad_norm_(leaves(params), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            with torch.no_grad():
                now = loss(apart, params, norm).item()
            if now < least:
                least = now
                best = {f"{norm}/{path}": leaf.detach().half().numpy() for path, leaf in flattened(params)}
    print(f"{norm}-norm: {least:.3f} nats a character on unseen names")
    return best


def main() -> None:
    torch.set_num_threads(1)
    known, unseen = census()
    pre, post = (train(norm, table(known), table(unseen)) for norm in ("pre", "post"))
    np.savez(SOLUTIONS / "tour" / "names.npz", **pre, **post)
    heading = "First names of the census of the United States of 1990, in the public domain.\n"
    text = f"{heading}\nTrained on: {' '.join(known)}\n\nKept apart: {' '.join(unseen)}\n"
    (SOLUTIONS / "tour" / "names.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
