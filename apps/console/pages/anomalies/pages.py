"""The pages of what changed: all of it, and one change, each with its tables."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import URLPattern, path, reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import DAY, FIGURE, ISO_DAY, MONEY, PROSE, SIGNED_RATIO
from apps.console.kit.chart import Figure, FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import period_filter, requested_window
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import period_words
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.anomalies import verdicts, words
from apps.console.pages.anomalies.spend import (
    SPEND_ANOMALIES,
    spend_anomaly_page,
    spend_finding,
    spend_rows,
)
from apps.console.pages.anomalies.tables import CAUSES
from apps.console.pages.anomalies.verdicts import (
    answer_links,
    finding_subject,
    get_finding_or_404,
    verdicts_section,
)
from apps.console.pages.anomalies.watched import WATCHED, watched_figures
from apps.economics.money import MICROS
from apps.ledger.queries.cube import filter_word
from apps.ledger.queries.windows import Window
from apps.review.queries import finding_words
from apps.review.queries import findings as review
from apps.review.queries.findings import FindingFact, FindingsWanted, LatestDetectionRun
from apps.review.queries.measures import COST, TOKENS
from apps.review.queries.series import Series, one_series
from apps.review.queries.verdicts import FINDING, SPEND, STATES, WAITING
from apps.show.amounts import counted
from apps.show.level_lines import Level, level_line
from apps.show.marked_days import NumberedDay
from apps.show.money import rounded_amount, short_amount
from apps.show.time import weekday
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.workloads.queries import WorkloadFact, workloads

SEEN_FOR = ("90d", "the last 90 days")
"""Changes are few: a month of them mostly says nothing."""
DAY_LONG = timedelta(days=1)
LEVEL_BEFORE = timedelta(days=28)
DRAWN = timedelta(days=90)


class Anomaly(NamedTuple):
    """A change, and the workload and team that it is of."""

    found: FindingFact
    workload: WorkloadFact
    team: str


ANOMALIES = Table[Anomaly](
    "table",
    "What changed",
    (
        Column(
            "title",
            "What changed",
            lambda row: finding_words.title_of(row.found, row.workload.name),
            PROSE,
            csv="what",
            href=lambda row: reverse("finding", args=[row.found.id]),
        ),
        Column("state", "State", lambda row: STATES[row.found.state]),
        Column("day", "On", lambda row: row.found.changed_on, DAY, csv="changed_on"),
        Column("team", "Team", lambda row: row.team),
        Column("kind", "", lambda row: row.found.kind),
        Column(
            "effect",
            "By",
            lambda row: row.found.effect_ratio,
            SIGNED_RATIO,
            warns=lambda row: row.found.is_worse,
        ),
        Column(
            "impact",
            "Projected monthly impact",
            lambda row: row.found.impact_micros,
            MONEY,
        ),
        CURRENCY_COLUMN,
        Column(
            "cause",
            "Possible cause",
            lambda row: words.cause_in_short(row.found),
            PROSE,
            csv="about_then",
        ),
    ),
    noun=("change", "changes"),
    about="{said}, each against its own weeks before; a change counts from the second pass on",
    sort="sort",
    csv_first=("changed_on",),
)
SERIES_DAYS = Table[Any](
    "days",
    "The figure by day",
    (
        Column("day", "", lambda day: day.date, ISO_DAY),
        Column("value", "", lambda day: f"{day.value:.6f}"),
        Column("output", "", lambda day: f"{day.output:.0f}"),
    ),
)
DRAWN_DAYS = Table[tuple[date, float, str]](
    "days",
    "The figure by day",
    (
        Column("day", "Day", lambda point: point[0], DAY),
        Column("figure", "Figure", lambda point: point[2], FIGURE),
    ),
)
PARTS = Table[tuple[str, str, str]](
    "parts",
    "What it is made of",
    (
        Column("part", "Part", lambda row: row[0]),
        Column("amount", "Amount", lambda row: row[2], FIGURE),
        Column("meaning", "What it is", lambda row: row[1], PROSE),
    ),
    about="the parts add up to the difference to the last digit",
)


@shown(EVERYONE, "findings")
def anomalies(context: Context) -> ConsolePage:
    """Show what changed in a span, the newest first."""
    window, reading = requested_window(context, *SEEN_FOR)
    period_text, last_look = (
        period_words(window, context.calendar.today),
        review.latest_detection_run(),
    )
    rows, spent = rows_of(window, context), spend_rows(window, context)
    finding = _changes_finding([row.found for row in rows], period_text.within, context.currency)
    watched = [] if rows or spent or last_look is None else watched_figures(context)
    return ConsolePage(
        context=context,
        finding=spend_finding(spent, finding, period_text.within, context.currency),
        under=(_what_is_watched(last_look, period_text.days),),
        filters=(period_filter(reading.texts, period_text),),
        problems=tuple(reading.problems),
        main_table=ANOMALIES.name,
        sections=(
            WATCHED.section(watched, context) if watched else None,
            SPEND_ANOMALIES.section(spent, context, csv_name="spend-anomalies"),
            ANOMALIES.section(rows, context, csv_name="findings", is_shown=bool(rows)),
        ),
        empty=None if rows or spent or watched else _no_changes(last_look),
    )


@shown(EVERYONE, "findings")
def anomaly(context: Context, finding_id: int) -> ConsolePage:
    """One change: its days, its parts, what changed about then."""
    fact, currency = get_finding_or_404(finding_id, context), context.currency
    judged_anomaly, series = finding_subject(fact), series_of(fact, context)
    days_file = SERIES_DAYS.file(
        f"finding-{finding_id}", context, lambda: () if series is None else series.days
    )
    return ConsolePage(
        context=context,
        finding=judged_anomaly.title,
        under=(
            f"{words.UNITS[fact.measure]}; first seen {weekday(fact.first_seen_on)}, "
            f"last {weekday(fact.last_seen_on)}; {words.cause_in_short(fact)}",
            *words.answered(fact),
        ),
        back=Link("All anomalies and improvements", reverse("findings")),
        actions=(_way_to(workloads()[fact.workload_id]), *answer_links(judged_anomaly, context)),
        sections=(
            FigureRow(_change_figures(fact, currency)),
            _level_chart(fact, series, days_file, context),
            PARTS.section(
                _parts_of(fact, currency), context, total=_level_row(fact, "Since", currency)
            ),
            CAUSES.section(list(enumerate(fact.causes, start=1)), context),
            verdicts_section(judged_anomaly, context),
        ),
        csv_files=(days_file,),
    )


def rows_of(window: Window, context: Context) -> list[Anomaly]:
    """Every change in a window of what the viewer sees."""
    wanted = FindingsWanted(context.seen_teams, since=window.first_day, until=window.end_day)
    facts = workloads()
    teams = {team.id: team.name for team in accounts.teams()}
    return [
        Anomaly(finding, facts[finding.workload_id], teams[facts[finding.workload_id].team_id])
        for finding in review.findings(wanted, context.at)
    ]


def series_of(finding: FindingFact, context: Context) -> Series | None:
    """The days that were looked at, up to the last look that found it."""
    return one_series(finding.key, finding.last_seen_on, context.organisation.zone)


def _changes_finding(findings: Sequence[FindingFact], within: str, currency: str) -> str:
    if not findings:
        return f"Nothing is known to have changed {within}"
    waiting = [finding_fact for finding_fact in findings if finding_fact.state in WAITING]
    if not waiting:
        return f"Nothing that changed {within} waits for an answer"
    worse = [finding for finding in waiting if finding.is_worse]
    better = len(waiting) - len(worse)
    more = sum(finding.impact_micros for finding in worse if finding.impact_micros is not None)
    kinds = [counted(len(worse), "anomaly", "anomalies")] if worse else []
    kinds += [counted(better, "improvement")] if better else []
    sentence = f"{' and '.join(kinds)} {within}"
    if not more:
        return sentence
    return f"{sentence}; anomalies come to +{rounded_amount(more, currency)} a month"


def _what_is_watched(last_look: LatestDetectionRun | None, days: str) -> str:
    if last_look is None:
        return f"{days}; not run yet"
    return (
        f"{days}; {counted(last_look.series, 'figure')} watched, last on {weekday(last_look.day)}"
    )


def _no_changes(last_look: LatestDetectionRun | None) -> EmptyState:
    return EmptyState(
        title="No figure changed its level" if last_look else "No figure was looked at yet",
        sentence="Every night the spend of the organisation, teams, pools, workloads and charges is "
        "held against days like it, and the cost of 1,000 requests and the tokens of a request of each "
        "service, and MFU and data wait of each training programme, against their own "
        "weeks before. A level that is new in two looks is listed here, with what it is made of "
        "and what changed about then. A figure needs three weeks of days.",
        steps=(
            Step(
                "What is looked at: services, and the runs of training programmes.",
                link=Link("Services", reverse("services")),
            ),
            Step(
                "Deployments, models and prompts can be named as causes where they are reported: "
                "on the page of a service, or by whatever deploys it:",
                command='curl -X POST "$RUNRATE_URL/api/v1/workload-changes" '
                '-H "Authorization: Bearer $TOKEN" -d @changes.json',
            ),
        ),
    )


def _change_figures(finding: FindingFact, currency: str) -> tuple[Figure, ...]:
    worth = finding.impact_micros
    return (
        Figure("Before", words.level(finding, finding.before, currency), "", ""),
        Figure("Since", words.level(finding, finding.after, currency), "", ""),
        Figure(
            "Projected monthly impact",
            short_amount(worth, currency),
            words.impact(finding, currency),
            "",
            is_unknown=worth is None,
        ),
    )


def _level_chart(
    finding: FindingFact, series: Series | None, days_file: CsvFile, context: Context
) -> LineChart | None:
    """The days up to the last look, with both levels; None where there is no day to draw."""
    currency = context.currency
    points = _drawn_points(finding, series, currency)
    if not points:
        return None
    before = f"{words.level(finding, finding.before, currency)} before"
    since = f"{words.level(finding, finding.after, currency)} since"
    scale, changed = _scale_of(finding), finding.changed_on
    first = max(points[0][0], changed - LEVEL_BEFORE)
    levels = (
        Level(first, max(first, changed - DAY_LONG), finding.before * scale, before),
        Level(changed, max(points[-1][0], changed), finding.after * scale, since),
    )
    marks = [
        NumberedDay(date.fromisoformat(cause["on"]), number)
        for number, cause in enumerate(finding.causes, start=1)
    ]
    return LineChart(
        name="level-figure",
        title=f"{before}, {since}",
        unit=f"{words.UNITS[finding.measure]}; the numbers mark possible causes",
        figure=level_line(
            points, levels, marks, lambda value: words.level(finding, value / scale, currency)
        ),
        behind=DRAWN_DAYS.section(points[::-1], context),
        csv=days_file,
    )


def _scale_of(finding: FindingFact) -> int:
    return 1 if finding.measure in (COST, TOKENS) else 100


def _drawn_points(
    finding: FindingFact, series: Series | None, currency: str
) -> list[tuple[date, float, str]]:
    """The days of the picture: each with the figure and its words."""
    if series is None:
        return []
    first = (finding.changed_on - DRAWN).toordinal()
    return [
        (
            date.fromordinal(day.day),
            day.value * _scale_of(finding),
            words.level(finding, day.value, currency),
        )
        for day in series.days
        if day.day >= first
    ]


def _parts_of(finding: FindingFact, currency: str) -> list[tuple[str, str, str]]:
    """From before to after; every digit is shown, so that they add up as they stand."""
    steps = [
        (*words.PARTS[part["name"]], words.moved(finding, part["millionths"], currency))
        for part in finding.parts
    ]
    return [_level_row(finding, "Before", currency), *steps]


def _level_row(finding: FindingFact, name: str, currency: str) -> tuple[str, str, str]:
    value = finding.before if name == "Before" else finding.after
    return name, "", words.exact(finding, round(value * MICROS), currency)


def _way_to(fact: WorkloadFact) -> Link:
    if fact.kind == "training":
        query = urlencode({"workload": filter_word(fact.name)})
        return Link(f"The runs of {fact.name}", f"{reverse('runs')}?{query}")
    return Link(f"The service {fact.name}", reverse("service", args=[fact.id]))


def _verdict_paths(address: str, kind: str) -> list[URLPattern]:
    """The forms about an anomaly of a kind, below its page."""
    page, verdict_id = verdicts.PAGES[kind], verdicts.IDS[kind][1]
    return [
        path(f"{address}/explain", verdicts.explain, name=f"{page}-explain"),
        path(f"{address}/false-alarm", verdicts.call_false, name=f"{page}-false-alarm"),
        path(f"{address}/mute", verdicts.mute, name=f"{page}-mute"),
        path(
            f"{address}/verdicts/<int:{verdict_id}>/take-back",
            verdicts.take_back,
            name=f"{page}-take-back",
        ),
    ]


urlpatterns = [
    path("findings", anomalies, name="findings"),
    path("findings/spend/<int:anomaly_id>", spend_anomaly_page, name="spend-anomaly"),
    path("findings/<int:finding_id>", anomaly, name="finding"),
    *_verdict_paths("findings/spend/<int:anomaly_id>", SPEND),
    *_verdict_paths("findings/<int:finding_id>", FINDING),
]
