"""What a feedback page shows: the student's work, points and sentences; nothing of tests or mark schemes."""

from __future__ import annotations

import html
import re
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import ClearMarkScheme
from nbgrader.utils import is_grade, is_locked, is_solution
from traitlets import List, Unicode

from .sanitise import name_of


class HideTests(ClearMarkScheme):
    """Feedback shows what a test found, not how it is written, and no mark scheme; what was repaired, at the
    top."""

    # nbgrader's base class takes the option's tag away, and the HTML exporter then warns about it each time.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        nb, resources = super().preprocess(nb, resources)
        course = nb.metadata.get("course", {})
        said = {"Noticed and repaired before marking": course.get("repairs", [])}
        said["Your submission could not be read"] = [course["unreadable"]] if course.get("unreadable") else []
        for head, sentences in said.items():
            if sentences:
                listed = "\n".join(f"- {as_markdown(sentence)}" for sentence in sentences)
                nb.cells.insert(0, new_markdown_cell(f"**{head}**\n\n{listed}"))
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        if is_grade(cell) and not is_solution(cell) and cell.cell_type == "code":
            cell.source = f"# automatic test {name_of(cell)}"
            cell.outputs = [output for output in cell.outputs if output.output_type == "display_data"]
        if is_locked(cell):
            self._remove_mark_scheme_region(cell)
        comment = cell.metadata.get("nbgrader", {}).get("comment")
        if comment and comment.startswith(f"{name_of(cell)}: "):  # ours; an instructor may write Markdown
            cell.metadata.nbgrader.comment = as_markdown(comment)
        return cell, resources


def as_markdown(text: str) -> str:
    """Plain text as the Markdown that shows it: the words of a student's error must not become markup.

    >>> as_markdown("__init__ <b>")
    '\\\\_\\\\_init\\\\_\\\\_ &lt;b&gt;'
    """
    return re.sub(r"([\\`*_{}\[\]#$~|])", r"\\\1", html.escape(text, quote=False))
