"""The movable figures in a bare page: their numbers, their controls, and what axe-core says of them."""

import itertools
import re
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from explorables import EXAMPLES, Numbers
from pages import new_page
from playwright.sync_api import Browser, Locator, Page

from course_lib import recall
from course_lib.explore import base

# The controls that keys move, and the keys.
SLIDERS = ("input[type=range], [role=slider]", "ArrowRight")
CONTROLS = {
    "mask_editor": ("button[aria-pressed][tabindex='0']", "Space"),
    "two_layers": ("input[type=checkbox]", "Space"),
}
FIGURE = "figure.explorable[data-live]"
TIDY = """(figure) => {
  for (const fold of figure.querySelectorAll("details")) fold.open = false;
  document.activeElement.blur();
  scrollTo(0, 0);
}"""
OUTLINE = """(figure) => {
  const focused = document.activeElement;
  if (!figure.contains(focused)) return "left";
  const ring = focused.querySelector(":scope > .explorable-ring");
  const { outlineStyle, stroke } = getComputedStyle(ring ?? focused);
  return ring && stroke !== "none" ? "solid" : outlineStyle;
}"""
every_figure = pytest.mark.parametrize("alone", EXAMPLES, indirect=True)
every_figure_with_sliders = pytest.mark.parametrize(
    "alone", [name for name in EXAMPLES if name not in ("soft_lookup", *CONTROLS)], indirect=True
)


def only(name: str) -> pytest.MarkDecorator:
    """The test is about this figure."""
    return pytest.mark.parametrize("alone", [name], indirect=True)


def quickly(*names: str) -> pytest.MarkDecorator:
    """Every figure in a page of its own; `make test` takes these, `make slow` the others."""
    marked = [pytest.param(each, marks=[pytest.mark.slow] * (each not in names)) for each in EXAMPLES]
    return pytest.mark.parametrize("name", marked)


@cache
def html(name: str) -> str:
    return EXAMPLES[name][0]().html()


def put(page: Page, name: str, background: str = "white") -> Locator:
    """Show a figure alone in a page, and wait until its script has taken over."""
    page.set_content(
        f'<!doctype html><html lang="en"><title>{name}</title>'
        f'<body style="background: {background}"><main>{html(name)}</main>'
    )
    page.wait_for_selector(FIGURE)
    return page.locator(FIGURE)


@pytest.fixture(scope="module")
def alone(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[str, Locator, Numbers]]:
    """A figure alone in a page, which all tests of that figure share; its name, and its first numbers."""
    with new_page(chromium) as page:
        figure = put(page, request.param)
        yield request.param, figure, figure.evaluate("(figure) => figure.numbers")


@pytest.fixture
def name(alone: tuple[str, Locator, Numbers]) -> str:
    return alone[0]


@pytest.fixture
def first(alone: tuple[str, Locator, Numbers]) -> Numbers:
    """The figure's numbers before anybody moved anything."""
    return alone[2]


@pytest.fixture
def figure(alone: tuple[str, Locator, Numbers]) -> Locator:
    """The figure as at its start."""
    figure = alone[1]
    figure.get_by_role("button", name="Start again").click()
    figure.evaluate(TIDY)
    return figure


def assert_numbers_agree(figure: Locator, name: str) -> Numbers:
    """Hold the numbers that the page computed against Python's, to 1e-9; give the page's."""
    found = figure.evaluate("(figure) => figure.numbers")
    expected = EXAMPLES[name][1](found)
    assert expected
    for key, value in expected.items():
        np.testing.assert_allclose(np.array(found[key]), np.array(value), rtol=0, atol=1e-9, err_msg=key)
    return found


@every_figure_with_sliders
def test_each_slider_moves_by_keyboard_and_the_numbers_stay_pythons(figure: Locator, name: str) -> None:
    before = assert_numbers_agree(figure, name)
    for slider in figure.locator("input[type=range]").all():
        slider.focus()
        figure.page.keyboard.press("ArrowRight")
        figure.page.keyboard.press("ArrowRight")
        after = assert_numbers_agree(figure, name)
        assert after != before, slider.evaluate("(slider) => slider.parentElement.textContent")
        for end in ("Home", "End"):
            figure.page.keyboard.press(end)
            before = assert_numbers_agree(figure, name)


