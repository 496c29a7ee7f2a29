"""Writes the data and pictures in solutions/tour: python autograder/tests/golden/make_tour.py NAME, in the root of the clone.

depth    the magnitudes of stream and gradient in random networks of up to 96 blocks (minutes); run it after a change to
         tour/examples.py.
ladder   the weights of the small models that show after each module what it adds (two minutes); after a change to
         tour/ladder.py. A test measures the losses in RUNGS.
runs     the default training run for each design of the decoder (ten minutes); after a change to train.py or
         tour/backward.py. A test repeats the first steps of each run and compares the losses.
gallery  the notebook's pictures (small PNG files) and tables (HTML) with the solutions, which students see while a
         function is not written yet, and the results of the solutions for the calls in tour/reference_values.py, which do
         not reveal a solution. After a change to a picture, a table or these calls; needs the extra `notebook`. Run it last.
"""

import contextlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SOLUTIONS = Path(__file__).parents[3] / "solutions"
TOUR = SOLUTIONS / "tour"
sys.path.insert(0, str(SOLUTIONS))

import causal_mask  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import layernorm  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import train  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
import transformer_block  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour import backward, examples, ladder, names  # type: ignore[import-not-found, unused-ignore]  # noqa: E402
from tour.corpus import batch  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

Params = dict[str, Any]
SEED = 0

# For each gain and kind of network, depth.npz has quantiles over NETWORKS networks of this width, after 0 to BLOCKS blocks
# of two sub-layers each, of these curves:
#
# - stream: the magnitude of the stream (root mean square)
# - gradient: the magnitude of the gradient at the input of a network with this many blocks, for a gradient of norm 1 at
#   its output: the root mean square over all directions, the Frobenius norm of the Jacobian / sqrt(WIDTH)
# - normed: the same with one more layer norm at the end (pre-norm only)
# - direct: the part of the path past all sub-layers that the norms preserve (post-norm only)

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


def depth() -> None:
    arrays = {}
    for gain in GAINS:
        for kind in examples.KINDS:
            runs = [measured(kind, gain, seed) for seed in range(NETWORKS)]
            for name in runs[0]:
                values = np.quantile([run[name] for run in runs], QUANTILES, axis=0)
                arrays[f"{kind}/{gain}/{name}"] = values.astype(np.float64)
    np.savez_compressed(TOUR / "depth.npz", **arrays)


# The small models. Each is trained from random weights with a fixed seed, on as many batches as a run of train.py.

HIDDEN_WIDTH, FEATURES, DECAY = 96, 48, 0.3


def initial(rng: np.random.Generator, attends: bool) -> Params:
    """Return random weights in single precision."""

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Any:
        return (scale * rows**-0.5 * rng.normal(size=(rows, columns))).astype(np.float32)

    def norm(number: int, n: int) -> Params:
        return {f"gamma_{number}": np.ones(n, np.float32), f"beta_{number}": np.zeros(n, np.float32)}

    symbols = len(names.ALPHABET)
    params: Params = {"w_in": matrix(ladder.WINDOW * symbols, FEATURES, 3.0)} | norm(1, FEATURES)
    if attends:
        params["attention"] = {name: matrix(FEATURES, FEATURES) for name in ("w_q", "w_k", "w_v", "w_o")}
    params["w_hidden"] = matrix(FEATURES * (1 + attends), HIDDEN_WIDTH)
    return (
        params
        | norm(2, HIDDEN_WIDTH)
        | {"w_out": matrix(HIDDEN_WIDTH, symbols, 0.1), "b_out": np.zeros(symbols, np.float32)}
    )


def gradient(params: Params, inputs: Any, targets: Any, mask: Any | None) -> Params:
    """Return the gradient of the loss of a batch; targets of -1 do not count."""
    x = ladder.one_hot(inputs, ladder.WINDOW, np.float32)
    raw = x @ params["w_in"]
    first = features = layernorm.layer_norm(raw, params["gamma_1"], params["beta_1"])
    if "attention" in params:
        attended, kept = backward.attention(first, params["attention"], ladder.HEADS, mask)
        features = np.concatenate([first, attended], axis=-1)
    hidden = features @ params["w_hidden"]
    last = layernorm.layer_norm(hidden, params["gamma_2"], params["beta_2"])
    _, grad = backward.cross_entropy(last @ params["w_out"] + params["b_out"], targets)

    grads: Params = {"w_out": backward.weight_gradient(last, grad), "b_out": grad.sum(axis=(0, 1))}
    grad, *norm_2 = layernorm.layer_norm_backward(grad @ params["w_out"].T, hidden, params["gamma_2"])
    grads |= {"gamma_2": norm_2[0], "beta_2": norm_2[1], "w_hidden": backward.weight_gradient(features, grad)}
    grad = grad @ params["w_hidden"].T
    if "attention" in params:
        through, grads["attention"] = backward.attention_backward(grad[..., FEATURES:], params["attention"], kept)
        grad = grad[..., :FEATURES] + through
    grad, *norm_1 = layernorm.layer_norm_backward(grad, raw, params["gamma_1"])
    return grads | {"gamma_1": norm_1[0], "beta_1": norm_1[1], "w_in": backward.weight_gradient(x, grad)}


