"""What is recommended of how work uses its GPUs: waits for data, checkpoints, and what nobody uses."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.economics.checkpoints import best_cadence, cadence_excess
from apps.economics.hours import HOUR_MS
from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.ledger.models import LedgerDay, Line
from apps.review.queries.recommending.checkpoint_cadence import detect_cadences
from apps.review.queries.recommending.idle_holders import detect_idle_holders
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.review.queries.recommending.starved_runs import detect_starved_runs
from apps.review.queries.recommending.unused_work import detect_unused_work
from apps.unit_economics.models import ServiceTotal
from tests import make
from tests.apps.placement import move_scene
from tests.apps.placement.move_scene import AT, BEGUN, MONDAY
from tests.apps.review import recommended
from tests.apps.unit_economics.planted_runs import (
    plant_attempt,
    plant_day,
    plant_hour,
    plant_job,
    plant_run,
    plant_save,
)

pytestmark = pytest.mark.django_db
MONTH_OF_WEEK = 730 / 168
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
PRICE = 6_880_000


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert found.looked_at == 1 + found.passed_over.total()
    assert max(proposal.saving.low, proposal.saving.high) <= proposal.spend_micros
    return proposal


def days(count: int = 14) -> list[date]:
    return [(BEGUN + place * DAY).date() for place in range(count)]


def plant_waits(workload_id: int, waited: float, of: float = 100.0, count: int = 14) -> None:
    """A run that reports so many GPU-hours a day, of which so many waited for data."""
    run_id = plant_run(f"run of {workload_id}", workload_id)
    for day in days(count):
        plant_day(run_id, {Bucket.DATA_WAIT: waited, Bucket.PRODUCTIVE: of - waited}, day=day)


def test_runs_that_wait_for_data_week_by_week_are_to_be_fed() -> None:
    workload_id, pool_id = move_scene.make_work()
    plant_waits(workload_id, 30.0)
    fine, _ = move_scene.make_work("fine")
    plant_waits(fine, 5.0)
    move_scene.make_work("silent")
    move_scene.make_work("chat", kind="serving")
    found = detect_starved_runs(AT)
    proposal = only(found)
    # 30 of 100 GPU-hours a day, 28 beyond what is left to anybody; half, three quarters, all of that.
    wasted = 28 * 7 * PRICE * MONTH_OF_WEEK
    saving = proposal.saving
    assert [saving.low, saving.likely, saving.high] == pytest.approx(
        [wasted / 2, wasted * 0.75, wasted], rel=1e-6
    )
    assert (proposal.workload_id, proposal.pool_id) == (workload_id, pool_id)
    assert proposal.cells == frozenset([f"{workload_id}:{pool_id}"])
    assert proposal.why.startswith("30% of the GPU time that its runs reported")
    assert proposal.baseline["waited_gpu_hours_week"] == pytest.approx(210)
    assert found.passed_over == {
        "its runs do not wait for a tenth of their time again and again": 1,
        "no run of it reports where its time goes": 1,
    }


def test_one_week_of_waiting_is_no_habit_and_paid_gpus_are_freed() -> None:
    workload_id, _ = move_scene.make_work()
    plant_waits(workload_id, 30.0, count=7)
    assert detect_starved_runs(AT).proposals == []
    committed, _ = move_scene.make_work("committed", is_committed=True, region="us-west-2")
    plant_waits(committed, 30.0)
    proposal = only(detect_starved_runs(AT))
    assert (proposal.saving.high, proposal.spend_micros) == (0, 0)
    assert proposal.frees_gpu_hours == pytest.approx(0.75 * 28 * 7 * MONTH_OF_WEEK)


def plant_training(workload_id: int, *, saves: int, failed: int, gpus: int = 8) -> None:
    """A run of 100 hours that saved so often, each a minute, in starts of which so many ended badly."""
    began_at = MONDAY - 101 * HOUR
    run_id = plant_run(
        f"run of {workload_id}", workload_id, gpus=gpus, began_at=began_at,
        ended_at=began_at + 100 * HOUR, attempts=failed + 1,
    )  # fmt: skip
    part = 100 * HOUR / (failed + 1)
    for place in range(failed + 1):
        attempt = plant_attempt(
            run_id,
            job_id=plant_job(f"{workload_id} {place}", began_at + place * part),
            began_at=began_at + place * part,
            ended_at=began_at + (place + 1) * part,
            status="interrupted" if place < failed else "finished",
        )
    for count in range(100):
        plant_hour(run_id, 1, {Bucket.PRODUCTIVE: 60}, began_at + count * HOUR)
    for count in range(saves):
        plant_save(attempt, began_at + (count + 1) * timedelta(hours=100 / (saves + 1)), 60)


def test_training_that_saves_too_rarely_for_how_often_it_fails_is_to_save_more_often() -> None:
    workload_id, pool_id = move_scene.make_work()
    plant_training(workload_id, saves=4, failed=9)
    move_scene.make_work("silent")
    found = detect_cadences(AT)
    proposal = only(found)
    assert proposal.baseline["failures"] == 9
    cadence, write, mtbf = 25 * 3600, 60, 100 * 3600 / 9
    assert proposal.baseline["cadence_seconds"] == pytest.approx(cadence)
    assert proposal.baseline["best_seconds"] == pytest.approx(best_cadence(write, mtbf), rel=1e-6)
    part = cadence_excess(cadence, write, mtbf)
    assert proposal.saving.likely == pytest.approx(part * proposal.spend_micros, rel=1e-6)
    assert proposal.saving.low < proposal.saving.likely < proposal.saving.high
    assert "too rarely: every 1 d 1 h of training" in proposal.why
    assert proposal.cells == frozenset([f"{workload_id}:{pool_id}"])
    assert found.passed_over == {"no run of it reported": 1}


@pytest.mark.parametrize(
    ("saves", "failed", "why"),
    [
        (0, 9, "its runs saved no checkpoint"),
        (100, 9, "its cadence is within three times of the best"),
        (4, 0, "nothing failed yet: that it saves too rarely is not known"),
    ],
)
def test_a_cadence_that_is_good_or_not_known_is_passed_over(
    saves: int, failed: int, why: str
) -> None:
    workload_id, _ = move_scene.make_work()
    plant_training(workload_id, saves=saves, failed=failed)
    found = detect_cadences(AT)
    assert (found.proposals, found.passed_over) == ([], {why: 1})


def test_gpus_that_are_paid_anyway_save_nothing_by_another_cadence() -> None:
    workload_id, _ = move_scene.make_work(is_committed=True)
    plant_training(workload_id, saves=4, failed=9)
    (why,) = detect_cadences(AT).passed_over
    assert "paid whether it runs or not" in why


def plant_counted(workload_id: int, **amounts: Any) -> None:
    """Every day of a service as its hours were divided: nobody asked, unless it says otherwise."""
    values: dict[str, Any] = {"idle_micros": 1_000, "requests": 0, "succeeded": 0} | amounts
    ServiceTotal.objects.bulk_create(
        ServiceTotal(
            day=day, posting_month=day.replace(day=1), workload_id=workload_id, measure="effective",
            unit_milliseconds=1, unpriced_milliseconds=0,
            held_milliseconds=1, observed_milliseconds=1, statuses=2, **values,
        )
        for day in days()
    )  # fmt: skip


def test_a_service_that_nobody_asked_for_two_weeks_is_to_be_stopped() -> None:
    dead, pool_id = move_scene.make_work("dead", kind="serving")
    plant_counted(dead)
    asked, _ = move_scene.make_work("asked", kind="serving")
    plant_counted(asked, requests=3, succeeded=3, answered_micros=1_000)
    part, _ = move_scene.make_work("part", kind="serving")
    plant_counted(part, uncounted_micros=1_000)
    move_scene.make_work("uncounted", kind="serving")
    found = detect_unused_work(AT)
    proposal = only(found)
    whole = 8 * PRICE * 730
    assert (proposal.saving.low, proposal.saving.likely) == pytest.approx((whole, whole))
    assert (proposal.key, proposal.title) == (f"{dead}:{pool_id}", "Stop dead on pool of dead")
    assert proposal.why == "It held 2,688 GPU-hours in the last two weeks and answered no request."
    assert found.passed_over == {
        "it answered requests": 1,
        "in a part of two weeks nobody counted its requests": 1,
        "nobody counts its requests": 1,
    }


def test_a_job_without_any_activity_for_two_weeks_is_to_be_stopped_where_that_was_seen() -> None:
    dead, _ = move_scene.make_work("dead", kind="notebook")
    unseen, _ = move_scene.make_work("unseen", kind="notebook")
    move_scene.make_work("busy", kind="notebook")
    idle = LedgerDay.objects.filter(workload_id__in=(dead, unseen))
    idle.update(state=int(State.HELD_IDLE))
    idle.filter(workload_id=unseen).update(state=int(State.UNOBSERVED))
    found = detect_unused_work(AT)
    assert only(found).workload_id == dead
    assert found.passed_over == {
        "its GPUs were active": 1,
        "what its GPUs did was not seen for nine tenths of the time": 1,
    }


def test_nothing_is_looked_at_before_the_ledger_has_weeks() -> None:
    for detect in (detect_starved_runs, detect_cadences, detect_unused_work):
        assert detect(AT).not_looked


def leave_idle(workload_id: int) -> None:
    """It held its GPUs for two weeks, and was idle of each day from noon on; so say days and hours."""
    LedgerDay.objects.filter(workload_id=workload_id).update(
        unit_milliseconds=8 * 12 * HOUR_MS, held_milliseconds=8 * 12 * HOUR_MS
    )
    for row in LedgerDay.objects.filter(workload_id=workload_id):
        half = {
            name: getattr(row, name) // 2
            for name in ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
        }
        LedgerDay.objects.filter(pk=row.pk).update(**half)
        row.pk = None
        row.state = int(State.HELD_IDLE)
        for name, amount in half.items():
            setattr(row, name, amount)
        row.save()
    Line.objects.filter(workload_id=workload_id, hour__hour__gte=12).update(
        state=int(State.HELD_IDLE)
    )


@pytest.mark.parametrize("option", ["on_demand", "spot"])
def test_gpus_held_idle_for_hours_save_what_an_idle_timeout_gives_back_on_demand_and_on_spot(
    option: str,
) -> None:
    """Of twelve idle hours the first is the timeout's; what is paid by the hour goes away, spot too."""
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook", purchase_option=option)
    leave_idle(workload_id)
    proposal = only(detect_idle_holders(AT))
    saved = 8 * 11 * 7 * PRICE * MONTH_OF_WEEK
    ends = [proposal.saving.low, proposal.saving.likely, proposal.saving.high]
    assert ends == pytest.approx([saved] * 3, rel=1e-6)
    assert proposal.range_basis == "measured"
    looked, went_on, few = proposal.doubts
    assert looked.endswith("in the least idle of them 50% of what it held was idle")
    assert "it went on 13 times" in went_on, "each of 13 mornings after a night"
    assert few == "only two weeks are known"


