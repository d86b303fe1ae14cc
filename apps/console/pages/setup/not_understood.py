"""Names that came in and were not understood: by door and name, with what it means and what helps."""

from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import Locale
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Table
from apps.fleet.queries.not_understood import NotUnderstoodFact, not_understood
from apps.fleet.tables.not_understood import NOT_UNDERSTOOD
from apps.show.amounts import counted
from apps.workloads.queries.job_row_errors import remark_in_words

MEANS = {
    "calls": "a count of a vendor's answer: the call is priced without it",
    "litellm": "a count of LiteLLM's: the call is priced without it",
    "spans": "a span that looks like a call and was not taken, or a count it is priced without",
    "grants": "a device that a pod was granted: its GPU has no holder by it",
    "devices": "a device that is not measured",
    "metrics": "an engine whose requests and tokens are not counted",
}
OF_JOBS = frozenset({"sacct", "jobs", "csv"})
"""Doors whose names are remarks on jobs."""


def _meaning(row: NotUnderstoodFact) -> str:
    if row.name and row.door in OF_JOBS:
        return remark_in_words(row.name)
    return MEANS.get(row.door, "")


def _name_cell(row: NotUnderstoodFact, _: Locale) -> str:
    """The name, and what it means for what has it."""
    name, meaning = row.name or "further names", _meaning(row)
    return format_html("{}<small>{}</small>", name, meaning) if meaning else name


NAMES = Table.of(NOT_UNDERSTOOD, dress={"name": {"shown": _name_cell}})


def _nothing_unread() -> EmptyState:
    return EmptyState(
        "Everything was understood",
        "What a source sends under a name that Runrate does not know is counted here for two "
        "weeks: it is in no sum, or in one without it.",
        (Step("See what comes in, and what is missing.", link=Link("Setup", reverse("setup"))),),
    )


@shown(SEES_EVERYTHING, "setup")
def not_understood_page(context: Context) -> ConsolePage:
    """Every name of the last two weeks that no table of a door has."""
    rows = not_understood()
    doors = len({row.door for row in rows})
    finding = "Everything that came in was understood."
    if rows:
        verb = "was" if len(rows) == 1 else "were"
        finding = (
            f"{counted(len(rows), 'name')} of {counted(doors, 'source')} {verb} not understood."
        )
    return ConsolePage(
        context=context,
        finding=finding,
        back=Link("Back to Setup", reverse("setup")),
        sections=(NAMES.section(rows, context, csv_name="not-understood"),),
        empty=None if rows else _nothing_unread(),
    )


urlpatterns = [
    path("setup/not-understood", not_understood_page, name="not-understood"),
]
