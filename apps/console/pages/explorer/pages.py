"""The Cost explorer: costs by any two dimensions, against another period, and why they changed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import urlencode

from apps.accounts import queries as accounts
from apps.console.kit.chart import FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.filters import compare_filter, describe_names, filter_of, period_filter
from apps.console.kit.frame import Choice, EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.periods import DEFAULT_PERIOD, compared_span_label, span
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import TableSection
from apps.console.pages.costs.days import days_file
from apps.console.pages.costs.drilldown import CostPlace, day_chart, export_link, meters_of
from apps.console.pages.costs.figures import cost_figures
from apps.console.pages.costs.question import CostQuery, parameters_of
from apps.console.pages.costs.sums import Sums, summed_days, sums_of
from apps.console.pages.costs.tables import OWNER_KEYS, CostRow, cost_table
from apps.console.pages.costs.words import spent, under_words
from apps.console.pages.explorer.links import PAGES, group_links
from apps.console.pages.explorer.tables import (
    CAUSES,
    CauseRow,
    explored_table,
    keyed_words,
)
from apps.ledger.queries.costs import least_sure
from apps.ledger.queries.cube import (
    CostVariance,
    CubeAnswer,
    CubeNames,
    CubeQuestion,
    CubeRefusal,
    PostedApart,
    dimensions,
    explore,
    filter_word,
    named_keys,
    names_of,
    posted_apart,
    read_question,
    variance_of,
)
from apps.ledger.queries.cube.days import Daily, costs_against, costs_by_day
from apps.ledger.queries.cube.states import data_quality, state_sums
from apps.show.amounts import change, gpu_hours
from apps.show.money import bridged, rounded_amount
from apps.show.waterfall import waterfall
from apps.show.words import CAUSE_WORDS

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
ORDERS = {"-not_worked": "-state_waste_cost"}
"""What the order of a key figure's rows is called here."""
METERED = frozenset({"team", "pool", "workload"})
PLACE = CostPlace("costs", table="groups")


@shown(EVERYONE, "costs")
def explorer(context: Context) -> ConsolePage | HttpResponse:
    """The groups of the question, their days, and what made the difference."""
    cost_query = _explored_costs(context)
    files = {file.table: file for file in _files_of(cost_query)}
    if context.csv_table is not None:
        is_understood = not cost_query.asked.problems
        return (
            files_page(context, *files.values(), main="by-team")
            if is_understood
            else _not_understood(cost_query)
        )
    if cost_query.asked.nearest is not None:
        return _refused_page(cost_query, cost_query.asked.nearest)
    answer = explore(cost_query.question)
    daily = _daily_costs(cost_query.question, context.at)
    certainty = data_quality(daily.states, cost_query.question.window, context.at)
    status = least_sure(certainty.statuses)
    summed = summed_days(daily)
    figures = cost_figures(
        cost_query,
        summed,
        status,
        lambda sort: PLACE.rows(cost_query, ORDERS.get(sort, sort)),
        is_of_job=False,
    )
    names = names_of(answer)
    variance = _cost_variance(cost_query.question)
    days = (cost_query.question.window.end_day - cost_query.question.window.first_day).days
    return ConsolePage(
        context=context,
        filters=_filter_bar(cost_query),
        finding=_title_sentence(cost_query, answer, names, summed.whole),
        status=status,
        under=(
            *_quiet_words(cost_query, answer, under_words(cost_query, certainty)),
            *_posted_words(posted_apart(cost_query.question), cost_query.currency),
        ),
        problems=cost_query.problems,
        sections=(
            FigureRow(figures) if figures else None,
            day_chart(cost_query, PLACE, daily.days, files["by-day"])
            if days <= MOST_DAYS_DRAWN
            else None,
            None if variance is None else _cause_chart(variance, cost_query, files[CAUSES.name]),
            explored_table(answer, group_links(cost_query, names), context.currency).section(
                answer.rows,
                context,
                total=answer.total,
                csv=files["groups"],
                states=summed.whole.states,
                links=(Link("REST", _rest_address(cost_query)),),
            ),
            _team_meters(cost_query),
        ),
        actions=(export_link(cost_query),),
        empty=cost_query.nothing("costs") if not answer.rows else None,
    )


@shown(EVERYONE, "costs")
def earlier_address(context: Context) -> HttpResponse:
    """Where the explorer stood before it was the page of costs: the same question, here."""
    return HttpResponseRedirect(context.href(reverse("costs")))


