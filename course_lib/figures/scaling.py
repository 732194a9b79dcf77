"""Pictures of what dividing by √d_k changes: spread of scores, slope of softmax, width sweep, training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import describe, new_axes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = (
    {"linestyle": "-", "marker": "o"},
    {"linestyle": "--", "marker": "s"},
    {"linestyle": ":", "marker": "^"},
)


def score_histogram(samples: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw how often scores of each size occur, one outline per sample, on one axis.

    Parameters: samples maps a name to its scores (N,). Returns: the Axes.

    >>> score_histogram({"raw": [-8.0, 0.0, 8.0], "scaled": [-1.0, 0.0, 1.0]}).get_xlabel()
    'score'
    """
    arrays = {name: np.asarray(values, dtype=float) for name, values in samples.items()}
    if not arrays:
        raise ValueError("samples: expected at least one array of scores, got none")
    limit = max(float(np.abs(values).max()) for values in arrays.values()) or 1.0
    bins = np.linspace(-limit, limit, 121)
    if ax is None:
        (ax,) = new_axes()
    for (name, values), style in zip(arrays.items(), _STYLES, strict=False):
        ax.hist(values, bins, density=True, histtype="step", label=name, linestyle=style["linestyle"], lw=1.8)
    ax.set(xlabel="score", ylabel="density", title="How large are the scores?")
    ax.legend()
    spreads = {name: f"{values.std():.2f}" for name, values in arrays.items()}
    alt = "Histograms of scores around 0. " + ", ".join(
        f"{name}: standard deviation {spread}" for name, spread in spreads.items()
    )
    rows = [[name, spreads[name], f"{np.abs(values).max():.1f}"] for name, values in arrays.items()]
    return describe(ax, alt + ".", table(rows, ["scores", "standard deviation", "largest size"]))


