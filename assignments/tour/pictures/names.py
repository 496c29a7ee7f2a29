"""Pictures of the model of names: what it writes, what it finds likely, and where its heads look."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tour import names
from tour.brushes import BLUE, GREEN, GREY, PURPLE, RED, ZERO_TO_ONE, canvas, heat, ink, label
from tour.examples import size
from tour.tables import Table

WRITTEN = 12  # names in one go


def written(modules: names.Modules, temperature: float = 0.8, seed: int = 1, change: str = "nothing") -> Table:
    """Names from the model; which of them are on the list that it was trained on."""
    rng = np.random.default_rng(seed)
    trained, apart = names.census()
    rows = []
    for name in (names.sample(modules, rng, temperature, change=change) for _ in range(WRITTEN)):
        known = "trained on" if name in trained else "a real name that it has never seen" if name in apart else "new"
        rows.append((name or "(nothing)", known))
    return Table(rows, (f"temperature {temperature:.1f}", "on the list?"))


def likely(modules: names.Modules, yours: str = "ada") -> Figure:
    """Nats a character: names it was trained on, names it has never seen, the same scrambled, and one of yours."""
    trained, apart = names.census()
    rng = np.random.default_rng(0)
    some = [[str(name) for name in rng.choice(group, 60, replace=False)] for group in (trained, apart)]
    scrambled = ["".join(rng.permutation(list(name))) for name in some[1]]
    groups = (("trained on", some[0], BLUE), ("never seen", some[1], GREEN), ("never seen, scrambled", scrambled, RED))
    figure, axes = canvas(10, 3.2, 2, "How surprising is a name? Nats a character, by your sequence_log_prob")
    for row, (_, group, colour) in enumerate(groups):
        costs = np.array([names.nats(modules, one) for one in group])
        axes[0].plot(costs, row + rng.uniform(-0.25, 0.25, len(costs)), ".", color=colour, markersize=5)
        axes[0].plot(costs.mean(), row, "|", color="black", markersize=22, markeredgewidth=2)
        axes[0].text(costs.mean(), row + 0.33, f"mean {costs.mean():.2f}", ha="center", fontsize=8.5)
    letters = names.text(names.tokens(yours))
    cost = names.nats(modules, letters)
    axes[0].plot(cost, 3, "D", color=PURPLE)
    axes[0].text(cost, 3.33, f"{cost:.2f}", ha="center", fontsize=8.5)
    axes[0].axvline(np.log(27), color=GREY, linestyle=":")
    axes[0].text(np.log(27), -0.75, " 27 characters by chance", fontsize=8, va="center")
    axes[0].set_yticks(range(4), [*(name for name, *_ in groups), f"yours: {letters}"])
    axes[0].set_ylim(-1, 3.8)
    label(axes[0], "60 names each; black: the mean", "nats a character")
    _by_character(axes[1], modules, letters)
    return figure


def _by_character(axes: Any, modules: names.Modules, name: str) -> None:
    """The surprise at each character of a name: differences of your sequence_log_prob."""
    written = names.tokens(name)
    totals = [
        modules.decoder.sequence_log_prob(written[:n], names.model(), names.HEADS) for n in range(1, len(written) + 1)
    ]
    costs = -np.diff(totals)
    drawn = axes.bar(range(len(costs)), costs, color=PURPLE)
    axes.bar_label(drawn, [f"{cost:.1f}" for cost in costs], fontsize=8)
    axes.set_xticks(range(len(costs)), [*name, "end"])
    axes.set_ylim(0, 1.15 * max(costs.max(), 1))
    label(axes, "yours, character by character", "", "nats")


def next_letter(modules: names.Modules, start: str = "jenn", temperature: float = 1.0) -> Figure:
    """The probability of each next character after the beginning of a name."""
    begun = names.tokens(start, ended=False)
    scores = modules.decoder.decoder_logits(begun, names.model(), names.HEADS)[-1]
    chances = modules.scaled_attention.softmax(scores / temperature)
    figure, axes = canvas(10, 2.7, 1, f'What comes after "{names.text(begun)}", at temperature {temperature:.1f}')
    drawn = axes[0].bar(range(27), chances, color=BLUE)
    axes[0].bar_label(drawn, [f"{chance:.2f}" if chance >= 0.005 else "" for chance in chances], fontsize=8)
    axes[0].set_xticks(range(27), ["end", *names.ALPHABET[1:]])
    axes[0].set_ylim(0, 1.1)
    label(axes[0], "", "", "probability")
    return figure


def attention_maps(modules: names.Modules, name: str = "christopher", block: int = 1) -> Figure:
    """The weights of the four heads of a block, over the characters of a name."""
    tokens = names.tokens(name or "a", ended=False)
    weights = names.trace(modules, tokens).weights[block - 1]
    figure, axes = canvas(10.4, 3.2, names.HEADS, f"Block {block}: where each character of .{names.text(tokens)} looks")
    for head, axis in enumerate(axes):
        heat(
            axis,
            weights[head],
            _kind(weights[head], tokens, head + 1),
            form="",
            words=["." if not t else names.ALPHABET[t] for t in tokens],
        )
        label(axis, axis.get_title(), "looks at", "character" if head == 0 else "")
    return figure


def _kind(weights: np.ndarray, tokens: np.ndarray, head: int) -> str:
    """How much of its weight a head gives to the character itself, to the one before, and to vowels."""
    vowels = np.array([names.ALPHABET[token] in "aeiouy" for token in tokens])
    rows = np.arange(1, len(weights))
    itself, before = weights[rows, rows].mean(), weights[rows, rows - 1].mean()
    return f"head {head}: itself {itself:.0%},\none before {before:.0%}, vowels {weights[1:, vowels].sum(axis=1).mean():.0%}"


def additions(modules: names.Modules, name: str = "christopher") -> Figure:
    """The residual stream of a name: how much each part adds, and how large the sum has become."""
    tokens = names.tokens(name, ended=False)
    parts = names.trace(modules, tokens).added
    stream = np.cumsum([vectors for _, vectors in parts], axis=0)
    title = f"The residual stream of .{names.text(tokens)}: what each part adds"
    figure, axes = canvas(10.4, 3.3, 2, title, width_ratios=(3, 2))
    sizes = np.array([size(vectors) for _, vectors in parts])
    heat(axes[0], sizes / sizes.max(), "size of what is added, a column a character", form="")
    for (i, j), value in np.ndenumerate(sizes):
        colour = ink(ZERO_TO_ONE(value / sizes.max()))
        axes[0].text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, color=colour)
    axes[0].set_xticks(range(len(tokens)), ["." if not t else names.ALPHABET[t] for t in tokens])
    axes[0].set_yticks(range(len(parts)), [part for part, _ in parts])
    drawn = axes[1].barh(range(len(parts)), size(stream).mean(axis=1), color=BLUE)
    axes[1].bar_label(drawn, fmt="%.2f", fontsize=8, padding=2)
    axes[1].set_yticks(range(len(parts)), [f"+ {part}" for part, _ in parts])
    axes[1].invert_yaxis()
    label(axes[1], "size of the stream so far, mean over characters", "")
    return figure


def changes(modules: names.Modules, temperature: float = 0.8, seed: int = 1) -> Table:
    """What the model writes, and what real names cost it, with one thing taken out at a time."""
    _, apart = names.census()
    some = apart[:: len(apart) // 20]
    rows, usual = [], [names.logits(modules, names.tokens(name)) for name in some[:3]]
    for change in names.CHANGES:
        rng = np.random.default_rng(seed)
        said = " ".join(names.sample(modules, rng, temperature, change=change) or "(nothing)" for _ in range(3))
        cost = np.mean([names.changed_nats(modules, name, change) for name in some])
        changed = [names.logits(modules, names.tokens(name), change) for name in some[:3]]
        if change != names.CHANGES[0] and all(map(np.array_equal, usual, changed)):
            said = "(no difference: your decoder does not call the function of yours that has been replaced)"
        rows.append((change, f"{cost:.2f}", said))
    return Table(rows, ("taken out", "nats a character on unseen names", "what it writes"))
