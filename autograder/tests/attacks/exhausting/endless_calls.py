"""Never ends: catches whatever is thrown at it, computes in C with the lock held, or stops itself with SIGSTOP."""

import os
import signal


def layer_norm(*_, **__):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def rms_norm(*_, **__):
    return 3 ** (3**17)  # a number of ten million digits


def layer_norm_backward(*_, **__):
    os.kill(os.getpid(), signal.SIGSTOP)
