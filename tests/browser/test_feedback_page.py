"""The page that a student gets back after marking, as axe-core and a reader without a network find it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from course_lib.grading import sandbox
from marking import Course, answered, answers_of

pytestmark = [
    pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing())),
    pytest.mark.slow,
]
NAME = "01_soft_lookup"


@pytest.fixture(scope="module")
def feedback(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The feedback for one wrong answer and the rest untouched."""
    course = Course.make(tmp_path_factory.mktemp("feedback") / "course", NAME)
    right = answers_of(course.source())["softmax"]
    wrong = {"softmax": right.replace("axis=-1", "axis=0")}
    course.submit("ann", answered(course.release(), wrong))
    course.run("autograde", NAME)
    course.run("generate_feedback", NAME)
    return course.feedback("ann")


@pytest.fixture(params=["light", "dark"])
def shown(request: pytest.FixtureRequest, page: Page, feedback: str) -> Page:
    """The feedback in one theme, in a browser in which asking another machine is an error."""
    page.emulate_media(color_scheme=request.param)
    page.set_content(feedback)
    return page


def test_the_page_passes_axe_in_both_themes_and_asks_for_nothing(
    shown: Page, violations: Callable[..., list[str]]
) -> None:
    assert shown.locator("section.answer").count() == 4
    assert violations(shown, "html") == []


def test_the_themes_differ_and_the_formula_is_drawn(shown: Page) -> None:
    light = """of => getComputedStyle(document.body)[of].match(/\\d+/g).reduce((a, b) => a + +b, 0)"""
    ground, ink = (shown.evaluate(light, of) for of in ("backgroundColor", "color"))
    assert (ground < ink) == shown.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    fraction = shown.locator("math mfrac").first.bounding_box()
    assert fraction is not None
    assert fraction["height"] > 20  # pixels: one number above the other


def test_the_contents_lead_to_the_answer_with_the_question_about_the_mistake(shown: Page) -> None:
    contents = shown.get_by_role("navigation", name="Points")
    contents.get_by_role("link", name="softmax", exact=True).click()
    answer = shown.get_by_role("region", name="Your answer: softmax")
    assert answer.get_by_text("Which axis holds the keys?").count() == 1
    assert answer.get_by_role("row").count() == 4
    assert answer.bounding_box()["y"] < 100
