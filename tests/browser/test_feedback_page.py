"""The page that a student gets back after marking, as axe-core and a reader without a network find it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

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


@pytest.fixture
def offline(chromium: Browser, feedback: str) -> Iterator[Page]:
    """The feedback in a browser without a network: nbgrader's template would fetch scripts from elsewhere."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    context.route("**/*", lambda route: route.abort())
    page = context.new_page()
    page.set_content(feedback)
    yield page
    context.close()


@pytest.mark.parametrize("part", [".output_area", ".panel-footer"])
def test_outputs_and_comments_pass_axe(
    offline: Page, part: str, violations: Callable[..., list[str]]
) -> None:
    """The rest of the page, such as the colours of code, is nbgrader's template."""
    assert offline.locator(part).count() >= 4
    assert violations(offline, part) == []


def test_every_picture_has_words_and_the_comment_names_the_mistake(offline: Page) -> None:
    assert offline.locator("img:not([alt])").count() == 0
    comments = offline.locator(".panel-footer").all_inner_texts()
    assert any("axis" in comment or "row" in comment for comment in comments), comments
