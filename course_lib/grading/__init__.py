"""Marking: nbgrader plug-ins that collect in the student's kernel and judge outside it.

What comes in:
- `finding`, `files`, `submission`: which file in a student's folder counts, and what is in it
- `exporter`: how nbgrader reads submissions through these; `nothing_handed_in`: where there is none
- `sanitise`: make a submission whole again before it runs

How it runs:
- `sandbox`, `bubblewrap`: where a student's code runs; `warm`, `line`: the process it forks from;
  `preloaded`: what that has imported
- `kernel`: one kernel; `sandboxed_kernel`, `jupyter_kernel`: the two ways to one
- `inside`: what runs inside the sandbox
- `replay`: a submission's cells in a kernel, and again after it ended
- `questions`, `execute`, `verdicts`: ask, judge, write verdicts; `outputs`: what of outputs is kept

What decides:
- `source`, `references`, `catalogue`: the instructor's notebook, its functions and its hidden cases;
  `plain`: its code without magics
- `secret`: the course secret, on which hidden cases depend

What goes out:
- `plugins`: what nbgrader_config.py names: sanitise, judge, comment
- `feedback_page`, `feedback_html`, `feedback_formula`: what a student gets back
- `repairs`: many of a kind in one line
- `mark`: one notebook without a gradebook
- `class_marking`, `class_record`, `class_feedback`: a class; `recorded`: what the gradebook has of it
- `workers`, `processes`, `task`, `store`: a class's results; `version`: what they depend on
- `writer`, `marked`, `gradebook`: what nbgrader keeps of a submission
- `course`: nbgrader's configuration and folders
- `release`: stubs that name their exercise
- `leftovers`: how markers' folders are deleted, also those of killed ones
"""

import sys

# jsonschema, with which nbformat checks notebooks, imports this package where it is installed, for a format
# of addresses that no notebook's schema asks for. Its grammar takes a second to build, more than all else.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
