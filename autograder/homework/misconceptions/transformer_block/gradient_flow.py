"""Misconceptions about gradient_flow."""

import numpy as np

from autograder.homework.library import KEPT, written

BACK = "Start with grad_out at the last layer, and multiply the gradient so far by the transpose of each Jacobian."
SKIP = "With residual=True a layer is x + f(x), so its gradient is g + J^T g."
FLOW = "the docstring of `gradient_flow`; He et al. 2016, Identity Mappings in Deep Residual Networks, equation 5"


@written
def gradient_flow(jacobians, grad_out, residual=True):
    g = grad_out
    gradients = [g]
    for jacobian in jacobians[::-1]:
        through = jacobian.T @ g
        skip = g
        g = through + skip if residual else through
        gradients.append(g)
    gradients = gradients[::-1]
    result = np.array([np.sqrt(np.sum(v**2)) for v in gradients], dtype=grad_out.dtype)
    return result


gradient_flow.wrong("no_transpose", "gradient_flow", {"jacobian.T @ g": "jacobian @ g"},
    does="Your code multiplies by the Jacobian instead of its transpose, which carries changes of the input forward instead of gradients backward.", right=BACK, read=FLOW)
gradient_flow.wrong("first_layer_first", "gradient_flow", {"in jacobians[::-1]": "in jacobians"},
    does="Your code starts with layer 1.", right=BACK, read=FLOW)
gradient_flow.wrong("output_first", "gradient_flow", {"gradients = gradients[::-1]": "gradients = gradients[:]"},
    does="Your norms are ordered from output to input.", right="Return the norm at the network's input first.", read=FLOW)
gradient_flow.wrong("without_grad_out", "gradient_flow", {"gradients = [g]": "gradients = []"},
    does="Your code leaves out the norm of grad_out itself.", right="Return L + 1 norms, with the norm of grad_out last.",
    read=FLOW)
gradient_flow.wrong("without_input", "gradient_flow", {"gradients = gradients[::-1]": "gradients = gradients[:-1][::-1]"},
    does="Your code leaves out the norm at the network's input.",
    right="Return L + 1 norms, with the norm at the network's input first.", read=FLOW)
gradient_flow.wrong("last_norm_only", "gradient_flow", {"return result": "return result[:1]"},
    {"return result": "return result[0]"},
    does="Your code returns only the norm at the network's input.", right="Return L + 1 norms.", read=FLOW)
gradient_flow.wrong("never_residual", "gradient_flow", {"through + skip if residual else through": "through"},
    does="Your code leaves out the residual path, so small Jacobians make the gradient vanish.", right=SKIP, read=FLOW)
gradient_flow.wrong("always_residual", "gradient_flow", {"through + skip if residual else through": "through + skip"},
    does="Your code adds the residual path even with residual=False.", right="With residual=False a layer is f(x), so its gradient is J^T g.",
    read=FLOW)
gradient_flow.wrong("residual_inverted", "gradient_flow", {"if residual else": "if not residual else"},
    does="Your code inverts the argument residual.", right=SKIP, read=FLOW)
gradient_flow.wrong("default_without_residual", "gradient_flow", {"residual=True": "residual=False"},
    does="Your default is residual=False.", right="The default is residual=True.",
    read="the signature of `gradient_flow`")
gradient_flow.wrong("ones_for_identity", "gradient_flow", {"skip = g": "skip = g.sum()"},
    does="Your code adds 1 to every entry of the Jacobian.", right="Add the identity matrix, np.eye(d).", read=FLOW)
gradient_flow.wrong("adds_grad_out", "gradient_flow", {"skip = g": "skip = grad_out"},
    does="Your residual path adds grad_out in every layer instead of g.", right=SKIP, read=FLOW)
gradient_flow.wrong("averaged", "gradient_flow", {"through + skip": "(through + skip) / 2"},
    does="Your code averages the two paths.", right=SKIP, read=FLOW)
gradient_flow.wrong("residual_squared", "gradient_flow", {"through + skip": "through + jacobian.T @ through + skip"},
    does="Your code multiplies by the Jacobian twice.", right=SKIP, read=FLOW)
gradient_flow.wrong("not_cumulative", "gradient_flow", {"through = jacobian.T @ g": "through = jacobian.T @ grad_out",
    "skip = g": "skip = grad_out"},
    does="Your code starts from grad_out again in every layer.", right=BACK, read=FLOW)


@gradient_flow.instead("adds_norms", "gradient_flow", does="Your code adds norms instead of gradients.",
    right="Add the gradients as vectors, then take the norm.", read=FLOW)
def gradient_flow__adds_norms(jacobians, grad_out, residual=True):
    g = grad_out
    norms = [np.sqrt(np.sum(g**2))]
    for jacobian in jacobians[::-1]:
        through = jacobian.T @ g
        norms.append(np.sqrt(np.sum(through**2)) + (norms[-1] if residual else 0))
        g = through + g if residual else through
    return np.array(norms[::-1], dtype=grad_out.dtype)


@gradient_flow.instead("product_of_norms", "gradient_flow",
    does="Your code multiplies by the norms of the Jacobians, which only gives an upper bound.", right=BACK, read=FLOW)
