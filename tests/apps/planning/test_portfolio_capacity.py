"""What is owed already for GPUs, and what of it is offered once more: by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.planning.queries.portfolio.commitments import (
    KnownCapacity,
    held_tables,
    offer_tables,
)
from apps.planning.queries.portfolio.families import family_prices, pool_families
from apps.pricing import actions as pricing
from apps.pricing.queries.commitments import commitments_in
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
    commitment = pricing.NewCommitment(name=name, external_id=name, **values | given)
    pricing.record_commitment(commitment=commitment, at=AT)


@pytest.fixture(scope="module")
def known(of_module: None) -> KnownCapacity:
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
        rate = pricing.NewRate(amount=Decimal(amount), kind="list", currency="USD", starts_at=BEGAN,
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
    return KnownCapacity(families, family_prices(families, AT), {H100: 5.0, L4: 10.0}, AT)


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
    assert offers.pop("one p5, again") == {
        "family": H100, "kind": "reserved", "term_months": 24, "hourly": 7.0, "upfront": 0.0, "lot": 8,
    }  # fmt: skip
    for machine, family, rate in (("p5.48xlarge", H100, 7.0), ("g6.12xlarge", L4, 1.0)):
        again = offers.pop(f"plan, again: {machine}")
        assert (again["family"], again["lot"], again["term_months"]) == (family, 1, 24)
        # Half of it is paid at once.
        assert again["hourly"] == pytest.approx(rate / 2)
        assert again["upfront"] == pytest.approx(rate / 2 * 24 * 730)
    assert offers == {
        "rack, again": {
            "family": OWN,
            "kind": "owned",
            "term_months": 48,
            "hourly": pytest.approx(3.02 / 8 - 35_712 / 8 / 48 / 730),
            "upfront": 4464.0,
            "lot": 8,
        }
    }
