"""What a first visit to each page of the navigation costs in a browser, and a slider, on the demo's data."""

import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Response, sync_playwright

from bench.browser_people import PASSWORD, PEOPLE
from bench.browser_sliders import slider_times
from bench.calibration import scaled
from bench.machine import ROOT, over, own_database
from controlplane import env, processes

DATABASE = "runrate_bench_browser"
VISITS, FULL_VISITS = 3, 10
SLIDER_MS = 300.0
TARGETS = {"lcp_ms": 1500.0, "cls": 0.1, "script_kb": 500.0}
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
LINKS = 'nav[aria-label="Main"] a.brand, nav[aria-label="Main"] .nav-group a, .menu-list a'
READY_SECONDS = 30
# Charts are drawn after the network is quiet.
DRAWN_MS = 500
WATCH = """
window.seen = {lcp: 0, cls: 0, first: 0, last: 0, sum: 0}
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) seen.lcp = entry.startTime
}).observe({type: "largest-contentful-paint", buffered: true})
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue
    const goesOn = entry.startTime - seen.last < 1000 && entry.startTime - seen.first < 5000
    if (!goesOn) { seen.first = entry.startTime; seen.sum = 0 }
    seen.last = entry.startTime
    seen.sum += entry.value
    seen.cls = Math.max(seen.cls, seen.sum)
  }
}).observe({type: "layout-shift", buffered: true})
"""
Pages = dict[str, dict[str, float]]


class NotMeasured(Exception):
    """There is no browser, or a page did not answer as it should."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit by a browser that has kept nothing but the session."""

    lcp_ms: float
    cls: float
    script_bytes: int


def run(*, full: bool = False) -> dict[str, object]:
    """The figures of one run; `full` visits each page ten times instead of three.

    LCP and CLS are the medians of the visits, script bytes the most, a slider's time the median of
    its moves. `misses` says what is over a
    target. Refuses NotMeasured without a browser, and BenchRefused as the other benches do.
    """
    with own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE) as url:
        environment = os.environ | {"RUNRATE_DATABASE_URL": url}
        for command in (
            ["manage.py", "demo", "--no-serve", "--json"],
            ["-m", "bench.browser_people"],
        ):
            subprocess.run(
                [sys.executable, *command], env=environment, cwd=ROOT, check=True, stdout=sys.stderr
            )
        with _served(environment) as site, _browser() as browser:
            pages = _all_pages(browser, site, FULL_VISITS if full else VISITS)
            sliders = _sliders(browser, site)
    worst = {
        figure: max((told[figure], name) for name, told in pages.items()) for figure in TARGETS
    }
    if not sliders:
        raise NotMeasured("no slider of a kept crossover was found")
    worst["slider_ms"] = max((told["slider_ms"], name) for name, told in sliders.items())
    targets = TARGETS | {"lcp_ms": scaled(TARGETS["lcp_ms"])}
    limits = {"slider_ms": scaled(SLIDER_MS)}
    return {
        "targets": targets | limits,
        "worst": worst,
        "misses": over(pages, targets) + over(sliders, limits),
        "pages": pages,
        "sliders": sliders,
    }


@contextmanager
def _served(environment: dict[str, str]) -> Iterator[str]:
    """The web processes as `manage.py up` starts them; their address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{probe.getsockname()[1]}"
    command = processes.web(env.environment(environment), listen).command
    server = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=sys.stderr.fileno())
    try:
        _wait_until_ready(listen)
        yield f"http://{listen}"
    finally:
        server.terminate()
        server.wait(30)


def _wait_until_ready(listen: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not _is_ready(listen):
        if time.monotonic() > deadline:
            raise NotMeasured(f"the web server did not start on {listen}")
        time.sleep(0.1)


def _is_ready(listen: str) -> bool:
    connection = http.client.HTTPConnection(listen, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


@contextmanager
def _browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NotMeasured("no Chromium: deploy/get-chromium.sh, or apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def _all_pages(browser: Browser, site: str, visits: int) -> Pages:
    pages: Pages = {}
    for name, email in PEOPLE.items():
        kept, paths = _signed_in(browser, site, email)
        for path in paths:
            seen = [_visited(browser, site + path, kept) for _ in range(visits)]
            pages[f"{path.strip('/') or 'overview'} as {name}"] = {
                "lcp_ms": round(statistics.median(each.lcp_ms for each in seen), 1),
                "cls": round(statistics.median(each.cls for each in seen), 4),
                "script_kb": round(max(each.script_bytes for each in seen) / 1024, 1),
            }
    return pages


def _sliders(browser: Browser, site: str) -> Pages:
    page = _page_of(browser, site, PEOPLE["finance"])
    times = slider_times(page, site)
    page.context.close()
    return {name: {"slider_ms": each} for name, each in times.items()}


def _page_of(browser: Browser, site: str, email: str) -> Page:
    """Of somebody who has signed in by the form."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(site)
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_selector(".nav-group")
    return page


def _signed_in(
    browser: Browser, site: str, email: str
) -> tuple[list[dict[str, object]], list[str]]:
    """The cookies of somebody who has signed in by the form, and the pages that they are offered."""
    page = _page_of(browser, site, email)
    links = page.eval_on_selector_all(LINKS, "links => links.map(link => link.href)")
    cookies = [dict(each) for each in page.context.cookies()]
    page.context.close()
    return cookies, list(dict.fromkeys(urlsplit(link).path for link in links))


def _visited(browser: Browser, address: str, cookies: list[dict[str, object]]) -> Visit:
    context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies(json.loads(json.dumps(cookies)))
    page: Page = context.new_page()
    page.add_init_script(WATCH)
    answers: list[Response] = []
    page.on("response", lambda response: answers.append(response))
    answer = page.goto(address, wait_until="networkidle")
    # A page that refuses, as Setup does to a lead, is one that they see.
    if answer is None or answer.status not in {http.HTTPStatus.OK, http.HTTPStatus.FORBIDDEN}:
        raise NotMeasured(f"{address} answers {answer and answer.status}")
    page.wait_for_timeout(DRAWN_MS)
    seen = page.evaluate("seen")
    scripts = [each.request for each in answers if each.request.resource_type == "script"]
    size = sum(each.sizes()["responseBodySize"] for each in scripts)
    context.close()
    return Visit(seen["lcp"], seen["cls"], size)