@every_figure_with_sliders
def test_each_slider_moves_by_mouse_and_the_numbers_stay_pythons(figure: Locator, name: str) -> None:
    for slider in figure.locator("input[type=range]").all():
        before = figure.evaluate("(figure) => figure.numbers")
        box = slider.bounding_box()
        figure.page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        assert assert_numbers_agree(figure, name) != before


@every_figure
def test_start_again_brings_the_first_numbers_back(figure: Locator, name: str, first: Numbers) -> None:
    controls, key = CONTROLS.get(name, SLIDERS)
    for control in figure.locator(controls).all():
        control.focus()
        figure.page.keyboard.press(key)
    assert figure.evaluate("(figure) => figure.numbers") != first
    figure.get_by_role("button", name="Start again").click()
    assert figure.evaluate("(figure) => figure.numbers") == first


@only("soft_lookup")
def test_the_query_follows_arrow_keys_mouse_and_finger(figure: Locator) -> None:
    page = figure.page
    handle = figure.get_by_role("slider", name="query")
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    assert assert_numbers_agree(figure, "soft_lookup")["query"] == [0.9, 1.1]

    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y + 40, steps=4)
    page.mouse.up()
    by_mouse = assert_numbers_agree(figure, "soft_lookup")["query"]
    assert by_mouse[0] < 0.7
    assert by_mouse[1] < 0.9

    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)
    for kind, point in (
        ("touchStart", (x, y)),
        ("touchMove", (x + 15, y + 5)),
        ("touchMove", (x + 50, y + 20)),
    ):
        points = [{"x": point[0], "y": point[1]}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    by_finger = assert_numbers_agree(figure, "soft_lookup")["query"]
    assert by_finger[0] > by_mouse[0] + 0.1
    assert by_finger[1] < by_mouse[1]


@only("soft_lookup")
def test_the_query_takes_typed_numbers_and_stays_in_its_panel(figure: Locator) -> None:
    figure.get_by_label("query, first entry").fill("-0.25")
    assert assert_numbers_agree(figure, "soft_lookup")["query"] == [-0.25, 0.6]
    figure.get_by_label("query, first entry").fill("99")
    query = assert_numbers_agree(figure, "soft_lookup")["query"]
    assert query[0] < 10


@only("soft_lookup")
def test_the_output_stays_inside_the_hull_of_the_values(figure: Locator) -> None:
    for first, second in ((3, 3), (-3, 1), (0, -3)):
        figure.get_by_label("query, first entry").fill(str(first))
        figure.get_by_label("query, second entry").fill(str(second))
        found = assert_numbers_agree(figure, "soft_lookup")
        assert min(found["weights"]) > 0
        assert sum(found["weights"]) == pytest.approx(1, abs=1e-12)


@only("query_row")
def test_a_moved_token_takes_its_row_its_column_and_its_output_along(figure: Locator) -> None:
    first = assert_numbers_agree(figure, "query_row")
    figure.get_by_role("combobox", name="query").select_option(label="cat")
    figure.get_by_role("button", name="Move token later").click()
    figure.get_by_role("button", name="Reverse order").click()
    moved = assert_numbers_agree(figure, "query_row")
    assert moved["order"] == [7, 6, 5, 4, 3, 1, 2, 0]
    assert moved["row"] == 1
    weights = np.array(first["weights"])[np.ix_(moved["order"], moved["order"])]
    np.testing.assert_allclose(np.array(moved["weights"]), weights, atol=1e-12)
    np.testing.assert_allclose(
        np.array(moved["output"]), np.array(first["output"])[moved["order"]], atol=1e-12
    )


@only("query_row")
def test_a_click_on_the_heat_map_chooses_its_row(figure: Locator) -> None:
    figure.locator("svg .explorable-moves:has(rect)").first.click()
    assert assert_numbers_agree(figure, "query_row")["row"] == 0
    assert figure.get_by_role("combobox", name="query").input_value() == "0"


@only("query_row")
def test_temperature_leads_from_one_hot_rows_to_equal_weights(figure: Locator) -> None:
    page = figure.page
    figure.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    cold = np.array(assert_numbers_agree(figure, "query_row")["weights"])
    assert (cold.max(axis=1) > 0.7).all()  # two of these eight rows have nearly equal largest scores
    page.keyboard.press("End")
    hot = np.array(assert_numbers_agree(figure, "query_row")["weights"])
    np.testing.assert_allclose(hot, 1 / 8, atol=0.02)


def cell(figure: Locator, query: int, key: int) -> Locator:
    """A cell of the mask editor's table."""
    return figure.locator("tbody tr").nth(query).locator("button").nth(key)


@only("mask_editor")
def test_cells_of_the_mask_are_switched_by_keys_mouse_and_finger(figure: Locator) -> None:
    page = figure.page
    figure.locator("button[aria-pressed][tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Space"):
        page.keyboard.press(key)
    cell(figure, 0, 7).click()
    cell(figure, 6, 0).tap()
    found = assert_numbers_agree(figure, "mask_editor")
    expected = np.tri(8)
    expected[2, 1], expected[0, 7], expected[6, 0] = 0, 1, 0
    assert found["mask"] == expected.tolist()
    assert found["later"][0] == [7]
    assert cell(figure, 0, 7).get_attribute("aria-pressed") == "true"
    assert "a later token" in cell(figure, 0, 7).get_attribute("aria-label")
    assert figure.locator("button[aria-pressed][tabindex='0']").count() == 1
    for key in ("Shift+ArrowUp", "Shift+ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("() => document.activeElement.ariaLabel").startswith("query the 0, key the 0")


@only("mask_editor")
def test_whole_masks_leak_as_their_names_say(figure: Locator) -> None:
    for name, leaks, empty in (
        ("All", 7, []),
        ("No diagonal", 0, [0]),
        ("One too far", 7, []),
        ("Causal", 0, []),
    ):
        figure.get_by_role("button", name=name).click()
        found = assert_numbers_agree(figure, "mask_editor")
        assert sum(map(bool, found["later"])) == leaks
        assert found["empty"] == empty
        sums = np.array(found["weights"]).sum(axis=1)
        np.testing.assert_allclose(sums, [row not in empty for row in range(8)], atol=1e-12)


@only("mask_editor")
def test_zeros_after_softmax_leave_small_sums_and_let_the_future_in(figure: Locator) -> None:
    figure.get_by_label("hidden cells").select_option(label="0 after softmax")
    found = assert_numbers_agree(figure, "mask_editor")
    assert np.array(found["weights"]).sum(axis=1)[:-1].max() < 1 - 1e-6
    assert [len(each) for each in found["later"]] == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
@only("heads")
def test_slices_add_up_to_the_full_width_for_any_number_of_heads_and_any_row(
    figure: Locator, count: int
) -> None:
    page = figure.page
    number = figure.get_by_label("heads")
    number.focus()
    page.keyboard.press("Home")
    for _ in range([1, 2, 4, 8].index(count)):
        page.keyboard.press("ArrowRight")
    figure.get_by_role("combobox", name="query").select_option(label="sat")
    found = assert_numbers_agree(figure, "heads")
    assert found["heads"] == len(found["slices"]) == count
    assert found["row"] == 2
    np.testing.assert_allclose(np.sum(found["slices"], axis=0), np.array(found["full"]), atol=1e-9)
    assert figure.locator("svg:visible").count() == count + 1


@only("heads")
def test_a_click_on_a_map_chooses_the_query_and_a_quiet_reason_frees_the_full_width(figure: Locator) -> None:
    page = figure.page
    assert np.argmax(assert_numbers_agree(figure, "heads")["fullWeights"][7]) == 7
    figure.get_by_label("same word").focus()
    page.keyboard.press("Home")
    found = assert_numbers_agree(figure, "heads")
    assert found["louder"] == [0, 1, 1, 1]
    assert np.argmax(found["fullWeights"][7]) == 1
    box = figure.locator("svg rect").nth(8).bounding_box()  # the second row of the first map
    page.mouse.click(box["x"] + 4, box["y"] + 4)
    assert assert_numbers_agree(figure, "heads")["row"] == 1
    assert figure.get_by_role("combobox", name="query").input_value() == "1"


@only("recall_training")
def test_all_updates_of_a_run_are_those_of_pytorch_and_move_with_the_losses(figure: Locator) -> None:
    page = figure.page
    assert assert_numbers_agree(figure, "recall_training")["update"] == 10
    slider = figure.get_by_role("slider", name="update")
    slider.focus()
    for key, update in (("End", 200), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        assert assert_numbers_agree(figure, "recall_training")["update"] == update
    box = figure.get_by_role("img", name="Training and validation loss").bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 100, steps=3)
    page.mouse.up()
    found = assert_numbers_agree(figure, "recall_training")
    assert 80 < found["update"] < 100
    assert slider.input_value() == str(found["update"])


@only("recall_training")
def test_a_text_of_ones_own_is_read_by_the_layer_of_that_update(figure: Locator) -> None:
    page = figure.page
    field = figure.get_by_label("reads")
    figure.get_by_role("slider", name="update").focus()
    page.keyboard.press("End")
    field.fill("black . So the players wear")
    found = assert_numbers_agree(figure, "recall_training")
    assert np.argmax(found["weights"]) == 0
    assert np.argmax(found["probabilities"]) == recall.VOCABULARY["black"]
    figure.get_by_role("combobox", name="text").select_option(label="blue, 21 tokens, validation")
    found = assert_numbers_agree(figure, "recall_training")
    assert len(found["words"]) == 21
    assert field.input_value() == " ".join(found["words"])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("The team colour is green", '"green" is not in this layer\'s vocabulary. Choose among'),
        ("So The Players wear", '"Players" is not in this layer\'s vocabulary. Did you mean "players"?'),
        ("The team colour is red. So", "put a space before it"),
        ("   ", "at least one token"),
        ("the " * 31, "At most 30 tokens"),
    ],
)
@only("recall_training")
def test_words_that_the_layer_cannot_read_are_named_kindly(figure: Locator, typed: str, said: str) -> None:
    field, before = figure.get_by_label("reads"), figure.evaluate("(figure) => figure.numbers.words")
    field.fill(typed)
    assert said in figure.locator(".explorable-line").inner_text()
    assert field.get_attribute("aria-invalid") == "true"
    assert assert_numbers_agree(figure, "recall_training")["words"] == before
    field.fill("So the players wear")
    assert field.get_attribute("aria-invalid") == "false"
    assert assert_numbers_agree(figure, "recall_training")["problem"] == ""


