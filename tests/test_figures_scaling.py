from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures

WIDTHS = [1, 2, 4]
BAND = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]


def draw_each():
    return {
        "histogram": figures.score_histogram({"raw": [-8.0, 8.0, 0.0], "scaled": [-1.0, 1.0, 0.0]}),
        "slope": figures.two_key_slope([0.0, 8.0], [0.5, 0.9997], [0.25, 0.0003], {"raw": 8}),
        "widths": figures.width_panels(WIDTHS, {"entropy": {"scaled": BAND}, "norm": {"scaled": BAND}}),
        "losses": figures.loss_bands({"scaled": BAND}, {"ln 2": 0.693}),
        "shares": figures.share_intervals(["16", "64"], {"scaled": [[0.5, 0.625, 0.8], [0.0, 0.125, 0.25]]}),
    }


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("histogram", "6.53"),
        ("slope", "0.0003"),
        ("widths", "0.500"),
        ("losses", "0.600"),
        ("shares", "0.12"),
    ],
)
def test_each_figure_has_alt_text_and_its_numbers_as_text(name, number):
    picture = figures.show(draw_each()[name])
    assert number in picture.text
    assert picture.alt.endswith(".")


def test_each_measure_has_a_panel_of_its_own():
    ax = draw_each()["widths"]
    assert [panel.get_title() for panel in ax.figure.axes] == ["entropy", "norm"]
    picture = figures.show(ax)
    assert "entropy" in picture.text
    assert "norm" in picture.text


def test_the_middle_of_a_band_is_the_line_that_is_drawn():
    line = draw_each()["losses"].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), BAND[1])


def test_marks_stand_on_the_curves():
    dots = draw_each()["slope"].lines[2]
    np.testing.assert_array_equal(dots.get_xydata(), [[8.0, 0.9997], [8.0, 0.0003]])


def test_a_figure_draws_on_the_axes_it_is_given():
    (ax,) = figures.new_axes()
    assert figures.loss_bands({"scaled": BAND}, ax=ax) is ax


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda: figures.score_histogram({}), "samples"),
        (lambda: figures.two_key_slope([0, 1], [0.5], [0.2, 0.3], {}), "weights"),
        (lambda: figures.width_panels(WIDTHS, {"entropy": {"raw": [BAND[0]]}}), "entropy"),
        (lambda: figures.width_panels(WIDTHS, {"entropy": {"raw": BAND}}, axes=[]), "axes"),
        (lambda: figures.share_intervals(["16"], {"raw": [0.5, 0.6, 0.7]}), "shares"),
    ],
)
def test_an_array_of_the_wrong_shape_is_named(draw, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        draw()
