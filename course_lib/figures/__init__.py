"""Figures of the course: each function draws arrays and returns Axes; `show` displays them with words."""

from .base import Grid, Picture, describe, new_axes, show, table
from .heads import growth, head_maps, head_places
from .limits import block_parts, distance_curves, pair_floor
from .lookup import key_plane, lookup_planes, smoothers, value_plane, weight_curves
from .masking import floor_curves, mask_panels, weight_panels
from .projections import feature_table, feature_tables, moved_points, temperature_curves
from .recall import before_after, final_losses, prefix_rows, training_story
from .scaling import loss_bands, score_histogram, share_intervals, two_key_slope, width_panels
from .tables import heat_map, weight_bars

__all__ = [
    "Grid",
    "Picture",
    "before_after",
    "block_parts",
    "describe",
    "distance_curves",
    "feature_table",
    "feature_tables",
    "final_losses",
    "floor_curves",
    "growth",
    "head_maps",
    "head_places",
    "heat_map",
    "key_plane",
    "lookup_planes",
    "loss_bands",
    "mask_panels",
    "moved_points",
    "new_axes",
    "pair_floor",
    "prefix_rows",
    "score_histogram",
    "share_intervals",
    "show",
    "smoothers",
    "table",
    "temperature_curves",
    "training_story",
    "two_key_slope",
    "value_plane",
    "weight_bars",
    "weight_curves",
    "weight_panels",
    "width_panels",
]
