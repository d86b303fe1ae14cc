"""Prices: what is paid, what has none, and what a price would move before it is entered."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.urls import reverse

from apps.pricing import queries as pricing
from apps.pricing.queries import listing
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


class World:
    """Three hours of a priced node, 98.32 an hour, and of a node of the pool lab without a price."""

    def __init__(self) -> None:
        make.make_organisation()
        self.now = datetime.now(UTC)
        self.began_at = self.now.replace(minute=0, second=0, microsecond=0) - 3 * HOUR
        self.h100, self.lab = make.make_pool("h100"), make.make_pool("lab", purchase_option="owned")
        self.rate_id = scene.make_rate(self.h100)
        for name, pool_id in (("gpu-01", self.h100), ("lab-01", self.lab)):
            make.make_node(name, pool_id=pool_id, started_at=self.began_at, at=self.now)
        scene.settle(self.now, starts_at=self.began_at, ends_at=self.now)

    def entered(self, **given: str) -> dict[str, str]:
        """A price of 2 per GPU-hour for the pool lab, for its first two hours."""
        return {
            "pool": str(self.lab),
            "amount": "2",
            "unit": "gpu",
            "quantity_seconds": "3600",
            "kind": "contract",
            "starts_at": f"{self.began_at:%Y-%m-%dT%H:%M}",
            "ends_at": f"{self.began_at + 2 * HOUR:%Y-%m-%dT%H:%M}",
            "source": "the offer",
        } | given


@pytest.fixture
def world() -> World:
    return World()


def text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_which_pool_has_no_price_and_how_much_of_it_was_used(world):
    page = text(signed_in("finance").get("/prices"))
    assert "<h1>1 pool has no price now;" in page
    assert "$98.32" in page
    assert 'class="hatched">no price' in page
    assert "Set its price" not in page


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_rates_are_for_finance_and_platform(world, role):
    client = signed_in(role, make.make_team("Dees team"))
    for address in (
        *("/prices", "/prices.csv", "/prices/pools.csv", "/prices/unpriced.csv", "/prices/new"),
        *(f"/prices/{world.rate_id}", f"/prices/{world.rate_id}/end"),
    ):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "98.32" not in answer.content.decode()
    assert "/prices" not in text(client.get("/fleet"))


def test_finance_reads_prices_and_changes_none(world):
    client = signed_in("finance")
    assert client.get("/prices/new").status_code == 403
    assert client.post("/prices/new", world.entered()).status_code == 403
    assert client.post(f"/prices/{world.rate_id}/end").status_code == 403


def test_tables_are_files_with_amounts_as_quoted(world):
    client = signed_in("finance")
    assert "pool h100,Contract,98.320000000,USD,per node and hour" in (
        text(client.get("/prices.csv")).replace("List", "Contract")
    )
    assert "lab,NVIDIA H100 80GB HBM3,Owned,,USD,,," in text(client.get("/prices/pools.csv"))
    (row,) = text(client.get("/prices/unpriced.csv")).splitlines()[1:]
    assert row.startswith("lab,NVIDIA H100 80GB HBM3,Owned,")


def test_a_price_says_what_it_would_move_before_it_is_entered(world):
    client = signed_in("platform")
    page = text(client.get("/prices/new", world.entered()))
    assert "It can price lab." in page
    assert "2 past hours since" in page
    assert "about 2 node-hours of 1 node" in page
    # Eight GPUs for two hours at 2.
    assert "from about $0.00 to about $32.00 (+$32.00)" in page
    assert "Node-hours without a price: 2 before, 0 after." in page
    assert len(listing.all_rates()) == 1
    answer = client.post("/prices/new", world.entered())
    (rate,) = [rate for rate in listing.all_rates() if rate["pool_id"] == world.lab]
    assert answer.headers["Location"] == reverse("rate", args=[rate["id"]])
    assert (rate["source"], rate["currency"]) == ("the offer", "USD")
    assert rate["purchase_option"] == "owned"


def test_opening_the_form_is_not_yet_a_question(world):
    page = text(signed_in("platform").get(f"/prices/new?pool={world.lab}"))
    assert "What will change" not in page
    assert 'class="wrong"' not in page


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"amount": "much"}, "Say an amount in figures"),
        ({"amount": "NaN"}, "is not an amount of 0 or more"),
        ({"amount": "-1"}, "is not an amount of 0 or more"),
        ({"starts_at": "then"}, "Say a day and a time"),
        ({"ends_at": "2020-01-01T00:00"}, "is not after"),
        ({"pool": "999"}, "Choose one of the list"),
        ({"pool": ""}, "a rate names an instance type or a GPU model"),
        ({"pool": "", "instance_type": "p5"}, "a rate names a provider"),
        ({"source_date": "yesterday"}, "Say a day, as in"),
    ],
)
def test_what_is_wrong_is_said_by_field_and_nothing_is_entered(world, changed, said):
    client = signed_in("platform")
    page = text(client.post("/prices/new", world.entered(**changed)))
    assert said in page
    assert 'value="the offer"' in page
    assert len(listing.all_rates()) == 1


def test_two_prices_of_one_kind_at_one_time_are_refused_before_they_are_entered(world):
    same = world.entered(pool=str(world.h100), kind="list")
    assert "has a price of that kind then" in text(signed_in("platform").get("/prices/new", same))


def test_a_price_that_another_beats_moves_nothing(world):
    described = {"provider": "aws", "region": "us-east-1", "instance_type": "p5.48xlarge"}
    page = text(signed_in("platform").get("/prices/new", world.entered(pool="", **described)))
    assert "No effective amount changes" in page


def test_ending_a_price_says_what_is_unpriced_then(world):
    client = signed_in("platform")
    address = reverse("end-rate", args=[world.rate_id])
    asked = {"ended_at": f"{world.began_at + 2 * HOUR:%Y-%m-%dT%H:%M}"}
    page = text(client.get(address, asked))
    assert re.search(r"Node-hours without a price: 0 before, [12] after", page)
    client.post(address, asked)
    assert pricing.rates_in_force(world.now) == []
    assert "ended at" in text(client.post(address, {"ended_at": f"{world.now:%Y-%m-%dT%H:%M}"}))


def test_a_rate_shows_its_history_and_the_pools_it_can_price(world):
    page = text(signed_in("finance").get(f"/prices/{world.rate_id}"))
    assert "<h1>$98.32 per node and hour for pool h100</h1>" in page
    assert 'href="/fleet?pool=h100"' in page
    assert "End this price" not in page


def test_the_history_of_a_price_is_a_sheet_for_those_who_may_know_it(world):
    address = reverse("rate-history", args=[world.rate_id])
    finance = signed_in("finance")
    assert f'href="{address}" download' in text(finance.get(reverse("rate", args=[world.rate_id])))
    header, row = text(finance.get(address)).splitlines()
    assert header.startswith("prices,kind,amount,currency")
    assert row.startswith("pool h100,List,98.320000000,USD,per node and hour,")
    assert finance.get(reverse("rate-history", args=[999])).status_code == 404
    lead = signed_in("lead")
    assert lead.get(address).status_code == 403


def test_rates_and_pools_are_ordered_by_what_the_address_says(world):
    scene.make_rate(world.lab, Decimal("7.5"))
    finance = signed_in("finance")
    for order, first, second in (("-amount", "98.32", "7.50"), ("amount", "7.50", "98.32")):
        page = text(finance.get(f"/prices?sort={order}"))
        rates = page[page.index('id="rates"') :]
        assert rates.index(f"${first}") < rates.index(f"${second}")
        assert "aria-sort" in rates
    page = text(finance.get("/prices?pools=paid"))
    assert page.index('">lab</a>') < page.index('">h100</a>')


def test_use_without_a_price_leads_to_its_costs_and_its_nodes(world):
    client = signed_in("finance")
    page = text(client.get("/prices"))
    for address in ("/costs?window=90d&amp;pool=lab", "/fleet?pool=lab"):
        assert f'href="{address}"' in page
        assert client.get(address.replace("&amp;", "&")).status_code == 200
