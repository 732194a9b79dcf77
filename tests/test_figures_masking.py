from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures

QUERIES, KEYS = ["a", "b", "c"], ["1", "2"]
MASK = np.array([[True, False], [True, True], [False, False]])
LOSSES = {"right": [2.8, 0.4, 0.15], "missing": [2.8, 0.2, 0.01]}


def draw_each():
    return {
        "masks": figures.mask_panels({"causal": MASK, "all": ~MASK}, QUERIES, KEYS),
        "weights": figures.weight_panels(
            {"before": np.full((3, 2), 0.5), "after": MASK * 0.25}, QUERIES, KEYS
        ),
        "floor": figures.floor_curves(LOSSES, floor=0.15, levels={"no recall": 0.225}),
    }


@pytest.mark.parametrize(("name", "number"), [("masks", "●"), ("weights", "0.25"), ("floor", "0.010")])
def test_each_figure_has_alt_text_and_its_numbers_as_text(name, number):
    picture = figures.show(draw_each()[name])
    assert number in picture.text
    assert picture.alt.endswith(".")


@pytest.mark.parametrize(("name", "titles"), [("masks", ["causal", "all"]), ("weights", ["before", "after"])])
def test_each_table_has_a_panel_of_its_own_with_queries_as_rows(name, titles):
    panels = draw_each()[name].figure.axes
    assert [panel.get_title() for panel in panels] == titles
    for panel in panels:
        assert [label.get_text() for label in panel.get_yticklabels()] == QUERIES
        assert panel.get_xlabel() == "key"
    assert panels[0].get_ylabel() == "query"


def test_a_dot_stands_on_every_allowed_pair_and_nowhere_else():
    dots = draw_each()["masks"].lines[0].get_xydata().astype(int)
    assert sorted(map(tuple, dots)) == sorted((column, row) for row, column in np.argwhere(MASK).tolist())


def test_the_words_of_a_mask_count_each_row():
    assert "Dots in each row: a 1, b 2, c 0." in figures.show(draw_each()["masks"]).alt


def test_words_for_true_and_false_can_be_chosen():
    words, sides = ("moved", "unmoved"), ("output", "input")
    ax = figures.mask_panels({"change": MASK}, QUERIES, KEYS, words=words, sides=sides)
    assert (ax.get_ylabel(), ax.get_xlabel()) == sides
    assert "● moved, · unmoved" in figures.show(ax).text
    assert "output  1  2" in figures.show(ax).text


def test_a_loss_below_the_floor_is_said_to_be_below():
    alt = figures.show(draw_each()["floor"]).alt
    assert "right 0.150 (not below)" in alt
    assert "missing 0.010 (below the floor)" in alt


def test_the_curves_are_the_losses():
    for line, losses in zip(draw_each()["floor"].lines, LOSSES.values(), strict=False):
        np.testing.assert_array_equal(line.get_ydata(), losses)


@pytest.mark.parametrize("values", [MASK.T, MASK.astype(int)])
def test_a_mask_of_another_shape_or_type_is_refused(values):
    with pytest.raises(ValueError, match="masks: expected booleans of shape"):
        figures.mask_panels({"causal": values}, QUERIES, KEYS)


def test_too_few_axes_are_refused():
    with pytest.raises(ValueError, match="axes: expected 2"):
        figures.mask_panels({"one": MASK, "two": MASK}, QUERIES, KEYS, axes=figures.new_axes())
    with pytest.raises(ValueError, match="axes: expected 1"):
        figures.weight_panels({"one": MASK * 1.0}, QUERIES, KEYS, axes=figures.new_axes(columns=2))


def test_a_floor_of_zero_is_refused():
    with pytest.raises(ValueError, match="floor: expected a number above 0"):
        figures.floor_curves(LOSSES, floor=0.0)
