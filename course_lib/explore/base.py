"""Progressive figures: a picture with its words everywhere, controls and a live drawing where scripts run.

An `Explorable` is a `course_lib.figures.Picture` whose HTML carries, behind the picture, a style sheet and a
script. Where scripts run (a cell just run, a trusted notebook, a web page) the script replaces the picture by
labelled controls and an SVG that computes its numbers in the page: no kernel, no network, no global name.
Where they do not run, the picture, its alt text and its caption are left as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.figures import Picture, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HOW_TO_WAKE = "To move this figure, run its cell or choose Trust Notebook in the command palette."
_ISSUED: Counter[str] = Counter()


@dataclass(frozen=True)
class Explorable(Picture):
    """A picture that a script makes movable.

    name: the JavaScript file (`name.js`), whose function `explore(stage, data)` draws into the stage;
    data: what that function needs, as JSON; identity: the element's id, unique in its page; needs: further
    JavaScript files that come first.
    """

    name: str = ""
    data: str = "{}"
    identity: str = ""
    needs: tuple[str, ...] = ()

    def html(self) -> str:
        """The picture as HTML, followed by the style and the script that replace it."""
        still = super().html()
        wake = f'<small data-explorable="still">{_HOW_TO_WAKE}</small>'
        figure = still.replace("<figure ", f'<figure id="{self.identity}" class="explorable" ', 1)
        figure = figure.replace("</figcaption></figure>", f" {wake}</figcaption></figure>")
        parts = [
            source("base.js"),
            *(source(f"{each}.js") for each in self.needs),
            source(f"{self.name}.js"),
            f'wake("{self.identity}", explore, {self.data});',
        ]
        script = "(() => {\n" + "\n".join(parts) + "\n})();"
        return f"{figure}\n<style>\n{source('base.css')}</style>\n<script>\n{script}\n</script>"


def explorable(
    ax: Axes, name: str, data: Mapping[str, Any], caption: str, *, needs: tuple[str, ...] = ()
) -> Explorable:
    """Make the figure that holds `ax` movable by the script `name`.js with these data.

    Parameters: `ax` as for `course_lib.figures.show`; data: numbers, strings, lists and arrays; caption: what
    the reader may move and what to watch; needs: names of further scripts that `name`.js builds on. Returns:
    the display object. Its id comes from name and data and from how many equal ones this process has made, so
    that a fresh kernel writes the same bytes again.
    """
    if not caption:
        raise ValueError("caption: expected a line that says what to move, got none")
    picture = show(ax, caption)
    text = in_script(data)
    identity = f"explore-{name.replace('_', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    _ISSUED[identity] += 1
    if _ISSUED[identity] > 1:
        identity += f"-{_ISSUED[identity]}"
    return Explorable(**vars(picture), name=name, data=text, identity=identity, needs=needs)


def in_script(data: Mapping[str, Any]) -> str:
    """Data as JSON that is safe inside a script element; floats keep every bit.

    >>> in_script({"x": np.array([0.1, 2.0]), "word": "</script>"})
    '{"x":[0.1,2.0],"word":"\\\\u003c/script>"}'
    """
    text = json.dumps(data, default=np.ndarray.tolist, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


@cache
def source(file: str) -> str:
    """The text of a JavaScript or CSS file of this package."""
    return (resources.files("course_lib.explore") / file).read_text(encoding="utf-8")


def numbers(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """The argument as finite floats of the expected shape (None: any length above 0), or a ValueError."""
    array = np.asarray(values, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        length > 0 and wanted in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = str(shape).replace("None", "any")
        raise ValueError(f"{name}: expected shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers, got some that are not")
    return array


def steps(lowest: float, highest: float, start: float, count: int = 80) -> list[float]:
    """Positions of a slider that multiplies: `count` from lowest to highest, three digits each, and `start`.

    >>> steps(0.1, 10.0, 2.0, count=3)
    [0.1, 1.0, 2.0, 10.0]
    """
    positions = {float(f"{value:.3g}") for value in np.geomspace(lowest, highest, count)}
    return sorted(positions | {float(start)})
