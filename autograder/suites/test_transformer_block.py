"""Hidden tests of transformer_block.py. Only the inputs of `example` are public, from the docstrings."""

import numpy as np
import pytest

from autograder.suite import criterion


def block(rng, d, h, dtype=np.float64):
    """The parameters of one block, with no two alike."""

    def draw(**shapes):
        return {name: rng.normal(0, shape[0] ** -0.5, shape).astype(dtype) for name, shape in shapes.items()}

    return {
        "ln_1": draw(gamma=(d,), beta=(d,)),
        "attention": draw(w_q=(d, d), w_k=(d, d), w_v=(d, d), w_o=(d, d)),
        "ln_2": draw(gamma=(d,), beta=(d,)),
        "ffn": draw(w_1=(d, h), b_1=(h,), w_2=(h, d), b_2=(d,)),
    }


def attention_like(h):
    """A sub-layer that mixes the tokens, not symmetrically."""
    return np.cumsum(h, axis=-2) - 0.5 * h**2


@criterion("transformer_block.example")
def test_example_of_feed_forward(check):
    params = {
        "w_1": np.array([[1.0, -1.0, 2.0], [0.0, 1.0, 1.0]]),
        "b_1": np.array([0.0, 1.0, -2.0]),
        "w_2": np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 2.0]]),
        "b_2": np.array([0.5, -0.5]),
    }
    check.feed_forward(np.array([[2.0, 1.0], [-1.0, 1.0]]), params)


@criterion("transformer_block.example")
def test_example_of_residual(check):
    check.residual(np.array([1.5, 2.0, -0.5]), lambda x: np.array([0.8, 1.2, -0.1]))


@criterion("transformer_block.example")
def test_example_of_gradient_flow(check):
    check.gradient_flow(np.array([[[-0.5]], [[-0.5]], [[-0.5]]]), np.array([1.0]))


@criterion("transformer_block.feed_forward")
@pytest.mark.parametrize("leading", [(), (5,), (2, 3, 1)])
def test_feeds_every_token_through_both_layers(check, rng, leading):
    check.feed_forward(rng.normal(size=(*leading, 4)), block(rng, 4, 7)["ffn"])


@criterion("transformer_block.feed_forward")
def test_hidden_layer_may_be_as_wide_as_the_model(check, rng):
    check.feed_forward(rng.normal(size=(5, 4)), block(rng, 4, 4)["ffn"])


@criterion("transformer_block.residual")
def test_adds_what_the_sublayer_makes_of_x(check, rng):
    check.residual(rng.normal(size=5), lambda x: np.tanh(x) - 2)
    check.residual(rng.normal(size=(2, 4, 3)), attention_like)


@criterion("transformer_block.residual")
def test_accepts_whole_numbers(check):
    check.residual(np.array([[3, -1, 2], [0, 4, 1]]), lambda x: 0.25 * x[::-1] + 0.1)


@criterion("transformer_block.pre_norm")
@pytest.mark.parametrize(("shape", "n_heads"), [((5, 6), 2), ((2, 4, 6), 3)])
def test_normalises_before_the_sublayers(check, rng, shape, n_heads):
    check.pre_norm_block(rng.normal(1, 2, shape), block(rng, 6, 9), n_heads)


@criterion("transformer_block.pre_norm")
def test_the_mask_reaches_the_attention(check, rng):
    x, params = rng.normal(1, 2, (3, 5, 4)), block(rng, 4, 7)
    check.pre_norm_block(x[0], params, 2, np.tri(5, dtype=bool))
    check.pre_norm_block(x, params, 2, mask=np.arange(5) < np.array([4, 1, 2])[:, None, None])


@criterion("transformer_block.post_norm")
@pytest.mark.parametrize(("shape", "n_heads"), [((5, 6), 2), ((2, 4, 6), 3)])
def test_normalises_after_the_additions(check, rng, shape, n_heads):
    check.post_norm_block(rng.normal(1, 2, shape), block(rng, 6, 9), n_heads)


@criterion("transformer_block.post_norm")
def test_the_mask_reaches_the_attention_of_post_norm(check, rng):
    x, params = rng.normal(1, 2, (3, 5, 4)), block(rng, 4, 7)
    check.post_norm_block(x[0], params, 2, np.tri(5, dtype=bool))
    check.post_norm_block(x, params, 2, mask=np.arange(5) < np.array([4, 1, 2])[:, None, None])


