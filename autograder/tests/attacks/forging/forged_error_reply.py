"""Answers every call with an error of all built-in kinds at once, a place outside the file, and text as its hint."""

import builtins

from forge import response

MODULE = "causal_mask"
KINDS = [name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)][:31]
FORBIDDEN = ("999999", "<b>passed")


def causal_mask(*_, **__):
    response("raised", [KINDS, "passed", "passed.py", 999_999, "<b>passed</b>"])


padding_mask = apply_mask = dependency_matrix = is_autoregressive = causal_mask
