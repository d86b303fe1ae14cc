"""The glossary: one source of what words mean, to which the headings of pages lead."""

import re
from html import unescape

import pytest
from django.test import Client

from apps.console.kit.glossary import glossary, meaning_of
from tests.apps.console.people import client_of, csv_rows
from tests.browser.fleet import make_fleet, make_people

pytestmark = pytest.mark.django_db
PAGES = ("/", "/costs", "/team-work", "/api-spend")
PLAIN = {
    "Team",
    "Workload",
    "Model",
    "Feature",
    "Cause",
    "Is",
    "Runs and jobs",
    "Measured by",
    "Day",
}
"""Headings that are what they say."""


@pytest.fixture(scope="module")
def finance(of_module: None) -> Client:
    make_fleet()
    make_people("Finn")
    return client_of("finn")


def test_terms_are_those_of_the_docs_each_with_an_address_of_its_own() -> None:
    terms = [term for section in glossary().values() for term in section]
    assert len(terms) > 100
    assert len({term.name for term in terms}) == len(terms)
    assert all(len(term.meaning) > 8 and "](" not in term.meaning for term in terms)


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("GPU-hours", "Hours of whole GPUs"),
        ("Waste", "Σ lines that failed, diverged or were redone"),
        ("Idle while allocated", "no kernel of the holder was resident"),
        ("Rank", "share of its cost that was waste"),
        ("Charged", "teams sum to the charges"),
        ("Errors (429/5xx)", "answered 429 or 5xx"),
    ],
)
def test_a_word_means_what_the_docs_say(words: str, means: str) -> None:
    assert means in meaning_of(words)


def test_what_is_no_term_means_nothing() -> None:
    assert not meaning_of("Research")


@pytest.mark.parametrize("path", PAGES)
def test_every_heading_and_figure_of_the_main_pages_is_a_term(finance: Client, path: str) -> None:
    page = finance.get(path).content.decode()
    cells = re.findall(
        r'<th scope="col"([^>]*)>(.*?)</th>', page.partition('<details class="behind"')[2] or page
    )
    bare = {
        unescape(re.sub(r"<[^>]+>| [↑↓]", "", text)).strip()
        for attributes, text in cells
        if "title=" not in attributes and "per GPU-hour" not in text
    }
    known = {word for word in bare if meaning_of(word)}
    assert bare - known - PLAIN == set()
    if path == "/":
        assert "Terms on this page" in page
        for name in re.findall(r'href="/glossary#([^"]+)"', page):
            assert f'id="{name}"' in finance.get("/glossary").content.decode()


def test_the_glossary_is_a_file_too(finance: Client) -> None:
    rows = csv_rows(finance.get("/glossary.csv"))
    assert {"term", "meaning"} == set(rows[0])
