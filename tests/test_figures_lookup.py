"""Claims about the pictures of chapter 1: they draw what they are given, and their words hold the numbers."""

import numpy as np
import pytest

from course_lib import figures

KEYS, VALUES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 4.0], [5.0, 1.0]])
LOOKUP = {"scores": [1.0, -1.0, 0.0], "weights": [0.665, 0.09, 0.245], "output": [2.555, 0.605]}


def lookup_planes():
    return figures.lookup_planes([1, 0], KEYS, VALUES, **LOOKUP, labels=["A", "B", "C"])


def test_a_lookup_says_scores_weights_and_output_in_words():
    words = figures.show(lookup_planes()).text
    assert "B    (-1, 0)  -1" in words
    assert "C      (5, 1)  0.245" in words
    assert "output (2.555, 0.605)" in words


def test_a_lookup_marks_the_output_where_it_is_given():
    _, values = lookup_planes().get_figure().axes
    marks = [line for line in values.lines if line.get_marker() == "X"]
    assert [float(marks[0].get_xdata()[0]), float(marks[0].get_ydata()[0])] == LOOKUP["output"]


def test_a_larger_weight_is_a_larger_point():
    _, values = lookup_planes().get_figure().axes
    sizes = values.collections[0].get_sizes()
    assert sizes[0] > sizes[2] > sizes[1]


def test_drawing_changes_no_argument():
    before = KEYS.copy(), VALUES.copy()
    figures.show(lookup_planes())
    np.testing.assert_array_equal(KEYS, before[0])
    np.testing.assert_array_equal(VALUES, before[1])


def test_a_missing_score_is_refused_by_name():
    with pytest.raises(ValueError, match="scores: expected 2, one per label, got 1"):
        figures.key_plane([1, 0], KEYS[:2], [1.0], ["A", "B"])


def test_keys_outside_the_plane_are_refused_by_name():
    with pytest.raises(ValueError, match=r"keys: expected shape \(M, 2\)"):
        figures.key_plane([1, 0], [[1, 2, 3]], [1.0], ["A"])


def test_weight_curves_draw_one_curve_per_key_with_every_number_in_words():
    weights = [[0.5, 0.5], [0.6, 0.4], [0.9, 0.1]]
    ax = figures.weight_curves([0.5, 1, 2], weights, ["A", "B"], xlabel="factor")
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.5, 0.6, 0.9], [0.5, 0.4, 0.1]]
    assert "2       0.900  0.100" in figures.show(ax).text


def test_weight_curves_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"weights: expected shape \(2, 2\)"):
        figures.weight_curves([1, 2], [[1.0], [1.0]], ["A", "B"], xlabel="factor")


def test_smoothers_share_one_height_and_list_five_estimates_each():
    grid = np.linspace(0, 1, 9)
    ax = figures.smoothers([0.0, 1.0], [-1.0, 2.0], grid, {"flat": 0 * grid + 0.5, "line": grid}, grid)
    heights = {panel.get_ylim() for panel in ax.get_figure().axes}
    assert len(heights) == 1
    last = figures.show(ax).text.splitlines()[-1]
    assert last.endswith("0: 0.00  0.25: 0.25  0.5: 0.50  0.75: 0.75  1: 1.00")
