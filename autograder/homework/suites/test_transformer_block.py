"""Hidden tests of transformer_block.py. Only the inputs of `example` are public, from the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


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
def test_worked_examples(check):
    params = {
        "w_1": np.array([[1.0, -1.0, 2.0], [0.0, 1.0, 1.0]]),
        "b_1": np.array([0.0, 1.0, -2.0]),
        "w_2": np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 2.0]]),
        "b_2": np.array([0.5, -0.5]),
    }
    check.feed_forward(np.array([[2.0, 1.0], [-1.0, 1.0]]), params)
    check.residual(np.array([1.5, 2.0, -0.5]), lambda x: np.array([0.8, 1.2, -0.1]))
    check.gradient_flow(np.array([[[-0.5]], [[-0.5]], [[-0.5]]]), np.array([1.0]))


@criterion("transformer_block.feed_forward")
def test_feeds_every_token_through_both_layers(check, rng):
    check.feed_forward(rng.normal(size=(2, 3, 4)), block(rng, 4, 7)["ffn"])


@criterion("transformer_block.feed_forward")
def test_one_token_and_a_hidden_layer_as_wide_as_the_model(check, rng):
    check.feed_forward(rng.normal(size=4), block(rng, 4, 4)["ffn"])


@criterion("transformer_block.residual")
def test_adds_what_the_sublayer_makes_of_x(check, rng):
    check.residual(rng.normal(size=(2, 4, 3)), attention_like)


@criterion("transformer_block.residual")
def test_accepts_whole_numbers(check):
    check.residual(np.array([[3, -1, 2], [0, 4, 1]]), lambda x: 0.25 * x[::-1] + 0.1)


@criterion("transformer_block.pre_norm")
def test_normalises_before_the_sublayers(check, rng):
    check.pre_norm_block(rng.normal(1, 2, (5, 6)), block(rng, 6, 9), 3)


@criterion("transformer_block.pre_norm")
def test_every_example_has_its_mask(check, rng):
    mask = np.arange(5) < np.array([4, 1, 2])[:, None, None]
    check.pre_norm_block(rng.normal(1, 2, (3, 5, 4)), block(rng, 4, 7), 2, mask=mask)


@criterion("transformer_block.post_norm")
def test_normalises_after_the_additions(check, rng):
    check.post_norm_block(rng.normal(1, 2, (5, 6)), block(rng, 6, 9), 3)


@criterion("transformer_block.post_norm")
def test_every_example_has_its_mask_in_post_norm(check, rng):
    mask = np.arange(5) < np.array([4, 1, 2])[:, None, None]
    check.post_norm_block(rng.normal(1, 2, (3, 5, 4)), block(rng, 4, 7), 2, mask=mask)


@criterion("transformer_block.stack")
def test_the_first_block_comes_first_and_no_blocks_return_x(check, rng):
    x, blocks = rng.normal(size=(4, 6)), [block(rng, 6, h) for h in (3, 5)]
    check.transformer_stack(x, blocks, 3)
    check.transformer_stack(x, [], 3, "post")


@criterion("transformer_block.stack")
def test_every_post_norm_block_has_the_mask(check, rng):
    blocks = [block(rng, 4, 3), block(rng, 4, 5)]
    check.transformer_stack(rng.normal(size=(5, 4)), blocks, 2, "post", np.tri(5, dtype=bool))


@criterion("transformer_block.norm_names")
def test_other_norms_are_refused_even_without_blocks(check, rng):
    x, blocks = rng.normal(size=(3, 4)), [block(rng, 4, 5)]
    for norm in ("Pre", "", "pre ", "prenorm"):
        check.raises(ValueError).transformer_stack(x, blocks, 2, norm)
    check.raises(ValueError).transformer_stack(x, [], 2, "none")
    check.transformer_stack(x, blocks, 2, "pre")


@criterion("transformer_block.gradient_flow")
def test_the_gradient_goes_from_the_last_residual_layer_to_the_first(check, rng):
    check.gradient_flow(rng.normal(0, 0.6, (4, 3, 3)), rng.normal(size=3))


@criterion("transformer_block.gradient_flow")
def test_whole_numbers_in_layers_without_residual(check):
    check.gradient_flow(np.array([[[1, 2], [0, -1]], [[0, 1], [3, 1]], [[2, 0], [1, 1]]]), np.array([1, 2]), False)


@criterion("transformer_block.purity")
def test_arguments_of_the_small_functions_stay_as_they_were(check, rng):
    x, params = rng.normal(size=(3, 4)), block(rng, 4, 5)
    check.pure.feed_forward(x, params["ffn"])
    check.pure.residual(x, attention_like)
    check.pure.residual(x, lambda z: z)
    check.pure.gradient_flow(rng.normal(0, 0.6, (2, 4, 4)), x[0])


@criterion("transformer_block.purity")
def test_arguments_of_the_blocks_stay_as_they_were(check, rng):
    x, params, mask = rng.normal(size=(3, 4)), block(rng, 4, 5), np.tri(3, dtype=bool)
    check.pure.pre_norm_block(x, params, 2, mask)
    check.pure.post_norm_block(x, params, 2, mask)
    check.pure.transformer_stack(x, [params], 2, "pre", mask)


@criterion("transformer_block.dtype")
def test_float32_stays_float32(check, rng):
    x, params = rng.normal(size=(3, 4)).astype(np.float32), block(rng, 4, 5, np.float32)
    check.dtype.feed_forward(x, params["ffn"])
    check.dtype.residual(x, attention_like)
    check.dtype.pre_norm_block(x, params, 2)
    check.dtype.post_norm_block(x, params, 2, np.tri(3, dtype=bool))
    check.dtype.transformer_stack(x, [params], 2, "post")
    check.dtype.gradient_flow(rng.normal(0, 0.6, (2, 4, 4)).astype(np.float32), x[0])


@criterion("transformer_block.dtype")
def test_integers_count_as_float64(check, rng):
    shapes = {"w_1": (3, 4), "b_1": (4,), "w_2": (4, 3), "b_2": (3,)}
    params = {name: rng.integers(-5, 5, shape) for name, shape in shapes.items()}
    check.dtype.feed_forward(rng.integers(-5, 5, (2, 3)), params)
