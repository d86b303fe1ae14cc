"""Sums of costs that the cube answers, by up to two dimensions, for one period or two."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, LiteralString, NamedTuple

from psycopg import sql

from apps.economics.hours import HOUR_MS
from apps.economics.money import sum_of_known
from apps.economics.states import State
from apps.ledger.queries.cube.dimensions import dimensions
from apps.ledger.queries.cube.question import (
    CubeQuestion,
    Key,
    refuse_unanswerable,
    source_of,
)
from apps.ledger.queries.cube.subqueries import leg_keys, legs_of, numbers_of, parameters_of
from apps.ledger.queries.tables import rows
from apps.show.amounts import share


class CubeSums(NamedTuple):
    """The measures of a group: money in micro-units, None where nothing of it is known; times.

    GPU times are of pools that count GPUs, `core_milliseconds` of those that count cores.
    `not_worked_micros` is what held idle, unallocated, stranded and out-of-service time cost,
    `unpriced_milliseconds` the time of both without a price on this basis, which is in no amount.
    `of_states` has the cost of each state by its number, of none first. `loaded_micros` has shared-out idle too,
    `shared_micros` is the part that shared charges are, `is_provisional` whether any of it is not settled yet:
    of sums that have charged, loaded and shared cost side by side, which have no cost by state.
    """

    micros: int | None = None
    not_worked_micros: int | None = None
    gpu_milliseconds: int = 0
    active_milliseconds: int = 0
    held_milliseconds: int = 0
    observed_milliseconds: int = 0
    core_milliseconds: int = 0
    unpriced_milliseconds: int = 0
    of_states: tuple[int | None, ...] = (None,) * 7
    loaded_micros: int | None = None
    shared_micros: int | None = None
    is_provisional: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither money nor time in it."""
        return not (self.micros or self.gpu_milliseconds or self.core_milliseconds)

    @property
    def active_ratio(self) -> Fraction | None:
        """The part of the cost in which a kernel was resident; None where nothing is known or charged."""
        return share(self.of_states[State.ACTIVE] or 0, self.micros)

    @property
    def gpu_hour_micros(self) -> int | None:
        """The cost of a GPU-hour; None without GPU time, or where cores are in the cost too."""
        if self.micros is None or not self.gpu_milliseconds or self.core_milliseconds:
            return None
        return round(Fraction(self.micros * HOUR_MS, self.gpu_milliseconds))


ABSENT = CubeSums(micros=0, not_worked_micros=0)
"""Of a group that is there in one of two periods alone: in the other it cost nothing, for sure."""


class CubeKey(NamedTuple):
    """The key of a group along one dimension; `is_other`: all beyond the groups listed."""

    value: Key
    is_other: bool = False


class CubeRow(NamedTuple):
    """A group's sums now, and in the period it is held against (None where none is)."""

    keys: tuple[CubeKey, ...]
    sums: CubeSums
    before: CubeSums | None = None

    @property
    def values(self) -> tuple[Key, ...]:
        """The values of its keys."""
        return tuple(key.value for key in self.keys)

    @property
    def change_micros(self) -> int | None:
        """How much more it costs now; None where nothing is compared, or where either is unknown."""
        if self.before is None or None in (self.sums.micros, self.before.micros):
            return None
        return (self.sums.micros or 0) - (self.before.micros or 0)

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither money nor time in it, now or before."""
        return self.sums.is_nothing and (self.before is None or self.before.is_nothing)


@dataclass(frozen=True, slots=True)
class CubeAnswer:
    """Groups in the order of their keys; they sum to `total`. `others` counts what *other* is."""

    question: CubeQuestion
    rows: tuple[CubeRow, ...]
    total: CubeRow
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def of_today(self) -> tuple[str, ...]:
        """The dimensions by which months that are closed are told as things stand today."""
        dimensions_by_name = dimensions()
        names = dict.fromkeys((*self.question.group_by, *self.question.filters))
        return tuple(name for name in names if dimensions_by_name[name].is_of_today)


def explore(question: CubeQuestion) -> CubeAnswer:
    """The sums of a question; refuses as `refuse_unanswerable`."""
    refuse_unanswerable(question)
    width = len(question.group_by)
    sums: dict[tuple[CubeKey, ...], dict[bool, CubeSums]] = {}
    parts: dict[bool, list[CubeSums]] = {True: [], False: []}
    others: dict[str, int] = {}
    is_of_part = any(source_of(question, window).is_part for window in question.periods)
    for row in rows(_group_statement(question, is_of_part=is_of_part), parameters_of(question)):
        values, are_others, counts = row[:width], row[width : 2 * width], row[2 * width : 3 * width]
        is_now, measures = row[3 * width], row[3 * width + 1 :]
        keys = tuple(map(CubeKey, values, are_others))
        if not is_now:
            keys = _aligned_keys(question, keys)
        group_sums = CubeSums(*measures[:8])._replace(of_states=tuple(measures[8:]))
        sums.setdefault(keys, {})[is_now] = group_sums
        parts[is_now].append(group_sums)
        other_counts = zip(question.group_by, are_others, counts, strict=True)
        others |= {name: beyond for name, is_other, beyond in other_counts if is_other}
    is_compared = question.against is not None
    answered = [
        CubeRow(keys, of_key.get(True, ABSENT), of_key.get(False, ABSENT) if is_compared else None)
        for keys, of_key in sums.items()
    ]
    # Where a part is all there is, nothing is left of the whole.
    shown_rows = [row for row in answered if not (is_of_part and row.is_nothing)]
    # By value; what has none, and the others, last.
    shown_rows.sort(
        key=lambda row: [
            (is_other, value is None, "" if value is None else value)
            for value, is_other in row.keys
        ]
    )
    total = CubeRow((), _total(parts[True]), _total(parts[False]) if is_compared else None)
    return CubeAnswer(question, tuple(shown_rows), total, others)


def _total(parts: Collection[CubeSums]) -> CubeSums:
    """The measures of all of them together: what is known of any is."""
    if not parts:
        return CubeSums()
    measures: list[Any] = [
        sum_of_known(measure) for measure in zip(*(part[:8] for part in parts), strict=True)
    ]
    by_state = zip(*(part.of_states for part in parts), strict=True)
    of_states = tuple(sum_of_known(state) for state in by_state)
    return CubeSums(*measures)._replace(of_states=of_states)


def _aligned_keys(question: CubeQuestion, keys: tuple[CubeKey, ...]) -> tuple[CubeKey, ...]:
    """Days, weeks and months of the period before, moved to where they are held against."""
    now, before = question.window.first_day, (question.against or question.window).first_day
    moved = []
    for name, key in zip(question.group_by, keys, strict=True):
        day = key.value
        if not isinstance(day, date):
            moved.append(key)
            continue
        if name in ("month", "posting_month"):
            months = (day.year - before.year) * 12 + day.month - before.month
            there = now.year * 12 + now.month - 1 + months
            day = date(there // 12, there % 12 + 1, 1)
        else:
            days = (now - before).days
            # Weeks begin on one weekday: what is moved is moved by whole ones.
            day += timedelta(days=7 * round(days / 7) if name == "week" else days)
        moved.append(key._replace(value=day))
    return tuple(moved)


# Of what is left when a part is taken from the whole nothing is known where all has no price.
REST: LiteralString = """
    CASE WHEN sum(micros) <> 0 OR sum(unpriced_ms) = 0 OR sum(ms - unpriced_ms) <> 0
         THEN sum(micros)::int8 END
