"""A page for a test, in which no script may fail and nothing may come from another machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, Route

HERE = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")


@contextmanager
def new_page(chromium: Browser) -> Iterator[Page]:
    """An empty page; at its end it is an error if a script failed or if another machine was asked."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, has_touch=True)
    trouble: list[str] = []

    def stay_here(route: Route) -> None:
        if route.request.url.startswith(HERE):
            route.continue_()
        else:
            trouble.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", stay_here)
    page = context.new_page()
    page.on("pageerror", lambda error: trouble.append(f"script failed: {error}"))
    yield page
    context.close()
    assert not trouble, trouble
