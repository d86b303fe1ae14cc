"""Fleet moves: what is proposed, what is not and why, and how a matter goes from week to week."""

from datetime import date, timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.placement.actions import (
    FleetMovesKept,
    detect_moves,
    detect_moves_if_due,
    make_offer_book,
)
from apps.placement.actions.moves import NOT_SEEN
from apps.placement.models import FleetMove, FleetMoveLook
from apps.placement.queries.fleet_moves import (
    closed_fleet_moves,
    latest_move_detection_run,
    move_detection_run,
    open_fleet_moves,
)
from tests import make
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, MONDAY, SPENT

pytestmark = pytest.mark.django_db

WEEK = date(2026, 3, 2)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


def reasons(kind: str) -> dict[str, int]:
    look = latest_move_detection_run()
    assert look is not None
    (of_kind,) = [each for each in look.kinds if each["kind"] == kind]
    assert of_kind["seen"] == of_kind["proposed"] + sum(
        reason["count"] for reason in of_kind["reasons"]
    )
    return {reason["why"]: reason["count"] for reason in of_kind["reasons"]}


def test_a_training_on_demand_is_proposed_for_spot_with_everything_it_is_from() -> None:
    workload_id, pool_id = move_scene.make_spot_world()
    assert detect_moves(week=WEEK, at=AT) == 1

    (move,) = open_fleet_moves(AT)
    assert (move.kind, move.subject, move.workload_id, move.pool_id) == (
        "to_spot",
        "llm",
        workload_id,
        pool_id,
    )
    assert move.key == f"to_spot:{workload_id}:{pool_id}"
    assert move.spend_micros == pytest.approx(SPENT, rel=1e-6)
    # Spot costs 16.00 of 55.04 an hour; interruptions make the hours dearer, never cheaper.
    assert 0 < move.saving.low <= move.saving.likely <= move.saving.high
    assert move.saving.high < SPENT * (1 - 16 / 55.04)
    assert move.saving.low > SPENT * 0.5
    # Ten interruptions in 200 hours of one node, and the run holds one; twice a month of 730 hours at least.
    assert move.interruptions_per_month == pytest.approx(730 * 0.05, rel=0.1)
    assert move.disruption == "high"
    assert {each.kind for each in move.evidence} == {
        "run",
        "pool",
        "interruptions",
        "offer",
        "rate",
    }
    assert move.doubts == ("the ledger has 2 of 4 weeks",)
    assert move.confidence == "medium"
    assert (move.exclusive_group, move.is_counted) == (1, True)
    assert (move.effort_hours, move.effort_micros, move.egress_micros) == (8, None, 0)
    look = latest_move_detection_run()
    assert look is not None
    assert look.counted_micros == move.saving.likely <= look.addressable_micros
    assert look.addressable_micros == pytest.approx(SPENT, rel=1e-6)
    assert (look.weeks, look.seen_from) == (2, WEEK - timedelta(days=14))


def test_an_engineers_hour_with_a_price_is_in_what_moving_costs(settings) -> None:
    settings.ENGINEER_HOUR_COST = 100
    move_scene.make_spot_world()
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    assert move.effort_micros == 800_000_000
    assert move.one_time_micros == 800_000_000 + move.restart_micros
    assert move.payback_months == pytest.approx(move.one_time_micros / move.saving.likely)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("serving", "a service: nobody recorded what takes over while spot is away"),
        ("notebook", "people work on it: an interruption loses what they have open"),
        ("batch", "no run of it reported: whether it saves checkpoints is not known"),
    ],
)
def test_what_is_not_proposed_says_why(kind: str, why: str) -> None:
    make.make_organisation()
    make.make_rate("55.04", starts_at=move_scene.SINCE)
    move_scene.make_work(kind=kind)
    move_scene.offer_spot()
    make_offer_book(at=AT)
    assert detect_moves(week=WEEK, at=AT) == 0
    assert reasons("to_spot") == {why: 1}


