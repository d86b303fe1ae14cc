"""How long a kept crossover takes to answer a slider, in the browser: from the input to the answer on the page."""

import statistics
from urllib.parse import urlsplit

from playwright.sync_api import Page

LIST = "/crossover"
MOVES = 5
"""Each slider is moved so often, from end to end."""
ANSWERED = """
([name, part]) => new Promise(resolve => {
  const slider = document.querySelector(`input[type=range][name="${name}"]`)
  slider.value = Number(slider.min) + (Number(slider.max) - Number(slider.min)) * part
  const began = performance.now()
  document.addEventListener("htmx:after:swap", () => resolve(performance.now() - began), {once: true})
  slider.dispatchEvent(new Event("input", {bubbles: true}))
})
"""


def slider_times(page: Page, site: str) -> dict[str, float]:
    """The median milliseconds of each slider of each kept scenario, with the wait for more moves."""
    page.goto(site + LIST, wait_until="networkidle")
    links = page.eval_on_selector_all("#scenarios tbody a", "links => links.map(link => link.href)")
    times = {}
    for path in dict.fromkeys(urlsplit(link).path for link in links):
        page.goto(site + path, wait_until="networkidle")
        names = page.eval_on_selector_all("input[type=range]", "all => all.map(each => each.name)")
        for name in names:
            taken = [page.evaluate(ANSWERED, [name, (move + 0.5) / MOVES]) for move in range(MOVES)]
            times[f"{path.strip('/')} {name}"] = round(statistics.median(taken), 1)
    return times