def _files_of(cost_query: CostQuery) -> Iterator[CsvFile]:
    """Every group of the question, what made a difference; each team and each day by state, however the page is grouped."""
    context = cost_query.context

    def groups() -> HttpResponse:
        answer = explore(cost_query.question)
        table = explored_table(answer, group_links(cost_query, names_of(answer)), context.currency)
        return table.csv(answer.rows, context, "costs")

    def causes() -> list[CauseRow]:
        variance = _cost_variance(cost_query.question)
        return [] if variance is None else _cause_rows(variance.causes)

    def teams() -> list[CostRow]:
        by_team = state_sums(_ungrouped_question(cost_query.question).by("team"))
        return [
            CostRow((team.name, team.cost_centre), sums_of(by_team[(team.id,)]))
            for team in accounts.teams()
            if (team.id,) in by_team
        ]

    yield csv_file("groups", context, groups)
    yield CAUSES.file("what made the difference", context, causes)
    yield cost_table(cost_query, "by-team", "Team", OWNER_KEYS).file(
        "costs by team", context, teams
    )
    yield days_file(
        cost_query,
        "costs by day",
        lambda: costs_by_day(_ungrouped_question(cost_query.question), context.at).days,
    )


def _explored_costs(context: Context) -> CostQuery:
    return CostQuery(
        context,
        read_question(
            parameters_of(context.query),
            viewer=context.viewer,
            organisation=context.organisation,
            calendar=context.calendar,
            defaults=DEFAULTS,
        ),
    )


def _rest_address(cost_query: CostQuery) -> str:
    """Return the address of the same question in REST, which groups by nothing unless it is told to."""
    params = {**cost_query.asked.with_texts(), "group_by": cost_query.texts["group_by"]}
    return f"{reverse('explore-costs')}?{urlencode(params)}"


def _ungrouped_question(question: CubeQuestion) -> CubeQuestion:
    """All that is asked about, by days or teams, for however long; the other period aside."""
    return replace(question, against=None, group_by=(), is_bounded=False, tells_no_workload=False)


def _daily_costs(question: CubeQuestion, at: datetime) -> Daily:
    """The days, held against what the title and the table are, else against the span before."""
    full_question = _ungrouped_question(question)
    if question.against is None:
        return costs_by_day(full_question, at)
    return costs_against(full_question, question.against)


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


def _cost_variance(question: CubeQuestion) -> CostVariance | None:
    """None where nothing is compared, or where what is asked for is not kept by pool."""
    try:
        return variance_of(question)
    except CubeRefusal:
        return None


def _team_meters(cost_query: CostQuery) -> TableSection | None:
    """How hard the GPUs of each team worked, where meters can be told apart so."""
    filtered = {name for name in cost_query.question.filters if not name.startswith("tag.")}
    if cost_query.question.group_by != ("team",) or not filtered <= METERED:
        return None
    return meters_of(
        cost_query,
        cost_query.question,
        "team",
        "Team",
        lambda key: (
            cost_query.teams[key].name,
            cost_query.down("costs-team", key, group_by="team"),
        ),
    )


def _cause_chart(variance: CostVariance, cost_query: CostQuery, file: CsvFile) -> LineChart | None:
    """The amounts as shown add up to the cent."""
    currency, against = cost_query.currency, cost_query.question.against
    if against is None:
        return None
    amounts = bridged(
        variance.before_micros, list(variance.causes.values()), variance.after_micros, currency
    )
    rows = _cause_rows(dict(zip(variance.causes, amounts, strict=True)))
    unpriced = [gpu_hours(ms) for ms in variance.unpriced_milliseconds]
    note = f"; without a price and in none of it: {unpriced[0]} h before, {unpriced[1]} h now"
    cause_table = CAUSES.section(rows, cost_query.context)
    return LineChart(
        name="causes-chart",
        title="What made the difference",
        unit=f"{compared_span_label(against, cost_query.question.window)} to {span(cost_query.question.window)}, {currency}"
        f"{note if any(variance.unpriced_milliseconds) else ''}",
        figure=waterfall(
            ("Before", variance.before_micros),
            [(row.name, row.micros) for row in rows],
            ("Now", variance.after_micros),
            currency,
        ),
        behind=cause_table,
        csv=file,
    )


def _cause_rows(causes: Mapping[str, int]) -> list[CauseRow]:
    return [CauseRow(*CAUSE_WORDS[name], causes[name]) for name in CAUSE_WORDS]


