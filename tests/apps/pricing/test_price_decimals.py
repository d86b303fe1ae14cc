"""Prices with any number of decimals come in at every door, rounded and remarked; none becomes free by it."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.economics.tiers import Tier
from apps.pricing import actions
from apps.pricing.actions.api_prices import ApiPriceNotUnderstood, EnteredApiPrice, add_api_price
from apps.pricing.actions.price_table import COLUMNS
from apps.pricing.models import ApiPrice, Rate, SharedCost
from tests.apps.pricing.test_price_table import ROW, table
from tests.make import NOON, make_organisation, make_pool
from tests.rest import with_token

pytestmark = pytest.mark.django_db

LONG = "88.48999990257534246575342"
KEPT = Decimal("88.489999903")
REMARK = "quoted with 23 decimals, kept to 9"
TINY = "0.0000000001"
PRICE = {"amount": LONG, "currency": "USD"}
RATE = {
    "kind": "list",
    "provider": "gcp",
    "region": "us-central1",
    "instance_type": "a3-highgpu-8g",
    "purchase_option": "on_demand",
    "starts_at": "2026-03-01T00:00:00Z",
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make_organisation()


def new_rate(amount: str, **given: object) -> actions.EnteredRate:
    said: dict[str, object] = {
        "kind": "list",
        "amount": Decimal(amount),
        "currency": "USD",
        "starts_at": datetime(2026, 3, 1, tzinfo=UTC),
        "purchase_option": "on_demand",
        "provider": "gcp",
        "region": "us-central1",
        "instance_type": "a3-highgpu-8g",
    }
    return actions.EnteredRate(**said | given)  # type: ignore[arg-type]


def test_a_price_table_takes_them_and_names_the_rows_it_rounded(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    tiny = {"amount": TINY, "instance_type": "tiny"}
    path.write_text("".join(table({"amount": LONG}, tiny, {"instance_type": "exact"})))
    told: dict[str, Any] = {}
    for turn in ("first", "again"):
        out, err = StringIO(), StringIO()
        call_command("load_price_table", file=path, json=True, stdout=out, stderr=err)
        told[turn] = json.loads(out.getvalue().splitlines()[-1])

    first, again = told["first"], told["again"]
    assert (first["imported"], again["imported"], again["unchanged"]) == (2, 0, 2)
    assert first["remarks"] == again["remarks"] == [{"line": 2, "remark": REMARK}]
    assert [row["line"] for row in first["rejected"]] == [3]
    assert "would be 0 with the 9 decimals that are kept, and 0 is free" in str(first["rejected"])
    row = Rate.objects.get(instance_type=ROW["instance_type"])
    assert (row.amount, row.source) == (KEPT, f"{ROW['source']}; {REMARK}")
    assert len(COLUMNS) == len(ROW)


def test_the_same_price_over_rest_and_again() -> None:
    client = with_token("manage")
    made = client.post("rates", RATE | {"price": PRICE})
    assert made.status_code == 201
    assert made.json()["price"] == {"amount": "88.489999903", "currency": "USD"}
    assert made.json()["source"] == REMARK
    assert client.post("rates", RATE | {"price": PRICE}).status_code == 200
    tiny = client.post("rates", RATE | {"region": "b", "price": PRICE | {"amount": TINY}})
    assert tiny.status_code == 400
    assert "0 is free" in tiny.content.decode()
    assert Rate.objects.count() == 1


def test_spot_points_over_rest_say_which_row_was_rounded() -> None:
    point: dict[str, Any] = {
        "provider": "gcp",
        "region": "us-central1",
        "instance_type": "a3-highgpu-8g",
    }
    point |= {"at": "2026-07-01T00:00:00Z", "price": {"amount": LONG, "currency": "USD"}}
    answer = with_token("manage").post("spot-prices", {"points": [point]}).json()
    assert (answer["entered"], answer["rejected"]) == (1, [])
    assert answer["remarks"] == [{"row": 1, "remark": REMARK}]


def test_a_pools_price_and_its_tiers_are_rounded_alike() -> None:
    pool_id = make_pool("h100")
    tiers = (Tier(Decimal(1000), Decimal("80.00000000049")), Tier(Decimal(5000), Decimal(70)))
    rate = new_rate("90", pool_id=pool_id, tiers=tiers)
    actions.add_rate(rate=rate, at=NOON)
    row = Rate.objects.get()
    assert row.tiers == [["1000", "80"], ["5000", "70"]]
    assert row.source == "quoted with 11 decimals, kept to 9"


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-1.0000000000001", "1e15"])
def test_what_is_no_price_is_still_none(amount: str) -> None:
    with pytest.raises(actions.RateNotUnderstood):
        actions.add_rate(rate=new_rate(amount), at=NOON)


@pytest.mark.parametrize(
    ("amount", "kept"),
    [
        ("0", "0"),
        ("0.0000000005000001", "0.000000001"),
        ("1.0000000005", "1.000000000"),
        (LONG, KEPT),
    ],
)
def test_an_amount_is_rounded_half_to_even_and_zero_stays_zero(amount: str, kept: str) -> None:
    assert new_rate(amount).amount == Decimal(kept)


def test_the_price_of_a_model_api_is_rounded_and_a_tiny_one_refused() -> None:
    def price(amount: str) -> EnteredApiPrice:
        return EnteredApiPrice(
            vendor="openai", model="m", unit="input", starts_at=NOON, amount=Decimal(amount)
        )

    assert price("0.0000000123456").remark == "quoted with 13 decimals, kept to 9"
    add_api_price(price=price("0.0000000123456"))
    assert ApiPrice.objects.get().amount == Decimal("0.000000012")
    with pytest.raises(ApiPriceNotUnderstood, match="would be 0 with the 9 decimals"):
        add_api_price(price=price(TINY))


def test_a_shared_cost_is_rounded() -> None:
    cost = actions.EnteredSharedCost(
        Decimal("100.12345678949"), "by_cost", NOON, name="Support", currency="USD"
    )
    actions.add_shared_cost(cost=cost, at=NOON)
    assert SharedCost.objects.get().amount == Decimal("100.123456789")
