"""Parts that pages below the explorer have in common: title, figures, days, tables and what they rest on."""

from collections.abc import Callable, Collection
from typing import Any, TypedDict, Unpack
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.chart import FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, Section
from apps.console.kit.table import TableSection
from apps.console.pages.costs.days import day_chart
from apps.console.pages.costs.figures import cost_figures
from apps.console.pages.costs.question import CostPlace, CostQuery
from apps.console.pages.costs.sums import summed_days
from apps.console.pages.costs.words import under_words
from apps.console.pages.meters import Metered, meter_section
from apps.economics.gpu_meters import meters_together
from apps.ledger.queries.costs import least_sure
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.days import Daily
from apps.ledger.queries.cube.states import DataQuality, data_quality
from apps.ledger.queries.gpu_meters import meters_by


class PageParts(TypedDict, total=False):
    """The parts that a page has below its figures, and where it differs from others."""

    about: Section
    tables: Collection[TableSection]
    meters: TableSection | None
    to_do: Section | None
    lines: TableSection
    known: DataQuality
    is_of_job: bool


def cost_page(
    cost_query: CostQuery,
    finding: str,
    place: CostPlace,
    daily: Daily,
    trail: Collection[Link],
    days_csv: CsvFile,
    **parts: Unpack[PageParts],
) -> ConsolePage:
    """The page; where nothing was charged it says what to ask instead."""
    is_of_job = parts.get("is_of_job", False)
    certainty = parts.get("known") or data_quality(
        daily.states, cost_query.question.window, cost_query.context.at
    )
    status = least_sure(certainty.statuses)
    figures = cost_figures(cost_query, place, summed_days(daily), status, is_of_job=is_of_job)
    return ConsolePage(
        context=cost_query.context,
        finding=finding,
        filters=cost_query.filters(is_of_job=is_of_job),
        problems=cost_query.problems,
        trail=tuple(trail),
        status=status,
        under=under_words(cost_query, certainty) if status else (),
        sections=(
            FigureRow(figures) if figures else None,
            day_chart(cost_query, place, daily.days, days_csv),
            parts.get("about"),
            *parts.get("tables", ()),
            parts.get("to_do"),
            parts.get("meters"),
            parts.get("lines"),
        ),
        actions=(export_link(cost_query, place),),
    )


def empty_page(
    cost_query: CostQuery, finding: str, trail: Collection[Link], empty: EmptyState
) -> ConsolePage:
    """Nothing to show: why, and what to ask instead."""
    return ConsolePage(
        context=cost_query.context,
        finding=finding,
        filters=cost_query.filters(),
        problems=cost_query.problems,
        trail=tuple(trail),
        empty=empty,
    )


def meters_of(
    cost_query: CostQuery,
    question: CubeQuestion,
    by: str,
    first: str,
    named: Callable[[Any], tuple[str, str]],
    job_ids: Collection[int] | None = None,
) -> TableSection | None:
    """How hard the GPUs behind these sums worked; `named` gives a key's name and address."""
    by_key = question.by(by) if job_ids is None else question.by(by).of(job=job_ids)
    meters_by_key = meters_by(by_key)
    rows = [
        Metered(name, meters, href)
        for (key,), meters in meters_by_key.items()
        for name, href in [named(key)]
    ]
    total = meters_together(meters_by_key.values())
    return meter_section(rows, total, first, cost_query.context)


def export_link(cost_query: CostQuery, place: CostPlace | None = None) -> Link:
    """The form for a file of every row behind the page, filled in as far as it goes."""
    team_ids = {*cost_query.question.filters.get("team", frozenset())}
    if place is not None and place.team_ids:
        team_ids = {*place.team_ids}
    names = [team.name for team in cost_query.teams.values() if team.id in team_ids]
    params = {
        "window": cost_query.texts["window"],
        "pool": cost_query.texts.get("pool", ""),
        "team": names[0] if len(names) == 1 else "",
    }
    href = f"{reverse('exports')}?{urlencode({k: v for k, v in params.items() if v})}"
    return Link("Export every row of this period", href)
