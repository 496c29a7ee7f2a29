"""Public checks of decoder.py. They use your own other modules, where it imports them."""

from typing import Any

import numpy as np
from student_calls import Caller

# A decoder without blocks: four tokens, four features.
CYCLE: dict[str, Any] = {
    "embedding": 9 * np.eye(4),
    "blocks": [],
    "w_out": np.roll(np.eye(4), 1, axis=1),  # each token is followed by the next id, 3 by 0
    "b_out": np.zeros(4),
}
COIN: dict[str, Any] = {
    "embedding": np.zeros((2, 2)),
    "blocks": [],
    "w_out": np.zeros((2, 2)),
    "b_out": np.log(np.array([0.25, 0.75])),
}


def one_block() -> dict[str, Any]:
    """A decoder with one block, whose attention averages what it sees."""
    norm = {"gamma": np.ones(2), "beta": np.zeros(2)}
    attention = {"w_q": np.zeros((2, 2)), "w_k": np.zeros((2, 2)), "w_v": np.eye(2), "w_o": np.eye(2)}
    ffn = {"w_1": np.eye(2), "b_1": np.zeros(2), "w_2": np.eye(2), "b_2": np.array([0.0, 0.5])}
    return {
        "embedding": np.array([[4.0, 0.0], [0.0, 4.0], [6.0, -2.0]]),
        "blocks": [{"ln_1": norm, "attention": attention, "ln_2": norm, "ffn": ffn}],
        "w_out": np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]),
        "b_out": np.array([0.0, 0.0, 0.5]),
    }


def test_positions(call: Caller) -> None:
    call.positional_encoding(3, 4).gives(
        np.array(
            [
                [0.0, 1.0, 0.0, 1.0],
                [0.841471, 0.540302, 0.01, 0.99995],
                [0.909297, -0.416147, 0.019999, 0.9998],
            ]
        ),
        hint="Sine in the even columns, cosine in the odd ones, positions from 0; columns 2i and 2i + 1 share a wave.",
    )
    call.positional_encoding(3, 5).raises(ValueError, hint="d_model must be even.")


def test_embedding(call: Caller) -> None:
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    call.embed(np.array([2, 0, 2, 1]), table).gives(
        np.array([[5.0, 6.0], [1.0, 2.0], [5.0, 6.0], [3.0, 4.0]]), hint="row tokens[i] of the table."
    )
    call.embed(np.array([0, 3]), table).raises(ValueError, hint="The ids are 0, 1 and 2 here.")
    call.embed(np.array([0, -1]), table).raises(ValueError, hint="NumPy takes -1 from the end; here it is an error.")


def test_logits(call: Caller) -> None:
    call.decoder_logits(np.array([0, 1, 2]), one_block(), 1).gives(
        np.array([[6.0, 0.5, 12.0], [0.841471, 6.040302, -3.857360], [8.242630, -2.249480, 19.234740]]),
        hint="embedding + positions, pre-norm stack under the causal mask, then @ w_out + b_out.",
        tolerance=1e-4,
    )


def test_future_stays_hidden(call: Caller) -> None:
    first_rows = call.decoder_logits(np.array([0, 1, 2]), one_block(), 1).then("rows 0 and 1", lambda y: y[:2])
    first_rows.agrees_with(
        call.decoder_logits(np.array([0, 1, 0]), one_block(), 1).then("rows 0 and 1", lambda y: y[:2]),
        hint="Only the last token differs, and only the last row may: pass the causal mask on to the stack.",
    )
    first_rows.gives(
        np.array([[6.0, 0.5, 12.0], [0.841471, 6.040302, -3.857360]]),
        hint="The past must arrive, though: row 1 sees tokens 0 and 1.",
        tolerance=1e-4,
    )


def test_log_prob(call: Caller) -> None:
    call.sequence_log_prob(np.array([0, 1, 1, 0]), COIN, 1).gives(
        -1.961659, hint="log(0.75 * 0.75 * 0.25): every token but the first is scored, by the row before it."
    )
    call.sequence_log_prob(np.array([1]), COIN, 1).gives(0.0, hint="The first token is given, so nothing is scored.")
    large = {**CYCLE, "w_out": 1000 * CYCLE["w_out"]}
    call.sequence_log_prob(np.array([0, 1, 2]), large, 1).gives(
        0.0, hint="Logits of about 10000 must not overflow: subtract the largest one before exp."
    )


def test_generate(call: Caller) -> None:
    call.generate(np.array([1]), CYCLE, 1, 5).gives(
        np.array([1, 2, 3, 0, 1, 2]),
        hint="The prompt, then five tokens, each chosen from the last row of the logits.",
    )
    call.generate(np.array([3, 1]), CYCLE, 1, 5, eos=3).gives(
        np.array([3, 1, 2, 3]),
        hint="Stop right after eos was produced and keep it; the 3 in the prompt does not count.",
    )
    call.generate(np.array([3, 1]), CYCLE, 1, 0).gives(np.array([3, 1]), hint="No new tokens: the prompt alone.")
    tie = {**COIN, "b_out": np.zeros(2)}
    call.generate(np.array([1]), tie, 1, 2).gives(np.array([1, 0, 0]), hint="The lowest id wins a tie.")
