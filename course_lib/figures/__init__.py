"""Figures of the course: each function draws arrays and returns Axes; `show` displays them with words."""

from .base import Picture, describe, new_axes, show, table
from .lookup import key_plane, lookup_planes, smoothers, value_plane, weight_curves
from .projections import feature_table, feature_tables, moved_points, temperature_curves
from .tables import heat_map, weight_bars

__all__ = [
    "Picture",
    "describe",
    "feature_table",
    "feature_tables",
    "heat_map",
    "key_plane",
    "lookup_planes",
    "moved_points",
    "new_axes",
    "show",
    "smoothers",
    "table",
    "temperature_curves",
    "value_plane",
    "weight_bars",
    "weight_curves",
]
