"""Where a group of the explorer leads: to a page, or to a closer question."""

from datetime import date, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.pages.costs.question import CostQuery
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.cube import CubeKey, CubeNames, dimensions
from apps.ledger.queries.cube.names import NONE

PAGES = {"team": "costs-team", "workload": "costs-workload", "job": "costs-job", "run": "run",
         "service": "service", "node": "node"}  # fmt: skip
"""Pages with the rows behind a group."""
KEPT = {"costs-team", "costs-workload", "costs-job"}
"""Those that are asked about as much of it as the explorer is."""
NEXT = {"team": "workload", "workload": "job", "cluster": "pool", "provider": "pool", "region": "pool",
        "service": "day", "run": "day", "job": "day", "user": "job"}  # fmt: skip
"""What a group is grouped by when the question narrows to it."""
GroupKeys = tuple[CubeKey, ...]


def rows_href(cost_query: CostQuery, names: CubeNames, keys: GroupKeys) -> str:
    """Return the address of a page of the rows behind a group, else of the group by itself."""
    if not keys:
        return ""
    for name, key in zip(cost_query.question.group_by, keys, strict=True):
        if page := _page_href(cost_query, name, key.value):
            return page
    return narrowed_href(cost_query, names, keys, tuple(range(len(keys))))


def narrowed_href(
    cost_query: CostQuery, names: CubeNames, keys: GroupKeys, places: tuple[int, ...]
) -> str:
    """Return the address of the same question about these groups alone, grouped by what is below them."""
    group_by, window = cost_query.question.group_by, cost_query.question.window
    if len(group_by) == 1 and (page := _page_href(cost_query, group_by[0], keys[0].value)):
        return page
    changes: dict[str, str] = {}
    for place in places:
        name, key = group_by[place], keys[place]
        if name == "posting_month":
            # Days are narrowed by the window, and books have none.
            return ""
        if isinstance(key.value, date):
            end = key.value + timedelta(days=7 if name == "week" else 1)
            end = next_month(key.value) if name == "month" else end
            changes["window"] = f"{max(key.value, window.first_day)}/{min(end, window.end_day)}"
        elif text := names.filter_text(name, key):
            changes[name] = text
        elif name == "workload" and not key.is_other:
            # By job they are apart: jobs without a workload, and what no job held.
            changes[name] = NONE
        else:
            return ""
    left = [name for place, name in enumerate(group_by) if place not in places]
    below = NEXT.get(group_by[places[0]], "team")
    if below in cost_query.question.filters:
        below = "pool"
    changes["group_by"] = ",".join(left) or below
    return cost_query.href("costs", **changes)


def _page_href(cost_query: CostQuery, name: str, key: object) -> str:
    """Return the address of a group's own page, about as much of it as can be said there."""
    if name not in PAGES or not isinstance(key, int):
        return ""
    if PAGES[name] not in KEPT:
        window = urlencode({"window": cost_query.texts["window"]})
        return f"{reverse(PAGES[name], args=[key])}?{window}"
    cleared = {word: "" for word in dimensions() if word != "pool" and not word.startswith("tag.")}
    return cost_query.href(PAGES[name], key, **{**cleared, "group_by": "team"})
