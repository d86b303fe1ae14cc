"""Where nothing is on record yet each page says what fills it, and leads there, whoever asks."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client

from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.scope.addresses import every_address

pytestmark = pytest.mark.django_db
FILLED_ELSEWHERE = {
    "The organisation is chosen": "it is kept for good",
    "What can be found": "a search waits for a name",
    "No training run is reported yet": "a training script reports it, where it runs",
}
"""What no form of ours fills, and why."""


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Client:
    """Somebody of this role; a lead is one of a team. Others are there to be named."""
    cache.clear()
    make.make_organisation()
    for role in {"platform", "finance"} - {request.param}:
        make.make_person(f"{role}@example.org", name=role.title(), role=role)
    teams = [make.make_team("Research")] if request.param == "lead" else []
    return signed_in(request.param, *teams)


def pages_of(client: Client) -> Iterator[tuple[str, str]]:
    """Each page that opens without more being said, with its main part."""
    for address in every_address():
        if address.is_rest or "<" in address.pattern:
            continue
        answer = client.get(f"/{address.pattern}")
        if answer.status_code == 200 and "text/html" in answer.headers["Content-Type"]:
            html = answer.content.decode()
            if "<main" in html:
                yield f"/{address.pattern}", html.partition("<main")[2].partition("</main>")[0]


def links_of(path: str, main: str) -> set[str]:
    found = {urljoin(path, unescape(href)) for href in re.findall(r'href="([^"]*)"', main)}
    return {href.partition("#")[0] for href in found if not urlsplit(href).netloc}


@pytest.mark.parametrize("browser", ["platform", "finance", "lead", "viewer"], indirect=True)
def test_every_page_leads_on_without_a_shell(browser: Client) -> None:
    pages = dict(pages_of(browser))
    empty = [
        (path, each)
        for path, main in pages.items()
        for each in re.findall(r'<section class="card empty">.*?</section>', main, re.DOTALL)
    ]
    assert len(pages) > 15
    assert len(empty) > 5

    assert [path for path, main in pages.items() if "manage.py" in main] == []
    assert [
        (path, text_of(each))
        for path, each in empty
        if "<a href" not in each
        and "Somebody of the role" not in each
        and not any(f"<h2>{title}</h2>" in each for title in FILLED_ELSEWHERE)
    ] == []
    linked = {href: path for path, main in pages.items() for href in links_of(path, main)}
    closed = {
        (path, href): status
        for href, path in linked.items()
        if href not in pages and (status := browser.get(href, follow=True).status_code) != 200
    }
    assert closed == {}


def test_what_a_role_may_not_do_names_who_can() -> None:
    make.make_organisation()
    platform, finance, lead = map(signed_in, ("platform", "finance", "lead"))
    said = {
        (lead, "/"): "Somebody of the role platform puts you in a team: Platform.",
        (lead, "/services"): "Somebody of the role platform writes it: Platform.",
        (finance, "/clouds"): "Somebody of the role platform names it: Platform.",
        (finance, "/owned"): "Somebody of the role platform adds it: Platform.",
        (platform, "/commitments"): "Somebody of the role finance enters it: Finance.",
    }
    for (client, path), words in said.items():
        assert words in text_of(client.get(path).content.decode()), path
