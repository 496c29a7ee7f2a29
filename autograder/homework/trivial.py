"""Code that computes nothing: zeros, a constant, an argument returned, an exception, None. It must earn nothing."""

from autograder.homework import reference, rubric
from autograder.homework.mistakes import Mistake
from autograder.homework.texts import text_of

TRIVIAL = {
    "zeros": "return _like(_right(*args, **kwargs), 0)",
    "constant": "return _like(_right(*args, **kwargs), 1)",
    "first_argument": "return _first(_right(*args, **kwargs), args)",
    "always_value_error": "raise ValueError('no')",
    "nothing": "return None",
}
_TRIVIAL_SOURCE = """
{right}

def _like(right, value):
    if isinstance(right, tuple):
        return tuple(_like(part, value) for part in right)
    if isinstance(right, np.ndarray):
        return np.full_like(right, value)
    return {{key: str(value) for key in right}} if isinstance(right, dict) else type(right)(value)

def _first(right, args):
    first = args[0] if args else None
    return tuple(first for _ in right) if isinstance(right, tuple) else first

def {function}(*args, **kwargs):
    {body}
"""


def trivial(module: str, function: str) -> tuple[Mistake, ...]:
    """Code that computes nothing, even where it knows the right shape: it must earn nothing."""
    right = text_of(reference.functions()[function]).replace(f"def {function}(", "def _right(", 1)
    graded = tuple(c.id for c in rubric.current().of(module) if function in c.grades)
    said = ("It computes nothing yet.", "Write it.", "the docstring")
    return tuple(
        Mistake(
            module,
            function,
            name,
            graded,
            *said,
            whole=_TRIVIAL_SOURCE.format(right=right, function=function, body=body),
        )
        for name, body in TRIVIAL.items()
    )
