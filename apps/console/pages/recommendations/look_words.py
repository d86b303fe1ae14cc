"""Words of the looks at the fleet."""

from collections.abc import Sequence

from apps.placement.queries.fleet_moves import MoveDetectionRunFact, OpenFleetMove
from apps.review.queries.recommendation_evidence import RecommendedMove
from apps.show.amounts import counted
from apps.show.money import full_amount, rounded_amount
from apps.show.words import StateWords

KINDS = {
    "to_spot": "To spot",
    "to_commitment": "To a commitment",
    "elsewhere": "To another place",
    "to_api": "To an API",
    "to_smaller": "To smaller GPUs",
}
DISRUPTIONS = {
    "low": StateWords("active", "Low", "Nobody who runs the work notices much"),
    "medium": StateWords("other", "Medium", "Who runs the work notices it"),
    "high": StateWords("held_idle", "High", "It changes how the work runs"),
}
BEFORE_OVERLAPS = "before overlaps with other recommendations"
CONFIDENCE = {"high": "High", "medium": "Medium", "low": "Low"}


def saving_words(move: OpenFleetMove, currency: str) -> str:
    """`$776 to $1,366`."""
    low, high = (
        rounded_amount(move.saving.low, currency),
        rounded_amount(move.saving.high, currency),
    )
    return low if low == high else f"{low} to {high}"


def payback_words(months: float | None) -> str | None:
    """`3.2 months`; None where it is not known."""
    if months is None:
        return None
    return "at once" if months < 0.05 else f"{months:,.1f} months"


def once_words(move: OpenFleetMove | RecommendedMove, effort_hours: int, currency: str) -> str:
    """Return what moving costs once, as far as it is known."""
    hours = f"{effort_hours} h of an engineer"
    known_micros = move.egress_micros + move.restart_micros
    if move.effort_micros is not None:
        return f"{full_amount(known_micros + move.effort_micros, currency)}, with {hours}"
    return f"{full_amount(known_micros, currency)} and {hours}" if known_micros else hours


def moves_finding(moves: Sequence[OpenFleetMove], currency: str, *, sees_all: bool) -> str:
    """How much those that are counted would save, in a sentence; other recommendations may be for the same dollars."""
    counted_moves = [move for move in moves if move.is_counted]
    if not moves:
        scope = "" if sees_all else " of your teams' work"
        return f"Nothing{scope} is worth moving this week"
    if not counted_moves:
        return f"{counted(len(moves), 'move')} proposed; others for the same dollars save more"
    likely = rounded_amount(sum(move.saving.likely for move in counted_moves), currency)
    others = len(moves) - len(counted_moves)
    others_text = f"; {counted(others, 'other')} would be for the same dollars" if others else ""
    return f"{counted(len(counted_moves), 'move')} would save about {likely} a month {BEFORE_OVERLAPS}{others_text}"


def describe_detection_run(review: MoveDetectionRunFact) -> tuple[str, ...]:
    """Of which weeks a look is, and when it was made."""
    weeks = (
        f"from {counted(review.weeks, 'whole week')}, {review.seen_from:%-d %B} to {review.week:%-d %B %Y}"
        if review.weeks
        else "the ledger had no whole week before it"
    )
    return (
        weeks,
        "a month is 730 hours, at what is paid by the hour: owned, reserved and committed GPUs save nothing",
    )
