"""Chapters and exercises in a real JupyterLab, used as a student uses them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import lab_driver
import nbformat
import numpy as np
import pytest
from lab_driver import Lab
from playwright.sync_api import Browser, Page

CHAPTERS = sorted(path.name for path in (Path(__file__).parents[2] / "notebooks").glob("0*.ipynb"))
OUTPUTS = f"{lab_driver.PANEL} .jp-OutputArea-output"
LIVE = f"{OUTPUTS} figure.explorable[data-live]"
EXERCISE, CHECK = "01_soft_lookup", "test-softmax-ordinary"


@pytest.mark.parametrize(
    "chapter", [CHAPTERS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in CHAPTERS[1:])]
)
def test_a_chapter_reads_well_before_it_is_trusted_and_its_figures_move_after(
    page: Page, lab: Lab, chapter: str, violations: Callable[..., list[str]]
) -> None:
    lab_driver.open_notebook(page, lab, f"notebooks/{chapter}")
    assert page.locator(LIVE).count() == 0, "the notebook is not trusted yet, so no script may have run"
    pictures = [picture.get_attribute("alt") or "" for picture in page.locator(f"{OUTPUTS} img").all()]
    assert pictures
    assert all(len(alt) > 20 for alt in pictures)
    movable = page.locator(f"{OUTPUTS} figure.explorable img").count()
    lab_driver.trust(page)
    page.wait_for_selector(LIVE)
    assert page.locator(LIVE).count() == movable
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab_driver.change_theme(page, theme)
        assert violations(page, OUTPUTS, exclude=["svg"]) == [], theme


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


def test_chapter_1_runs_without_an_error_and_keys_reach_its_figure_not_the_notebook(
    page: Page, lab: Lab
) -> None:
    lab_driver.open_notebook(page, lab, "notebooks/01_soft_lookup.ipynb")
    lab_driver.run_all(page)
    assert lab_driver.errors(page) == []
    assert page.locator(LIVE).count() == 2
    figure = page.locator(LIVE).first
    handle = figure.get_by_role("slider", name="query")
    handle.scroll_into_view_if_needed()
    active = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    for press in (handle.focus, handle.click):
        press()
        before, cell = figure.evaluate("(figure) => figure.numbers.query"), page.evaluate(active)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
        after = figure.evaluate("(figure) => figure.numbers.query")
        np.testing.assert_allclose(after, np.array(before) + 0.1, atol=1e-9)
        assert page.evaluate(active) == cell


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
    assert failed(lab_driver.press_validate(page)) == unmet(page)
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
