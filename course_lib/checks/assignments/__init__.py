"""The assignments: for each function its behaviours, points and cases, as data and small functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.checks.spec import Assignment

MODULES = {
    "01_soft_lookup": "soft_lookup",
    "02_queries_keys_values": "queries_keys_values",
    "03_scaling": "scaling",
    "04_masking": "masking",
    "05_multi_head": "multi_head",
    "06_colour_recall": "colour_recall",
    "07_limits_of_one_layer": "limits_of_one_layer",
}


def load(name: str) -> Assignment:
    """The assignment of that name. Raises: ValueError for a name that does not exist."""
    if name not in MODULES:
        raise ValueError(f"assignment: expected one of {list(MODULES)}, got {name!r}")
    found: Assignment = import_module(f"{__name__}.{MODULES[name]}").ASSIGNMENT
    return found
