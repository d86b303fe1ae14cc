"""What axe and the screen hold against a page that is open: at every severity, and whether all of it fits."""

from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

SIGHTS = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
"""Widths in pixels and colour schemes."""
# The policy of the pages would not let axe in; what they themselves load is tried elsewhere.
LOOKING = {"bypass_csp": True, "reduced_motion": "reduce"}
"""What a browser is opened with whose pages are looked at."""
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    each => [each.impact, each.id, each.nodes.slice(0, 3).map(node => node.target.join(" "))])"""
DRAWN = """() => [...document.querySelectorAll('.chart')].every(each =>
    !each.getClientRects().length || each.querySelector('.main-svg'))"""
# What scrolls within its card may be wide; what is only heard is a pixel, and cut on purpose.
UNFIT = """() => {
  const seen = each => each.getClientRects().length && !each.closest('.unseen')
    && getComputedStyle(each).visibility === 'visible'
  const clips = each => getComputedStyle(each).overflowX !== 'visible'
  const within = each => { let box = each; while ((box = box.parentElement)) if (clips(box)) return true }
  const named = each => each.tagName.toLowerCase() + '.' + (each.getAttribute('class') || '')
    + ' ' + each.textContent.trim().slice(0, 40)
  const ownText = each => [...each.childNodes].some(it => it.nodeType === 3 && it.data.trim())
  const every = [...document.querySelectorAll('body *')].filter(seen)
  const namedTicks = (chart, axis) => [...chart.querySelectorAll(`.${axis} text`)].filter(it =>
    it.getClientRects().length && getComputedStyle(it).opacity !== '0').length
  // Bars that are named where they stand need no axis beside them.
  const isSeen = (chart, axis) => chart.layout?.[`${axis}axis`]?.visible !== false
  const overlapping = chart => {
    const texts = [...chart.querySelectorAll('.xtick text')].filter(it => it.getClientRects().length)
      .map(it => it.getBoundingClientRect()).sort((one, other) => one.left - other.left)
    return texts.some((it, place) => place && it.left < texts[place - 1].right && it.top < texts[place - 1].bottom)
  }
  // What stays while the rest scrolls leaves room for the rest.
  const hides = table => {
    const first = table.querySelector('tbody th:first-child'), box = table.closest('.scroll')
    return first && box && box.scrollWidth > box.clientWidth + 1
      && getComputedStyle(first).position === 'sticky' && first.offsetWidth > 0.6 * box.clientWidth
  }
  const root = document.documentElement
  const cuts = each => ['hidden', 'clip'].includes(getComputedStyle(each).overflowX)
  const beyond = (inner, outer) => inner.width && (inner.left < outer.left - 2 || inner.right > outer.right + 2)
  const faults = {
    'scrolls sideways': root.scrollWidth > root.clientWidth ? [root] : [],
    'beyond the screen': every.filter(each =>
      each.getBoundingClientRect().right > innerWidth + 1 && !within(each) && !clips(each)),
    'text cut': every.filter(each =>
      ownText(each) && cuts(each) && each.scrollWidth > each.clientWidth + 1 && !each.title),
    'chart text cut': every.filter(each => each.matches('.chart text')
      && beyond(each.getBoundingClientRect(), each.closest('.chart').getBoundingClientRect())),
    'ticks over each other': every.filter(each => each.matches('.chart') && overlapping(each)),
    'a first column over all others': every.filter(each => each.matches('table') && hides(each)),
    'an axis without two ticks': every.filter(each => each.matches('.chart')
      && ['x', 'y'].some(axis => isSeen(each, axis) && namedTicks(each, `${axis}tick`) < 2)),
  }
  return Object.entries(faults).filter(([, found]) => found.length)
    .map(([fault, found]) => ['unfit', fault, found.slice(0, 3).map(named)])
}"""

Fault = tuple[str, str, list[str]]


def faults_of(page: Page) -> list[Fault]:
    """How bad, which rule, and the first elements; charts are waited for."""
    page.wait_for_function(DRAWN)
    page.evaluate(AXE)
    return [tuple(fault) for fault in (*page.evaluate(RUN), *page.evaluate(UNFIT))]
