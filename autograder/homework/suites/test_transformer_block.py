"""Hidden tests of transformer_block.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import (
    by_columns,
    criterion,
    leaves_no_trace,
    single,
    turned,
    varied,
    worked_examples,
)
from autograder.homework.suites.masks import masked_tokens, random_mask


def block(rng, d, h, dtype=np.float64):
    """The parameters of one block, all different."""

    def draw(**shapes):
        return {name: rng.normal(0, shape[0] ** -0.5, shape).astype(dtype) for name, shape in shapes.items()}

    return {
        "ln_1": draw(gamma=(d,), beta=(d,)),
        "attention": draw(w_q=(d, d), w_k=(d, d), w_v=(d, d), w_o=(d, d)),
        "ln_2": draw(gamma=(d,), beta=(d,)),
        "ffn": draw(w_1=(d, h), b_1=(h,), w_2=(h, d), b_2=(d,)),
    }


def attention_like(h):
    """A sublayer that mixes the tokens asymmetrically."""
    return np.cumsum(h, axis=-2) - 0.5 * h**2


@criterion("transformer_block.example")
def test_worked_examples(check):
    worked_examples(check, "transformer_block")


@criterion("transformer_block.feed_forward")
def test_feeds_every_token_through_both_layers(check, rng):
    shapes, widths = [(2, 3, 4), (4,), (2, 2, 1, 3), (17, 2), (2, 4), (4, 1), (3, 3)], [7, 4, 5, 1, 3, 2, 33]
    for x, h in zip(varied(rng, *shapes), widths, strict=True):
        check.feed_forward(x, block(rng, x.shape[-1], h)["ffn"])
    x, params = single((rng.normal(size=(2, 4)), block(rng, 4, 6)["ffn"]))
    check.feed_forward(x=x, params=params)
    check.feed_forward(-np.ones(4), {**block(rng, 4, 6)["ffn"], "b_2": np.array([-9.0, 9.0, -8.0, 8.0])})


@criterion("transformer_block.feed_forward")
def test_units_on_off_and_between(check, rng):
    params = block(rng, 4, 6)["ffn"]
    check.feed_forward(np.zeros((2, 4)), {**params, "b_1": np.zeros(6)})
    check.feed_forward(rng.normal(size=(1, 4)), turned({**params, "b_1": np.full(6, -50.0)}))
    check.feed_forward(by_columns(rng.normal(size=(2, 1, 2, 3, 4))), turned(params))
    check.feed_forward(rng.normal(size=(2, 4)), {**params, "b_1": np.full(6, 50.0), "b_2": np.zeros(4)})


@criterion("transformer_block.residual")
def test_adds_what_the_sublayer_makes_of_x(check, rng):
    for x in varied(rng, (2, 5, 3), (1, 2, 2, 2), (20, 1), (1, 33)):
        check.residual(x, attention_like)
    check.residual(rng.uniform(1, 2, 4), sublayer=lambda x: x)
    check.residual(x=by_columns(rng.normal(size=(2, 4))), sublayer=lambda x: np.zeros(x.shape))
    check.residual(np.zeros((2, 4)), lambda x: np.ones(x.shape))
    check.residual(np.eye(2, 4), lambda x: -x)
    check.residual(single(rng.normal(size=(2, 4))), attention_like)


UNMASKED = {(5, 6): 3, (2, 2, 2, 6): 2, (1, 4): 1, (2, 1, 2, 3, 3): 3, (3, 2, 2): 2, (17, 8): 2, (4, 1): 1}


@criterion("transformer_block.pre_norm")
def test_normalises_before_the_sublayers(check, rng):
    for number, (x, n_heads) in enumerate(zip(varied(rng, *UNMASKED), UNMASKED.values(), strict=True)):
        check.pre_norm_block(x, block(rng, x.shape[-1], 1 + 4 * number), n_heads)
    check.pre_norm_block(-rng.uniform(1e2, 1e3, (3, 4)), turned(block(rng, 4, 5)), 2)
    x, params = single((rng.normal(1, 2, (2, 3, 4)), block(rng, 4, 5)))
    check.pre_norm_block(x=x, params=params, n_heads=2, mask=None)


@criterion("transformer_block.pre_norm")
def test_every_mask_reaches_the_attention(check, rng):
    for number, (leading, mask) in enumerate(masked_tokens(rng)[:9]):
        check.pre_norm_block(rng.normal(1, 2, (*leading, 4, 6)), block(rng, 6, 5), (2, 3, 1, 6)[number % 4], mask)
    x, params, mask = single((rng.normal(1, 2, (2, 4, 6)), block(rng, 6, 5), random_mask(rng, 4, 4)))
    check.pre_norm_block(by_columns(x), params, 2, mask=mask)


@criterion("transformer_block.post_norm")
def test_normalises_after_the_additions(check, rng):
    for number, (x, n_heads) in enumerate(zip(varied(rng, *UNMASKED), UNMASKED.values(), strict=True)):
        check.post_norm_block(x, block(rng, x.shape[-1], 1 + 4 * number), n_heads)
    check.post_norm_block(-rng.uniform(1e2, 1e3, (3, 4)), turned(block(rng, 4, 5)), 2)
    x, params = single((rng.normal(1, 2, (2, 3, 4)), block(rng, 4, 5)))
    check.post_norm_block(x=x, params=params, n_heads=2, mask=None)


@criterion("transformer_block.post_norm")
def test_every_mask_reaches_the_attention_in_post_norm(check, rng):
    for number, (leading, mask) in enumerate(masked_tokens(rng)[:9]):
        check.post_norm_block(rng.normal(1, 2, (*leading, 4, 6)), block(rng, 6, 5), (2, 3, 1, 6)[number % 4], mask)
    x, params, mask = single((rng.normal(1, 2, (2, 4, 6)), block(rng, 6, 5), random_mask(rng, 4, 4)))
    check.post_norm_block(by_columns(x), params, 2, mask=mask)


@criterion("transformer_block.stack")
def test_the_first_block_comes_first_in_both_kinds(check, rng):
    check.transformer_stack(rng.normal(size=(2, 3, 1, 1, 4)), [block(rng, 4, h) for h in (4, 2, 3)], 4, "post")
    blocks = [block(rng, 4, 5), block(rng, 4, 3)]
    check.transformer_stack(by_columns(rng.normal(size=(10, 4))), turned(blocks), 2, mask=np.tri(10, dtype=bool))
    check.transformer_stack(x=single(rng.normal(size=(3, 4))), blocks=single(blocks), n_heads=1, norm="post", mask=None)


@criterion("transformer_block.stack")
def test_one_block_may_stand_at_two_places(check, rng):
    x, params = rng.normal(size=(3, 4)), block(rng, 4, 5)
    check.keep.transformer_stack(x, [params], 1, "post")
    check.transformer_stack(x, [params, params], 1, "post")


@criterion("transformer_block.stack")
def test_every_block_has_the_mask(check, rng):
    for number, (leading, mask) in enumerate(masked_tokens(rng)[:5]):
        blocks = [block(rng, 4, h) for h in range(3, 4 + number % 3)]
        for norm in ("post", "pre"):
            check.transformer_stack(rng.normal(size=(*leading, 4, 4)), blocks, (2, 1, 4)[number % 3], norm, mask)


@criterion("transformer_block.stack")
def test_no_blocks_return_x(check, rng):
    check.transformer_stack(rng.normal(size=(4, 6)), [], 3)
    check.transformer_stack(rng.normal(size=(2, 4, 6)), [], 2, "pre", np.tri(4, dtype=bool))
    check.transformer_stack(rng.normal(size=(2, 1, 1, 1)), [], 1, "post", np.ones((1, 1), dtype=bool))


@criterion("transformer_block.norm_names")
def test_other_norms_are_refused_even_without_blocks(check, rng):
    x, blocks = rng.normal(size=(3, 4)), [block(rng, 4, 5)]
    for norm in ("Pre", "POST", "Post", " post"):
        check.raises(ValueError).transformer_stack(x, blocks, 2, norm)
    for norm in ("", "post_norm", "pr", "pre "):
        check.raises(ValueError).transformer_stack(x, [], 2, norm=norm)
    check.raises(ValueError).transformer_stack(x, [*blocks, *blocks], 2, "layer", np.tri(3, dtype=bool))
    check.transformer_stack(x, blocks, 2, "pre")


@criterion("transformer_block.gradient_flow")
def test_the_gradient_goes_from_the_last_layer_to_the_first(check, rng):
    sizes = [(12, 1), (1, 2), (2, 18), (2, 5), (4, 3)]
    gradients = varied(rng, *((d,) for _, d in sizes), start=1)
    for jacobians, grad_out in zip(varied(rng, *((n, d, d) for n, d in sizes)), gradients, strict=True):
        check.gradient_flow(0.6 * jacobians, grad_out)
        check.gradient_flow(0.6 * jacobians, grad_out, False)
    jacobians, grad_out = single((rng.normal(0, 0.6, (2, 3, 3)), rng.normal(size=3)))
    check.gradient_flow(jacobians=jacobians, grad_out=grad_out, residual=True)
    check.gradient_flow(jacobians, grad_out, residual=False)
    for residual in (True, False):
        check.gradient_flow(by_columns([-np.eye(3), rng.normal(size=(3, 3))]), rng.normal(size=3), residual)


@criterion("transformer_block.gradient_flow")
def test_a_vanishing_gradient_is_measured_by_its_own_size(check, rng):
    # All entries are of one sign: nothing cancels, so that rounding is a share of each norm, of which none is below 1e-14.
    jacobians, grad_out = rng.uniform(0.1, 0.2, (3, 3, 3)), -rng.uniform(1e-13, 2e-13, 3)
    for residual in (True, False):
        check.within(1e-22).gradient_flow(jacobians, grad_out, residual)


@criterion("transformer_block.purity")
def test_calls_of_the_small_functions_leave_no_trace(check, rng):
    first, second = ((rng.normal(size=(3, 4)), block(rng, 4, 5)["ffn"]) for _ in "12")
    leaves_no_trace(check, "feed_forward", first, second)
    leaves_no_trace(check, "residual", (first[0], attention_like), (second[0], lambda x: x))
    first, second = ((rng.normal(0, 0.6, (2, 4, 4)), rng.normal(size=4)) for _ in "12")
    leaves_no_trace(check, "gradient_flow", first, second)


@criterion("transformer_block.purity")
def test_calls_of_the_blocks_leave_no_trace(check, rng):
    masks = np.tri(3, dtype=bool), ~np.eye(3, dtype=bool)  # with a single key the scores do not matter
    first, second = ((rng.normal(size=(3, 4)), block(rng, 4, 5), 2, mask) for mask in masks)
    leaves_no_trace(check, "pre_norm_block", first, second)
    leaves_no_trace(check, "post_norm_block", first, second)
    first, second = ((x, [params, block(rng, 4, 3)], 2, "pre", mask) for x, params, _, mask in (first, second))
    leaves_no_trace(check, "transformer_stack", first, second)


@criterion("transformer_block.purity")
def test_arguments_of_every_shape_stay_as_they_are(check, rng):
    x, params, past = rng.normal(size=(2, 3, 4)), block(rng, 4, 4), np.tri(3, dtype=bool)
    blind = np.stack([past, past & np.array([[True], [False], [True]])])
    check.untouched.feed_forward(x[0, 0], params["ffn"])
    check.untouched.feed_forward(*single((x, params["ffn"])))
    check.untouched.residual(x[0, 0], lambda x: 2 * x)
    check.untouched.residual(single(x), lambda x: x)
    for given in [(*single((x[0], params)), 2), (x, params, 1, blind)]:
        check.untouched.pre_norm_block(*given)
        check.untouched.post_norm_block(*given)
    check.untouched.transformer_stack(x, [params], 2, "post", blind)
    check.untouched.transformer_stack(x[0], [], 1)
    check.untouched.raises(ValueError).transformer_stack(x[0], [params], 1, "none")
    check.untouched.gradient_flow(x[:1, :2, :2], x[0, 0, :2], False)


@criterion("transformer_block.dtype")
def test_float32_stays_float32(check, rng):
    x, params = single((rng.normal(size=(3, 4)), block(rng, 4, 5)))
    past = np.tri(3, dtype=bool)
    check.dtype.feed_forward(x, params["ffn"])
    check.dtype.feed_forward(x[0], params["ffn"])
    check.dtype.residual(x, attention_like)
    check.dtype.pre_norm_block(x, params, 2)
    check.dtype.pre_norm_block(x, params, 1, past)
    check.dtype.post_norm_block(x, params, 2)
    check.dtype.post_norm_block(x, params, 1, past)
    check.dtype.transformer_stack(x, [params], 2, "post")
    check.dtype.transformer_stack(x, [params, params], 2, "pre", past)
    check.dtype.transformer_stack(x, [], 2)
    jacobians = single(rng.normal(0, 0.6, (2, 4, 4)))
    check.dtype.gradient_flow(jacobians, x[0])
    check.dtype.gradient_flow(jacobians, x[0], False)
