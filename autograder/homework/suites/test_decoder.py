"""Hidden tests of decoder.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import by_columns, criterion, leaves_no_trace, single, turned, worked_examples


def decoder(rng, vocab, d, n_blocks):
    """The parameters of a decoder, all different."""

    def draw(**shapes):
        return {name: rng.normal(0, shape[0] ** -0.5, shape) for name, shape in shapes.items()}

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
    """A decoder without blocks that predicts successor[i] after token i, by a large margin."""
    vocab = len(successor)
    ends = {"embedding": 10 * np.eye(vocab), "w_out": np.eye(vocab)[successor], "b_out": np.zeros(vocab)}
    return {**ends, "blocks": []}


def biased(b_out):
    """A decoder without blocks whose logits are b_out at every position, so equal entries are exact ties."""
    vocab = len(b_out)
    ends = {"embedding": np.eye(vocab, 2), "w_out": np.zeros((2, vocab)), "b_out": np.array(b_out)}
    return {**ends, "blocks": []}


@criterion("decoder.example")
def test_worked_examples(check):
    worked_examples(check, "decoder")


@criterion("decoder.positions")
def test_sines_and_cosines_alternate_over_an_even_width(check):
    for t, d_model in [(1, 6), (600, 2), (2, 2), (17, 34)]:
        check.positional_encoding(t, d_model)
    check.positional_encoding(t=4, d_model=8)
    for t, d_model in [(4, 1), (1, 3)]:
        check.raises(ValueError).positional_encoding(t, d_model)
    leaves_no_trace(check, "positional_encoding", (3, 4), (3, 6))


@criterion("decoder.embed")
def test_looks_up_rows_of_the_table_and_no_others(check, rng):
    table = rng.normal(size=(5, 6))
    for tokens in ([4, 0, 3, 4], list(range(5)), [4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]):
        check.embed(np.array(tokens), table)
    for tokens in ([-1], [2, -1, 0], [2, 5, 0], [-2, 1], [6, 1], [1, 2, 5], [100], [0, -6]):
        check.raises(ValueError).embed(np.array(tokens), table)
    check.raises(ValueError).embed(np.array([1]), table[:1])
    check.embed(np.array([0, 0, 0]), np.array([[2.0]]))
    check.embed(np.array([2]), by_columns(table))
    check.embed(tokens=np.array([3, 1], dtype=np.int32), table=single(rng.normal(size=(40, 3))))


@criterion("decoder.embed")
def test_looking_up_leaves_no_trace(check, rng):
    first, second = ((np.array(tokens), rng.normal(size=(5, 3))) for tokens in ([1, 4], [2, 0]))
    leaves_no_trace(check, "embed", first, second)


@criterion("decoder.logits")
def test_texts_and_decoders_of_every_size(check, rng):
    for tokens, vocab, d, n_blocks, n_heads in [
        (np.arange(20) % 5, 5, 4, 1, 2), ([2], 5, 4, 1, 4), ([0, 0], 1, 2, 2, 1), ([1, 2, 3, 0], 4, 4, 3, 1),
        ([6, 6, 2], 33, 2, 0, 1), ([1], 2, 2, 0, 2), ([3, 1, 2, 0], 5, 6, 2, 3),
    ]:  # fmt: skip
        check.decoder_logits(np.array(tokens), decoder(rng, vocab, d, n_blocks), n_heads)
    params = turned(decoder(rng, 5, 4, 2))
    params["w_out"] = params["embedding"].T
    check.decoder_logits(np.array([1, 2]), params, 2)
    tokens, params = np.array([3, 0, 4], dtype=np.int32), single(decoder(rng, 5, 4, 2))
    check.decoder_logits(tokens=tokens, params=params, n_heads=2)


@criterion("decoder.logits")
def test_logits_leave_no_trace(check, rng):
    first, second = ((np.array(tokens), decoder(rng, 5, 4, 1), 2) for tokens in ([3, 0, 1], [1, 4, 2]))
    leaves_no_trace(check, "decoder_logits", first, second)
    check.untouched.decoder_logits(np.arange(5), first[1], 2)


@criterion("decoder.log_prob")
def test_adds_the_log_probability_of_every_token_but_the_first(check, rng):
    for tokens, vocab, d, n_blocks, n_heads in [
        ([3], 7, 6, 2, 3), ([0], 1, 2, 0, 1), ([1, 1], 2, 2, 0, 2), (np.arange(20) % 5, 33, 4, 1, 2),
    ]:  # fmt: skip
        check.sequence_log_prob(np.array(tokens), decoder(rng, vocab, d, n_blocks), n_heads)
    tokens, params = np.array([3, 0, 4], dtype=np.int32), single(decoder(rng, 5, 4, 2))
    check.sequence_log_prob(tokens=tokens, params=params, n_heads=2)


@criterion("decoder.log_prob")
def test_large_logits_do_not_overflow(check, rng):
    params = decoder(rng, 4, 2, 0)
    params["embedding"][:, 0] = [3000, -2500, 900, 0]
    params["w_out"][0] = [1, 1, 1, -1]
    check.sequence_log_prob(np.array([0, 2, 0, 1]), params, 1)
    for size in (2e3, -2e3):
        check.sequence_log_prob(np.array([1, 0, 2]), biased([size, size + 1, size - 0.5]), 1)


@criterion("decoder.log_prob")
def test_a_long_text_may_be_nearly_impossible(check):
    check.sequence_log_prob(np.zeros(90, dtype=int), biased([0.0, 9.0]), 1)


@criterion("decoder.log_prob")
def test_scoring_leaves_no_trace(check, rng):
    first, second = ((np.array(tokens), decoder(rng, 5, 4, 1), 2) for tokens in ([3, 0, 1], [1, 4, 2]))
    leaves_no_trace(check, "sequence_log_prob", first, second)
    check.untouched.sequence_log_prob(np.array([2]), first[1], 2)


CIRCLE = [1, 2, 3, 4, 5, 0]


@criterion("decoder.generate")
def test_each_token_depends_on_the_whole_text(check, rng):
    params = decoder(rng, 10, 6, 2)
    check.generate(np.array([0, 4]), params, 2, 3)
    check.generate(np.array([0, 4]), params, 2, 0)
    check.generate(np.array([7]), decoder(rng, 8, 4, 1), n_heads=1, max_new_tokens=2)
    check.generate(np.array([7, 7, 7]), decoder(rng, 33, 4, 0), 4, 1)
    check.generate(tokens=np.array([4], dtype=np.int32), params=single(follows(CIRCLE)), n_heads=1, max_new_tokens=9)
    check.generate(np.arange(20) % 6, follows(CIRCLE), 2, 1)
    check.generate(np.array([0]), biased([-2.0]), 1, 9)


@criterion("decoder.generate")
def test_long_texts(check):
    # Only the position of the last token counts, so that a text of which the beginning is left out goes on otherwise.
    params = {"embedding": np.zeros((2, 2)), "blocks": [], "w_out": 2 * np.eye(2), "b_out": np.zeros(2)}
    check.generate(np.array([0, 1] * 6), params, 1, 20)


@criterion("decoder.generate")
def test_the_lowest_id_wins_a_tie(check):
    check.generate(np.array([1]), biased([1.0, 1.00001, 0.5]), 1, 1)
    check.generate(np.array([1, 2]), biased([-1.0, -1.0, -1.0]), 1, 1)
    check.generate(np.array([0]), biased([-3.0, -2.0, -1.0, -1.0]), 1, 2)


@criterion("decoder.generate")
def test_generation_leaves_no_trace(check, rng):
    first, second = (
        (np.array(tokens), follows(after), 1, 2) for tokens, after in (([0, 4], CIRCLE), ([0, 3], [5, 0, 1, 2, 3, 4]))
    )
    leaves_no_trace(check, "generate", first, second)
    check.untouched.generate(np.array([1]), second[1], 1, 0)


@criterion("decoder.stopping")
def test_stops_right_after_an_eos_of_its_own(check):
    # 0 and 4 follow one another; the 0 at the end of the prompt does not count.
    check.generate(np.array([3, 0]), follows([4, 3, 1, 5, 0, 2]), 1, 5, eos=0)
    check.generate(np.array([3, 0]), follows([4, 3, 1, 5, 0, 2]), 1, 5, eos=2)
    check.generate(np.array([3, 2]), follows([1, 2, 2, 0]), 1, 3, 2)
    check.generate(np.array([1, 5]), follows(CIRCLE), 1, 6, 5)
    check.generate(
        np.array([3]), biased([*np.zeros(299), 1.0]), 1, 2, 299
    )  # an int that Python does not keep only once
    for prompt, eos, most in [
        ([4], 0, 4),
        ([4], 1, 3),
        ([3, 4], 3, 5),
        ([3, 2], 3, 6),
        ([0, 1], 0, 3),
        ([4, 1], 4, 5),
    ]:
        check.generate(np.array(prompt), follows(CIRCLE), 1, most, eos)


@criterion("decoder.stopping")
def test_an_eos_that_cannot_come(check):
    check.generate(np.array([3, 5]), follows(CIRCLE), 1, 0, eos=5)
    check.generate(np.array([3, 5, 3]), follows(CIRCLE), 1, 0, eos=5)
    check.generate(np.array([5, 1]), follows(CIRCLE), 1, 2, eos=1)


@criterion("decoder.stopping")
def test_goes_on_where_no_eos_is_given(check):
    check.generate(np.array([1, 4]), follows([4, 3, 1, 5, 0, 2]), 1, 2)
    check.generate(np.array([5]), follows(CIRCLE), 1, 7, None)


@criterion("decoder.dtype")
def test_float32_stays_float32(check, rng):
    check.dtype.positional_encoding(5, 4)
    params = single(decoder(rng, 5, 4, 1))
    check.dtype.embed(np.array([3, 0]), params["embedding"])
    check.dtype.decoder_logits(np.array([3, 0, 1]), params, 2)
    check.dtype.decoder_logits(np.array([2]), {**params, "blocks": []}, 1)
