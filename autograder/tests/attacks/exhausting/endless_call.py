"""Loops for ever in one of its functions, and catches whatever is thrown at it."""


def layer_norm(*_, **__):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
