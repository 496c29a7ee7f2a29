"""Submissions that leave reference code of one process for a later one, or use it where they should not have it.

No layer of the sandbox prevents this; the order of the processes does (docs/explanation/processes.md).
"""

from pathlib import Path

from autograder.tests.files import HOMEWORK
from autograder.tests.attacks import attack

CARRY = {"carry.py": Path(__file__).with_name("carry.py").read_text()}
CHAINS = {f"bits/{chain}/{'d/' * 18}x": "" for chain in range(350)}  # as in carry.py
BELOW = ("layernorm", "scaled_attention", "causal_mask", "transformer_block")  # decoder gets their references


def stubs(channel: str, *modules: str) -> dict[str, str]:
    """Modules without a solution: their functions are references that were left through a channel, if any."""
    return {f"{module}.py": _stub(channel, module) for module in modules}


def _stub(channel: str, module: str) -> str:
    lines = [
        f"{name} = partial(carry.call, {module!r}, {name!r}, {channel!r})"
        for name in HOMEWORK.rubric.modules[module].functions
    ]
    return "\n".join(["from functools import partial", "import carry", *lines])


@attack("decoder", *BELOW, extra={**CARRY, **CHAINS, **stubs("times", *BELOW)})
def references_in_access_times():
    """decoder leaves the references of four modules in the access times of folders."""
    import carry

    if carry.references():
        carry.leave_in_times(carry.references())


@attack("decoder", *BELOW[:2], extra={**CARRY, **stubs("names", *BELOW[:2])})
def references_in_names():
    """decoder leaves the references of two modules in names that the kernel remembers."""
    import carry

    carry.leave_in_names({name: code for name, code in carry.references().items() if name in ("layernorm", "scaled_attention")})


# Correct except for one function, so that the reference replaces it in the second try of the integration.
PARTLY = (HOMEWORK.solutions / "batchnorm_comparison.py").read_text() + "\n\ndef influence(*_, **__):\n    return 0\n"


@attack("layernorm", "batchnorm_comparison", "integration", earns=11, extra={**CARRY, "batchnorm_comparison.py": PARTLY})
def reference_of_the_second_try():
    """layernorm uses its own reference, which the one of batchnorm_comparison needs, when all modules run together."""
    import carry

    def every_function(*_, **__):
        return 1 / 0

    OWN = carry.defined(carry.references(), "layernorm")
    layer_norm, rms_norm = OWN.get("layer_norm", every_function), OWN.get("rms_norm", every_function)


@attack(extra=CARRY)
def reference_of_a_helper():
    """layer_norm_backward runs again with the reference of layer_norm, which is left for the next process."""
    import carry

    carry.leave_in_names(carry.references())

    def layer_norm(*args, **kwargs):
        return carry.call("layernorm", "layer_norm", "names", *args, **kwargs)

    def rms_norm(*_, **__):
        return 1 / 0

    def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
        return layer_norm(x, gamma, gamma, eps), gamma, gamma
