"""Services that use little of their GPUs go to smaller ones or to slices; where that is not known, nothing is proposed."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.economics.moves.saving import SavingRange
from apps.ledger.models import Line
from apps.placement.actions import detect_moves, make_offer_book
from apps.placement.queries.fleet_moves import latest_move_detection_run, open_fleet_moves
from apps.placement.queries.moves.gpu_needs import observed_needs
from apps.placement.queries.moves.work import fleet_work
from tests import make
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, MONDAY, SINCE

pytestmark = pytest.mark.django_db
WEEK = AT.date()
SPENT = 6_880_000 * 730
"""Micro-units of a month of one GPU."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    make.make_rate("55.04", starts_at=SINCE)


def offer_l40s(amount: str = "1.50") -> None:
    """A machine with one L40S, 48 GiB and 0.37 times as fast as an H100."""
    make.make_rate(amount, instance_type="g6e.xlarge", starts_at=SINCE)
    make_offer_book(at=AT)


def reasons() -> dict[str, int]:
    look = latest_move_detection_run()
    assert look is not None
    (of_kind,) = [each for each in look.kinds if each["kind"] == "to_smaller"]
    return {reason["why"]: reason["count"] for reason in of_kind["reasons"]}


def test_a_service_goes_to_a_smaller_model_at_its_price() -> None:
    workload_id, pool_id, devices = move_scene.make_service()
    move_scene.plant_windows(devices, 20.0, 0.2)
    offer_l40s()
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    assert (move.kind, move.workload_id, move.pool_id) == ("to_smaller", workload_id, pool_id)
    assert move.target.startswith("NVIDIA L40S, on demand, aws:us-east-1")
    # A slice 3g.40gb would do as well, and saves less.
    assert move.saving.likely == pytest.approx((6.88 - 1.50) * 730 * 1e6, rel=1e-6)
    assert move.saving.high <= move.spend_micros == pytest.approx(SPENT)
    assert move.disruption == "medium"
    (seen,) = [each.words for each in move.evidence if each.kind == "windows"]
    assert "20.0 GiB" in seen
    assert "20% of an hour" in seen
    assert "100% of the time" in seen
    # Teams see what moves their work, and no prices.
    (theirs,) = open_fleet_moves(AT, frozenset([move.team_id or 0]))
    assert {each.kind for each in theirs.evidence} == {"pool", "windows"}


def test_what_a_slice_leaves_free_saves_from_nothing_to_all_of_it() -> None:
    _, _, devices = move_scene.make_service()
    move_scene.plant_windows(devices, 20.0, 0.2)
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    assert "a slice 3g.40gb of its GPU" in move.target
    # It takes four of eight slices of memory.
    assert move.saving == SavingRange(0, SPENT // 4, SPENT // 2)
    assert any("only what other work takes of it" in doubt for doubt in move.doubts)


def test_a_whole_machine_that_names_no_gpus_is_seen_and_gets_no_slice() -> None:
    _, _, devices = move_scene.make_service(8, is_pinned=False)
    move_scene.plant_windows(devices[1:], 4.0, 0.1)
    move_scene.plant_windows(devices[:1], 30.0, 0.1)
    detect_moves(week=WEEK, at=AT)
    assert reasons() == {"nothing smaller that can be had there has what it needs": 1}
    work = fleet_work(WEEK)
    (seen,) = observed_needs(work.span, work.cells).values()
    assert not isinstance(seen, str)
    # The most on any one of its GPUs.
    assert (seen.need.memory_bytes, seen.gpus, seen.coverage) == (30 << 30, 8, 1.0)


NOT_THERE = "nothing smaller that can be had there has what it needs"


@pytest.mark.parametrize(
    ("service", "windows", "why"),
    [
        ({}, None, "how much memory it used is not known: no agent reported it of its GPUs"),
        ({}, {"gib": None}, "how much memory it used is not known: no agent reported it of its GPUs"),
        ({}, {"gib": 20.0, "part": 0.45}, "its memory was seen in less than 50% of the GPU time that it held"),
        ({}, {"gib": 67.0}, NOT_THERE),
        ({}, {"gib": 20.0, "worked": 0.9}, NOT_THERE),
        ({"share": 4}, {"gib": 20.0}, "it holds parts of GPUs already"),
        ({"kind": "training"}, {"gib": 20.0}, "neither a service nor a notebook"),
    ],
)  # fmt: skip
def test_where_it_does_not_fit_or_that_is_not_known_nothing_is_proposed(
    service: dict[str, Any], windows: dict[str, Any] | None, why: str
) -> None:
    _, _, devices = move_scene.make_service(**service)
    if windows is not None:
        move_scene.plant_windows(devices, **windows)
    offer_l40s()
    detect_moves(week=WEEK, at=AT)
    assert [move for move in open_fleet_moves(AT) if move.kind == "to_smaller"] == []
    assert reasons() == {why: 1}


def test_work_of_no_job_is_not_guessed_at() -> None:
    workload_id, _, devices = move_scene.make_service()
    move_scene.plant_windows(devices, 20.0)
    Line.objects.filter(workload_id=workload_id).update(job_id=None)
    offer_l40s()
    detect_moves(week=WEEK, at=AT)
    assert reasons() == {"which GPUs it held is not known": 1}


def test_a_dearer_smaller_gpu_is_none() -> None:
    _, _, devices = move_scene.make_service()
    # No slice works fast enough: only the other model is left.
    move_scene.plant_windows(devices, 41.0 / 1.2, 0.25)
    offer_l40s("7.00")
    detect_moves(week=WEEK, at=AT)
    assert reasons() == {"it saves nothing": 1}


def test_the_same_dollars_are_counted_once_beside_another_place() -> None:
    _, _, devices = move_scene.make_service()
    move_scene.plant_windows(devices, 20.0, 0.2)
    work = fleet_work(WEEK)
    offer_l40s()
    detect_moves(week=WEEK, at=AT)
    (move,) = open_fleet_moves(AT)
    look = latest_move_detection_run()
    assert look is not None
    assert work.span.window.ends_at == MONDAY
    assert look.counted_micros == move.saving.likely <= look.addressable_micros


def test_needs_of_all_candidates_are_looked_up_in_two_statements() -> None:
    _, _, devices = move_scene.make_service(8)
    move_scene.plant_windows(devices, 20.0)
    work = fleet_work(WEEK)
    with CaptureQueriesContext(connection) as asked:
        observed_needs(work.span, list(work.cells) * 50)
    # Those of the ledger's own cursor are not recorded by Django.
    assert len(asked) <= 2
