"""Chapters and exercises in a real JupyterLab, used as a student uses them."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import lab_driver
import nbformat
import numpy as np
import pytest
from lab_driver import Lab
from pages import new_page
from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("0*.ipynb"))
OUTPUTS = f"{lab_driver.PANEL} .jp-OutputArea-output"
LIVE = f"{OUTPUTS} figure.explorable[data-live]"
EXERCISE, CHECK = "01_soft_lookup", "test-softmax-ordinary"


# What a figure's reader takes hold of first, and what shows which cell is active.
CONTROL = "input[type=range], input[type=checkbox], [role=slider], button[aria-pressed][tabindex='0']"
ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
SELECT_ITS_CELL = """(figure) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.node.contains(figure));
  notebook.mode = "command";
  notebook.activate();
}"""
FOCUS = """(figure, control) => {
  const focused = document.activeElement;
  const ring = getComputedStyle(focused.querySelector(":scope > .explorable-ring") ?? focused);
  const slides = focused.type === "range" || focused.getAttribute("role") === "slider";
  return {
    inside: figure.contains(focused),
    seen: ring.outlineStyle === "solid" || (ring.stroke ?? "none") !== "none",
    key: !figure.contains(focused) || !focused.matches(control) ? "" : slides ? "ArrowRight" : "Space",
  };
}"""
only_the_first_in_make_test = pytest.mark.parametrize(
    "chapter", [CHAPTERS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in CHAPTERS[1:])]
)


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """One page for all tests of this file: to load JupyterLab takes longer than most of them."""
    with new_page(chromium) as page:
        yield page


def numbers(figure: Locator) -> str:
    return figure.evaluate("(figure) => JSON.stringify(figure.numbers)")


def move_by_keyboard(page: Page, figure: Locator) -> None:
    """From the figure's cell, go with Tab to its first control and press a key, which must move it."""
    figure.evaluate(SELECT_ITS_CELL)
    for _ in range(12):
        page.keyboard.press("Tab")
        focus = figure.evaluate(FOCUS, CONTROL)
        assert focus["seen"] or not focus["inside"], page.evaluate("() => document.activeElement.outerHTML")
        if focus["key"]:
            break
    before, cell = numbers(figure), page.evaluate(ACTIVE)
    page.keyboard.press(focus["key"])
    assert numbers(figure) != before
    assert page.evaluate(ACTIVE) == cell


def move_by_mouse(page: Page, figure: Locator) -> None:
    """Drag the figure's first control, or click it; either must move it."""
    control = figure.locator(CONTROL).first
    control.scroll_into_view_if_needed()
    before, box = numbers(figure), control.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    if control.get_attribute("role") == "slider" or control.get_attribute("type") == "range":
        page.mouse.move(x + 30, y + 2, steps=3)
    page.mouse.up()
    assert numbers(figure) != before


@only_the_first_in_make_test
def test_a_chapter_is_readable_untrusted_and_its_figures_move_by_keys_and_mouse_run_and_reopened(
    page: Page, lab: Lab, chapter: str
) -> None:
    lab_driver.open_notebook(page, lab, f"notebooks/{chapter}")
    assert page.locator(LIVE).count() == 0, "the notebook is not trusted yet, so no script may have run"
    pictures = [picture.get_attribute("alt") or "" for picture in page.locator(f"{OUTPUTS} img").all()]
    assert pictures
    assert all(len(alt) > 20 for alt in pictures)
    movable = page.locator(f"{OUTPUTS} figure.explorable img").count()
    lab_driver.run_all(page)
    assert lab_driver.errors(page) == []
    assert page.locator(LIVE).count() == movable > 0
    for figure in page.locator(LIVE).all():
        move_by_keyboard(page, figure)
        move_by_mouse(page, figure)
    lab_driver.save(page)
    lab_driver.open_notebook(page, lab, f"notebooks/{chapter}")
    assert page.locator(LIVE).count() == movable, "whoever ran a notebook has signed it"
    move_by_keyboard(page, page.locator(LIVE).first)


@pytest.mark.slow  # make test asks axe about movable figures in a bare page: test_explorables.py
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_axe_finds_nothing_in_a_trusted_chapter_in_light_and_dark(
    page: Page, lab: Lab, chapter: str, violations: Callable[..., list[str]]
) -> None:
    lab_driver.open_notebook(page, lab, stored_copy(lab, chapter))
    movable = page.locator(f"{OUTPUTS} figure.explorable img").count()
    lab_driver.trust(page)
    page.wait_for_selector(LIVE)
    assert page.locator(LIVE).count() == movable
    page.evaluate("() => document.querySelectorAll('figure details').forEach((fold) => (fold.open = true))")
    assert violations(page, OUTPUTS, exclude=["svg", "pre"]) == []
    lab_driver.change_theme(page, "JupyterLab Dark")
    assert violations(page, OUTPUTS, exclude=["svg", "pre"], only=["color-contrast"]) == []
    lab_driver.change_theme(page, "JupyterLab Light")


