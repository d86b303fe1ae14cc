"""Waste: what was charged while nothing useful came of it. One definition for every page and answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntEnum
from typing import Any, LiteralString

from psycopg import sql

from apps.economics.money import sum_of_known
from apps.economics.refusal import Refusal
from apps.economics.run_time import FAILED_OR_REDONE
from apps.economics.states import State
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.cube.days import PeriodComparison
from apps.ledger.queries.cube.question import CubeQuestion, source_of
from apps.ledger.queries.cube.sources import Source
from apps.ledger.queries.cube.subqueries import amount_of, condition_of, parameters_of, rows_of
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import Row, rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import ServicePart
from apps.unit_economics.queries.cube_parts import RUN_DAYS, SERVICE_DAYS


class WastePart(IntEnum):
    """Why nothing useful came of it. A line counts once: for the first of these that it was.

    FAILED: of runs that failed, went wrong, or did it again. NO_REQUESTS: hours in which a service was counted
    and nobody asked it. The rest are the states of apps.economics.states, by their numbers.
    """

    FAILED = 101
    NO_REQUESTS = 102
    HELD_IDLE = State.HELD_IDLE
    UNALLOCATED = State.UNALLOCATED
    STRANDED = State.STRANDED
    OUT_OF_SERVICE = State.OUT_OF_SERVICE


NOT_HELD = (WastePart.UNALLOCATED, WastePart.STRANDED, WastePart.OUT_OF_SERVICE)
OF_STATES = (WastePart.HELD_IDLE, *NOT_HELD)
GROUPED = frozenset({"day", "team", "workload", "pool"})
"""What waste may be grouped by."""
GPU_MS_OF_STATES = sql.SQL("CASE WHEN day.unit <> 'core' THEN day.unit_milliseconds END")
GPU_MS_OF_PARTS = sql.SQL(f"CASE WHEN {gpu_time('day')} THEN day.unit_milliseconds END")
COLUMNS: Mapping[str, LiteralString] = {
    "day": "day.day",
    "team": "day.team_id",
    "workload": "day.workload_id",
    "pool": "day.pool_id",
    "team of the window": "CASE WHEN day.day >= %(window_day)s THEN day.team_id END",
}


@dataclass(frozen=True, slots=True)
class Waste:
    """Micro-units by part; a part that did not occur, or has no price, is not in it."""

    parts: Mapping[WastePart, int] = field(default_factory=dict)

    @property
    def micros(self) -> int | None:
        """All parts together; None where none is known."""
        return sum_of_known(self.parts.values())

    def of(self, *parts: WastePart) -> int | None:
        """These together; None where none of them is known."""
        return sum_of_known(self.parts.get(part) for part in parts)


@dataclass(frozen=True, slots=True)
class WasteOfWindow:
    """Waste of a window's days and teams; and now and before, where it is compared with a span."""

    days: Mapping[date, Waste] = field(default_factory=dict)
    teams: Mapping[int, Waste] = field(default_factory=dict)
    compared: tuple[Waste, Waste] | None = None

    @property
    def total(self) -> Waste:
        """All of the window's."""
        return wastes_summed(self.teams.values())


class WasteNotTold(Refusal):
    """Of runs and services less is kept apart than of costs, so neither is their waste."""


def waste_by(question: CubeQuestion) -> dict[tuple[Any, ...], Waste]:
    """Waste of these costs by group (of `GROUPED`), idle shared out aside; refuses WasteNotTold.

    What runs failed at or lost and what services held unasked are parts of the ledger's lines, so
    they are taken off the states that these lines were in: the parts add up, and never overlap.
    Filters by what runs and services do not keep, as tags, are refused too.
    """
    parts_by_key = _parts_by_group(question, (amount_of(question), amount_of(question)))
    return {key: Waste(parts) for key, parts in parts_by_key.items()}


def waste_time_by(question: CubeQuestion) -> dict[tuple[Any, ...], dict[WastePart, int]]:
    """The GPU-milliseconds of the same parts of the same lines, by group; cores aside.

    Refuses WasteNotTold.
    """
    return _parts_by_group(question, (GPU_MS_OF_STATES, GPU_MS_OF_PARTS))


def _parts_by_group(
    question: CubeQuestion, summed: tuple[sql.Composable, sql.Composable]
) -> dict[tuple[Any, ...], dict[WastePart, int]]:
    """Sums of each part by group; `summed` is what of a row of the ledger's days, and of runs and services."""
    group_by = question.group_by
    names = [f"{name}_key" for name in group_by]
    numbers = sql.SQL(", ").join([sql.Literal(place + 1) for place in range(len(names) + 1)])
    parts_by_key: dict[tuple[Any, ...], dict[WastePart, int]] = {}
    for *key, part, amount in _waste_rows(question, group_by, names, numbers, summed=summed):
        parts_by_key.setdefault(tuple(key), {})[WastePart(part)] = amount
    return parts_by_key


def _refuse_untold(question: CubeQuestion) -> None:
    known_columns = RUN_DAYS.columns.keys() & SERVICE_DAYS.columns.keys()
    for name in (*question.group_by, *question.filters):
        is_told = name in GROUPED if name in question.group_by else name in known_columns
        if not is_told:
            raise WasteNotTold(name, f"waste is kept by {', '.join(sorted(GROUPED))}")


