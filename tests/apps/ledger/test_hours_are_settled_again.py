"""An hour settled again changes only where its facts did, and keeps what was once estimated."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.economics.states import State
from apps.fleet import actions as fleet
from apps.ledger.models import Charge, LedgerDay, Line, Settlement, Status
from apps.pricing import actions as pricing
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def everything() -> list[object]:
    """Every row of the ledger, with its id."""
    return [
        list(table.objects.order_by(*order).values())
        for table, order in (
            (Charge, ["id"]),
            (Settlement, ["id"]),
            (Line, ["posting_month", "id"]),
            (LedgerDay, ["id"]),
        )
    ]


def busy_node() -> int:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=3, uuids=uuids[:3])
    scene.make_usage(scene.device_ids(uuids)[0], [100] * 60)
    return node_id


def test_settling_twice_at_the_same_moment_changes_no_row() -> None:
    node_id = busy_node()
    scene.settle()
    before = everything()

    scene.recharge()
    scene.remark(node_id, scene.TEN, scene.TEN + scene.HOUR)
    progress = scene.settle()

    assert everything() == before
    assert (progress.charges, progress.settlements, progress.lines) == (0, 0, 0)


def test_an_hour_first_settled_late_is_estimated_at_once() -> None:
    node_id = busy_node()

    scene.settle()

    (settlement,) = scene.settlements(node_id)
    assert (settlement.version, settlement.reason) == (1, "settled for the first time")
    assert scene.charge(node_id).status == Status.ESTIMATED


def test_a_running_hour_is_settled_as_far_as_it_has_come() -> None:
    node_id = busy_node()
    at = scene.TEN + 20 * MINUTE

    scene.settle(at)

    charge, (settlement,) = scene.charge(node_id), scene.settlements(node_id)
    assert (charge.through, charge.status) == (at, Status.PROVISIONAL)
    assert charge.effective_micros == 32_773_333
    assert (settlement.version, settlement.through) == (0, at)
    assert sum(line.unit_milliseconds for line in scene.lines()) == 8 * 20 * 60_000


def test_a_provisional_settlement_is_overwritten_in_place() -> None:
    node_id = busy_node()
    scene.settle(scene.TEN + 20 * MINUTE)
    (first,) = scene.settlements(node_id)

    scene.recharge()
    scene.settle(scene.TEN + 90 * MINUTE)

    (second,) = scene.settlements(node_id)
    assert (second.id, second.version) == (first.id, 0)
    assert second.reason == "settled as far as the hour has come"
    assert scene.charge(node_id).effective_micros == 98_320_000
    assert {line.settlement_id for line in scene.lines()} == {first.id}


def test_two_hours_after_its_end_the_same_lines_are_called_estimated() -> None:
    node_id = busy_node()
    scene.settle(scene.TEN + 90 * MINUTE)
    lines = [line.id for line in scene.lines()]

    scene.recharge()
    scene.settle(scene.TEN + 180 * MINUTE)

    assert [line.id for line in scene.lines()] == lines
    assert [each.version for each in scene.settlements(node_id)] == [1]
    assert scene.charge(node_id).status == Status.ESTIMATED
    assert set(LedgerDay.objects.values_list("status", flat=True)) == {Status.ESTIMATED}


def test_late_usage_makes_a_new_settlement_and_keeps_the_old() -> None:
    node_id = busy_node()
    scene.settle()
    (before,) = scene.settlements(node_id)
    late = scene.device_ids([f"GPU-{node_id}-1"])[0]

    scene.make_usage(late, [240] * 60)
    scene.settle(scene.LATER + MINUTE)

    old, new = scene.settlements(node_id)
    assert (old.id, old.superseded_at) == (before.id, scene.LATER + MINUTE)
    assert (old.effective_micros, old.digest) == (before.effective_micros, before.digest)
    assert (new.version, new.superseded_at, new.reason) == (2, None, "changed: usage")
    assert {line.settlement_id for line in scene.lines()} == {new.id}


def test_a_cheaper_price_restates_the_hour() -> None:
    node_id = busy_node()
    scene.settle()

    pool_id = scene.charge(node_id).pool_id
    pricing.add_rate(
        rate=pricing.EnteredRate(
            kind="contract",
            amount=Decimal("50.00"),
            currency="USD",
            starts_at=scene.TEN,
            purchase_option="on_demand",
            pool_id=pool_id,
        ),
        at=scene.LATER,
    )
    scene.settle(scene.LATER + MINUTE)

    charge = scene.charge(node_id)
    assert (charge.list_micros, charge.effective_micros) == (98_320_000, 50_000_000)
    assert sum(line.effective_micros or 0 for line in scene.lines()) == 50_000_000
    assert [each.reason for each in scene.settlements(node_id)][1:] == ["changed: prices"]


def test_a_node_that_never_lived_then_leaves_no_charge_and_no_line() -> None:
    node_id = busy_node()
    until = scene.TEN + 2 * scene.HOUR
    scene.settle(ends_at=until)

    fleet.end_node(node_id=node_id, ended_at=scene.TEN + scene.HOUR, reason="typo", at=scene.LATER)
    scene.settle(scene.LATER + MINUTE, ends_at=until)

    second = scene.TEN + scene.HOUR
    assert not Charge.objects.filter(hour=second).exists()
    assert not Line.objects.filter(hour=second).exists()
    assert scene.settlements(node_id, second)[0].superseded_at == scene.LATER + MINUTE
    total = sum(LedgerDay.objects.values_list("effective_micros", flat=True))
    assert total == scene.charge(node_id).effective_micros == 98_320_000


def test_a_rule_for_an_account_moves_its_lines() -> None:
    node_id = busy_node()
    scene.settle()
    team = make.make_team("Research")

    scene.make_rule("research", team)
    scene.remark(node_id, scene.TEN, scene.TEN + scene.HOUR)
    scene.settle(scene.LATER + MINUTE)

    assert {line.team_id for line in scene.lines() if line.job_id} == {team}
    assert scene.settlements(node_id)[-1].reason == "changed: owners"


def test_the_roll_up_sums_the_lines_by_state() -> None:
    busy_node()

    scene.settle()

    days = {
        State(day.state): (day.effective_micros, day.held_milliseconds, day.observed_milliseconds)
        for day in LedgerDay.objects.all()
    }
    hour = 3_600_000
    assert days == {
        State.ACTIVE: (5_120_833, hour * 100 // 240, hour * 100 // 240),
        State.HELD_IDLE: (7_169_167, hour * 140 // 240, hour * 140 // 240),
        State.UNOBSERVED: (24_580_000, 2 * hour, 0),
        State.UNALLOCATED: (61_450_000, 0, 0),
    }
