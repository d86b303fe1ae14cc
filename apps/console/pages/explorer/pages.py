"""The Cost explorer: costs by any two dimensions, against another period, and why they changed."""

from collections.abc import Iterator, Mapping

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import urlencode

from apps.accounts import queries as accounts
from apps.console.kit.chart import FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.filters import compare_filter, describe_names, filter_of, period_filter
from apps.console.kit.frame import EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.periods import DEFAULT_PERIOD, compared_span_label, span
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import TableSection
from apps.console.pages.costs.days import BY_DAY, day_chart, days_file
from apps.console.pages.costs.drilldown import export_link
from apps.console.pages.costs.figures import cost_figures
from apps.console.pages.costs.question import CostPlace, CostQuery, parameters_of
from apps.console.pages.costs.sums import Sums, summed_days, sums_of
from apps.console.pages.costs.tables import OWNER_KEYS, CostRow, cost_table
from apps.console.pages.costs.words import spent, under_words
from apps.console.pages.explorer.links import PAGES
from apps.console.pages.explorer.tables import (
    CAUSES,
    CauseRow,
    cause_rows,
    explored_table,
    keyed_words,
)
from apps.console.pages.meters import Metered, meter_section
from apps.economics.gpu_meters import meters_together
from apps.ledger.queries.cost_report import (
    CostReport,
    cost_report,
    group_report,
    variance_where_kept,
)
from apps.ledger.queries.costs import least_sure
from apps.ledger.queries.cube import dimensions, filter_word, named_keys, read_question
from apps.ledger.queries.cube.days import costs_by_day
from apps.ledger.queries.cube.states import state_sums
from apps.show.amounts import change, gpu_hours
from apps.show.money import bridged, rounded_amount
from apps.show.waterfall import waterfall

DEFAULTS = {
    "window": DEFAULT_PERIOD,
    "group_by": "team",
    "basis": "effective",
    "cost": "charged",
    "compare": "",
}
LISTED = ("team", "cost_centre", "cluster", "pool", "provider", "region", "gpu_model", "purchase_option",
          "state", "kind", "status")  # fmt: skip
"""Dimensions with a choice in the filter bar; by any other a row narrows."""
MOST_CHOICES = 200
MOST_DAYS_DRAWN = 400
BY_TEAM = "by-team"
PLACE = CostPlace("costs", table="groups", by_idle="-state_waste_cost")


@shown(EVERYONE, "costs")
def explorer(context: Context) -> ConsolePage | HttpResponse:
    """The groups of the question, their days, and what made the difference."""
    cost_query = CostQuery(
        context,
        read_question(
            parameters_of(context.query),
            viewer=context.viewer,
            organisation=context.organisation,
            calendar=context.calendar,
            defaults=DEFAULTS,
        ),
    )
    question = cost_query.question
    files = {file.table: file for file in _files_of(cost_query)}
    if context.csv_table is not None:
        if cost_query.asked.problems:
            return _not_understood(cost_query)
        return files_page(context, *files.values(), main=BY_TEAM)
    if cost_query.asked.nearest is not None:
        return _refused_page(cost_query, cost_query.asked.nearest)
    report = cost_report(question, context.at, of_days=True)
    status, summed = least_sure(report.quality.statuses), summed_days(report.daily)
    figures = cost_figures(cost_query, PLACE, summed, status)
    is_drawn = (question.window.end_day - question.window.first_day).days <= MOST_DAYS_DRAWN
    # REST groups by nothing unless it is told to.
    rest_params = {**cost_query.asked.with_texts(), "group_by": cost_query.texts["group_by"]}
    return ConsolePage(
        context=context,
        filters=_filter_bar(cost_query),
        finding=_title_sentence(cost_query, report, summed.whole),
        status=status,
        under=_quiet_words(cost_query, report),
        problems=cost_query.problems,
        sections=(
            FigureRow(figures) if figures else None,
            day_chart(cost_query, PLACE, report.daily.days, files[BY_DAY]) if is_drawn else None,
            _cause_chart(cost_query, report, files[CAUSES.name]),
            explored_table(report, cost_query).section(
                report.rows,
                context,
                total=report.total,
                csv=files["groups"],
                states=summed.whole.states,
                links=(Link("REST", f"{reverse('explore-costs')}?{urlencode(rest_params)}"),),
            ),
            _team_meters(cost_query, report),
        ),
        actions=(export_link(cost_query),),
        empty=cost_query.nothing("costs") if not report.rows else None,
    )


