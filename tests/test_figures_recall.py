from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures

RUN = {"weight": {"colour": [0.1, 0.4, 1.0], "other": [0.1, 0.3, 0.0]}, "loss": {"training": [2.8, 1.1, 0.0]}}
PREFIXES = {
    "red": (["is", "red", "wear"], [-8.0, 9.0, -3.0], [0.0, 1.0, 0.0]),
    "black": (["black", "wear"], [4.0, -12.0], [0.9, 0.1]),
}
PAIR = {"W_Q": (np.full((2, 3), 0.25), np.full((2, 3), -1.5)), "W_V": (np.zeros((3, 1)), np.ones((3, 1)))}


def draw_each():
    return {
        "story": figures.training_story({"fast": RUN, "slow": RUN}),
        "rows": figures.prefix_rows(PREFIXES),
        "matrices": figures.before_after(PAIR),
        "losses": figures.final_losses([1.1, 0.01, 0.46, 0.0], {"zero": 0.0, "ln 3": 1.099}),
    }


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("story", ["1", "0.400", "0.300"]),
        ("rows", ["2", "red", "9.0", "1.000"]),
        ("matrices", ["W_Q", "2", "×", "3", "0.2", "1.5"]),
        ("losses", ["zero", "0.000", "2"]),
    ],
)
def test_each_figure_has_alt_text_and_its_numbers_as_text(name, line):
    picture = figures.show(draw_each()[name])
    assert line in [each.split() for each in picture.text.splitlines()]
    assert picture.alt.endswith(".")


def test_each_run_has_a_column_and_each_group_a_row():
    panels = draw_each()["story"].figure.axes
    assert [panel.get_title() for panel in panels] == ["fast", "slow", "", ""]
    assert [panel.get_ylabel() for panel in panels] == ["weight", "weight", "loss", "loss"]
    np.testing.assert_array_equal(panels[0].lines[0].get_ydata(), [0.1, 0.4, 1.0])


def test_scores_of_all_texts_share_one_scale():
    panels = draw_each()["rows"].figure.axes
    assert panels[0].get_xlim() == panels[2].get_xlim()
    assert panels[0].get_xlim()[0] < -12
    assert panels[0].get_xlim()[1] > 9


def test_the_alt_text_names_the_token_with_the_largest_weight():
    assert "1.000, on red at position 2" in figures.show(draw_each()["rows"]).alt


def test_all_matrices_share_one_scale_of_colours():
    images = [panel.images[0] for panel in draw_each()["matrices"].figure.axes if panel.images]
    assert [image.get_clim() for image in images] == [(-1.5, 1.5)] * 4


def test_losses_are_drawn_in_order_of_size():
    np.testing.assert_array_equal(draw_each()["losses"].lines[0].get_ydata(), [0.0, 0.01, 0.46, 1.1])


def test_a_figure_draws_on_the_axes_it_is_given():
    (ax,) = figures.new_axes()
    assert figures.final_losses([0.0], {"zero": 0.0}, ax=ax) is ax


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda: figures.training_story({"a": RUN, "b": {"loss": {"training": [1.0]}}}), "runs"),
        (lambda: figures.training_story({"a": {"loss": {"x": [1.0, 2.0], "y": [1.0]}}}), "runs"),
        (lambda: figures.prefix_rows({"red": (["is", "red"], [1.0], [0.5, 0.5])}), "prefixes"),
        (lambda: figures.before_after({"W": ([[1.0]], [[1.0, 2.0]])}), "matrices"),
        (lambda: figures.final_losses([], {}), "losses"),
    ],
)
def test_an_array_of_the_wrong_shape_is_named(draw, name):
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        draw()
