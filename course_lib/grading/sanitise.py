"""Make a submission whole again before it runs: test cells from the source, nothing of a student's metadata.

Only an answer cell's text, be it code or words, is the student's. Everything else that carries an id of the
assignment is written anew from the source; what had to be repaired is said in words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbformat import NotebookNode

from course_lib.checks.values import readable

from .cells import code_cell, markdown_cell
from .outputs import as_text, clean

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

    @cached_property
    def released(self) -> str:
        """Its text as students receive it."""
        hidden = r"^### BEGIN (HIDDEN TESTS|MARK SCHEME)$.*?^### END \1$\n?"
        return re.sub(hidden, "", self.source, flags=re.MULTILINE | re.DOTALL)

    def changes(self, marks: Mapping[str, Any]) -> list[str]:
        """What of a submitted cell's marks, in words, is not as it was handed out."""
        mine = self.metadata()["nbgrader"]
        words = {"schema_version": "its format", "points": "its points", "grade": "its flags"}
        words |= dict.fromkeys(("solution", "locked", "task"), "its flags")
        return list(
            dict.fromkeys(words[key] for key in words if key in marks and marks[key] != mine.get(key))
        )

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
        make = code_cell if self.cell_type == "code" else markdown_cell
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
    repairs: list[str] = []
    _recognise(notebook.cells, source_cells, repairs)
    cells = _known_once(notebook.cells, known, repairs)
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


def _recognise(cells: Sequence[NotebookNode], source_cells: Sequence[SourceCell], repairs: list[str]) -> None:
    """Give a cell that lost its id, as in programs that keep no metadata, the id that its text tells."""
    present = {name_of(cell) for cell in cells}
    for wanted in source_cells:
        if wanted.name in present:
            continue
        found = [
            cell for cell in cells if _known_by_text(cell, wanted, known={each.name for each in source_cells})
        ]
        if found:
            found[-1].metadata["nbgrader"] = {"grade_id": wanted.name}
            repairs.append(f"The cell {wanted.name} had lost its id and was recognised by its text.")


def _known_by_text(cell: NotebookNode, wanted: SourceCell, known: Collection[str]) -> bool:
    """Whether a cell without a known id is this one: it defines the answer's function, or reads the same."""
    if name_of(cell) in known or cell.cell_type != wanted.cell_type:
        return False
    if wanted.solution:
        defines = rf"^(def|class) {re.escape(wanted.name)}\b"
        return cell.cell_type == "code" and re.search(defines, cell.source, re.MULTILINE) is not None
    return bool(cell.source.strip()) and cell.source.strip() == wanted.released.strip()


def _known_once(
    cells: Sequence[NotebookNode], known: Mapping[str, SourceCell], repairs: list[str]
) -> list[NotebookNode]:
    """Each id once: of a copied answer the last counts, earlier ones become plain cells; copied tests go.

    An answer in words whose cell was split is put together again.
    """
    last = {name_of(cell): index for index, cell in enumerate(cells)}
    kept: list[NotebookNode] = []
    for index, cell in enumerate(cells):
        name = name_of(cell)
        if name in known and last[name] != index:
            if not known[name].solution:
                repairs.append(f"A copy of the cell {name} was taken out.")
                continue
            if known[name].by_hand and name_of(cells[index + 1]) == name:
                cells[index + 1].source = f"{cell.source}\n\n{cells[index + 1].source}"
                repairs.append(f"The answer {name} stood in several cells and was put together.")
                continue
            repairs.append(f"There are several answer cells {name}; the last one counts.")
            cell.metadata.pop("nbgrader")
        kept.append(cell)
    return kept


def _rebuilt(cell: NotebookNode, known: Mapping[str, SourceCell], repairs: list[str]) -> NotebookNode:
    name = name_of(cell)
    cell.source = clean(cell.source)
    if name not in known:
        if name is not None:
            repairs.append(
                f"A cell named {readable(name, 60)} is none of this exercise's; it is a plain cell."
            )
        if cell.cell_type == "code":
            return code_cell(cell.source)
        return _with_pictures(markdown_cell(as_text(cell.source)), cell)
    wanted = known[name]
    changed = wanted.changes(cell.metadata["nbgrader"])
    if changed:
        repairs.append(f"Of the cell {name}, {' and '.join(changed)} had been changed and set right.")
    if not wanted.solution and cell.source.strip() != wanted.released.strip():
        repairs.append(f"The text of the cell {name} had been changed and is the exercise's own again.")
    if cell.cell_type != wanted.cell_type:
        repairs.append(f"The cell {name} was a {cell.cell_type} cell; it is a {wanted.cell_type} cell again.")
    if wanted.by_hand:
        return _with_pictures(wanted.cell(as_text(cell.source)), cell)
    return wanted.cell(cell.source if wanted.solution else None)


def _with_pictures(made: NotebookNode, cell: NotebookNode) -> NotebookNode:
    """The pictures that a student put into a cell of words."""
    if "attachments" in cell:
        made["attachments"] = cell.attachments
    return made


def _add_missing(cells: list[NotebookNode], source_cells: Sequence[SourceCell], repairs: list[str]) -> None:
    """Put back what was deleted, each behind the cell that precedes it in the source."""
    position, names = 0, [name_of(cell) for cell in cells]
    for wanted in source_cells:
        if wanted.name in names:
            position = names.index(wanted.name) + 1
        else:
            # An answer in words comes back as it was handed out, which nbgrader knows to be no answer.
            cells.insert(position, wanted.cell("" if wanted.solution and not wanted.by_hand else None))
            names.insert(position, wanted.name)
            position += 1
            repairs.append(f"The cell {wanted.name} was missing and was put back.")


def _move_behind(cells: list[NotebookNode], follows: Mapping[str, str], repairs: list[str]) -> None:
    """A test that stands before the answer it tests moves behind it."""
    names = [name_of(cell) for cell in cells]
    for test, answer in follows.items():
        if test in names and answer in names and names.index(test) < names.index(answer):
            before, behind = names.index(test), names.index(answer)
            cells.insert(behind, cells.pop(before))
            names.insert(behind, names.pop(before))
            repairs.append(f"The cell {test} stood before {answer} and was moved behind it.")
