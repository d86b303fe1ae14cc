"""Marks: every change leaves one, newer than any before, and none is lost."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction

from apps.marks import actions as marks
from apps.marks.actions import Mark
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass, hours_marked, marks_of_hour, pending_hours
from tests.make import NOON

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def lay(*units: int, pass_: Pass = Pass.SPLIT, hour: datetime = NOON) -> None:
    marks.mark(Mark(pass_, unit, hour) for unit in units)


def test_a_mark_laid_again_gets_a_newer_revision() -> None:
    lay(7)
    before = marks_of_hour(Pass.SPLIT, NOON)
    lay(7)
    after = marks_of_hour(Pass.SPLIT, NOON)
    assert [each.unit for each in after] == [7]
    assert after[0].revision > before[0].revision


def test_the_same_mark_twice_in_one_call_is_one_mark() -> None:
    lay(7, 7)
    assert len(marks_of_hour(Pass.SPLIT, NOON)) == 1


def test_marks_are_read_by_pass_and_hour_in_order_of_unit() -> None:
    lay(9, 3)
    lay(4, pass_=Pass.USAGE)
    lay(5, hour=NOON + HOUR)
    assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [3, 9]


def test_hours_that_wait_come_oldest_first_and_not_from_the_future() -> None:
    for hour in (NOON, NOON - HOUR, NOON + HOUR):
        lay(1, 2, hour=hour)
    assert hours_marked(Pass.SPLIT, NOON + HOUR, 10) == [NOON - HOUR, NOON]
    assert hours_marked(Pass.SPLIT, NOON + HOUR, 1) == [NOON - HOUR]


def test_clear_lifts_only_marks_at_the_revision_that_was_read() -> None:
    lay(1, 2)
    read = marks_of_hour(Pass.SPLIT, NOON)
    lay(2)
    assert marks.clear(Pass.SPLIT, {NOON: read}) == 1
    assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [2]


def test_clear_touches_no_other_pass_or_hour() -> None:
    lay(1)
    lay(1, pass_=Pass.USAGE)
    lay(1, hour=NOON + HOUR)
    marks.clear(Pass.SPLIT, {NOON: marks_of_hour(Pass.SPLIT, NOON)})
    assert marks_of_hour(Pass.SPLIT, NOON) == []
    assert len(marks_of_hour(Pass.USAGE, NOON)) == 1
    assert len(marks_of_hour(Pass.SPLIT, NOON + HOUR)) == 1


def test_a_span_marks_every_hour_it_touches() -> None:
    starts_at = NOON + timedelta(minutes=59, seconds=59)
    marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=starts_at, ends_at=NOON + 2 * HOUR)
    assert hours_marked(Pass.SPLIT, NOON + 9 * HOUR, 10) == [NOON, NOON + HOUR]


@pytest.mark.parametrize("length", [timedelta(0), -HOUR])
def test_a_span_that_takes_no_time_marks_nothing(length: timedelta) -> None:
    marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + length)
    assert pending_hours(NOON + HOUR) == 0


def test_a_span_of_a_day_is_marks_and_a_longer_one_is_a_range() -> None:
    marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + 24 * HOUR)
    assert ChangedHour.objects.count() == 24
    assert ChangedRange.objects.count() == 0
    longer = NOON + 24 * HOUR + timedelta(milliseconds=1)
    marks.mark_span(pass_=Pass.CHARGE, units=[0], starts_at=NOON, ends_at=longer)
    assert ChangedRange.objects.count() == 1


def test_a_range_becomes_the_marks_its_span_touches() -> None:
    starts_at = NOON + timedelta(minutes=30)
    ends_at = NOON + 30 * HOUR + timedelta(minutes=1)
    marks.mark_span(pass_=Pass.SPLIT, units=[1, 2], starts_at=starts_at, ends_at=ends_at)
    assert marks.expand_ranges() == 2
    assert ChangedRange.objects.count() == 0
    hours = hours_marked(Pass.SPLIT, ends_at, 100)
    assert hours == [NOON + k * HOUR for k in range(31)]
    assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [1, 2]


def test_a_range_renews_a_mark_that_was_read_before_it_became_marks() -> None:
    lay(1)
    read = marks_of_hour(Pass.SPLIT, NOON)
    marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + 30 * HOUR)
    marks.expand_ranges()
    assert marks.clear(Pass.SPLIT, {NOON: read}) == 0


def test_two_ranges_over_one_hour_are_one_mark() -> None:
    for _ in range(2):
        marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + 30 * HOUR)
    marks.expand_ranges()
    assert len(marks_of_hour(Pass.SPLIT, NOON)) == 1


def test_pending_hours_counts_marks_and_ranges_once_but_no_days() -> None:
    lay(1, 2)
    lay(1, pass_=Pass.USAGE)
    lay(1, pass_=Pass.ROLLUP, hour=NOON + 50 * HOUR)
    lay(1, pass_=Pass.DIVIDE, hour=NOON + 60 * HOUR)
    marks.mark_span(pass_=Pass.CHARGE, units=[0], starts_at=NOON, ends_at=NOON + 30 * HOUR)
    assert pending_hours(NOON + 99 * HOUR) == 30
    assert pending_hours(NOON + 10 * HOUR) == 10
    assert pending_hours(NOON + 10 * HOUR, starts_at=NOON + 4 * HOUR) == 6


def test_spans_of_many_units_are_marked_at_once() -> None:
    short, long = (1, NOON, NOON + HOUR), (2, NOON, NOON + 30 * HOUR)
    nothing = (3, NOON, NOON)
    marks.mark_spans(pass_=Pass.SPLIT, spans=[short, long, nothing])
    assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [1]
    marks.expand_ranges()
    assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [1, 2]


@pytest.mark.parametrize("pass_", [Pass.ROLLUP, Pass.DIVIDE])
def test_what_is_done_by_the_day_is_not_marked_by_the_hour(pass_: Pass) -> None:
    with pytest.raises(ValueError, match="local day"):
        marks.mark_span(pass_=pass_, units=[1], starts_at=NOON, ends_at=NOON + HOUR)


@pytest.mark.django_db(transaction=True)
class TestTwoConnections:
    """What one transaction does while another is at it."""

    @pytest.fixture
    def other(self):
        """A second connection to the same database."""
        second = connections.create_connection("default")
        yield second
        second.close()

    def test_a_mark_outside_a_transaction_is_refused(self) -> None:
        with pytest.raises(transaction.TransactionManagementError):
            lay(1)

    def test_a_fact_committed_between_read_and_clear_keeps_its_mark(self, other) -> None:
        with transaction.atomic():
            lay(1, 2)
        with transaction.atomic():
            read = marks_of_hour(Pass.SPLIT, NOON)
            with other.cursor() as cursor:
                cursor.execute(
                    "UPDATE fleet_changedhour SET revision = nextval('fleet_revision') WHERE unit = 2"
                )
            assert marks.clear(Pass.SPLIT, {NOON: read}) == 1
        assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON)] == [2]

    def test_a_mark_laid_after_the_clear_but_before_its_commit_stays(self, other) -> None:
        with transaction.atomic():
            lay(1)
        with transaction.atomic():
            marks.clear(Pass.SPLIT, {NOON: marks_of_hour(Pass.SPLIT, NOON)})
            with other.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM fleet_changedhour")
                assert cursor.fetchone() == (1,)
        with transaction.atomic():
            lay(1)
        assert len(marks_of_hour(Pass.SPLIT, NOON)) == 1

    def test_a_range_and_its_marks_change_places_in_one_transaction(self, other) -> None:
        with transaction.atomic():
            marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + 30 * HOUR)
        with transaction.atomic():
            marks.expand_ranges()
            with other.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM fleet_changedrange")
                assert cursor.fetchone() == (1,)
                cursor.execute("SELECT count(*) FROM fleet_changedhour")
                assert cursor.fetchone() == (0,)
            transaction.set_rollback(True)
        assert ChangedRange.objects.count() == 1
        assert ChangedHour.objects.count() == 0

    def test_a_range_being_expanded_is_left_to_the_one_that_began(self, other) -> None:
        with transaction.atomic():
            marks.mark_span(pass_=Pass.SPLIT, units=[1], starts_at=NOON, ends_at=NOON + 30 * HOUR)
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM fleet_changedrange FOR UPDATE")
        assert marks.expand_ranges() == 0
        other.rollback()
        assert marks.expand_ranges() == 1

    def test_changes_and_settlers_at_once_do_not_wait_for_each_other(self) -> None:
        units = list(range(1, 40))
        troubles: list[OperationalError] = []
        start = threading.Barrier(4)

        def work(turn: Callable[[], None]) -> None:
            try:
                start.wait()
                for _ in range(25):
                    with transaction.atomic():
                        turn()
            except OperationalError as trouble:
                troubles.append(trouble)
            finally:
                connection.close()

        def settle() -> None:
            marks.clear(Pass.SPLIT, {NOON: marks_of_hour(Pass.SPLIT, NOON)})
            marks.mark([Mark(Pass.ROLLUP, 1, NOON), Mark(Pass.SPREAD, 0, NOON)])

        def change() -> None:
            lay(0, pass_=Pass.CHARGE)
            marks.mark_span(
                pass_=Pass.SPLIT, units=units[::-1], starts_at=NOON, ends_at=NOON + 3 * HOUR
            )

        threads = [
            threading.Thread(target=work, args=[turn]) for turn in (settle, settle, change, change)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert troubles == []
        assert [each.unit for each in marks_of_hour(Pass.SPLIT, NOON + HOUR)] == units

    def test_an_hour_is_done_by_one_at_a_time(self, other) -> None:
        key = marks.hour_key(NOON)
        with transaction.atomic():
            assert marks.try_lock(Pass.SPLIT, key)
            with other.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [int(Pass.SPLIT), key])
                assert cursor.fetchone() == (False,)
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [int(Pass.CHARGE), key])
                assert cursor.fetchone() == (True,)
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [int(Pass.SPLIT), key])
            assert cursor.fetchone() == (True,)
        assert not connection.in_atomic_block
