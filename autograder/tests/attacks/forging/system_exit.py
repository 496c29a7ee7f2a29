"""Raises SystemExit(0), KeyboardInterrupt and GeneratorExit, which no `except Exception` stops."""


def layer_norm(*_, **__):
    raise SystemExit(0)


def rms_norm(*_, **__):
    raise KeyboardInterrupt


def layer_norm_backward(*_, **__):
    raise GeneratorExit
