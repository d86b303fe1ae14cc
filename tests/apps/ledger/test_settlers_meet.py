"""Settlers at once, facts that arrive meanwhile, and settlers that are killed lose nothing."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from io import StringIO
from multiprocessing.process import BaseProcess
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from apps.economics.states import State
from apps.ledger.actions.partitions import ensure_month
from apps.marks.models import ChangedHour
from controlplane.ledger_audit import audit
from tests import make
from tests.apps.ledger import scene
from tests.databases import somebody_waits, wait_until
from tests.forked import forked

pytestmark = pytest.mark.django_db(transaction=True)

HOURS = 3
UNTIL = scene.TEN + HOURS * scene.HOUR


@pytest.fixture
def nodes() -> list[int]:
    """Three nodes with jobs and usage in three hours, in a month that has its partition.

    Without it a settler that is blocked would first wait there, and keep from writers of usage what
    a new partition refers to.
    """
    ensure_month(month=scene.TEN.date().replace(day=1))
    make.make_organisation()
    pool_id = make.make_pool("h100", idle_sharing="by_held_time")
    nodes = []
    for number in range(3):
        node_id = make.make_node(
            f"gpu-{number}", pool_id=pool_id, at=scene.LATER, started_at=scene.TEN
        )
        uuids = scene.make_gpus(node_id)
        scene.make_job(f"{number}", node_id, gpus=5, uuids=uuids[:5], to=UNTIL)
        scene.make_usage(scene.device_ids(uuids)[0], [10 * number] * 60)
        nodes.append(node_id)
    scene.make_rate(pool_id)
    return nodes


def contents() -> list[list[tuple[object, ...]]]:
    """Everything the ledger says, without the ids of its rows."""
    with connection.cursor() as cursor:
        found = []
        for query in (
            "SELECT node_id, hour, part, list_micros, effective_micros, status FROM ledger_charge",
            "SELECT node_id, hour, through, unit_milliseconds, effective_micros FROM ledger_settlement"
            " WHERE superseded_at IS NULL",
            "SELECT hour, team_id, job_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_line",
            "SELECT day, team_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgerday",
            "SELECT day, team_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgerteamday",
            "SELECT day, pool_id, team_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgerpoolday",
            "SELECT posting_month, team_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgermonth",
            "SELECT day, user_name, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgeruserday",
            "SELECT day, node_id, state, flags, unit_milliseconds, effective_micros"
            " FROM ledger_ledgernodeday",
        ):
            cursor.execute(query)
            found.append(sorted(cursor.fetchall(), key=repr))
        return found


def forget_the_ledger() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE ledger_line, ledger_chargepiece, ledger_settlement, ledger_charge,"
            " ledger_ledgerday, ledger_ledgerpoolday, ledger_ledgerteamday, ledger_ledgerjobday,"
            " ledger_ledgermonth, ledger_ledgeruserday, ledger_ledgernodeday"
        )


def settled_by_one(nodes: list[int]) -> list[list[tuple[object, ...]]]:
    """What one undisturbed settler makes of it from nothing."""
    forget_the_ledger()
    for hour in range(HOURS):
        scene.recharge(scene.TEN + hour * scene.HOUR)
    for node_id in nodes:
        scene.remark(node_id, scene.TEN, UNTIL)
    scene.settle(ends_at=UNTIL)
    return contents()


def waiting_hours() -> int:
    return ChangedHour.objects.filter(hour__lt=UNTIL).count()


def test_two_settlers_at_once_make_what_one_makes(nodes: list[int]) -> None:
    settlers = [threading.Thread(target=settle_in_thread) for _ in range(2)]
    for settler in settlers:
        settler.start()
    for settler in settlers:
        settler.join()
    scene.settle(ends_at=UNTIL)

    together = contents()
    assert waiting_hours() == 0
    assert audit(ends_at=UNTIL).places == ()
    assert together == settled_by_one(nodes)


def test_a_fact_that_commits_after_the_facts_were_read_is_settled_next(nodes: list[int]) -> None:
    uuid = f"GPU-{nodes[0]}-1"
    with blocking("ledger_settlement"):
        settler = threading.Thread(target=settle_in_thread)
        settler.start()
        wait_until(somebody_waits)
        scene.make_usage(scene.device_ids([uuid])[0], [200] * 60)
    settler.join()

    left = ChangedHour.objects.filter(hour=scene.TEN).values_list("pass_id", "unit")
    assert (3, nodes[0]) in list(left)
    assert not any(line.unit_milliseconds == 3_000_000 for line in scene.lines(state=State.ACTIVE))

    scene.settle(ends_at=UNTIL)
    assert any(line.unit_milliseconds == 3_000_000 for line in scene.lines(state=State.ACTIVE))
    assert contents() == settled_by_one(nodes)


@pytest.mark.parametrize(
    "table", ["ledger_charge", "ledger_settlement", "ledger_line", "ledger_ledgerday"]
)
def test_a_settler_killed_between_two_steps_loses_nothing(nodes: list[int], table: str) -> None:
    with blocking(table):
        settler = settler_process()
        wait_until(somebody_waits)
        settler.kill()
        settler.join()
    wait_until(no_settler_works)
    assert waiting_hours() > 0

    scene.settle(ends_at=UNTIL)

    assert waiting_hours() == 0
    assert audit(ends_at=UNTIL).places == ()
    assert contents() == settled_by_one(nodes)


@pytest.mark.proof
def test_two_processes_of_one_command_make_what_one_makes(nodes: list[int], monkeypatch) -> None:
    monkeypatch.setenv("RUNRATE_DATABASE_URL", database_url())
    span = {"starts_at": scene.TEN, "ends_at": UNTIL}
    with redirect_stdout(StringIO()) as printed:
        call_command("settle", **span, processes=2, json=True)

    told = json.loads(printed.getvalue().splitlines()[-1])
    assert (told["hours"], told["settlements"], told["pending"]) == (HOURS, HOURS * len(nodes), 0)
    together = contents()
    assert together == settled_by_one(nodes)


def settle_in_thread() -> None:
    """Settle over a connection of the thread's own."""
    try:
        scene.settle(ends_at=UNTIL)
    finally:
        connection.close()


def settler_process() -> BaseProcess:
    """Another process that settles the same hours."""
    return forked(partial(scene.settle, ends_at=UNTIL), application_name="settler")


def database_url() -> str:
    url = os.environ["RUNRATE_DATABASE_URL"]
    return url.replace(urlsplit(url).path, f"/{connection.settings_dict['NAME']}", 1)


@contextmanager
def blocking(table: str) -> Iterator[None]:
    """Let everyone read `table` and nobody write it."""
    with psycopg.connect(database_url()) as other:
        other.execute(f"LOCK TABLE {table} IN SHARE MODE")
        yield


def no_settler_works() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = 'settler' AND datname = current_database()"
        )
        return cursor.fetchone() == (0,)
