"""Figures that the reader moves; see `base` for how they work and `course_lib.figures` for the still ones."""

from .base import Explorable
from .depth import two_layers
from .lookup import soft_lookup
from .masks import mask_editor
from .order import recent_colour
from .rows import query_row
from .scaling import width_sweep
from .slices import heads
from .smoothing import kernel_smoother
from .training import recall_training

__all__ = [
    "Explorable",
    "heads",
    "kernel_smoother",
    "mask_editor",
    "query_row",
    "recall_training",
    "recent_colour",
    "soft_lookup",
    "two_layers",
    "width_sweep",
]
