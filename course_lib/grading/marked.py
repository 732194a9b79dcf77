"""From what was handed in to what nbgrader keeps of it: the marked notebook, and its marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import utils

from course_lib.checks.judge import Verdict

from .gradebook import Marks
from .handed_in import UNREADABLE, HandedIn
from .repairs import in_few_lines
from .sanitise import SourceCell, name_of, sanitise
from .secret import fingerprint
from .source import VisibleTests
from .verdicts import refuse


def made_whole(
    handed_in: HandedIn,
    cells: Sequence[SourceCell],
    follows: Mapping[str, str],
    kernelspec: Mapping[str, Any],
) -> NotebookNode:
    """The submission as it will run. Its metadata say what was repaired, or why there is nothing in it."""
    notebook, repairs = sanitise(handed_in.notebook, cells, follows)
    repairs = [] if handed_in.unreadable else in_few_lines(repairs, {cell.name for cell in cells})
    repairs = [*handed_in.noticed, *repairs]
    course = {"repairs": repairs, "unreadable": handed_in.unreadable}
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(kernelspec), "course": course})
    return notebook


def refusal(notebook: NotebookNode, tests: VisibleTests) -> dict[str, Verdict]:
    """No points, with the reason, for a submission that could not be read; nothing for all others."""
    why = notebook.metadata.get("course", {}).get("unreadable")
    return refuse(notebook, tests, f"{UNREADABLE}: {why}.") if why else {}


def sign(notebook: NotebookNode, secret: str, *, sandboxed: bool) -> None:
    """Say in a marked notebook with which secret it was marked, and whether in a sandbox."""
    notebook.metadata.setdefault("course", {}).update(secret=fingerprint(secret), sandboxed=sandboxed)


def marks_of(notebook: NotebookNode, verdicts: Iterable[Verdict]) -> Marks:
    """The marks in a notebook that was judged, as nbgrader reads them, with our words beside the answers."""
    scores = {
        name_of(cell): utils.determine_grade(cell)[0] for cell in notebook.cells if utils.is_grade(cell)
    }
    comments = {name_of(cell): _no_answer(cell) for cell in notebook.cells if utils.is_solution(cell)}
    by_function: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_function.setdefault(verdict.function, []).append(verdict)
    return Marks(scores, comments | {name: comment_on(mine) for name, mine in by_function.items()})


def comment_on(verdicts: Sequence[Verdict]) -> str:
    """A function's verdicts as one comment: the points, and each sentence once with what it costs."""
    points = sum(verdict.points for verdict in verdicts)
    possible = sum(verdict.max_points for verdict in verdicts)
    said = [f"{verdicts[0].function}: {points:g} of {possible:g} points."]
    for sentence in dict.fromkeys(verdict.sentence for verdict in verdicts if verdict.failed is not None):
        missed = [verdict for verdict in verdicts if verdict.sentence == sentence]
        which = "" if len(missed) == len(verdicts) else f"{', '.join(f'“{each.title}”' for each in missed)}: "
        said.append(which + sentence)
    return "\n".join(said)


def _no_answer(cell: NotebookNode) -> str | None:
    """What nbgrader says beside an answer that is as it was handed out."""
    unchanged = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if unchanged else None