@shown(EVERYONE, "costs")
def earlier_address(context: Context) -> HttpResponse:
    """Where the explorer stood before it was the page of costs: the same question, here."""
    return HttpResponseRedirect(context.href(reverse("costs")))


def _files_of(cost_query: CostQuery) -> Iterator[CsvFile]:
    """Every group of the question, what made a difference; each team and each day by state, however the page is grouped."""
    context, question = cost_query.context, cost_query.question

    def groups() -> HttpResponse:
        report = group_report(question)
        return explored_table(report, cost_query).csv(report.rows, context, "costs")

    def causes() -> list[CauseRow]:
        variance = variance_where_kept(question)
        return [] if variance is None else cause_rows(variance.causes)

    def teams() -> HttpResponse:
        by_team = state_sums(question.whole.by("team"))
        rows = [
            CostRow((team.name, team.cost_centre), sums_of(by_team[(team.id,)]))
            for team in accounts.teams()
            if (team.id,) in by_team
        ]
        table = cost_table(cost_query, BY_TEAM, "Team", OWNER_KEYS)
        return table.csv(rows, context, "costs by team")

    yield csv_file("groups", context, groups)
    yield CAUSES.file("what made the difference", context, causes)
    yield csv_file(BY_TEAM, context, teams)
    yield days_file(
        cost_query, "costs by day", lambda: costs_by_day(question.whole, context.at).days
    )


def _not_understood(cost_query: CostQuery) -> HttpResponse:
    """A file has no place to say that it answers another question."""
    message = "; ".join(f"{name}: {text}" for name, text in cost_query.asked.problems.items())
    return HttpResponse(message, status=400, content_type="text/plain; charset=utf-8")


def _refused_page(cost_query: CostQuery, nearest: Mapping[str, str]) -> ConsolePage:
    """Return the page of what cannot be shown at once, with the question closest to it."""
    problem = list(cost_query.asked.problems.values())[-1]
    href = (
        reverse("costs") + f"?{urlencode({name: text for name, text in nearest.items() if text})}"
    )
    return ConsolePage(
        context=cost_query.context,
        filters=_filter_bar(cost_query),
        finding="This is more than can be shown at once",
        empty=EmptyState(
            "There is a question close to it",
            f"{problem[:1].upper()}{problem[1:]}.",
            (
                Step(
                    "The nearest that can be answered:",
                    link=Link("Ask the nearest question", href),
                ),
            ),
        ),
    )


def _team_meters(cost_query: CostQuery, report: CostReport) -> TableSection | None:
    """How hard the GPUs of each team worked, where meters can be told apart so."""
    rows = [
        Metered(
            cost_query.teams[team_id].name,
            meters,
            cost_query.href("costs-team", team_id, group_by="team", team=""),
        )
        for (team_id,), meters in report.meters.items()
        if isinstance(team_id, int)
    ]
    total = meters_together(report.meters.values())
    return meter_section(rows, total, "Team", cost_query.context)


def _cause_chart(cost_query: CostQuery, report: CostReport, file: CsvFile) -> LineChart | None:
    """The amounts as shown add up to the cent."""
    variance, against, window = report.variance, report.question.against, report.question.window
    currency = cost_query.currency
    if variance is None or against is None:
        return None
    amounts = bridged(
        variance.before_micros, list(variance.causes.values()), variance.after_micros, currency
    )
    rows = cause_rows(dict(zip(variance.causes, amounts, strict=True)))
    unpriced = [gpu_hours(ms) for ms in variance.unpriced_milliseconds]
    note = f"; without a price and in none of it: {unpriced[0]} h before, {unpriced[1]} h now"
    return LineChart(
        name="causes-chart",
        title="What made the difference",
        unit=f"{compared_span_label(against, window)} to {span(window)}, {currency}"
        f"{note if any(variance.unpriced_milliseconds) else ''}",
        figure=waterfall(
            ("Before", variance.before_micros),
            [(row.name, row.micros) for row in rows],
            ("Now", variance.after_micros),
            currency,
        ),
        behind=CAUSES.section(rows, cost_query.context),
        csv=file,
    )


