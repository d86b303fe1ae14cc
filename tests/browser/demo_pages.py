"""The walk through the demo's console in a browser: a page of each kind, and what is bare on it."""

import re
from dataclasses import dataclass, field

from django.urls import Resolver404, resolve
from playwright.sync_api import Page

from tests.browser.looks import Fault, faults_of
from tests.scope.addresses import PARAMETER, every_address

NOT_PAGES = re.compile(
    r"^(api/|account|sign-|invitation/|healthz|readyz|metrics|downloads/.)|\.csv$|/file$|/pdf$|/mail(\.txt)?$"
)
"""What programs ask for or a browser keeps, and what is of a person's own account."""
LINKS = """() => [...document.querySelectorAll('a[href^="/"]:not([download])')].map(
    each => each.getAttribute('href'))"""
# A heading and a sentence alone are nothing to show.
BARE = """() => [...document.querySelectorAll('main .card')].filter(card =>
    card.classList.contains('empty')
    || !card.querySelector('table, dl, ol, ul, svg, form, a, strong, .chart')
  ).map(card => (card.querySelector('h2, h3') || card).textContent.trim())"""


@dataclass
class Walked:
    """By the name of a page: its address. By address: cards without anything, and what is amiss."""

    addresses: dict[str, str] = field(default_factory=dict)
    bare: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)


def every_page() -> set[str]:
    """The names of all addresses that may answer with a page."""
    patterns = (each.pattern for each in every_address())
    names = {name_of(f"/{PARAMETER.sub('1', it)}") for it in patterns if not NOT_PAGES.search(it)}
    return {name for name in names if name}


def walk(page: Page, url: str, *also: str) -> Walked:
    """From these addresses and the overview on, along links, as whoever is signed in: one of each name."""
    waiting, walked = [*also, "/"], Walked()
    while waiting:
        address = waiting.pop(0)
        name = name_of(address)
        if not name or name in walked.addresses:
            continue
        walked.addresses[name] = address
        answer = page.goto(f"{url}{address}")
        if faults := faults_of(page):
            walked.faults[address] = faults
        if answer is None or answer.status != 200:
            walked.refused[address] = 0 if answer is None else answer.status
        if bare := page.evaluate(BARE):
            walked.bare[address] = bare
        waiting += page.evaluate(LINKS)
    return walked


def name_of(address: str) -> str:
    """The name of the page at an address; empty where it is none."""
    path = address.partition("?")[0].partition("#")[0]
    if NOT_PAGES.search(path[1:]):
        return ""
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""
