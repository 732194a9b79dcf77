"""Chromium and a private JupyterLab for the browser tests; nothing here asks another machine for anything."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import lab_driver
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from pages import new_page
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--no-sandbox",  # the tests may run as root, and show nothing but this project's own pages
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
]
# What axe is sure of, and text that has (nearly) the colour of its ground: axe thinks that may be intended.
FIND_VIOLATIONS = """async ([include, exclude, runOnly]) => {
  const rules = runOnly ? { runOnly } : {};
  const found = await axe.run({ include: [include], exclude }, { preload: false, ...rules });
  const same = ({ any }) => any.some(({ message }) => message.includes("1:1 contrast"));
  const unsure = found.incomplete.filter(({ id }) => id === "color-contrast");
  return [
    ...found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 300)}`)),
    ...unsure.flatMap(({ nodes }) => nodes.filter(same).map(({ html }) => `invisible: ${html}`)),
  ];
}"""


@pytest.fixture(scope="module")
def chromium(require_program: Callable[[str, str], str]) -> Iterator[Browser]:
    """A headless browser for one file of tests: Playwright's event loop must not meet nbclient's."""
    program = require_program("chromium", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """An empty page; its test fails if a script fails or if anything is asked of another machine."""
    with new_page(chromium) as page:
        yield page


@pytest.fixture(scope="session")
def lab(
    root: Path, tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str, str], str]
) -> Iterator[lab_driver.Lab]:
    """A running JupyterLab over copies of the chapters and exercises, with settings and state of its own."""
    require_program("chromium", "chromium")
    course = tmp_path_factory.mktemp("course")
    for folder in ("notebooks", "exercises"):
        if (root / folder).is_dir():
            shutil.copytree(root / folder, course / folder, ignore=shutil.ignore_patterns(".*"))
    with lab_driver.running_lab(course, tmp_path_factory.mktemp("jupyter")) as lab:
        yield lab


@pytest.fixture(scope="session")
def violations() -> Callable[..., list[str]]:
    """A function that lists what axe-core finds wrong in the elements that a CSS selector matches.

    `exclude` are selectors of what need not be looked at: a page with drawings and formulas takes minutes.
    `only` are the rules that count, for a page that has passed all and changed its colours: color-contrast.
    """

    def find(
        page: Page, selector: str, exclude: Sequence[str] = (), only: Sequence[str] | None = None
    ) -> list[str]:
        page.evaluate(AXE_SCRIPT)
        return page.evaluate(FIND_VIOLATIONS, [selector, list(exclude), only])

    return find