def _title_sentence(cost_query: CostQuery, report: CostReport, sums: Sums) -> str:
    question, names, within = report.question, report.names, cost_query.words.within
    total, before = report.total.sums.micros, report.total.before
    if not report.rows:
        audience = "anybody" if cost_query.context.viewer.sees_everything else "your teams"
        return f"Nothing was charged to {audience} {within}."
    if total is None:
        return f"What it cost {within} is not known: no price covers it."
    total_text = rounded_amount(total, cost_query.currency)
    if before is not None and question.against is not None:
        moved = "" if before.micros is None else change(total, before.micros)
        then = compared_span_label(question.against, question.window)
        return f"Costs were {total_text} {within}{f', {moved} against {then}' if moved else ''}."
    name = question.group_by[0] if question.group_by else ""
    keys = {key for key in {row.keys[0] for row in report.rows} if names.filter_text(name, key)}
    named = [row for row in report.rows if row.sums.micros is not None and row.keys[0] in keys]
    is_one = len(report.rows) == 1 and name in PAGES
    if len(named) < 2 or (name and dimensions()[name].is_time):
        audience = names.text(name, report.rows[0].keys[0]) if is_one else "Everything"
        return spent(cost_query, audience, sums)
    first = max(named, key=lambda row: row.sums.micros or 0)
    text = keyed_words(name, names.text(name, first.keys[0]))
    most = rounded_amount(first.sums.micros, cost_query.currency)
    return f"{text} cost the most {within}: {most} of {total_text}."


def _quiet_words(cost_query: CostQuery, report: CostReport) -> tuple[str, ...]:
    """How sure it is, what it is held against, what is told as of today, and how days and statements differ."""
    words = [*under_words(cost_query, report.quality)]
    if report.question.against is not None:
        against = compared_span_label(report.question.against, report.question.window)
        words.append(f"against {against}")
    if report.of_today:
        labels = " and ".join(dimensions()[name].label.lower() for name in report.of_today)
        words.append(f"{labels} as of today, in closed months too")
    # Corrections count on the day that they are of.
    for micros, text in (
        (report.posted.later_micros, "of it is posted in later months, as corrections"),
        (
            report.posted.earlier_micros,
            "posted in it corrects earlier months, and is in their days",
        ),
    ):
        if micros:
            words.append(f"{rounded_amount(micros, cost_query.currency)} {text}")
    return tuple(words)


def _filter_bar(cost_query: CostQuery) -> tuple[Filter, ...]:
    """A narrowing by any dimension of the bar: each name that there is (up to 200), and what the address asks for."""
    texts, dimension_by_name, viewer = cost_query.texts, dimensions(), cost_query.context.viewer
    labels = {name: dimension.label for name, dimension in dimension_by_name.items()}
    chosen = [*texts["group_by"].split(","), ""][:2]
    bar: list[Filter] = [
        period_filter(texts, cost_query.words),
        filter_of("group_by", "Group by", labels, {"group_by": chosen[0]}),
        filter_of("group_by", "and by", {"": "Nothing else", **labels}, {"group_by": chosen[1]}),
        compare_filter(texts["compare"], cost_query.question.against, "Nothing"),
    ]
    unlisted = [name for name in dimension_by_name if name not in LISTED and name in texts]
    for name in (*LISTED, *unlisted):
        text = texts.get(name, "")
        names = sorted(named_keys(name, viewer) or ())[:MOST_CHOICES] if name in LISTED else []
        choices = {"": "All", **{filter_word(value): keyed_words(name, value) for value in names}}
        if text and text not in choices:
            choices[text] = describe_names(text)
        if len(choices) > 2 or text:
            bar.append(filter_of(name, labels[name], choices, {name: text}))
    return (*bar, *cost_query.measure_filters())


urlpatterns = [
    path("costs", explorer, name="costs"),
    path("costs/explore", earlier_address, name="explorer"),
]
