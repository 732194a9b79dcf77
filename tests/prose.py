"""Reads the prose of a notebook: its decimal numbers, what supports them, its words and its links.

A number in prose must be the rounding, at the digits it is written with, of a number that the same notebook
printed (standard output, plain text, a figure's text twin), or stand in the table of quoted facts. What an
author typed into a folded question is prose as well, and supports nothing.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path

from nbformat import NotebookNode

_EXPONENT = r"(?:[eE]([+-]?\d+)|\s?(?:×|\\times|\\cdot)\s?10\^\{?(-?\d+)\}?)?"
_DECIMAL = re.compile(r"(?<![\w.])((?<![\d)\]}])-)?(\d+\.\d+)" + _EXPONENT + r"(?!\.?\d)")
_PRINTED = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NO_NUMBERS = re.compile(  # links, identifiers of papers, sections and versions look like decimals
    r"\]\([^)]*\)|https?://\S+|arXiv:\S+|\b10\.\d{4,}/\S+|[Ss]ections? \d+(\.\d+)*|\d+(\.\d+){2,}"
)
_SUPERSCRIPTS = str.maketrans({"⁻": "-"} | {digit: str(n) for n, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)


def decimals(text: str) -> list[tuple[str, Decimal]]:
    """The decimal numbers of a text, each as it is written and as a value with the written digits."""
    text = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "10^" + found[1].translate(_SUPERSCRIPTS), text)
    text = _NO_NUMBERS.sub(" ", text.replace("\N{MINUS SIGN}", "-"))
    text = re.sub(r"(?<=\d)(?:,|\{,\}|\\,)(?=\d{3}\b)", "", text)
    return [
        (found[0], Decimal(f"{found[1] or ''}{found[2]}e{found[3] or found[4] or 0}"))
        for found in _DECIMAL.finditer(text)
    ]


def printed_numbers(notebook: NotebookNode) -> set[Decimal]:
    """Every number in the outputs that code computed; timings, which differ each time, are left out."""
    numbers = set()
    for cell in notebook.cells:
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            continue
        for output in cell.get("outputs", []):
            text = output.get("data", {}).get("text/plain", output.get("text", ""))
            if not is_question(output):
                text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.replace("\N{MINUS SIGN}", "-"))
                numbers |= {Decimal(found) for found in _PRINTED.findall(text)}
    return numbers


def is_question(output: NotebookNode) -> bool:
    """Whether an output is a folded prediction or self-check question, which is typed, not computed."""
    shown = output.get("data", {}).get("text/html", "")
    return "<details" in shown and "<figure" not in shown


def claims(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Every piece of prose with its cell's id: Markdown, and of questions all but the wrong options."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.id, cell.source
        for output in filter(is_question, cell.get("outputs", [])):
            yield cell.id, _without_wrong_options(output.data["text/plain"])


def _without_wrong_options(question: str) -> str:
    """A question's own line, and its options up to the explanation, where that begins with "Right."."""
    first, *rest = question.split("\n")
    folds = re.split(r"\n(?=  \S)", "\n".join(rest))
    return "\n".join([first, *(fold for fold in folds if "\n    Not quite." not in fold)])


def supports(printed: Decimal, written: Decimal) -> bool:
    """Whether `written` is `printed` rounded at the digits that `written` shows; halves may go either way."""
    place = Decimal(1).scaleb(written.as_tuple().exponent)
    return any(printed.quantize(place, way) == written for way in (ROUND_HALF_UP, ROUND_HALF_DOWN))


def unsupported(notebook: NotebookNode, quoted: Iterable[Decimal]) -> list[str]:
    """The numbers of the prose that nothing printed supports, as "cell id: number"."""
    evidence = printed_numbers(notebook) | set(quoted)
    return [
        f"{where}: {written}"
        for where, text in claims(notebook)
        for written, value in decimals(text)
        if not any(supports(each, value) for each in evidence)
    ]


def quoted_facts(table: str) -> list[tuple[int, Decimal, str, str]]:
    """The rows of the table of quoted facts: chapter, number, what it is, and its source."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line[:1] == "|"
    ]
    return [(int(chapter), Decimal(number), what, source) for chapter, number, what, source in rows[2:]]


def words(markdown: str) -> int:
    """The words of a Markdown cell, without code blocks, table rules and the addresses of links."""
    text = re.sub(r"\]\([^)]*\)", "]", _CODE_BLOCK.sub("", markdown))
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def links(markdown: str) -> list[str]:
    """The addresses of links and pictures in Markdown or HTML that point to a file."""
    text = _CODE_BLOCK.sub("", markdown)
    found = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r"""(?:href|src)=["']([^"']+)""", text)
    return [link for link in found if not re.match(r"[a-z]+:|#", link)]


def target(link: str, file: Path, root: Path) -> Path:
    """The file that a link in `file` leads to; the student's copies in work/ are looked up in exercises/."""
    path = (file.parent / link.split("#")[0]).resolve()
    if path.is_relative_to(root / "work"):
        return root / "exercises" / path.relative_to(root / "work")
    return path


def sentences(markdown: str) -> list[str]:
    """The sentences of a Markdown cell; items, headings and cells of tables end one, a formula is a word."""
    text = re.sub(r"\$\$.*?\$\$", "\n\n", _CODE_BLOCK.sub("\n\n", markdown), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`|\$[^$]*\$", "X", re.sub(r"\]\([^)]*\)", "]", text))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*>#|]|\d+\.)\s?)|\|", text)
    lines = [" ".join(block.replace(">", " ").split()) for block in blocks]
    ends = r"(?<=[.!?])[\"”*)]*\s+(?=[\"“*(\[]*[A-Z0-9])"
    return [sentence for line in lines for sentence in re.split(ends, line) if sentence]
