"""Pure Python loops over queries and keys; dependencies by changing one number at a time, in both directions."""

import numpy as np


def causal_mask(t):
    mask = []
    for query in range(t):
        mask.append([])
        for key in range(t):
            mask[query].append(key <= query)
    return np.array(mask)


def padding_mask(lengths, t):
    mask = np.zeros((len(lengths), 1, t), dtype=bool)
    for i, length in enumerate(lengths.tolist()):
        if length < 0 or length > t:
            raise ValueError(f"length {length} is not between 0 and {t}")
        for key in range(length):
            mask[i, 0, key] = True
    return mask


def apply_mask(scores, mask):
    out = np.empty(scores.shape, scores.dtype if scores.dtype.kind == "f" else float)
    visible = np.broadcast_to(mask, scores.shape)
    for index in np.ndindex(*scores.shape):
        out[index] = scores[index] if visible[index] else float("-inf")
    return out


def dependency_matrix(f, x, delta=1e-3):
    x = np.array(x, dtype=x.dtype if x.dtype.kind == "f" else float)
    t, d = x.shape
    before = np.array(f(x.copy())).tolist()
    result = np.zeros((t, t), dtype=bool)
    for j in range(t):
        for k in range(d):
            for step in (delta, -delta):
                changed = x.copy()
                changed[j, k] += step
                after = np.array(f(changed)).tolist()
                for i in range(t):
                    if any(abs(a - b) > 1e-8 for a, b in zip(after[i], before[i])):
                        result[i, j] = True
    return result


def is_autoregressive(f, x):
    depends = dependency_matrix(f, x)
    for query in range(len(depends)):
        for key in range(query + 1, len(depends)):
            if depends[query, key]:
                return False
    return True
