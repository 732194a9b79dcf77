"""`course mark` with recorded results in the place of students' code; the rest is what an instructor runs.

The processes, the store, the writer, the gradebook, the folders and the record are the real ones. Only what a
kernel would say is handed out: each submission carries the number of its result. How long a few steps of the
marking process took goes into a file.

It is called as COMMAND FOLDER WORDS... with the folder that `prepare` made, and words as after `course`.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nbformat import NotebookNode, from_dict, writes

from course_lib.command import main as course
from course_lib.grading import task
from course_lib.grading.class_record import ClassRecord
from course_lib.grading.gradebook import AssignmentGradebook
from course_lib.grading.store import Result, Store
from course_lib.grading.task import Assignment, key_of_submission
from course_lib.grading.writer import Writer

# `python -m` would make each worker import this module, and all that it imports, once more.
COMMAND = [sys.executable, "-c", f"import sys, {__name__} as it; sys.exit(it.main(sys.argv[1:]))"]
# What the one process that writes does for each submission, and a part of it.
WATCHED = ((Store, "put"), (Writer, "write"), (ClassRecord, "put"), (AssignmentGradebook, "save"))


def main(argv: Sequence[str]) -> int:
    """Run a command of the course. Writes the seconds of its steps, and its MB, into told.json."""
    folder, words = Path(argv[0]), list(argv[1:])
    results = pickle.loads((folder / "results").read_bytes())
    seconds: Counter[str] = Counter()
    for owner, name in WATCHED:
        setattr(owner, name, _watched(getattr(owner, name), f"{owner.__name__}.{name}", seconds))
    with patch.object(task, "mark_submission", partial(hand_out, results=results)):
        status = course(words)
    told = {"seconds": seconds, "memory": _most_memory()}
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    return status


def prepare(folder: Path, results: Sequence[Result]) -> None:
    """Put the results that will be handed out where `main` finds them."""
    folder.mkdir()
    (folder / "results").write_bytes(pickle.dumps(list(results)))


def of_student(notebook: NotebookNode, function: str, student: str, result: int) -> str:
    """A notebook's text as this student's own: it differs in a comment, and says which result is its."""
    mine = from_dict(notebook)
    (answer,) = (cell for cell in mine.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == function)
    answer.source += f"\n# {student}"
    mine.metadata["result"] = result
    return writes(mine)


def hand_out(data: bytes, assignment: Assignment, results: Sequence[Result]) -> tuple[str, Result]:
    """In the place of `mark_submission`: the submission is read and made whole, and nothing of it is run."""
    return key_of_submission(data, assignment), results[json.loads(data)["metadata"]["result"]]


def _most_memory() -> float:
    """The most MB that this program had; unlike what its parent is told, without what that had itself."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024


def _watched(function: Callable[..., Any], name: str, seconds: Counter[str]) -> Callable[..., Any]:
    def watched(*args: Any, **more: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **more)
        finally:
            seconds[name] += time.perf_counter() - start

    return watched
