"""Hidden tests of decoder.py. Only the inputs of `example` are public: they stand in the docstrings."""

import numpy as np
import pytest

from autograder.suite import criterion


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


CYCLE = [5, 3, 1, 4, 0, 2]  # 3, 4, 0, 5, 2, 1, 3, ...


@criterion("decoder.example")
def test_example_of_positional_encoding(check):
    check.positional_encoding(3, 4)


@criterion("decoder.example")
def test_example_of_embed(check):
    check.embed(np.array([2, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


@criterion("decoder.example")
def test_example_of_decoder_logits(check):
    w_out = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    params = {"embedding": 0.5 * np.eye(2), "blocks": [], "w_out": w_out, "b_out": np.array([0.0, 0.0, -3.0])}
    check.decoder_logits(np.array([0, 1]), params, 1)


@criterion("decoder.positions")
@pytest.mark.parametrize(("t", "d_model"), [(33, 6), (5, 2), (1, 8)])
def test_sines_and_cosines_alternate(check, t, d_model):
    check.positional_encoding(t, d_model)


@criterion("decoder.positions")
def test_an_odd_width_is_refused(check):
    for d_model in (1, 5):
        check.raises(ValueError).positional_encoding(4, d_model)
    check.positional_encoding(7, 10)


@criterion("decoder.positions")
def test_a_longer_sequence_has_the_same_beginning(check):
    short = check.positional_encoding(3, 4)
    assert np.allclose(check.positional_encoding(8, 4)[:3], short)


@criterion("decoder.embed")
def test_looks_up_rows_of_the_table(check, rng):
    check.pure.embed(np.array([4, 0, 6, 4]), rng.normal(size=(7, 3)))
    check.embed(np.array([1]), rng.normal(size=(2, 5)))


@criterion("decoder.embed")
@pytest.mark.parametrize("wrong", [-1, -5, 5, 9])
def test_tokens_outside_the_vocabulary_are_refused(check, rng, wrong):
    table = rng.normal(size=(5, 6))
    check.raises(ValueError).embed(np.array([2, wrong, 0]), table)
    check.embed(np.array([2, 4, 0]), table)


@criterion("decoder.logits")
@pytest.mark.parametrize(("n_blocks", "n_heads"), [(0, 1), (1, 3), (3, 2)])
def test_embeds_stacks_and_projects(check, rng, n_blocks, n_heads):
    check.decoder_logits(np.array([4, 0, 3, 3, 1]), decoder(rng, 7, 6, n_blocks), n_heads)


@criterion("decoder.logits")
def test_one_token_is_enough(check, rng):
    check.decoder_logits(np.array([2]), decoder(rng, 5, 4, 2), 2)


@criterion("decoder.logits")
def test_the_past_arrives_and_the_future_does_not(check, rng):
    params = decoder(rng, 5, 4, 2)
    before = check.pure.decoder_logits(np.array([3, 1, 4, 0]), params, 2)
    after = check.decoder_logits(np.array([3, 1, 2, 0]), params, 2)
    assert np.allclose(before[:2], after[:2])
    assert not np.isclose(before[3], after[3]).any()


@criterion("decoder.log_prob")
def test_adds_the_log_probability_of_every_token_but_the_first(check, rng):
    params = decoder(rng, 7, 6, 2)
    check.pure.sequence_log_prob(np.array([1, 6, 6, 0, 3]), params, 3)
    check.sequence_log_prob(np.array([5, 2]), params, 2)


@criterion("decoder.log_prob")
def test_one_token_has_nothing_to_score(check, rng):
    params = decoder(rng, 5, 4, 1)
    check.sequence_log_prob(np.array([3]), params, 2)
    check.sequence_log_prob(np.array([3, 0]), params, 2)


@criterion("decoder.log_prob")
def test_large_logits_do_not_overflow(check, rng):
    params = decoder(rng, 4, 2, 0)
    params["embedding"][:, 0] = [3000, -2500, 900, 0]
    params["w_out"][0] = 1
    check.sequence_log_prob(np.array([0, 2, 3, 1]), params, 1)


@criterion("decoder.generate")
@pytest.mark.parametrize("prompt", [[3, 1, 4], [2]])
def test_continues_the_prompt_greedily(check, rng, prompt):
    check.pure.generate(np.array(prompt), decoder(rng, 8, 6, 2), 2, 6)


@criterion("decoder.generate")
def test_makes_as_many_tokens_as_asked_for(check):
    for count in (0, 1, 5):
        tokens = check.generate(np.array([4, 3]), follows(CYCLE), 1, count)
        assert len(tokens) == 2 + count


@criterion("decoder.generate")
def test_the_lowest_id_wins_a_tie(check):
    for b_out in ([0.5, 2.0, 1.0, 2.0, 2.0], [-3.0, -2.0, -1.0, -1.0, -4.0]):
        check.generate(np.array([4, 0]), biased(b_out), 1, 3)


@criterion("decoder.stopping")
@pytest.mark.parametrize("eos", [4, 2, 0, None])
def test_stops_right_after_eos(check, eos):
    check.generate(np.array([1, 3]), follows(CYCLE), 1, 7, eos)


@criterion("decoder.stopping")
@pytest.mark.parametrize("prompt", [[3, 2, 0], [0, 3]])
def test_an_eos_in_the_prompt_does_not_count(check, prompt):
    check.generate(np.array(prompt), follows(CYCLE), 1, 7, eos=3)


@criterion("decoder.dtype")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_have_the_dtype_of_the_parameters(check, rng, dtype):
    params = decoder(rng, 5, 4, 1, dtype)
    check.dtype.positional_encoding(5, 6)
    check.dtype.embed(np.array([3, 0]), params["embedding"])
    check.dtype.decoder_logits(np.array([3, 0, 1]), params, 2)
