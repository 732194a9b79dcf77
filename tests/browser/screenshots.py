"""Photographs every chapter in JupyterLab (left) and on the site (right), cell beside cell.

`make screenshots` calls it and builds the site first; the pictures are then in build/screenshots.
"""

import argparse
import io
import shutil
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import lab_driver
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from print_pdf import open_page, served

ROOT = Path(__file__).resolve().parents[2]
TALLEST, GAP = 1700, 10  # pixels: of one sheet, and between its two halves
# Where a row of a pair starts: at every heading and every code cell, which are the same in both places.
IN_LAB, ON_SITE = ".jp-RenderedMarkdown :is(h1, h2, h3), .jp-CodeCell", "article :is(h1, h2, h3, div.cell)"
TOPS = """(marks) => [...document.querySelectorAll(marks)]
  .filter((mark) => mark.getClientRects().length > 0)
  .map((mark) => mark.getBoundingClientRect().top)"""
HEIGHT = "(box) => Math.ceil(document.querySelector(box).scrollHeight)"
UNFOLD = "(places) => document.querySelectorAll(places).forEach((fold) => (fold.open = true))"
FOLDS = ".jp-OutputArea details, .jp-RenderedMarkdown details, article details:not(.hide)"


def rows(page: Page, box: str, marks: str) -> list[Image.Image]:
    """The element `box`, photographed whole and cut at every mark, from the first mark on."""
    width, tall = page.viewport_size["width"], page.evaluate(HEIGHT, box)
    page.set_viewport_size({"width": width, "height": tall + 200})
    page.wait_for_timeout(500)  # drawings lay themselves out anew
    place = page.locator(box).bounding_box()
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    tops = [max(0, round(top) - 6) for top in page.evaluate(TOPS, marks)]
    left, right = round(place["x"]), round(place["x"] + place["width"])
    end = min(picture.height, round(place["y"] + tall))
    return [picture.crop((left, top, right, below)) for top, below in pairwise([*tops, end])]


def pieces(left: list[Image.Image], right: list[Image.Image]) -> Iterator[Image.Image]:
    """Pairs of rows, one below the other on sheets that are not too tall to read."""
    assert len(left) == len(right), f"{len(left)} rows in JupyterLab, {len(right)} on the site"
    wide = max(row.width for row in left)
    across = wide + GAP + max(row.width for row in right)
    sheet, used = Image.new("RGB", (across, TALLEST), "grey"), 0
    for pair in zip(left, right, strict=True):
        height = max(row.height for row in pair)
        for top in range(0, height, TALLEST):  # a row taller than a sheet goes on on the next one
            part = min(TALLEST, height - top)
            if used + part > TALLEST:
                yield sheet.crop((0, 0, across, used))
                sheet, used = Image.new("RGB", (across, TALLEST), "grey"), 0
            for row, x in zip(pair, (0, wide + GAP), strict=True):
                sheet.paste(row.crop((0, top, row.width, max(top, min(row.height, top + part)))), (x, used))
            used += part
    yield sheet.crop((0, 0, across, used))


def in_lab(page: Page, lab: lab_driver.Lab, chapter: str, options: argparse.Namespace) -> list[Image.Image]:
    """A stored chapter in JupyterLab, with its side bars folded away."""
    page.set_viewport_size({"width": options.width, "height": 900})
    lab_driver.open_notebook(page, lab, f"notebooks/{chapter}.ipynb")
    page.evaluate("() => { window.jupyterapp.shell.mode = 'single-document'; }")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    if not options.untrusted:
        lab_driver.trust(page)
        page.wait_for_selector("figure.explorable[data-live]")
    if options.theme == "dark":
        lab_driver.change_theme(page, "JupyterLab Dark")
    if options.unfold:
        page.evaluate(UNFOLD, FOLDS)
    return rows(page, f"{lab_driver.PANEL} .jp-WindowedPanel-outer", IN_LAB)


def on_site(page: Page, address: str, chapter: str, options: argparse.Namespace) -> list[Image.Image]:
    """The chapter's page on the site; where there is room beside the text, without what stands there."""
    page.set_viewport_size({"width": options.width, "height": 900})
    open_page(page, f"{address}/{chapter}.html")
    page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", options.theme)
    if options.unfold:
        page.evaluate(UNFOLD, FOLDS)
    return rows(page, "article", ON_SITE)


def main() -> None:
    """Photograph the chapters that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "chapters", nargs="*", help="beginnings of chapters' names, such as 03 (default: all)"
    )
    parser.add_argument("--theme", choices=["light", "dark"], default="light")
    parser.add_argument("--width", type=int, default=880, help="of the window in pixels")
    parser.add_argument("--untrusted", action="store_true", help="JupyterLab as before Trust Notebook")
    parser.add_argument("--unfold", action="store_true", help="open answers, hints and tables")
    options = parser.parse_args()
    names = sorted(path.stem for path in (ROOT / "notebooks").glob("0*.ipynb"))
    wanted = [name for name in names if name.startswith(tuple(options.chapters) or "")]
    kind = f"{options.theme}{options.width}" + "_untrusted" * options.untrusted + "_unfolded" * options.unfold
    target = ROOT / "build" / "screenshots" / kind
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        course, state = Path(folder, "course"), Path(folder, "state")
        shutil.copytree(ROOT / "notebooks", course / "notebooks")
        state.mkdir()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        with lab_driver.running_lab(course, state) as lab, served(ROOT / "build" / "site") as address:
            lab_page, site_page = browser.new_page(), browser.new_page()
            for name in wanted:
                pairs = in_lab(lab_page, lab, name, options), on_site(site_page, address, name, options)
                for old in target.glob(f"{name[:2]}_*.png"):
                    old.unlink()
                for number, sheet in enumerate(pieces(*pairs), start=1):
                    sheet.save(target / f"{name[:2]}_{number:02}.png")
                print(f"{(target / name[:2]).relative_to(ROOT)}_*.png")
        browser.close()


if __name__ == "__main__":
    main()