"""
CELLS: LiteralString = """
SELECT leg.*, micros IS NULL AS is_unknown,
       NOT is_core AND state = ANY(%(held)s) AND flags & %(not_held)s = 0 AS is_held,
       CASE WHEN micros IS NULL THEN ms ELSE 0 END AS unpriced_ms
FROM ({legs}) AS leg
"""
GROUPS: LiteralString = """
WITH cell AS ({cells}) {ranked}
SELECT {columns}, {micros},
       CASE WHEN bool_or(is_unknown) FILTER (WHERE state = ANY(%(not_worked)s))
            THEN sum(micros) FILTER (WHERE state = ANY(%(not_worked)s))::int8
            ELSE coalesce(sum(micros) FILTER (WHERE state = ANY(%(not_worked)s)), 0)::int8
       END,
       coalesce(sum(ms) FILTER (WHERE NOT is_core), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND state = %(active)s), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE is_held), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE is_held AND state <> %(unobserved)s), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE is_core), 0)::int8,
       sum(unpriced_ms)::int8, {of_states}
FROM cell {joins} GROUP BY {numbers}
"""
# The dearest now, then the dearest before.
RANKED: LiteralString = """
, {ranked} AS (
    SELECT {key}, row_number() OVER (
        ORDER BY (sum(micros) FILTER (WHERE is_now))::int8 DESC NULLS LAST,
                 sum(micros)::int8 DESC NULLS LAST,
                 coalesce(sum(ms) FILTER (WHERE NOT is_core), 0)::int8 DESC, {key}
    ) AS place
    FROM cell WHERE {key} IS NOT NULL GROUP BY {key}
)
"""
OF_STATES = sql.SQL(", ").join(
    [
        sql.SQL("sum(micros) FILTER (WHERE coalesce(state, 0) = {})::int8").format(
            sql.Literal(state)
        )
        for state in range(7)
    ]
)


def _group_statement(question: CubeQuestion, *, is_of_part: bool) -> sql.Composed:
    """Every group of both periods; of long dimensions the dearest now, and the others as one.

    Columns: each key, whether it is the others, and how many these are; is_now; the measures.
    """
    dimensions_by_name = dimensions()
    keys = leg_keys(question)
    shown: list[sql.Composable] = [*keys]
    others: list[sql.Composable] = [sql.SQL("false") for _ in keys]
    counts: list[sql.Composable] = [sql.SQL("0") for _ in keys]
    ranked: list[sql.Composable] = []
    joins: list[sql.Composable] = []
    for place, (name, key) in enumerate(zip(question.group_by, keys, strict=True)):
        if (most := dimensions_by_name[name].most) is None:
            continue
        by_place = sql.Identifier(f"ranked{place}")
        ranked.append(sql.SQL(RANKED).format(ranked=by_place, key=key))
        joins.append(sql.SQL(" LEFT JOIN {0} USING ({1})").format(by_place, key))
        others[place] = sql.SQL("coalesce({}.place > {}, false)").format(by_place, most)
        shown[place] = sql.SQL("CASE WHEN NOT {} THEN {} END").format(others[place], key)
        counts[place] = sql.SQL("(SELECT greatest(count(*) - {}, 0) FROM {})").format(
            most, by_place
        )
    columns = [*shown, *others, *counts, sql.SQL("is_now")]
    return sql.SQL(GROUPS).format(
        cells=sql.SQL(CELLS).format(legs=legs_of(question, "state", "flags", "is_core")),
        ranked=sql.SQL("").join(ranked),
        columns=sql.SQL(", ").join(columns),
        micros=sql.SQL(REST if is_of_part else "sum(micros)::int8"),
        of_states=OF_STATES,
        joins=sql.SQL("").join(joins),
        numbers=numbers_of(columns),
    )
