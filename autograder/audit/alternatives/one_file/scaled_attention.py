"""One file: imports the functions from the student's own everything.py."""

from everything import merge_heads, multi_head_attention, scaled_dot_product_attention, softmax, split_heads

__all__ = ["merge_heads", "multi_head_attention", "scaled_dot_product_attention", "softmax", "split_heads"]
