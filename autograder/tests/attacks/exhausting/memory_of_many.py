"""Holds as much memory as one process may have in each of the processes that a submission has at once."""

MODULES = ("layernorm", "batchnorm_comparison", "scaled_attention", "causal_mask", "transformer_block", "decoder")
NEEDS = ("limits",)
HOLD = '''
held = []
try:
    while len(held) < 60:
        held.append(bytearray(b"x") * (8 * 2**20))
except MemoryError:
    pass
'''
OTHERS = ("batchnorm_comparison", "scaled_attention", "causal_mask", "transformer_block", "decoder")
EXTRA = {f"{name}.py": HOLD for name in OTHERS}

held = []
try:
    while len(held) < 60:
        held.append(bytearray(b"x") * (8 * 2**20))
except MemoryError:
    pass


def layer_norm(x, *_, **__):
    return x


rms_norm = layer_norm_backward = layer_norm
