"""Corrections of a month that is opened again, taken back: from now on the month itself moves."""

from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.ledger.actions.close.corrected import hand_back_marks
from apps.ledger.actions.close.late_estimates import forget_late_estimates
from apps.ledger.actions.close.posting import place_of, post
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.closes.differences import BasisSums, corrections_of_month
from apps.marks.actions import mark


def take_back_corrections(*, month: date, at: datetime) -> int:
    """Post the opposite of every correction of `month`, and have its hours settled anew.

    Without it a fact would count twice: in the month, which it moves now, and where it was posted
    before. How many charges were posted. Refuses NoOpenMonth.
    """
    span = month_span(month, accounts.organisation().zone)
    mark(
        hand_back_marks(span.starts_at, span.ends_at)
        + forget_late_estimates(span.starts_at, span.ends_at)
    )
    corrections = corrections_of_month(month)
    if not corrections:
        return 0
    place = place_of(at, f"{month:%Y-%m} was opened again")
    posted = 0
    for hour, sums in sorted(corrections.items()):
        opposite = {key: _opposite_of(line_sums) for key, line_sums in sums.items()}
        posted += post(differences=opposite, hour=hour, place=place)
    return posted


def _opposite_of(sums: BasisSums) -> BasisSums:
    return BasisSums(*(None if amount is None else -amount for amount in sums))
