"""Pictures of the model of names: what it writes, what it finds likely, and what its heads attend to."""

import functools
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tour import names, reference_values
from tour.examples import size
from tour.plotting import (
    BLUE,
    GREEN,
    GREY,
    GROUND,
    MINUS_TO_PLUS,
    PALE,
    PURPLE,
    RED,
    ZERO_TO_ONE,
    canvas,
    heat,
    ink,
    label,
    outline,
)
from tour.tables import Table, short

WRITTEN = 12  # names per batch
RIGHT_LOSS = 1.95  # of the solutions' decoder, on held-out names


def written(
    modules: names.Modules, temperature: float = 0.8, seed: int = 1, change: str = "nothing", top_k: int = 0
) -> Table:
    """Names from the model, with those it was trained on marked."""
    rng = np.random.default_rng(seed)
    trained, apart = names.census()
    rows = []
    for name in (names.sample(modules, rng, temperature, change, top_k=top_k) for _ in range(WRITTEN)):
        known = "a training name" if name in trained else "a held-out name" if name in apart else "new"
        rows.append((name or "(nothing)", known))
    return Table(rows, (f"temperature {temperature:.1f}", "on the list?"))


def first_name(modules: names.Modules) -> Table:
    """The name your generate writes, choosing the likeliest character each time; and the loss of your decoder on held-out names."""
    written = modules.decoder.generate(np.array([0]), names.model(), names.HEADS, names.LONGEST, eos=0)
    cost = names.costs(modules, state=reference_values.state()).mean()
    gap = np.abs(
        reference_values.results("decoder", "decoder_logits") - reference_values.expected("decoder.decoder_logits")
    ).max()
    compared = f"your logits of {', '.join(reference_values.KNOWN_NAMES)}"
    verdict = (
        "right" if reference_values.agrees("decoder", "decoder_logits", reference_values.state()) else "not right yet"
    )
    return Table(
        [
            ("your generate writes", names.text(written), ""),
            (compared, f"differ by at most {short(gap, 1)}", verdict),
            (
                "the loss of your decoder on held-out names",
                f"{cost:.2f} nats per character",
                f"right: {RIGHT_LOSS:.2f}",
            ),
        ]
    )


def ladder(modules: names.Modules) -> Figure:
    """Draw the loss per character of held-out names: models that count, your decoder, and your decoder without a part."""
    rows = [(name, cost, GREY) for name, cost in names.by_counting().items()]
    for change in names.CHANGES:
        cost = names.costs(modules, change, reference_values.state()).mean()
        rows.append((f"your decoder, {change}", cost, RED) if change != names.NOTHING else ("your decoder", cost, BLUE))
    rows.sort(key=lambda row: -row[1])
    figure, axes = canvas(9, 3.8, 1, "Loss on held-out names, nats per character: lower is better")
    drawn = axes[0].barh(range(len(rows)), [cost for _, cost, _ in rows], color=[colour for *_, colour in rows])
    for bar, (*_, colour) in zip(drawn, rows, strict=True):
        bar.set_hatch({RED: "///", GREY: "..", BLUE: ""}[colour])
        bar.set_edgecolor("white")
    axes[0].bar_label(drawn, [f"{cost:.2f}" for _, cost, _ in rows], fontsize=8.5, padding=3)
    axes[0].set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes[0].invert_yaxis()
    axes[0].set_xlim(0, 1.12 * max(cost for _, cost, _ in rows if np.isfinite(cost)))
    label(axes[0], "dotted: counting; plain: your decoder; hatched: your decoder without a part", "nats")
    return figure


