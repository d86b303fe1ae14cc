"""The Cost explorer: costs by any two dimensions, against another period, and why they changed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import urlencode

from apps.accounts import queries as accounts
from apps.console.kit.chart import FigureRow, LineChart
from apps.console.kit.filters import compare_filter, filter_of, names_said, period_filter
from apps.console.kit.frame import Choice, EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, Section, shown
from apps.console.kit.periods import DEFAULT_PERIOD, span, span_beside
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.costs.below import CostPlace, day_chart, export_link, meters_of
from apps.console.pages.costs.days import days_file
from apps.console.pages.costs.figures import cost_figures
from apps.console.pages.costs.question import AskedCosts, parameters_of
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
from apps.ledger.queries.cube.states import state_sums, sureness
from apps.show.amounts import change, gpu_hours
from apps.show.money import bridged, whole_amount
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
def explorer(context: Context) -> ConsolePage:
    """The groups of the question, their days, and what made the difference."""
    asked = _explored_costs(context)
    if asked.asked.nearest is not None:
        return _refused_page(asked, asked.asked.nearest)
    answer = explore(asked.question)
    daily = _daily_costs(asked.question, context.at)
    known = sureness(daily.states, asked.question.window, context.at)
    status = least_sure(known.statuses)
    summed = summed_days(daily)
    figures = cost_figures(
        asked,
        summed,
        status,
        lambda sort: PLACE.rows(asked, ORDERS.get(sort, sort)),
        is_of_job=False,
    )
    names = names_of(answer)
    found = _known_variance(asked.question)
    days = (asked.question.window.end_day - asked.question.window.first_day).days
    return ConsolePage(
        context=context,
        filters=_filter_bar(asked),
        finding=_title_sentence(asked, answer, names, summed.whole),
        status=status,
        under=(
            *_quiet_words(asked, answer, under_words(asked, known)),
            *_posted_words(posted_apart(asked.question), asked.currency),
        ),
        problems=asked.problems,
        sections=(
            FigureRow(figures) if figures else None,
            day_chart(asked, PLACE, daily.days) if days <= MOST_DAYS_DRAWN else None,
            None if found is None else _cause_chart(found, asked),
            explored_table(answer, group_links(asked, names), context.currency).section(
                answer.rows,
                context,
                total=answer.total,
                csv_href=reverse("explorer-csv"),
                states=summed.whole.states,
                links=(Link("REST", _rest_address(asked)),),
            ),
            _team_meters(asked),
        ),
        actions=(export_link(asked),),
        empty=asked.nothing("costs") if not answer.rows else None,
    )


@shown(EVERYONE, "costs")
def explorer_csv(context: Context) -> HttpResponse:
    """Every group of the question."""
    asked = _explored_costs(context)
    if asked.asked.problems:
        return _not_understood(asked)
    answer = explore(asked.question)
    table = explored_table(answer, group_links(asked, names_of(answer)), context.currency)
    return table.csv(answer.rows, context, "costs")


@shown(EVERYONE, "costs")
def causes_csv(context: Context) -> HttpResponse:
    """What made the difference, exactly."""
    asked = _explored_costs(context)
    if asked.asked.problems:
        return _not_understood(asked)
    found = _known_variance(asked.question)
    rows = [] if found is None else _cause_rows(found.causes)
    return CAUSES.csv(rows, context, "what made the difference")


@shown(EVERYONE, "costs")
def teams_csv(context: Context) -> HttpResponse:
    """Each team by state, whatever else the page is grouped by."""
    asked = _explored_costs(context)
    if asked.asked.problems:
        return _not_understood(asked)
    by_team = state_sums(_whole_question(asked.question).by("team"))
    rows = [
        CostRow((team.name, team.cost_centre), sums_of(by_team[(team.id,)]))
        for team in accounts.teams()
        if (team.id,) in by_team
    ]
    return cost_table(asked, "by-team", "Team", OWNER_KEYS).csv(rows, context, "costs by team")


@shown(EVERYONE, "costs")
def days_csv(context: Context) -> HttpResponse:
    """Every day by state."""
    asked = _explored_costs(context)
    if asked.asked.problems:
        return _not_understood(asked)
    return days_file(
        asked, "costs by day", costs_by_day(_whole_question(asked.question), context.at).days
    )


@shown(EVERYONE, "costs")
def earlier_address(context: Context) -> HttpResponse:
    """Where the explorer stood before it was the page of costs: the same question, here."""
    return HttpResponseRedirect(context.href(reverse("costs")))


def _explored_costs(context: Context) -> AskedCosts:
    return AskedCosts(
        context,
        read_question(
            parameters_of(context.query),
            viewer=context.viewer,
            organisation=context.organisation,
            calendar=context.calendar,
            defaults=DEFAULTS,
        ),
    )


def _rest_address(asked: AskedCosts) -> str:
    """The same question of REST, which groups by nothing unless it is told to."""
    given = {**asked.asked.with_texts(), "group_by": asked.texts["group_by"]}
    return f"{reverse('explore-costs')}?{urlencode(given)}"


def _whole_question(question: CubeQuestion) -> CubeQuestion:
    """All that is asked about, by days or teams, for however long; the other period aside."""
    return replace(question, against=None, group_by=(), is_bounded=False, tells_no_workload=False)


def _daily_costs(question: CubeQuestion, at: datetime) -> Daily:
    """The days, held against what the title and the table are, else against the span before."""
    whole = _whole_question(question)
    if question.against is None:
        return costs_by_day(whole, at)
    return costs_against(whole, question.against)


def _not_understood(asked: AskedCosts) -> HttpResponse:
    """A file has no place to say that it answers another question."""
    told = "; ".join(f"{name}: {text}" for name, text in asked.asked.problems.items())
    return HttpResponse(told, status=400, content_type="text/plain; charset=utf-8")


def _refused_page(asked: AskedCosts, nearest: Mapping[str, str]) -> ConsolePage:
    """What cannot be shown at once, with the question closest to it."""
    problem = list(asked.asked.problems.values())[-1]
    href = (
        reverse("costs") + f"?{urlencode({name: text for name, text in nearest.items() if text})}"
    )
    return ConsolePage(
        context=asked.context,
        filters=_filter_bar(asked),
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


def _known_variance(question: CubeQuestion) -> CostVariance | None:
    """None where nothing is compared, or where what is asked for is not kept by pool."""
    try:
        return variance_of(question)
    except CubeRefusal:
        return None


def _team_meters(asked: AskedCosts) -> Section | None:
    """How hard the GPUs of each team worked, where meters can be told apart so."""
    kept = {name for name in asked.question.filters if not name.startswith("tag.")}
    if asked.question.group_by != ("team",) or not kept <= METERED:
        return None
    return meters_of(
        asked,
        asked.question,
        "team",
        "Team",
        lambda key: (asked.teams[key].name, asked.down("costs-team", key, group_by="team")),
    )


def _cause_chart(found: CostVariance, asked: AskedCosts) -> LineChart | None:
    """The amounts as shown add up to the cent."""
    currency, against = asked.currency, asked.question.against
    if against is None:
        return None
    amounts = bridged(
        found.before_micros, list(found.causes.values()), found.after_micros, currency
    )
    rows = _cause_rows(dict(zip(found.causes, amounts, strict=True)))
    unpriced = [gpu_hours(ms) for ms in found.unpriced_milliseconds]
    beside = f"; without a price and in none of it: {unpriced[0]} h before, {unpriced[1]} h now"
    behind = CAUSES.section(rows, asked.context)
    return LineChart(
        name="causes-chart",
        title="What made the difference",
        unit=f"{span_beside(against, asked.question.window)} to {span(asked.question.window)}, {currency}"
        f"{beside if any(found.unpriced_milliseconds) else ''}",
        figure=waterfall(
            ("Before", found.before_micros),
            [(row.name, row.micros) for row in rows],
            ("Now", found.after_micros),
            currency,
        ),
        behind=behind,
        csv_href=asked.href("explorer-causes"),
    )


def _cause_rows(causes: Mapping[str, int]) -> list[CauseRow]:
    return [CauseRow(*CAUSE_WORDS[name], causes[name]) for name in CAUSE_WORDS]


def _title_sentence(asked: AskedCosts, answer: CubeAnswer, names: CubeNames, sums: Sums) -> str:
    whole, before, within = answer.total.sums.micros, answer.total.before, asked.words.within
    if not answer.rows:
        who = "anybody" if asked.context.viewer.sees_everything else "your teams"
        return f"Nothing was charged to {who} {within}."
    if whole is None:
        return f"What it cost {within} is not known: no price covers it."
    said = whole_amount(whole, asked.currency)
    if before is not None and answer.question.against is not None:
        moved = "" if before.micros is None else change(whole, before.micros)
        then = span_beside(answer.question.against, answer.question.window)
        return f"Costs were {said} {within}{f', {moved} against {then}' if moved else ''}."
    name = answer.question.group_by[0] if answer.question.group_by else ""
    keys = {key for key in {row.keys[0] for row in answer.rows} if names.filter_text(name, key)}
    named = [row for row in answer.rows if row.sums.micros is not None and row.keys[0] in keys]
    is_one = len(answer.rows) == 1 and name in PAGES
    if len(named) < 2 or (name and dimensions()[name].is_time):
        who = names.text(name, answer.rows[0].keys[0]) if is_one else "Everything"
        return spent(asked, who, sums)
    first = max(named, key=lambda row: row.sums.micros or 0)
    text = keyed_words(name, names.text(name, first.keys[0]))
    most = whole_amount(first.sums.micros, asked.currency)
    return f"{text} cost the most {within}: {most} of {said}."


def _quiet_words(asked: AskedCosts, answer: CubeAnswer, known: tuple[str, ...]) -> tuple[str, ...]:
    labels = [dimensions()[name].label.lower() for name in answer.of_today]
    against = answer.question.against
    return (
        *known,
        *(
            (f"against {span_beside(against, answer.question.window)}",)
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
    return tuple(f"{whole_amount(micros, currency)} {text}" for micros, text in words if micros)


def _filter_bar(asked: AskedCosts) -> tuple[Filter, ...]:
    texts, known = asked.texts, dimensions()
    groups = {name: each.label for name, each in known.items()}
    chosen = [*texts["group_by"].split(","), ""][:2]
    bar = [
        period_filter(texts, asked.words),
        _group_filter("Group by", groups, chosen[0]),
        _group_filter("and by", {"": "Nothing else", **groups}, chosen[1]),
        compare_filter(texts["compare"], asked.question.against, "Nothing"),
    ]
    for name in [*LISTED, *(name for name in known if name not in LISTED and name in texts)]:
        choices = _name_choices(name, texts.get(name, ""), asked.context)
        if len(choices) > 2 or texts.get(name):
            bar.append(filter_of(name, known[name].label, choices, {name: texts.get(name, "")}))
    return (*bar, *asked.measure_filters())


def _group_filter(label: str, choices: Mapping[str, str], chosen: str) -> Filter:
    return Filter(
        "group_by",
        label,
        tuple(Choice(value, text, value == chosen) for value, text in choices.items()),
    )


def _name_choices(name: str, chosen: str, context: Context) -> dict[str, str]:
    """All of it, each name that there is (up to 200), and what the address asks for."""
    found = named_keys(name, context.viewer) if name in LISTED else None
    names = sorted(found or ())[:MOST_CHOICES]
    words = {filter_word(text): keyed_words(name, text) for text in names}
    return {"": "All", **words} | (
        {chosen: names_said(chosen)} if chosen not in words and chosen else {}
    )


urlpatterns = [
    path("costs", explorer, name="costs"),
    path("costs.csv", teams_csv, name="costs-csv"),
    path("costs/days.csv", days_csv, name="costs-days"),
    path("costs/explore", earlier_address, name="explorer"),
    path("costs/explore.csv", explorer_csv, name="explorer-csv"),
    path("costs/explore/causes.csv", causes_csv, name="explorer-causes"),
]
