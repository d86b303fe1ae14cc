"""What is owed already for GPUs, and what of it is offered once more: by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.planning.queries.portfolio.commitments import (
    CapacityContext,
    held_tables,
    is_offer,
    named_once,
    offer_tables,
)
from apps.planning.queries.portfolio.families import family_prices, pool_families
from apps.pricing import actions as pricing
from apps.pricing.queries.commitments import commitments, commitments_in
from apps.pricing.queries.owned import owned_plans
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

BEGAN, AT = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 2, 12, tzinfo=UTC)
ENDS = BEGAN + timedelta(days=730)
H100, L4 = "NVIDIA H100 80GB HBM3, aws us-east-1", "NVIDIA L4, aws us-east-1"
OWN = "NVIDIA H100 80GB HBM3, onprem us-east-1"


def buy(name: str, **given: Any) -> None:
    values: dict[str, Any] = {
        "kind": "reserved", "currency": "USD", "starts_at": BEGAN, "ends_at": ENDS,
        "provider": "aws", "region": "us-east-1",
    }  # fmt: skip
    commitment = pricing.EnteredCommitment(name=name, external_id=name, **values | given)
    pricing.record_commitment(commitment=commitment, at=AT)


@pytest.fixture(scope="module")
def known(of_module: None) -> CapacityContext:
    """Two families of a cloud and one of our own, in whose demand a savings plan has room for five and ten GPUs."""
    make.make_organisation()
    make.make_pool("h100")
    reserved = make.make_pool("h100-reserved", purchase_option="reserved")
    make.make_pool("l4", gpu_model="NVIDIA L4", instance_type="g6.12xlarge", gpus_per_node=4)
    for machine, option, amount in (
        ("p5.48xlarge", "on_demand", "100"),
        ("p5.48xlarge", "reserved", "48"),
        ("g6.12xlarge", "on_demand", "8"),
    ):
        place = {"provider": "aws", "region": "us-east-1", "instance_type": machine}
        rate = pricing.EnteredRate(amount=Decimal(amount), kind="list", currency="USD", starts_at=BEGAN,
                               purchase_option=option, **place)  # fmt: skip
        pricing.add_rate(rate=rate, at=BEGAN)
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=reserved, at=BEGAN)
    buy("one p5", units=1, instance_type="p5.48xlarge", hourly=Decimal(56))
    buy("plan", kind="savings_plan", spend=Decimal(60), hourly=Decimal(30), upfront=Decimal(525_600),
        prices={"p5.48xlarge": Decimal(56), "g6.12xlarge": Decimal(4)})  # fmt: skip
    buy("in euros", units=1, instance_type="g6.12xlarge", hourly=Decimal(5), currency="EUR")
    buy("a fortnight", kind="capacity_block", units=1, instance_type="p5.48xlarge",
        upfront=Decimal(26_880), starts_at=AT - timedelta(days=7), ends_at=AT + timedelta(days=7))  # fmt: skip
    scene.make_owned_plan("rack", pool="racks")
    plan = owned_plans()[0]
    for name in ("own-01", "own-02"):
        make.make_node(name, pool_id=plan.pool_id, at=BEGAN)
    families = pool_families()
    return CapacityContext(families, family_prices(families, AT), {H100: 5.0, L4: 10.0}, AT)


def by_name(tables: Any) -> dict[str, dict[str, Any]]:
    return {table["name"]: {key: table[key] for key in table if key != "name"} for table in tables}


def facts() -> Any:
    return commitments_in(AT, AT + timedelta(microseconds=1))


def test_what_holds_is_known_by_gpus_rate_and_end(known) -> None:
    held = by_name(held_tables(facts(), owned_plans(), known))
    ends = {"ends_on": "2028-01-01"}
    assert held.pop("one p5") == {"family": H100, "gpus": 8, "kind": "reserved", "rate": 7.0} | ends
    # An hour of 60 costs 30 and 525,600 ÷ 17,520 hours. It saves half on an L4, of which ten are needed, and 44 %
    # on an H100, of which five are: the 15 that are left of it stay with the L4s.
    plan = {"kind": "savings_plan"} | ends
    assert held.pop("plan: g6.12xlarge") == {"family": L4, "gpus": 25.0, "rate": 1.0} | plan
    assert held.pop("plan: p5.48xlarge") == {"family": H100, "gpus": 5.0, "rate": 7.0} | plan
    assert held.pop("in euros") == {"family": L4, "gpus": 4, "kind": "reserved"} | ends
    block = {"family": H100, "gpus": 8, "kind": "capacity_block", "rate": 10.0}
    assert held.pop("a fortnight") == block | {"ends_on": "2026-03-09"}
    # Sixteen GPUs live in the reserved pool; what reservations cover of them is theirs.
    assert held == {
        "rack": {
            "family": OWN,
            "gpus": 8,
            "kind": "owned",
            # A dollar an hour each of depreciation and staff, and 10.2 kW at ten cents.
            "rate": pytest.approx(3.02 / 8),
            "ends_on": "2029-12-31",
        },
        "racks, owned": {"family": OWN, "gpus": 8, "kind": "owned"},
    }


def test_a_reserved_pool_holds_what_no_reservation_covers(known) -> None:
    only = [fact for fact in facts() if fact.name == "one p5"]
    held = by_name(held_tables(only, [], known))
    reserved = {"family": H100, "gpus": 8, "kind": "reserved", "rate": 6.0}
    assert held["h100-reserved, reserved"] == reserved


def test_what_was_bought_is_offered_once_more_but_no_block_and_nothing_of_unknown_cost(
    known,
) -> None:
    offers = by_name(offer_tables(facts(), owned_plans(), known))
    assert offers.pop("one p5 (renewal)") == {
        "family": H100, "kind": "reserved", "term_months": 24, "hourly": 7.0, "upfront": 0.0, "lot": 8,
    }  # fmt: skip
    for machine, family, rate in (("p5.48xlarge", H100, 7.0), ("g6.12xlarge", L4, 1.0)):
        again = offers.pop(f"plan (renewal): {machine}")
        assert (again["family"], again["lot"], again["term_months"]) == (family, 1, 24)
        # Half of it is paid at once.
        assert again["hourly"] == pytest.approx(rate / 2)
        assert again["upfront"] == pytest.approx(rate / 2 * 24 * 730)
    assert offers == {
        "rack (renewal)": {
            "family": OWN,
            "kind": "owned",
            "term_months": 48,
            "hourly": pytest.approx(3.02 / 8 - 35_712 / 8 / 48 / 730),
            "upfront": 4464.0,
            "lot": 8,
        }
    }


def test_one_reservation_covers_its_gpus_in_one_of_two_pools(known) -> None:
    """Sixteen more live in a second reserved pool; the one p5 on record covers eight of the 32, once."""
    second = make.make_pool("h100-more", purchase_option="reserved")
    for name in ("gpu-11", "gpu-12"):
        make.make_node(name, pool_id=second, at=BEGAN)
    only = [fact for fact in facts() if fact.name == "one p5"]
    families = pool_families()
    now = CapacityContext(families, family_prices(families, AT), known.demand, AT)
    held = by_name(held_tables(only, [], now))
    assert sum(table["gpus"] for table in held.values() if table["family"] == H100) == 32


def test_a_commitment_of_a_zone_is_held_where_its_pools_are_known_by_the_region(known) -> None:
    buy("zonal", units=1, instance_type="p5.48xlarge", region="us-east-1b", hourly=Decimal(56))
    held = by_name(held_tables(facts(), [], known))
    assert (held["zonal"]["family"], held["zonal"]["gpus"]) == (H100, 8)


def test_what_is_signed_and_begins_later_is_held_from_that_day(known) -> None:
    begins = AT + timedelta(days=30)
    buy("from April", units=2, instance_type="p5.48xlarge", hourly=Decimal(112),
        starts_at=begins.replace(hour=0))  # fmt: skip
    held = by_name(held_tables(commitments(), [], known))
    table = held["from April"]
    assert (table["starts_on"], table["gpus"], table["rate"]) == ("2026-04-01", 16, 7.0)
    assert {"starts_on"} == held["from April"].keys() - held["one p5"].keys()
    living = [fact for fact in commitments() if fact.name in {"from April", "one p5"}]
    reserved = by_name(held_tables(living, [], known))["h100-reserved, reserved"]
    assert reserved["gpus"] == 8, "what has not begun covers no node yet"


def test_a_plan_of_two_regions_is_two_offers_by_name(known) -> None:
    """As a savings plan covers one machine in both: tables of one name would be refused, or be one."""
    tables = [{"name": "plan: p5", "family": family} for family in ("east", "west", "west")]
    assert [table["name"] for table in named_once([*tables, {"name": "b", "family": "east"}])] == [
        "plan: p5, east",
        "plan: p5, west",
        "plan: p5, west (2)",
        "b",
    ]


def test_what_was_had_for_nothing_or_for_ever_is_not_offered_again() -> None:
    fine = {"hourly": 1.0, "upfront": 0.0, "term_months": 12}
    assert is_offer(fine)
    assert not is_offer(fine | {"hourly": 0.0})
    assert not is_offer(fine | {"term_months": 200})
