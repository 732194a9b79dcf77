"""The format of the catalogues of mistakes and of unusual right answers, which stand in tests/mistakes/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """A wrong version of one function, as people really write it.

    id: short and unique, "softmax-axis-0". code: what stands in the answer cell. cause: what went wrong, in a
    line. fails: the behaviours that must fail; all others must pass. behaviour and case: the visible input on
    which its output is recognised. question: what a student is asked then, which leads to the cause.
    """

    id: str
    function: str
    cause: str
    code: str
    fails: tuple[str, ...]
    behaviour: str
    case: str
    question: str


@dataclass(frozen=True)
class RightAnswer:
    """A right but unusual version of one function, which must get all points."""

    id: str
    function: str
    code: str


def define(code: str, function: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The namespace with the function of that name defined by the code instead."""
    names = dict(namespace)
    exec(compile(code, f"<answer {function}>", "exec"), names)
    return names
