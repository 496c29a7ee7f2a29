"""A module that uses no other asks for all functions of all modules, under names with dots, slashes and methods."""

from forge import questions

MODULE = "causal_mask"
NAMES = (
    "causal_mask.causal_mask", "layernorm.layer_norm", "scaled_attention.softmax", "decoder.generate",
    "concept_check.answers", "layernorm.causal_mask", "causal_mask", "causal_mask.causal_mask.__globals__",
    "os.system", "builtins.open", "../layernorm.layer_norm", "", ".", "layernorm.",
)  # fmt: skip


def causal_mask(t):
    for name in NAMES:
        for args in ((), (t,)):
            try:
                answer = questions().function(name)(*args)
            except Exception:
                continue
            raise RuntimeError(f"SUCCEEDED: {name} was answered with {answer!r}"[:200])
    return None


padding_mask = apply_mask = dependency_matrix = is_autoregressive = causal_mask
