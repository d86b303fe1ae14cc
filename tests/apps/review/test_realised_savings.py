"""What was done is measured in the ledger week by week, and judged by it alone: verified, failed or unknown."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from math import exp
from random import Random
from typing import Any

import pytest

from apps.economics.realised_saving import SavingStatus, UnknownSaving
from apps.economics.refusal import Refusal
from apps.economics.states import State
from apps.ledger.models import LedgerDay, LedgerTeamDay
from apps.review import actions
from apps.review.models import (
    Recommendation,
    RecommendationState,
    RecommendationVerb,
    SavingMeasurement,
)
from apps.review.queries.measurements import (
    SavingMeasurementFact,
    measurement_digest,
    measurements_of,
)
from apps.review.queries.recommendations import proven_savings
from apps.review.queries.weekly.inconclusive import inconclusive_savings
from apps.review.queries.weekly.paper_tables import proven_sum
from apps.review.queries.weekly.sections import recommendations_week
from apps.review.queries.weekly.weeks import last_week
from tests.apps.review import saving_scene as scene
from tests.apps.review.saving_scene import DAY, DONE_AT, JUDGED_AT, SINCE, Planted, PlantedDay
from tests.apps.unit_economics.service_scene import make_service

pytestmark = pytest.mark.django_db
MONTH = 730 / 24


@pytest.fixture
def subject() -> Planted:
    return scene.make_subject()


def noisy_day(day: date, effect: float) -> PlantedDay:
    """A service whose requests and machines follow the week, with noise and growth; GPU-hours cost `effect` less since."""
    chance = Random(day.toordinal())  # noqa: S311 - a simulation
    place = (day - scene.FIRST).days
    weekday = (1.0, 1.02, 1.05, 1.03, 1.0, 0.7, 0.6)[day.weekday()]
    requests = 50_000 * weekday * exp(0.001 * place + chance.gauss(0, 0.05))
    hours = requests / 500 * exp(chance.gauss(0, 0.02))
    return PlantedDay(hours, 2.0 * (1 - effect if day >= SINCE else 1), round(requests))


def state_of(recommendation_id: int) -> str:
    return Recommendation.objects.get(pk=recommendation_id).state


def spent_before(promised: float) -> int:
    """Dollars a month that such a share of the spend before comes to."""
    return round(promised * 200 * MONTH)


@pytest.mark.parametrize(
    "plant",
    [scene.plant_sums, pytest.param(scene.plant_lines, marks=pytest.mark.proof)],
    ids=["of sums", "through the passes"],
)
def test_a_known_effect_is_measured_within_five_per_cent_and_verified_when_the_weeks_are_over(
    subject: Planted, plant: Callable[[Planted, Callable[[date], PlantedDay]], None]
) -> None:
    plant(subject, lambda day: noisy_day(day, 0.3))
    known = scene.done_one(subject, "to_spot", spent_before(0.3))
    assert actions.measure_savings_if_due(at=DONE_AT) == 0, "no day has passed"
    for weeks in range(1, 5):
        assert actions.measure_savings_if_due(at=DONE_AT + 7 * weeks * DAY) == 1
        assert state_of(known) == RecommendationState.DONE
    assert actions.measure_savings_if_due(at=DONE_AT + 30 * DAY) == 0, "once a week"
    assert actions.measure_savings_if_due(at=JUDGED_AT) == 1
    assert state_of(known) == RecommendationState.VERIFIED
    last, *earlier = measurements_of(known)
    assert [each.status for each in earlier] == [SavingStatus.TOO_EARLY] * 4
    assert [each.measured is None for each in earlier] == [False, False, False, True]
    assert earlier[-1].why == UnknownSaving.FEW_AFTER
    assert last.status == SavingStatus.VERIFIED
    assert last.measured is not None
    share = last.measured.saving.likely / last.measured.counterfactual_micros
    assert share == pytest.approx(0.3, rel=0.05)
    assert last.measured.saving.low > 0
    assert (last.measured.unit, last.measured.days, last.measured.before_days) == (
        "requests",
        28,
        56,
    )
    assert "56 settled days before 2 March 2026" in last.measured.counterfactual
    assert last.measured.method.startswith("interrupted time series")
    assert [gate["name"] for gate in last.measured.gates] == ["pre_trend", "post_trend", "placebo"]
    assert last.promise.likely == spent_before(0.3) * 1_000_000
    (proven,) = proven_savings(JUDGED_AT, frozenset({subject.team_id}))
    assert (proven.is_verified, proven.measured) == (True, last.measured)
    assert actions.measure_savings_if_due(at=JUDGED_AT + 7 * DAY) == 0, "it is judged"
    for row in SavingMeasurement.objects.all():
        assert measurement_digest(row) == row.digest


def test_a_change_without_effect_has_failed_though_its_requests_grew(subject: Planted) -> None:
    scene.plant_sums(subject, lambda day: noisy_day(day, 0.0))
    known = scene.done_one(subject, "to_spot", spent_before(0.2))
    assert actions.measure_savings_if_due(at=JUDGED_AT) == 1
    assert state_of(known) == RecommendationState.FAILED
    (proven,) = proven_savings(JUDGED_AT)
    assert not proven.is_verified
    assert proven.measured.saving.low < 0 < proven.promised.low


def test_a_rate_that_fell_is_no_saving_of_what_changes_no_rate(subject: Planted) -> None:
    """The rate of the pool falls by 30 % when runs are fed better, and they need as many hours as before."""
    scene.plant_sums(subject, lambda day: noisy_day(day, 0.3))
    known = scene.done_one(subject, "starved_runs", spent_before(0.2))
    actions.measure_savings_if_due(at=JUDGED_AT)
    assert state_of(known) == RecommendationState.FAILED
    (found,) = measurements_of(known)
    assert found.measured is not None
    assert "at today's rates" in found.measured.counterfactual
    assert found.measured.saving.low < 0 < found.measured.saving.high


def busier_day(day: date, effect: float, since: float = 1.0) -> PlantedDay:
    """Days on which every request takes more or less GPU time, of all work alike; `since` times as much from the change on."""
    found = noisy_day(day, 0.0)
    shared = exp(Random(day.toordinal()).gauss(0, 0.2))  # noqa: S311 - a simulation
    kept = since * (1 - effect) if day >= SINCE else 1
    return replace(found, hours=found.hours * shared * kept)


def beside_ranking(subject: Planted, since: float) -> SavingMeasurementFact:
    """What is measured of a change that saved a fifth, beside other work whose requests took `since` times as much then."""
    scene.plant_sums(subject, lambda day: busier_day(day, 0.2))
    other_id = make_service(subject.team_id, name="ranking")
    other = replace(subject, workload_id=other_id)
    scene.plant_sums(other, lambda day: busier_day(day, 0.0, since))
    known = scene.done_one(subject, "starved_runs", spent_before(0.2))
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    return found


def test_what_moves_all_work_alike_is_taken_off_by_a_twin(subject: Planted) -> None:
    """Requests take more GPU time on one day than on another, of all work alike; beside that, the change saved a fifth."""
    found = beside_ranking(subject, 1.0)
    assert found.status == SavingStatus.VERIFIED
    assert found.measured is not None
    assert "beside ranking" in found.measured.counterfactual
    assert "with a control" in found.measured.method
    share = found.measured.saving.likely / found.measured.counterfactual_micros
    assert share == pytest.approx(0.2, abs=0.02)


def test_a_twin_that_moved_at_the_change_is_left_and_said(subject: Planted) -> None:
    found = beside_ranking(subject, 1.6)
    assert found.status == SavingStatus.UNKNOWN
    assert "work that was not touched moved at the change too" in found.why
    assert found.measured is not None
    assert "ranking" not in found.measured.counterfactual


def test_what_cannot_be_told_yet_says_what_it_takes_and_is_looked_at_again(
    subject: Planted,
) -> None:
    def restless(day: date) -> PlantedDay:
        found = noisy_day(day, 0.0)
        noise = exp(Random(-day.toordinal()).gauss(0, 0.25))  # noqa: S311 - a simulation
        return replace(found, hours=found.hours * noise * (0.85 if day >= SINCE else 1))

    scene.plant_sums(subject, restless)
    known = scene.done_one(subject, "starved_runs", spent_before(0.2))
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    assert found.status == SavingStatus.UNKNOWN
    assert "more weeks" in found.why
    assert state_of(known) == RecommendationState.DONE
    assert actions.measure_savings_if_due(at=JUDGED_AT + 7 * DAY) == 1
    listed = {
        days: [each.verified_on for each in inconclusive_savings("UTC", JUDGED_AT + days * DAY)]
        for days in (-1, 0, 20, 21)
    }
    measured_on = [(JUDGED_AT + days * DAY).date().isoformat() for days in (0, 7)]
    # After two weeks without a measurement it is not measured any more.
    assert listed == {-1: [], 0: measured_on[:1], 20: measured_on[1:], 21: []}


def test_a_weekly_review_lists_what_could_not_be_decided_and_what_it_takes(
    subject: Planted,
) -> None:
    def unsure(day: date) -> PlantedDay:
        status = "provisional" if (day - SINCE).days in range(8) else "estimated"
        return PlantedDay(requests=50_000, status=status)

    scene.plant_sums(subject, unsure)
    known = scene.done_one(subject, "to_spot", 1_000)
    actions.measure_savings_if_due(at=JUDGED_AT)
    week = last_week(JUDGED_AT, "UTC")
    (listed,) = recommendations_week(week, "UTC", JUDGED_AT).proven
    assert (listed.recommendation_id, listed.state) == (known, "inconclusive")
    assert listed.saved_micros is None
    assert listed.why == UnknownSaving.FEW_AFTER
    assert listed.promised_high_micros
    assert proven_sum((listed,)) is None
    assert proven_sum((replace(listed, state="verified", saved_micros=5), listed)) == 5


def test_days_that_are_not_settled_are_left_out_and_too_few_are_unknown(subject: Planted) -> None:
    def unsure(day: date) -> PlantedDay:
        status = "provisional" if (day - SINCE).days in range(8) else "estimated"
        return PlantedDay(requests=50_000, status=status)

    scene.plant_sums(subject, unsure)
    known = scene.done_one(subject, "to_spot", 1_000)
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    assert (found.status, found.why) == (SavingStatus.UNKNOWN, UnknownSaving.FEW_AFTER)
    assert found.measured is not None
    assert found.measured.days == 20
    assert state_of(known) == RecommendationState.DONE
    assert proven_savings(JUDGED_AT) == []


def test_idle_gpus_that_were_given_back_are_saved_and_those_left_standing_are_not(
    subject: Planted,
) -> None:
    def given_back(day: date) -> PlantedDay:
        return PlantedDay(hours=5.0 if day >= SINCE else 40.0, state=State.HELD_IDLE)

    scene.plant_sums(subject, given_back)
    saved = scene.done_one(subject, "idle_holder", round(35 * 2 * MONTH))
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(saved)
    assert found.status == SavingStatus.VERIFIED
    assert found.measured is not None
    assert found.measured.saving.likely == pytest.approx(35 * 2 * MONTH * 1e6, rel=1e-6)


def test_gpus_that_stand_unallocated_after_they_were_given_back_saved_nothing(
    subject: Planted,
) -> None:
    def left_standing(day: date) -> PlantedDay:
        is_since = day >= SINCE
        planted = PlantedDay(hours=5.0 if is_since else 40.0, state=State.HELD_IDLE)
        return replace(planted, unallocated=45.0 if is_since else 10.0)

    scene.plant_sums(subject, left_standing)
    known = scene.done_one(subject, "idle_holder", round(35 * 2 * MONTH))
    actions.measure_savings_if_due(at=JUDGED_AT)
    assert state_of(known) == RecommendationState.FAILED


def test_a_commitment_is_measured_against_the_price_on_demand(subject: Planted) -> None:
    def committed(day: date) -> PlantedDay:
        hours = 100.0 + day.weekday()
        return PlantedDay(hours, price=1.5 if day >= SINCE else 2.0, on_demand=2.0)

    scene.plant_sums(subject, committed)
    known = scene.done_one(subject, "to_commitment", round(103 * 0.5 * MONTH))
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    assert found.status == SavingStatus.VERIFIED
    assert found.measured is not None
    assert found.measured.saving.likely == pytest.approx(103 * 0.5 * MONTH * 1e6, rel=0.01)


def test_two_changes_of_the_same_work_are_not_both_verified(subject: Planted) -> None:
    scene.plant_sums(subject, lambda day: noisy_day(day, 0.3))
    first = scene.done_one(subject, "to_spot", spent_before(0.3))
    other = Recommendation.objects.get(pk=first)
    other.pk, other.matter, other.kind = None, "starved:1", "starved"
    other.save()
    actions.measure_savings_if_due(at=JUDGED_AT)
    assert [state_of(first), state_of(other.pk)] == ["verified", "done"]
    (found,) = measurements_of(other.pk)
    assert (found.status, found.why) == (SavingStatus.UNKNOWN, UnknownSaving.SAVED_BY_ANOTHER)


def test_nobody_verifies_by_hand_and_a_measurement_is_frozen(subject: Planted) -> None:
    scene.plant_sums(subject, lambda day: PlantedDay(), until=SINCE + 10 * DAY)
    known = scene.done_one(subject, "to_spot", 1_000)
    for verb in (RecommendationVerb.VERIFIED, RecommendationVerb.FAILED):
        with pytest.raises(Refusal):
            actions.answer_recommendation(
                recommendation_id=known,
                answer=actions.RecommendationAnswer(verb),
                by=subject.viewer,
                at=JUDGED_AT,
            )
    actions.measure_savings_if_due(at=DONE_AT + 10 * DAY)
    row = SavingMeasurement.objects.get()
    row.status = SavingStatus.VERIFIED
    with pytest.raises(Exception, match="Cannot update"):
        row.save()


def stopped(day: date) -> PlantedDay:
    """A hundred GPU-hours and its requests a day until it is retired, and then nothing."""
    is_since = day >= SINCE
    return PlantedDay(hours=0.0 if is_since else 100.0, requests=0 if is_since else 50_000)


def retired(subject: Planted, promised: int, by_hour: float) -> SavingMeasurementFact:
    """What is measured of the service that was retired, of which that part was paid by the hour."""
    baseline = {"paid_by_hour": by_hour}
    known = scene.done_one(subject, "retire_work", round(promised * MONTH), baseline=baseline)
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    return found


@pytest.mark.parametrize(
    ("by_hour", "calls", "saved"), [(1.0, 0, 200), (0.5, 0, 100), (1.0, 30, 230), (0.0, 30, 30)]
)
def test_what_was_retired_saved_what_it_held_and_its_calls_though_no_output_is_left(
    subject: Planted, by_hour: float, calls: int, saved: int
) -> None:
    """By its output nothing would be saved: a fall in volume is none."""
    scene.plant_sums(subject, stopped)
    plant_others(subject)
    plant_calls(subject, calls)
    found = retired(subject, saved, by_hour)
    assert found.status == SavingStatus.VERIFIED
    assert found.measured is not None
    assert found.measured.saving.likely == pytest.approx(saved * MONTH * 1e6, rel=1e-6)
    assert ("what its calls cost" in found.measured.counterfactual) == bool(calls)
    assert ("the GPU-hours that it held" in found.measured.counterfactual) == bool(by_hour)


def test_of_work_that_only_called_models_its_calls_are_what_retiring_saved(
    subject: Planted,
) -> None:
    plant_others(subject)
    plant_calls(subject, 30)
    found = retired(subject, 30, 0.0)
    assert found.measured is not None
    assert found.measured.saving.likely == pytest.approx(30 * MONTH * 1e6, rel=1e-6)


def test_what_was_retired_on_gpus_that_are_paid_anyway_is_no_money_to_be_measured(
    subject: Planted,
) -> None:
    scene.plant_sums(subject, stopped)
    plant_others(subject)
    assert retired(subject, 100, 0.0).why == UnknownSaving.PAID_ANYWAY


def plant_others(subject: Planted) -> None:
    """What the ledger has of other work, every day."""
    LedgerTeamDay.objects.bulk_create(
        LedgerTeamDay(**day_row(subject, day, 1), kind="node_hour", unit="gpu")
        for day in scene.days_until(scene.END)
    )


def plant_calls(subject: Planted, dollars: int) -> None:
    """What the service's calls to model APIs cost a day, until it is retired."""
    LedgerDay.objects.bulk_create(
        LedgerDay(**day_row(subject, day, dollars), kind="api", workload_id=subject.workload_id)
        for day in scene.days_until(SINCE)
    )


