"""What students receive: chapters, exercises and the course's library, as a folder and as a ZIP archive.

Not in it are the solutions, the tests, the catalogue of mistakes, marking a class with nbgrader's plug-ins,
and the commands of those who teach or maintain the course. The same course gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from course_lib.checks.assignments import MODULES
from course_lib.errors import CourseError

from . import student_files
from .imports import PACKAGE, modules, reachable
from .packing import write_zip

NAME = "one-layer-of-attention"
MANIFEST = "MANIFEST.txt"
COMMANDS = ("lab", "mark", "update")
CLASS = "course_lib.command.mark_class"  # marking a class, which `course mark` does where it is there
COPIED = ("LICENSE", "constraints.txt", "environment.yml", ".gitattributes")
DATA = (".css", ".js", ".json", ".mplstyle", ".typed")
SECRET = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")


def contents(root: Path) -> dict[str, bytes]:
    """Everything that students receive, by path with /, in order; the last entry lists the others.

    Raises: CourseError where a notebook holds what students must not see, or is missing.
    """
    paths = [*(root / name for name in COPIED), *_notebooks(root), *library(root)]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths} | student_files.made(
        root
    )
    for name, data in files.items():
        if name.endswith(".ipynb") and any(word.encode() in data for word in SECRET):
            raise CourseError(f"{name} holds solutions or hidden tests; make it anew: make release")
    files = dict(sorted(files.items()))
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return files | {MANIFEST: "".join(lines).encode()}


def library(root: Path) -> list[Path]:
    """The files of course_lib that students need: what is not for teaching, and what their commands use."""
    known = modules(root)
    teaching = tuple(f"{PACKAGE}.{part}" for part in ("command", "grading", "term"))
    start = [name for name in known if not name.startswith(teaching)]
    start += [f"{PACKAGE}.command.{name}" for name in ("__main__", *COMMANDS)]
    code = [known[name] for name in sorted(reachable(root, start, without=[CLASS]))]
    return code + [
        path for path in sorted((root / PACKAGE).rglob("*")) if path.suffix in DATA or path.name in DATA
    ]


def write_archive(files: Mapping[str, bytes], path: Path) -> None:
    """An archive with one folder in it."""
    write_zip({f"{NAME}/{name}": data for name, data in files.items()}, path)


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """The files in a folder, for a git repository to publish.

    What an earlier bundle has put there and this one does not hold is taken away; all else, such as .git,
    stays. Raises: CourseError where the folder is there and was not made so.
    """
    manifest = folder / MANIFEST
    if manifest.is_file():
        before = [line[66:] for line in manifest.read_text(encoding="utf-8").splitlines()]
    elif folder.exists() and any(each.name != ".git" for each in folder.iterdir()):
        raise CourseError(f"{folder}: holds files that no earlier bundle put there; name another folder")
    else:
        before = []
    for gone in set(before) - set(files):
        if _is_inside(gone):
            (folder / gone).unlink(missing_ok=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _notebooks(root: Path) -> Iterator[Path]:
    """The chapters with what belongs to them, and the exercises."""
    yield from sorted((root / "notebooks").glob("*.ipynb"))
    for name in MODULES:
        path = root / "exercises" / name / f"{name}.ipynb"
        if not path.is_file():
            raise CourseError(f"{path} is missing; make it: make release")
        yield path


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts
