"""Hours in which nothing lived and nothing is owed are not walked through, and no others are left out."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from apps.fleet import actions as fleet
from apps.ledger.actions.charge import lift_empty_hours
from apps.ledger.models import Charge
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from controlplane.settling import settle_window
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

TEN, HOUR = scene.TEN, scene.HOUR
JANUARY = datetime(2026, 1, 1, tzinfo=UTC)
AT = TEN + timedelta(days=30)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def mark_all() -> None:
    with transaction.atomic():
        mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=JANUARY, ends_at=AT)


def settled() -> set[datetime]:
    """The hours that any pass did, of all that were marked."""
    mark_all()
    done = settle_window(starts_at=JANUARY, ends_at=AT, at=AT)
    assert not ChangedHour.objects.filter(pass_id=Pass.CHARGE).exists()
    return done.hours


def charged() -> set[datetime]:
    return set(Charge.objects.values_list("hour", flat=True))


def make_ended_node(hours: int) -> int:
    node_id = scene.make_priced_node()
    fleet.end_node(node_id=node_id, ended_at=TEN + hours * HOUR, reason="sold", at=scene.LATER)
    return node_id


def test_of_a_node_that_ended_only_the_hours_it_lived_are_done() -> None:
    make_ended_node(3)
    assert settled() == charged() == {TEN + k * HOUR for k in range(3)}


def test_what_is_owed_without_a_node_is_charged_all_the_same() -> None:
    make_ended_node(1)
    scene.make_commitment(period=(TEN + 20 * HOUR, TEN + 22 * HOUR))
    scene.make_shared_cost("support", starts_at=AT - 4 * HOUR)
    owed = {TEN, *(TEN + k * HOUR for k in (20, 21)), *(AT - k * HOUR for k in range(1, 5))}
    assert settled() == charged() == owed


def test_a_charge_of_an_hour_that_turns_out_unlived_is_taken_away() -> None:
    node_id = scene.make_priced_node()
    settle_window(starts_at=TEN, ends_at=TEN + 9 * HOUR, at=AT)
    fleet.end_node(node_id=node_id, ended_at=TEN + 2 * HOUR, reason="sold", at=AT)
    assert TEN + 8 * HOUR in settled()
    assert charged() == {TEN, TEN + HOUR}


def test_a_mark_that_is_laid_while_they_are_looked_at_stays(monkeypatch) -> None:
    make_ended_node(1)
    mark_all()
    settle_window(starts_at=TEN, ends_at=TEN + HOUR, at=AT)
    mark_all()
    late = TEN + 100 * HOUR

    from apps.ledger.actions.charge import empty_hours

    def lay_another() -> list[object]:
        mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=late, ends_at=late + HOUR)
        return []

    from apps.marks.actions import expand_ranges

    expand_ranges()
    monkeypatch.setattr(empty_hours, "owed_spans", lay_another)
    lift_empty_hours(before=AT)

    left = ChangedHour.objects.filter(pass_id=Pass.CHARGE)
    assert set(left.values_list("hour", flat=True)) == {TEN, late}
