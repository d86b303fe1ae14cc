"""The pages of what changed: all of it, and one change."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.findings import words
from apps.console.pages.findings.values import (
    CauseRow,
    FindingPage,
    FindingRow,
    FindingsPage,
    PartRow,
)
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import EmptyState, Link, Step
from apps.console.pages.listed import Asked, By, listed
from apps.console.pages.overview.periods import PERIODS, period_words
from apps.console.pages.overview.question import Reading, filter_of
from apps.console.pages.overview.values import Figure
from apps.ledger import queries as ledger
from apps.review.queries.findings import (
    MICROS,
    FindingFact,
    FindingsWanted,
    LastLook,
    findings,
    last_look,
)
from apps.review.queries.measures import COST, TOKENS
from apps.review.queries.series import Series, one_series
from apps.show.amounts import counted
from apps.show.level_lines import Level, Mark, level_line
from apps.show.money import short_amount, whole_amount
from apps.show.time import weekday
from apps.workloads import queries as workloads
from apps.workloads.queries import WorkloadFact

DEFAULT_WINDOW = "90d"
DAY = timedelta(days=1)
SHOWN = timedelta(days=90)
COLUMNS: Mapping[str, By[FindingRow]] = {
    "title": By("What changed", lambda row: row.title),
    "day": By("On", lambda row: row.changed_on),
    "team": By("Team", lambda row: row.team),
    "effect": By("By", lambda row: row.effect, is_number=True),
    "impact": By("In 30 days", lambda row: row.impact_micros, is_number=True),
    "cause": By("About then"),
}


def findings_page(given: QueryDict, who: Asking) -> FindingsPage:
    """What changed in a span, the newest first."""
    reading = Reading(given, {"window": DEFAULT_WINDOW}, {"window": "the last 90 days"})
    calendar = ledger.calendar_of(who.organisation.zone, who.organisation.week_starts_on, who.at)
    window = reading.read("window", lambda text: ledger.window_of(text, calendar))
    said = period_words(window, calendar.today)
    rows = rows_of(window, who)
    asked = Asked(given, reverse("findings"), part="table", noun=("change", "changes"))
    look = last_look()
    periods = dict(PERIODS)
    periods.setdefault(reading.texts["window"], said.days)
    return FindingsPage(
        frame=who.frame,
        finding=_finding(rows, said.within, who.organisation.currency),
        under=_under(look, said.days),
        currency=who.organisation.currency,
        filters=(filter_of("window", "Period", periods, reading.texts),),
        problems=tuple(reading.problems),
        sort=asked.sort,
        findings=listed(rows, COLUMNS, asked),
        csv_href=f"{reverse('findings-csv')}?window={reading.texts['window']}",
        empty=None if rows else _empty(look),
    )


def rows_of(window: ledger.Window, who: Asking) -> list[FindingRow]:
    """Every change of what the viewer sees in a window."""
    seen = None if who.viewer.sees_everything else who.viewer.team_ids
    wanted = FindingsWanted(seen, since=window.first_day, until=window.end_day)
    facts = workloads.workloads()
    teams = {team.id: team.name for team in accounts.teams()}
    return [
        _row(found, facts[found.workload_id], teams, who.organisation.currency)
        for found in findings(wanted)
    ]


def asked_window(given: QueryDict, who: Asking) -> ledger.Window:
    """The window of the address."""
    reading = Reading(given, {"window": DEFAULT_WINDOW}, {"window": "the last 90 days"})
    calendar = ledger.calendar_of(who.organisation.zone, who.organisation.week_starts_on, who.at)
    return reading.read("window", lambda text: ledger.window_of(text, calendar))


def series_of(found: FindingFact, zone: str) -> Series | None:
    """The days that were looked at, up to the last look that found it."""
    return one_series(found.key, found.last_seen_on, zone)


def finding_page(found: FindingFact, who: Asking) -> FindingPage:
    """One change."""
    fact, currency = workloads.workloads()[found.workload_id], who.organisation.currency
    points = points_of(found, series_of(found, who.organisation.zone), currency)
    levels = f"{words.level(found, found.before, currency)} before"
    after = f"{words.level(found, found.after, currency)} since"
    return FindingPage(
        frame=who.frame,
        finding=words.title_of(found, fact.name),
        under=f"{words.UNITS[found.measure]}; first seen {weekday(found.first_seen_on)}, "
        f"last {weekday(found.last_seen_on)}; {words.cause_in_short(found)}",
        figures=_figures(found, currency),
        chart_title=f"{levels}, {after}",
        chart_unit=words.UNITS[found.measure],
        figure=_drawn(found, points, currency) if points else None,
        days=tuple((weekday(day), said) for day, _, said in reversed(points)),
        parts=_parts(found, currency),
        causes=_causes(found),
        links=_links(fact),
        csv_href=reverse("finding-days", args=[found.id]),
    )


def points_of(
    found: FindingFact, series: Series | None, currency: str
) -> list[tuple[date, float, str]]:
    """The days of the picture: each with the figure and its words."""
    if series is None:
        return []
    scale = 1 if found.measure in (COST, TOKENS) else 100
    first = (found.changed_on - SHOWN).toordinal()
    return [
        (
            date.fromordinal(each.day),
            each.value * scale,
            words.level(found, each.value, currency),
        )
        for each in series.days
        if each.day >= first
    ]


def _row(
    found: FindingFact, fact: WorkloadFact, teams: Mapping[int, str], currency: str
) -> FindingRow:
    return FindingRow(
        title=words.title_of(found, fact.name),
        href=reverse("finding", args=[found.id]),
        team=teams[fact.team_id],
        changed_on=found.changed_on,
        day=weekday(found.changed_on),
        kind=found.kind,
        effect=found.effect_ratio,
        effect_words=f"{'+' if found.effect_ratio > 0 else '−'}{abs(found.effect_ratio):.0%}"
        .replace("%", "\N{NO-BREAK SPACE}%"),
        impact_micros=found.impact_micros,
        cause=words.cause_in_short(found),
        is_worse=found.is_worse,
    )  # fmt: skip


def _finding(rows: Sequence[FindingRow], within: str, currency: str) -> str:
    if not rows:
        return f"Nothing is known to have changed {within}"
    worse = [row for row in rows if row.is_worse]
    more = sum(row.impact_micros for row in worse if row.impact_micros is not None)
    changed = f"{counted(len(rows), 'figure')} changed {within}"
    if not worse:
        return f"{changed}, each for the better"
    if not more:
        return f"{changed}, {counted(len(worse), 'one', 'of them')} for the worse"
    return f"{changed}; those for the worse come to {whole_amount(more, currency)} more in 30 days"


def _under(look: LastLook | None, days: str) -> str:
    if look is None:
        return f"{days}; nobody has looked yet"
    return f"{days}; {counted(look.series, 'figure')} watched, last on {weekday(look.day)}"


def _empty(look: LastLook | None) -> EmptyState:
    return EmptyState(
        title="No figure changed its level" if look else "No figure was looked at yet",
        sentence="Every night the cost of 1,000 requests and the tokens of a request of each "
        "service, and MFU and data wait of each training programme, are held against their own "
        "weeks before. A level that is new in two looks is told here, with what it is made of and "
        "what changed about then. A figure needs three weeks of days.",
        steps=(
            Step(
                "Look at the last month as it would have been looked at day by day:",
                command=".venv/bin/python manage.py look_for_changes --days 30",
            ),
            Step(
                "Tell of deployments, models and prompts, so that they can be named as causes:",
                command='curl -X POST "$RUNRATE_URL/api/v1/workload-changes" '
                '-H "Authorization: Bearer $TOKEN" -d @changes.json',
            ),
        ),
    )


def _figures(found: FindingFact, currency: str) -> tuple[Figure, ...]:
    worth = found.impact_micros
    return (
        Figure("Before", words.level(found, found.before, currency), "", ""),
        Figure("Since", words.level(found, found.after, currency), "", ""),
        Figure(
            "In 30 days",
            short_amount(worth, currency),
            words.impact(found, currency),
            "",
            is_unknown=worth is None,
        ),
    )


def _drawn(
    found: FindingFact, points: Sequence[tuple[date, float, str]], currency: str
) -> Mapping[str, object]:
    scale = 1 if found.measure in (COST, TOKENS) else 100
    before = max(points[0][0], found.changed_on - timedelta(days=28))
    levels = (
        Level(
            before,
            max(before, found.changed_on - DAY),
            found.before * scale,
            f"{words.level(found, found.before, currency)} before",
        ),
        Level(
            found.changed_on,
            max(points[-1][0], found.changed_on),
            found.after * scale,
            f"{words.level(found, found.after, currency)} since",
        ),
    )
    marks = [
        Mark(date.fromisoformat(cause["on"]), number)
        for number, cause in enumerate(found.causes, start=1)
    ]
    return level_line(points, levels, marks)


def _parts(found: FindingFact, currency: str) -> tuple[PartRow, ...]:
    """From before to after; every digit is shown, so that they add up as they stand."""
    whole = (round(found.before * MICROS), round(found.after * MICROS))
    steps = [
        PartRow(*words.PARTS[part["name"]], words.moved(found, part["millionths"], currency))
        for part in found.parts
    ]
    return (
        PartRow("Before", "", words.exact(found, whole[0], currency), is_level=True),
        *steps,
        PartRow("Since", "", words.exact(found, whole[1], currency), is_level=True),
    )


def _causes(found: FindingFact) -> tuple[CauseRow, ...]:
    return tuple(
        CauseRow(
            number=number,
            day=words.on_day(cause["on"]),
            distance=words.distance(cause["days"]),
            kind=cause["kind"],
            what=cause["what"],
        )
        for number, cause in enumerate(found.causes, start=1)
    )


def _links(fact: WorkloadFact) -> tuple[Link, ...]:
    if fact.kind == "training":
        return (Link(f"The runs of {fact.name}", f"{reverse('runs')}?workload={fact.name}"),)
    return (Link(f"The service {fact.name}", reverse("service", args=[fact.id])),)
