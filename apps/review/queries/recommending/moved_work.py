"""Fleet moves as recommendations: a kind for each kind of move, as the week's look at the fleet proposes it."""

from collections import Counter
from datetime import datetime

from django.urls import reverse

from apps.accounts.queries import organisation
from apps.economics.moves.disruption import DisruptionClass
from apps.placement.queries.fleet_moves import (
    OpenFleetMove,
    closed_fleet_moves,
    latest_move_detection_run,
    open_fleet_moves,
)
from apps.placement.queries.moves.work import move_week
from apps.review.queries.recommendation_evidence import RecommendationEvidence, RecommendedMove
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    MEASURED,
    DetectedKind,
    RecommendationProposal,
)
from apps.show.money import rounded_amount

TITLES: dict[str, str] = {
    "to_spot": "Run {subject} on spot",
    "to_commitment": "Commit to {subject}",
    "elsewhere": "Run {subject} at {target}",
    "to_api": "Buy {subject} from an API",
    "to_smaller": "Give {subject} smaller GPUs",
}
MOVE_KINDS = tuple(TITLES)
SOUGHT = {
    "to_spot": "more interruptions, dearer spot hours and less work than the mean",
    "to_commitment": "weeks in which less of it would have been used",
    "elsewhere": "dearer hours and less work there than the mean",
    "to_api": "dearer calls and more of them than the mean",
    "to_smaller": "windows in which it needed more, and dearer hours there than the mean",
}
"""What would speak against a move of a kind."""
LOOKED_AT = {
    "to_spot": "workloads on pools",
    "to_commitment": "families of GPUs",
    "elsewhere": "workloads on pools",
    "to_api": "kept comparisons with an API",
    "to_smaller": "workloads on pools",
}
COMPUTED = (
    "What its GPU-hours paid by the hour were charged in the last weeks, less what they would cost as proposed: the 10th, 50th"
    " and 90th percentile over work, price and interruptions at their ends, none above what is spent there"
)


def detect_moves(kind: str, at: datetime) -> DetectedKind:
    """Return what the newest look at the fleet proposes of a kind of moves; the look of this week, else it did not look."""
    detected = DetectedKind(kind, LOOKED_AT[kind])
    newest_look = latest_move_detection_run(at)
    if newest_look is None or newest_look.week < move_week(at):
        detected.not_looked = "this week's look at fleet moves is not made"
        return detected
    kind_look = next((kind_row for kind_row in newest_look.kinds if kind_row["kind"] == kind), None)
    if kind_look is None:
        detected.not_looked = "this week's look at fleet moves did not look at this kind"
        return detected
    detected.looked_at = kind_look["seen"]
    detected.passed_over += Counter(
        {reason["why"]: reason["count"] for reason in kind_look["reasons"]}
    )
    for move in open_fleet_moves(at):
        if move.kind == kind:
            detected.propose(_proposal_of(move))
            detected.looked_at -= 1
    for closed in closed_fleet_moves():
        if closed.kind == kind:
            detected.declined[_key_of(kind, closed.key)] = closed.closed_reason
    return detected


def _key_of(kind: str, key: str) -> str:
    return key.removeprefix(f"{kind}:")


def _proposal_of(move: OpenFleetMove) -> RecommendationProposal:
    return RecommendationProposal(
        key=_key_of(move.kind, move.key),
        title=TITLES[move.kind].format(subject=move.subject, target=move.target),
        subject=move.subject,
        # What a commitment covers is the organisation's, whoever owns the pool.
        team_id=move.team_id if move.workload_id is not None else None,
        workload_id=move.workload_id,
        pool_id=move.pool_id,
        spend_micros=move.spend_micros,
        saving=move.saving,
        effort_hours=move.effort_hours,
        risk=DisruptionClass(move.disruption),
        risk_reason=move.disruption_reason,
        why=f"From {move.source} to {move.target}. {move.why}",
        computed=COMPUTED,
        cells=move.cells,
        evidence=(
            RecommendationEvidence(
                "Weekly fleet analysis",
                f"since {move.opened_week:%-d %B %Y}",
                _page_of(move),
            ),
            *(
                RecommendationEvidence(
                    item.kind.capitalize(), item.words, item.link, item.is_price, item.ref
                )
                for item in move.evidence
            ),
        ),
        doubts=(_against(move), *move.doubts),
        one_time_micros=move.one_time_micros,
        baseline={"seen_from": move.seen_from.isoformat(), "source": move.source},
        range_basis=ASSUMED if _is_assumed(move) else MEASURED,
        move=RecommendedMove(
            source=move.source,
            target=move.target,
            egress_micros=move.egress_micros,
            restart_micros=move.restart_micros,
            effort_micros=move.effort_micros,
            payback_months=move.payback_months,
            interruptions_per_month=move.interruptions_per_month,
            restart_hours_per_month=move.restart_hours_per_month,
            confidence=move.confidence,
        ),
    )


def _is_assumed(move: OpenFleetMove) -> bool:
    """Of a slice of its own GPU: what others take of the rest is not known."""
    return move.kind == "to_smaller" and all(item.kind != "offer" for item in move.evidence)


def _against(move: OpenFleetMove) -> str:
    """Return what was looked for that would make a move not worth it, and what the worst of that leaves of the saving."""
    least = rounded_amount(move.saving.low, organisation().currency)
    return f"looked for {SOUGHT[move.kind]}: at the worse end (p10) it saves {least} a month"


def _page_of(move: OpenFleetMove) -> str:
    return f"{reverse('fleet-looks')}?week={move.week.isoformat()}"
