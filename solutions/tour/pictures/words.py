"""Pictures of positions, of words in context, of generation and its cost."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tour import names
from tour.plotting import BLUE, GREEN, MINUS_TO_PLUS, PURPLE, RED, canvas, heat, label, legend, outline
from tour.tables import Table


def positions(decoder: Any, t: int = 40, d_model: int = 32) -> Figure:
    encoding = decoder.positional_encoding(t, d_model)
    figure, axes = canvas(10.4, 3.1, 2, f"{t} positions, {d_model} features: from fast waves to slow ones")
    axes[0].imshow(encoding.T, cmap=MINUS_TO_PLUS, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    label(axes[0], "purple -1, white 0, orange 1", "position", "feature")
    for column, colour, style in ((0, BLUE, "-"), (1, RED, "--"), (d_model // 2, GREEN, "-.")):
        axes[1].plot(encoding[:, column], style, color=colour, label=f"feature {column}")
    legend(axes[1], loc="upper right", ncols=3)
    axes[1].set_ylim(-1.1, 1.6)
    label(axes[1], "three of the features", "position")
    for axis in axes:
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def relative_positions(decoder: Any, t: int = 40, d_model: int = 32, position: int = 20) -> Figure:
    """Dot products of position vectors: all pairs, and those of one position, by distance."""
    encoding = decoder.positional_encoding(t, d_model)
    products = encoding @ encoding.T / (d_model / 2)
    figure, axes = canvas(10.4, 3.1, 2, f"Dot products of {t} position vectors, divided by {d_model // 2}")
    axes[0].imshow(products, cmap=MINUS_TO_PLUS, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    label(axes[0], "all pairs of positions", "position", "position")
    place = min(position, t - 1)
    for row, colour, style, width in ((place, BLUE, "-", 4), (0, PURPLE, "--", 2)):
        axes[1].plot(np.arange(t) - row, products[row], style, color=colour, linewidth=width, label=f"position {row}")
    legend(axes[1], title=f"{position} is beyond the last position" if place < position else None)
    axes[1].set_ylim(-0.4, 1.2)
    label(axes[1], "two of its rows, by distance", "distance: the other position minus this one")
    return figure


def in_context(stages: Sequence[tuple[str, np.ndarray]], words: Sequence[str], same: Sequence[int]) -> Figure:
    """Draw the first three entries of each word's vector after each part; rows of the same word are framed."""
    figure, axes = canvas(10.4, 3.1, len(stages), "Seven tokens through the decoder: the first three features of each")
    for axis, (name, vectors) in zip(axes, stages, strict=True):
        heat(axis, vectors[:, :3], name, 3, across="feature")
        axis.set_yticks(range(len(words)), words)
        for row in same:
            outline(axis, row, 0, 1, 3)
    return figure


def generation(decoder: Any, params: Any, words: Sequence[str], prompt: Sequence[int], new_tokens: int = 5) -> Figure:
    """Greedy generation: for each new token the context, the probabilities of all words, and the choice."""
    tokens = decoder.generate(np.array(prompt), params, 1, new_tokens, eos=len(words) - 1)
    text = [words[i] for i in tokens]
    contexts = range(len(prompt), len(tokens))
    title = " ".join([*text[: len(prompt)], "|", *text[len(prompt) :]])
    figure, axes = canvas(10, 1.6 + 0.42 * max(1, len(contexts)), 1, title)
    chances = np.zeros((max(1, len(contexts)), len(words)))
    for row, n in enumerate(contexts):
        known = decoder.sequence_log_prob(tokens[:n], params, 1)
        for word in range(len(words)):
            longer = decoder.sequence_log_prob(np.append(tokens[:n], word), params, 1)
            chances[row, word] = np.exp(longer - known)
    heat(axes[0], chances if contexts else np.full(chances.shape, np.nan), "", form=".2f" if contexts else "")
    axes[0].set_xticks(range(len(words)), words)
    axes[0].set_yticks(range(len(chances)), [" ".join(text[:n]) for n in contexts] or ["(nothing new)"])
    label(axes[0], "what comes next, given the words on the left; framed: chosen", "probability of the next word")
    for row, n in enumerate(contexts):
        outline(axes[0], row, int(tokens[n]))
    return figure


def reach(hops: dict[str, Any], t: int = 64) -> Figure:
    """Draw the number of steps between two tokens, by their distance, in three kinds of network."""
    figure, axes = canvas(8, 2.8, 1, f"How far a signal has to travel between two of {t} tokens")
    distances = np.arange(1, t)
    for (name, steps), colour, style in zip(hops.items(), (RED, GREEN, BLUE), ("-", "--", "-."), strict=True):
        axes[0].plot(distances, [steps(n) for n in distances], style, color=colour, label=name)
    legend(axes[0])
    label(axes[0], "", "distance of the two tokens", "steps in between")
    return figure


def cost(d: int = 768, new_tokens: int = 1024) -> Figure:
    """Multiplications in one block for reading a text, by its length, and for writing one, with and without a cache."""
    lengths = 2.0 ** np.arange(4, 17)
    figure, axes = canvas(10.4, 3.3, 2, f"Multiplications in one block of width {d}")
    matrices, scores = 12 * lengths * d**2, 2 * lengths**2 * d
    for values, colour, style, name in (
        (matrices, BLUE, "-", "matrices and MLP: 12 t d²"),
        (scores, RED, "--", "scores and weighted values: 2 t² d"),
    ):
        axes[0].plot(lengths, values, style, color=colour, label=name)
    axes[0].set_xscale("log", base=2)
    axes[0].set_yscale("log")
    axes[0].axvline(6 * d, color="black", linewidth=0.8)
    legend(axes[0])
    label(axes[0], f"reading t tokens (black: t = 6 d = {6 * d})", "t")
    t = np.arange(1, new_tokens + 1)
    again, cached = np.cumsum(12 * t * d**2 + 2 * t**2 * d), np.cumsum(12 * d**2 + 2 * t * d)
    axes[1].plot(t, again, "--", color=RED, label="everything recomputed for each token")
    axes[1].plot(t, cached, "-", color=BLUE, label="keys and values cached")
    axes[1].set_yscale("log")
    legend(axes[1])
    label(
        axes[1],
        f"writing {new_tokens} tokens: {again[-1] / cached[-1]:.0f} times as many without a cache",
        "tokens written",
    )
    return figure


def byte_pairs(merges: int = 10, example: str = "shannon") -> Table:
    """Byte pair encoding of the training names: the most frequent pair of adjacent tokens becomes one token, again and again."""
    words, shown, rows = [[*name] for name in names.census()[0]], [*example], []
    letters = sum(map(len, words))
    for n in range(merges + 1):
        counts = Counter(pair for word in words for pair in itertools.pairwise(word))
        pair, count = counts.most_common(1)[0]
        rows.append((f"{n}", " ".join(shown), f"{letters / sum(map(len, words)):.2f}", "".join(pair), f"{count:,}"))
        words, shown = [merged(word, pair) for word in words], merged(shown, pair)
    return Table(rows, ("merges", "tokens", "letters per token, all names", "merged next", "occurrences"))


def merged(word: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Return the tokens of a word, with each occurrence of the pair as one token."""
    found: list[str] = []
    for token in word:
        if found and (found[-1], token) == pair:
            found[-1] += token
        else:
            found.append(token)
    return found
