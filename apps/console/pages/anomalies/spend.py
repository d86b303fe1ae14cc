"""Anomalies of spend: the list, and one with its days, parts, drivers and what was said of it."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import DAY, FIGURE, ISO_DAY, MONEY, PROSE, SIGNED_RATIO, TEXT
from apps.console.kit.chart import Figure, FigureRow, LineChart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.anomalies import words
from apps.console.pages.anomalies.tables import CAUSES
from apps.console.pages.anomalies.verdicts import (
    answer_links,
    get_anomaly_or_404,
    spend_subject,
    verdicts_section,
)
from apps.ledger.queries.windows import Window
from apps.review.queries.spend_anomalies import (
    SUBJECTS,
    SpendFact,
    SpendWanted,
    spend_anomalies,
)
from apps.review.queries.spend_series import subject_named
from apps.review.queries.spend_stories import spend_of_days
from apps.review.queries.spend_words import (
    DIMENSIONS,
    LOOKS,
    PARTS,
    describe_detection,
    driven_by,
    line_words,
    spend_title,
)
from apps.review.queries.verdicts import STATES, WAITING
from apps.show.amounts import counted
from apps.show.level_lines import Level, level_line
from apps.show.marked_days import NumberedDay
from apps.show.money import rounded_amount, short_amount
from apps.show.time import weekday
from apps.tables.column import CURRENCY_COLUMN, Column

SEEN_FOR = ("90d", "the last 90 days")
DRAWN = timedelta(days=56)
AFTER = timedelta(days=14)
DAY_LONG = timedelta(days=1)
ORGANISATION = "The organisation"


class SpendRow(NamedTuple):
    """An anomaly of spend, its words, and the team whose it is to act."""

    found: SpendFact
    title: str
    team: str


class DriverRow(NamedTuple):
    """A part of the excess, and whose it is."""

    dimension: str
    name: str
    micros: int
    share: float


SPEND_ANOMALIES = Table[SpendRow](
    "spend",
    "Spend anomalies",
    (
        Column(
            "title",
            "What",
            lambda row: row.title,
            PROSE,
            csv="what",
            href=lambda row: reverse("spend-anomaly", args=[row.found.id]),
        ),
        Column("state", "State", lambda row: STATES[row.found.state]),
        Column("day", "Since", lambda row: row.found.began_on, DAY, csv="began_on"),
        Column("days", "Days", lambda row: row.found.days, FIGURE),
        Column("of", "Of", lambda row: SUBJECTS[row.found.subject]),
        Column("team", "Team", lambda row: row.team),
        Column(
            "excess", "More than usual", lambda row: row.found.excess_micros, MONEY, csv="excess"
        ),
        Column(
            "month",
            "Projected monthly impact",
            lambda row: row.found.month_micros,
            MONEY,
        ),
        CURRENCY_COLUMN,
        Column("effect", "By", lambda row: row.found.effect_ratio, SIGNED_RATIO),
        Column("look", "Found", lambda row: LOOKS[row.found.look]),
        Column("against", "", lambda row: line_words(row.found), csv="against"),
        Column("line_from", "", lambda row: row.found.line_from, DAY, csv="line_from"),
        Column("line_until", "", lambda row: row.found.line_until, DAY, csv="line_until"),
        Column("line_name", "", lambda row: row.found.line_name, csv="line_name"),
        Column("over_since", "", lambda row: row.found.over_since, DAY, csv="over_since"),
        Column("driven", "Main driver", lambda row: driven_by(row.found), PROSE, csv="mostly"),
    ),
    noun=("anomaly", "anomalies"),
    about="{said}, by the day, the week, as a creep, of a weekend, over a budget's pace or over last year: each against its line, and beyond anything before",
    sort="spend-sort",
    csv_first=("began_on",),
    empty="No spend anomalies in these days.",
)
SPEND_DAYS = Table[tuple[date, int]](
    "days",
    "Spend by day",
    (
        Column("day", "Day", lambda row: row[0], ISO_DAY),
        Column("spend", "Spend", lambda row: row[1], MONEY, csv="spend"),
        CURRENCY_COLUMN,
    ),
)
SPEND_PARTS = Table[Mapping[str, Any]](
    "parts",
    "What it is made of",
    (
        Column("part", "Part", lambda row: PARTS[row["name"]][0]),
        Column("amount", "Amount", lambda row: row["micros"], MONEY),
        Column("meaning", "What it is", lambda row: PARTS[row["name"]][1], PROSE),
    ),
    about="the parts add up to the excess exactly",
)
DRIVERS = Table[DriverRow](
    "drivers",
    "Whose it is",
    (
        Column("dimension", "By", lambda row: DIMENSIONS[row.dimension]),
        Column("name", "Who or what", lambda row: row.name, TEXT),
        Column("amount", "More than usual", lambda row: row.micros, MONEY),
        Column("share", "Of the excess", lambda row: row.share, SIGNED_RATIO),
    ),
    about="of each kind the largest, and all others together: each kind adds up to the excess exactly",
)
SEEN_IN = Table[Mapping[str, Any]](
    "seen-in",
    "Where the same money shows too",
    (
        Column("subject", "Of", lambda row: SUBJECTS[row["subject"]]),
        Column("name", "Name", lambda row: row["name"], TEXT),
        Column("amount", "More than usual", lambda row: row["micros"], MONEY),
    ),
    about="no anomalies of their own: half of each, or more, is known already",
)


def spend_rows(window: Window, context: Context) -> list[SpendRow]:
    """Every anomaly of spend that began in a window, of what the viewer sees."""
    wanted = SpendWanted(context.seen_teams, window.first_day, window.end_day)
    teams = {team.id: team.name for team in accounts.teams()}
    return [
        SpendRow(
            spend_anomaly,
            spend_title(spend_anomaly, context.currency),
            ORGANISATION if spend_anomaly.team_id is None else teams[spend_anomaly.team_id],
        )
        for spend_anomaly in spend_anomalies(wanted, context.at)
    ]


def spend_finding(rows: Sequence[SpendRow], others: str, within: str, currency: str) -> str:
    """Return what the page says first: spend that waits for an answer, then what else changed."""
    waiting = [row.found for row in rows if row.found.state in WAITING]
    if not waiting:
        return others
    more = rounded_amount(sum(anomaly.excess_micros for anomaly in waiting), currency)
    sentence = (
        f"{counted(len(waiting), 'anomaly', 'anomalies')} of spend {within}, {more} more than usual"
    )
    return sentence if others.startswith("Nothing") else f"{sentence}; {others}"


@shown(EVERYONE, "findings")
def spend_anomaly_page(context: Context, anomaly_id: int) -> ConsolePage:
    """One anomaly of spend."""
    spend_fact, currency = get_anomaly_or_404(anomaly_id, context), context.currency
    judged_anomaly, known_event = spend_subject(spend_fact, currency), spend_fact.known_event
    days = _days_of(spend_fact, context)
    days_file = SPEND_DAYS.file(f"spend-anomaly-{anomaly_id}", context, lambda: days)
    under = [
        f"{driven_by(spend_fact)}; {describe_detection(spend_fact)}; first seen {weekday(spend_fact.first_seen_on)}"
    ]
    if known_event:
        under.append(f"known: {known_event['what']}, {words.distance(known_event['days'])}")
    return ConsolePage(
        context=context,
        finding=judged_anomaly.title,
        under=(*under, *words.answered(spend_fact)),
        back=Link("All anomalies and improvements", reverse("findings")),
        actions=answer_links(judged_anomaly, context),
        sections=(
            FigureRow(_spend_figures(spend_fact, currency)),
            _days_chart(spend_fact, days, days_file, context),
            SPEND_PARTS.section([part for part in spend_fact.parts if part["micros"]], context),
            DRIVERS.section(_driver_rows(spend_fact), context),
            CAUSES.section(list(enumerate(spend_fact.causes, start=1)), context),
            # Whose else it is seen in tells what others spend.
            SEEN_IN.section(spend_fact.seen_in, context)
            if spend_fact.seen_in and context.seen_teams is None
            else None,
            verdicts_section(judged_anomaly, context),
        ),
        csv_files=(days_file,),
    )


def _spend_figures(spend_fact: SpendFact, currency: str) -> tuple[Figure, ...]:
    month = spend_fact.month_micros
    lasts = "over" if spend_fact.ended_on else "it lasts"
    figures = [
        Figure("More than usual", short_amount(spend_fact.excess_micros, currency), lasts, ""),
        Figure(
            "Spent",
            short_amount(spend_fact.spent_micros, currency),
            counted(spend_fact.days, "day"),
            "",
        ),
        Figure(
            "Expected",
            short_amount(spend_fact.expected_micros, currency),
            line_words(spend_fact) if spend_fact.over_since else "the same weekdays of its line",
            "",
        ),
    ]
    if month is not None:
        figures.append(
            Figure(
                "Projected monthly impact",
                short_amount(month, currency),
                "30 days, if it lasts",
                "",
            )
        )
    return tuple(figures)


def _driver_rows(spend_fact: SpendFact) -> list[DriverRow]:
    return [
        DriverRow(
            driver["dimension"],
            row["name"],
            row["micros"],
            row["micros"] / spend_fact.excess_micros,
        )
        for driver in spend_fact.drivers
        for row in driver["rows"]
    ]


def _days_of(spend_fact: SpendFact, context: Context) -> list[tuple[date, int]]:
    of = subject_named(spend_fact.subject, spend_fact.key)
    if of is None:
        return []
    first = spend_fact.began_on - DRAWN
    last = min(spend_fact.last_seen_on - DAY_LONG, spend_fact.began_on + AFTER)
    days = [first + timedelta(days=place) for place in range((last - first).days + 1)]
    return spend_of_days(of, days, context.organisation.zone)


def _days_chart(
    spend_fact: SpendFact,
    days: Sequence[tuple[date, int]],
    days_file: CsvFile,
    context: Context,
) -> LineChart | None:
    """The days before and since, with what was expected and spent a day; None where nothing was spent."""
    currency = context.currency
    if not any(micros for _, micros in days):
        return None
    points = [(day, micros / 1_000_000, rounded_amount(micros, currency)) for day, micros in days]
    expected, spent = (
        spend_fact.expected_micros / spend_fact.days,
        spend_fact.spent_micros / spend_fact.days,
    )
    until = spend_fact.ended_on - DAY_LONG if spend_fact.ended_on else points[-1][0]
    labels = (
        f"{rounded_amount(round(expected), currency)} a day expected",
        f"{rounded_amount(round(spent), currency)} spent",
    )
    levels = (
        Level(
            max(points[0][0], spend_fact.began_on - timedelta(days=28)),
            spend_fact.began_on - DAY_LONG,
            expected / 1_000_000,
            labels[0],
        ),
        Level(spend_fact.began_on, max(until, spend_fact.began_on), spent / 1_000_000, labels[1]),
    )
    marks = [
        NumberedDay(date.fromisoformat(cause["on"]), number)
        for number, cause in enumerate(spend_fact.causes, start=1)
        if points[0][0] <= date.fromisoformat(cause["on"]) <= points[-1][0]
    ]
    return LineChart(
        name="spend-figure",
        title=", ".join(labels),
        unit=f"effective cost by day of {spend_fact.name}; the numbers mark possible causes",
        figure=level_line(
            points,
            levels,
            marks,
            lambda value: rounded_amount(round(value * 1_000_000), currency),
        ),
        behind=SPEND_DAYS.section(days[::-1], context),
        csv=days_file,
    )
