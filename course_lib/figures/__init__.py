"""Figures of the course: each function draws arrays and returns Axes; `show` displays them with their words."""

from .base import Picture, describe, new_axes, show, table
from .tables import heat_map, weight_bars

__all__ = ["Picture", "describe", "heat_map", "new_axes", "show", "table", "weight_bars"]