def _title_sentence(cost_query: CostQuery, answer: CubeAnswer, names: CubeNames, sums: Sums) -> str:
    total, before, within = (
        answer.total.sums.micros,
        answer.total.before,
        cost_query.words.within,
    )
    if not answer.rows:
        audience = "anybody" if cost_query.context.viewer.sees_everything else "your teams"
        return f"Nothing was charged to {audience} {within}."
    if total is None:
        return f"What it cost {within} is not known: no price covers it."
    total_text = rounded_amount(total, cost_query.currency)
    if before is not None and answer.question.against is not None:
        moved = "" if before.micros is None else change(total, before.micros)
        then = compared_span_label(answer.question.against, answer.question.window)
        return f"Costs were {total_text} {within}{f', {moved} against {then}' if moved else ''}."
    name = answer.question.group_by[0] if answer.question.group_by else ""
    keys = {key for key in {row.keys[0] for row in answer.rows} if names.filter_text(name, key)}
    named = [row for row in answer.rows if row.sums.micros is not None and row.keys[0] in keys]
    is_one = len(answer.rows) == 1 and name in PAGES
    if len(named) < 2 or (name and dimensions()[name].is_time):
        audience = names.text(name, answer.rows[0].keys[0]) if is_one else "Everything"
        return spent(cost_query, audience, sums)
    first = max(named, key=lambda row: row.sums.micros or 0)
    text = keyed_words(name, names.text(name, first.keys[0]))
    most = rounded_amount(first.sums.micros, cost_query.currency)
    return f"{text} cost the most {within}: {most} of {total_text}."


def _quiet_words(
    cost_query: CostQuery, answer: CubeAnswer, certainty_words: tuple[str, ...]
) -> tuple[str, ...]:
    labels = [dimensions()[name].label.lower() for name in answer.of_today]
    against = answer.question.against
    return (
        *certainty_words,
        *(
            (f"against {compared_span_label(against, answer.question.window)}",)
            if against is not None
            else ()
        ),
        *((f"{' and '.join(labels)} as of today, in closed months too",) if labels else ()),
    )


def _posted_words(posted: PostedApart, currency: str) -> tuple[str, ...]:
    """By how much days and statements differ: corrections count on the day that they are of."""
    words = (
        (posted.later_micros, "of it is posted in later months, as corrections"),
        (posted.earlier_micros, "posted in it corrects earlier months, and is in their days"),
    )
    return tuple(f"{rounded_amount(micros, currency)} {text}" for micros, text in words if micros)


def _filter_bar(cost_query: CostQuery) -> tuple[Filter, ...]:
    texts, known_dimensions = cost_query.texts, dimensions()
    groups = {name: dimension.label for name, dimension in known_dimensions.items()}
    chosen = [*texts["group_by"].split(","), ""][:2]
    bar = [
        period_filter(texts, cost_query.words),
        _group_filter("Group by", groups, chosen[0]),
        _group_filter("and by", {"": "Nothing else", **groups}, chosen[1]),
        compare_filter(texts["compare"], cost_query.question.against, "Nothing"),
    ]
    for name in [
        *LISTED,
        *(name for name in known_dimensions if name not in LISTED and name in texts),
    ]:
        choices = _name_choices(name, texts.get(name, ""), cost_query.context)
        if len(choices) > 2 or texts.get(name):
            bar.append(
                filter_of(name, known_dimensions[name].label, choices, {name: texts.get(name, "")})
            )
    return (*bar, *cost_query.measure_filters())


def _group_filter(label: str, choices: Mapping[str, str], chosen: str) -> Filter:
    return Filter(
        "group_by",
        label,
        tuple(Choice(value, text, value == chosen) for value, text in choices.items()),
    )


def _name_choices(name: str, chosen: str, context: Context) -> dict[str, str]:
    """All of it, each name that there is (up to 200), and what the address asks for."""
    keys_by_name = named_keys(name, context.viewer) if name in LISTED else None
    names = sorted(keys_by_name or ())[:MOST_CHOICES]
    words = {filter_word(text): keyed_words(name, text) for text in names}
    return {"": "All", **words} | (
        {chosen: describe_names(chosen)} if chosen not in words and chosen else {}
    )


urlpatterns = [
    path("costs", explorer, name="costs"),
    path("costs/explore", earlier_address, name="explorer"),
]
