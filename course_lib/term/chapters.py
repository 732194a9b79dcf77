"""The chapters as a map needs them: their goals, and their sections with addresses."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

FORM = ("Check yourself", "What next?", "References", "Where people go wrong")  # every chapter has them
SITE = Path("build", "site")  # where `make site` puts the chapters as pages


@dataclass(frozen=True)
class Section:
    """A section of a chapter: the notebook's name, the id of the heading's cell, and the heading."""

    chapter: str
    cell: str
    heading: str

    @property
    def anchor(self) -> str:
        """What follows # in an address, in JupyterLab and on the site."""
        return self.heading.replace(" ", "-")

    @property
    def title(self) -> str:
        """Chapter and heading as a reader finds them, without the signs of formulas."""
        return f"{int(self.chapter[:2])} · {re.sub(r'[$]', '', self.heading)}"


class Links:
    """Addresses of sections, for a page that lies in a folder.

    Parameters: site, an address that begins with https://, or nothing for what `make site` has built in the
    course; where that is missing, too, a link leads to the notebook.
    """

    def __init__(self, root: Path, page: Path, site: str = "") -> None:
        self.root, self.folder, self.site = root, page.resolve().parent, site.rstrip("/")

    def to(self, section: Section) -> str:
        """The address."""
        if self.site:
            return f"{self.site}/{section.chapter}.html#{section.anchor}"
        built = self.root / SITE / f"{section.chapter}.html"
        path = built if built.is_file() else self.root / "notebooks" / f"{section.chapter}.ipynb"
        try:
            address = Path(os.path.relpath(path, self.folder)).as_posix()
        except ValueError:  # the page is for another drive of Windows
            address = path.resolve().as_uri()
        return f"{address}#{section.anchor}"


def sections(root: Path, chapter: str) -> dict[str, Section]:
    """The sections of a chapter by the ids of their cells, in order, without those that every chapter has."""
    found = {}
    for cell in _cells(root / "notebooks" / f"{chapter}.ipynb"):
        heading = re.match(r"#{2,3} (.+)", cell["source"])
        if cell["cell_type"] == "markdown" and heading and heading[1] not in FORM:
            found[cell["id"]] = Section(chapter, cell["id"], heading[1])
    return found


def goals(root: Path, chapter: str) -> list[str]:
    """What a reader can do after the chapter, as it says itself."""
    for cell in _cells(root / "notebooks" / f"{chapter}.ipynb"):
        if "fter this chapter you can" in cell["source"]:
            items = re.split(r"^- ", cell["source"], flags=re.MULTILINE)[1:]
            return [" ".join(item.split()).rstrip(";.") for item in items]
    return []


def in_words(root: Path, assignment: str) -> dict[str, float]:
    """The answers of an assignment that a person marks: their points by the names of their cells."""
    marks = [
        cell["metadata"].get("nbgrader", {})
        for cell in _cells(root / "exercises" / assignment / f"{assignment}.ipynb")
    ]
    return {
        each["grade_id"]: float(each["points"]) for each in marks if each.get("grade") and each["solution"]
    }


@cache
def _cells(path: Path) -> list[dict[str, Any]]:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise CourseError(f"{path}: no such notebook; take it from the course's repository") from None
    return [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]
