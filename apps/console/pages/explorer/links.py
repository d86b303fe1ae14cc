"""Names of the groups of the explorer, and where each leads: to a page, or a closer question."""

from datetime import date, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.tables import NOTES
from apps.console.pages.explorer.tables import GroupLinks
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.cube import CubeKey, CubeNames, CubeRow, dimensions
from apps.ledger.queries.cube.names import NONE

PAGES = {"team": "costs-team", "workload": "costs-workload", "job": "costs-job", "run": "run",
         "service": "service", "node": "node"}  # fmt: skip
"""Pages with the rows behind a group."""
KEPT = {"costs-team", "costs-workload", "costs-job"}
"""Those that are asked about as much of it as the explorer is."""
NEXT = {"team": "workload", "workload": "job", "cluster": "pool", "provider": "pool", "region": "pool",
        "service": "day", "run": "day", "job": "day", "user": "job"}  # fmt: skip
"""What a group is grouped by when the question narrows to it."""


def group_links(cost_query: CostQuery, names: CubeNames) -> GroupLinks:
    """Made for the rows that are shown, as they are shown."""
    group_by, kinds = (
        cost_query.question.group_by,
        {team.id: team.kind for team in accounts.teams()},
    )
    href_by_keys: dict[tuple[CubeKey, ...], str] = {}

    def note(row: CubeRow, place: int) -> str:
        key = row.keys[place].value
        if group_by[place] != "team" or not isinstance(key, int):
            return ""
        return NOTES.get(kinds[key], "")

    def rows(row: CubeRow) -> str:
        # Several cells of a row lead there.
        if row.keys not in href_by_keys:
            href_by_keys[row.keys] = _rows_href(cost_query, names, row)
        return href_by_keys[row.keys]

    return GroupLinks(
        name=lambda row, place: names.text(group_by[place], row.keys[place]),
        narrowed=lambda row, place: _narrowed_href(cost_query, names, row, (place,)),
        rows=rows,
        note=note,
    )


def _narrowed_href(
    cost_query: CostQuery, names: CubeNames, row: CubeRow, places: tuple[int, ...]
) -> str:
    """Return the address of the same question about these groups alone, grouped by what is below them."""
    group_by, window = cost_query.question.group_by, cost_query.question.window
    if len(group_by) == 1 and (page := _page_of(cost_query, group_by[0], row.keys[0].value)):
        return page
    changes: dict[str, str] = {}
    for place in places:
        name, key = group_by[place], row.keys[place]
        if name == "posting_month":
            # Days are narrowed by the window, and books have none.
            return ""
        if isinstance(key.value, date):
            first, end = max(key.value, window.first_day), _day_after(name, key.value)
            changes["window"] = f"{first}/{min(end, window.end_day)}"
        elif text := names.filter_text(name, key):
            changes[name] = text
        elif name == "workload" and not key.is_other:
            # By job they are apart: jobs without a workload, and what no job held.
            changes[name] = NONE
        else:
            return ""
    left = [name for place, name in enumerate(group_by) if place not in places]
    changes["group_by"] = ",".join(left) or _dimension_below(group_by[places[0]], cost_query)
    return cost_query.href("costs", **changes)


def _dimension_below(name: str, cost_query: CostQuery) -> str:
    below = NEXT.get(name, "team")
    return "pool" if below in cost_query.question.filters else below


def _day_after(name: str, first: date) -> date:
    """The day after a day, week or month."""
    if name == "month":
        return next_month(first)
    return first + timedelta(days=7 if name == "week" else 1)


def _page_of(cost_query: CostQuery, name: str, key: object) -> str:
    """The page of a group of its own, about as much of it as can be said there."""
    if name not in PAGES or not isinstance(key, int):
        return ""
    if PAGES[name] not in KEPT:
        window = urlencode({"window": cost_query.texts["window"]})
        return f"{reverse(PAGES[name], args=[key])}?{window}"
    cleared = {word: "" for word in dimensions() if word != "pool" and not word.startswith("tag.")}
    return cost_query.href(PAGES[name], key, **{**cleared, "group_by": "team"})


def _rows_href(cost_query: CostQuery, names: CubeNames, row: CubeRow) -> str:
    """A page of the rows behind the group, else the group by itself."""
    if not row.keys:
        return ""
    for name, key in zip(cost_query.question.group_by, row.keys, strict=True):
        if page := _page_of(cost_query, name, key.value):
            return page
    return _narrowed_href(cost_query, names, row, tuple(range(len(row.keys))))
