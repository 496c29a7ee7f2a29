"""Lifts the limit on recursion and recurses until the C stack is gone."""

import sys

sys.setrecursionlimit(10**9)


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x") if len(name) < 10**6 else None


def layer_norm(x, *_, **__):
    return layer_norm(x)


def rms_norm(x, *_, **__):
    return eval("(" * 5000 + ")" * 5000)


def layer_norm_backward(*_, **__):
    return repr(__import__("functools").reduce(lambda inner, _: [inner], range(10**6), []))
