"""Saved views: a page with its filters kept by name, found by those it is shared with and nobody else."""

import re
from urllib.parse import urlencode

import pytest
from django.test import Client

from apps.accounts.actions.saved_views import MOST_VIEWS
from apps.accounts.models import SavedView
from apps.console.pages.saved_views.page_words import page_name
from tests import make
from tests.apps.console.people import client_of, confirmed, csv_rows, signed_in, words_of

pytestmark = pytest.mark.django_db
COSTS = "/costs?window=lastmonth&team=%3DZebras"


@pytest.fixture
def zebras() -> int:
    make.make_organisation()
    return make.make_team("Zebras")


@pytest.fixture
def lead(zebras: int) -> Client:
    return signed_in("lead", zebras)


def keep(client: Client, name: str, shared_with: str = "", address: str = COSTS):
    return client.post(
        f"/views/new?{query_of(address)}", {"name": name, "shared_with": shared_with}
    )


def query_of(address: str) -> str:
    return urlencode({"address": address})


def names(client: Client) -> list[str]:
    return [row["name"] for row in csv_rows(client.get("/views.csv"))]


def test_a_page_is_kept_with_its_filters_and_opened_from_menu_and_search(lead: Client) -> None:
    offered = lead.get("/costs?window=lastmonth&page=2").content.decode()
    assert "/views/new?address=%2Fcosts%3Fwindow%3Dlastmonth" in offered

    answer = keep(lead, "Zebras last month", address=f"{COSTS}&page=3&sort=-cost")

    assert (answer.status_code, answer.url) == (302, COSTS)
    (row,) = csv_rows(lead.get("/views.csv"))
    assert (row["name"], row["address"], row["shared_with"]) == (
        "Zebras last month", COSTS, "nobody else"
    )  # fmt: skip
    menu = lead.get("/views/menu").content.decode()
    assert f'href="{COSTS.replace("&", "&amp;")}"' in menu
    view_id = SavedView.objects.get().id
    assert f'href="/views/{view_id}' in lead.get("/search?q=zebras+last").content.decode()
    assert lead.get(f"/views/{view_id}").url == COSTS


def test_a_view_is_found_by_its_owner_a_team_or_everybody(zebras: int, lead: Client) -> None:
    member = signed_in("viewer", zebras)
    make.make_person("kay@example.org", name="Kay", role="lead")
    other = client_of("kay")
    finance = signed_in("finance")
    for name, shared_with in (("mine", ""), ("gnuview", str(zebras)), ("all", "everybody")):
        assert keep(lead, name, shared_with).status_code == 302

    assert names(lead) == ["all", "gnuview", "mine"]
    assert names(member) == ["all", "gnuview"]
    assert names(finance) == ["all", "gnuview"]
    assert names(other) == ["all"]
    mine = SavedView.objects.get(name="mine").id
    for client in (member, finance, other):
        assert client.get(f"/views/{mine}").status_code == 404
    assert "/views/" not in other.get("/search/suggested?q=gnuview").content.decode()
    assert "/views/" in member.get("/search/suggested?q=gnuview").content.decode()


def test_nobody_shares_with_a_team_that_is_not_theirs(lead: Client) -> None:
    koalas = make.make_team("Koalas")
    assert keep(lead, "theirs", str(koalas)).status_code == 400
    assert not SavedView.objects.exists()


def test_only_the_owner_renames_shares_and_removes_it(lead: Client) -> None:
    keep(lead, "first", "everybody")
    view_id = SavedView.objects.get().id
    finance = signed_in("finance")
    for way in ("change", "remove"):
        assert finance.get(f"/views/{view_id}/{way}").status_code == 404

    confirmed(lead, f"/views/{view_id}/change", {"name": "second", "shared_with": ""})
    assert names(lead) == ["second"]
    assert names(finance) == []

    confirmed(lead, f"/views/{view_id}/remove", {"look": "yes"})
    assert names(lead) == []


def test_a_name_is_given_once_and_no_more_than_so_many_are_kept(lead: Client) -> None:
    keep(lead, "first")
    assert "you keep a view named" in words_of(keep(lead, "first")).lower()
    owner_id = SavedView.objects.get().owner_id
    SavedView.objects.bulk_create(
        SavedView(owner_id=owner_id, name=f"{place}", address="/", created_at=make.NOON)
        for place in range(MOST_VIEWS)
    )
    assert "remove one first" in words_of(keep(lead, "one more"))


@pytest.mark.parametrize(
    "address",
    ["", "https://example.org/", "//example.org/costs", "/no-such-page", "/sign-out", "/costs.csv",
     "/prices/new", "/views", "javascript:alert(1)"],
)  # fmt: skip
def test_nothing_but_a_page_is_kept(lead: Client, address: str) -> None:
    assert keep(lead, "away", address=address).status_code == 404
    assert not SavedView.objects.exists()


def test_a_view_says_its_page_and_filters_as_people_call_them(lead: Client) -> None:
    keep(lead, "By model", address="/costs?window=lastmonth&group_by=gpu_model,state")

    words = words_of(lead.get("/views"))

    assert "Cost explorer, with period Last month, group by GPU model, state" in words


def test_views_call_pages_as_the_navigation_does() -> None:
    make.make_organisation()
    finance = signed_in("finance").get("/glossary").content.decode()
    navigation = finance.split('<nav class="nav"')[1].split("</nav>")[0]
    links = re.findall(r'href="(/[^"?]*)[^"]*"[^>]*>([A-Z][^<]+)</a>', navigation)

    assert len(links) > 25
    assert {path: page_name(path) for path, _ in links} == dict(links)
