"""The parameters of sums and lines of costs, refused one by one where they are not understood."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from apps.accounts import queries as accounts
from apps.ledger import queries
from apps.ledger.queries.cube import CostQuestion, Dimension, read_question
from apps.web.rest.strict import refuse_others, split_words

DEFAULT_WINDOW = "7d"
TAG = "tag."
WINDOW = OpenApiParameter(
    "window",
    description="today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end;"
    f" default {DEFAULT_WINDOW}",
)
BASIS = OpenApiParameter("basis", description="list, contracted, effective (default) or billed")


def filter_parameter(dimension: Dimension) -> OpenApiParameter:
    """Return the parameter that says which costs are asked for along a dimension."""
    numbered = "numbers" if dimension.name == "job" else "names"
    none = f"; none: {dimension.without.lower()}" if dimension.without else ""
    return OpenApiParameter(dimension.name, description=f"{numbered}, by comma{none}")


def parse_cost_question(
    query: QueryDict,
    viewer: accounts.Viewer,
    at: datetime,
    *,
    defaults: Mapping[str, str] | None = None,
    filters: Collection[str] | None = None,
    tells_hours: bool = False,
) -> CostQuestion:
    """The question; refuses a ValidationError that names each bad parameter.

    A viewer who does not see everything asks about their own teams: others are as if there were
    none, and their workloads too. `defaults` and `filters` are as `read_question` has them; with
    `tells_hours` the window may begin and end with any hour.
    """
    organisation = accounts.organisation()
    calendar = queries.calendar_of(organisation.zone, organisation.week_starts_on, at)
    options: dict[str, Any] = {} if defaults is None else {"defaults": defaults}
    reading = read_question(
        {name: query.getlist(name) for name in query},
        viewer=viewer,
        organisation=organisation,
        calendar=replace(calendar, tells_hours=tells_hours),
        filters=filters,
        **options,
    )
    if reading.problems:
        near = ""
        if reading.nearest is not None:
            near = f"; the nearest that can be answered: {urlencode(reading.nearest, safe='/,')}"
        raise ValidationError(
            {name: [f"{message}{near}"] for name, message in reading.problems.items()}
        )
    return reading


def parse_groups(query: QueryDict, choices: Collection[str]) -> tuple[str, ...]:
    """Return the names that costs are to be grouped by; refuses a ValidationError that names what is none of `choices`."""
    names = split_words(*query.getlist("group_by"))
    refuse_others("group_by", names, choices)
    return tuple(names)


def parse_window(text: str, at: datetime) -> queries.Window:
    """The window that `text` names at a moment; refuses a ValidationError that names `window`."""
    organisation = accounts.organisation()
    calendar = queries.calendar_of(organisation.zone, organisation.week_starts_on, at)
    try:
        return queries.window_of(text, calendar)
    except (queries.WindowNotUnderstood, queries.WindowCutsADay) as refusal:
        raise ValidationError({"window": [str(refusal)]}) from refusal


def refuse_unknown(query: QueryDict, single: Sequence[str], lists: Sequence[str]) -> None:
    """Refuse parameters that are none of these or a tag's, and single ones given twice."""
    parameter_names = {*single, *lists, *(TAG + key for key in settings.TAG_KEYS)}
    problems = {
        name: [f"there is no parameter {name!r}; there are {', '.join(sorted(parameter_names))}"]
        for name in query
        if name not in parameter_names
    }
    problems |= {
        name: ["given more than once"]
        for name in query
        if name in parameter_names and name not in lists and len(query.getlist(name)) > 1
    }
    if problems:
        raise ValidationError(problems)
