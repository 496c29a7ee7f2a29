"""Public checks of decoder.py. They use the modules that your decoder.py imports."""

from typing import Any

import numpy as np
from student_calls import Caller

# A decoder without blocks: four tokens, four features; each token is followed by the next id, 3 by 0.
CYCLE: dict[str, Any] = {
    "embedding": 9 * np.eye(4),
    "blocks": [],
    "w_out": np.array([[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]),
    "b_out": np.array([-0.5, 0.0, 0.0, 0.0]),
}
# A decoder that gives every next token the same probabilities, 1/5 and 4/5.
COIN: dict[str, Any] = {
    "embedding": np.zeros((2, 2)),
    "blocks": [],
    "w_out": np.zeros((2, 2)),
    "b_out": np.log([2.0, 8.0]),
}
TWO, HALF, ZERO = np.diag([2.0, 1.0, 1.0, 1.0]), np.diag([0.5, 1.0, 1.0, 1.0]), np.zeros((4, 4))
NORM = {"gamma": np.array([2.0, 1.0, 1.0, 0.5]), "beta": np.array([-0.5, 0.0, 1.0, 0.0])}
SMALL: dict[str, Any] = {
    "embedding": np.array([[4.0, 0.0, 1.0, 0.0], [0.0, 4.0, 0.0, 2.0], [6.0, -2.0, 1.0, 1.0]]),
    "blocks": [
        {
            "ln_1": NORM,
            "attention": {"w_q": TWO, "w_k": HALF, "w_v": TWO, "w_o": HALF},
            "ln_2": NORM,
            "ffn": {
                "w_1": TWO,
                "b_1": np.array([-0.5, 0.0, 0.0, 0.0]),
                "w_2": TWO,
                "b_2": np.array([-1.0, 0.5, 0.0, 1.0]),
            },
        },
        {
            "ln_1": NORM,
            "attention": {"w_q": ZERO, "w_k": ZERO, "w_v": ZERO, "w_o": ZERO},
            "ln_2": NORM,
            "ffn": {
                "w_1": TWO,
                "b_1": np.array([0.5, 0.0, 0.0, 0.0]),
                "w_2": TWO,
                "b_2": np.array([0.5, 0.0, 0.0, 0.0]),
            },
        },
    ],
    "w_out": np.array([[0.5, 0.0, 2.0], [0.0, 1.0, -1.0], [0.5, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    "b_out": np.array([-1.0, 0.5, -0.5]),
}


def test_positions(call: Caller) -> None:
    call.positional_encoding(3, 6).gives(
        np.array(
            [
                [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
                [0.841471, 0.540302, 0.046399, 0.998923, 0.002154, 0.999998],
                [0.909297, -0.416147, 0.092699, 0.995694, 0.004309, 0.999991],
            ]
        )
    )


def test_positions_of_another_width(call: Caller) -> None:
    """A table that is kept for the next call must have its width too."""
    call.positional_encoding(2, 2).gives(np.array([[0.0, 1.0], [0.841471, 0.540302]]))
    call.positional_encoding(2, 4).gives(np.array([[0.0, 1.0, 0.0, 1.0], [0.841471, 0.540302, 0.01, 0.99995]]))


def test_position_of_one_token(call: Caller) -> None:
    call.positional_encoding(1, 4).gives(np.array([[0.0, 1.0, 0.0, 1.0]]))


def test_positions_of_odd_width(call: Caller) -> None:
    call.positional_encoding(3, 5).raises(ValueError, because="d_model must be even")
    call.positional_encoding(4, 1).raises(ValueError, because="d_model must be even")


def test_position_far_from_the_start(call: Caller) -> None:
    call.positional_encoding(600, 4).then("row 599", lambda table: table[599]).gives(
        np.array([0.864521, -0.502596, -0.289003, 0.957328])
    )


def test_embedding(call: Caller) -> None:
    table = np.array([[9.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    call.embed(np.array([2, 0, 2, 1]), table).gives(np.array([[5.0, 6.0], [9.0, 2.0], [5.0, 6.0], [3.0, 4.0]]))


def test_embedding_of_tokens_that_are_not_in_the_table(call: Caller) -> None:
    table = np.array([[9.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    call.embed(np.array([0, 3]), table).raises(ValueError, because="the ids are 0, 1 and 2 here")
    call.embed(np.array([0, -1]), table).raises(ValueError, because="a token cannot be negative")


def test_embedding_of_further_tokens(call: Caller) -> None:
    table = np.array([[9.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    call.embed(np.array([1, 0]), table).gives(np.array([[3.0, 4.0], [9.0, 2.0]]))
    call.embed(np.array([2]), table).gives(np.array([[5.0, 6.0]]))
    call.embed(
        np.array(
            [1, 0, 1],
        ),
        table.astype(np.float32),
    ).gives(np.array([[3.0, 4.0], [9.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    call.embed(np.array([4]), table).raises(ValueError, because="the ids are 0 to 3 here")
    call.embed(np.array([7, 0]), table).raises(ValueError, because="the ids are 0 to 3 here")
    call.embed(np.array([-1, 7]), table).raises(ValueError, because="the ids are 0 to 3 here")


def test_logits_without_blocks(call: Caller) -> None:
    call.decoder_logits(np.array([0, 1, 2]), {**SMALL, "blocks": []}, 2).gives(
        np.array([[1.5, 2.5, 7.5], [-0.574265, 8.040252, -0.35741], [2.964648, 0.083653, 17.734542]])
    )


def test_logits(call: Caller) -> None:
    call.decoder_logits(np.array([0, 1, 2]), SMALL, 2).gives(
        np.array([[15.292066, 3.133977, 60.32909], [-1.365191, 14.15897, -8.484833], [15.855637, 0.650316, 67.049204]])
    )


def test_logits_of_three_blocks(call: Caller) -> None:
    """With a single head."""
    three = {**SMALL, "blocks": [*SMALL["blocks"], SMALL["blocks"][0]]}
    call.decoder_logits(np.array([2, 0]), three, 1).gives(
        np.array([[22.419286, 2.282273, 90.710377], [22.539011, 2.960372, 88.521413]])
    )


def test_logits_of_one_token(call: Caller) -> None:
    call.decoder_logits(np.array([1]), {**SMALL, "blocks": []}, 2).gives(np.array([[-1.0, 8.5, -2.5]]))


def test_logits_of_another_model(call: Caller) -> None:
    """Two features; the logits are log 2 and log 8 for every token."""
    call.decoder_logits(np.array([0, 1, 0]), COIN, 1).gives(
        np.array([[0.693147, 2.079442], [0.693147, 2.079442], [0.693147, 2.079442]])
    )
    call.decoder_logits(np.array([1, 0, 0, 1]), COIN, 1).gives(np.array(4 * [[0.693147, 2.079442]]))
    call.decoder_logits(np.array([0, 1, 2, 1]), {**SMALL, "blocks": []}, 2).gives(
        np.array(
            [
                [1.5, 2.5, 7.5],
                [-0.574265, 8.040252, -0.35741],
                [2.964648, 0.083653, 17.734542],
                [-0.914442, 6.509558, -0.228217],
            ]
        )
    )


def test_logits_of_a_long_text(call: Caller) -> None:
    """The last token attends to all forty; the first is unlike the others."""
    params = {**SMALL, "blocks": SMALL["blocks"][:1], "embedding": SMALL["embedding"] * np.array([[9.0], [1.0], [1.0]])}
    tokens = np.array([0, *39 * [1]])
    call.decoder_logits(tokens, params, 2).then("row 39", lambda logits: logits[39]).gives(
        np.array([-1.890172, 12.331602, -8.765261])
    )


def test_future_stays_hidden(call: Caller) -> None:
    """Only the last token differs, so only the last row of the logits may differ."""
    first_rows = call.decoder_logits(np.array([0, 1, 2]), SMALL, 2).then("rows 0 and 1", lambda y: y[:2])
    first_rows.agrees_with(call.decoder_logits(np.array([0, 1, 0]), SMALL, 2).then("rows 0 and 1", lambda y: y[:2]))


def test_log_prob(call: Caller) -> None:
    """log(4/5 * 4/5 * 1/5): the row before a token scores it; the first token is not scored."""
    call.sequence_log_prob(np.array([0, 1, 1, 0]), COIN, 1).gives(-2.05572502)
    call.sequence_log_prob(np.array([0, 2, 1]), SMALL, 2).gives(-65.555408)


def test_log_prob_of_one_token(call: Caller) -> None:
    call.sequence_log_prob(np.array([1]), COIN, 1).gives(0.0)


def test_log_prob_of_an_unlikely_text(call: Caller) -> None:
    """The probability of the text, exp(-900), is too small for a float."""
    call.sequence_log_prob(np.array(21 * [0]), {**COIN, "b_out": np.array([0.0, 45.0])}, 1).gives(-900.0)


def test_log_prob_of_large_logits(call: Caller) -> None:
    large = {**CYCLE, "embedding": np.array([[90.0] * 4, [9000.0] * 4, [90000.0] * 4, [0.0] * 4]) * np.eye(4)}
    call.sequence_log_prob(np.array([0, 1, 2]), large, 1).gives(0.0)


def test_generate(call: Caller) -> None:
    call.generate(np.array([2, 1]), CYCLE, 1, 5).gives(np.array([2, 1, 2, 3, 0, 1, 2]))


def test_generate_until_eos(call: Caller) -> None:
    """eos is kept; the 3 in the prompt does not count."""
    call.generate(np.array([3, 1]), CYCLE, 1, 5, eos=3).gives(np.array([3, 1, 2, 3]))
    call.generate(np.array([1, 3]), CYCLE, 1, 6, eos=3).gives(np.array([1, 3, 0, 1, 2, 3]))
    call.generate(np.array([2]), CYCLE, 1, 5, eos=0).gives(np.array([2, 3, 0]))


def test_generate_until_an_eos_with_a_large_id(call: Caller) -> None:
    many = {"embedding": np.zeros((300, 2)), "blocks": [], "w_out": np.zeros((2, 300)), "b_out": np.arange(300.0)}
    call.generate(np.array([0]), many, 1, 5, eos=299).gives(np.array([0, 299]))


def test_generate_nothing(call: Caller) -> None:
    call.generate(np.array([3, 1]), CYCLE, 1, 0).gives(np.array([3, 1]))


def test_generate_from_the_whole_text(call: Caller) -> None:
    """The embedding is zero here: the next token depends only on the position of the last one."""
    positions = {"embedding": np.zeros((2, 2)), "blocks": [], "w_out": 2 * np.eye(2), "b_out": np.array([0.5, 0.5])}
    call.generate(np.array([0]), positions, 1, 5).gives(np.array([0, 1, 0, 0, 0, 1]))
    call.generate(np.array([0]), {**positions, "b_out": np.array([0.5, 0.25])}, 1, 5).gives(
        np.array([0, 1, 0, 0, 0, 0])
    )


def test_lowest_id_wins_a_tie(call: Caller) -> None:
    tie = {**COIN, "b_out": np.array([0.5, 0.5])}
    call.generate(np.array([1]), tie, 1, 2).gives(np.array([1, 0, 0]))


def test_nothing_is_drawn_at_random(call: Caller) -> None:
    """Both tokens are equally likely at every step: sampling gives twenty zeros once in a million times."""
    call.generate(np.array([1]), {**COIN, "b_out": np.array([0.5, 0.5])}, 1, 20).gives(np.array([1, *20 * [0]]))


def test_float32_stays_float32(call: Caller) -> None:
    params = {name: SMALL[name].astype(np.float32) for name in ("embedding", "w_out", "b_out")}
    call.decoder_logits(np.array([0, 1]), {**params, "blocks": []}, 1).gives(
        np.array([[1.5, 2.5, 7.5], [-0.574265, 8.040253, -0.35741]], dtype=np.float32)
    )
