"""The sections of a weekly review that matter, by whom they matter to."""

from django.conf import settings

from apps.accounts.queries import StartingPoint
from apps.review.queries.weekly.review_words import COMMITMENTS, IDLE

LEFT_OUT: dict[str, frozenset[str]] = {
    StartingPoint.BUYS_APIS: frozenset({IDLE, COMMITMENTS}),
    StartingPoint.RENTS_CLOUDS: frozenset(),
    StartingPoint.OWNS_HARDWARE: frozenset({COMMITMENTS}),
}


def sections_left_out(starting_point: str) -> frozenset[str]:
    """Keys of sections that a review of such an organisation has not; what RUNRATE_REVIEW_WITHOUT names comes before that."""
    named = frozenset(settings.REVIEW_WITHOUT)
    return named or LEFT_OUT.get(starting_point, frozenset())
