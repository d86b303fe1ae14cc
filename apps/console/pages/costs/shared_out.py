"""Who else carries a part of the same charge: others keep only time and state."""

from collections.abc import Callable, Iterable
from typing import Any

from django.http import QueryDict

from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.filters import basis_of
from apps.console.pages.costs.line_facts import LineAsked, LineFacts
from apps.console.pages.costs.line_values import SiblingRow, SiblingTable
from apps.console.pages.costs.lines import flags_in_words, in_order
from apps.console.pages.costs.question import FILTERS
from apps.console.pages.costs.table import columns_of
from apps.console.pages.overview.sums import state_key
from apps.economics.money import sum_of_known
from apps.ledger.queries import Basis
from apps.ledger.queries.drill import SiblingLine
from apps.show.words import basis_words, state_words

ANOTHER_TEAM = "another team"
MOST_ROWS = 100
HEADINGS = ("holder", "team", "state", "cost", "currency", "basis", "gpu_hours")
_SORT_VALUES: dict[str, Callable[[SiblingRow], Any]] = {
    "holder": lambda row: row.holder.casefold(),
    "team": lambda row: row.team.casefold(),
    "state": lambda row: row.state.label,
    "gpu_hours": lambda row: row.gpu_milliseconds,
    "cost": lambda row: row.micros,
}


def line_asked(given: QueryDict) -> LineAsked:
    """What of the address a line's page keeps; what is not understood is left out."""
    sort = given.get("sort", "")
    try:
        basis = basis_of(given.get("basis", ""))
    except ValueError:
        basis = Basis.EFFECTIVE
    return LineAsked(
        basis=basis,
        sort=sort if sort.removeprefix("-") in _SORT_VALUES else "",
        kept={key: str(given[key]) for key in FILTERS if given.get(key)},
    )


def sibling_table(facts: LineFacts) -> SiblingTable:
    """The lines of the charge in the order asked for; at first this one, then the longest."""
    sort = facts.asked.sort
    found = [_row(facts, each) for each in facts.behind.siblings[:MOST_ROWS]]
    rows = in_order(found, _SORT_VALUES[sort.removeprefix("-")], sort) if sort else found
    own = [row for row in rows if row.is_theirs]
    is_whole = len(own) == len(facts.behind.siblings)
    texts = {
        "holder": "Holder",
        "team": "Team",
        "state": "State",
        "gpu_hours": "GPU-hours",
        "cost": f"{basis_words(str(facts.asked.basis)).label} cost",
    }
    return SiblingTable(
        columns=columns_of(texts, sort, lambda text: f"{facts.here(sort=text)}#siblings"),
        rows=tuple(rows),
        total_text="Total" if is_whole else "Of these, yours to see",
        total_micros=sum_of_known(row.micros for row in own),
        total_milliseconds=sum(row.gpu_milliseconds for row in own),
        is_cut=len(facts.behind.siblings) > MOST_ROWS,
        csv_href=facts.here("costs-line-siblings"),
    )


def sibling_cells(facts: LineFacts) -> Iterable[list[str]]:
    """The same as CSV."""
    currency = facts.organisation.currency
    for row in sibling_table(facts).rows:
        yield [
            text_cell(row.holder),
            text_cell(row.team),
            row.state.key,
            money_cell(row.micros, currency),
            currency,
            str(facts.asked.basis),
            hours_cell(row.gpu_milliseconds),
        ]


def _row(facts: LineFacts, each: SiblingLine) -> SiblingRow:
    is_this = each.id == facts.behind.id
    return SiblingRow(
        holder=_holder(facts, each),
        team=ANOTHER_TEAM if each.team_id is None else facts.teams[each.team_id].name,
        state=state_words(state_key(each.state)),
        flags=flags_in_words(each.flags),
        gpu_milliseconds=each.unit_milliseconds,
        micros=each.micros[facts.asked.basis],
        is_this=is_this,
        is_theirs=each.is_theirs,
        href="" if is_this or not each.is_theirs else facts.line_href(each.id),
    )


def _holder(facts: LineFacts, each: SiblingLine) -> str:
    if not each.is_theirs:
        return ANOTHER_TEAM
    if each.job_id is None:
        return "no job"
    job = facts.jobs.get(each.job_id)
    return f"job {job.raw_id}" if job else "a job"