def test_a_week_is_looked_at_once_and_frozen() -> None:
    move_scene.make_spot_world()
    assert detect_moves_if_due(at=AT) == 1
    first = move_detection_run(WEEK)
    assert detect_moves_if_due(at=AT + timedelta(days=1)) == 0
    with pytest.raises(FleetMovesKept):
        detect_moves(week=WEEK, at=AT)
    with pytest.raises(FleetMovesKept):
        detect_moves(week=WEEK - timedelta(days=7), at=AT)
    assert move_detection_run(WEEK) == first


def test_nothing_is_looked_at_before_the_ledger_has_a_week_and_before_it_is_settled() -> None:
    make.make_organisation()
    assert detect_moves_if_due(at=AT) == 0
    assert not FleetMoveLook.objects.exists()
    assert open_fleet_moves(AT) == ()
    # By hand an empty installation is looked at too, and every kind says that it saw nothing.
    assert detect_moves(week=WEEK, at=AT) == 0
    look = latest_move_detection_run()
    assert look is not None
    assert (look.weeks, look.addressable_micros, look.counted_micros) == (0, 0, 0)
    assert all(kind["seen"] == 0 for kind in look.kinds)


def test_a_matter_stays_one_from_week_to_week_and_is_closed_with_its_reason() -> None:
    move_scene.make_spot_world()
    detect_moves(week=WEEK, at=AT)
    later = AT + timedelta(days=7)
    assert detect_moves(week=WEEK + timedelta(days=7), at=later) == 1
    (again,) = open_fleet_moves(later)
    assert FleetMove.objects.count() == 1
    assert (again.opened_week, again.weeks_proposed) == (WEEK, 2)
    # As of the first week's end the first look is what stands.
    (before,) = open_fleet_moves(AT)
    assert (before.week, before.weeks_proposed) == (WEEK, 1)

    gone = AT + timedelta(days=35)
    assert detect_moves(week=WEEK + timedelta(days=35), at=gone) == 0
    (closed,) = closed_fleet_moves()
    assert (closed.closed_week, closed.closed_reason) == (WEEK + timedelta(days=35), NOT_SEEN)
    assert open_fleet_moves(gone) == ()

    # A further look that sees nothing says nothing new of it.
    detect_moves(week=WEEK + timedelta(days=42), at=gone + timedelta(days=7))
    assert closed_fleet_moves() == [closed]
    last = FleetMoveLook.objects.order_by("week").last()
    assert last is not None
    assert last.declined == {}


def test_a_matter_that_comes_back_is_closed_no_more() -> None:
    ids = move_scene.make_spot_world()
    detect_moves(week=WEEK - timedelta(days=28), at=AT - timedelta(days=28))
    assert closed_fleet_moves() == []
    move_scene.keep_one_move(*ids, 1, AT)
    assert detect_moves(week=WEEK + timedelta(days=35), at=AT + timedelta(days=35)) == 0
    assert [each.closed_week for each in closed_fleet_moves()] == [WEEK + timedelta(days=35)]
    move_scene.keep_one_move(*ids, 1, AT + timedelta(days=42))
    assert closed_fleet_moves() == []
    (again,) = open_fleet_moves(AT + timedelta(days=42))
    assert (again.opened_week, again.weeks_proposed) == (WEEK, 2)


def test_a_team_sees_its_own_moves_and_no_prices() -> None:
    move_scene.make_spot_world()
    detect_moves(week=WEEK, at=AT)
    (whole,) = open_fleet_moves(AT)
    assert whole.team_id is not None
    (own,) = open_fleet_moves(AT, frozenset([whole.team_id]))
    assert own.saving == whole.saving
    assert {each.kind for each in whole.evidence} - {each.kind for each in own.evidence} == {
        "offer",
        "rate",
    }
    assert open_fleet_moves(AT, frozenset([whole.team_id + 1])) == ()


def test_a_week_is_looked_at_when_its_last_day_is_settled() -> None:
    move_scene.make_spot_world()
    # Sunday's last hours are still being settled on Monday at one.
    detect_moves_if_due(at=MONDAY + timedelta(hours=1))
    look = latest_move_detection_run()
    assert look is not None
    assert (look.week, look.weeks) == (WEEK - timedelta(days=7), 1)
    detect_moves_if_due(at=MONDAY + timedelta(hours=7))
    assert move_detection_run(WEEK) is not None
