"""Builds the site: every chapter and the glossary as pages with the stored outputs, exercises as files.

`make site` calls it; the pages are then in build/site and need no network.
"""

import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from sphinx.cmd.build import build_main

from course_lib import notebooks

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "site"
EXERCISE = re.compile(r"\[([^\]]+)\]\(\.\./work/([^)]+)\)")


def as_page(notebook: NotebookNode) -> NotebookNode:
    """A notebook for Sphinx: exercises linked as files of the site, folded cells marked in its own way."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = EXERCISE.sub(r'<a href="exercises/\2" download>\1</a>', cell.source)
        elif cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.tags = [*cell.metadata.get("tags", []), "hide-input"]
    return notebook


def slug(heading: str) -> str:
    """The anchor of a heading as JupyterLab makes it, so that the notebooks' links lead there.

    >>> slug("What is a head?")
    'What-is-a-head?'
    """
    return heading.replace(" ", "-")


def title(notebook: NotebookNode) -> str:
    """The first heading."""
    (found, *_) = re.findall(r"^# (.+)$", "\n".join(cell.source for cell in notebook.cells), re.MULTILINE)
    return found


def lay_out(source: Path) -> None:
    """Put the sources of all pages into the folder `source`."""
    chapters = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in chapters:
        nbformat.write(as_page(notebooks.read(path)), source / path.name)
    exercises = [path.relative_to(ROOT) for path in sorted((ROOT / "exercises").glob("*/*.ipynb"))]
    titles = [title(notebooks.read(ROOT / path)) for path in exercises]
    links = [
        f'- <a href="{path.as_posix()}" download>{name}</a>'
        for path, name in zip(exercises, titles, strict=True)
    ]
    index = (HERE / "index.md").read_text(encoding="utf-8")
    for name, lines in (("chapters", [path.stem for path in chapters]), ("exercises", links)):
        index = index.replace(f"\n{name}\n", "\n" + "\n".join(lines) + "\n")
    (source / "index.md").write_text(index, encoding="utf-8")


def build(site: Path) -> int:
    """Build the site into an empty or new folder; the exit status is 0 when not even a warning was given."""
    with TemporaryDirectory() as folder:
        source, trees = Path(folder, "source"), Path(folder, "trees")
        source.mkdir()
        lay_out(source)
        options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(trees)]
        status = build_main([*options, str(source), str(site)])
    shutil.copytree(ROOT / "exercises", site / "exercises", ignore=shutil.ignore_patterns(".*"))
    return status


def main() -> int:
    """Build build/site from nothing."""
    site = ROOT / "build" / "site"
    shutil.rmtree(site, ignore_errors=True)
    status = build(site)
    print(f"The site is in {site.relative_to(ROOT)}: open index.html in a browser.")
    return status


if __name__ == "__main__":
    sys.exit(main())
