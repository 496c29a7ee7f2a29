"""Code that computes nothing: zeros, a constant, an argument returned, an exception, None. It must earn nothing."""

import inspect

from autograder.homework import reference, rubric
from autograder.homework.mistakes import Mistake, text_of

TRIVIAL = {
    "zeros": "_like(_shape_{function}(*args), 0)",
    "constant": "_like(_shape_{function}(*args), 1)",
    "always_value_error": "_refuse()",
    "nothing": "None",
}
_TRIVIAL_SOURCE = """
{right}

def _shape_{function}(*args):
    try:
        return _right_{function}(*args)
    except ValueError:
        return 0

def _like(right, value):
    if isinstance(right, tuple):
        return tuple(_like(part, value) for part in right)
    if isinstance(right, np.ndarray):
        return np.full_like(right, value)
    return {{key: str(value) for key in right}} if isinstance(right, dict) else type(right)(value)

def _refuse():
    raise ValueError("no")

def _given(right, args, number):
    return tuple(args[number] for _ in right) if isinstance(right, tuple) else args[number]

def {function}({parameters}):
    args = ({names})
    return {body}
"""


def trivial(module: str, function: str) -> tuple[Mistake, ...]:
    """Code that computes nothing, even where it knows the right shape: it must earn nothing."""
    signature = inspect.signature(reference.functions()[function])
    right = text_of(reference.functions()[function]).replace(f"def {function}(", f"def _right_{function}(", 1)
    graded = tuple(c.id for c in rubric.current().of(module) if function in c.grades)
    said = ("It computes nothing yet.", "Write it.", "the docstring")
    returned = {
        f"returns_{name}": f"_given(_shape_{{function}}(*args), args, {number})"
        for number, name in enumerate(signature.parameters)
    }
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    parameters = str(inspect.Signature(plain))[1:-1]
    names = "".join(f"{name}, " for name in signature.parameters)
    return tuple(
        Mistake(
            module,
            function,
            name,
            graded,
            *said,
            whole=_TRIVIAL_SOURCE.format(
                right=right,
                function=function,
                parameters=parameters,
                names=names,
                body=body.format(function=function),
            ),
        )
        for name, body in (TRIVIAL | returned).items()
    )
