"""Checks of the exercises: cases, collecting in the student's kernel, and judging.

A notebook says ``check = checks_for("01_soft_lookup")`` once, then ``check("softmax", "ordinary")``.

What is asked:

- `assignments`: the functions of each assignment, their behaviours, points and cases
- `spec`: the form in which these say it; `draw`: inputs from named axes and a seed; `chance`: how far a right
  result of random draws may lie from its mean
- `entries`, `torch_layers`, `torch_block`, `torch_recall`: arguments that are layers or models, by name
- `later`: PyTorch, imported when an input is drawn and not before; `torch_used`: PyTorch, used once, for
  kernels that fork from a process that imported it

In the student's kernel:

- `collect`: call a function on every case and record what it gave; `answer`: do so for a grader
- `quiet`, `refuse`: what happens to prints, figures and library functions meanwhile
- `probes` and `probes_*`: how classes, gradients and training are called, with `parameters` in common
- `values`, `arrays`: inputs and outputs as plain JSON, never pickle

Anywhere:

- `judge`: turn such a record and the reference's record into a verdict, by the rungs of a ladder: `endings`
  has the lower ones, `results` the upper ones, `calls` what they share
- `store`: the visible cases with their right answers, and what known mistakes give there
- `check`: what a student calls: collect, judge, print
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import Check, checks_for

__all__ = ["Check", "checks_for"]


def __getattr__(name: str) -> Any:
    """Import what a notebook asks for when it does: others need the list of assignments and no NumPy."""
    if name in __all__:
        from . import check

        return getattr(check, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
