"""Results of marking, kept by what they depend on: the code that ran and the version of the assignment.

An interrupted class goes on from here, and a submission that did not change is not run again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict

from course_lib.checks.judge import Verdict

from .files import write_whole
from .sanitise import name_of


@dataclass(frozen=True)
class Result:
    """What marking gave for a notebook: the outputs of its code cells in order, and its verdicts by cell."""

    outputs: list[list[Any]]
    verdicts: dict[str, Verdict]

    @classmethod
    def of(cls, notebook: NotebookNode, verdicts: dict[str, Verdict]) -> Result:
        """The result in a notebook that was just marked."""
        return cls([cell.outputs for cell in _code(notebook)], verdicts)

    def write_into(self, notebook: NotebookNode) -> dict[str, Verdict]:
        """Give a notebook with the same code the outputs it had. Returns: the verdicts."""
        for cell, outputs in zip(_code(notebook), self.outputs, strict=True):
            cell.outputs = [from_dict(output) for output in outputs]
        return dict(self.verdicts)


class Store:
    """Results in files of a folder, each under its key, for one version of an assignment."""

    def __init__(self, folder: Path, version: str) -> None:
        self.version = version
        self.folder = folder / hashlib.sha256(version.encode()).hexdigest()[:16]

    def forget_other_versions(self) -> None:
        """Delete the results that no version of the assignment can use any more: they are students' work."""
        for other in self.folder.parent.glob("*"):  # where there is no result at all, there is no folder
            if other != self.folder:
                shutil.rmtree(other, ignore_errors=True)

    @property
    def is_empty(self) -> bool:
        """Whether there is no result yet."""
        return not self.folder.is_dir() or not any(self.folder.iterdir())

    def get(self, key: str) -> Result | None:
        """The result under a key, or None where there is none that can be read."""
        try:
            stored = json.loads(self._path(key).read_text(encoding="utf-8"))
            verdicts = {cell: Verdict(**verdict) for cell, verdict in stored["verdicts"].items()}
            return Result(stored["outputs"], verdicts)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, result: Result) -> None:
        """Keep a result; it is there whole, or not at all."""
        verdicts = {cell: asdict(verdict) for cell, verdict in result.verdicts.items()}
        text = json.dumps({"outputs": result.outputs, "verdicts": verdicts})
        write_whole(self._path(key), text)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def key_of(notebook: NotebookNode, tests: Collection[str], version: str) -> str:
    """The key of a notebook made whole: what runs in which order, and where the tests stand."""
    runs = [[name_of(cell), None if name_of(cell) in tests else cell.source] for cell in _code(notebook)]
    return hashlib.sha256(json.dumps([version, runs]).encode()).hexdigest()[:32]


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
