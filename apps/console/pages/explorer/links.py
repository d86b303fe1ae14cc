"""Where a group of the explorer leads: to a page, or to a closer question."""

from collections.abc import Collection
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


def group_href(
    cost_query: CostQuery, names: CubeNames, keys: GroupKeys, places: Collection[int]
) -> str:
    """Return the address of a group's own page, about as much of it as can be said there, else of a narrower question.

    Of some of its places only the question is narrowed; nothing leads to the total.
    """
    if not keys:
        return ""
    group_by = cost_query.question.group_by
    pages = [
        (PAGES[name], key.value)
        for name, key in zip(group_by, keys, strict=True)
        if name in PAGES and isinstance(key.value, int)
    ]
    if not pages or len(places) < len(group_by):
        return _narrowed_href(cost_query, names, keys, places)
    page, number = pages[0]
    if page not in KEPT:
        params = urlencode({"window": cost_query.texts["window"]})
        return f"{reverse(page, args=[number])}?{params}"
    filters = [word for word in dimensions() if word != "pool" and not word.startswith("tag.")]
    cleared = {**dict.fromkeys(filters, ""), "group_by": "team"}
    return cost_query.href(page, number, **cleared)


def _narrowed_href(
    cost_query: CostQuery, names: CubeNames, keys: GroupKeys, places: Collection[int]
) -> str:
    """Return the address of the same question about these keys alone, grouped by what is left or below; empty where it cannot be asked."""
    group_by, window = cost_query.question.group_by, cost_query.question.window
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
    below = NEXT.get(group_by[min(places)], "team")
    if below in cost_query.question.filters:
        below = "pool"
    changes["group_by"] = ",".join(left) or below
    return cost_query.href("costs", **changes)
