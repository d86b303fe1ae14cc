"""Spot prices as a series: each holds until the next, whatever the order in which they come."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.ledger.models import ChargePiece
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.pricing import actions
from apps.pricing.models import Rate, SpotRepeat
from tests.apps.ledger import scene
from tests.make import NOON, make_node, make_organisation, make_person, make_pool, make_rate

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _organisation(request: pytest.FixtureRequest) -> None:
    if request.cls is None:
        make_organisation()


def spot(hours: float, amount: str, **given: object) -> actions.EnteredRate:
    """A point of p5.48xlarge in us-east-1a, so many hours after noon."""
    values = {
        "kind": "list",
        "currency": "USD",
        "purchase_option": "spot",
        "provider": "aws",
        "region": "us-east-1a",
        "instance_type": "p5.48xlarge",
        "source": "told by a test",
    }
    starts_at = NOON + timedelta(hours=hours)
    return actions.EnteredRate(amount=Decimal(amount), starts_at=starts_at, **values | given)


def record(*points: actions.EnteredRate, at: datetime = NOON + 100 * HOUR) -> actions.TableLoaded:
    return actions.record_spot_prices(rows=list(enumerate(points, 1)), at=at)


def series(**chosen: object) -> list[tuple]:
    """(from, to, amount) in hours after noon, of what is in force."""
    rows = Rate.objects.filter(**{"standing": "in_force"} | chosen).order_by("period")
    return [
        (
            (row.period.lower - NOON) / HOUR,
            row.period.upper and (row.period.upper - NOON) / HOUR,
            f"{row.amount.normalize():f}",
        )
        for row in rows
    ]


def marked_hours() -> list[int]:
    rows = ChangedHour.objects.filter(pass_id=Pass.CHARGE).order_by("hour")
    return [int((row.hour - NOON) / HOUR) for row in rows]


def test_each_point_holds_until_the_next_and_one_that_says_the_same_makes_no_price() -> None:
    loaded = record(spot(0, "30"), spot(1, "30"), spot(2, "31.5"))
    assert (loaded.imported, loaded.unchanged) == (2, 1)
    assert series() == [(0, 2, "30"), (2, None, "31.5")]


def test_a_late_point_splits_the_price_that_held_then_and_its_repeats_hold_again_after_it() -> None:
    record(spot(0, "30"), spot(2, "30"), spot(4, "31"))
    record(spot(1, "35"))
    assert series() == [(0, 1, "30"), (1, 2, "35"), (2, 4, "30"), (4, None, "31")]


def test_a_late_point_of_the_next_price_moves_its_start_and_keeps_its_rate() -> None:
    record(spot(0, "30"), spot(4, "31"))
    later = Rate.objects.get(amount=31).id
    record(spot(3, "31"))
    assert series() == [(0, 3, "30"), (3, None, "31")]
    assert Rate.objects.get(amount=31).id == later


def test_the_same_points_again_change_nothing() -> None:
    points = [spot(0, "30"), spot(1, "30"), spot(2, "31")]
    record(*points)
    before = series()
    ChangedHour.objects.all().delete()
    loaded = record(*reversed(points))
    assert (loaded.imported, loaded.unchanged, series(), marked_hours()) == (0, 3, before, [])


def test_a_price_that_was_ended_stays_ended_and_a_late_point_holds_until_that_end() -> None:
    rate_id = make_rate("30", starts_at=NOON, purchase_option="spot", region="us-east-1a")
    actions.end_rate(rate_id=rate_id, ended_at=NOON + 4 * HOUR, at=NOON)
    record(spot(1, "32"))
    assert series() == [(0, 1, "30"), (1, 4, "32")]
    record(spot(6, "32"))
    assert series()[-1] == (6, None, "32")


def test_a_gap_that_is_filled_joins_no_two_prices_that_lines_may_name() -> None:
    first = make_rate("30", ends_at=NOON + HOUR, purchase_option="spot", region="us-east-1a")
    second = make_rate("30", starts_at=NOON + 2 * HOUR, purchase_option="spot", region="us-east-1a")
    record(spot(1, "30"))
    assert series() == [(0, 2, "30"), (2, None, "30")]
    assert set(Rate.objects.values_list("id", flat=True)) == {first, second}


def test_a_price_that_always_held_is_split_too() -> None:
    make_rate("30", starts_at=None, purchase_option="spot", region="us-east-1a")
    record(spot(1, "32"))
    (ever, later) = Rate.objects.order_by("id")
    assert (ever.period.lower, ever.period.upper) == (None, NOON + HOUR)
    assert (later.period.lower, later.period.upper) == (NOON + HOUR, None)


def test_only_hours_whose_price_changed_are_charged_again() -> None:
    pool_id = make_pool("spot", region="us-east-1a", purchase_option="spot")
    make_node(pool_id=pool_id, started_at=NOON, at=NOON)
    record(spot(0, "30"), spot(6, "31"))
    ChangedHour.objects.all().delete()
    record(spot(2, "33"), spot(4, "30"), spot(7, "31"), at=NOON + 9 * HOUR)
    assert series() == [(0, 2, "30"), (2, 4, "33"), (4, 6, "30"), (6, None, "31")]
    assert marked_hours() == [2, 3]


def test_two_prices_of_one_moment_are_not_chosen_from() -> None:
    loaded = record(spot(0, "30"), spot(0, "31"))
    assert (loaded.imported, [row.line for row in loaded.rejected]) == (1, [2])
    assert "costs 30 from 2026-03-02 12:00:00Z on, not 31" in loaded.rejected[0].reason
    assert record(spot(0, "31")).rejected[0].line == 1
    assert series() == [(0, None, "30")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"purchase_option": "on_demand"}, "purchase_option: 'on_demand' is not spot"),
        ({"starts_at": None}, "at: a spot price says since when"),
        (
            {"ends_at": NOON + 99 * HOUR},
            "ends_at: a spot price holds until the next one is published",
        ),
        ({"currency": "usd"}, "currency"),
        ({"provider": ""}, "provider: a rate names a provider"),
    ],
)
def test_what_is_no_point_is_named_and_the_others_are_kept(given, said) -> None:
    values = {name: getattr(spot(0, "30"), name) for name in actions.EnteredRate.__slots__}
    loaded = record(actions.EnteredRate(**values | given), spot(1, "31"))
    assert (loaded.imported, loaded.rejected[0].line) == (1, 1)
    assert said in loaded.rejected[0].reason


def test_a_spot_price_beside_the_on_demand_price_of_its_machine_is_quarantined() -> None:
    make_rate("98.32", starts_at=NOON - HOUR)
    loaded = record(spot(0, "30"), spot(1, "0.3"), spot(2, "31"))
    assert (loaded.imported, loaded.waiting) == (2, 1)
    assert record(spot(1, "0.3")).unchanged == 1
    waiting = Rate.objects.get(standing="quarantined")
    assert waiting.doubt == "0.3 is under a tenth of the usual 98.32"
    assert series(purchase_option="spot") == [(0, 2, "30"), (2, None, "31")]


def test_an_accepted_point_takes_its_place_in_the_series() -> None:
    make_rate("98.32", starts_at=NOON - HOUR)
    record(spot(0, "30"), spot(1, "0.3"), spot(2, "30"), spot(3, "31"))
    waiting = Rate.objects.get(standing="quarantined")
    finance = make_person("fin@example.org", role="finance")
    actions.accept_rate(rate_id=waiting.id, by=finance, at=NOON + 5 * HOUR)
    assert series(purchase_option="spot") == [
        (0, 1, "30"), (1, 2, "0.3"), (2, 3, "30"), (3, None, "31")
    ]  # fmt: skip
    assert Rate.objects.get(standing="in_force", amount="0.3").id == waiting.id


def test_an_accepted_point_that_says_what_holds_already_makes_no_second_price() -> None:
    make_rate("98.32", starts_at=NOON - HOUR)
    record(spot(1, "0.3"), spot(2, "0.3"))
    first, second = Rate.objects.filter(standing="quarantined").order_by("period")
    finance = make_person("fin@example.org", role="finance")
    for waiting in (first, second):
        actions.accept_rate(rate_id=waiting.id, by=finance, at=NOON + 5 * HOUR)
    assert series(purchase_option="spot") == [(1, None, "0.3")]
    second.refresh_from_db()
    assert second.doubt.endswith("accepted, but the price before says the same")


class TestAnyOrder(TestCase):
    """The same points in any order and any batches."""

    @given(
        told=st.dictionaries(st.integers(0, 11), st.sampled_from(["30", "31", "32"]), max_size=9),
        shuffled=st.randoms(use_true_random=False),
        at_once=st.integers(1, 4),
    )
    def test_gives_the_same_prices(self, told, shuffled, at_once):
        make_organisation()
        points = [spot(hours, amount) for hours, amount in sorted(told.items())]
        record(*points)
        expected, repeats = series(), set(SpotRepeat.objects.values_list("moment", flat=True))
        Rate.objects.all().delete()
        SpotRepeat.objects.all().delete()
        arriving = [*points, *points[:2]]
        shuffled.shuffle(arriving)
        for first in range(0, len(arriving), at_once):
            record(*arriving[first : first + at_once])
        assert series() == expected
        assert set(SpotRepeat.objects.values_list("moment", flat=True)) == repeats


def test_a_spot_node_pays_each_price_of_its_hour_for_the_time_it_held() -> None:
    pool = make_pool("spot", purchase_option="spot", region="us-east-1a")
    node = make_node("s-01", started_at=scene.TEN, at=scene.LATER, pool_id=pool)
    after_ten = [(scene.TEN + minutes - NOON) / HOUR for minutes in (-HOUR, HOUR / 4, HOUR * 0.7)]
    points = zip(after_ten, ("30.1", "29.55", "34.000001"), strict=True)
    record(*(spot(hours, amount) for hours, amount in points), at=scene.LATER)

    scene.settle()

    # 30.1 × 15/60 = 7.525; 29.55 × 27/60 = 13.2975; 34.000001 × 18/60 = 10.2000003.
    pieces = ChargePiece.objects.filter(charge=scene.charge(node)).order_by("start_ms")
    assert list(pieces.values_list("start_ms", "end_ms", "effective_micros")) == [
        (0, 900_000, 7_525_000),
        (900_000, 2_520_000, 13_297_500),
        (2_520_000, 3_600_000, 10_200_000),
    ]
    assert scene.charge(node).effective_micros == 31_022_500
