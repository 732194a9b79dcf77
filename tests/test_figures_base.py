"""Claims about what all figures share: words with every picture, a small valid PNG, and tables of text."""

import base64
import gc
import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from course_lib.figures import Picture, describe, heat_map, new_axes, show, table, weight_bars
from course_lib.figures.base import _WORDS


def drawn(words=("A line.", "0 1"), **size):
    (ax,) = new_axes(**size)
    ax.plot([0, 1], [0, 1])
    return describe(ax, *words)


# a picture and its words


def test_a_picture_shows_as_html_and_as_its_text_twin():
    picture = Picture(b"png", alt="A line.", text="0 1")
    assert picture._repr_mimebundle_() == {"text/html": picture.html(), "text/plain": "0 1"}


def test_the_html_carries_the_picture_itself_so_that_it_needs_no_file():
    data = re.search(r'src="data:image/png;base64,([^"]*)"', Picture(b"\x89PNG", "a", "t").html()).group(1)
    assert base64.b64decode(data) == b"\x89PNG"


def test_alt_text_and_caption_are_escaped():
    html = Picture(b"", alt='"a" < b', text="t", caption="<b>&").html()
    assert 'alt="&quot;a&quot; &lt; b"' in html
    assert "<figcaption>&lt;b&gt;&amp;</figcaption>" in html


def test_a_picture_without_a_caption_has_no_empty_one():
    assert "figcaption" not in Picture(b"", "a", "t").html()


# show and describe


def test_axes_without_words_cannot_be_shown():
    (ax,) = new_axes()
    with pytest.raises(
        ValueError, match="ax: expected Axes from a figure function, got Axes without alt text"
    ):
        show(ax)


@pytest.mark.parametrize("words", [("", "text"), ("alt", ""), ("", "")])
def test_a_description_needs_both_its_texts(words):
    (ax,) = new_axes()
    with pytest.raises(ValueError, match="alt, text: expected words"):
        describe(ax, *words)


def test_describe_returns_the_axes_it_was_given():
    (ax,) = new_axes()
    assert describe(ax, "alt", "text") is ax


def test_show_joins_the_words_of_all_axes_in_order():
    left, right = new_axes(columns=2)
    describe(left, "Left.", "1"), describe(right, "Right.", "2")
    picture = show(right, "Two panels")
    assert (picture.alt, picture.text, picture.caption) == ("Left. Right.", "1\n2", "Two panels")


def test_words_go_when_their_axes_go():
    gc.collect()
    before = len(_WORDS)
    ax = drawn()
    assert len(_WORDS) == before + 1
    del ax
    gc.collect()
    assert len(_WORDS) == before


def test_a_picture_is_a_valid_png_of_the_size_asked_for_and_of_few_colours():
    ax = drawn(width=3.0, height=2.0)
    with Image.open(io.BytesIO(show(ax).png)) as image:
        image.load()
        assert image.format == "PNG"
        assert image.mode == "P"
        assert image.size == tuple(int(inches * ax.get_figure().dpi) for inches in (3.0, 2.0))
        assert len(image.getcolors()) <= 128


def test_a_picture_of_many_colours_stays_small():
    ax = drawn()
    ax.imshow(np.linspace(0, 1, 10_000).reshape(100, 100), aspect="auto")
    assert len(show(ax).png) < 50_000  # bytes; a notebook holds some twenty of them


def test_a_picture_is_not_one_flat_colour():
    with Image.open(io.BytesIO(show(drawn()).png)) as image:
        assert len(image.getcolors()) > 2


# new axes


def test_new_axes_come_row_by_row_in_one_figure():
    axes = new_axes(rows=2, columns=3)
    places = [(ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start) for ax in axes]
    assert places == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert len({ax.get_figure() for ax in axes}) == 1


def test_width_and_height_are_those_of_the_whole_figure():
    assert new_axes(5.0, 2.0, columns=3)[0].get_figure().get_size_inches().tolist() == [5.0, 2.0]


def test_new_axes_leave_the_open_figures_and_the_style_of_matplotlib_alone():
    figures = plt.get_fignums()
    with plt.rc_context({"font.size": 23, "axes.spines.top": True}):
        (ax,) = new_axes()
        assert (plt.rcParams["font.size"], plt.rcParams["axes.spines.top"]) == (23, True)
    assert plt.get_fignums() == figures
    assert not ax.spines["top"].get_visible()  # a sign of the course's style


# tables of text


def test_columns_are_as_wide_as_their_widest_cell():
    assert table([["abcd", "1"], ["e", "22"]], ["x", "y"]) == "x     y\nabcd  1\ne     22"


def test_a_table_without_rows_is_its_header():
    assert table([], ["key", "weight"]) == "key  weight"


def test_a_row_with_too_many_cells_is_refused():
    with pytest.raises(ValueError, match="zip"):
        table([["a", "b", "c"]], ["x", "y"])


