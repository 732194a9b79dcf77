"""Cells and outputs of our own making.

As nbformat makes them, but without holding each against nbformat's schema, which is half of the time that it
takes to mark a submission once its code has run.
"""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import nbformat, nbformat_minor


def code_cell(source: str = "") -> NotebookNode:
    """A code cell that has not run."""
    return _cell("code", source, execution_count=None, outputs=[])


def markdown_cell(source: str = "") -> NotebookNode:
    """A cell of words."""
    return _cell("markdown", source)


def notebook_of(cells: list[NotebookNode]) -> NotebookNode:
    """A notebook of these cells, numbered by their ids."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return NotebookNode(
        nbformat=nbformat, nbformat_minor=nbformat_minor, metadata=NotebookNode(), cells=cells
    )


def text_display(text: str) -> NotebookNode:
    """Text that a cell shows."""
    return NotebookNode(output_type="display_data", metadata=NotebookNode(), data=_plain(text))


def text_result(text: str) -> NotebookNode:
    """Text as the value of a cell's last line."""
    return NotebookNode(
        output_type="execute_result", metadata=NotebookNode(), data=_plain(text), execution_count=None
    )


def _cell(kind: str, source: str, **more: Any) -> NotebookNode:
    return NotebookNode(id="cell", cell_type=kind, metadata=NotebookNode(), source=source, **more)


def _plain(text: str) -> NotebookNode:
    return NotebookNode({"text/plain": text})
