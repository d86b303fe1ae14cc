"""Runs a page at a time, sorted by any of their figures."""

from apps.accounts.queries.paging import PageAsked, Slice
from apps.ledger.queries.runs.values import RunRow, RunsWanted


def run_page(wanted: RunsWanted, asked: PageAsked) -> Slice[RunRow]:
    """The asked page of the wanted runs."""
    return Slice([], None, None)
