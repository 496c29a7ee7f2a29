"""Eight questions. Fill in one letter for each in answers() below.

Variances are population variances. Unless a question says otherwise, gamma is 1 and beta is 0.

q1. The features of a token have variance 1e-5. Layer norm is used with eps = 1e-5. What is the variance of
    the normalised features?
    a) 1, as after every layer norm.
    b) 1/2, because the variance becomes var / (var + eps).
    c) 1e-5, because eps cancels the division.
    d) 2, because dividing by a small number makes the result large.

q2. Two tokens are x and 2x + 3, and eps is so small that it does not matter. What can the learned gamma and
    beta of a layer norm do about the difference between them?
    a) Bring it back: with the right gamma and beta the layer norm returns its input, whatever the input.
    b) Bring back the factor 2 with gamma, but not the shift by 3.
    c) Nothing: both tokens have the same layer norm, for every gamma and beta.
    d) There is nothing to do: the two results differ anyway, because the two means differ.

q3. A network is a chain of ten scalar layers x + f(x). In every layer the derivative of f is -0.5. How does
    the derivative of the whole network compare with 1?
    a) It is at least 1, because a residual connection adds 1 to every factor.
    b) It is exactly 1, because gradients pass through additions unchanged.
    c) It is 1.5 to the power 10, about 58, because both paths add up in size.
    d) It is 0.5 to the power 10, about 0.001; a residual connection is no guarantee.

q4. Queries and keys have d_k independent components with mean 0 and variance 1. Why are the scores divided by
    sqrt(d_k)?
    a) The scores are about d_k in size, and dividing by sqrt(d_k) brings them to about 1.
    b) The scores have mean 0 and standard deviation sqrt(d_k), so they get standard deviation 1.
    c) Otherwise the weights of a query would not sum to 1.
    d) The scores have standard deviation d_k, and dividing by all of it would be too much.

q5. Somebody lets the softmax run over all positions and then sets the weights of future positions to 0,
    without anything further. What is wrong with it?
    a) The future still acts through the denominator, and the weights of a query no longer sum to 1.
    b) Nothing; it is the same as setting the scores to minus infinity before the softmax.
    c) Only the sums: the weights come out too small, but the future has no effect on them.
    d) The last position loses all of its weight, since it has no future.

q6. Many pre-norm blocks are stacked, at initialisation, with sub-layers whose outputs are about as large as a
    normalised input. What happens to the residual stream, the sum that is handed on from block to block?
    a) Its mean square stays at 1, because every block contains layer norms.
    b) Its mean square doubles with every sub-layer.
    c) It fades away, because every layer norm divides it by its standard deviation.
    d) Its mean square grows about linearly with depth; the layer norms bound only what the sub-layers see.

q7. A trained network with batch norm is used in evaluation mode. One example of a batch is replaced. Which
    normalised examples change?
    a) All of them, because the batch has another mean and variance now.
    b) All but the replaced one, because its own change is normalised away.
    c) Only the replaced one, because the running statistics are constants now.
    d) None, because all statistics are frozen in evaluation.

q8. In a decoder for next-token prediction, may the output at position i make use of token i itself?
    a) Yes: it predicts token i + 1, so token i is already known.
    b) No: attention may only look at earlier positions, so the diagonal of the mask is False.
    c) No: the model would learn to copy its input instead of predicting.
    d) Yes, and of token i + 1 as well, as long as training uses the right targets.
"""


def answers() -> dict[str, str]:
    """Your answers, one letter a question.

    Returns: a dict from question id ("q1" to "q8") to "a", "b", "c" or "d"; capital letters count as well, a
    missing question counts as wrong.

    An example of the form, with one question answered: return {"q1": "a"}
    """
    raise NotImplementedError("answers is not written yet")