@criterion("transformer_block.stack")
def test_the_first_block_comes_first(check, rng):
    x, blocks = rng.normal(size=(4, 6)), [block(rng, 6, h) for h in (3, 5, 7)]
    check.transformer_stack(x, blocks, 3)
    check.transformer_stack(x, blocks, 2, norm="post")


@criterion("transformer_block.stack")
def test_every_block_has_the_mask(check, rng):
    x, blocks = rng.normal(size=(2, 5, 4)), [block(rng, 4, 3), block(rng, 4, 5)]
    check.transformer_stack(x, blocks, 2, mask=np.tri(5, dtype=bool))
    check.transformer_stack(x, blocks, 2, "post", np.arange(5) < np.array([4, 2])[:, None, None])


@criterion("transformer_block.stack")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_no_blocks_return_x(check, rng, norm):
    x = rng.normal(size=(3, 4))
    check.transformer_stack(x, [], 2, norm)
    check.transformer_stack(x, [block(rng, 4, 3)], 2, norm)


@criterion("transformer_block.norm_names")
def test_other_norms_are_refused(check, rng):
    x, blocks = rng.normal(size=(3, 4)), [block(rng, 4, 5)]
    for norm in ("Pre", "none", "p", ""):
        check.raises(ValueError).transformer_stack(x, blocks, 2, norm)
    check.transformer_stack(x, blocks, 2, "post")


@criterion("transformer_block.norm_names")
def test_other_norms_are_refused_without_blocks(check, rng):
    x = rng.normal(size=(3, 4))
    for norm in ("POST", "batch"):
        check.raises(ValueError).transformer_stack(x, [], 2, norm)
    check.transformer_stack(x, [block(rng, 4, 5)], 2, "pre")


@criterion("transformer_block.gradient_flow")
@pytest.mark.parametrize("residual", [True, False])
def test_the_gradient_goes_from_the_last_layer_to_the_first(check, rng, residual):
    check.gradient_flow(rng.normal(0, 0.6, (4, 3, 3)), rng.normal(size=3), residual)


@criterion("transformer_block.gradient_flow")
def test_layers_are_residual_by_default(check, rng):
    norms = check.gradient_flow(rng.normal(0, 0.6, (1, 5, 5)), rng.normal(size=5))
    assert norms.shape == (2,)


@criterion("transformer_block.gradient_flow")
def test_gradient_flow_accepts_whole_numbers(check):
    check.gradient_flow(np.array([[[1, 2], [0, -1]], [[0, 1], [3, 1]], [[2, 0], [1, 1]]]), np.array([1, 2]))


@criterion("transformer_block.purity")
def test_arguments_of_the_small_functions_stay_as_they_were(check, rng):
    x, params = rng.normal(size=(3, 4)), block(rng, 4, 5)
    check.pure.feed_forward(x, params["ffn"])
    check.pure.residual(x, attention_like)
    check.pure.gradient_flow(rng.normal(0, 0.6, (2, 4, 4)), x[0])


@criterion("transformer_block.purity")
def test_arguments_of_the_blocks_stay_as_they_were(check, rng):
    x, blocks, mask = rng.normal(size=(3, 4)), [block(rng, 4, 5), block(rng, 4, 3)], np.tri(3, dtype=bool)
    check.pure.pre_norm_block(x, blocks[0], 2, mask)
    check.pure.post_norm_block(x, blocks[0], 2, mask)
    check.pure.transformer_stack(x, blocks, 2, "pre", mask)


@criterion("transformer_block.dtype")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_have_the_dtype_of_the_arguments(check, rng, dtype):
    x, params = rng.normal(size=(3, 4)).astype(dtype), block(rng, 4, 5, dtype)
    check.dtype.feed_forward(x, params["ffn"])
    check.dtype.residual(x, attention_like)
    check.dtype.pre_norm_block(x, params, 2)
    check.dtype.post_norm_block(x, params, 2, np.tri(3, dtype=bool))
    check.dtype.transformer_stack(x, [params], 2, "post")
    check.dtype.gradient_flow(rng.normal(0, 0.6, (2, 4, 4)).astype(dtype), x[0])
