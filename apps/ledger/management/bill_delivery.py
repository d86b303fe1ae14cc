"""Takes in a bill that lies on disk."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import Taken
from apps.ledger.providers.bill_file import open_bill


def take_file(
    path: Path,
    *,
    name: str = "",
    is_addition: bool = False,
    person_id: int | None = None,
    clock: Callable[[], datetime],
) -> Taken:
    """The whole file, or nothing of it.

    Refuses NotABill, BillBreaksOff, MonthAlreadyClosed, DeliveryCalledOff and OSError.
    """
    with open_bill(path, name=name) as file:
        return take_bill(file=file, is_addition=is_addition, person_id=person_id, clock=clock)
