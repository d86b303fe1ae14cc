"""Take the README's pictures from a running demo: `python docs/screenshots.py ADDRESS EMAIL PASSWORD`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
HIGH = 900
MOST_HIGH = 1_400
"""A page that is longer is pictured as far as that."""
NEWEST_REVIEW = "newest review"
"""In place of a path: the newest of the reviews that are listed."""
PAGES = (
    ("overview-light", "/", 1280, "light"),
    ("runs-light", "/runs", 1280, "light"),
    ("weekly-review-light", NEWEST_REVIEW, 1280, "light"),
    ("recommendations-light", "/recommendations", 1280, "light"),
)
"""Name, path, width and scheme of each picture."""


def main(address: str, email: str, password: str) -> None:
    """Each of PAGES, as whoever signs in sees it."""
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, path, width, scheme in PAGES:
            page = signed_in(browser, address, (email, password), width, scheme)
            if path == NEWEST_REVIEW:
                page.goto(f"{address}/weekly-reviews")
                page.locator("tbody th a").first.click()
            else:
                page.goto(address + path)
            page.wait_for_load_state("networkidle")
            high = min(MOST_HIGH, page.evaluate("document.documentElement.scrollHeight"))
            page.set_viewport_size({"width": width, "height": high})
            page.screenshot(path=PICTURES / f"{name}.png")
            page.context.close()
        browser.close()


def signed_in(
    browser: Browser, address: str, who: tuple[str, str], width: int, scheme: str
) -> Page:
    """A fresh browser of this width and scheme, signed in."""
    context = browser.new_context(
        viewport={"width": width, "height": HIGH},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Email").fill(who[0])
    page.get_by_label("Password").fill(who[1])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()
    return page


if __name__ == "__main__":
    main(*sys.argv[1:4])
