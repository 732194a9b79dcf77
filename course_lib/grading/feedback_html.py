"""The feedback page as HTML: one file that needs no network, with formulas as MathML and no dead links."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, wraps
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup
from nbconvert.exporters import TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets import default
from traitlets.config import Config

from .feedback_formula import formula
from .outputs import is_picture

HERE = Path(__file__).parent
KEPT = 500  # fragments that are kept, since most cells are the same in everyone's notebook
LONGEST = 20_000  # characters of one that is kept: pasted pictures would fill the memory
OURS = re.compile(r"&lt;(/?(?:details|summary|br|sub|sup))\s*/?&gt;")  # tags without attributes


class FeedbackPage(TemplateExporter):
    """Makes the page of a notebook that `FoldTests` has prepared; replaces nbgrader's template.

    The exporter that is usually built upon reads each page once more, to make it fit for all notebooks, which
    takes longer than all the rest.
    """

    output_mimetype = "text/html"

    def __init__(self, config: Config | None = None, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.raw_template = _text("feedback_page.html.j2")

    @default("file_extension")
    def _extension(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page."""
        style = _text("feedback_page.css")
        resources = {**(resources or {}), "style": style, "allowed": _allowed(style)}
        return super().from_notebook_node(nb, resources, **kwargs)

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        """Those of notebooks, and ours."""
        yield from super().default_filters()
        yield "code", code
        yield "picture", picture
        yield "words", words


def _kept(make: Callable[..., str]) -> Callable[..., str]:
    """The same function of texts, which keeps what it made of short ones."""
    kept = lru_cache(KEPT)(make)

    @wraps(make)
    def made(*texts: str) -> str:
        return (kept if sum(map(len, texts)) <= LONGEST else make)(*texts)

    return made


@_kept
def code(source: str) -> str:
    """Code as a fragment of the page."""
    return str(Highlight2HTML(pygments_lexer="ipython3")(source))


def words(source: str, attachments: Any = None) -> str:
    """Markdown as a fragment of the page, with the pictures that were pasted into it."""
    return _words(source, json.dumps(attachments if isinstance(attachments, dict) else {}))


@_kept
def _words(source: str, attachments: str) -> str:
    renderer = Words(escape=False, exclude_anchor_links=True, attachments=json.loads(attachments))
    fragment = MarkdownWithMath(renderer=renderer).render(source)
    return str(BeautifulSoup(fragment, "html.parser"))  # which closes what a student left open


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
        said = escape(unescape(re.sub(r"<[^>]*>", "", text)))
        name = url.removeprefix("attachment:") if url.startswith("attachment:") else ""
        shown = picture(self.attachments.get(name) or self.attachments.get(unquote(name)))
        return f'<img src="{shown}" alt="{said}">' if shown else f"{said} (<code>{escape(url[:200])}</code>)"

    def inline_html(self, html: str) -> str:
        """HTML in a sentence."""
        return _tags_of_ours(html)

    def block_html(self, html: str) -> str:
        """HTML on lines of its own."""
        return _tags_of_ours(html)

    def block_mermaidjs(self, code: str) -> str:
        """The text of a diagram that a script would draw; the page has none."""
        return f"<pre>{self.escape_html(code)}</pre>"

    def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
        """A cell of a table, without the style that the library gives it."""
        tag = "th" if head else "td"
        return f"<{tag}>{text}</{tag}>"


def picture(data: Any) -> str:
    """The address of a picture that lies in the page itself; empty where there is none that a page may show.

    Parameters: data, by kind, of an output or of what was pasted into a cell.

    >>> picture({"image/png": "aGk=\\n", "image/svg+xml": "<svg onload=x>"})
    'data:image/png;base64,aGk='
    >>> picture({"image/png": '" onerror=x'})
    ''
    """
    found = data if isinstance(data, dict) else {}
    kind = next((kind for kind, value in found.items() if value and is_picture(kind, value)), None)
    return f"data:{kind};base64,{''.join(''.join(found[kind]).split())}" if kind else ""


def _tags_of_ours(html: str) -> str:
    """HTML in Markdown as text, but for a few tags that the exercises use, which can do nothing."""
    return OURS.sub(r"<\1>", escape(html, quote=False))


def _allowed(style: str) -> str:
    """What a browser may do for the page: show its own style and the pictures in it. No script runs."""
    known = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'"
    )


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
