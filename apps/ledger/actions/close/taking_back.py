"""Corrections of a month that is opened again, taken back: from now on the month itself moves."""

from datetime import date, datetime

from apps.fleet.actions.marks import Mark, mark
from apps.fleet.queries import Pass
from apps.ledger.actions.close.posting import place_of, post
from apps.ledger.queries.closes.differences import LineKey, Sums, corrections_of_month


def take_back_corrections(*, month: date, at: datetime) -> int:
    """Post the opposite of every correction of `month`, and have its hours settled anew.

    Without it a fact would count twice: in the month, which it moves now, and where it was posted
    before. How many charges were posted. Refuses NoOpenMonth.
    """
    found = corrections_of_month(month)
    if not found:
        return 0
    place = place_of(at, f"{month:%Y-%m} was opened again")
    mark(each for hour, sums in found.items() for each in _marks(hour, sums))
    posted = 0
    for hour, sums in sorted(found.items()):
        opposite = {key: _opposite(each) for key, each in sums.items()}
        posted += post(differences=opposite, hour=hour, place=place)
    return posted


def _opposite(sums: Sums) -> Sums:
    return Sums(*(None if amount is None else -amount for amount in sums))


def _marks(hour: datetime, sums: dict[LineKey, Sums]) -> list[Mark]:
    nodes = {key.node_id for key in sums if key.node_id is not None}
    return [
        Mark(Pass.CHARGE, 0, hour),
        *(Mark(Pass.SPLIT, node_id, hour) for node_id in nodes),
        Mark(Pass.SPREAD, 0, hour),
    ]
