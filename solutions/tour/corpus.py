"""Texts to train on: names, words or short lines, normalised and split into entries."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tour import names

LONGEST_ENTRY, RAREST, ALPHABET_SIZE, FEWEST = 30, 3, 100, 20
MOST = 2_000_000  # characters used: more than a run of train.py with its defaults reads


class TextError(ValueError):
    """A text that cannot be learned; the message is for the student."""


class Corpus(NamedTuple):
    """Entries to train on, entries held out, and their alphabet, whose first character marks beginning and end."""

    alphabet: str
    training: list[str]
    held_out: list[str]
    report: str  # what was kept and what was dropped

    @property
    def characters(self) -> int:
        return sum(map(len, self.training)) + sum(map(len, self.held_out))


def census() -> Corpus:
    """Return the names in tour/names.txt, with the same held-out names as elsewhere in the notebook."""
    training, held_out = names.census()
    return Corpus("\n" + names.ALPHABET[1:], [*training], [*held_out], "The names of the 1990 census: a to z.")


def read_text(text: str, alphabet: str = "") -> Corpus:
    """Split a text into entries, normalise them, and hold out one in ten.

    Entries are separated by line breaks, commas and semicolons, or by spaces if there is nothing else. Normalisation:
    Unicode NFKC, lower case, one space for any run of white space. Characters that occur fewer than 3 times are
    dropped, as are all but the 100 most frequent ones. Entries of more than 30 characters are cut, at a space if
    possible. Each entry is kept once. Only the first MOST characters are used. With the alphabet of a trained model, accents are
    removed and all other characters dropped. Raises TextError.
    """
    unused, text = len(text) - MOST, text[:MOST]
    plain = unicodedata.normalize("NFKD" if alphabet else "NFKC", text).lower()
    pieces = plain.replace(",", "\n").replace(";", "\n").split("\n")
    if len([piece for piece in pieces if piece.strip()]) < 2:
        pieces = plain.split()
    pieces = [" ".join(piece.split()) for piece in pieces]
    counts = Counter("".join(pieces))
    common = [(c, n) for c, n in counts.most_common() if c.isprintable()][:ALPHABET_SIZE]
    frequent = sorted(c for c, n in common if n >= RAREST)
    known = set(alphabet or frequent)
    cleaned = [" ".join("".join(filter(known.__contains__, piece)).split()) for piece in pieces]
    entries = list(dict.fromkeys(part for piece in cleaned for part in cut(piece)))
    if len(entries) < FEWEST:
        raise TextError(f"the text has {len(entries)} different entries; training needs at least {FEWEST}")
    shuffled = np.random.default_rng(0).permutation(len(entries))
    n_held_out = max(5, len(entries) // 10)
    held_out, training = ([entries[i] for i in sorted(some)] for some in np.split(shuffled, [n_held_out]))
    total, kept = sum(map(len, pieces)), sum(map(len, cleaned))
    dropped = [c if c.isprintable() else f"U+{ord(c):04X}" for c in sorted(set("".join(pieces)) - known)]
    report = (
        (f"Only the first {MOST:,} characters are used, not the other {unused:,}. " if unused > 0 else "")
        + f"{kept:,} of {total:,} characters kept"
        + (f" (dropped: {' '.join(dropped[:20])}{' ...' if len(dropped) > 20 else ''})" if dropped else "")
        + f"; {len(entries):,} different entries, {n_held_out:,} of them held out."
    )
    return Corpus(alphabet or "\n" + "".join(frequent), training, held_out, report)


def cut(entry: str) -> Iterator[str]:
    """Cut an entry into parts of at most LONGEST_ENTRY characters."""
    while len(entry) > LONGEST_ENTRY:
        end = entry.rfind(" ", 0, LONGEST_ENTRY + 1)
        end = end if end > 0 else LONGEST_ENTRY
        yield entry[:end]
        entry = entry[end:].strip()
    if entry:
        yield entry


def batch(entries: Sequence[str], alphabet: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets, (n, t) each: the targets are one character ahead, and -1 after the end of an entry."""
    t = max(map(len, entries)) + 1
    inputs, targets = np.zeros((len(entries), t), int), np.full((len(entries), t), -1)
    for row, entry in enumerate(entries):
        tokens = [0, *map(alphabet.index, entry), 0]
        inputs[row, : len(tokens) - 1], targets[row, : len(tokens) - 1] = tokens[:-1], tokens[1:]
    return inputs, targets


def baselines(corpus: Corpus) -> dict[str, float]:
    """Return the loss on the held-out entries of three models that only count, nats per character."""
    size = len(corpus.alphabet)
    pairs = np.ones((size, size))
    for entry in corpus.training:
        tokens = [0, *map(corpus.alphabet.index, entry), 0]
        np.add.at(pairs, (tokens[:-1], tokens[1:]), 1)
    single, following = pairs.sum(axis=0) / pairs.sum(), pairs / pairs.sum(axis=1, keepdims=True)
    unseen = [np.array([0, *map(corpus.alphabet.index, entry), 0]) for entry in corpus.held_out]
    return {
        "uniform": math.log(size),
        "letters": float(np.mean([-np.log(single[some[1:]]).mean() for some in unseen])),
        "letter pairs": float(np.mean([-np.log(following[some[:-1], some[1:]]).mean() for some in unseen])),
    }
