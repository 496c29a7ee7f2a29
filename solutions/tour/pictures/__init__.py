"""The pictures of transformer.ipynb.

Each function draws one picture, with the functions of yours that it is given, and returns a matplotlib Figure or a table. Your
modules are arguments, so the pictures show what your code does.
"""

from tour.pictures.attention import (
    attention_steps,
    before_or_after,
    dependencies,
    dice,
    masks_side_by_side,
    similarity,
    sizes_of_scores,
    two_heads,
    weighted_sum,
    weights_of_cat,
)
from tour.pictures.blocks import depth, depth_table, gradient_bars, lost_and_kept, scale_returns, users
from tour.pictures.drawings import decoder_drawing, geometry, heads_drawing, stream_drawing
from tour.pictures.names import (
    additions,
    attention_maps,
    changes,
    first_name,
    journey,
    ladder,
    likely,
    next_letter,
    written,
)
from tour.pictures.norms import (
    both_norms_on_a_table,
    gradient_through_norm,
    influences,
    layer_norm_steps,
    sigmoid_zones,
    small_variances,
    two_norms,
)
from tour.pictures.training import designs, finished_run, gradient_check, models_so_far
from tour.pictures.words import byte_pairs, cost, generation, in_context, positions, reach, relative_positions

__all__ = [
    "additions",
    "attention_maps",
    "attention_steps",
    "before_or_after",
    "both_norms_on_a_table",
    "byte_pairs",
    "changes",
    "cost",
    "decoder_drawing",
    "dependencies",
    "depth",
    "depth_table",
    "designs",
    "dice",
    "finished_run",
    "first_name",
    "generation",
    "geometry",
    "gradient_bars",
    "gradient_check",
    "gradient_through_norm",
    "heads_drawing",
    "in_context",
    "influences",
    "journey",
    "ladder",
    "layer_norm_steps",
    "likely",
    "lost_and_kept",
    "masks_side_by_side",
    "models_so_far",
    "next_letter",
    "positions",
    "reach",
    "relative_positions",
    "scale_returns",
    "sigmoid_zones",
    "similarity",
    "sizes_of_scores",
    "small_variances",
    "stream_drawing",
    "two_heads",
    "two_norms",
    "users",
    "weighted_sum",
    "weights_of_cat",
    "written",
]
