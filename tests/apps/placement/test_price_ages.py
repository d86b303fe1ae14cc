"""Spot prices that nobody said again for long decide nothing, and why is said; what is charged stays."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from apps.placement.queries.offers_now import offers_now
from apps.planning.queries.portfolio.families import family_prices, pool_families
from apps.pricing import actions
from apps.pricing.models import Rate
from apps.pricing.queries.listing import rates_in_force
from apps.pricing.queries.price_age import price_age
from controlplane.env import environment
from tests import make

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
TODAY = AT.date()
P4D = {"instance_type": "p4d.24xlarge", "region": "eu-west-1", "provider": "aws"}


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def priced(
    option: str, *, said: date, amount: str = "12", kind: str = "list", **given: object
) -> int:
    rate = actions.EnteredRate(
        kind=kind,
        amount=Decimal(amount),
        currency="USD",
        starts_at=make.NOON - timedelta(days=300),
        purchase_option=option,
        source="a card",
        source_date=said,
        **(P4D | given),  # type: ignore[arg-type]
    )
    return actions.add_rate(rate=rate, at=AT)


def days_ago(days: int) -> date:
    day: date = TODAY - timedelta(days=days)
    return day


def test_a_spot_price_is_used_for_sixty_days_after_it_was_said() -> None:
    priced("spot", said=days_ago(60))
    priced("spot", said=days_ago(61), region="us-west-2")
    book = offers_now(AT)
    (offer,) = book.offers
    assert (offer.region, offer.rates[0]["age_days"]) == ("eu-west-1", 60)
    assert book.left_out == [
        f"aws us-west-2 p4d.24xlarge spot: its spot price was said on {days_ago(61)}, 61 days ago: "
        "one older than 60 days (RUNRATE_STALE_PRICE_DAYS) is not used"
    ]


def test_a_price_on_demand_is_used_however_old_and_says_its_age() -> None:
    priced("on_demand", said=days_ago(250), amount="32")
    (offer,) = offers_now(AT).offers
    assert (offer.micros, offer.rates[0]["age_days"]) == (4_000_000, 250)


def test_the_days_are_a_setting(settings: Any) -> None:
    settings.STALE_PRICE_DAYS = 30
    priced("spot", said=days_ago(31))
    assert offers_now(AT).offers == []
    assert environment({"RUNRATE_STALE_PRICE_DAYS": "30"}).stale_price_days == 30
    assert environment({}).stale_price_days == 60


def test_a_price_that_is_said_again_is_young_again_and_nothing_else_changes() -> None:
    rate_id = priced("spot", said=days_ago(100))
    rows = [(1, _point(said=TODAY))]
    assert actions.record_spot_prices(rows=rows, at=AT).unchanged == 1
    row = Rate.objects.get()
    assert (row.id, row.amount, row.source_date) == (rate_id, Decimal(12), TODAY)
    assert [price_age(each, AT).words for each in rates_in_force(AT)] == [f"said on {TODAY}, today"]
    assert len(offers_now(AT).offers) == 1
    # What is said of an older day says nothing of today.
    actions.record_spot_prices(rows=[(1, _point(said=days_ago(5)))], at=AT)
    assert Rate.objects.get().source_date == TODAY


def _point(*, said: date) -> actions.EnteredRate:
    return actions.EnteredRate(
        kind="list",
        amount=Decimal(12),
        currency="USD",
        starts_at=make.NOON - timedelta(days=300),
        purchase_option="spot",
        source="a later card",
        source_date=said,
        **P4D,  # type: ignore[arg-type]
    )


def test_a_spot_pool_by_an_old_price_offers_at_no_price_and_says_why() -> None:
    cluster_id = make.make_cluster()
    pool_id = make.make_pool("spots", cluster_id=cluster_id, purchase_option="spot")
    make.make_node("gpu-01", pool_id=pool_id, cluster_id=cluster_id)
    old = {"instance_type": "p5.48xlarge", "region": "us-east-1"}
    priced("spot", said=days_ago(61), **old)
    (offer,) = offers_now(AT).offers
    assert (offer.pool_id, offer.micros) == (pool_id, None)
    assert any("61 days ago: one older than 60 days" in note for note in offer.notes)
    (family,) = pool_families()
    prices = family_prices([family], AT)[family.name]
    assert prices.spot is None
    assert any("61 days ago: one older than 60 days" in remark for remark in prices.remarks)


def test_a_portfolio_says_how_old_its_prices_are() -> None:
    cluster_id = make.make_cluster()
    make.make_pool("rented", cluster_id=cluster_id)
    priced(
        "on_demand",
        said=days_ago(100),
        amount="80",
        instance_type="p5.48xlarge",
        region="us-east-1",
    )
    (family,) = pool_families()
    prices = family_prices([family], AT)[family.name]
    assert prices.on_demand == 10.0
    assert prices.remarks == (f"its on demand price was said on {days_ago(100)}, 100 days ago",)
