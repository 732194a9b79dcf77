"""The whole way of an exercise in JupyterLab: Formgrader, Assignment List, Validate, marks and feedback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lab_driver
import pytest
from lab_driver import Lab
from playwright.sync_api import Browser, FrameLocator, Page, expect

from course_lib.grading import sandbox
from marking import ROOT, Course, answers_of

pytestmark = [
    pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing())),
    pytest.mark.slow,
]
NAME = "07_limits_of_one_layer"
MINE = "Each key depends on its token alone, so both texts have the same weights."
PRAISE = "Well seen; and what follows for the loss?"
PATIENCE = 180_000  # milliseconds, for what starts kernels


@dataclass(frozen=True)
class Places:
    """The course of an instructor and the home of a student, who share an exchange; each has a JupyterLab."""

    course: Course
    home: Path
    instructor: Lab
    student: Lab


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("round-trip")
    exchange, home = folder / "exchange", folder / "home"
    for place in (exchange, home):
        place.mkdir()
    exchange.chmod(0o777)
    line = f'c.Exchange.root = "{exchange}"\n'
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    course = Course.make(folder / "course", NAME, config=config + line)
    own = f'c = get_config()\nc.CourseDirectory.course_id = "one_layer_of_attention"\n{line}'
    (home / "nbgrader_config.py").write_text(own, encoding="utf-8")
    states = [folder / "state-of-instructor", folder / "state-of-student"]
    for state in states:
        state.mkdir()
    with (
        lab_driver.running_lab(course.folder, states[0], 120) as instructor,
        lab_driver.running_lab(home, states[1], 120) as student,
    ):
        yield Places(course, home, instructor, student)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Not the one of the other tests: Formgrader's own scripts complain now and then."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def open_lab(page: Page, lab: Lab, command: str) -> None:
    """Open JupyterLab, and choose an entry of its Nbgrader menu."""
    page.goto(f"{lab.address}/lab?token={lab.token}&reset")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name=command, exact=True).click()


def formgrader(page: Page, lab: Lab) -> FrameLocator:
    """Formgrader's list of assignments."""
    open_lab(page, lab, "Formgrader")
    return page.frame_locator("iframe").last


def press(frame: FrameLocator, column: str) -> None:
    """Press a symbol in a row of Formgrader, and close the window that says it went well."""
    frame.locator(f"tbody td.{column} a").first.click()
    modal = frame.locator("#success-modal")
    modal.wait_for()
    modal.get_by_role("button", name="Close").last.click()
    modal.wait_for(state="detached")


def press_in_list(page: Page, button: str, section: str) -> None:
    """Press a button of the Assignment List, and wait until the exercise stands in a section."""
    page.get_by_role("button", name=button, exact=True).first.click()
    expect(page.locator(f"#{section}_assignments_list")).to_contain_text(NAME, timeout=PATIENCE)


def test_an_exercise_goes_out_comes_back_and_its_feedback_is_read(places: Places, page: Page) -> None:
    press(formgrader(page, places.instructor), "release")

    open_lab(page, places.student, "Assignment List")
    press_in_list(page, "Fetch", "fetched")
    write_and_validate(page, places)
    open_lab(page, places.student, "Assignment List")
    press_in_list(page, "Submit", "submitted")

    frame = formgrader(page, places.instructor)
    press(frame, "collect")
    frame.locator("tbody td.num-submissions a").click()
    press(frame, "autograde")
    expect(frame.locator("tbody td.status").first).to_contain_text("needs manual grading")
    mark_by_hand(page, places)
    frame = formgrader(page, places.instructor)
    press(frame, "generate-feedback")
    press(frame, "release-feedback")

    open_lab(page, places.student, "Assignment List")
    page.get_by_role("button", name="Fetch Feedback").first.click()
    expect(page.locator("#submitted_assignments_list")).to_contain_text("view feedback", timeout=PATIENCE)
    (feedback,) = places.home.rglob(f"feedback/**/{NAME}.html")
    page.goto(feedback.as_uri())
    read = page.locator("body").inner_text()
    assert "swap_tokens: 2 of 2 points" in read
    assert PRAISE in read
    assert "MARK SCHEME" not in read


def write_and_validate(page: Page, places: Places) -> None:
    """Write one function and one answer in words; Validate names all other checks."""
    lab_driver.open_notebook(page, places.student, f"{NAME}/{NAME}.ipynb")
    lab_driver.type_into(page, "answer-swap-tokens", answers_of(places.course.source())["swap_tokens"])
    page.evaluate(
        """([id, text]) => window.jupyterapp.shell.currentWidget.content.widgets
             .find((cell) => cell.model.id === id).model.sharedModel.setSource(text)""",
        ["by-order", MINE],
    )
    lab_driver.run_all(page)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    said = lab_driver.press_validate(page, 180)
    assert 'check("swap_tokens"' not in said
    assert 'check("fourier_features", "ordinary")' in said
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")


def mark_by_hand(page: Page, places: Places) -> None:
    """Give one and a half points for the first answer in words and none for the other, and say something."""
    lab = places.instructor
    with_token = f"token={lab.token}"
    page.goto(f"{lab.address}/formgrader/gradebook/{NAME}/{NAME}?{with_token}")
    page.locator("tbody td.name a").first.click()
    body = page.locator("body")
    expect(body).to_contain_text(MINE)
    expect(body).to_contain_text("BEGIN MARK SCHEME")
    for name, points in {"by_order": "1.5", "by_depth": "0"}.items():
        page.locator(f"input.score#{name}").fill(points)
        page.locator(f"input.score#{name}").press("Tab")
    page.locator("textarea#by_order-comment").fill(PRAISE)
    page.locator("textarea#by_order-comment").press("Tab")
    page.wait_for_function("() => !document.querySelector('.glyphicon-refresh')")
    page.wait_for_timeout(1000)
    (student,) = places.course.points()
    assert places.course.in_words(student)["by_order"] == (1.5, False)
    assert places.course.in_words(student)["by_depth"] == (0.0, False)
