"""The audit proves that the ledger adds up, and finds the one micro-unit that does not."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.fleet import actions as fleet
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> None:
    make_settled()


def make_settled() -> None:
    """Four hours of a node of which a job held three GPUs in the first."""
    make.make_organisation()
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=3, uuids=uuids[:3])
    scene.make_usage(scene.device_ids(uuids)[0], [120] * 60)
    scene.settle(ends_at=scene.TEN + 4 * scene.HOUR)


def run(query: str, **given: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, given)


def test_a_settled_day_adds_up() -> None:
    found = audit_here()

    assert found.places == ()
    assert found.adds_up
    assert (found.node_hours, found.charges, found.missing) == (4, 4, 0)
    assert found.residual_micros == 0


def test_hours_in_which_gpus_became_known_or_ended_add_up() -> None:
    late = scene.make_priced_node("gpu-02")
    scene.make_gpus(late, seen_from=scene.TEN + timedelta(minutes=15, microseconds=1500))
    scene.make_job("2", late, gpus=3)
    unseen = scene.make_priced_node("gpu-03", units=4)
    fleet.set_capacity(
        node_id=unseen, units=6, from_at=scene.TEN + timedelta(minutes=20), at=scene.LATER
    )
    run(
        "UPDATE fleet_device SET period = tstzrange(lower(period), %(until)s) WHERE node_id = %(id)s",
        until=scene.TEN + timedelta(minutes=50),
        id=late,
    )

    scene.settle(ends_at=scene.TEN + 4 * scene.HOUR)

    assert audit_here().places == ()


def test_hours_of_a_node_just_added_are_not_yet_swept_and_not_missing() -> None:
    scene.make_priced_node("gpu-02")

    found = audit_here(scene.TEN, scene.TEN + 2 * scene.HOUR)

    assert (found.missing, found.not_yet_swept, found.adds_up) == (0, 2, True)
    scene.settle(ends_at=scene.TEN + 2 * scene.HOUR)
    assert audit_here(scene.TEN, scene.TEN + 2 * scene.HOUR).not_yet_swept == 0


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (
            "DELETE FROM ledger_line WHERE id = (SELECT max(id) FROM ledger_line)",
            "lines have the time of the node's capacity",
        ),
        (
            "UPDATE ledger_line SET list_micros = NULL"
            " WHERE id = (SELECT max(id) FROM ledger_line)",
            "lines sum to their charge",
        ),
        (
            "UPDATE ledger_chargepiece SET effective_micros = effective_micros + 1"
            " WHERE charge_id = (SELECT max(id) FROM ledger_charge)",
            "pieces sum to their charge",
        ),
        (
            "UPDATE ledger_chargepiece SET end_ms = end_ms - 1"
            " WHERE charge_id = (SELECT max(id) FROM ledger_charge)",
            "pieces cover the lived time once",
        ),
        (
            "UPDATE ledger_ledgerday SET unit_milliseconds = unit_milliseconds + 1"
            " WHERE id = (SELECT max(id) FROM ledger_ledgerday)",
            "roll-ups sum to the lines",
        ),
        (
            "UPDATE ledger_line SET team_id = (SELECT min(id) FROM accounts_team WHERE id <> team_id)"
            " WHERE id = (SELECT max(id) FROM ledger_line)",
            "roll-ups sum to the lines",
        ),
        (
            "UPDATE ledger_ledgerjobday SET list_micros = list_micros + 1"
            " WHERE id = (SELECT max(id) FROM ledger_ledgerjobday)",
            "roll-ups by job sum to the lines",
        ),
        (
            "UPDATE ledger_ledgerteamday SET kind = 'shared'"
            " WHERE id = (SELECT max(id) FROM ledger_ledgerteamday)",
            "roll-ups by team sum to the roll-ups",
        ),
        ("DELETE FROM ledger_ledgerjobday", "roll-ups by job sum to the lines"),
        (
            "UPDATE ledger_ledgerteamday SET effective_micros = effective_micros + 1"
            " WHERE id = (SELECT max(id) FROM ledger_ledgerteamday)",
            "roll-ups by team sum to the roll-ups",
        ),
        ("DELETE FROM ledger_ledgerteamday", "roll-ups by team sum to the roll-ups"),
        (
            "UPDATE fleet_node SET period = tstzrange(lower(period), lower(period) + '1 h')",
            "a charge has a node that lived then",
        ),
        (
            "UPDATE fleet_node SET period = tstzrange(lower(period) - interval '1 h', NULL)",
            "a node-hour lived has a charge",
        ),
    ],
)
def test_every_check_finds_its_damage(damage: str, check: str) -> None:
    run(damage)

    found = audit_here()

    assert not found.adds_up
    assert check in {place.check for place in found.places}


def test_hours_that_wait_are_listed_and_do_not_count_as_wrong() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ledger_charge SET effective_micros = effective_micros + 1")
        cursor.execute("UPDATE ledger_chargepiece SET effective_micros = effective_micros + 1")
        cursor.execute(
            "INSERT INTO fleet_changedhour (pass_id, unit, hour, revision)"
            " SELECT 3, node_id, hour, 1 FROM ledger_charge"
        )

    found = audit_here()

    assert found.adds_up
    assert [day.isoformat() for day in found.pending_days] == ["2026-03-02"]
