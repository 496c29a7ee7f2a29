"""Hidden tests of all modules together, without reference implementations."""

import numpy as np

from autograder.homework.suite import criterion


def decoder(rng, vocab, d, hidden_widths):
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

    return {
        **draw(embedding=(vocab, d), w_out=(d, vocab), b_out=(vocab,)),
        "blocks": [block(h) for h in hidden_widths],
    }


@criterion("integration.norms")
def test_batch_norm_is_layer_norm_of_the_transposed_table(check, rng):
    table, mean, var = rng.normal(2, 3, (5, 7)), rng.normal(size=7), rng.uniform(1, 2, 7)
    y, _, _ = check.batchnorm_comparison.batch_norm(table, np.ones(7), np.zeros(7), mean, var, True)
    assert np.allclose(y, check.layernorm.layer_norm(table.T, np.ones(5), np.zeros(5)).T)


@criterion("integration.norms")
def test_rms_norm_is_layer_norm_of_a_centred_table(check, rng):
    table, gamma = rng.normal(2, 3, (4, 6)), rng.normal(size=6)
    mean, _ = check.batchnorm_comparison.norm_moments(table, "layer")
    normed = check.layernorm.layer_norm(table, gamma, np.zeros(6), 1e-3)
    assert np.allclose(check.layernorm.rms_norm(table - mean, gamma, 1e-3), normed)


@criterion("integration.decoder")
def test_attention_is_softmax_under_the_mask(check, rng):
    scores, values = rng.normal(size=(4, 4)), rng.normal(size=(4, 3))
    mask = check.causal_mask.causal_mask(4)
    weights = check.scaled_attention.softmax(check.causal_mask.apply_mask(scores, mask))
    output, _ = check.scaled_attention.scaled_dot_product_attention(2 * scores, np.eye(4), values, mask)
    assert np.allclose(output, weights @ values)


@criterion("integration.decoder")
def test_logits_come_from_positions_blocks_and_the_mask(check, rng):
    tokens, params = np.array([3, 0, 6, 6, 2]), decoder(rng, 7, 6, (4, 9))
    x = check.decoder.embed(tokens, params["embedding"]) + check.decoder.positional_encoding(5, 6)
    mask = check.causal_mask.causal_mask(5)
    h = check.transformer_block.transformer_stack(x, params["blocks"], 3, mask=mask)
    logits = check.decoder.decoder_logits(tokens, params, 3)
    assert np.allclose(logits, h @ params["w_out"] + params["b_out"])


@criterion("integration.decoder")
def test_generated_text_is_scored(check, rng):
    params = decoder(rng, 8, 6, (5, 7))
    text = check.decoder.generate(np.array([5, 2]), params, 2, 5)
    assert check.decoder.sequence_log_prob(text, params, 2) < 0
