"""Calls to model APIs priced in a worker: the library of prices takes most of a second to load."""

import time
from datetime import datetime

from apps.ledger.actions.calls import PUT_OFF, Book, PutOff, price_waiting

BUDGET_SECONDS = 25


def price_marked(at: datetime, seconds: float = BUDGET_SECONDS, put_off: PutOff = PUT_OFF) -> int:
    """Price what waits, the newest hour first, for half a minute; how many calls were priced.

    `log_deferred_hour` hears of each hour that raised.
    """
    until = time.monotonic() + seconds
    return price_waiting(
        before=at,
        book=_price_book,
        is_over=lambda: time.monotonic() > until,
        put_off=put_off,
    )


def _price_book() -> Book:
    # Workers that never price a call do without.
    from apps.ledger.solvers.api_pricing import books

    return books()