@pytest.mark.parametrize("option", ["owned", "reserved"])
def test_owned_and_reserved_gpus_are_paid_anyway(option: str) -> None:
    workload_id, _ = move_scene.make_work("jupyter", kind="notebook", purchase_option=option)
    leave_idle(workload_id)
    proposal = only(detect_idle_holders(AT))
    assert (proposal.saving.high, proposal.spend_micros) == (0, 0)
    assert proposal.frees_gpu_hours == pytest.approx(8 * 11 * 7 * MONTH_OF_WEEK)


def test_what_a_commitment_covers_is_worth_what_it_would_cover_instead() -> None:
    """Idle GPUs of a commitment, beside the same ones on demand: given back, it covers those, which are paid no more."""
    idle, _ = move_scene.make_work("jupyter", kind="notebook", is_committed=True, hourly=24_000_000)
    _, beside = move_scene.make_work("llm")
    leave_idle(idle)
    proposal = only(detect_idle_holders(AT))
    assert proposal.saving.likely == pytest.approx(8 * 11 * 7 * PRICE * MONTH_OF_WEEK, rel=1e-6)
    assert f"pool:{beside}" in proposal.cells, "those dollars are another's to save too"


def test_a_commitment_covers_no_spot_and_no_other_machine_instead() -> None:
    idle, _ = move_scene.make_work("jupyter", kind="notebook", is_committed=True)
    move_scene.make_work("cheap", purchase_option="spot")
    move_scene.make_work("far", region="us-west-2")
    leave_idle(idle)
    assert only(detect_idle_holders(AT)).saving.high == 0


def test_nothing_is_proposed_of_which_nobody_looked_for_what_speaks_against_it() -> None:
    with pytest.raises(ValueError, match="looked for"):
        DetectedKind("zombie", "services").propose(recommended.proposal(doubts=()))
