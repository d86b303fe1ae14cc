"""Prices quoted in another currency: converted by the month's rate of exchange, once, exactly."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.charge.apart import shared_costs
from apps.ledger.actions.charge.values import Hour
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.models import Charge, ChargePart, ChargePiece, Line, Status
from apps.marks.queries import Pass, hours_marked
from apps.pricing import actions
from apps.pricing.models import ExchangeRate
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, TEN, LATER = scene.HOUR, scene.TEN, scene.LATER
FEBRUARY, MARCH = date(2026, 2, 1), date(2026, 3, 1)
NOT_STATED = "this month's rate of exchange is not stated yet"
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def state(rate: str, month: date = MARCH, *, at: datetime = LATER, **given: Any) -> int:
    """What a euro is worth in a month."""
    values: dict[str, Any] = {"from_currency": "EUR", "to_currency": "USD"} | given
    new = actions.NewExchangeRate(month=month, rate=Decimal(rate), **values)
    return state_rate(rate=new, at=at)


def make_foreign_node(**given: Any) -> int:
    """A node whose own price is 10 euros an hour."""
    pool_id = make.make_pool("h100")
    node_id = make.make_node("gpu-01", started_at=TEN, at=LATER, units=8, pool_id=pool_id)
    scene.make_rate(pool_id, Decimal(10), currency="EUR", **given)
    return node_id


def amounts(charge: Charge) -> tuple[int | None, int | None, int | None]:
    """List, contracted, effective."""
    return charge.list_micros, charge.contracted_micros, charge.effective_micros


def test_a_foreign_rate_costs_what_the_months_rate_of_exchange_makes_of_it() -> None:
    state("1.083333333333", FEBRUARY)
    state("1.1")
    node_id = make_foreign_node(starts_at=TEN)
    scene.settle()
    charge = scene.charge(node_id)
    assert amounts(charge) == (11_000_000,) * 3
    assert charge.status == Status.ESTIMATED
    piece = ChargePiece.objects.get(charge=charge)
    assert piece.detail == "quoted in EUR, at 1.1 USD each"
    assert sum(line.effective_micros for line in scene.lines()) == 11_000_000


def test_until_the_month_is_stated_last_months_rate_is_used_and_the_charge_is_provisional() -> None:
    state("1.2", FEBRUARY)
    node_id = make_foreign_node(starts_at=TEN)
    scene.settle()
    charge = scene.charge(node_id)
    assert amounts(charge) == (12_000_000,) * 3
    assert (charge.status, charge.reason) == (Status.PROVISIONAL, NOT_STATED)
    state("1.1")
    assert hours_marked(Pass.CHARGE, TEN + HOUR, 100) == [TEN]
    scene.settle()
    charge = scene.charge(node_id)
    assert amounts(charge) == (11_000_000,) * 3
    assert charge.status == Status.ESTIMATED
    assert sum(line.effective_micros for line in scene.lines()) == 11_000_000


def test_the_same_rate_stated_makes_the_charge_sure_without_moving_it() -> None:
    state("1.2", FEBRUARY)
    node_id = make_foreign_node(starts_at=TEN)
    scene.settle()
    state("1.2")
    scene.settle()
    assert scene.charge(node_id).status == Status.ESTIMATED
    assert amounts(scene.charge(node_id)) == (12_000_000,) * 3


def test_a_stated_rate_beats_a_fetched_one_and_a_fetched_one_stays_provisional() -> None:
    node_id = (state("1.3", kind="fetched"), make_foreign_node(starts_at=TEN))[1]
    scene.settle()
    assert (scene.charge(node_id).status, amounts(scene.charge(node_id))[2]) == (
        Status.PROVISIONAL,
        13_000_000,
    )
    state("1.1")
    scene.settle()
    assert amounts(scene.charge(node_id)) == (11_000_000,) * 3


def test_a_currency_that_nothing_converts_is_refused_by_name() -> None:
    with pytest.raises(actions.RateCurrencyDiffers, match="from EUR to USD is known for 2026-03"):
        make_foreign_node(starts_at=TEN)
    state("1.1", date(2026, 4, 1))
    with pytest.raises(actions.RateCurrencyDiffers, match="2026-03 or before"):
        scene.make_rate(make.make_pool("other"), Decimal(10), currency="EUR", starts_at=TEN)


def test_what_cannot_be_converted_any_more_is_unpriced_with_its_reason_and_never_free() -> None:
    state("1.1")
    node_id = make_foreign_node(starts_at=TEN)
    # A list price in dollars does not stand in for what is owed in euros.
    make.make_rate("98.32", starts_at=TEN - HOUR, at=LATER)
    ExchangeRate.objects.all().delete()
    scene.settle()
    charge = scene.charge(node_id)
    assert amounts(charge) == (None, None, None)
    assert charge.part == ChargePart.UNPRICED
    assert charge.reason == "no rate of exchange from EUR to USD is known for 2026-03 or before"
    assert {line.effective_micros for line in scene.lines()} == {None}


def test_an_hour_across_the_turn_of_the_local_month_goes_by_the_month_it_is_posted_in() -> None:
    state("1.1")
    state("1.5", date(2026, 4, 1))
    node_id = make_foreign_node(starts_at=TEN)
    turn = datetime(2026, 4, 1, tzinfo=UTC)
    for hour in (turn - HOUR, turn):
        scene.recharge(hour)
    scene.settle(ends_at=turn + HOUR, starts_at=turn - HOUR, at=turn + 3 * HOUR)
    charge = scene.charge
    assert amounts(charge(node_id, turn - HOUR))[0] == 11_000_000
    assert amounts(charge(node_id, turn))[0] == 15_000_000


def test_only_hours_that_go_by_a_rate_of_exchange_are_charged_again_for_it() -> None:
    state("1.1", FEBRUARY)
    state("1.2", date(2026, 4, 1))
    make_foreign_node(starts_at=TEN + HOUR)
    at = datetime(2026, 4, 2, tzinfo=UTC)
    scene.settle_all(at)
    state("1.15", FEBRUARY, at=at)
    scene.settle_all(TEN)
    marked = hours_marked(Pass.CHARGE, at, 10_000)
    # March has none of its own; April has.
    assert (marked[0], marked[-1]) == (TEN + HOUR, datetime(2026, 3, 31, 23, tzinfo=UTC))


def test_a_rate_of_another_pair_marks_nothing() -> None:
    state("1.1")
    make_foreign_node(starts_at=TEN)
    scene.settle()
    state("160", to_currency="JPY")
    state("1.4", from_currency="GBP")
    assert hours_marked(Pass.CHARGE, TEN + HOUR, 100) == []


def test_a_month_waits_for_its_rate_of_exchange_and_does_not_move_once_it_is_closed() -> None:
    state("1.2", FEBRUARY)
    april = datetime(2026, 4, 5, tzinfo=UTC)
    node_id = make_foreign_node(starts_at=TEN, ends_at=TEN + 2 * HOUR)
    fleet.end_node(node_id=node_id, ended_at=TEN + 2 * HOUR, reason="sold", at=LATER)
    scene.settle_all(april)
    asked = close.CloseRequest(MARCH, None, EVERYTHING)
    with pytest.raises(close.MonthNotReady, match="rovisional"):
        close.close_month(request=asked, at=april)
    state("1.1", at=april)
    scene.settle_all(april)
    close.close_month(request=asked, at=april)
    state("1.3", at=april)
    scene.settle_all(april)
    assert amounts(scene.charge(node_id)) == (11_000_000,) * 3
    posted = close.post_corrections(month=MARCH, at=april)
    assert posted.effective_micros == 2 * 2_000_000


def make_shared() -> int:
    """744 a month, in force since March began: 1 an hour."""
    return actions.add_shared_cost(
        cost=actions.EnteredSharedCost(
            name="support",
            amount=Decimal(744),
            currency="EUR",
            method="by_unit_time",
            starts_at=datetime(2026, 3, 1, tzinfo=UTC),
        ),
        at=LATER,
    )


def test_a_shared_cost_in_euros_is_converted_and_says_how_sure_that_is() -> None:
    state("1.2", FEBRUARY)
    scene.make_priced_node()
    make_shared()
    scene.settle()
    charge = Charge.objects.get(kind="shared", hour=TEN)
    assert (charge.effective_micros, charge.status) == (1_200_000, Status.PROVISIONAL)
    assert charge.spread_method == f"by GPU time; {NOT_STATED}"
    assert charge.reason == NOT_STATED
    state("1.1")
    scene.settle()
    charge = Charge.objects.get(kind="shared", hour=TEN)
    assert (charge.effective_micros, charge.status) == (1_100_000, Status.ESTIMATED)
    lines = Line.objects.filter(charge=charge)
    assert sum(line.effective_micros or 0 for line in lines) == 1_100_000


@pytest.mark.parametrize("hours", [24, pytest.param(744, marks=pytest.mark.proof)])
def test_a_shared_month_in_euros_sums_to_its_converted_amount(hours: int) -> None:
    state("1.083333333333")
    make_shared()
    ends = datetime(2026, 4, 1, tzinfo=UTC)
    last = [
        Hour(moment, moment + HOUR, MARCH, "UTC", "USD", Status.ESTIMATED)
        for moment in (ends - k * HOUR for k in range(1, hours + 1))
    ]
    told = [price.price.effective_micros for hour in last for price in shared_costs(hour)]
    # 744 × 1.083333333333 is 805.999999999752: of 744 hours 806, of the last 24 of them 26.
    assert (len(told), sum(told)) == (hours, hours * 806_000_000 // 744)


def test_a_shared_cost_that_nothing_converts_any_more_is_unknown_with_its_reason() -> None:
    state("1.1")
    scene.make_priced_node()
    make_shared()
    ExchangeRate.objects.all().delete()
    scene.settle()
    charge = Charge.objects.get(kind="shared", hour=TEN)
    assert charge.effective_micros is None
    assert charge.reason.startswith("no rate of exchange from EUR to USD")
    assert not Line.objects.filter(charge=charge).exists()
