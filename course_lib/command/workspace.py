"""The student's own copies of the exercises: made once, never overwritten, updated on request.

work/NAME is the student's copy of exercises/NAME. work/.released/NAME keeps the exercise as it was handed
out: it tells whether the release has changed since, and which cells the student has touched.
"""

from __future__ import annotations

import filecmp
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from course_lib.command.merge import Notebook, merge
from course_lib.errors import CourseError


@dataclass(frozen=True)
class Workspace:
    """The folders exercises/ and work/ below the project's root."""

    root: Path

    def names(self) -> list[str]:
        """The released exercises, in order."""
        found = (self.root / "exercises").glob("*/*.ipynb")
        return sorted(path.parent.name for path in found if path.stem == path.parent.name)

    def release(self, name: str) -> Path:
        """The released exercise. Raises: CourseError for a name that is not one."""
        if name not in self.names():
            raise CourseError(f"no exercise is called {name}; there are: {', '.join(self.names()) or 'none'}")
        return self.root / "exercises" / name

    def copy(self, name: str) -> Path:
        """The student's copy."""
        return self.root / "work" / name

    def handed_out(self, name: str) -> Path:
        """The exercise as it was when the student's copy was made or last updated."""
        return self.root / "work" / ".released" / name

    def prepare(self) -> list[str]:
        """Copy what the student does not have; returns a line per copy, repair and changed release."""
        lines = []
        for name in self.names():
            if not self.copy(name).exists():
                lines.append(self._hand_out(name))
                continue
            lines += self._put_back(name)
            if self.changed(name):
                lines.append(f"exercises/{name} has changed since you got it: `course update {name}` "
                             "carries your answers over")  # fmt: skip
        return lines

    def changed(self, name: str) -> bool:
        """Whether the release differs from the exercise as it was handed out."""
        return not _same_files(self.release(name), self.handed_out(name))

    def update(self, name: str, now: datetime) -> str:
        """Bring the student's copy to the present release with its answers; returns what was done, a line.

        Answers are the cells with nbgrader's solution flag, matched by grade_id. Cells that the student
        added stay behind the cell they stood behind. The copy as it was goes to work/backups first. An
        update that was interrupted is ended by the next one: the memory of the release is written last.
        """
        release, copy, file = self.release(name), self.copy(name), f"{name}.ipynb"
        if not copy.exists():
            return self._hand_out(name)
        done = self._put_back(name)
        theirs = _read(copy / file)
        if not self.changed(name):
            return "; ".join(done or [f"work/{name} is up to date"])
        before = self.handed_out(name) / file
        merged = merge(_read(release / file), theirs, _read(before) if before.exists() else None)
        backup = self._back_up(name, f"{now:%Y-%m-%d-%H%M%S}").relative_to(self.root).as_posix()
        _put(_text_of(merged.notebook), copy / file)
        _copy_files(release, copy, [each for each in _files(release) if each != Path(file)])
        self._remember(name)
        return "; ".join([*done, f"work/{name} updated: {merged.summary()}", f"as it was: {backup}"])

    def _hand_out(self, name: str) -> str:
        _copy_files(self.release(name), self.copy(name))
        self._remember(name)
        return f"work/{name} is your copy of exercises/{name}"

    def _put_back(self, name: str) -> list[str]:
        """Put the notebook, as it was handed out, into a copy that lost it; a line that says so.

        It is not the present release's, so that a notebook that was only renamed can still take its place.
        """
        notebook, kept = self.copy(name) / f"{name}.ipynb", self.handed_out(name) / f"{name}.ipynb"
        if notebook.exists():
            return []
        others = [path.as_posix() for path in _files(self.copy(name)) if path.suffix == ".ipynb"]
        source = kept if kept.exists() else self.release(name) / notebook.name
        _put(source.read_bytes(), notebook)
        line = f"work/{name}/{notebook.name} was missing: put back"
        return [f"{line}; other notebooks there: {', '.join(others)}" if others else line]

    def _back_up(self, name: str, stamp: str) -> Path:
        """A second copy of the student's folder, under a name that is not taken."""
        backups = self.root / "work" / "backups"
        numbered = (
            backups / (f"{name}-{stamp}" + (f"-{number}" if number > 1 else "")) for number in count(1)
        )
        backup = next(folder for folder in numbered if not folder.exists())
        shutil.copytree(self.copy(name), backup)
        return backup

    def _remember(self, name: str) -> None:
        release, memory = self.release(name), self.handed_out(name)
        _copy_files(release, memory)
        for gone in set(_files(memory)) - set(_files(release)):
            (memory / gone).unlink()


def _read(path: Path) -> Notebook:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(cell, dict) for cell in notebook["cells"]):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise CourseError(f"{path} is not a notebook that can be read; nothing was changed") from None
    return notebook


def _text_of(notebook: Notebook) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _put(content: bytes, target: Path) -> None:
    """Write beside the file and then put it in its place, so that an interruption leaves one of the two."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.draft")
    draft.write_bytes(content)
    draft.replace(target)


def _copy_files(source: Path, target: Path, files: Iterable[Path] | None = None) -> None:
    """Copy these files of a folder, or all."""
    for file in _files(source) if files is None else files:
        _put((source / file).read_bytes(), target / file)


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder as relative paths, without what tools left there."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield relative


def _same_files(one: Path, other: Path) -> bool:
    names = list(_files(one))
    return names == list(_files(other)) and filecmp.cmpfiles(one, other, names, shallow=False)[0] == names
