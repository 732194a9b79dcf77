"""Checks of the exercises: cases, collecting in the student's kernel, and judging.

A notebook says ``check = checks_for("01_soft_lookup")`` once, then ``check("softmax", "ordinary")``.

- `spec`: what an exercise is: its functions, behaviours, points and cases
- `draw`: the inputs of a case, from named axes and a seed
- `values`: inputs and outputs as plain JSON, never pickle
- `collect`: call a function on every case and record what it gave (runs in the student's kernel)
- `quiet`, `refuse`: what happens to prints, figures and library functions meanwhile
- `judge`: turn such a record and the reference's record into a verdict (runs anywhere), by the rungs of a
  ladder: `endings` has the lower ones, `results` the upper ones, `calls` what they share
- `check`: what a student calls: collect, judge, print
- `assignments`: the cases of each assignment
"""

from .check import Check, checks_for

__all__ = ["Check", "checks_for"]
