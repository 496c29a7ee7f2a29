"""Puts hidden arguments into the text, the name and the notes of an exception."""

SILENT = True


def layer_norm(x, *_, **__):
    error = type(f"Leak{abs(float(x.flat[0])):.6f}".replace(".", "_"), (RuntimeError,), {})(repr(x))
    error.add_note(repr(x))
    raise error from ValueError(repr(x))


def rms_norm(x, *_, **__):
    print(x, flush=True)
    raise KeyError(x.tobytes())


def layer_norm_backward(grad_out, x, *_, **__):
    raise SystemExit(repr(x))
