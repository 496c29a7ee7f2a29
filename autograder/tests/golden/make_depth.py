"""Writes solutions/tour/depth.npz: the magnitudes of stream and gradient in random networks of up to 96 blocks.

Run manually, from the root of the clone, after a change to solutions/tour/examples.py. It takes minutes:

    python autograder/tests/golden/make_depth.py

For each gain and kind of network, the file has the 10 %, 50 % and 90 % quantiles over 40 networks of width 64, after
0 to 96 blocks of two sub-layers each, of these curves:

    stream    the magnitude of the stream (root mean square)
    gradient  the magnitude of the gradient at the input of a network with this many blocks, for a gradient of norm 1 at
              its output: the root mean square over all directions, the Frobenius norm of the Jacobian / sqrt(64)
    normed    the same with one more layer norm at the end (pre-norm only)
    direct    the part of the path past all sub-layers that the norms preserve (post-norm only)

A test recomputes the first two blocks of the networks with gain 1.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

SOLUTIONS = Path(__file__).parents[3] / "solutions"
sys.path.insert(0, str(SOLUTIONS))

import layernorm  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import transformer_block  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour import examples  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

GAINS = (1.0, 0.5, 0.1)
BLOCKS, WIDTH, NETWORKS = 96, 64, 40
QUANTILES = (0.1, 0.5, 0.9)


def norm(x: Any) -> Any:
    return layernorm.layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def measured(kind: str, gain: float, seed: int) -> dict[str, Any]:
    """The curves of one network, each (BLOCKS + 1,)."""
    run = examples.walk(kind, 2 * BLOCKS, gain, norm, transformer_block, seed, WIDTH)
    skip = kind in examples.ADDING
    product, products = np.eye(WIDTH), [np.eye(WIDTH)]
    for jacobian in run["jacobians"]:
        product = jacobian @ product + skip * product
        products.append(product)
    curves = {"stream": examples.size(run["stream"]), "gradient": over_all_directions(products)}
    if kind == "pre-norm":
        last = [examples.jacobian(norm, x) @ p for x, p in zip(run["stream"], products, strict=True)]
        curves["normed"] = over_all_directions(last)
    if kind == "post-norm":
        curves["direct"] = run["direct"]
    return {name: curve[::2] for name, curve in curves.items()}


def over_all_directions(jacobians: list[Any]) -> Any:
    """The Frobenius norm of each Jacobian, divided by the root of the width."""
    return examples.size(np.reshape(jacobians, (len(jacobians), -1))) * WIDTH**0.5


def main() -> None:
    arrays = {}
    for gain in GAINS:
        for kind in examples.KINDS:
            runs = [measured(kind, gain, seed) for seed in range(NETWORKS)]
            for name in runs[0]:
                values = np.quantile([run[name] for run in runs], QUANTILES, axis=0)
                arrays[f"{kind}/{gain}/{name}"] = values.astype(np.float64)
    np.savez_compressed(SOLUTIONS / "tour" / "depth.npz", **arrays)


if __name__ == "__main__":
    main()
