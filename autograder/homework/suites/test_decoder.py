"""Hidden tests of decoder.py. Only the inputs of `example` are public: they stand in the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


def decoder(rng, vocab, d, n_blocks, dtype=np.float64):
    """The parameters of a decoder, with no two alike."""

    def draw(**shapes):
        return {name: rng.normal(0, shape[0] ** -0.5, shape).astype(dtype) for name, shape in shapes.items()}

    def block(h):
        return {
            "ln_1": draw(gamma=(d,), beta=(d,)),
            "attention": draw(w_q=(d, d), w_k=(d, d), w_v=(d, d), w_o=(d, d)),
            "ln_2": draw(gamma=(d,), beta=(d,)),
            "ffn": draw(w_1=(d, h), b_1=(h,), w_2=(h, d), b_2=(d,)),
        }

    ends = draw(embedding=(vocab, d), w_out=(d, vocab), b_out=(vocab,))
    return {**ends, "blocks": [block(d + 1 + i) for i in range(n_blocks)]}


def follows(successor):
    """A decoder without blocks whose most likely token after i is successor[i], far ahead of the others."""
    vocab = len(successor)
    ends = {"embedding": 10 * np.eye(vocab), "w_out": np.eye(vocab)[successor], "b_out": np.zeros(vocab)}
    return {**ends, "blocks": []}


def biased(b_out):
    """A decoder without blocks whose logits are b_out everywhere, so that equal entries are exact ties."""
    vocab = len(b_out)
    ends = {"embedding": np.eye(vocab, 2), "w_out": np.zeros((2, vocab)), "b_out": np.array(b_out)}
    return {**ends, "blocks": []}


@criterion("decoder.example")
def test_worked_examples(check):
    check.positional_encoding(3, 4)
    check.embed(np.array([2, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    w_out = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    params = {"embedding": 0.5 * np.eye(2), "blocks": [], "w_out": w_out, "b_out": np.array([0.0, 0.0, -3.0])}
    check.decoder_logits(np.array([0, 1]), params, 1)


@criterion("decoder.positions")
def test_sines_and_cosines_alternate_over_an_even_width(check):
    for t in (1, 70):
        check.positional_encoding(t, 6)
    check.raises(ValueError).positional_encoding(4, 1)


@criterion("decoder.embed")
def test_looks_up_rows_of_the_table_and_no_others(check, rng):
    table = rng.normal(size=(5, 6))
    check.embed(np.array([4, 0, 3, 4]), table)
    for wrong in (-1, 5):
        check.raises(ValueError).embed(np.array([2, wrong, 0]), table)


@criterion("decoder.logits")
def test_the_past_arrives_and_the_future_does_not(check, rng):
    params = decoder(rng, 5, 6, 2)
    before = check.pure.decoder_logits(np.array([3, 1, 4, 0]), params, 3)
    after = check.decoder_logits(np.array([3, 1, 2, 0]), params, 3)
    assert np.allclose(before[:2], after[:2])
    assert not np.isclose(before[3], after[3]).any()


@criterion("decoder.logits")
def test_a_longer_text_is_seen_as_a_whole(check, rng):
    check.decoder_logits(np.arange(20) % 5, decoder(rng, 5, 4, 1), 2)


@criterion("decoder.logits")
def test_one_token_is_enough(check, rng):
    check.decoder_logits(np.array([2]), decoder(rng, 5, 4, 1), 2)


@criterion("decoder.log_prob")
def test_adds_the_log_probability_of_every_token_but_the_first(check, rng):
    params = decoder(rng, 7, 6, 2)
    check.pure.sequence_log_prob(np.array([1, 6, 6, 0, 3]), params, 3)
    check.sequence_log_prob(np.array([3]), params, 3)


@criterion("decoder.log_prob")
def test_large_logits_do_not_overflow(check, rng):
    params = decoder(rng, 4, 2, 0)
    params["embedding"][:, 0] = [3000, -2500, 900, 0]
    params["w_out"][0] = [1, 1, 1, -1]
    check.sequence_log_prob(np.array([0, 2, 0, 1]), params, 1)


@criterion("decoder.generate")
def test_each_token_depends_on_the_whole_text(check, rng):
    params = decoder(rng, 10, 6, 2)
    check.pure.generate(np.array([0, 4]), params, 2, 3)
    check.generate(np.array([0, 4]), params, 2, 0)


@criterion("decoder.generate")
def test_the_lowest_id_wins_a_tie(check):
    check.generate(np.array([4, 0]), biased([0.5, 2.0, 1.0, 2.0, 2.0]), 1, 2)
    check.generate(np.array([1]), biased([1.0, 1.001, 0.5]), 1, 1)


@criterion("decoder.stopping")
def test_stops_right_after_an_eos_of_its_own(check):
    # 0 and 4 follow one another; the 0 at the end of the prompt does not count.
    check.generate(np.array([3, 0]), follows([4, 3, 1, 5, 0, 2]), 1, 5, eos=0)
    check.generate(np.array([3, 0]), follows([4, 3, 1, 5, 0, 2]), 1, 5, eos=2)


@criterion("decoder.stopping")
def test_goes_on_where_no_eos_is_given(check):
    check.generate(np.array([1, 4]), follows([4, 3, 1, 5, 0, 2]), 1, 2)
    check.generate(np.array([1, 4]), follows([1, 2, 3, 4, 5, 0]), 1, 2)


@criterion("decoder.dtype")
def test_float32_stays_float32(check, rng):
    params = decoder(rng, 5, 4, 1, np.float32)
    check.dtype.positional_encoding(5, 4)
    check.dtype.embed(np.array([3, 0]), params["embedding"])
    check.dtype.decoder_logits(np.array([3, 0, 1]), params, 2)


@criterion("decoder.dtype")
def test_integers_count_as_float64(check, rng):
    ends = {"embedding": rng.integers(-5, 5, (4, 6)), "w_out": rng.integers(-5, 5, (6, 4)), "b_out": np.arange(4)}
    check.dtype.decoder_logits(np.array([3, 0, 1]), {**ends, "blocks": []}, 2)
