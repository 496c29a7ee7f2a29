"""A student's own file with a common name."""

import numpy as np


def floats(x):
    return x.astype(np.result_type(x, 1.0), copy=False)


def choose(name, options):
    """The option of that name, or a ValueError that lists the options."""
    for option in options:
        if name == option:
            return options[option]
    raise ValueError(f"expected one of {', '.join(options)}, got {name!r}")
