"""Prices: what is paid, what has none, and what a price would move before it is entered."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.queries import organisation
from apps.ledger.models import Close
from apps.pricing import actions
from apps.pricing.queries import listing
from apps.pricing.queries.listing import rates_in_force
from tests import make
from tests.apps.console.people import confirmed, signed_in
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


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def text(answer, status: int = 200) -> str:
    assert answer.status_code == status
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_which_pool_has_no_price_and_how_much_of_it_was_used(world):
    page = text(signed_in("finance").get("/prices"))
    assert "<h1>1 pool has no price now;" in page
    assert "$98.32" in page
    assert 'class="hatched">no price' in page
    assert "Set its price" in page


def test_a_pool_that_a_plan_of_owned_hardware_prices_misses_none(world):
    scene.make_owned_plan("cellar", starts_at=world.began_at)
    page = text(signed_in("finance").get("/prices"))
    assert "<h1>1 pool has no price now;" in page
    assert "pool of cellar" not in page


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_rates_are_for_finance_and_platform(world, role):
    client = signed_in(role, make.make_team("Dees team"))
    for address in (
        *(
            "/prices",
            "/prices.csv",
            "/prices.csv?table=paid",
            "/prices.csv?table=unpriced",
            "/prices/new",
        ),
        *(f"/prices/{world.rate_id}", f"/prices/{world.rate_id}/end"),
    ):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "98.32" not in answer.content.decode()
    assert "/prices" not in text(client.get("/fleet"))


def test_finance_gives_a_price_and_returns_to_where_it_was_missing(world):
    client = signed_in("finance")
    opened = text(client.get("/prices/new", {"pool": world.lab, "back_to": "overview"}))
    assert "Back to the overview" in opened
    assert 'name="starts_at" type="datetime-local" value=""' in opened, "it has none: since ever"
    priced = text(client.get("/prices/new", {"pool": world.h100}))
    assert 'name="starts_at" type="datetime-local" value=""' not in priced
    asked = world.entered(pool=world.lab, starts_at="", back_to="overview")
    assert confirmed(client, "/prices/new", asked)["Location"] == "/"


def test_the_public_list_says_which_pools_it_prices_before_it_is_entered(world):
    client = signed_in("finance")
    looked = text(client.get("/prices/public"))
    assert "It prices h100." in looked
    assert "It has no price of lab (aws, owned)" in looked
    answer = confirmed(client, "/prices/public", {}, follow=True)
    assert "prices entered, " in text(answer)
    assert "0 prices entered, " in text(confirmed(client, "/prices/public", {}, follow=True))


def test_tables_are_files_with_amounts_as_quoted(world):
    client = signed_in("finance")
    assert "pool h100,Contract,98.320000000,USD,per node and hour" in (
        text(client.get("/prices.csv")).replace("List", "Contract")
    )
    assert "lab,NVIDIA H100 80GB HBM3,Owned,,USD,,," in text(client.get("/prices.csv?table=paid"))
    (row,) = text(client.get("/prices.csv?table=unpriced")).splitlines()[1:]
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
    answer = confirmed(client, "/prices/new", world.entered())
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
        ({"amount": "NaN"}, "Say an amount in figures"),
        ({"amount": "-1"}, "is not an amount of 0 or more"),
        ({"starts_at": "then"}, "Say a day and a time"),
        ({"ends_at": "2020-01-01T00:00"}, "is not after"),
        ({"pool": "999"}, "Choose one of the list"),
        ({"pool": ""}, "A rate names an instance type or a GPU model"),
        ({"pool": "", "instance_type": "p5"}, "A rate names a provider"),
        ({"source_date": "yesterday"}, "Say a day, as in"),
    ],
)
def test_what_is_wrong_is_said_by_field_and_nothing_is_entered(world, changed, said):
    client = signed_in("platform")
    page = text(client.post("/prices/new", world.entered(**changed)), 400)
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
    confirmed(client, address, asked)
    assert rates_in_force(world.now) == []
    later = {"ended_at": f"{world.now:%Y-%m-%dT%H:%M}"}
    assert "ended at" in text(confirmed(client, address, later), 400)


def test_a_rate_shows_its_history_and_the_pools_it_can_price(world):
    page = text(signed_in("finance").get(f"/prices/{world.rate_id}"))
    assert "<h1>$98.32 per node and hour for pool h100</h1>" in page
    assert 'href="/fleet?pool=h100"' in page
    assert "End this price" in page


def test_the_history_of_a_price_is_a_sheet_for_those_who_may_know_it(world):
    page = reverse("rate", args=[world.rate_id])
    address = f"{page}.csv?table=history"
    finance = signed_in("finance")
    assert f'href="{address}" download' in text(finance.get(page))
    header, row = text(finance.get(address)).splitlines()
    assert header.startswith("prices,kind,amount,currency")
    assert row.startswith("pool h100,List,98.320000000,USD,per node and hour,")
    assert finance.get(reverse("rate", args=[999]) + ".csv").status_code == 404
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


CUT = {"amount": "55.04", "unit": "node", "kind": "list", "ends_at": ""}


def cut(world: World, **given: str) -> dict[str, str]:
    """The price of the pool h100 falls by 44 % for its last hour but one."""
    starts_at = f"{world.began_at + HOUR:%Y-%m-%dT%H:%M}"
    return world.entered(**{"pool": str(world.h100), "starts_at": starts_at} | CUT | given)


def waits(world: World) -> int:
    """The id of the cut, entered by platform."""
    answer = confirmed(signed_in("platform"), "/prices/new", cut(world))
    return int(answer.headers["Location"].rsplit("/", 1)[1])


def test_a_price_that_moves_much_says_that_it_waits_before_it_is_entered(world):
    page = text(signed_in("platform").get("/prices/new", cut(world)))
    assert "It waits until a person of finance accepts it: it moves the price from 98.32 to" in page
    # Two hours and a little at 43.28 less.
    assert re.search(r"from about \$\d+(\.\d+)? to about \$\d+(\.\d+)? \(−\$", page)


def test_a_price_that_waits_prices_nothing_and_is_shown_with_what_lies_beside_it(world):
    rate_id = waits(world)
    page = text(signed_in("finance").get("/prices"))
    assert "<h1>1 price waits for a decision. 1 pool has no price now" in page
    part = page[page.index('id="waiting"') : page.index('id="unpriced"')]
    assert "by 44 %: more than 20 %" in part
    assert "by Platform" in part
    assert f'href="/prices/{world.rate_id}">$98.32</a>' in part
    assert f'href="/prices/{rate_id}/decide">Decide' in part
    assert rates_in_force(world.now)[0]["amount"] == Decimal("98.32")


def test_finance_accepts_after_seeing_what_it_moves_and_the_page_says_who_did(world):
    rate_id = waits(world)
    finance = signed_in("finance")
    page = text(finance.get(f"/prices/{rate_id}/decide"))
    assert "What accepting it changes" in page
    assert "past hours since" in page
    assert "(−$" in page
    assert rates_in_force(world.now)[0]["amount"] == Decimal("98.32")
    unseen = finance.post(f"/prices/{rate_id}/accept")
    assert unseen.status_code == 409
    assert "Nothing is done that was not looked at first" in unseen.content.decode()
    # The button stands beside what it moves, on the page that says why the price waits.
    (seen,) = re.findall(r'name="seen" value="(\w+)"', page)
    answer = finance.post(f"/prices/{rate_id}/accept", {"seen": seen})
    assert answer.headers["Location"] == f"/prices/{rate_id}"
    page = text(finance.get(f"/prices/{rate_id}"))
    assert "<dt>Accepted</dt>" in page
    assert "by Finance" in page
    assert "<h2>Pool h100 fell 44 % on" in page
    assert rates_in_force(world.now)[0]["amount"] == Decimal("55.04")
    again = confirmed(finance, f"/prices/{rate_id}/accept", {})
    assert "does not wait any more" in text(again, 409)
    assert "does not wait any more" in text(finance.get(f"/prices/{rate_id}/decide"))


def test_looking_at_prices_asks_the_database_at_most_fifteen_times(world):
    rate_id = waits(world)
    finance = signed_in("finance")
    finance.get("/prices")
    for address in ("/prices", f"/prices/{world.rate_id}", f"/prices/{rate_id}/decide"):
        with CaptureQueriesContext(connection) as asked:
            finance.get(address)
        assert (address, len(asked) <= 15) == (address, True)


def test_finance_refuses_with_a_note_that_stays_with_the_price(world):
    rate_id = waits(world)
    finance = signed_in("finance")
    unsaid = finance.get(f"/prices/{rate_id}/refuse", {"note": " "}).content.decode()
    assert "Say why the price is rejected." in unsaid
    looked = text(finance.get(f"/prices/{rate_id}/refuse", {"note": "the offer ended"}))
    assert "every hour stays at the price it has now" in looked
    assert "refused" not in text(finance.get(f"/prices/{rate_id}"))
    confirmed(finance, f"/prices/{rate_id}/refuse", {"note": "the offer ended"})
    page = text(finance.get(f"/prices/{rate_id}"))
    assert "refused: the offer ended" in page
    assert "<dt>Rejected</dt>" in page
    assert "None: no price is implausible" in text(finance.get("/prices?show=all"))


def test_who_entered_a_price_does_not_decide_about_it_nor_does_platform(world):
    rate_id = waits(world)
    person = get_user_model().objects.get(email="platform@example.org")
    client = Client()
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    for address in (f"/prices/{rate_id}/accept", f"/prices/{rate_id}/refuse", "/prices/approval"):
        assert client.post(address, {"note": "mine"}).status_code == 403
    assert "Accept this price" not in text(client.get(f"/prices/{rate_id}/decide"))
    person.role = "finance"
    person.save()
    assert "another person of finance decides" in text(client.get(f"/prices/{rate_id}/decide"))
    for act in ("accept", "refuse"):
        answer = confirmed(client, f"/prices/{rate_id}/{act}", {"note": "mine"})
        assert answer.status_code == 400
        assert "You entered this price" in answer.content.decode()


def test_finance_says_how_much_a_price_may_move(world):
    finance = signed_in("finance")
    for given, kept in (("35", 35), ("", None), ("much", None), ("5000", None)):
        finance.post("/prices/approval", {"per_cent": given})
        assert organisation().price_approval_per_cent == kept


def test_what_waits_is_a_file_too(world):
    waits(world)
    header, row = text(signed_in("finance").get("/prices.csv?table=waiting")).splitlines()
    assert header == "prices,amount,currency,per,kind,starts_at,standing,why"
    assert row.startswith("pool h100,55.040000000,USD,per node and hour,List,")
    assert 'Waiting for a second person,"it moves the price from 98.32 to 55.04' in row


def figure_of(page: str) -> dict:
    found = re.search(r'<script id="price-figure" type="application/json">(.*?)</script>', page)
    return json.loads(found[1])


def test_a_price_has_a_chart_of_its_steps_with_list_contract_and_today(world):
    scene.make_rate(world.h100, Decimal(70), kind="contract", starts_at=world.began_at)
    page = text(signed_in("finance").get(f"/prices/{world.rate_id}"))
    assert "<h2>Pool h100 has cost $98.32 an hour since 1 January 2026</h2>" in page
    assert "USD per node and hour; dashed: list price and solid: contract price" in page
    listed, contract, today = figure_of(page)["data"]
    assert (listed["name"], contract["name"], today["name"]) == ("List", "Contract", "Today")
    assert listed["y"] == [98.32, 98.32]
    assert contract["x"][0] == f"{world.began_at:%Y-%m-%d %H:%M:%S}"
    assert figure_of(page)["layout"]["yaxis"]["range"][0] == 0


def test_a_spot_price_of_many_steps_is_told_by_its_range(world):
    scene.make_rate(
        None,
        Decimal(40),
        provider="aws",
        instance_type="p5.48xlarge",
        region="us-east-1a",
        purchase_option="spot",
        starts_at=world.began_at,
    )
    points = [
        actions.EnteredRate(
            kind="list",
            amount=Decimal(amount),
            currency="USD",
            starts_at=world.began_at + timedelta(minutes=minutes),
            purchase_option="spot",
            provider="aws",
            instance_type="p5.48xlarge",
            region="us-east-1a",
        )
        for minutes, amount in enumerate(("41", "38.5", "44"), 1)
    ]
    actions.record_spot_prices(rows=list(enumerate(points)), at=world.now)
    rate_id = listing.quoted_history(actions.target_of(points[0]))[0]["id"]
    page = text(signed_in("finance").get(f"/prices/{rate_id}"))
    assert "p5.48xlarge, spot, in us-east-1a cost between $38.50 and $44.00 an hour since" in page


def test_hours_of_closed_months_are_said_to_wait_for_corrections(world):
    month = (world.began_at + HOUR).date().replace(day=1)
    when = {"month": month, "closed_at": world.now, "cut_off": world.now}
    Close.objects.create(version=1, digest="", lines=0, **when)
    page = text(signed_in("platform").get("/prices/new", cut(world)))
    assert re.search(r"\d hours? of them (is|are) of closed months: what they move waits", page)


def test_a_price_with_tiers_in_euros_says_what_it_moves_and_what_more_of_it_costs(
    world: World,
) -> None:
    platform = signed_in("platform")
    asked = {"amount": "10", "unit": "node", "currency": "EUR", "tiers": "1=6"}
    refused = text(platform.get(reverse("add-rate"), world.entered(**asked)))
    assert "No rate of exchange from EUR to USD is known" in refused
    month = (world.began_at - timedelta(days=62)).date()
    rate = actions.NewExchangeRate(month, "EUR", "USD", Decimal("1.5"))
    actions.state_exchange_rate(rate=rate, at=world.now)
    told = text(platform.get(reverse("add-rate"), world.entered(**asked)))
    # One hour at 10 euros, one at 6; each is its month's first where a month begins between them.
    is_one_month = world.began_at.month == (world.began_at + HOUR).month
    dollars = "24.00" if is_one_month else "30.00"
    assert f"goes from about $0.00 to about ${dollars}" in told
    wrong = text(platform.get(reverse("add-rate"), world.entered(**asked | {"tiers": "5=1; 2=3"})))
    assert "2 does not lie beyond 5" in wrong
    done = confirmed(platform, reverse("add-rate"), world.entered(**asked), follow=True)
    assert "€6.00 beyond 1 node-hours of a month" in text(done)
