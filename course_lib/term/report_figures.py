"""The pictures of a report, in the course's style: they are drawn from numbers that the page shows, too."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from course_lib.figures.base import new_axes, table

from .items import Item

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 10


@dataclass(frozen=True)
class Drawn:
    """A picture with its words: what is seen, in a sentence, and the numbers as a table."""

    ax: Axes
    alt: str
    text: str


def distribution(points: Sequence[float], most: float) -> Drawn:
    """How many students have how many points: a bar for each tenth of them.

    >>> distribution([0, 5, 20, 20], 20).ax.get_ylabel()
    'students'
    """
    width = most / BINS
    counts = [0] * BINS
    for each in points:
        counts[min(int(each / width), BINS - 1)] += 1
    (ax,) = new_axes(6.4, 2.6)
    ax.bar([width * (number + 0.5) for number in range(BINS)], counts, width=width * 0.9)
    ax.set(xlabel="points", ylabel="students", xlim=(0, most), title="Points of the class")
    ax.set_xticks([width * number for number in range(0, BINS + 1, 2)])
    ax.yaxis.get_major_locator().set_params(integer=True)
    rows = [[f"{width * n:g} to {width * (n + 1):g}", str(count)] for n, count in enumerate(counts) if count]
    at = max(range(BINS), key=counts.__getitem__)
    alt = (
        f"Bars: how many of {len(points)} students have how many points. Most, {counts[at]}, have "
        f"{width * at:g} to {width * (at + 1):g} of {most:g}."
    )
    return Drawn(ax, alt, table(rows, ["points", "students"]))


def shares(items: Sequence[Item]) -> Drawn:
    """The share of its points that the class reached in each question, from the first at the top."""
    shown = [each for each in items if each.difficulty is not None]
    values = [each.difficulty or 0.0 for each in shown]
    (ax,) = new_axes(6.4, 0.8 + 0.24 * len(shown))
    ax.barh(range(len(shown)), values, height=0.7)
    ax.set_yticks(range(len(shown)), [each.question for each in shown], fontsize=9)
    ax.set(xlim=(0, 1), xlabel="share of the points that the class reached", title="Questions")
    ax.set_ylim(len(shown) - 0.4, -0.6)
    rows = [[each.question, f"{value:.2f}"] for each, value in zip(shown, values, strict=True)]
    hardest = min(shown, key=lambda each: each.difficulty or 0.0)
    alt = (
        f"Bars: the share of its points that the class reached, for {len(shown)} questions. "
        f"The hardest is {hardest.question} with {hardest.difficulty:.2f}."
    )
    return Drawn(ax, alt, table(rows, ["question", "share"]))


def times(handed_in: Mapping[str, int]) -> Drawn:
    """How many handed in how long before the due date."""
    (ax,) = new_axes(6.4, 0.8 + 0.26 * len(handed_in))
    ax.barh(range(len(handed_in)), list(handed_in.values()), height=0.7)
    ax.set_yticks(range(len(handed_in)), list(handed_in))
    ax.set(xlabel="students", title="When work was handed in")
    ax.set_ylim(len(handed_in) - 0.4, -0.6)
    ax.xaxis.get_major_locator().set_params(integer=True)
    late = sum(list(handed_in.values())[-2:])
    alt = f"Bars: how many students handed in how long before the due date; {late} were late."
    rows = [[name, str(count)] for name, count in handed_in.items()]
    return Drawn(ax, alt, table(rows, ["when", "students"]))


def as_html(drawn: Drawn) -> str:
    """The figure as an element of a page, with its alt text; the same numbers give the same bytes."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context(fname=str(resources.files("course_lib.figures") / "course.mplstyle")):
        drawn.ax.get_figure(root=True).savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    alt, text = html.escape(drawn.alt, quote=True), html.escape(drawn.text)
    picture = f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{picture}<details><summary>As numbers</summary><pre>{text}</pre></details></figure>"
