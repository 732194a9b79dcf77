"""What every figure of the course shares: the style, the words that go with a picture, and how it is shown.

A figure function takes arrays and an optional Axes, draws, calls `describe`, and returns the Axes. `show`
turns it into one display object: an HTML figure (picture, alt text, caption) and a text twin for readers and
tools that see no picture. JupyterLab gives matplotlib's own PNG outputs no alt text, which is why figures
are not shown in matplotlib's way.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# JupyterLab takes the keys of whatever has focus in an output, unless that element itself says not to.
_OWN_KEYS = 'data-lm-suppress-shortcuts="true"'


@dataclass(frozen=True)
class Grid:
    """The numbers of a heat map as a table: its title, the names of its columns, and its rows.

    The first cell of each row is the row's name.

    >>> print(Grid("weights", ["query", "cat"], [["it", "0.94"]]).text())
    weights
    query  cat
    it     0.94
    """

    title: str
    header: list[str]
    rows: list[list[str]]

    def text(self) -> str:
        return f"{self.title}\n{table(self.rows, self.header)}"

    def html(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.header)
        body = "".join(
            f'<tr><th scope="row">{html.escape(name)}</th>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self.rows
        )
        caption = f"<caption>{html.escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_WORDS: WeakKeyDictionary[Axes, tuple[str, str, tuple[Grid, ...]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Picture:
    """A picture with its words: what JupyterLab displays for a figure.

    png: the picture; alt: what is seen, in a sentence; text: the numbers, as a table or a sentence;
    caption: a line below the picture, or ""; grids: the tables of a heat map, folded away below it.
    """

    png: bytes
    alt: str
    text: str
    caption: str = ""
    grids: tuple[Grid, ...] = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text}

    def html(self) -> str:
        """The figure as HTML that works without scripts, also in a notebook that is not trusted."""
        data = base64.b64encode(self.png).decode()
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            '<figure style="margin: 0.5em 0">'
            f'<img alt="{html.escape(self.alt, quote=True)}" style="max-width: 100%"'
            f' src="data:image/png;base64,{data}">{self._tables()}{caption}</figure>'
        )

    def _tables(self) -> str:
        """The grids, folded away; wide ones scroll, which keys can do as well."""
        if not self.grids:
            return ""
        return (
            f"<details><summary {_OWN_KEYS}>The numbers as a table</summary>"
            f'<div tabindex="0" role="group" aria-label="The numbers as a table" {_OWN_KEYS}'
            f' style="overflow-x: auto">{"".join(grid.html() for grid in self.grids)}</div></details>'
        )


def new_axes(width: float = 6.4, height: float = 3.4, columns: int = 1, rows: int = 1) -> tuple[Axes, ...]:
    """Empty Axes side by side in the course's style, outside pyplot's list of open figures.

    Parameters: width and height of the whole figure in inches; number of columns and of rows. Returns: that
    many Axes, row by row.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(str(resources.files("course_lib.figures") / "course.mplstyle")):
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
    return tuple(axes)


def describe(ax: Axes, alt: str, text: str, grids: Sequence[Grid] = ()) -> Axes:
    """Give Axes their words: `alt` says what is seen, `text` holds the numbers. Returns the Axes.

    A heat map gives its numbers as `grids`, too, which the notebook shows as tables.
    """
    if not alt or not text:
        raise ValueError("alt, text: expected words for a reader who does not see the picture, got none")
    _WORDS[ax] = (alt, text, tuple(grids))
    return ax


def show(ax: Axes, caption: str = "") -> Picture:
    """The figure that holds `ax`, with the words of all its Axes, ready to be the last value of a cell."""
    figure = ax.get_figure(root=True)
    words = [_WORDS[each] for each in figure.axes if each in _WORDS]
    if not words:
        raise ValueError("ax: expected Axes from a figure function, got Axes without alt text; see describe")
    alts, texts, grids = zip(*words, strict=True)
    return Picture(_png(figure), " ".join(alts), "\n".join(texts), caption, tuple(chain(*grids)))


def table(rows: list[list[str]], header: list[str]) -> str:
    """A plain-text table with aligned columns: the text twin of most figures.

    >>> print(table([["A", "0.500"], ["B", "0.250"]], header=["key", "weight"]))
    key  weight
    A    0.500
    B    0.250
    """
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _png(figure: object) -> bytes:
    """The figure as a PNG of at most 128 colours, which keeps notebooks small."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    canvas = FigureCanvasAgg(figure)  # type: ignore[arg-type]
    canvas.draw()
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    buffer = io.BytesIO()
    picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
