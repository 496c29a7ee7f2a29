"""A student's own file: a decorator that computes in float64 and returns the caller's dtype."""

import functools

import numpy as np


def convert(value, kinds, dtype):
    """Convert every array of one of these kinds in `value` to another type; leave everything else unchanged."""
    if isinstance(value, np.ndarray):
        return value.astype(dtype) if value.dtype.kind in kinds else value
    if isinstance(value, dict):
        return {name: convert(entry, kinds, dtype) for name, entry in value.items()}
    if isinstance(value, list):
        return [convert(entry, kinds, dtype) for entry in value]
    if isinstance(value, tuple):
        return tuple(convert(entry, kinds, dtype) for entry in value)
    return value


def arrays(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        yield from arrays(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from arrays(entry)


def in_float64(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        single = any(array.dtype == np.float32 for array in arrays([args, kwargs]))
        result = function(*convert(args, "f", np.float64), **convert(kwargs, "f", np.float64))
        return convert(result, "f", np.float32) if single else result

    return wrapped
