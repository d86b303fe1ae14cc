"""The audit finds a micro-unit or a millisecond that a run has too much or too little."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from apps.unit_economics.models import RunDay
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db

CHECK = "runs have no more than their jobs' lines"


def settle_run(minutes: int) -> None:
    """A run on the first so many minutes of a job of one hour."""
    make.make_organisation()
    make.make_cluster()
    job_id = scene.make_job("1", scene.make_priced_node())
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + timedelta(minutes=minutes)))
    scene.settle(ends_at=scene.TEN + scene.HOUR)


def places(until_hours: int = 1) -> list[tuple[str | None, int]]:
    """What does not add up of runs, and by how much."""
    found = audit_here(scene.TEN, scene.TEN + until_hours * scene.HOUR).places
    return [(place.basis, place.difference) for place in found if place.check == CHECK]


def move(**more: Any) -> None:
    """Add to the run's row."""
    RunDay.objects.update(**{name: F(name) + by for name, by in more.items()})


def test_what_runs_have_adds_up() -> None:
    settle_run(60)

    assert places() == []


@pytest.mark.parametrize("by", [1, -1])
def test_where_runs_fill_a_job_one_micro_unit_is_found(by: int) -> None:
    settle_run(60)
    move(effective_micros=by)

    assert places() == [("effective", by)]


def test_more_than_the_job_had_is_found_wherever_it_was_carried() -> None:
    settle_run(30)
    assert places() == []

    move(unit_milliseconds=4 * 3_600_000)
    assert places() == []
    move(unit_milliseconds=1)
    assert places() == [("milliseconds", 1)]


def test_a_day_that_waits_is_not_called_wrong() -> None:
    settle_run(60)
    move(effective_micros=1)
    run_scene.mark_day(scene.TEN)

    assert places() == []