def trained(module: str) -> Params:
    """Train the model of one of the first three modules.

    Attention without a mask sees every letter it is given, so a batch has the first t letters of 64 names, with a different
    t in each step, and only the letter after them is a target.
    """
    training = np.array(names.census()[0])
    lengths = np.char.str_len(training) + 1
    prefixes = np.repeat(lengths, lengths) - np.concatenate([np.arange(n) for n in lengths])  # how often each t occurs
    rng = np.random.default_rng(SEED)
    params = initial(rng, module != "layernorm")
    optimiser = backward.AdamW(params, decay=DECAY)
    for step in range(1, train.STEPS + 1):
        t = rng.choice(prefixes) if module == "scaled_attention" else 0
        inputs, targets = batch(rng.choice(training[lengths >= t], train.BATCH_SIZE), names.ALPHABET)
        if t:
            inputs, targets = inputs[:, :t], targets[:, :t]
            targets[:, :-1] = -1
        mask = causal_mask.causal_mask(inputs.shape[1]) if module == "causal_mask" else None
        optimiser.step(
            params, gradient(params, inputs, targets, mask), backward.learning_rate(step, train.STEPS, train.RATE)
        )
    return params


def blocks() -> Params:
    """Train two blocks under the mask, without positions, which are part of the next module."""
    design = backward.Design(blocks=2, positions=False)
    training = train.Training(train.census(), design, seed=SEED)
    while not training.finished:
        training.advance()
    params: Params = training.params
    return params


def small_models() -> None:
    models = {rung.module: trained(rung.module) for rung in ladder.RUNGS[:3]} | {"transformer_block": blocks()}
    arrays = {path: array.astype(np.float16) for path, array in backward.flattened(models)}
    np.savez_compressed(TOUR / "ladder.npz", **arrays)
    for rung in ladder.RUNGS:
        loss = np.mean([ladder.nats(rung.module, name) for name in names.census()[1]])
        print(f"{rung.module}: {loss:.3f} nats per character")


SAMPLED = (0, 50, 150, 500, 1500, 3000)  # names are sampled after these steps


def finished(design: str) -> dict[str, Any]:
    """One run: its losses, and names sampled at some of its steps."""
    corpus, samples = train.census(), {}
    training, began = train.Training(corpus, train.DESIGNS[design], seed=SEED), time.process_time()
    training.measure()
    while True:
        if training.step in SAMPLED:
            samples[str(training.step)] = training.sample()
        if training.finished:
            break
        training.advance()
    return {
        "steps": training.steps,
        "seed": SEED,
        "processor_seconds": round(time.process_time() - began),
        "baselines": {name: round(loss, 4) for name, loss in train.baselines(corpus).items()},
        "history": [[step, round(training, 4), round(held_out, 4)] for step, training, held_out in training.history],
        "samples": samples,
    }


def runs() -> None:
    finished_runs = {design: finished(design) for design in train.DESIGNS}
    (TOUR / "finished_runs.json").write_text(json.dumps(finished_runs, ensure_ascii=False) + "\n", encoding="utf-8")


DOTS, COLOURS = 80, 96  # dots per inch; few enough for forty pictures to take half a megabyte


def sources() -> list[str]:
    """The code cells of the tour, without checks and without lines that only IPython understands."""
    cells = json.loads((SOLUTIONS / "transformer.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = [[line for line in text.splitlines() if not line.startswith("%")] for text in code]
    return ["\n".join(some) for some in lines if not some[0].startswith("def test_")]


def gallery() -> None:
    from matplotlib.figure import Figure
    from PIL import Image

    from tour import controls, reference_values  # type: ignore[import-not-found, unused-ignore]
    from tour.tables import Table  # type: ignore[import-not-found, unused-ignore]

    results = {f"{module}.{name}": reference_values.results(module, name) for module, name in reference_values.CALLS}
    np.savez_compressed(reference_values.RIGHT, **results)
    found: dict[str, bytes] = {}

    def keep(player: Any) -> None:
        player.redraw()
        if isinstance(player.result, Figure):
            image = Image.open(io.BytesIO(controls.png(player.result, DOTS))).convert("RGB")
            stream = io.BytesIO()
            # Few colours, chosen to keep thin green lines green and pale bands coloured
            image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2).save(stream, format="png", optimize=True)
            name, data = f"{player.name}.png", stream.getvalue()
        elif isinstance(player.result, Table):
            name, data = f"{player.name}.html", (player.result._repr_html_() + "\n").encode()
        else:
            raise ValueError(player.result)
        if name in found:
            raise ValueError(f"two pictures or tables are called {player.name}: give one another name with like=")
        found[name] = data

    controls.Player.put = keep
    cells: dict[str, Any] = {}
    for source in sources():
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, cells)
    for path in controls.GALLERY.iterdir():
        path.unlink()
    for name, data in found.items():
        (controls.GALLERY / name).write_bytes(data)


if __name__ == "__main__":
    {"depth": depth, "ladder": small_models, "runs": runs, "gallery": gallery}[sys.argv[1]]()
