"""A week's look at what could be done: matters are opened, told anew, closed and opened again."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection, transaction

from apps.accounts.queries import organisation
from apps.economics.moves.choice import WeighedMove
from apps.economics.refusal import Refusal
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_change, logged_pass
from apps.placement.queries.fleet_moves import latest_move_detection_run
from apps.placement.queries.moves.work import has_whole_week, move_week
from apps.review.models import (
    Recommendation,
    RecommendationLook,
    RecommendationState,
    RecommendationStep,
    RecommendationVerb,
)
from apps.review.queries.recommending.all_kinds import detected_kinds, kinds_document
from apps.review.queries.recommending.counting import counted_matters
from apps.review.queries.recommending.kept_promises import promise_records, take_promises_down
from apps.review.queries.recommending.kinds import GIVING_WAY, KINDS
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    RecommendedKind,
    proposals_by_matter,
)
from apps.review.queries.recommending.waste_cells import DetectedWaste
from apps.review.queries.recommending.waste_explained import explain_waste

SETTLED_AFTER = timedelta(hours=7)
"""After midnight of the week's first day: the look at fleet moves is made an hour before."""
LONGEST_WAIT = timedelta(days=1)
"""For the look at fleet moves; then it is looked without."""
SEEN_BACK = timedelta(weeks=5)
"""After one is done, until when looks still see weeks from before."""
ANSWERING = 7_305_071
"""An advisory lock."""
NOT_SEEN = "what it is about was not seen any more"
Open = RecommendationState.OPEN
TO_BE_ADDED = (Open, RecommendationState.CLAIMED)
REFRESHED = frozenset({Open, RecommendationState.SNOOZED})
SETTLED = frozenset({RecommendationState.VERIFIED, RecommendationState.FAILED})


class RecommendationsKept(Refusal):
    """The week's look is kept, or a later one is: weeks come in order, each once."""


def detect_recommendations_if_due(*, at: datetime) -> int:
    """This week's look where there is none yet; how many proposals. 0 also before the ledger has a whole week."""
    week = move_week(at - SETTLED_AFTER)
    if RecommendationLook.objects.filter(week__gte=week).exists() or not has_whole_week(week):
        return 0
    moves = latest_move_detection_run(at)
    is_late = move_week(at - LONGEST_WAIT) == week
    if (moves is None or moves.week < week) and not is_late:
        return 0
    return int(detect_recommendations(week=week, at=at))


@logged_pass("look_for_recommendations")
@transaction.atomic
def detect_recommendations(
    *, week: date, at: datetime, kinds: Sequence[RecommendedKind] = KINDS
) -> int:
    """Look and keep; how many proposals. Refuses RecommendationsKept. What is claimed stays as it was at the claim."""
    if RecommendationLook.objects.select_for_update().filter(week__gte=week).exists():
        raise RecommendationsKept("week", f"the look of {week} or of a later week is kept already")
    detections, waste = detected_kinds(at, kinds)
    detections = take_promises_down(detections, promise_records(at))
    look_row = RecommendationLook.objects.create(
        week=week, made_at=at, counted_micros=0, kinds=kinds_document(detections)
    )
    take_turns()
    rows_by_matter = {
        row.matter: row for row in Recommendation.objects.select_for_update().order_by("id")
    }
    proposed = proposals_by_matter(detections)
    steps = _propose_matters(proposed, rows_by_matter, week, at) + _close_matters(
        detections, proposed, rows_by_matter, at
    )
    RecommendationStep.objects.bulk_create(steps)
    count_savings()
    look_row.counted_micros = _counted_micros()
    look_row.waste = _explained_document(waste, detections)
    look_row.save(update_fields=["counted_micros", "waste"])
    return len(proposed)


@logged_change(count=lambda answer, _: int(answer))
@transaction.atomic
def wake_recommendations(*, at: datetime) -> int:
    """Open those again that were snoozed until now; how many."""
    take_turns()
    rows = list(
        Recommendation.objects.select_for_update()
        .filter(state=RecommendationState.SNOOZED, snoozed_until__lte=at)
        .order_by("id")
    )
    for row in rows:
        set_state(row, Open, at)
        row.save()
    RecommendationStep.objects.bulk_create(
        RecommendationStep(recommendation=row, at=at, verb=RecommendationVerb.WOKEN) for row in rows
    )
    if rows:
        count_savings()
    return len(rows)