# heat maps and bars

WEIGHTS = np.array([[0.25, 0.75, 0.0], [0.5, 0.125, 0.375]])
QUERIES, KEYS = ["it", "sat"], ["the", "cat", "mat"]


def test_a_heat_map_says_every_number_in_words():
    assert show(heat_map(WEIGHTS, QUERIES, KEYS, title="a")).text.splitlines() == [
        "a",
        "query  the   cat   mat",
        "it     0.25  0.75  0.00",
        "sat    0.50  0.12  0.38",
    ]


def test_a_heat_map_says_which_key_is_largest_in_each_row():
    assert (
        "Largest score of each row: it: cat, sat: the."
        in show(heat_map(WEIGHTS, QUERIES, KEYS, kind="score")).alt
    )


def test_a_heat_map_has_queries_as_rows_and_keys_as_columns():
    ax = heat_map(WEIGHTS, QUERIES, KEYS)
    np.testing.assert_array_equal(ax.images[0].get_array(), WEIGHTS)
    assert [label.get_text() for label in ax.get_yticklabels()] == QUERIES
    assert [label.get_text() for label in ax.get_xticklabels()] == KEYS
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")


def test_colours_of_weights_go_from_zero_to_one_and_those_of_scores_are_centred():
    assert heat_map(WEIGHTS, QUERIES, KEYS).images[0].get_clim() == (0.0, 1.0)
    scores = heat_map([[-3.0, 1.0]], ["it"], ["the", "cat"], kind="score")
    assert scores.images[0].get_clim() == (-3.0, 3.0)


def test_numbers_in_the_squares_can_be_left_out():
    assert [text.get_text() for text in heat_map(WEIGHTS, QUERIES, KEYS).texts][:2] == ["0.25", "0.75"]
    assert not heat_map(WEIGHTS, QUERIES, KEYS, numbers=False).texts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "colour"}, 'kind: expected "weight" or "score", got \'colour\''),
        ({"values": WEIGHTS.T}, r"values: expected shape \(2, 3\), got \(3, 2\)"),
        ({"queries": ["it"]}, r"values: expected shape \(1, 3\), got \(2, 3\)"),
    ],
)
def test_a_heat_map_names_the_argument_that_does_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        heat_map(**{"values": WEIGHTS, "queries": QUERIES, "keys": KEYS} | change)


def test_bars_are_as_high_as_the_weights_and_say_them_in_words():
    ax = weight_bars(WEIGHTS[0], KEYS, title="it")
    assert [bar.get_height() for bar in ax.patches] == WEIGHTS[0].tolist()
    picture = show(ax)
    assert picture.text == "it: the 0.250, cat 0.750, mat 0.000"
    assert picture.alt == "Bars, it: the 0.250, cat 0.750, mat 0.000."


def test_bars_leave_room_for_a_weight_of_one():
    assert weight_bars([1.0], ["the"]).get_ylim()[1] > 1.0


def test_weights_without_a_key_are_refused():
    with pytest.raises(ValueError, match=r"weights: expected shape \(3,\), got \(2, 3\)"):
        weight_bars(WEIGHTS, KEYS)


@pytest.mark.parametrize("draw", [heat_map, weight_bars])
def test_figures_draw_into_the_axes_they_are_given_and_change_no_argument(draw):
    (ax,) = new_axes()
    weights = WEIGHTS.copy() if draw is heat_map else WEIGHTS[0].copy()
    names = (QUERIES, KEYS) if draw is heat_map else (KEYS,)
    assert draw(weights, *names, ax=ax) is ax
    np.testing.assert_array_equal(weights, WEIGHTS if draw is heat_map else WEIGHTS[0])


# tables of a heat map


def test_the_numbers_of_a_heat_map_are_folded_away_as_a_table_with_named_rows_and_columns():
    html = show(heat_map(WEIGHTS, ["<it>", "sat"], KEYS, title="a")).html()
    fold = re.search(r"<details>.*</details>", html).group()
    assert "<caption>a</caption>" in fold
    assert re.findall(r'<th scope="col">(.*?)</th>', fold) == ["query", *KEYS]
    assert re.findall(r'<th scope="row">(.*?)</th>', fold) == ["&lt;it&gt;", "sat"]
    assert re.findall(r"<td>(.*?)</td>", fold) == [f"{each:.2f}" for each in WEIGHTS.ravel()]
    assert html.index("<img") < html.index("<details>")


def test_each_heat_map_of_a_figure_has_a_table_and_other_figures_have_none():
    left, right = new_axes(columns=2)
    heat_map(WEIGHTS, QUERIES, KEYS, title="left", ax=left)
    heat_map(WEIGHTS, QUERIES, KEYS, title="right", ax=right)
    assert [grid.title for grid in show(left).grids] == ["left", "right"]
    assert "<details" not in show(weight_bars(WEIGHTS[0], KEYS)).html()
