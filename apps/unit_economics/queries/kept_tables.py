"""Rows of runs and services that nobody changes once their month is closed."""

from apps.ledger.queries.closes.month_digests import OF_DAYS, POSTED, keep_of_closed_months


def keep_divided_tables() -> None:
    """Hold them against their digests; figures of runs are of all days, and held against these."""
    for table in ("ledger_runday", "ledger_serviceday", "ledger_servicetotal"):
        keep_of_closed_months(table, POSTED)
    keep_of_closed_months("ledger_servicecount", OF_DAYS)
