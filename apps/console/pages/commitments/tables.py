"""The tables of commitments: all of a month, the months of one, whom it covered, what nobody used."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY,
    DAY_OR_INSTANT,
    GPU_HOURS,
    INSTANT,
    ISO_DAY,
    MONEY,
    PROSE,
    RATIO,
    Format,
    quiet,
    warned,
)
from apps.console.kit.table import Table
from apps.console.pages.commitments.words import (
    RANKS,
    CoverNames,
    bought,
    commitment_status,
    covers,
)
from apps.console.pages.pool_links import pool_href
from apps.economics.hours import HOUR
from apps.economics.money import sum_or_unknown
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.commitment_page import CoveredTeam, UnusedHour
from apps.ledger.queries.commitments import Figures, ends_within
from apps.pricing.queries.commitments import KINDS, CommitmentFact
from apps.show.time import month as month_words
from apps.tables.column import CURRENCY_COLUMN, Column

UNDEFINED = quiet("undefined")
QUOTED = Format(PROSE.shown, PROSE.written, "text quoted")


class CommitmentRow(NamedTuple):
    """A commitment, and its figures in a time; `month` where it is one of several."""

    fact: CommitmentFact
    found: Figures
    said: CoverNames
    at: datetime
    month: date | None = None

    @property
    def ends_soon(self) -> int | None:
        """Within how many days it ends; None where that is not soon, or it has not begun."""
        return ends_within(self.fact, self.at) if self.at >= self.fact.starts_at else None

    @property
    def is_below(self) -> bool:
        """Whether it is used less than it takes to cost what on-demand would."""
        used, needed = self.found.utilisation, self.found.break_even
        return used is not None and needed is not None and used < needed


class UnusedDay(NamedTuple):
    """The unused part of a commitment on a day, in how many hours, and who is charged with it."""

    day: date
    owner: str
    hours: int
    micros: int | None


def _ratio_column(
    key: str, text: str, of: Callable[[Figures], Fraction | None], csv: str | None = None
) -> Column[CommitmentRow]:
    return Column(key, text, lambda row: of(row.found), RATIO, csv=csv, missing=UNDEFINED)


def _under_break_even(row: CommitmentRow) -> str:
    return "under the break-even: it costs more than on-demand would" if row.is_below else ""


def _amount_of(nothing: int, micros: int | None) -> int | None:
    """An amount of what there was; where there was nothing, there is no amount."""
    return micros if nothing else None


FIGURES: tuple[Column[CommitmentRow], ...] = (
    _ratio_column("coverage", "Coverage", lambda figures: figures.coverage),
    Column(
        "utilisation",
        "Utilization",
        lambda row: row.found.utilisation,
        RATIO,
        missing=UNDEFINED,
        warns=_under_break_even,
    ),
    _ratio_column("break-even", "Break-even", lambda figures: figures.break_even, "break_even"),
    _ratio_column(
        "savings", "Savings rate", lambda figures: figures.savings_rate, "effective_savings_rate"
    ),
    Column(
        "on-demand",
        "On demand",
        lambda row: _amount_of(row.found.used, row.found.on_demand),
        MONEY,
        csv="on_demand",
    ),
    Column("cost", "Cost", lambda row: _amount_of(row.found.bought, row.found.cost), MONEY),
    Column(
        "unused", "Not used", lambda row: _amount_of(row.found.bought, row.found.unused_cost), MONEY
    ),
    CURRENCY_COLUMN,
)


def _how_it_ends(row: CommitmentRow) -> str:
    if row.ends_soon:
        return warned(f"within {row.ends_soon} days")
    return commitment_status(row.fact, row.at)


COMMITMENTS = Table[CommitmentRow](
    "table",
    "One by one",
    (
        Column(
            "name",
            "Commitment",
            lambda row: row.fact.name,
            PROSE,
            csv="commitment",
            href=lambda row: reverse("commitment", args=[row.fact.id]),
        ),
        Column("kind", "", lambda row: KINDS[row.fact.kind]),
        Column("covers", "", lambda row: covers(row.fact, row.said)),
        Column(
            "bought",
            "Bought",
            lambda row: f"{KINDS[row.fact.kind]}: {bought(row.fact)}",
            QUOTED,
            note=lambda row: covers(row.fact, row.said),
            order=lambda row: (RANKS[row.fact.kind], covers(row.fact, row.said), row.fact.name),
            written=lambda row, _: bought(row.fact),
        ),
        Column(
            "ends",
            "Ends",
            lambda row: row.fact.ends_at,
            Format(DAY_OR_INSTANT.shown, DAY_OR_INSTANT.written, "text"),
            csv="ends_at",
            note=_how_it_ends,
        ),
        *FIGURES,
        Column(
            "owner", "Unused charged to", lambda row: row.said.team(row.fact.owner_id),
            csv="carried_by",
        ),
    ),
    noun=("commitment", "commitments"),
    sort="sort",
    csv_first=("commitment", "kind", "covers", "bought", "carried_by"),
)  # fmt: skip
ENDING = Table[CommitmentRow](
    "ending",
    "Ending soon",
    (
        COMMITMENTS.columns[0],
        Column("ends", "Ends", lambda row: row.fact.ends_at, DAY_OR_INSTANT, note=_how_it_ends),
    ),
    about="what runs under them costs its rate from then on",
)
MONTHS = Table[CommitmentRow](
    "months",
    "Month by month",
    (
        Column(
            "month",
            "Month",
            lambda row: month_words(row.month) if row.month else None,
            href=lambda row: f"{reverse('commitment', args=[row.fact.id])}?month={row.month:%Y-%m}",
        ),
        *FIGURES,
    ),
)
DAYS = Table[tuple[date, Figures]](
    "days",
    "Day by day",
    (
        Column("day", "", lambda row: row[0], ISO_DAY),
        Column("used", "", lambda row: _amount_of(row[1].bought, row[1].covered_cost), MONEY),
        Column("unused", "", lambda row: _amount_of(row[1].bought, row[1].unused_cost), MONEY),
        CURRENCY_COLUMN,
    ),
)
COVERED = Table[tuple[CoveredTeam, CoverNames]](
    "covered",
    "Whom it covered",
    (
        Column(
            "pool",
            "Pool",
            lambda row: row[1].pools[row[0].pool_id],
            href=lambda row: pool_href(row[1].pools[row[0].pool_id]),
        ),
        Column("team", "Team", lambda row: row[1].teams[row[0].team_id]),
        Column("gpu_hours", "GPU-hours", lambda row: row[0].unit_milliseconds, GPU_HOURS),
        Column("on_demand", "On demand", lambda row: row[0].on_demand_micros, MONEY),
        Column("cost", "Cost", lambda row: row[0].cost_micros, MONEY),
        CURRENCY_COLUMN,
    ),
)
UNUSED_DAYS = Table[UnusedDay](
    "unused",
    "What nobody used",
    (
        Column("day", "Day", lambda row: row.day, DAY),
        Column("owner", "Charged to", lambda row: row.owner),
        Column("hours", "Hours with some unused", lambda row: row.hours, COUNT),
        Column("micros", "Not used", lambda row: row.micros, MONEY),
    ),
)
UNUSED_HOURS = Table[tuple[UnusedHour, str]](
    "hours",
    "What nobody used, hour by hour",
    (
        Column("from", "", lambda row: row[0].starts_at, INSTANT),
        Column("to", "", lambda row: row[0].through, INSTANT),
        Column("carried_by", "", lambda row: row[1]),
        Column("unused", "", lambda row: row[0].micros, MONEY),
        CURRENCY_COLUMN,
        Column("status", "", lambda row: row[0].status),
        Column("reason", "", lambda row: row[0].reason),
    ),
)


def unused_days(hours: Sequence[tuple[UnusedHour, str]], zone: str) -> list[UnusedDay]:
    """The hours by local day and owner."""
    days: dict[tuple[date, str], list[UnusedHour]] = {}
    for hour, owner in hours:
        days.setdefault((local_day(hour.starts_at, zone), owner), []).append(hour)
    return [
        UnusedDay(day, owner, _hours_of(of_day), sum_or_unknown(hour.micros for hour in of_day))
        for (day, owner), of_day in days.items()
    ]


def _hours_of(hours: Sequence[UnusedHour]) -> int:
    return round(sum((hour.through - hour.starts_at) / HOUR for hour in hours))