def likely(modules: names.Modules, yours: str = "ada") -> Figure:
    """Nats per character: names it was trained on, names it has never seen, the same names scrambled, and one of yours."""
    trained, apart = names.census()
    rng = np.random.default_rng(0)
    scrambled = ["".join(rng.permutation(list(name))) for name in apart]
    state = reference_values.state()
    groups = (
        ("training names", _nats(modules, trained[:: len(trained) // len(apart)][: len(apart)], state), BLUE),
        ("held out", names.costs(modules, state=state), GREEN),
        ("held out, scrambled", _nats(modules, tuple(scrambled), state), RED),
    )
    figure, axes = canvas(10, 3.2, 2, "How surprising is a name? Nats per character, by your sequence_log_prob")
    for row, (_, costs, colour) in enumerate(groups):
        axes[0].plot(costs, row + rng.uniform(-0.25, 0.25, len(costs)), ".", color=colour, markersize=2)
        axes[0].plot(costs.mean(), row, "|", color="black", markersize=22, markeredgewidth=2)
        axes[0].text(costs.mean(), row + 0.33, f"mean {costs.mean():.2f}", ha="center", fontsize=8.5, bbox=GROUND)
    letters = names.letters(yours)
    cost = names.nats(modules, letters)
    axes[0].plot(cost, 3, "D", color=PURPLE)
    axes[0].text(cost, 3.33, f"{cost:.2f}", ha="center", fontsize=8.5, bbox=GROUND)
    chance = np.log(len(names.ALPHABET))
    axes[0].axvline(chance, color=GREY, linestyle=":")
    axes[0].text(chance, -0.75, " uniform: 3.30", fontsize=8, va="center")
    axes[0].set_yticks(range(4), [*(name for name, *_ in groups), f"yours: {letters or '(empty)'}"])
    axes[0].set_ylim(-1, 3.8)
    label(axes[0], f"{len(apart)} names each; black: the mean", "nats per character")
    _by_character(axes[1], modules, letters, names.lost(yours))
    return figure


@functools.lru_cache(maxsize=8)
def _nats(modules: names.Modules, some: tuple[str, ...], _state: Any) -> np.ndarray:
    return np.array([names.nats(modules, name) for name in some])


def _by_character(axes: Any, modules: names.Modules, name: str, remark: str) -> None:
    """Draw the surprise at each character of a name: differences of your sequence_log_prob."""
    written = names.tokens(name)
    totals = [
        modules.decoder.sequence_log_prob(written[:n], names.model(), names.HEADS) for n in range(1, len(written) + 1)
    ]
    costs = -np.diff(totals)
    drawn = axes.bar(range(len(costs)), costs, color=PURPLE)
    axes.bar_label(drawn, [f"{cost:.1f}" for cost in costs], fontsize=8)
    axes.set_xticks(range(len(costs)), [*name, "end"])
    low, high = min(costs.min(), 0), 1.15 * max(costs.max(), 1)  # below 0 where a decoder sees later characters
    axes.set_ylim(low and low - 0.15 * (high - low), high)
    title = "yours, character by character"
    label(axes, f"{title}\n{remark.partition(': ')[0]}" if remark else title, "", "nats")


def next_letter(modules: names.Modules, start: str = "jenn", temperature: float = 1.0) -> Figure:
    """Draw the probability of each next character after the beginning of a name."""
    begun = names.tokens(start, ended=False)
    scores = modules.decoder.decoder_logits(begun, names.model(), names.HEADS)[-1]
    chances = modules.scaled_attention.softmax(scores / temperature)
    place = f'after "{names.text(begun)}"' if len(begun) > 1 else "at the beginning of a name"
    figure, axes = canvas(10, 2.7, 1, f"What comes {place}, at temperature {temperature:.1f}")
    drawn = axes[0].bar(range(27), chances, color=BLUE)
    axes[0].bar_label(drawn, [f"{chance:.2f}" if chance >= 0.005 else "" for chance in chances], fontsize=8)
    axes[0].set_xticks(range(27), ["end", *names.ALPHABET[1:]])
    axes[0].set_ylim(0, 1.1)
    label(axes[0], "", "", "probability")
    return figure


def attention_maps(modules: names.Modules, name: str = "christopher", block: int = 1) -> Figure:
    """Draw the weights of the four heads of a block, over the characters of a name."""
    tokens = names.tokens(name or "a", ended=False)
    weights = names.trace(modules, tokens).weights[block - 1]
    title = f"Block {block}: what each character of .{names.text(tokens)} attends to. Even shares: {_even(tokens)}"
    figure, axes = canvas(10.4, 3.2, names.HEADS, title)
    for head, axis in enumerate(axes):
        heat(
            axis,
            weights[head],
            _kind(weights[head], tokens, head + 1),
            form="",
            words=["." if not t else names.ALPHABET[t] for t in tokens],
        )
        label(axis, axis.get_title(), "attends to", "character" if head == 0 else "")
    return figure


def shares(weights: np.ndarray, tokens: np.ndarray) -> tuple[float, float, float]:
    """How much weight a head gives to the character itself, to the one before, and to vowels, on average."""
    vowels = np.array([names.ALPHABET[token] in "aeiouy" for token in tokens])
    rows = np.arange(1, len(weights))
    if not len(rows):
        return float(weights[0, 0]), 0.0, 0.0
    return weights[rows, rows].mean(), weights[rows, rows - 1].mean(), weights[1:, vowels].sum(axis=1).mean()


def even(tokens: np.ndarray) -> tuple[float, float, float]:
    """Return the same shares for a head that gives equal weight to all visible characters."""
    t = len(tokens)
    return shares(np.tril(np.ones((t, t))) / np.arange(1, t + 1)[:, np.newaxis], tokens)


def _kind(weights: np.ndarray, tokens: np.ndarray, head: int) -> str:
    itself, before, vowels = shares(weights, tokens)
    return f"head {head}: itself {itself:.0%},\none before {before:.0%}, vowels {vowels:.0%}"


def _even(tokens: np.ndarray) -> str:
    itself, _, vowels = even(tokens)
    return f"itself and one before {itself:.0%}, vowels {vowels:.0%}"


def additions(modules: names.Modules, name: str = "christopher") -> Figure:
    """Draw the residual stream of a name: how much each part adds, and how large the sum has become."""
    tokens = names.tokens(name, ended=False)
    parts = names.trace(modules, tokens).added
    stream = np.cumsum([vectors for _, vectors in parts], axis=0)
    title = f"The residual stream of .{names.text(tokens)}: what each part adds"
    figure, axes = canvas(10.4, 3.3, 2, title, width_ratios=(3, 2))
    sizes = np.array([size(vectors) for _, vectors in parts])
    heat(axes[0], sizes / sizes.max(), "norm (RMS) of what is added, one column per character", form="")
    for (i, j), value in np.ndenumerate(sizes):
        colour = ink(ZERO_TO_ONE(value / sizes.max()))
        axes[0].text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, color=colour)
    axes[0].set_xticks(range(len(tokens)), ["." if not t else names.ALPHABET[t] for t in tokens])
    axes[0].set_yticks(range(len(parts)), [part for part, _ in parts])
    drawn = axes[1].barh(range(len(parts)), size(stream).mean(axis=1), color=BLUE)
    axes[1].bar_label(drawn, fmt="%.2f", fontsize=8, padding=2)
    axes[1].set_yticks(range(len(parts)), [f"+ {part}" for part, _ in parts])
    axes[1].invert_yaxis()
    label(axes[1], "RMS of the stream so far, mean over characters", "")
    return figure


def journey(modules: names.Modules, name: str = "christopher", letter: int = 5, step: int = 0) -> Figure:
    """Follow one character through the decoder: its vector after each part, its attention, and the predicted next character."""
    tokens = names.tokens(name or "a", ended=False)
    place = min(letter, len(tokens) - 1)
    trace = names.trace(modules, tokens)
    stream, chances = trace.stream[:, place], trace.read_out(modules)[:, place]
    parts = [part for part, _ in trace.added]
    signs = ["." if not t else names.ALPHABET[t] for t in tokens]
    title = f"The vector of character {place}, {signs[place]!r}, of .{names.text(tokens)}: plus {parts[step]}"
    figure, axes = canvas(10.4, 3.7, 3, title, width_ratios=(5, 3, 3))
    # A layout that fits every step, so that the film does not jump as labels appear and disappear.
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0.1, right=0.98, bottom=0.15, top=0.8, wspace=0.28)
    limit = float(np.abs(stream).max())
    heights = np.where(np.arange(len(parts))[:, np.newaxis] <= step, stream, np.nan)
    axes[0].imshow(heights, cmap=MINUS_TO_PLUS.with_extremes(bad=PALE), vmin=-limit, vmax=limit, aspect="auto")
    outline(axes[0], step, 0, 1, stream.shape[1])
    axes[0].set_yticks(range(len(parts)), [f"+ {part}" if i else part for i, part in enumerate(parts)])
    axes[0].tick_params(length=0)
    label(
        axes[0],
        f"the stream after each part, its {stream.shape[1]} features\n(purple negative, orange positive)",
        "feature",
    )
    block = (step - 2) // 2
    looks = step >= 2 and step % 2 == 0
    weights = trace.weights[block][:, place] if looks else np.full((names.HEADS, len(tokens)), np.nan)
    axes[1].imshow(weights, cmap=ZERO_TO_ONE.with_extremes(bad=PALE), vmin=0, vmax=1, aspect="auto")
    axes[1].set_xticks(range(len(tokens)), signs)
    axes[1].set_yticks(range(names.HEADS), [f"head {head + 1}" for head in range(names.HEADS)])
    axes[1].tick_params(length=0)
    label(
        axes[1],
        f"block {block + 1}: what its heads attend to\n(white 0, blue 1)"
        if looks
        else "only attention attends\nto other characters",
    )
    likeliest = np.argsort(-chances[step])[:5]
    drawn = axes[2].barh(range(5), chances[step][likeliest], color=BLUE)
    axes[2].bar_label(drawn, [f"{chance:.2f}" for chance in chances[step][likeliest]], fontsize=8.5, padding=2)
    axes[2].set_yticks(range(5), ["end" if not token else names.ALPHABET[token] for token in likeliest])
    axes[2].invert_yaxis()
    axes[2].set_xlim(0, 1.15)
    follows = signs[place + 1] if place + 1 < len(signs) else "end"
    label(axes[2], f"what would come next, if w_out\nread the stream here (in fact: {follows})", "probability")
    return figure


def changes(modules: names.Modules, temperature: float = 0.8, seed: int = 1) -> Table:
    """Names that the model writes, and its loss on held-out names, with one part removed at a time."""
    some, state = names.census()[1][:3], reference_values.state()
    rows, usual = [], [names.logits(modules, names.tokens(name)) for name in some]
    for change in names.CHANGES:
        rng = np.random.default_rng(seed)
        said = " ".join(names.sample(modules, rng, temperature, change=change) or "(nothing)" for _ in range(3))
        cost = names.costs(modules, change, state).mean()
        changed = [names.logits(modules, names.tokens(name), change) for name in some]
        if change != names.NOTHING and all(map(np.array_equal, usual, changed)):
            said = (
                "(no difference: either your decoder already lacks this part and fails its check, "
                "or your code for it is not in the function that was replaced)"
            )
        rows.append((change, f"{cost:.2f}", said))
    return Table(rows, ("without", "loss on held-out names", "what it writes"))
