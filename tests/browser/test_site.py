"""The site as a reader meets it: offline, with live figures, formulas, search and files to take away."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, Response

from print_pdf import PAPER, UNFOLD, open_page, served

pytestmark = pytest.mark.site
PAGES = ["index", *sorted(path.stem for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))]
INNER = (
    "svg",
    "mjx-container",
    "pre",
    "details.hide",
)  # many thousand elements, tested elsewhere or not ours
LOOSE_MARKS = """() => [...document.querySelectorAll("article span.math")]
  .filter(({ nextSibling }) => nextSibling instanceof Text && /^[.,;:?!)]/.test(nextSibling.data))
  .map((formula) => formula.parentElement)
  .filter((parent) => getComputedStyle(parent).whiteSpace !== "nowrap")
  .map((parent) => parent.textContent.slice(0, 60))"""
FILTERS = (
    "() => [...document.querySelectorAll('figure img')].map((picture) => getComputedStyle(picture).filter)"
)
CUT = """() => {
  const { right } = document.querySelector("article").getBoundingClientRect();
  return [...document.querySelectorAll("article :is(table, figure img, figure svg)")]
    .filter((wide) => wide.getBoundingClientRect().right > right)
    .map((wide) => wide.textContent.slice(0, 60));
}"""
CHAPTERS = [name for name in PAGES if name.startswith("0")]


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built anew; a warning of Sphinx fails."""
    site = tmp_path_factory.mktemp("site")
    code = "import sys, build_site; from pathlib import Path; sys.exit(build_site.build(Path(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", code, site], cwd=root / "site", capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The site's address on this machine."""
    with served(folder) as address:
        yield address


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """A page as everywhere, for which every file that it asks for must be there as well."""
    missing: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", note)
    yield page
    assert missing == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_axe_finds_nothing_in_light_and_dark(
    page: Page, address: str, name: str, violations: Callable[..., list[str]]
) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    open_page(page, f"{address}/{name}.html")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    assert page.locator("mjx-merror, .problematic, .system-message").count() == 0
    assert page.locator("figure.explorable:not([data-live])").count() == 0
    assert page.locator("article img:not([alt])").count() == 0
    assert page.evaluate(LOOSE_MARKS) == []
    for theme in ("light", "dark"):
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        only = None if theme == "light" else ["color-contrast"]
        assert violations(page, "article", exclude=INNER, only=only) == [], theme
    assert set(page.evaluate(FILTERS)) <= {"none"}, "colours of pictures mean numbers, in the dark too"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_formulas_live_figures_and_folds_what_the_notebook_folds(
    page: Page, address: str, name: str
) -> None:
    open_page(page, f"{address}/{name}.html")
    assert page.locator("mjx-container").count() > 10
    assert page.locator("figure.explorable[data-live] svg, figure.explorable[data-live] table").count() > 0
    folded = page.locator("details.hide > :not(summary)")
    assert folded.count() > 10
    assert page.locator("details.hide[open]").count() == 0
    figure = page.locator("figure.explorable[data-live]").first
    before = figure.evaluate("(figure) => JSON.stringify(figure.numbers)")
    figure.locator("[role=slider], input[type=range], button[aria-pressed][tabindex='0']").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert figure.evaluate("(figure) => JSON.stringify(figure.numbers)") != before


def test_every_link_leads_somewhere(page: Page, address: str, folder: Path) -> None:
    found: dict[str, set[str]] = {}
    ids: dict[str, set[str]] = {}
    for name in PAGES:
        open_page(page, f"{address}/{name}.html")
        hrefs = "() => [...document.querySelectorAll('article a[href], nav a[href]')].map((a) => a.href)"
        found[name] = {href for href in page.evaluate(hrefs) if href.startswith(address)}
        marks = "() => [...document.querySelectorAll('[id]')].map((node) => node.id)"
        ids[f"/{name}.html"] = set(page.evaluate(marks))
    for name, hrefs in found.items():
        for href in hrefs:
            parts = urlsplit(href)
            assert (folder / unquote(parts.path).lstrip("/")).exists(), (name, href)
            if parts.fragment and parts.path in ids:
                assert unquote(parts.fragment) in ids[parts.path], (name, href)
    assert sum(map(len, found.values())) > 100


def test_the_exercises_are_there_to_take_away_as_released(page: Page, address: str, root: Path) -> None:
    open_page(page, f"{address}/index.html")
    links = page.locator("article a[download]").all()
    exercises = sorted((root / "exercises").glob("*/*.ipynb"))
    assert len(links) == len(exercises) >= 7
    for link, exercise in zip(links, exercises, strict=True):
        with page.expect_download() as download:
            link.click()
        assert Path(download.value.path()).read_bytes() == exercise.read_bytes()
    for name, exercise in zip(CHAPTERS, exercises, strict=True):
        open_page(page, f"{address}/{name}.html")
        link = page.locator("article a[download]").first.get_attribute("href")
        assert link == exercise.relative_to(root).as_posix()


def test_search_finds_the_chapter_of_a_word(page: Page, address: str) -> None:
    page.goto(f"{address}/search.html?q=Frobenius")
    page.wait_for_selector("#search-results li a")
    assert "03_scaling" in page.locator("#search-results li a").first.get_attribute("href")
    page.get_by_text("Search finished").wait_for()


@pytest.mark.parametrize("name", CHAPTERS)
def test_on_paper_a_chapter_stands_without_side_bars_and_no_table_is_cut(
    page: Page, address: str, name: str
) -> None:
    page.set_viewport_size(PAPER)
    open_page(page, f"{address}/{name}.html")
    page.emulate_media(media="print")
    page.evaluate(UNFOLD)
    assert page.evaluate(CUT) == []
    assert not page.locator("details.hide").first.is_visible()
    assert page.locator("h1:visible").count() == 1
    assert page.locator("article h2").first.is_visible()
    for hidden in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".explorable-controls >> nth=0"):
        assert not page.locator(hidden).is_visible(), hidden
    assert page.locator("figure.explorable :is(svg, table)").first.is_visible()
    assert len(page.pdf()) > 100_000
