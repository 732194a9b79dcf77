"""Prints every page of build/site into build/pdf with Chromium; `make pdf` calls it."""

import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

# Paper cannot be unfolded: answers and tables are printed, only the code that asks the questions is not.
UNFOLD = "() => document.querySelectorAll('article details:not(.hide)').forEach((fold) => (fold.open = true))"
PAPER = {"width": 717, "height": 1046}  # A4 without its margins: movable figures lay themselves out for it
BUILD = Path(__file__).resolve().parents[1] / "build"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which this machine, and no other, sees a folder."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def open_page(page: Page, url: str) -> None:
    """Open a page and wait until its formulas, if it has any, are set."""
    page.goto(url)
    page.wait_for_function(
        "() => !document.querySelector('script[src*=mathjax]') || window.MathJax?.startup?.promise"
    )
    page.evaluate("() => window.MathJax?.startup.promise.then(() => true)")


def print_pages(site: Path, target: Path, chromium: str) -> list[Path]:
    """Print every chapter and the glossary; formulas are set and figures live before the page is printed."""
    target.mkdir(parents=True, exist_ok=True)
    printed = []
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])  # for root
        page = browser.new_page(viewport=PAPER)
        for path in sorted((*site.glob("0*.html"), site / "glossary.html")):
            open_page(page, f"{address}/{path.name}")
            page.evaluate(UNFOLD)
            printed.append(target / f"{path.stem}.pdf")
            page.pdf(path=printed[-1], format="A4", print_background=True, tagged=True, outline=True)
        browser.close()
    return printed


def main() -> int:
    """Print build/site; say what is missing where there is no Chromium."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("course: needs Chromium (on Debian: apt-get install chromium)", file=sys.stderr)
        return 2
    for path in print_pages(BUILD / "site", BUILD / "pdf", chromium):
        print(path.relative_to(BUILD.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
