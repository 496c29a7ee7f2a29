"""Reads address 0, writes over its own code, and aborts."""

import ctypes
import os


def layer_norm(*_, **__):
    ctypes.string_at(0)


def rms_norm(*_, **__):
    ctypes.memset(id(int), 0, 400)
    return 1 + 1


def layer_norm_backward(*_, **__):
    os.abort()
