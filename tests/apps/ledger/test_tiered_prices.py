"""Rates with tiers: a month costs what its quantity does, in whatever order it became known."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.economics.tiers import Tier, graduated, parsed
from apps.fleet import actions as fleet
from apps.fleet import queries as fleet_facts
from apps.ledger.actions import close
from apps.ledger.actions.charge import charge_hour
from apps.ledger.models import Charge, ChargePiece
from apps.marks.queries import Pass, hours_marked
from apps.pricing import actions
from apps.pricing.models import Rate
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
HOUR, TEN = scene.HOUR, scene.TEN
AT = TEN + 12 * HOUR
# An example settles over a real database: a tenth of what pure functions are shown.
EXAMPLES = max(5, settings.default.max_examples // 10)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def make_tiered(pool_id: int, tiers: str, amount: str = "10", **given: Any) -> int:
    """A pool's own price that falls with the month's quantity."""
    return scene.make_rate(pool_id, Decimal(amount), tiers=parsed(tiers), **given)


def make_nodes(pool_id: int, count: int, **given: Any) -> list[int]:
    """Nodes of eight GPUs that live from 10:00 on."""
    lives = {"started_at": TEN, "at": AT, "units": 8} | given
    begun = len(fleet_facts.nodes_alive_between(TEN - 31 * DAY, TEN + 31 * DAY))
    return [make.make_node(f"n-{begun + k}", pool_id=pool_id, **lives) for k in range(count)]


def charge_until(hours: int, *, newest_first: bool = False) -> int:
    """Do the charge pass from 10:00 until nothing waits; how many hours it did."""
    until, done = TEN + hours * HOUR, 0
    while waiting := hours_marked(Pass.CHARGE, until, 1_000):
        assert done < 50 * hours, "the passes never come to rest"
        charge_hour(hour=waiting[-1] if newest_first else waiting[0], at=until)
        done += 1
    return done


def by_hour() -> list[int]:
    """What each hour costs, in whole units of money."""
    sums: dict[datetime, int] = {}
    for hour, micros in Charge.objects.values_list("hour", "effective_micros"):
        sums[hour] = sums.get(hour, 0) + (micros or 0)
    return [sums[hour] // 1_000_000 for hour in sorted(sums)]


def test_beyond_a_quantity_of_the_month_every_node_hour_costs_the_next_amount() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 4)
    make_tiered(pool_id, "10=8; 14=5")
    charge_until(5)
    # 4, 8, then 12 of which two lie beyond 10, then 16 of which two lie beyond 14.
    assert by_hour() == [40, 40, 36, 26, 20]
    pieces = ChargePiece.objects.order_by("charge__hour").distinct("charge__hour")
    assert [piece.detail.partition("this hour ")[2] for piece in pieces] == [
        "at 10",
        "at 10",
        "at 9 (8 to 12)",
        "at 6.5 (12 to 16)",
        "at 5",
    ]
    assert pieces[0].detail == "tier: 10 node-hours at 10, to 14 at 8, then 5: this hour at 10"


def test_gpu_hours_are_counted_where_the_price_is_for_a_gpu() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 1, started_at=TEN + timedelta(minutes=30))
    make_tiered(pool_id, "8=1", "2", unit="gpu")
    charge_until(3)
    # Four GPU-hours, then eight of which four lie beyond 8.
    assert by_hour() == [8, 12, 8]


def test_a_rate_counts_over_all_pools_that_it_prices_and_only_while_it_does() -> None:
    first, second = make.make_pool("first"), make.make_pool("second")
    make_nodes(first, 1)
    make_nodes(second, 1)
    make.make_rate("10", starts_at=TEN - HOUR, at=AT, tiers=parsed("4=6"))
    scene.make_rate(second, Decimal(5), starts_at=TEN + HOUR, ends_at=TEN + 2 * HOUR)
    charge_until(4)
    # Two, then one beside the second pool's own price, then two of which one lies beyond 4.
    assert by_hour() == [20, 15, 16, 12]


def test_a_new_month_begins_with_the_first_amount() -> None:
    make_at = datetime(2026, 3, 31, 22, tzinfo=UTC)
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 2, started_at=make_at, at=make_at + 4 * HOUR)
    make_tiered(pool_id, "2=4")
    until = make_at + 4 * HOUR
    for hour in hours_marked(Pass.CHARGE, until, 100):
        charge_hour(hour=hour, at=until)
    assert by_hour() == [20, 8, 20, 8]


def test_a_node_that_is_known_late_moves_the_hours_after_it_and_the_rest_stays() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 2)
    make_tiered(pool_id, "12=4")
    charge_until(8)
    assert by_hour() == [20] * 6 + [8] * 2
    late = make_nodes(pool_id, 1, started_at=TEN + HOUR)[0]
    fleet.end_node(node_id=late, ended_at=TEN + 3 * HOUR, reason="gone", at=AT)
    marked = hours_marked(Pass.CHARGE, TEN + 3 * HOUR, 100)
    assert marked == [TEN + HOUR, TEN + 2 * HOUR]
    for hour in (TEN + HOUR, TEN + 2 * HOUR):
        charge_hour(hour=hour, at=AT)
    # Only the one hour whose price is another waits besides what ending the node marked.
    charge_until(8)
    assert by_hour() == [20, 30, 30, 20, 20, 8, 8, 8]


def test_hours_without_any_node_do_not_stop_what_a_late_fact_moves() -> None:
    pool_id = make.make_pool("h100")
    early = make_nodes(pool_id, 1)[0]
    fleet.end_node(node_id=early, ended_at=TEN + HOUR, reason="gone", at=AT)
    make_nodes(pool_id, 1, started_at=TEN + 3 * HOUR)
    make_tiered(pool_id, "2=4")
    charge_until(6)
    assert by_hour() == [10, 10, 4, 4]
    late = make_nodes(pool_id, 1)[0]
    fleet.end_node(node_id=late, ended_at=TEN + HOUR, reason="gone", at=TEN + HOUR)
    charge_until(6)
    assert by_hour() == [20, 4, 4, 4]


def test_a_price_that_ends_in_the_month_gives_back_what_it_counted() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 1)
    make.make_rate("10", starts_at=TEN - HOUR, at=AT, tiers=parsed("3=4"))
    charge_until(6)
    assert by_hour() == [10, 10, 10, 4, 4, 4]
    scene.make_rate(pool_id, Decimal(5), starts_at=TEN + HOUR, ends_at=TEN + 3 * HOUR)
    charge_until(6)
    assert by_hour() == [10, 5, 5, 10, 10, 4]


def test_a_free_first_tier_still_counts_what_it_gave() -> None:
    pool_id = make.make_pool("h100")
    node_id = make_nodes(pool_id, 1)[0]
    make_tiered(pool_id, "16=1", "0", unit="gpu")
    charge_until(4)
    assert by_hour() == [0, 0, 8, 8]
    for units, since in ((4, TEN), (8, TEN + HOUR)):
        fleet.set_capacity(node_id=node_id, units=units, from_at=since, at=TEN + HOUR)
    charge_until(4)
    assert by_hour() == [0, 0, 4, 8]


def test_a_pool_counted_as_a_whole_is_as_many_nodes_as_its_gpus_make() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 1, units=24, kind="pool")
    make_tiered(pool_id, "4=5")
    charge_until(2)
    assert by_hour() == [30, 20]


def test_tiers_in_another_currency_are_converted_once() -> None:
    pool_id = make.make_pool("h100")
    make_nodes(pool_id, 2)
    new = actions.NewExchangeRate(
        month=TEN.date(), from_currency="EUR", to_currency="USD", rate=Decimal("1.5")
    )
    actions.state_exchange_rate(rate=new, at=TEN)
    make_tiered(pool_id, "3=8", currency="EUR")
    charge_until(2)
    # Two at 10 euros; then one at 10 and one at 8.
    assert by_hour() == [30, 27]
    detail = ChargePiece.objects.filter(charge__hour=TEN).values_list("detail", flat=True)[0]
    assert detail == (
        "quoted in EUR, at 1.5 USD each; tier: 3 node-hours at 10, then 8: this hour at 10"
    )


def test_what_comes_late_for_a_closed_month_corrects_the_hours_whose_tier_it_moves() -> None:
    pool_id, april = make.make_pool("h100"), datetime(2026, 4, 5, 9, tzinfo=UTC)
    node_id = make_nodes(pool_id, 1)[0]
    fleet.end_node(node_id=node_id, ended_at=TEN + 4 * HOUR, reason="gone", at=AT)
    make_tiered(pool_id, "3=4")
    scene.settle_all(april)
    assert by_hour() == [10, 10, 10, 4]
    every = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")
    month = TEN.date().replace(day=1)
    close.close_month(request=close.CloseRequest(month, None, every), at=april)
    late = make_nodes(pool_id, 1)[0]
    fleet.end_node(node_id=late, ended_at=TEN + HOUR, reason="gone", at=TEN + HOUR)
    # One more node-hour at 10, so that the third hour lies beyond three: 4 instead of 10.
    assert close.post_corrections(month=month, at=april).effective_micros == 4_000_000
    assert close.post_corrections(month=month, at=april).charges == 0


def test_hardware_of_ones_own_is_in_no_tier() -> None:
    pool_id = make.make_pool("h100", purchase_option="owned")
    make_nodes(pool_id, 1)
    make_tiered(pool_id, "2=4")
    plan = actions.EnteredOwnedPlan(
        name="bought",
        pool_id=pool_id,
        nodes=1,
        purchase=Decimal(100),
        life_months=12,
        watts=1,
        currency="USD",
        starts_at=TEN + HOUR,
        ends_at=TEN + 3 * HOUR,
        tariffs={0: Decimal("0.1")},
    )
    actions.add_owned_plan(plan=plan, at=AT)
    charge_until(6)
    priced = by_hour()
    # Two of the hours at a price lie before and after the plan's; beyond them 4.
    assert [priced[0], *priced[3:]] == [10, 10, 4, 4]


spans = st.lists(
    st.tuples(st.integers(0, 5 * 60), st.integers(1, 4 * 60), st.booleans()), min_size=1, max_size=4
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(spans, st.booleans())
def test_facts_that_come_late_give_the_month_that_facts_in_time_give(
    lives: list[tuple[int, int, bool]], newest_first: bool
) -> None:
    pool_id = make.make_pool(f"pool {Rate.objects.count()} {len(lives)}")
    tiers = [Tier(Decimal(2), Decimal("7.3")), Tier(Decimal(5), Decimal("3.1"))]
    scene.make_rate(pool_id, Decimal("11.7"), tiers=tuple(tiers))
    minutes = 0
    for place, (start, length, is_late) in enumerate(lives):
        begins = TEN + timedelta(minutes=start)
        node_id = make.make_node(
            f"{pool_id}-{place}", pool_id=pool_id, started_at=begins, at=AT, units=8
        )
        fleet.end_node(
            node_id=node_id, ended_at=begins + timedelta(minutes=length), reason="gone", at=AT
        )
        minutes += length
        if is_late:
            charge_until(12, newest_first=newest_first)
    charge_until(12, newest_first=not newest_first)
    of_pool = Charge.objects.filter(pool_id=pool_id)
    micros = sum(micros or 0 for micros in of_pool.values_list("effective_micros", flat=True))
    exact = graduated(Decimal("11.7"), tiers, Fraction(minutes, 60)) * 1_000_000
    # Each piece is rounded once.
    assert abs(micros - exact) <= Fraction(of_pool.count(), 2)
    assert hours_marked(Pass.CHARGE, AT, 100) == []
