"""Windows by the day and usage by the month: made ahead, kept for their time, then dropped."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection, connections, transaction

from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass
from apps.telemetry.actions import partitions
from apps.telemetry.actions.partitions import (
    PartitionsBusy,
    ensure_days,
    ensure_months,
    ensure_partitions,
    keep_partitions,
)
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.models import Batch, TelemetryWindow, UsageHour, WindowRejection
from tests.apps.telemetry.sending import batch, make_sending, now, this_hour, window
from tests.make import make_node

# Partitions are not rows: only real transactions make and drop them as production does.
pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2031, 3, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def only_partitions_of_the_test() -> Iterator[None]:
    """Start and end without any: other tests ask for what they need."""
    drop_all()
    yield
    drop_all()


def drop_all() -> None:
    with connection.cursor() as cursor:
        for name in {*names("telemetry_window"), *names("telemetry_usagehour")}:
            cursor.execute(f"DROP TABLE {name}")
    partitions.forget()


def names(table: str) -> list[str]:
    """Attached or not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname ~ %s AND relkind = 'r' ORDER BY 1",
            [f"^{table}_[0-9]+$"],
        )
        return [name for (name,) in cursor.fetchall()]


def days() -> list[date]:
    return [date.fromisoformat(name[-8:]) for name in names("telemetry_window")]


def months() -> list[str]:
    return [name[-8:] for name in names("telemetry_usagehour")]


def test_windows_have_their_days_from_14_back_to_3_ahead():
    keep_partitions(at=AT)
    assert days() == [AT.date() + k * DAY for k in range(-14, 4)]


def test_usage_has_its_month_the_last_and_the_next():
    keep_partitions(at=datetime(2031, 1, 31, 23, tzinfo=UTC))
    assert months() == ["20301201", "20310101", "20310201"]


def test_keeping_again_changes_nothing():
    keep_partitions(at=AT)
    before = days()
    partitions.forget()
    keep_partitions(at=AT)
    assert days() == before


def test_a_day_that_is_over_is_dropped_with_its_windows():
    ensure_days([AT.date() - 20 * DAY, AT.date() - 14 * DAY])
    keep_partitions(at=AT)
    assert AT.date() - 20 * DAY not in days()
    assert AT.date() - 14 * DAY in days()


def test_windows_that_wait_for_their_roll_up_are_kept_until_it_is_done():
    waiting = AT - 16 * DAY
    ensure_days([waiting.date(), waiting.date() - DAY])
    with transaction.atomic():
        mark([Mark(Pass.USAGE, make_node(at=waiting), waiting)])
    keep_partitions(at=AT)
    assert days()[0] == waiting.date()
    roll_up_hour(hour=waiting)
    keep_partitions(at=AT)
    assert days()[0] == AT.date() - 14 * DAY


def test_usage_outlives_its_windows_even_where_it_is_asked_for_again():
    sending = make_sending()
    sending.post(batch([window(0)]))
    roll_up_hour(hour=this_hour())
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE telemetry_window_{this_hour():%Y%m%d}")
    with transaction.atomic():
        mark([Mark(Pass.USAGE, sending.node_id, this_hour())])
    assert roll_up_hour(hour=this_hour()) == 1
    assert UsageHour.objects.count() == 1


def test_a_day_that_another_process_dropped_is_made_again_for_a_batch_of_it():
    sending = make_sending()
    sending.post(batch([window(0)]))
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE telemetry_window_{this_hour():%Y%m%d}")
    assert sending.post(batch([window(1)], sequence=2)).json()["accepted"] == 1
    assert TelemetryWindow.objects.count() == 1


def test_a_command_forgets_no_windows_whatever_its_settings_say():
    ensure_days([AT.date() - 40 * DAY])
    ensure_partitions(AT)
    assert days()[0] == AT.date() - 40 * DAY


def test_usage_is_kept_for_25_months():
    ensure_months([date(2029, 1, 31), date(2029, 2, 1)])
    keep_partitions(at=AT)
    assert months()[:2] == ["20290201", "20310201"]


def test_a_partition_that_a_crash_left_detached_is_dropped_too():
    ensure_days([AT.date() - 20 * DAY])
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE telemetry_window DETACH PARTITION telemetry_window_20310228 CONCURRENTLY"
        )
    keep_partitions(at=AT)
    assert AT.date() - 20 * DAY not in days()


def test_a_day_is_dropped_while_somebody_reads_another():
    ensure_days([AT.date(), AT.date() - 20 * DAY])
    reading, done = threading.Event(), threading.Event()

    def read() -> None:
        with transaction.atomic():
            list(TelemetryWindow.objects.filter(starts_at__gte=AT, starts_at__lt=AT + DAY))
            reading.set()
            done.wait(20)
        connections.close_all()

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait(20)
    try:
        threading.Timer(0.5, done.set).start()
        keep_partitions(at=AT)
    finally:
        done.set()
        reader.join(20)
    assert AT.date() - 20 * DAY not in days()


def test_a_table_that_stays_locked_is_left_to_the_next_sweep(monkeypatch):
    monkeypatch.setattr(partitions, "LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(partitions, "TRIES", 2)
    locked, done = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE telemetry_window IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(20)
        connections.close_all()

    holder = threading.Thread(target=lock)
    holder.start()
    locked.wait(20)
    try:
        with pytest.raises(PartitionsBusy):
            ensure_days([AT.date()])
    finally:
        done.set()
        holder.join(20)
    ensure_days([AT.date()])
    assert days() == [AT.date()]


def test_two_that_make_the_same_day_at_once_both_find_it_made():
    together = threading.Barrier(3)

    def make() -> None:
        together.wait(20)
        partitions.forget()
        try:
            ensure_days([AT.date()])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        made = [pool.submit(make) for _ in range(3)]
    assert [each.exception() for each in made] == [None, None, None]
    assert days() == [AT.date()]


def test_a_batch_makes_the_day_it_needs():
    assert make_sending().post(batch([window()])).json()["accepted"] == 1
    assert days() == [this_hour().date()]


def test_batches_are_remembered_for_30_days_and_refusals_for_90():
    sending = make_sending()
    sending.post(batch([window(0, seconds=7, worked_seconds=1)]))
    keep_partitions(at=now() + timedelta(days=29))
    assert (Batch.objects.count(), WindowRejection.objects.count()) == (1, 1)
    keep_partitions(at=now() + timedelta(days=31))
    assert (Batch.objects.count(), WindowRejection.objects.count()) == (0, 1)
    keep_partitions(at=now() + timedelta(days=91))
    assert WindowRejection.objects.count() == 0
