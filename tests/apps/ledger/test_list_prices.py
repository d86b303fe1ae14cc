"""List is the public on-demand price of a machine, whatever was paid for it, or unknown."""

from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client

from apps.economics.tiers import parsed
from apps.fleet import actions as fleet
from apps.ledger.models import Charge, ChargePart, ChargePiece, LedgerDay, LedgerTeamDay, Line
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
ON_DEMAND, SPOT, RESERVED = 98_320_000, 31_000_000, 49_000_000


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def make_discounted(option: str, amount: str, **given: Any) -> None:
    """A node for an hour in a pool that is bought so, at its own public price."""
    pool_id = make.make_pool(option, purchase_option=option, **given)
    node_id = make.make_node(
        f"{option}-01", pool_id=pool_id, started_at=scene.TEN, at=scene.LATER, units=8
    )
    fleet.end_node(node_id=node_id, ended_at=scene.TEN + scene.HOUR, reason="done", at=scene.LATER)
    own = {"region": given.get("region", "us-east-1"), "purchase_option": option}
    make.make_rate(amount, starts_at=scene.TEN, **own)


def bases(name: str) -> tuple[int | None, int | None, int | None]:
    """List, contracted and effective of a node's hour."""
    found = Charge.objects.filter(node__name=name)
    return found.values_list("list_micros", "contracted_micros", "effective_micros").get()


def test_what_was_saved_on_the_spot_market_and_by_reserving_stands_against_list() -> None:
    on_demand = make.make_rate("98.32", starts_at=scene.TEN, source="a public price list")
    make_discounted("spot", "31")
    make_discounted("reserved", "49")
    scene.settle_all()
    assert bases("spot-01") == (ON_DEMAND, SPOT, SPOT)
    assert bases("reserved-01") == (ON_DEMAND, RESERVED, RESERVED)
    # Each says whose price its list is.
    assert {piece.list_rate_id for piece in ChargePiece.objects.all()} == {on_demand}
    sums = LedgerDay.objects.aggregate(listed=Sum("list_micros"), paid=Sum("effective_micros"))
    assert sums == {"listed": 2 * ON_DEMAND, "paid": SPOT + RESERVED}


def test_where_nobody_knows_the_price_on_demand_list_is_unknown_everywhere() -> None:
    make.make_rate("98.32", starts_at=scene.TEN)
    make_discounted("spot", "31", region="eu-west-1")
    make_discounted("reserved", "49")
    scene.settle_all()
    assert bases("spot-01") == (None, SPOT, SPOT)
    assert Charge.objects.get(node__name="spot-01").part == ChargePart.WITHOUT_LIST_PRICE
    for rows in (Line.objects.all(), LedgerDay.objects.all()):
        unknown = rows.filter(pool__name="spot")
        assert set(unknown.values_list("list_micros", flat=True)) == {None}
    assert LedgerTeamDay.objects.filter(list_micros=None, effective_micros=SPOT).exists()
    told = costs_by_pool("list")
    assert {pool: row["cost"] and row["cost"]["amount"] for pool, row in told.items()} == {
        "spot": None,
        "reserved": "98.320000",
    }
    assert {pool: row["unpriced_hours"] for pool, row in told.items()} == {
        "spot": 8,
        "reserved": 0,
    }
    assert audit_here().places == ()


def test_time_bought_otherwise_is_no_quantity_of_the_price_on_demand() -> None:
    make.make_rate("98.32", starts_at=scene.TEN, tiers=parsed("1=50"))
    make_discounted("spot", "31")
    pool_id = make.make_pool("bought on demand")
    make.make_node("gpu-01", pool_id=pool_id, started_at=scene.TEN, at=scene.LATER, units=8)
    scene.settle()
    # The first node-hour of the month on demand is this one.
    assert bases("gpu-01") == (ON_DEMAND, ON_DEMAND, ON_DEMAND)
    assert bases("spot-01") == (ON_DEMAND, SPOT, SPOT)


def costs_by_pool(basis: str) -> dict[str, Any]:
    """What REST answers, by pool."""
    token = make.make_token("read").secret
    answer = Client().get(
        "/api/v1/costs",
        {"window": "2026-03-02", "basis": basis, "group_by": "pool"},
        headers={"Authorization": f"Bearer {token}"},
    )
    return {row["pool"]["name"]: row for row in answer.json()["results"]}
