"""Verdicts in a marked notebook: points and sentences as outputs of test cells, and reasons for none."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from nbformat import NotebookNode

from course_lib.checks.check import lines
from course_lib.checks.judge import Verdict
from course_lib.checks.values import readable

from .cells import text_display, text_result
from .outputs import STOPPED
from .sanitise import name_of
from .source import Test, VisibleTests

WIDTH = 95  # characters of a line in formgrader
KEPT = "course"  # where a test cell's output keeps its verdict as data, for the feedback page
# What Python says where something else took the memory, the processes or the disk that a kernel may use.
ROBBED = re.compile("MemoryError|allocate|start new thread|temporarily unavailable|No space left")
# The name that a kernel gives to a cell, which tells nobody anything.
CELL_FILE = re.compile(r"\(\d+\.py, (?=line \d+\)$)")


def failed(test: Test, sentence: str) -> Verdict:
    """No points, and why."""
    behaviour = test.behaviour
    return Verdict(
        test.exercise.function,
        behaviour.name,
        behaviour.title,
        behaviour.points,
        failed="runs",
        sentence=sentence,
    )


def refuse(notebook: NotebookNode, source: VisibleTests, sentence: str) -> dict[str, Verdict]:
    """Instead of running a notebook: no points for any test cell, and the same sentence for all."""
    verdicts = {test.cell: failed(test, sentence) for test in source.tests.values()}
    write(notebook, verdicts)
    return verdicts


def write(notebook: NotebookNode, verdicts: Mapping[str, Verdict]) -> None:
    """Put each verdict into its test cell, in place of whatever the cell showed."""
    for cell in notebook.cells:
        verdict = verdicts.get(name_of(cell) or "")
        if verdict is not None and cell.cell_type == "code":
            cell.outputs = written(verdict)


def written(verdict: Verdict) -> list[Any]:
    """A verdict as the outputs of its test cell: sentences to read, and the points as nbgrader reads them."""
    text = "\n".join(map(_filled, lines(verdict)))
    points = min(max(float(verdict.points), 0.0), float(verdict.max_points))
    shown = text_display(text)
    shown.metadata[KEPT] = {
        "title": verdict.title,
        "passed": list(verdict.passed),
        "failed": verdict.failed,
        "sentence": verdict.sentence,
    }
    return [shown, text_result(repr(points))]


@lru_cache(maxsize=1000)
def _filled(line: str) -> str:
    """A line in lines that formgrader shows whole. Most are the same in all submissions of a class."""
    return textwrap.fill(line, WIDTH, subsequent_indent="      ")


def robbed(cells: Iterable[NotebookNode], verdicts: Mapping[str, Verdict]) -> bool:
    """Whether a cell or an answer failed since there was nothing left of what kernels may use."""
    said = [verdict.sentence or "" for verdict in verdicts.values()]
    for cell in cells:
        errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
        said += [f"{error.ename}: {error.evalue}" for error in errors]
    return any(map(ROBBED.search, said))


def say_why_there_is_none(notebook: NotebookNode, verdicts: Mapping[str, Verdict]) -> None:
    """Where a function does not exist because its cell ended with an error, say which."""
    for cell in notebook.cells:
        errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
        for verdict in verdicts.values() if errors else ():
            if verdict.function == name_of(cell) and verdict.failed == "exists":
                last = errors[-1]
                said = readable(CELL_FILE.sub("(", f"{last.ename}: {last.evalue}".split("\n")[0]), 200)
                why = f". {last.evalue}" if last.ename == STOPPED else f": its cell ended with {said}."
                verdict.sentence = f"There is no {verdict.function}{why}"


def in_our_words(missing: str | None) -> str | None:
    """Why a function could not be called, without what the kernel says beyond that."""
    if missing is None:
        return None
    return "arguments: it takes others" if missing.startswith("arguments: ") else "absent"
