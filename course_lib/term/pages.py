"""What the pages for instructors share: one file each, offline, without scripts, fit for paper."""

from __future__ import annotations

import html
from collections.abc import Sequence

STYLE = """
:root { color-scheme: light; }
body { font: 1rem/1.5 "DejaVu Sans", Verdana, sans-serif; color: #1a1a1a; background: #fff;
  max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; } h3 { font-size: 1.05rem; }
a { color: #005a91; } figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9rem; min-width: 100%; }
li p, td p { margin: 0; } td p { min-width: 12rem; } td code { white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; }
tr { border-bottom: 1px solid #ccc; }
.number { text-align: right; white-space: nowrap; } thead th { border-bottom: 2px solid #555; }
code, pre { font-family: "DejaVu Sans Mono", monospace; font-size: 0.9em; overflow-wrap: anywhere; }
.note { background: #f3f3f3; border-left: 4px solid #0072b2; padding: 0.5rem 0.8rem; }
.hole { color: #8a2f00; font-weight: bold; }
@media print { body { max-width: none; padding: 0; font-size: 9.5pt; } a { color: inherit; }
  table { font-size: 8pt; } th, td { padding-right: 0.4rem; } td p { min-width: 0; }
  td code { white-space: normal; } .number { white-space: normal; }
  h2, h3 { break-after: avoid; } tr, figure, li { break-inside: avoid; } .wide { overflow: visible; }
  thead { display: table-header-group; } details:not([open]) { display: none; } }
"""


class Markup(str):
    """Text that is HTML already."""


def page(title: str, body: Sequence[str]) -> str:
    """A whole page. Parameters: title, also its first heading; body, pieces of HTML."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    return "\n".join(
        [
            f'<!DOCTYPE html>\n<html lang="en-GB">\n<head>{head}<title>{text(title)}</title>',
            f"<style>{STYLE}</style></head>\n<body><main>\n<h1>{text(title)}</h1>",
            *body,
            "</main></body>\n</html>\n",
        ]
    )


def text(words: object) -> str:
    """Words as HTML, unless they are that already.

    >>> text("a < b"), text(Markup("<b>a</b>"))
    ('a &lt; b', '<b>a</b>')
    """
    return words if isinstance(words, Markup) else html.escape(str(words))


def paragraph(words: object, kind: str = "") -> str:
    """A paragraph; of kind "note" a box."""
    return f"<p{_classes(kind)}>{text(words)}</p>"


def bullets(lines: Sequence[object]) -> str:
    """A list."""
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


def link(address: str, words: str) -> Markup:
    """A link."""
    return Markup(f'<a href="{html.escape(address, quote=True)}">{text(words)}</a>')


def code(words: str) -> Markup:
    """A name as programs write it."""
    return Markup(f"<code>{text(words)}</code>")


def prose(words: str) -> Markup:
    """A sentence; what stands between backticks is code.

    >>> prose("Is `a < b`?")
    '<p>Is <code>a &lt; b</code>?</p>'
    """
    parts = [text(part) if number % 2 == 0 else code(part) for number, part in enumerate(words.split("`"))]
    return Markup(f"<p>{''.join(parts)}</p>")


def table(
    name: str, head: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[str] = ()
) -> str:
    """A table, which scrolls by itself where it is too wide. numbers: the headings of columns of numbers."""
    right = [heading in numbers for heading in head]
    top = "".join(
        f'<th scope="col"{_classes("number" if each else "")}>{text(heading)}</th>'
        for heading, each in zip(head, right, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, each) for cell, each in zip(row, right, strict=True))}</tr>\n"
        for row in rows
    )
    frame = f'<div class="wide" role="group" aria-label="{html.escape(name, quote=True)}" tabindex="0">'
    return f"{frame}<table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>"


def _cell(cell: object, right: bool) -> str:
    return f"<td{_classes('number' if right else '')}>{text(cell)}</td>"


def _classes(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
