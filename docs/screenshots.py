"""Take the README's pictures from a running demo: `python docs/screenshots.py ADDRESS EMAIL PASSWORD`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PAGES = {
    "overview": "/",
    "costs": "/costs",
    "fleet": "/fleet",
    "prices": "/prices",
    "ownership": "/ownership",
    "runs": "/runs",
    "services": "/services",
    "api-spend": "/api-spend",
    "team-work": "/team-work",
    "setup": "/setup",
}


def main(address: str, email: str, password: str) -> None:
    """Every page at desk and phone width, light and dark."""
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for theme in ("light", "dark"):
            for width, suffix in ((1280, ""), (390, "-phone")):
                take(browser, address, (email, password), theme, width, suffix)
        browser.close()


def take(
    browser: Browser, address: str, who: tuple[str, str], theme: str, width: int, suffix: str
) -> None:
    """Sign in with a fresh browser and picture each page whole."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Email").fill(who[0])
    page.get_by_label("Password").fill(who[1])
    page.get_by_role("button", name="Sign in").click()
    for name, path in PAGES.items():
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / f"{name}-{theme}{suffix}.png", full_page=True)
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
