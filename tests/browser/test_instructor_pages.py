"""The pages for those who teach, as axe-core, a narrow window and paper find them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from course_lib.term import chapters, overview, overview_page, report_page
from test_report import sample

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=["report", "map"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    links = chapters.Links(ROOT, tmp_path_factory.mktemp("pages") / "x.html")
    if request.param == "report":
        return report_page.as_page(sample(), links)
    return overview_page.as_page([overview.chapter(ROOT, "04_masking")], links)


def test_a_page_passes_axe_and_fits_into_a_narrow_window(
    page: Page, made: str, violations: Callable[..., list[str]]
) -> None:
    page.set_content(made)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page, "body") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_paper_nothing_is_cut_off(page: Page, made: str) -> None:
    page.set_content(made)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without margins of a centimetre
    widest = "[...document.querySelectorAll('table')].map((each) => each.scrollWidth)"
    assert max(page.evaluate(widest)) <= 718
