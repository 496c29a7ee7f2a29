"""Stops itself with SIGSTOP: it uses no processor time, and does not answer."""

import os
import signal


def layer_norm(*_, **__):
    os.kill(os.getpid(), signal.SIGSTOP)
