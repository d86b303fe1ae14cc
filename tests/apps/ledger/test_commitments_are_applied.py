"""What was bought ahead takes the place of rates where it covers, and nothing of it is lost."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.db.models import QuerySet, Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts import queries as accounts
from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.models import Charge, ChargePart, ChargePiece, Line
from apps.marks.actions import mark_span
from apps.marks.queries import Pass
from apps.pricing.models import Commitment
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, TEN = scene.HOUR, scene.TEN
LIST = 98_320_000
MARCH = date(2026, 3, 1)
IN_APRIL = datetime(2026, 4, 5, 9, tzinfo=UTC)
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")
# An example settles over a real database: a tenth of what pure functions are shown.
EXAMPLES = max(5, settings.default.max_examples // 10)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def settle(hours: int = 1) -> None:
    """Charge and split as many hours from 10:00."""
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + hours * HOUR)
    scene.settle(ends_at=TEN + hours * HOUR)


def charges(**given: Any) -> list[tuple[Any, ...]]:
    """Part, list, contracted and effective of the charges in force."""
    found = Charge.objects.filter(**given).order_by("hour", "node_id", "part")
    return list(found.values_list("part", "list_micros", "contracted_micros", "effective_micros"))


def test_a_reservation_covers_a_node_at_its_own_price_and_the_other_pays_the_rate() -> None:
    pool_id = make.make_pool("h100")
    first = scene.make_priced_node("gpu-01", pool_id=pool_id)
    make.make_node("gpu-02", pool_id=pool_id, started_at=TEN, at=scene.LATER, units=8)
    commitment_id = scene.make_commitment()
    settle()
    assert charges(kind="node_hour") == [
        (ChargePart.COMMITTED, LIST, LIST, 40_000_000),
        (ChargePart.PRICED, LIST, LIST, LIST),
    ]
    piece = ChargePiece.objects.get(charge__node_id=first)
    assert (piece.commitment_id, piece.start_ms, piece.end_ms) == (commitment_id, 0, 3_600_000)
    # All of it was used: nothing is left over.
    unused = Charge.objects.get(kind="commitment_unused")
    assert (unused.effective_micros, unused.commitment_id) == (0, commitment_id)
    assert unused.reason == "reserved 0: 100.0 % of the hour used"


def test_what_nobody_uses_is_a_charge_of_its_owner() -> None:
    team_id = make.make_team("research")
    scene.make_priced_node("gpu-01", started_at=TEN + timedelta(minutes=45))
    scene.make_commitment(owner_id=team_id, units=2, hourly=Decimal(80), name="two nodes")
    settle()
    unused = Charge.objects.get(kind="commitment_unused")
    # A quarter of an hour of one of two nodes: an eighth.
    assert (unused.effective_micros, unused.list_micros) == (70_000_000, 0)
    assert unused.reason == "two nodes: 12.5 % of the hour used"
    line = Line.objects.get(charge=unused)
    assert (line.team_id, line.effective_micros, line.unit_milliseconds) == (
        team_id,
        70_000_000,
        0,
    )


def test_without_an_owner_the_unused_part_is_the_platforms() -> None:
    scene.make_priced_node("gpu-01", started_at=TEN + HOUR)
    scene.make_commitment()
    settle()
    line = Line.objects.get(charge__kind="commitment_unused")
    assert line.team_id == accounts.special_teams().platform_id


def test_a_node_covered_in_part_of_its_hour_is_charged_in_two_parts_that_make_its_time() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    half_past = TEN + timedelta(minutes=30)
    make.make_node("gpu-02", pool_id=pool_id, started_at=half_past, at=scene.LATER, units=8)
    scene.make_commitment(units=12, unit="gpu", hourly=Decimal(48))
    settle()
    # Twelve GPU-hours: eight of the first node and four of the second's half an hour.
    assert charges(kind="node_hour") == [
        (ChargePart.COMMITTED, LIST, LIST, 32_000_000),
        (ChargePart.COMMITTED, LIST // 2, LIST // 2, 16_000_000),
    ]
    scene.make_commitment(units=1, unit="gpu", hourly=Decimal(1), name="one more")
    Commitment.objects.filter(units=12).update(units=9)
    settle()
    spans = ChargePiece.objects.filter(charge__node__name="gpu-02").order_by("start_ms")
    told = list(spans.values_list("start_ms", "end_ms", "charge__part"))
    # One GPU-hour of each is left for eight GPUs: 7.5 minutes, one after the other.
    assert told == [
        (1_800_000, 2_250_000, ChargePart.COMMITTED),
        (2_250_000, 2_700_000, ChargePart.COMMITTED),
        (2_700_000, 3_600_000, ChargePart.PRICED),
    ]
    whole = Charge.objects.filter(node__name="gpu-02").aggregate(
        listed=Sum("list_micros"), contracted=Sum("contracted_micros")
    )
    assert whole == {"listed": LIST // 2, "contracted": LIST // 2}


def test_a_spend_buys_at_its_own_prices() -> None:
    pool_id = make.make_pool("h100", instance_type="p5.48xlarge")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    scene.make_commitment(
        kind="savings_plan",
        units=0,
        spend=Decimal(25),
        hourly=Decimal(25),
        prices={"p5.48xlarge": "50"},
    )
    settle()
    assert charges(kind="node_hour") == [
        (ChargePart.PRICED, LIST // 2, LIST // 2, LIST // 2),
        (ChargePart.COMMITTED, LIST // 2, LIST // 2, 25_000_000),
    ]


def test_a_node_without_a_price_costs_what_its_commitment_does_and_its_list_price_stays_unknown() -> (
    None
):
    make.make_node("gpu-01", started_at=TEN, at=scene.LATER, units=8)
    scene.make_commitment()
    settle()
    assert charges(kind="node_hour") == [(ChargePart.COMMITTED, None, None, 40_000_000)]


def test_a_commitment_in_money_nobody_can_convert_is_unknown_and_never_free() -> None:
    scene.make_priced_node("gpu-01")
    scene.make_commitment(currency="EUR")
    settle()
    assert charges(kind="node_hour") == [(ChargePart.COMMITTED, LIST, LIST, None)]
    unused = Charge.objects.get(kind="commitment_unused")
    assert unused.effective_micros is None
    assert unused.reason.endswith("no rate of exchange is known for its currency")


def test_one_that_is_ended_before_its_term_covers_no_more() -> None:
    scene.make_priced_node("gpu-01")
    scene.make_commitment(ended_at=TEN + HOUR)
    settle(hours=2)
    assert charges(kind="node_hour") == [
        (ChargePart.COMMITTED, LIST, LIST, 40_000_000),
        (ChargePart.PRICED, LIST, LIST, LIST),
    ]
    assert Charge.objects.filter(kind="commitment_unused").count() == 1


def test_one_that_comes_after_the_close_is_posted_as_a_correction_once() -> None:
    scene.make_priced_node("gpu-01")
    scene.settle_all(IN_APRIL)
    close.close_month(request=close.CloseRequest(MARCH, None, EVERYTHING), at=IN_APRIL)
    before = sum_of(Charge.objects.all())
    scene.make_commitment(units=2, hourly=Decimal(80), period=(TEN, TEN + HOUR))
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + HOUR)
    scene.settle_all(IN_APRIL)
    assert sum_of(Charge.objects.all()) == before
    posted = close.post_corrections(month=MARCH, at=IN_APRIL)
    # The node's 98.32 gives way to 40, and 40 more were not used.
    assert posted.effective_micros == 80_000_000 - LIST
    late = Charge.objects.get(kind="commitment_unused", corrects__isnull=False)
    assert (late.effective_micros, late.corrects.commitment_id is not None) == (40_000_000, True)
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + HOUR)
    assert close.post_corrections(month=MARCH, at=IN_APRIL).charges == 0


@settings(max_examples=EXAMPLES)
@given(
    upfront=st.decimals(0, 500, places=9),
    hourly=st.decimals(0, 100, places=9),
    term=st.integers(1, 4),
    lives=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 200)), max_size=3),
)
def test_over_its_life_used_and_unused_are_what_was_paid_and_every_sum_holds(
    upfront: Decimal, hourly: Decimal, term: int, lives: list[tuple[int, int]]
) -> None:
    with transaction.atomic():
        pool_id = make.make_pool("h100")
        scene.make_rate(pool_id)
        for number, (starts, minutes) in enumerate(lives):
            begins = TEN + timedelta(minutes=starts)
            make_node(f"gpu-{number}", pool_id, begins, begins + timedelta(minutes=minutes))
        scene.make_commitment(
            upfront=upfront, hourly=hourly, period=(TEN, TEN + term * HOUR), units=2
        )
        settle(hours=term)
        used = sum_of(ChargePiece.objects.exclude(commitment_id=None))
        left = sum_of(Charge.objects.filter(kind="commitment_unused"))
        assert used + left == round((upfront + hourly * term) * 1_000_000)
        assert_lines_are_their_charges()
        transaction.set_rollback(True)


def make_node(name: str, pool_id: int, starts_at: datetime, ends_at: datetime) -> None:
    node_id = make.make_node(name, pool_id=pool_id, started_at=starts_at, at=scene.LATER, units=8)
    fleet.end_node(node_id=node_id, ended_at=ends_at, reason="test", at=scene.LATER)


def sum_of(rows: "QuerySet[Any]") -> int:
    """Of what they effectively cost."""
    return int(rows.aggregate(n=Sum("effective_micros"))["n"] or 0)


def assert_lines_are_their_charges() -> None:
    for charge in Charge.objects.all():
        lines = Line.objects.filter(charge=charge)
        for basis in ("list_micros", "contracted_micros", "effective_micros"):
            assert sum(getattr(line, basis) for line in lines) == getattr(charge, basis)
        if charge.kind == "node_hour":
            for line in lines:
                assert line.effective_micros <= line.contracted_micros <= line.list_micros


def test_a_capacity_block_from_half_past_costs_its_price_by_the_minute() -> None:
    half = timedelta(minutes=30)
    scene.make_priced_node(started_at=TEN, at=scene.LATER)
    scene.make_commitment(
        kind="capacity_block",
        hourly=Decimal(0),
        upfront=Decimal("100.000001"),
        instance_type="another",
        period=(TEN + half, TEN + 2 * HOUR + half),
    )
    settle(4)
    unused = Charge.objects.filter(kind="commitment_unused").order_by("hour")
    assert [each.effective_micros for each in unused] == [25_000_000, 50_000_000, 25_000_001]
