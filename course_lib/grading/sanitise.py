"""Make a submission whole again before it runs: test cells from the source, nothing of a student's metadata.

Only an answer cell's text, be it code or words, is the student's. Everything else that carries an id of the
assignment is written anew from the source; what had to be repaired is said in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from .outputs import clean

SCHEMA = 3


@dataclass(frozen=True)
class SourceCell:
    """One cell of the assignment that carries an id: an answer, a test, both, or read-only text or code.

    What is both is an answer in words, which a person marks.
    """

    name: str
    cell_type: str
    source: str
    grade: bool
    solution: bool
    points: float | None = None
    checksum: str | None = None

    @property
    def by_hand(self) -> bool:
        """Whether a person marks it."""
        return self.grade and self.solution

    def metadata(self) -> dict[str, Any]:
        """What nbgrader knows a cell by."""
        marks: dict[str, Any] = {
            "grade_id": self.name,
            "grade": self.grade,
            "solution": self.solution,
            "locked": not self.solution,
            "task": False,
            "schema_version": SCHEMA,
            "cell_type": self.cell_type,
        }
        if self.points is not None:
            marks["points"] = self.points
        if self.checksum is not None:
            marks["checksum"] = self.checksum
        editable = {} if self.solution else {"deletable": False, "editable": False}
        return editable | {"nbgrader": marks}

    def cell(self, source: str | None = None) -> NotebookNode:
        """The cell, with its own text or a student's."""
        make = new_code_cell if self.cell_type == "code" else new_markdown_cell
        made = make(self.source if source is None else source)
        made.metadata.update(self.metadata())
        return made


def cells_of(notebook: NotebookNode) -> list[SourceCell]:
    """The cells of a source notebook that carry an id. Answers in words come empty: a model answer has no
    place in a submission."""
    cells = []
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if marks:
            grade, solution = marks.get("grade", False), marks.get("solution", False)
            points = float(marks["points"]) if grade else None
            source = "" if grade and solution else cell.source
            cells.append(SourceCell(marks["grade_id"], cell.cell_type, source, grade, solution, points))
    return cells


def sanitise(
    notebook: NotebookNode, source_cells: Sequence[SourceCell], follows: Mapping[str, str]
) -> tuple[NotebookNode, list[str]]:
    """The submission as it will run, and what was repaired.

    Parameters: source_cells in their order; follows, for each test cell the answer it must come after.
    Returns: the same notebook, changed, and one sentence for each repair.
    """
    known = {cell.name: cell for cell in source_cells}
    cells, repairs = _known_once(notebook.cells, known)
    cells = [_rebuilt(cell, known, repairs) for cell in cells]
    _add_missing(cells, source_cells, repairs)
    _move_behind(cells, follows, repairs)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook.cells = cells
    return notebook, repairs


def name_of(cell: NotebookNode) -> str | None:
    """The id that nbgrader knows a cell by, or None."""
    marks = cell.get("metadata", {}).get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else None


def _known_once(
    cells: Sequence[NotebookNode], known: Mapping[str, SourceCell]
) -> tuple[list[NotebookNode], list[str]]:
    """Each id once: of a copied answer the last counts, earlier ones become plain cells; copied tests go."""
    last = {name_of(cell): index for index, cell in enumerate(cells)}
    kept: list[NotebookNode] = []
    repairs: list[str] = []
    for index, cell in enumerate(cells):
        name = name_of(cell)
        if name in known and last[name] != index:
            if not known[name].solution:
                repairs.append(f"A copy of the cell {name} was taken out.")
                continue
            repairs.append(f"There are several answer cells {name}; the last one counts.")
            cell.metadata.pop("nbgrader")
        kept.append(cell)
    return kept, repairs


def _rebuilt(cell: NotebookNode, known: Mapping[str, SourceCell], repairs: list[str]) -> NotebookNode:
    name = name_of(cell)
    cell.source = clean(cell.source)
    if name not in known:
        make = {"code": new_code_cell, "markdown": new_markdown_cell}.get(cell.cell_type)
        return make(cell.source) if make is not None else new_markdown_cell(cell.source)
    wanted = known[name]
    if cell.cell_type != wanted.cell_type:
        repairs.append(f"The cell {name} was a {cell.cell_type} cell; it is a {wanted.cell_type} cell again.")
    return wanted.cell(cell.source if wanted.solution else None)


def _add_missing(cells: list[NotebookNode], source_cells: Sequence[SourceCell], repairs: list[str]) -> None:
    """Put back what was deleted, each behind the cell that precedes it in the source."""
    position = 0
    present = {name_of(cell) for cell in cells}
    for wanted in source_cells:
        if wanted.name in present:
            position = next(i for i, cell in enumerate(cells) if name_of(cell) == wanted.name) + 1
        else:
            # An answer in words comes back as it was handed out, which nbgrader knows to be no answer.
            cells.insert(position, wanted.cell("" if wanted.solution and not wanted.by_hand else None))
            position += 1
            repairs.append(f"The cell {wanted.name} was missing and was put back.")


def _move_behind(cells: list[NotebookNode], follows: Mapping[str, str], repairs: list[str]) -> None:
    """A test that stands before the answer it tests moves behind it."""
    for test, answer in follows.items():
        names = [name_of(cell) for cell in cells]
        if test in names and answer in names and names.index(test) < names.index(answer):
            cell = cells.pop(names.index(test))
            cells.insert(names.index(answer), cell)
            repairs.append(f"The cell {test} stood before {answer} and was moved behind it.")
