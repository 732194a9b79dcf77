"""Results of marking, kept by what they depend on: the code that ran and the version of the assignment.

An interrupted class goes on from here, and a submission that did not change is not run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict

from course_lib.checks.judge import Verdict

from .sanitise import name_of

FOLDER = ".course_marks"
PACKAGE = Path(__file__).resolve().parents[1]
# What marks may depend on beside the assignment: the parts that judge, and the libraries that compute.
JUDGING = ("checks", "grading", "term/late.py")
LIBRARIES = ("numpy", "torch", "ipykernel", "ipython", "nbformat", "nbgrader")


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


def write_whole(path: Path, text: str) -> None:
    """Write a file that is never seen half: it is replaced when all of the text is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        if os.name == "nt" and path.exists():
            path.chmod(0o600)  # Windows replaces no file that is read-only
        os.replace(temporary, path)
    except OSError:  # such as a full disk
        temporary.unlink(missing_ok=True)
        raise


def key_of(notebook: NotebookNode, tests: Collection[str], version: str) -> str:
    """The key of a notebook made whole: what runs in which order, and where the tests stand."""
    runs = [[name_of(cell), None if name_of(cell) in tests else cell.source] for cell in _code(notebook)]
    return hashlib.sha256(json.dumps([version, runs]).encode()).hexdigest()[:32]


def assignment_version(solution: Path, secret: str, *, sandboxed: bool, settings: Mapping[str, Any]) -> str:
    """What marks depend on beside the submission. A change of any of it marks everyone again."""
    told = f"{secret}\n{sandboxed}\n{sys.version}\n{sorted(settings.items())}\n"
    digest = hashlib.sha256(told.encode())
    digest.update(solution.read_bytes())
    digest.update(code_version(JUDGING, LIBRARIES, but="*feedback*").encode())
    return digest.hexdigest()


def code_version(parts: Sequence[str], libraries: Sequence[str], *, but: str = "") -> str:
    """What tells the code of these parts of course_lib, and these libraries, from others.

    Parameters: but, a pattern of files that make no difference.
    """
    kinds = (".py", ".json", ".j2", ".css")
    digest = hashlib.sha256("\n".join(f"{name} {version_of(name)}" for name in libraries).encode())
    for part in parts:
        for path in sorted([PACKAGE / part, *(PACKAGE / part).rglob("*")]):
            if path.suffix in kinds and not fnmatch(path.name, but):
                digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
