"""Marking: nbgrader plug-ins that collect in the student's kernel and judge outside it.

- `source`: the instructor's notebook: its cells, its functions, its hidden cases
- `secret`: the course secret, on which hidden cases depend
- `sanitise`: make a submission whole again before it runs
- `execute`: run a submission, collect at each test cell, judge, write the verdicts
- `feedback`: comments in the gradebook, and what a student sees
- `release`: stubs that name their exercise
- `mark`: one notebook without a gradebook
"""