def two_key_slope(
    differences: ArrayLike,
    weights: ArrayLike,
    slopes: ArrayLike,
    marks: Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the first of two weights, and its slope, against the difference of the two scores.

    Parameters: differences (N,) increasing; weights (N,) and slopes (N,) there; marks maps a name to a
    difference among them that is to be pointed out. Returns: the Axes.

    >>> two_key_slope([-1, 0, 1], [0.269, 0.5, 0.731], [0.197, 0.25, 0.197], {"equal": 0}).get_xlabel()
    'score of the first key minus score of the second'
    """
    x, p, slope = (np.asarray(values, dtype=float) for values in (differences, weights, slopes))
    if not x.shape == p.shape == slope.shape:
        raise ValueError(f"weights, slopes: expected shape {x.shape}, got {p.shape} and {slope.shape}")
    if ax is None:
        (ax,) = new_axes()
    ax.plot(x, p, label="weight p of the first key")
    ax.plot(x, slope, "--", label="slope p (1 - p)")
    rows = []
    for name, mark in marks.items():
        at = int(np.abs(x - mark).argmin())
        ax.plot([x[at]] * 2, [p[at], slope[at]], "o:", color="black", lw=0.8)
        ax.annotate(name, (x[at] + 0.15, (p[at] + slope[at]) / 2), fontsize=9)
        rows.append([name, f"{x[at]:g}", f"{p[at]:.4f}", f"{slope[at]:.4f}"])
    ax.set(
        xlabel="score of the first key minus score of the second", ylabel="weight, slope", ylim=(-0.05, 1.1)
    )
    ax.set_title("Far from 0 the weight hardly moves")
    ax.legend(loc="center left")
    listed = ", ".join(f"{name} at {x} weight {p} and slope {slope}" for name, x, p, slope in rows)
    alt = f"An S-shaped curve of the weight and a hill, its slope, that is flat on both sides: {listed}."
    return describe(ax, alt, table(rows, ["two keys", "difference", "weight", "slope"]))


def width_panels(
    widths: ArrayLike,
    measures: Mapping[str, Mapping[str, ArrayLike]],
    *,
    axes: Sequence[Axes] | None = None,
) -> Axes:
    """Draw measures of random rows of weights against the key width, one panel per measure.

    Parameters: widths (W,); measures maps what is measured to, for each kind of score, an array (3, W): low
    end, middle and high end of a band. Returns: the first Axes.

    >>> band = [[0.2, 0.1], [0.4, 0.3], [0.6, 0.5]]
    >>> width_panels([1, 2], {"largest weight": {"scaled": band}}).get_xlabel()
    'key width'
    """
    x = np.asarray(widths, dtype=float)
    if axes is None:
        axes = new_axes(3.6 * len(measures), 3.2, columns=len(measures))
    if len(axes) != len(measures):
        raise ValueError(f"axes: expected {len(measures)}, one per measure, got {len(axes)}")
    for ax, (measure, kinds) in zip(axes, measures.items(), strict=True):
        bands = {kind: _checked_band(measure, band, x) for kind, band in kinds.items()}
        for (kind, band), style in zip(bands.items(), _STYLES, strict=False):
            _draw_band(ax, x, band, kind, style)
        ax.set_xscale("log", base=2)
        ax.set_ylim(bottom=0)
        ax.set(xlabel="key width", title=measure)
        rows = [
            [f"{width:g}", *(f"{band[1, at]:.3f}" for band in bands.values())] for at, width in enumerate(x)
        ]
        ends = [f"{kind} from {band[1, 0]:.2f} to {band[1, -1]:.2f}" for kind, band in bands.items()]
        alt = f"Curves of the {measure} for key widths {x[0]:g} to {x[-1]:g}: {', '.join(ends)}."
        describe(ax, alt, f"{measure}\n{table(rows, ['key width', *bands])}")
    axes[0].legend(loc="lower right")  # the bands fill the rest
    return axes[0]


def loss_bands(
    losses: Mapping[str, ArrayLike], levels: Mapping[str, float] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how the losses of many models fall: a line for the middle one, a band for most of them.

    Parameters: losses maps a name to (3, U): low end, middle and high end of the losses at each update;
    levels maps a name to a loss drawn as a thin line. Returns: the Axes.

    >>> loss_bands({"scaled": [[2.7, 0.1], [2.8, 0.2], [2.9, 0.4]]}).get_ylabel()
    'training loss'
    """
    if ax is None:
        (ax,) = new_axes()
    rows = []
    for (name, values), style in zip(losses.items(), _STYLES, strict=False):
        updates = np.arange(np.shape(values)[-1])
        band = _checked_band(name, values, updates)
        _draw_band(ax, updates, band, name, {"linestyle": style["linestyle"]})
        shown = np.linspace(0, len(updates) - 1, 5).astype(int)
        rows += [[name, str(at), *(f"{level:.3f}" for level in band[:, at])] for at in shown]
    for name, level in (levels or {}).items():
        ax.axhline(level, color="0.5", lw=0.8)
        corner = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
        ax.annotate(f"{name} = {level:.3f}", (1, level), **corner)
    ax.set(xlabel="update", ylabel="training loss", title="How do the losses fall?")
    ax.legend(loc="upper right")
    last = ", ".join(f"{name} {np.asarray(values)[1, -1]:.3f}" for name, values in losses.items())
    alt = f"Middle training loss against updates, with bands. At the end: {last}."
    return describe(ax, alt, table(rows, ["scores", "update", "low", "middle", "high"]))


def share_intervals(
    labels: Sequence[str],
    shares: Mapping[str, ArrayLike],
    *,
    title: str = "",
    kind_label: str = "scores",
    ax: Axes | None = None,
) -> Axes:
    """Draw shares with their intervals, one row per label and one dot per kind.

    Parameters: labels of the R rows; shares maps a kind to (R, 3): low end, share, high end, in [0, 1]; what
    a kind is, for the text twin. Returns: the Axes.

    >>> share_intervals(["16"], {"scaled": [[0.5, 0.7, 0.8]]}).get_xlabel()
    'share of models'
    """
    if ax is None:
        (ax,) = new_axes(6.4, 1.2 + 0.5 * len(labels))
    rows, y = [], np.arange(len(labels), dtype=float)
    for offset, ((kind, ends), style) in enumerate(zip(shares.items(), _STYLES, strict=False)):
        ends_R3 = np.asarray(ends, dtype=float)
        if ends_R3.shape != (len(labels), 3):
            raise ValueError(f"shares: expected shape {(len(labels), 3)} for {kind!r}, got {ends_R3.shape}")
        low, middle, high = ends_R3.T
        errors = [middle - low, high - middle]
        ax.errorbar(middle, y + 0.2 * offset, xerr=errors, fmt=style["marker"], capsize=3, label=kind)
        rows += [
            [label, kind, *(f"{end:.2f}" for end in row)] for label, row in zip(labels, ends_R3, strict=True)
        ]
    ax.set_yticks(y + 0.1 * (len(shares) - 1), labels)
    ax.invert_yaxis()
    ax.set(xlabel="share of models", xlim=(-0.03, 1.03), title=title)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    listed = ", ".join(f"{label} {kind} {share}" for label, kind, _, share, _ in rows)
    alt = f"Dots with error bars, {title or 'shares of models'}: {listed}."
    return describe(ax, alt, table(rows, ["row", kind_label, "low", "share", "high"]))


def _checked_band(name: str, values: ArrayLike, x: np.ndarray) -> np.ndarray:
    band = np.asarray(values, dtype=float)
    if band.shape != (3, len(x)):
        raise ValueError(f"{name}: expected low, middle and high end, {(3, len(x))}, got {band.shape}")
    return band


def _draw_band(ax: Axes, x: np.ndarray, band: np.ndarray, label: str, style: Mapping[str, str]) -> None:
    (line,) = ax.plot(x, band[1], label=label, **style)
    ax.fill_between(x, band[0], band[2], color=line.get_color(), alpha=0.18, linewidth=0)