def take_turns() -> None:
    """Wait for whoever else changes states of recommendations, until this transaction ends; before any row is locked.

    Two claims at once for the same dollars would each count themselves, without having seen the other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ANSWERING])


def count_savings() -> None:
    """Say anew which of the open and the claimed may be added up: no dollar twice, what is claimed first.

    Its caller has taken its turn. A group goes by the id of the first in it, so that few rows change with an answer.
    """
    columns = ("id", "kind", "state", "exclusive_group", "is_counted")
    weights = ("proposal__cells", "proposal__worth_micros")
    rows = Recommendation.objects.filter(state__in=TO_BE_ADDED)
    claimed: list[WeighedMove] = []
    proposed: list[WeighedMove] = []
    giving_way: list[WeighedMove] = []
    before = {}
    for row in rows.order_by("id").values_list(*columns, *weights):
        row_id, kind, state, group, is_counted, cells, worth = row
        of_sort = giving_way if kind in GIVING_WAY else proposed
        before[row_id] = (group, is_counted)
        sort = claimed if state == RecommendationState.CLAIMED else of_sort
        sort.append(WeighedMove(str(row_id), frozenset(cells), worth))
    selection = counted_matters(proposed, claimed, giving_way)
    firsts: dict[int, int] = {}
    for key, number in selection.groups.items():
        firsts[number] = min(firsts.get(number, int(key)), int(key))
    now = {
        int(key): (firsts[number], key in selection.counted)
        for key, number in selection.groups.items()
    }
    Recommendation.objects.filter(is_counted=True).exclude(state__in=TO_BE_ADDED).update(
        is_counted=False
    )
    Recommendation.objects.bulk_update(
        [
            Recommendation(id=row_id, exclusive_group=group, is_counted=is_counted)
            for row_id, (group, is_counted) in now.items()
            if before[row_id] != (group, is_counted)
        ],
        ["exclusive_group", "is_counted"],
        batch_size=500,
    )


def set_state(
    row: Recommendation,
    state: RecommendationState,
    at: datetime,
    name: str = "",
    reason: str = "",
    person_id: int | None = None,
) -> None:
    """Set, not saved. Open again it is nobody's, and nothing is promised of it."""
    row.state, row.state_at, row.snoozed_until = state, at, None
    row.state_name, row.state_reason, row.state_by_id = name, reason.strip(), person_id
    if state == Open:
        row.owner_id = row.due_on = row.claimed_at = row.done_at = None


def _propose_matters(
    proposed: Mapping[str, tuple[str, RecommendationProposal]],
    rows_by_matter: Mapping[str, Recommendation],
    week: date,
    at: datetime,
) -> list[RecommendationStep]:
    fresh, changed, steps = [], [], []
    zone = organisation().zone
    for matter, (kind, proposal) in proposed.items():
        row = rows_by_matter.get(matter)
        if row is None:
            row = Recommendation(
                matter=matter,
                kind=kind,
                first_week=week,
                state_at=at,
                exclusive_group=0,
                is_counted=False,
            )
            _update_from_proposal(row, proposal)
            fresh.append(row)
            steps.append(
                RecommendationStep(recommendation=row, at=at, verb=RecommendationVerb.PROPOSED)
            )
        else:
            if row.state == RecommendationState.CLOSED or _is_back(row, week, zone):
                set_state(row, Open, at)
                steps.append(
                    RecommendationStep(
                        recommendation=row, at=at, verb=RecommendationVerb.PROPOSED_AGAIN
                    )
                )
            if row.state in REFRESHED:
                _update_from_proposal(row, proposal)
            changed.append(row)
        row.last_week = week
    Recommendation.objects.bulk_create(fresh)
    _save_rows(changed)
    return steps


def _is_back(row: Recommendation, week: date, zone: str) -> bool:
    """Whether what was settled is proposed of weeks that are all after it was done."""
    return (
        row.state in SETTLED
        and row.done_at is not None
        and week >= local_day(row.done_at, zone) + SEEN_BACK
    )


def _close_matters(
    detections: Sequence[DetectedKind],
    proposed: Mapping[str, Any],
    rows_by_matter: Mapping[str, Recommendation],
    at: datetime,
) -> list[RecommendationStep]:
    """Those that were looked for and are proposed no more."""
    declined = {
        f"{kind.kind}:{key}": why for kind in detections for key, why in kind.declined.items()
    }
    inspected_kinds = {kind.kind for kind in detections if not kind.not_looked}
    closed_rows = [
        row
        for matter, row in rows_by_matter.items()
        if matter not in proposed and row.kind in inspected_kinds and row.state in REFRESHED
    ]
    for row in closed_rows:
        set_state(row, RecommendationState.CLOSED, at, reason=declined.get(row.matter, NOT_SEEN))
    _save_rows(closed_rows)
    return [
        RecommendationStep(
            recommendation=row, at=at, verb=RecommendationVerb.CLOSED, why=row.state_reason
        )
        for row in closed_rows
    ]


def _update_from_proposal(row: Recommendation, proposal: RecommendationProposal) -> None:
    row.proposal = proposal.document
    row.team_id, row.workload_id = proposal.team_id, proposal.workload_id
    row.pool_id = proposal.pool_id


def _save_rows(rows: Sequence[Recommendation]) -> None:
    """All that a look may change, in statements of many rows: thousands are told anew at once."""
    fixed = {"id", "matter", "kind", "first_week"}
    names = [
        concrete_field.name
        for concrete_field in Recommendation._meta.concrete_fields
        if concrete_field.name not in fixed
    ]
    Recommendation.objects.bulk_create(
        rows, batch_size=500, update_conflicts=True, update_fields=names, unique_fields=["matter"]
    )


def _explained_document(
    waste: DetectedWaste | None, detections: Sequence[DetectedKind]
) -> dict[str, Any]:
    """Where the look's waste goes, with matters as they stand after it."""
    rows = list(Recommendation.objects.values_list("matter", "state", "is_counted"))
    counted = [matter for matter, _, is_counted in rows if is_counted]
    explained = explain_waste(
        waste, detections, {matter: state for matter, state, _ in rows}, counted
    )
    return {} if explained is None else explained.document


def _counted_micros() -> int:
    rows = Recommendation.objects.filter(state=Open, is_counted=True)
    return sum(saving["likely"] for saving in rows.values_list("proposal__saving", flat=True))
