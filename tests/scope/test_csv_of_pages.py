"""Tables of pages are answered as CSV below the address of their page, and lead there from where they were."""

import re
from html import unescape
from typing import Any

import pytest
from django.urls import resolve

from apps.console.csv_addresses import OLD_ADDRESSES, csv_of_page
from apps.console.kit.csv_file import csv_path
from apps.console.kit.page import PAGES
from tests.scope.addresses import LEAD_ELSEWHERE, Address, every_address
from tests.scope.asking import FORMS, answered
from tests.scope.test_walk import queries_of
from tests.scope.world import World

pytestmark = pytest.mark.django_db
CSV = "text/csv; charset=utf-8"
WHAT_THEY_ASK = {"window": "90d", "state": "unallocated", "account": "acct-plume", "end": ""}
"""A period, and what tables of a state and of a preview are not answered without."""
CSV_LINK = re.compile(r'href="(/[^"]*\.csv\?[^"]*)" download')


def _pages(world: World) -> list[Address]:
    """Addresses of pages."""
    return [
        address
        for address in every_address()
        if not address.pattern.endswith(".csv")
        and resolve(address.filled(world.planted)).func in PAGES
    ]


def test_every_old_address_leads_to_the_table_under_the_address_of_its_page(world: World) -> None:
    faults: list[Any] = []
    for route, _, _ in OLD_ADDRESSES:
        path = Address(route).filled(world.planted)
        client = world.askers["petra"].client()
        moved = client.get(path, query_params=WHAT_THEY_ASK | {"owner": world.planted["team_id"]})
        href = moved.headers.get("Location", "")
        answer = client.get(href) if href else moved
        is_right = moved.status_code == 301 and "window=90d" in href and "table=" in href
        if not is_right or (answer.status_code, answer.headers["Content-Type"]) != (200, CSV):
            faults.append((path, moved.status_code, href, answer.status_code))
    assert faults == []


def test_every_table_that_a_page_offers_is_answered_under_its_address(world: World) -> None:
    links, faults = 0, []
    for address in _pages(world):
        path = address.filled(world.planted)
        (query, *_) = queries_of(address, world)
        answer = answered(world, "petra", path, "page", query)
        html = "" if answer.streaming else unescape(answer.content.decode(errors="replace"))
        for href in CSV_LINK.findall(html):
            links += 1
            file = world.askers["petra"].client().get(href)
            if (file.status_code, file.headers["Content-Type"]) != (200, CSV):
                faults.append((path, href, file.status_code))
    assert faults == []
    assert links > 100


def test_every_page_has_an_address_for_its_tables(world: World) -> None:
    """A parameter that takes dots, as `<str:…>` at the end, would take `.csv` for a part of itself."""
    for address in _pages(world):
        path = address.filled(world.planted)
        is_old = f"{address.pattern}.csv" in LEAD_ELSEWHERE
        assert is_old or resolve(csv_path(path)).func is csv_of_page, address.pattern


def test_a_table_that_a_page_does_not_have_is_answered_with_those_that_it_has(world: World) -> None:
    client = world.askers["petra"].client()
    answer = client.get("/headroom/waiting.csv?table=no-such")
    assert answer.status_code == 404
    assert "it has jobs, outages and waiting." in answer.content.decode()
    assert client.get("/search.csv").status_code == 404
    assert client.get("/no-such-page.csv").status_code == 404
    assert client.get("/healthz.csv").status_code == 404


def test_a_mail_and_a_document_have_no_tables(world: World) -> None:
    client = world.askers["petra"].client()
    for paper in ("mail", "mail.txt", "pdf"):
        path = f"/weekly-reviews/{world.planted['week']}/{paper}"
        assert client.get(path).status_code == 200
        assert client.get(f"{path}.csv").status_code == 404


def test_a_page_answers_csv_where_that_is_accepted(world: World) -> None:
    client = world.askers["petra"].client()
    for path in ("/headroom", "/bills?table=files", "/alerts"):
        accepted = client.get(path, headers=FORMS["CSV"])
        page, _, query = path.partition("?")
        assert accepted.headers["Content-Type"] == CSV
        assert accepted.content == client.get(f"{page}.csv?{query}").content
    browser = client.get(
        "/headroom", headers={"Accept": "text/html,application/xml;q=0.9,*/*;q=0.8"}
    )
    assert browser.headers["Content-Type"].startswith("text/html")
    assert (
        client.get("/headroom", headers={"Accept": "*/*"})
        .headers["Content-Type"]
        .startswith("text/html")
    )


def test_whoever_may_not_see_a_page_gets_no_table_of_it(world: World) -> None:
    for name, status in (("dee", 403), ("a stranger", 302)):
        assert answered(world, name, "/headroom.csv", "page", "").status_code == status
        assert answered(world, name, "/headroom", "CSV", "").status_code == status
