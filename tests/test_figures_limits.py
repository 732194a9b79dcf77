from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures

PARTS = [("attention", "looks elsewhere"), ("+ row", "adds"), ("feed-forward", "alone"), ("+ row", "again")]


def draw_each():
    return {
        "floor": figures.pair_floor([0.25, 0.5, 0.75], [0.837, 0.693, 0.837]),
        "curves": figures.distance_curves(
            {"slope": [0.0, -0.2, -0.4], "table": [1, 0, 2]}, longest_trained=1
        ),
        "parts": figures.block_parts(PARTS),
    }


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("floor", ["0.50", "0.693"]),
        ("curves", ["2", "-0.4", "2.0"]),
        ("parts", ["3", "feed-forward", "alone"]),
    ],
)
def test_each_figure_has_alt_text_and_its_numbers_as_text(name, line):
    picture = figures.show(draw_each()[name])
    assert line in [each.split() for each in picture.text.splitlines()]
    assert picture.alt.endswith(".")


def test_the_lowest_point_of_the_pair_is_marked():
    marked = draw_each()["floor"].lines[1]
    assert (marked.get_xdata(), marked.get_ydata()) == (0.5, 0.693)


def test_curves_start_at_distance_zero_and_a_line_marks_the_longest_trained():
    ax = draw_each()["curves"]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 1, 2])
    assert list(ax.lines[2].get_xdata()) == [1, 1]


def test_numbers_that_round_to_zero_have_no_sign():
    assert "-0.0" not in figures.show(figures.distance_curves({"x": [1e-9, -1e-9]})).text


def test_each_residual_path_goes_around_the_boxes_since_the_last_one():
    paths = draw_each()["parts"].lines
    assert [(path.get_ydata()[0], path.get_ydata()[-1]) for path in paths] == [(-0.5, 1), (1.5, 3)]


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda: figures.pair_floor([0.5], [0.7, 0.7]), "losses"),
        (lambda: figures.distance_curves({"a": [1.0], "b": [1.0, 2.0]}), "curves"),
        (lambda: figures.block_parts([]), "parts"),
    ],
)
def test_an_argument_of_the_wrong_shape_is_named(draw, name):
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        draw()
