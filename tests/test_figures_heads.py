"""The figures of chapter 5: what they draw, and that their words carry the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import figures

WEIGHTS = np.array([[[0.25, 0.5, 0.25], [1, 0, 0]], [[0, 1, 0], [0.2, 0.2, 0.6]]])


def test_head_maps_draw_one_map_per_head_on_one_scale_and_keep_all_words():
    ax = figures.head_maps(WEIGHTS, ["it", "sat"], ["a", "b", "c"], ["one", "two"])
    axes = ax.get_figure().axes
    drawn = [each for each in axes if each.images]
    assert [each.axison for each in axes] == [True, True, False]
    for each, table in zip(drawn, WEIGHTS, strict=True):
        np.testing.assert_array_equal(each.images[0].get_array(), table)
        assert each.images[0].get_clim() == (0, 1)
        assert (each.get_xlabel(), each.get_ylabel()) == ("key", "query")
    picture = figures.show(ax)
    assert "one: a row per query" in picture.alt
    assert "Largest weight of each row: it: b, sat: c." in picture.alt
    assert picture.text.splitlines()[-1].split() == ["sat", "0.20", "0.20", "0.60"]


def test_head_maps_say_what_their_colours_mean_by_numbers_or_by_a_bar():
    few = figures.head_maps(WEIGHTS, ["it", "sat"], ["a", "b", "c"], ["one", "two"])
    assert [text.get_text() for text in few.texts] == ["0.25", "0.50", "0.25", "1.00", "0.00", "0.00"]
    many = figures.head_maps(np.eye(5)[None], list("vwxyz"), list("abcde"), ["one"], columns=1)
    assert not many.texts
    assert many.get_figure().axes[-1].get_ylabel() == "weight"


def test_head_maps_refuse_another_number_of_titles():
    with pytest.raises(ValueError, match=r"weights: expected shape \(1, 2, 3\), got \(2, 2, 3\)"):
        figures.head_maps(WEIGHTS, ["it", "sat"], ["a", "b", "c"], ["one"])


def test_head_places_draw_both_heads_of_each_model_and_count_those_that_differ():
    weights = [[[0.9, 0.1], [0.2, 0.7]], [[0.6, 0.4], [0.5, 0.3]], [[0, 1], [1, 0]]]
    ax = figures.head_places(weights, ["4", "9", "12"], ("first", "second"), title="pairs")
    first, second = (points.get_offsets() for points in ax.collections)
    np.testing.assert_array_equal(first, [[0.9, 0.1], [0.6, 0.4], [0, 1]])
    np.testing.assert_array_equal(second, [[0.2, 0.7], [0.5, 0.3], [1, 0]])
    assert len(ax.lines) == 3
    picture = figures.show(ax)
    assert "In 2 of 3 models the two heads prefer different places" in picture.alt
    assert picture.text.splitlines()[2].split() == ["4", "0.90", "0.10", "0.20", "0.70"]


def test_head_places_list_at_most_eight_models_in_words():
    ax = figures.head_places(np.zeros((11, 2, 2)), [str(n) for n in range(11)], ("a", "b"), title="many")
    assert len(figures.show(ax).text.splitlines()) == 2 + 8


def test_head_places_refuse_models_of_other_sizes():
    with pytest.raises(ValueError, match=r"weights: expected shape \(1, 2, 2\), got \(1, 3, 2\)"):
        figures.head_places(np.zeros((1, 3, 2)), ["1"], ("a", "b"), title="three heads")


def test_growth_draws_on_log_axes_and_writes_values_and_slopes():
    ax = figures.growth(
        [10, 100],
        {"table": [400, 40_000], "fused": [40, 400]},
        {"table": 2.0, "fused": 1.0},
        ylabel="bytes",
        title="memory",
        decimals=0,
    )
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "bytes")
    assert [line.get_label() for line in ax.lines] == ["table, slope 2.00", "fused, slope 1.00"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [400, 40_000])
    picture = figures.show(ax)
    assert picture.text.splitlines()[3].split() == ["100", "40,000", "400"]
    assert picture.text.splitlines()[-1].split() == ["slope", "2.00", "1.00"]
    assert "table 2.00, fused 1.00" in picture.alt


def test_growth_refuses_measures_that_do_not_fit():
    with pytest.raises(ValueError, match="slopes: expected the names"):
        figures.growth([1, 2], {"a": [1, 2]}, {"b": 1.0}, ylabel="s", title="time")
    with pytest.raises(ValueError, match="measures: expected shape"):
        figures.growth([1, 2], {"a": [1, 2, 3]}, {"a": 1.0}, ylabel="s", title="time")


def test_share_intervals_name_the_column_of_kinds_as_asked():
    ax = figures.share_intervals(["one head"], {"different": [[0.1, 0.2, 0.3]]}, kind_label="colours")
    assert figures.show(ax).text.splitlines()[0].split() == ["row", "colours", "low", "share", "high"]
