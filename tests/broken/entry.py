"""One broken submission: right answers to everything, and what went wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cheats.cheat import Change, Cheat, Submission

ALL = 20.0


@dataclass(frozen=True)
class Broken:
    """An entry of the catalogue.

    what: went wrong, in a few words. change: makes the submission so. points: what must come of it, of 20.
    says: a part of what the student is told; "" where nothing need be said.
    """

    id: str
    what: str
    change: Change
    points: float = ALL
    says: str = ""

    @property
    def entry(self) -> Cheat:
        """The same as an entry that an arena marks."""
        return Cheat(self.id, self.what, self.says, self.change, goal="harm")


def data(change: Callable[[Any], Any]) -> Change:
    """The notebook's JSON changed in place, or replaced by what is returned."""

    def changed(submission: Submission) -> None:
        notebook = json.loads(submission.file.read_text(encoding="utf-8"))
        replaced = change(notebook)
        submission.file.write_text(json.dumps(notebook if replaced is None else replaced), encoding="utf-8")

    return changed


def raw(change: Callable[[str], bytes]) -> Change:
    """The notebook's text replaced by bytes."""

    def changed(submission: Submission) -> None:
        submission.file.write_bytes(change(submission.file.read_text(encoding="utf-8")))

    return changed


def code_cells(notebook: Any) -> list[Any]:
    """The code cells of a notebook's JSON."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def named(notebook: Any, name: str) -> Any:
    """The cell of that nbgrader id in a notebook's JSON."""
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
