"""Eight questions. Enter one letter for each in answers() below.

All variances are population variances. Unless a question says otherwise, gamma is 1 and beta is 0.

q1. The features of a token have variance 1e-5. Layer norm is applied with eps = 1e-5. What is the variance of
    the normalised features?
    a) 1, as after every layer norm.
    b) 1/2, because the variance becomes var / (var + eps).
    c) 1e-5, because eps cancels the effect of the division.
    d) 2, because dividing by a small number makes the result large.

q2. Two tokens are x and 2x + 3, and eps is negligible. Can the learned gamma and beta of a layer norm restore the
    difference between them?
    a) Yes: with suitable gamma and beta, a layer norm returns its input, whatever the input is.
    b) Partly: gamma can restore the factor 2, but beta cannot restore the shift by 3.
    c) No: both tokens have the same layer norm, for every gamma and beta.
    d) They need not: the two results differ anyway, because the two means differ.

q3. A network is a chain of ten scalar layers x + f(x). In every layer the derivative of f is -0.5. How does
    the derivative of the whole network compare with 1?
    a) It is at least 1, because a residual connection adds 1 to every factor.
    b) It is exactly 1, because gradients pass through additions unchanged.
    c) It is 1.5 to the power 10, about 58, because the magnitudes of both paths add up.
    d) It is 0.5 to the power 10, about 0.001; a residual connection is no guarantee.

q4. Queries and keys have d_k independent components with mean 0 and variance 1. Why are the scores divided by
    sqrt(d_k)?
    a) The magnitude of the scores is about d_k, and dividing by sqrt(d_k) reduces it to about 1.
    b) The scores have mean 0 and standard deviation sqrt(d_k); after the division it is 1.
    c) Otherwise the weights of a query would not sum to 1.
    d) The scores have standard deviation d_k, and dividing by d_k itself would be too much.

q5. Someone applies the softmax to all positions, then sets the weights of future positions to 0 and changes
    nothing else. What is wrong with this?
    a) Future scores still contribute to the denominator, and the weights of a query no longer sum to 1.
    b) Nothing; it is the same as setting the scores to minus infinity before the softmax.
    c) Only the sums: the weights are too small, but future positions have no effect on them.
    d) The last position loses all of its weight, since it has no future.

q6. Consider a deep stack of pre-norm blocks at initialisation, in which the output of each sub-layer has about the same
    magnitude as a normalised input. What happens to the residual stream, the sum passed on from block to block?
    a) Its mean square stays at 1, because every block contains layer norms.
    b) Its mean square doubles with every sub-layer.
    c) It vanishes, because every layer norm divides it by its standard deviation.
    d) Its mean square grows about linearly with depth; the layer norms only bound the inputs of the sub-layers.

q7. A trained network with batch norm is in evaluation mode. One example of a batch is replaced. Which
    normalised examples change?
    a) All of them, because the mean and variance of the batch change.
    b) All except the replaced one, because its own change is normalised away.
    c) Only the replaced one, because the running statistics are constants.
    d) None, because all statistics are frozen in evaluation mode.

q8. In a decoder for next-token prediction, may the output at position i depend on token i itself?
    a) Yes: it predicts token i + 1, so token i is already known.
    b) No: a position may only attend to earlier positions, so the diagonal of the mask is False.
    c) No: the model would learn to copy its input instead of predicting.
    d) Yes, and on token i + 1 as well, as long as training uses the correct targets.
"""


def answers() -> dict[str, str]:
    """Return your answers, one letter per question.

    Returns: a dict from question id ("q1" to "q8") to "a", "b", "c" or "d". Capital letters are accepted; a missing
    question counts as wrong.

    For example, with one question answered: return {"q1": "a"}
    """
    # BEGIN SOLUTION
    return {"q1": "b", "q2": "c", "q3": "d", "q4": "b", "q5": "a", "q6": "d", "q7": "c", "q8": "a"}
    # END SOLUTION
