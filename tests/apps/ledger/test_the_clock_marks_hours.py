"""Hours are found by the clock as they begin, while they are provisional, and when they rest."""

from datetime import datetime, timedelta

import pytest

from apps.ledger import actions, tasks
from apps.ledger.models import Charge, Settlement, Status
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
TEN = scene.TEN


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def marked() -> list[datetime]:
    """Hours the charge pass is to do; each is asked for once."""
    found = ChangedHour.objects.filter(pass_id=Pass.CHARGE).order_by("hour")
    hours = list(found.values_list("hour", flat=True))
    found.delete()
    return hours


def hours(first: int, last: int) -> list[datetime]:
    return [TEN + timedelta(hours=k) for k in range(first, last + 1)]


def test_an_hour_is_marked_as_it_begins_and_again_every_ten_minutes() -> None:
    actions.mark_by_clock(at=TEN + MINUTE)
    assert marked() == hours(0, 0)

    actions.mark_by_clock(at=TEN + 5 * MINUTE)
    assert marked() == []

    actions.mark_by_clock(at=TEN + 11 * MINUTE)
    assert marked() == hours(-2, 0)


def test_an_hour_is_marked_once_more_two_hours_after_its_end() -> None:
    actions.mark_by_clock(at=TEN + MINUTE)
    marked()

    actions.mark_by_clock(at=TEN + timedelta(hours=3) + MINUTE)
    assert hours(0, 3)[0] in marked()

    actions.mark_by_clock(at=TEN + timedelta(hours=3, minutes=5))
    assert marked() == []


def test_after_an_outage_no_hour_is_left_out() -> None:
    actions.mark_by_clock(at=TEN + MINUTE)
    marked()

    actions.mark_by_clock(at=TEN + timedelta(hours=9, minutes=30))

    assert marked() == hours(-2, 9)


def test_the_first_sweep_begins_with_the_organisation_and_walks_through_no_history() -> None:
    """The organisation is put on record at noon; what lived before has marked its own hours."""
    scene.make_priced_node(started_at=TEN - timedelta(days=3650), at=TEN + MINUTE)
    ChangedRange.objects.all().delete()

    actions.mark_by_clock(at=TEN + timedelta(hours=4, minutes=30))

    assert marked() == hours(2, 4)


def test_a_node_is_charged_hour_by_hour_without_anybody_telling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene.make_priced_node(at=TEN + MINUTE)
    for minutes in range(1, 60 * 4, 20):
        sweep(monkeypatch, TEN + minutes * MINUTE)

    statuses = dict(Charge.objects.values_list("hour", "status"))
    assert statuses == {
        TEN: Status.ESTIMATED,
        TEN + timedelta(hours=1): Status.PROVISIONAL,
        TEN + timedelta(hours=2): Status.PROVISIONAL,
        TEN + timedelta(hours=3): Status.PROVISIONAL,
    }
    assert Charge.objects.get(hour=TEN).effective_micros == 98_320_000


def test_late_data_settles_an_hour_again_at_most_once_in_ten_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node_id = scene.make_priced_node(at=TEN + MINUTE)
    uuids = scene.make_gpus(node_id)
    noon = TEN + timedelta(hours=5)
    sweep(monkeypatch, noon)

    scene.make_usage(scene.device_ids(uuids)[0], [100] * 60)
    sweep(monkeypatch, noon + 5 * MINUTE)
    assert Settlement.objects.filter(hour=TEN).count() == 1

    sweep(monkeypatch, noon + 11 * MINUTE)
    assert Settlement.objects.filter(hour=TEN).count() == 2


def test_a_node_never_settled_does_not_wait_for_its_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene.make_priced_node(at=TEN + MINUTE)
    noon = TEN + timedelta(hours=5)
    sweep(monkeypatch, noon)

    node_id = scene.make_priced_node("gpu-02", at=noon)
    actions.charge_hour(hour=TEN, at=noon)
    sweep(monkeypatch, noon + MINUTE)

    assert Settlement.objects.filter(node_id=node_id, hour=TEN).exists()


def sweep(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    """The sweeps that mark and settle, at a moment."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: at)
    tasks.mark_hours_by_clock()
    tasks.settle_marked_hours()
