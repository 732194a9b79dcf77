"""Notebook files in one shape: the same content gives the same bytes, and a diff shows what was meant.

What the normaliser takes out is what running a notebook leaves behind: random cell ids, timings, view state,
version numbers of the machine, split streams, and pixels that differ from one machine's fonts to another's.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

from course_lib.errors import CourseError

MAX_BYTES = 500_000
PICTURE_DATA = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_CELL_METADATA = ("deletable", "editable", "nbgrader", "tags")
_VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?")


def read(path: Path) -> NotebookNode:
    """The notebook in a file. Raises: CourseError when it is none."""
    try:
        notebook = v4.reads(path.read_text(encoding="utf-8"))
        if notebook.nbformat != 4 or not isinstance(notebook.cells, list):
            raise ValueError("expected nbformat 4")
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise CourseError(f"{path}: cannot be read as a notebook ({error})") from None
    return notebook


def text_of(notebook: NotebookNode) -> str:
    """The file's text: keys sorted, one line per source line, a newline at the end."""
    return v4.writes(notebook) + "\n"


def normalise(notebook: NotebookNode, stem: str) -> NotebookNode:
    """The notebook in the project's shape, as a new object.

    nbformat 4.5; cell ids kept where they are readable and unique, else made from `stem` and a counter; only
    metadata that means something; streams joined; execution counts 1 to n. Exercises (notebooks with
    nbgrader cells) carry no outputs. Raises: CourseError when the cells were not run in order.
    """
    new = copy.deepcopy(notebook)
    new.nbformat, new.nbformat_minor = 4, 5
    new.metadata = nbformat.from_dict(_METADATA)
    for cell, cell_id in zip(new.cells, _cell_ids(new, stem), strict=True):
        cell.id = cell_id
        cell.metadata = _meaningful(cell.metadata)
        cell.source = cell.source.rstrip("\n")
    _number(new, stem)
    nbformat.validate(new)
    return new


def execute(notebook: NotebookNode, folder: Path, timeout: float = 120) -> NotebookNode:
    """The notebook run from top to bottom in a fresh kernel, as a new object.

    Parameters: folder, where the kernel starts; timeout, seconds for each cell. Raises: CourseError when a
    cell raises, takes too long or writes to stderr.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    new = copy.deepcopy(notebook)
    client = NotebookClient(
        new,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": folder}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # no warning that the kernel uses plain TCP
    )
    try:
        client.execute(env={**os.environ, "OMP_NUM_THREADS": "1", "JUPYTER_PREFER_ENV_PATH": "1"})
    except CellExecutionError as error:
        last = [cell.id for cell, output in outputs(new) if output.output_type == "error"][-1]
        raise CourseError(f"cell {last} raised {error.ename}: {error.evalue}") from None
    except CellTimeoutError:
        raise CourseError(f"a cell took longer than {timeout} seconds") from None
    for cell, output in outputs(new):
        if output.get("name") == "stderr":
            raise CourseError(f"cell {cell.id} wrote to stderr: {output.text.strip().splitlines()[-1]}")
    return new


def outputs(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    """Each output of each code cell, with its cell."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield cell, output


def with_stored_pictures(new: NotebookNode, stored: NotebookNode) -> NotebookNode:
    """`new` with the stored pixels of each figure whose words are unchanged, as a new object.

    Two machines draw the same figure with slightly different pixels; a figure counts as changed when its
    text twin, alt text or caption did.
    """
    merged = copy.deepcopy(new)
    pictures = {_words(cell, output): output.data["text/html"] for cell, output in _figures(stored)}
    for cell, output in _figures(merged):
        output.data["text/html"] = pictures.get(_words(cell, output), output.data["text/html"])
    return merged


def _figures(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    for cell, output in outputs(notebook):
        if PICTURE_DATA.search(output.get("data", {}).get("text/html", "")):
            yield cell, output


def _words(cell: NotebookNode, output: NotebookNode) -> tuple[Any, ...]:
    """A figure without its pixels."""
    return cell.id, output.data.get("text/plain"), PICTURE_DATA.sub("", output.data["text/html"])


def _meaningful(metadata: NotebookNode) -> NotebookNode:
    """What an author set on purpose: nbgrader's flags, tags, and a source hidden behind its output."""
    kept = {name: metadata.get(name) for name in _CELL_METADATA}
    if metadata.get("jupyter", {}).get("source_hidden"):
        kept["jupyter"] = {"source_hidden": True}
    return nbformat.from_dict({name: value for name, value in kept.items() if value not in (None, [])})


def _cell_ids(notebook: NotebookNode, stem: str) -> list[str]:
    """An id per cell: the present one where it is valid, readable and not taken, else stem-1, stem-2, ..."""
    present = [cell.get("id", "") for cell in notebook.cells]
    free = (f"{stem}-{n}" for n in range(1, 2 * len(present) + 1) if f"{stem}-{n}" not in present)
    ids: list[str] = []
    for cell_id in present:
        readable = _VALID_ID.fullmatch(cell_id) and not _RANDOM_ID.fullmatch(cell_id)
        ids.append(cell_id if readable and cell_id not in ids else next(free))
    return ids


def _number(notebook: NotebookNode, stem: str) -> None:
    """Tidy outputs and execution counts, in place."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    exercise = any("nbgrader" in cell.metadata for cell in notebook.cells)
    counts = [cell.get("execution_count") for cell in code if cell.source.strip()]
    never_run = exercise or not any(counts)
    if not never_run and (None in counts or counts != sorted(set(counts))):
        raise CourseError(f"{stem}: the cells were not run in order; use course normalise --execute")
    count = 0
    for cell in code:
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() and not never_run else None
        cell.outputs = [] if never_run else list(_tidy(cell.outputs, cell.execution_count))


def _tidy(outputs: list[NotebookNode], count: int | None) -> Iterator[NotebookNode]:
    """Outputs with neighbouring pieces of one stream joined, and with the cell's own count."""
    stream = None
    for output in outputs:
        if output.output_type == "stream" and stream is not None and output.name == stream.name:
            stream.text += output.text
            continue
        stream = output if output.output_type == "stream" else None
        if output.output_type == "execute_result":
            output.execution_count = count
        yield output
