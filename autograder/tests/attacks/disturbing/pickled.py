"""Returns objects that run code when they are unpickled, compared, shown, hashed, iterated or thrown away."""

import numpy as np

NEEDS = ("landlock",)


def leave_mark():
    open("/tmp/hostile-mark", "w").close()


class Trap(dict):
    def __reduce__(self):
        return leave_mark, ()

    def run(self, *_, **__):
        leave_mark()

    __eq__ = __hash__ = __repr__ = __str__ = __iter__ = __len__ = __float__ = __array__ = __del__ = keys = items = run


def layer_norm(x, *_, **__):
    return Trap()


def rms_norm(x, *_, **__):
    return np.array([Trap()], dtype=object)


def layer_norm_backward(*_, **__):
    return [Trap(), (Trap(), {1: Trap()})], Trap, Trap().run
