"""Thirteen weeks of a ledger, and a recommendation that was claimed and done on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.moves.saving import SavingRange
from apps.economics.states import State
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import LedgerDay, LedgerPoolDay, LedgerTeamDay
from apps.review import actions
from apps.review.models import Recommendation, RecommendationVerb
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendedKind,
)
from apps.unit_economics.models import ServiceTotal
from tests import make
from tests.apps.review.recommended import AT, DOLLAR, WEEK, proposal
from tests.apps.unit_economics import service_scene
from tests.apps.unit_economics.service_scene import GPU_HOUR_MS

DAY = timedelta(days=1)
CLAIMED_AT = AT
DONE_AT = AT + 7 * DAY
FIRST = WEEK - 56 * DAY
SINCE = DONE_AT.date() + DAY
"""The first of the four weeks that are measured."""
END = SINCE + 28 * DAY
JUDGED_AT = datetime.combine(END, AT.time(), AT.tzinfo) + 6 * DAY
"""The Monday after the four weeks."""


@dataclass(frozen=True)
class Planted:
    """A service of a team on a pool of its own."""

    team_id: int
    workload_id: int
    pool_id: int
    node_id: int
    viewer: Viewer


def make_subject(kind: str = "serving") -> Planted:
    """With somebody of platform who sees to it."""
    make.make_organisation()
    team_id = make.make_team("Search")
    workload_id = service_scene.make_service(team_id, kind=kind)
    pool_id = make.make_pool("pool of chat", cluster_id=make.make_cluster())
    begun = datetime.combine(FIRST, AT.time(), AT.tzinfo)
    node_id = make.make_node("gpu-1", pool_id=pool_id, at=begun)
    person = make.make_person("petra@example.org", name="Petra", role="platform")
    return Planted(team_id, workload_id, pool_id, node_id, viewer_of_user(person))


@dataclass(frozen=True)
class PlantedDay:
    """What a day has: GPU-hours of the service by state, dollars for one, requests, how sure it is."""

    hours: float = 100.0
    price: float = 2.0
    requests: int | None = None
    state: State = State.ACTIVE
    status: str = "estimated"
    unallocated: float = 0.0
    on_demand: float | None = None


def days_until(until: date) -> list[date]:
    """From eight weeks before the claim on."""
    return [FIRST + place * DAY for place in range((until - FIRST).days)]


def plant_sums(subject: Planted, of_day: Callable[[date], PlantedDay], until: date = END) -> None:
    """The sums of every day as passes leave them: by team, by pool, by cell, and of the service's requests."""
    held = [(day, of_day(day)) for day in days_until(until)]
    lines = [
        (day, planted, None if is_free else subject.workload_id, hours)
        for day, planted in held
        for is_free, hours in ((False, planted.hours), (True, planted.unallocated))
        if hours
    ]
    sums = [_sum_of(*line) for line in lines]
    keys = {"team_id": subject.team_id}
    LedgerTeamDay.objects.bulk_create(LedgerTeamDay(**each | keys) for each in sums)
    keys["pool_id"] = subject.pool_id
    LedgerPoolDay.objects.bulk_create(LedgerPoolDay(**each | keys) for each in sums)
    LedgerDay.objects.bulk_create(
        LedgerDay(**of_line | keys | {"workload_id": workload_id})
        for of_line, (_, _, workload_id, _) in zip(sums, lines, strict=True)
    )
    ServiceTotal.objects.bulk_create(
        ServiceTotal(
            day=day, posting_month=day.replace(day=1), workload_id=subject.workload_id, measure="effective",
            unit_milliseconds=1, unpriced_milliseconds=0,
            held_milliseconds=1, observed_milliseconds=1, statuses=2, requests=planted.requests, succeeded=planted.requests,
        )
        for day, planted in held if planted.requests is not None
    )  # fmt: skip


def _sum_of(
    day: date, planted: PlantedDay, workload_id: int | None, hours: float
) -> dict[str, Any]:
    paid, time = round(hours * planted.price * DOLLAR), round(hours * GPU_HOUR_MS)
    on_demand = round(hours * (planted.on_demand or planted.price) * DOLLAR)
    return {
        "day": day,
        "posting_month": day.replace(day=1),
        "status": planted.status,
        "kind": "node_hour",
        "unit": "gpu",
        "state": int(planted.state if workload_id else State.UNALLOCATED),
        "flags": 0,
        "list_micros": on_demand,
        "contracted_micros": on_demand,
        "effective_micros": paid,
        "unit_milliseconds": time,
        "held_milliseconds": time if workload_id else 0,
        "observed_milliseconds": time,
        "unpriced_milliseconds": 0,
    }


def plant_lines(subject: Planted, of_day: Callable[[date], PlantedDay], until: date = END) -> None:
    """The same as a line a day, rolled up and divided as the passes do it."""
    for month in {day.replace(day=1) for day in days_until(until)}:
        ensure_month(month=month)
    for day in days_until(until):
        hour = datetime.combine(day, AT.time(), AT.tzinfo).replace(hour=10)
        planted = of_day(day)
        service_scene.make_line(
            subject.pool_id,
            subject.team_id,
            subject.workload_id,
            node_id=subject.node_id,
            hour=hour,
            state=int(planted.state),
            ms=round(planted.hours * GPU_HOUR_MS),
            micros=round(planted.hours * planted.price * DOLLAR),
        )
        if planted.requests is not None:
            service_scene.count(subject.workload_id, hour, requests=planted.requests)
        service_scene.roll_up(subject.pool_id, day=hour.replace(hour=0))


def done_one(subject: Planted, kind: str, promised: int, **given: Any) -> int:
    """A recommendation of a kind that promises so many dollars a month, claimed and done; its id."""
    amount = promised * DOLLAR
    values: dict[str, Any] = {
        "team_id": subject.team_id,
        "workload_id": subject.workload_id,
        "pool_id": subject.pool_id,
        "spend_micros": 10 * amount,
        "saving": SavingRange(amount * 8 // 10, amount, amount * 12 // 10),
    } | given
    key = f"{kind}:{subject.workload_id}"

    def detect(at: datetime) -> DetectedKind:
        found = DetectedKind(kind, "services")
        found.propose(proposal(key, **values))
        return found

    actions.detect_recommendations(
        week=WEEK, at=AT, kinds=(RecommendedKind(kind, kind, kind, detect),)
    )
    found = Recommendation.objects.get(matter=f"{kind}:{key}")
    claim_and_do(found.pk, subject)
    return found.pk


def claim_and_do(recommendation_id: int, subject: Planted) -> None:
    """Claimed when it was proposed, done a week later."""
    claim = actions.RecommendationAnswer(
        RecommendationVerb.CLAIMED, owner_id=subject.viewer.person_id, due_on=END
    )
    done = actions.RecommendationAnswer(RecommendationVerb.DONE)
    for answer, at in ((claim, CLAIMED_AT), (done, DONE_AT)):
        actions.answer_recommendation(
            recommendation_id=recommendation_id, answer=answer, by=subject.viewer, at=at
        )