def stored_copy(lab: Lab, chapter: str) -> str:
    """A copy of a chapter as the project stores it, which nobody has signed: its title differs."""
    text = (ROOT / "notebooks" / chapter).read_text(encoding="utf-8")
    (lab.root / "notebooks" / f"copy_{chapter}").write_text(
        text.replace("# ", "# Copy: ", 1), encoding="utf-8"
    )
    return f"notebooks/copy_{chapter}"


@pytest.mark.slow
def test_notebook_7_shows_pictures_untrusted_live_figures_trusted_and_all_in_a_narrow_window(
    chromium: Browser, lab: Lab
) -> None:
    context = chromium.new_context(viewport={"width": 520, "height": 800})
    page = context.new_page()  # not the fixture's: Notebook's own scripts complain when they start
    outputs = ".jp-Notebook .jp-OutputArea-output"
    live = f"{outputs} figure.explorable[data-live]"
    shutil.copy(lab.root / "notebooks/04_masking.ipynb", lab.root / "narrow.ipynb")
    text = (lab.root / "narrow.ipynb").read_text(encoding="utf-8")
    (lab.root / "narrow.ipynb").write_text(text.replace("Masking", "Masks", 1), encoding="utf-8")
    page.goto(f"{lab.address}/notebooks/narrow.ipynb?token={lab.token}")
    page.wait_for_selector(f"{outputs} figure.explorable img")
    assert page.locator(live).count() == 0
    page.get_by_role("menuitem", name="File").click()
    page.get_by_role("menuitem", name="Trust Notebook").click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    figure = page.locator(live)
    figure.wait_for()
    assert figure.evaluate("(figure) => figure.scrollWidth <= figure.clientWidth + 1")
    assert figure.bounding_box()["width"] <= 520
    figure.get_by_role("button", name="All").click()
    assert np.array(figure.evaluate("(figure) => figure.numbers.mask")).min() == 1
    context.close()


@pytest.fixture(scope="module")
def answers(root: Path) -> dict[str, str]:
    """The solution's answer cells of exercise 1, by cell id."""
    solution = nbformat.read(root / "solutions" / EXERCISE / f"{EXERCISE}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in solution.cells if cell.id.startswith("answer-")}


def test_an_exercise_shows_its_checks_lines_and_validate_agrees_with_them(
    page: Page, lab: Lab, answers: dict[str, str]
) -> None:
    lab_driver.open_notebook(page, lab, f"exercises/{EXERCISE}/{EXERCISE}.ipynb")
    lab_driver.run_all(page)
    assert lab_driver.errors(page) == []
    assert "not written yet" in lab_driver.output(page, CHECK)

    wrong = answers["answer-softmax"].replace("axis=-1", "axis=0")
    assert wrong != answers["answer-softmax"]
    lab_driver.type_into(page, "answer-softmax", wrong)
    lab_driver.run_cell(page, "answer-softmax")
    lines = lab_driver.run_cell(page, CHECK)
    assert "✗" in lines
    assert "Traceback" not in lines
    lab_driver.run_all(page)
    assert failed(lab_driver.press_validate(page)) == unmet(page)

    lab_driver.type_into(page, "answer-softmax", answers["answer-softmax"])
    lab_driver.run_all(page)
    assert "✓" in lab_driver.output(page, CHECK)
    assert 'check("softmax", "ordinary")' not in unmet(page)

    for cell_id, text in answers.items():
        lab_driver.type_into(page, cell_id, text)
    lab_driver.run_all(page)
    assert unmet(page) == set()
    assert "Success" in lab_driver.press_validate(page)


def failed(dialog: str) -> set[str]:
    """The check cells that the Validate dialog names."""
    return {line for line in dialog.splitlines() if line.startswith("check(")}


def unmet(page: Page) -> set[str]:
    """The check cells below which something is not as it should be."""
    ids = "() => window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.id)"
    checks = [cell_id for cell_id in page.evaluate(ids) if cell_id.startswith("test-")]
    outputs = {lab_driver.source(page, cell_id): lab_driver.output(page, cell_id) for cell_id in checks}
    return {text for text, lines in outputs.items() if "✗" in lines or "not written yet" in lines}
