"""A Chromium for the browser tests: Debian's, headless, speaking to loopback only."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_django
from django.core.cache import cache
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.apps.console.people import client_of
from tests.databases import kept_until_the_end
from tests.planted import forget_rows

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# The headless shell has no window to draw, which is most of what a new page costs the others.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OURS = {"127.0.0.1", "localhost", "::1"}
# How long a page may take before it counts as absent: the suite's other half is busy beside it.
PATIENCE_MS = 30_000
# Playwright's own errors by the names of their types: a page that went while it was asked.
BROWSER_ERRED = ["^Error: ", "^TargetClosedError: "]
SETTLED_AND_FITS = (
    "document.readyState === 'complete' && document.documentElement.scrollWidth <= innerWidth"
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser; a machine without one fails here and says what to install."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail("No Chromium: run `make test`, or apt-get install chromium")
    # Playwright's loop runs in this thread, which Django would otherwise take for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a test once more, and say so, when the browser itself erred; a broken promise never."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=BROWSER_ERRED))


@pytest.fixture(scope="module")
def committed(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """What fixtures of the module make after this one is there for the server of all its tests.

    None of them changes what another reads.
    """
    forget_rows()
    with django_db_blocker.unblock(), kept_until_the_end():
        cache.clear()
        yield
    forget_rows()


def opened(page: Page, address: str, name: str = "finn") -> Page:
    """The page at an address, as somebody who has signed in before."""
    return opened_with(page, address, client_of(name).cookies["sessionid"].value)


def opened_with(page: Page, address: str, session: str) -> Page:
    """The page at an address, in somebody's session."""
    sign_in_with(page, address, session)
    page.goto(address)
    return page


def sign_in_with(page: Page, address: str, session: str) -> None:
    """The browser is theirs from here on."""
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": address}])


def fits(page: Page) -> None:
    """Fails when the page, once it is there, scrolls sideways; a page on its way is waited for."""
    # The function is asked in vain only by eval, which the pages' policy refuses.
    page.wait_for_load_state()
    page.wait_for_function(SETTLED_AND_FITS)


def fits_in_both_schemes(page: Page) -> None:
    """As `fits`, by day and by night."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        fits(page)


class Desk:
    """Opens browsers of any kind and keeps what went wrong in them."""

    def __init__(self, chromium: Browser) -> None:
        self.chromium = chromium
        self.contexts: list[BrowserContext] = []
        self.trouble: list[str] = []
        self.expected: list[str] = []

    def page(self, width: int = 1280, **given: object) -> Page:
        """A fresh page without cookies; `given` goes to the browser's context."""
        context = self.chromium.new_context(viewport={"width": width, "height": 900}, **given)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("request", lambda request: self._asked(request.url))
        return page

    def _said(self, kind: str, text: str) -> None:
        if kind == "error" and not any(words in text for words in self.expected):
            self.trouble.append(text)

    def _asked(self, url: str) -> None:
        where = urlsplit(url)
        if where.scheme not in {"data", "blob"} and where.hostname not in OURS:
            self.trouble.append(f"asked another host: {url}")


@pytest.fixture
def desk(chromium: Browser) -> Iterator[Desk]:
    """Fails the test on any script error, broken policy or request to another host."""
    desk = Desk(chromium)
    yield desk
    for context in desk.contexts:
        context.close()
    assert desk.trouble == []


@pytest.fixture
def page(desk: Desk) -> Page:
    """A fresh page at desk width."""
    return desk.page()
