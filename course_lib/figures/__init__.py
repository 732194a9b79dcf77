"""Figures of the course: each function draws arrays and returns Axes; `show` displays them with words."""

from .base import Picture, describe, new_axes, show, table
from .lookup import key_plane, lookup_planes, smoothers, value_plane, weight_curves
from .projections import feature_table, feature_tables, moved_points, temperature_curves
from .scaling import loss_bands, score_histogram, share_intervals, two_key_slope, width_panels
from .tables import heat_map, weight_bars

__all__ = [
    "Picture",
    "describe",
    "feature_table",
    "feature_tables",
    "heat_map",
    "key_plane",
    "lookup_planes",
    "loss_bands",
    "moved_points",
    "new_axes",
    "score_histogram",
    "share_intervals",
    "show",
    "smoothers",
    "table",
    "temperature_curves",
    "two_key_slope",
    "value_plane",
    "weight_bars",
    "weight_curves",
    "width_panels",
]
