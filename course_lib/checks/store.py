"""The visible cases with their right answers, and what known mistakes give on them.

The data is made by `course references`. Inputs are stored with the answers, so that a check does not depend
on how some version of NumPy draws.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from .values import Json, Received, receive

MATCH = 1e-6


@dataclass(frozen=True)
class Visible:
    """One behaviour's visible request, the reference's bundle, and the known mistakes by call."""

    request: Json
    reference: Json
    mistakes: Json

    def diagnose(self, call: str, outputs: dict[str, Received]) -> str | None:
        """The question that leads to the mistake which gives exactly these outputs, or None."""
        for mistake in self.mistakes:
            if mistake["call"] == call and same_outputs(mistake["outputs"], outputs):
                return mistake["question"]
        return None


def visible(assignment: str, function: str, behaviour: str) -> Visible:
    """The stored visible cases of one behaviour."""
    stored = _read(assignment)[function][behaviour]
    return Visible(stored["request"], stored["reference"], stored.get("mistakes", []))


def functions(assignment: str) -> set[str]:
    """The functions that an assignment asks for, without loading it."""
    return set(_read(assignment))


@cache
def _read(assignment: str) -> Any:
    path = resources.files("course_lib.checks") / "data" / f"{assignment}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def same_outputs(stored: Json, outputs: dict[str, Received]) -> bool:
    """Whether outputs agree with those of a mistake in shape and, to 1e-6, in value; errors in their text."""
    if set(stored) != set(outputs):
        return False
    for name, record in stored.items():
        want, got = receive(record), outputs[name]
        if want.kind == got.kind == "text" and want.value == got.value:
            continue
        a, b = np.asarray(want.value), np.asarray(got.value)
        if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub" or a.shape != b.shape:
            return False
        if not np.allclose(a, b, rtol=MATCH, atol=MATCH, equal_nan=True):
            return False
    return True
