"""What the same days of the span before cost: whole days against whole days, or nothing."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime

from psycopg import sql

from apps.economics.money import sum_of_known
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.costs import (
    CHARGED,
    CostFilter,
    amount_column,
    parameters,
    roll_up,
    where,
)
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class Compared:
    """What one team's time in one state cost now and before: 0 where there was none of it, null
    where its cost is not known.
    """

    team_id: int
    state: State | None
    now_micros: int | None
    before_micros: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two spans of whole days that are over, and every team's cost by state in both."""

    now: Window
    before: Window
    sums: tuple[Compared, ...]

    def total(
        self, *, team_id: int | None = None, states: Collection[State | None] | None = None
    ) -> tuple[int | None, int | None]:
        """Now and before, of one team and of some states (None: of all)."""
        chosen = [
            each
            for each in self.sums
            if team_id in (None, each.team_id) and (states is None or each.state in states)
        ]
        return (
            sum_of_known(each.now_micros for each in chosen),
            sum_of_known(each.before_micros for each in chosen),
        )


def comparison(chosen: CostFilter, at: datetime) -> Comparison | None:
    """The days of the window that are over against the same days of the span before.

    None where there are no such spans (see compared_spans).
    """
    spans = compared_spans(chosen.window, at)
    if spans is None:
        return None
    now, before = spans
    found = rows(
        sql.SQL(
            """
            SELECT day.team_id, day.state,
                   CASE WHEN bool_or(day.day >= %(now)s)
                        THEN sum({amount}) FILTER (WHERE day.day >= %(now)s)::int8 ELSE 0 END,
                   CASE WHEN bool_or(day.day < %(before)s)
                        THEN sum({amount}) FILTER (WHERE day.day < %(before)s)::int8 ELSE 0 END
            FROM {roll_up} AS day WHERE {where} AND {charged}
            GROUP BY 1, 2 ORDER BY 1, 2 NULLS LAST
            """
        ).format(
            amount=amount_column(chosen.basis),
            roll_up=roll_up(chosen, ()),
            where=where(chosen),
            charged=CHARGED,
        ),
        parameters(replace(chosen, window=_both(before, now)))
        | {"now": now.first_day, "before": before.end_day},
    )
    return Comparison(
        now=now,
        before=before,
        sums=tuple(
            Compared(team_id, None if state is None else State(state), *micros)
            for team_id, state, *micros in found
        ),
    )


def compared_spans(window: Window, at: datetime) -> tuple[Window, Window] | None:
    """Whole days of the window that are over, and the same days of the span before: for every page.

    None where no day of it is over, or where the span before reaches back to when no node was
    known: a part of a span is no measure for a whole one.
    """
    spans = days_over(window, local_day(at, window.zone))
    since = fleet.lived_since()
    if spans is None or since is None or since > spans[1].starts_at:
        return None
    return spans


def days_over(window: Window, today: date) -> tuple[Window, Window] | None:
    """The days of the window before `today`, and the same of the span before it; None: no day is."""
    before = window.before()
    if window.end_day <= today:
        return window, before
    if window.first_day >= today:
        return None
    now = replace(window, end_day=today)
    last = min(before.first_day + (today - window.first_day), before.end_day)
    return now, replace(before, end_day=last)


def _both(before: Window, now: Window) -> Window:
    return Window("", before.first_day, now.end_day, now.zone)