def waste_of_window(question: CubeQuestion, against: PeriodComparison | None) -> WasteOfWindow:
    """The waste of these costs, and of the spans in which they are compared. One reading."""
    first_day = against.before.first_day if against else question.window.first_day
    days, teams = _of_days_and_teams(question, first_day)
    return WasteOfWindow(
        days=_days_between(days, question.window),
        teams=teams,
        compared=None
        if against is None
        else (
            wastes_summed(_days_between(days, against.now).values()),
            wastes_summed(_days_between(days, against.before).values()),
        ),
    )


def _days_between(waste: Mapping[date, Waste], window: Window) -> dict[date, Waste]:
    return {
        day: day_waste
        for day, day_waste in waste.items()
        if window.first_day <= day < window.end_day
    }


def _of_days_and_teams(
    question: CubeQuestion, first_day: date
) -> tuple[dict[date, Waste], dict[int, Waste]]:
    """Of each day from `first_day` on, which may be before the window; and of its teams."""
    wider = replace(question, window=replace(question.window, first_day=first_day))
    sets = sql.SQL("GROUPING SETS ((day_key, day.part), (team_key, day.part))")
    days: dict[date, dict[WastePart, int]] = {}
    teams: dict[int, dict[WastePart, int]] = {}
    columns = ["day", "team of the window"]
    since = {"window_day": question.window.first_day}
    for day, team_id, part, micros in _waste_rows(
        wider, columns, ["day_key", "team_key"], sets, since
    ):
        if day is not None:
            days.setdefault(day, {})[WastePart(part)] = micros
        elif team_id is not None:
            teams.setdefault(team_id, {})[WastePart(part)] = micros
    return (
        {day: Waste(parts) for day, parts in days.items()},
        {team_id: Waste(parts) for team_id, parts in teams.items()},
    )


def _waste_rows(
    question: CubeQuestion,
    columns: Sequence[str],
    names: Sequence[str],
    grouped: sql.Composable,
    more: Mapping[str, object] | None = None,
    summed: tuple[sql.Composable, sql.Composable] | None = None,
) -> Iterable[Row]:
    """The keys, the part and its sum, of what is known; `grouped` is by the keys' names, or places."""
    _refuse_untold(question)
    # Waste is of what is charged, however the costs beside it are loaded.
    by = [column.partition(" ")[0] for column in columns]
    charged_question = replace(question, loading=Loading.CHARGED, is_bounded=False).by(*by)
    states = source_of(charged_question, charged_question.window)
    keys = [
        sql.SQL("{} AS {}, ").format(sql.SQL(COLUMNS[column]), sql.Identifier(name))
        for column, name in zip(columns, names, strict=True)
    ]
    of_states, of_parts = summed or (amount_of(charged_question), amount_of(charged_question))
    query = sql.SQL(WASTE).format(
        keys=sql.SQL("").join(keys),
        names=sql.SQL("").join([sql.SQL("{}, ").format(sql.Identifier(name)) for name in names]),
        amount=of_states,
        part_amount=of_parts,
        grouped=grouped,
        **_narrowed_rows(charged_question, "states", states),
        **_narrowed_rows(charged_question, "runs", RUN_DAYS),
        **_narrowed_rows(charged_question, "services", SERVICE_DAYS),
    )
    params = (
        parameters_of(charged_question, states, RUN_DAYS, SERVICE_DAYS)
        | dict(more or {})
        | {
            "of_states": [int(part) for part in OF_STATES],
            "failed": sorted(map(int, FAILED_OR_REDONE)),
            "failed_part": int(WastePart.FAILED),
            "idle": int(ServicePart.IDLE),
            "unasked_part": int(WastePart.NO_REQUESTS),
        }
    )
    return [row for row in rows(query, params) if row[-1] is not None]


def _narrowed_rows(question: CubeQuestion, name: str, source: Source) -> dict[str, sql.Composable]:
    """The rows of a table, and what of them is asked for, by the names that WASTE has for them."""
    return {name: rows_of(question, source), f"{name}_where": condition_of(question, source)}


def wastes_summed(wastes: Iterable[Waste]) -> Waste:
    """Part by part."""
    parts: dict[WastePart, int] = {}
    for waste in wastes:
        for part, micros in waste.parts.items():
            parts[part] = parts.get(part, 0) + micros
    return Waste(parts)


# Each source gives what it adds to its own part, and takes the same off the part that already has it.
WASTE: LiteralString = """
SELECT {names} day.part, sum(day.micros)::int8
FROM (
    SELECT {keys} day.state AS part, {amount} AS micros
    FROM {states}
    WHERE {states_where} AND day.state = ANY(%(of_states)s)
    UNION ALL
    SELECT {keys} of.part, of.sign * {part_amount}
    FROM {runs} CROSS JOIN LATERAL (VALUES
        (%(failed_part)s, 1),
        (CASE WHEN day.is_unasked THEN %(unasked_part)s
              WHEN day.state = ANY(%(of_states)s) THEN day.state END, -1)
    ) AS of (part, sign)
    WHERE {runs_where} AND day.bucket = ANY(%(failed)s) AND of.part IS NOT NULL
    UNION ALL
    SELECT {keys} of.part, of.sign * {part_amount}
    FROM {services} CROSS JOIN LATERAL (VALUES
        (%(unasked_part)s, 1),
        (CASE WHEN day.state = ANY(%(of_states)s) THEN day.state END, -1)
    ) AS of (part, sign)
    WHERE {services_where} AND day.part = %(idle)s AND of.part IS NOT NULL
) AS day
GROUP BY {grouped} ORDER BY 1
"""