@every_figure
def test_every_control_keeps_its_keys_from_jupyterlab_and_shows_its_focus(figure: Locator) -> None:
    controls = figure.locator("input, select, button, summary, [tabindex]").all()
    assert len(controls) >= 4
    for control in controls:
        assert control.get_attribute("data-lm-suppress-shortcuts") == "true"
    seen = []
    for _ in controls:
        figure.page.keyboard.press("Tab")
        seen.append(figure.evaluate(OUTLINE))
    assert seen.count("solid") >= 3
    assert set(seen) <= {"solid", "left"}


@quickly("kernel_smoother", "two_layers")
def test_axe_finds_nothing_in_a_narrow_dark_page(
    page: Page, name: str, violations: Callable[[Page, str], list[str]]
) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    figure = put(page, name, background="#111")
    for summary in figure.locator("summary").all():
        summary.click()
    assert violations(page, "figure") == []


@quickly("heads", "recall_training", "two_layers")
def test_in_a_narrow_page_all_fits_and_on_paper_it_is_dark_on_white_without_controls(
    page: Page, name: str
) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    figure = put(page, name, background="#111")
    for summary in figure.locator("summary").all():
        summary.click()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    page.emulate_media(media="print")
    assert not figure.locator(".explorable-controls").is_visible()
    assert figure.locator("svg:visible, table:visible").count() > 0
    colours = figure.evaluate(
        "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    )
    assert colours == ["rgb(26, 26, 26)", "rgb(255, 255, 255)"]


@every_figure
def test_each_change_is_written_and_then_announced(figure: Locator, name: str) -> None:
    controls, key = CONTROLS.get(name, SLIDERS)
    control = figure.locator(controls).first
    before = figure.locator(".explorable-line").inner_text()
    control.focus()
    figure.page.keyboard.press(key)
    after = figure.locator(".explorable-line").inner_text()
    assert after != before
    if name not in CONTROLS:
        assert control.get_attribute("aria-valuetext")
    figure.page.wait_for_function(
        "(text) => document.querySelector('[role=status]').textContent === text", arg=after
    )


@quickly("query_row")
def test_without_scripts_the_picture_its_words_and_a_hint_remain(chromium: Browser, name: str) -> None:
    without = chromium.new_context(java_script_enabled=False)
    still = without.new_page()
    still.set_content(html(name))
    picture = still.locator("figure img")
    assert picture.is_visible()
    assert len(picture.get_attribute("alt")) > 60
    assert "run its cell" in still.locator("figcaption").inner_text()
    without.close()


@pytest.mark.slow
def test_the_scripts_leave_no_global_names(page: Page) -> None:
    page.set_content("<title>empty</title>")
    before = page.evaluate("() => Object.getOwnPropertyNames(window)")
    for name in EXAMPLES:
        put(page, name)
    after = page.evaluate("() => Object.getOwnPropertyNames(window)")
    assert set(after) == set(before)


def test_no_animation_for_readers_who_asked_for_less_motion(page: Page) -> None:
    put(page, "query_row")
    duration = "() => getComputedStyle(document.querySelector('.explorable-moves')).transitionDuration"
    assert page.evaluate(duration) == "0.4s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(duration) == "0s"


@only("recent_colour")
def test_exchanged_colours_give_one_answer_until_positions_are_turned_up(figure: Locator) -> None:
    page = figure.page
    page = figure.page
    first = assert_numbers_agree(figure, "recent_colour")
    figure.get_by_role("button", name="Exchange the two colours").click()
    exchanged = assert_numbers_agree(figure, "recent_colour")
    assert exchanged["swapped"] is True
    np.testing.assert_allclose(exchanged["probabilities"], first["probabilities"], atol=1e-12)
    figure.locator("input[type=range]").focus()
    page.keyboard.press("End")
    with_positions = assert_numbers_agree(figure, "recent_colour")
    figure.get_by_role("button", name="Exchange the two colours").click()
    back = assert_numbers_agree(figure, "recent_colour")
    assert np.abs(np.subtract(back["probabilities"], with_positions["probabilities"])).max() > 0.01


@pytest.mark.parametrize(
    ("alone", "rows"), [("query_row", 8), ("heads", 5), ("mask_editor", 8)], indirect=["alone"]
)
def test_a_heat_map_has_its_numbers_in_a_table_as_well(figure: Locator, rows: int) -> None:
    for summary in figure.locator("summary").all():
        summary.click()
    tables = figure.locator("table:visible")
    assert max(table.locator("tbody tr").count() for table in tables.all()) >= rows
    weights = figure.evaluate("(figure) => figure.numbers.weights ?? figure.numbers.fullWeights")
    for weight in weights[-1]:
        assert f"{weight:.2f}" in tables.last.inner_text() or f"{weight:.3f}" in tables.last.inner_text()


@only("two_layers")
def test_each_way_to_set_the_switches_of_two_layers_gives_pythons_numbers(figure: Locator) -> None:
    swap = figure.get_by_role("button", name="Exchange the two colours")
    seen = set()
    for second, positions, asked, _ in itertools.product((True, False), (True, False), (0, 1), (0, 1)):
        figure.get_by_label("second layer").set_checked(second)
        figure.get_by_label("positions").set_checked(positions)
        figure.get_by_role("combobox", name="asked").select_option(index=asked)
        swap.click()
        found = assert_numbers_agree(figure, "two_layers")
        assert (found["second"], found["positions"], found["asked"]) == (second, positions, asked)
        seen.add((second, positions, asked, found["swapped"]))
    assert len(seen) == 16


def test_the_browser_knows_every_property_and_value_of_the_style_sheet(page: Page) -> None:
    page.set_content(f"<title>style</title><style>{base.source('base.css')}</style>")
    kept = page.evaluate(
        """() => {
          const texts = (rules) => [...rules].flatMap((rule) =>
            rule.style ? [[rule.selectorText, rule.style.cssText]] : texts(rule.cssRules));
          return texts(document.styleSheets[0].cssRules);
        }"""
    )
    written = re.findall(r"^ *(figure[^{}@]*)\{([^{}]*)\}", base.source("base.css"), flags=re.MULTILINE)
    assert len(kept) == len(written) > 30
    for (selector, text), (_, source) in zip(kept, written, strict=True):
        for name in re.findall(r"([a-z-]+):", source):
            assert name.split("-")[0] in text, (selector, name)  # a border may be said side by side
