"""The feedback page as HTML: one file that needs no network, with formulas as MathML and no dead links."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets.config import Config

HERE = Path(__file__).parent
MAX_FORMULA = 2000  # characters


class FeedbackPage(HTMLExporter):
    """Makes the page of a notebook that `FoldTests` has prepared; replaces nbgrader's template."""

    def __init__(self, config: Config | None = None, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.raw_template = _text("feedback_page.html.j2")

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page."""
        resources = {**(resources or {}), "style": _text("feedback_page.css")}
        return super().from_notebook_node(nb, resources, **kwargs)

    @pass_context
    def markdown2html(self, context: Context, source: str) -> str:
        """Markdown as a fragment of the page."""
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = Words(escape=False, exclude_anchor_links=True, attachments=attachments)
        return str(MarkdownWithMath(renderer=renderer).render(source))


class Words(IPythonRenderer):
    """Markdown as HTML that a page on its own can show."""

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return formula(body, "block")

    def inline_math(self, body: str) -> str:
        """A formula in a sentence."""
        return formula(body, "inline")

    def latex_environment(self, name: str, body: str) -> str:
        """Several lines of formulas."""
        return formula(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link; where it leads to a file of the course, which does not lie beside the page, its name."""
        if re.match(r"(https?://|mailto:|#)", url):
            return str(super().link(text, url, title))
        return f"{text} (<code>{self.escape_html(re.sub(r'^([.]{1,2}/)+', '', url))}</code>)"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that was pasted into its cell; the page fetches no other."""
        if url.startswith("attachment:") and self.attachments.get(url.removeprefix("attachment:")):
            return str(super().image(text, url, title))
        return f"{self.escape_html(text)} (<code>{self.escape_html(url[:200])}</code>)"


def formula(tex: str, display: str) -> str:
    """A formula as MathML; as it was typed where that cannot be.

    >>> formula("x^2", "inline")[:60]
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="in'
    >>> formula(r"\\href{javascript:alert(1)}{x}", "inline")
    '<code>\\\\href{javascript:alert(1)}{x}</code>'
    """
    try:
        made = convert(tex, display=display) if len(tex) <= MAX_FORMULA else ""
    except Exception:  # whatever a student can write between two dollars
        made = ""
    if not made or "href" in made:
        return f"<code>{IPythonRenderer().escape_html(tex)}</code>"
    return made


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
