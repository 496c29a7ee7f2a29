"""Is as large as an upload may be, and has processes started: a copy for each would fill a small file system in the memory."""

MODULES = ("layernorm", "transformer_block", "decoder")
EXTRA = {"transformer_block.py": "", "decoder.py": "", "table.csv": "0" * 19_800_000}


def layer_norm(*_, **__):
    return 0
