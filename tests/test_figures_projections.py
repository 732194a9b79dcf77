"""The figures of chapter 2: what they draw, and that their words carry the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures


def test_a_feature_table_writes_every_number_into_its_text_twin() -> None:
    ax = figures.feature_table([[4, 0, -1], [0, 2, 3]], ["it", "cat"], ["a", "b", "c"], title="Q")
    lines = figures.show(ax).text.splitlines()
    assert [line.split() for line in lines] == [
        ["Q"],
        ["token", "a", "b", "c"],
        ["it", "4", "0", "-1"],
        ["cat", "0", "2", "3"],
    ]


def test_a_feature_table_never_writes_minus_zero() -> None:
    ax = figures.feature_table([[-0.0, -0.001]], ["it"], ["a", "b"], title="Q", decimals=1)
    assert "-0" not in figures.show(ax).text
    assert [text.get_text() for text in ax.texts] == ["0.0", "0.0"]


def test_a_feature_table_names_rows_and_columns_on_its_axes() -> None:
    ax = figures.feature_table([[1, 2]], ["pronoun"], ["thing", "living"], title="W", row_label="feature")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["thing", "living"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["pronoun"]
    assert ax.get_ylabel() == "feature"


def test_feature_tables_share_one_picture_and_keep_all_words() -> None:
    tables = [("Q", np.ones((2, 3)), "abc"), ("V", np.zeros((2, 1)), "d")]
    ax = figures.feature_tables(tables, ["it", "cat"])
    picture = figures.show(ax)
    assert len(ax.get_figure().axes) == 2
    assert "Table, Q" in picture.alt
    assert "Table, V" in picture.alt


def test_temperature_curves_draw_one_line_per_key_and_the_uniform_weight() -> None:
    ax = figures.temperature_curves(
        [0.1, 1, 10], [[1, 0], [0.7, 0.3], [0.5, 0.5]], ["cat", "mat"], uniform=0.5, title="it"
    )
    assert [line.get_label() for line in ax.lines] == ["cat", "mat", "uniform 0.500"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1, 0.7, 0.5])
    assert ax.get_xscale() == "log"


def test_temperature_curves_list_first_and_last_and_at_most_nine_temperatures() -> None:
    grid = np.logspace(-2, 2, 41)
    lines = figures.show(
        figures.temperature_curves(grid, np.full((41, 1), 0.25), ["cat"], uniform=0.25, title="it")
    ).text.splitlines()
    assert len(lines) == 2 + 9
    assert lines[2].split() == ["0.01", "0.250"]
    assert lines[-1].split() == ["100", "0.250"]


def test_moved_points_measure_distances_to_the_middle_of_each_group() -> None:
    ax = figures.moved_points(
        [[0, 0], [2, 0], [9, 9]], [[1, 0], [1, 3], [9, 5]], ["left", "left", "right"], title="move"
    )
    lines = [line.split() for line in figures.show(ax).text.splitlines()]
    assert lines[2] == ["left", "2", "1.00", "1.50"]
    assert lines[3] == ["right", "1", "0.00", "4.00"]


def test_figures_do_not_change_their_arguments() -> None:
    points, outputs = np.array([[0.0, 1.0]]), np.array([[-0.0, 2.0]])
    before = outputs.copy()
    figures.moved_points(points, outputs, ["a"], title="move")
    figures.feature_table(outputs, ["a"], ["x", "y"], title="table")
    np.testing.assert_array_equal(np.signbit(outputs), np.signbit(before))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: figures.feature_table([[1, 2]], ["it"], ["a"], title="Q"), "values"),
        (lambda: figures.feature_tables([], ["it"]), "tables"),
        (lambda: figures.temperature_curves([1], [[1, 0]], ["cat"], uniform=1, title="it"), "weights"),
        (lambda: figures.moved_points([[1, 2]], [[1, 2]], ["a", "b"], title="m"), "points"),
        (lambda: figures.moved_points([[1, 2]], [[1, 2, 3]], ["a"], title="m"), "outputs"),
    ],
)
def test_a_wrong_shape_is_refused_with_the_name_of_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()