def day_row(subject: Planted, day: date, dollars: int) -> dict[str, Any]:
    amounts = dict.fromkeys(
        ("list_micros", "contracted_micros", "effective_micros"), dollars * 1_000_000
    )
    times = (
        "unit_milliseconds",
        "held_milliseconds",
        "observed_milliseconds",
        "unpriced_milliseconds",
    )
    keys = {"day": day, "posting_month": day.replace(day=1), "team_id": subject.team_id}
    return keys | {"status": "estimated", "flags": 0} | amounts | dict.fromkeys(times, 0)


@pytest.mark.parametrize(("more", "dollars"), [({}, 2), ({"released_gpu_hour_micros": 5e6}, 5)])
def test_covered_machines_that_were_given_back_saved_what_the_commitment_covers_instead(
    subject: Planted, more: dict[str, float], dollars: int
) -> None:
    """Sixty GPU-hours a day stood that cost 2 each; the alike ones that the commitment covers since cost 5."""
    scene.plant_sums(
        subject, lambda day: PlantedDay(hours=40.0, unallocated=0.0 if day >= SINCE else 60.0)
    )
    baseline = {"paid_by_hour": 1.0} | more
    promised = round(60 * dollars * MONTH)
    known = scene.done_one(subject, "unallocated_nodes", promised, baseline=baseline)
    actions.measure_savings_if_due(at=JUDGED_AT)
    (found,) = measurements_of(known)
    assert found.measured is not None
    assert found.measured.saving.likely == pytest.approx(60 * dollars * MONTH * 1e6, rel=1e-6)
    assert ("promised to save" in found.measured.counterfactual) == bool(more)