def gradient_flow__product_of_norms(jacobians, grad_out, residual=True):
    norms = [np.sqrt(np.sum(grad_out**2))]
    for jacobian in jacobians[::-1]:
        layer = jacobian + np.eye(len(grad_out), dtype=grad_out.dtype) if residual else jacobian
        norms.append(norms[-1] * np.linalg.norm(layer, 2))
    return np.array(norms[::-1], dtype=grad_out.dtype)


gradient_flow.wrong("clamped", "gradient_flow", {"return result": "return np.maximum(result, 1)"},
    {"return result": "return np.minimum(result, 1)"},
    {"through + skip": "through * (np.linalg.norm(through) >= 1) + skip"},
    does="Your code clips norms at 1.",
    right="Return the norms without clipping: a norm can be below or above 1.", read=FLOW)
gradient_flow.wrong("small_number_added", "gradient_flow",
    *({"return result": f"return result + {small}"} for small in ("1e-8", "1e-10", "1e-12")),
    *({"np.sum(v**2)": f"np.sum(v**2) + {small}"} for small in ("1e-8", "1e-10", "1e-12")),
    does="Your code adds a small number to each norm.", right="Return the norms unchanged, even if they are tiny.", read=FLOW)
gradient_flow.wrong("small_norms_cut", "gradient_flow", {"return result": "return np.where(result < 1e-12, 0, result)"},
    {"return result": "return np.maximum(result, 1e-12)"}, {"return result": "return np.maximum(result, 1e-8)"},
    does="Your code replaces small norms with 0 or with a lower bound.", right="Return the norms unchanged, even if they are tiny.", read=FLOW)
gradient_flow.wrong("normalised", "gradient_flow", {"return result": "return result / result[-1]"},
    does="Your code divides the norms by the norm of grad_out.", right="Return the norms unchanged.", read=FLOW)
gradient_flow.wrong("unit_gradients", "gradient_flow",
    {"gradients.append(g)": "gradients.append(g)\n        g = g / np.sqrt(np.sum(g**2))"},
    does="Your code scales the gradient to norm 1 after every layer.", right=BACK, read=FLOW)
gradient_flow.wrong("squared", "gradient_flow", {"np.sqrt(np.sum(v**2))": "np.sum(v**2)"},
    does="Your code returns squared norms, so vanishing and exploding gradients look more extreme than they are.", right="The Euclidean norm is the square root of the sum of squares.",
    read="numpy.linalg.norm")
gradient_flow.wrong("sum_of_absolute_values", "gradient_flow", {"np.sqrt(np.sum(v**2))": "np.sum(np.abs(v))"},
    does="Your code returns the sum of the absolute values.", right="The Euclidean norm is the square root of the sum of squares.", read="numpy.linalg.norm")
gradient_flow.wrong("largest_entry", "gradient_flow", {"np.sqrt(np.sum(v**2))": "np.max(np.abs(v))"},
    does="Your code returns the largest absolute value.", right="The Euclidean norm is the square root of the sum of squares.",
    read="numpy.linalg.norm")
gradient_flow.wrong("root_mean_square", "gradient_flow", {"np.sum(v**2)": "np.mean(v**2)"},
    does="Your code returns the root mean square.", right="The Euclidean norm is the square root of the sum of squares.",
    read="numpy.linalg.norm")
gradient_flow.wrong("gradients_returned", "gradient_flow", {"return result": "return np.array(gradients)"},
    does="Your code returns the gradients.", right="Return the norms: (L + 1,).", read=FLOW)
gradient_flow.wrong("list", "gradient_flow", {"return result": "return result.tolist()"},
    does="Your code returns a list.", right="Return an array.", read="numpy.array")
gradient_flow.wrong("changes_jacobians", "purity",
    {"    g = grad_out": "    if residual:\n        jacobians += np.eye(len(grad_out), dtype=jacobians.dtype)\n    g = grad_out",
    "through + skip if residual else through": "through"})
gradient_flow.wrong("changes_grad_out", "purity",
    {"g = through + skip if residual else through": "g[...] = through + skip if residual else through",
    "gradients = [g]": "gradients = [g.copy()]", "gradients.append(g)": "gradients.append(g.copy())"})
gradient_flow.wrong("remembers", "purity", {"residual=True):": "residual=True, cache={}):",
    "    g = grad_out": "    jacobians = cache.setdefault(jacobians.shape, jacobians)\n    g = grad_out"},
    memory=True, does="Your code reuses the Jacobians from an earlier call.", right="Use the Jacobians of this call.", read=KEPT)
gradient_flow.wrong("float64_result", "dtype", {", dtype=grad_out.dtype": ", dtype=float"})


EXAMPLES = {
    "gradient_flow": [
        (
            (np.array([[[0.5, 1.0], [2.0, 0.0]], [[1.0, 0.0], [-1.0, 0.5]]]), np.array([0.5, 2.0])),
            {"residual": True},
        ),
        (
            (np.array([[[0.5, 1.0], [2.0, 0.0]], [[1.0, 0.0], [-1.0, 0.5]]]), np.array([0.5, 2.0])),
            {"residual": False},
        ),
        ((np.array([[[0.5, 1.0], [2.0, 1.0]]]), np.array([2.0, 1.0])), {}),
    ],
}
