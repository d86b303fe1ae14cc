"""The rows that the sums of the cube are of, table by table."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import LiteralString

from psycopg import sql

from apps.accounts import queries as accounts
from apps.economics.states import HELD_STATES, Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube.question import (
    CubeQuestion,
    Filters,
    find_full_source,
    includes_remainder,
    source_of,
)
from apps.ledger.queries.cube.sources import (
    DAYS,
    MONTHS,
    NO_WORKLOAD,
    POOL_DAYS,
    TAG,
    Source,
    name_of,
)
from apps.ledger.queries.loading import LEFT_OUT
from apps.ledger.queries.windows import Window

HELD = [int(state) for state in HELD_STATES]
NOT_WORKED = [
    int(state)
    for state in (State.HELD_IDLE, State.UNALLOCATED, State.STRANDED, State.OUT_OF_SERVICE)
]
Told = tuple[str, ...]
OF_POOL = {"cluster", "provider", "region", "gpu_model", "purchase_option"}
"""What is looked up of pools."""
POOLS: LiteralString = """
LEFT JOIN unnest(%(pools)s::int8[], %(clusters)s::int8[], %(providers)s::text[],
                 %(regions)s::text[], %(models)s::text[], %(options)s::text[])
     AS pool (id, cluster_id, provider, region, gpu_model, purchase_option)
     ON pool.id = day.pool_id
"""
TEAMS: LiteralString = """
LEFT JOIN unnest(%(teams)s::int8[], %(cost_centres)s::text[]) AS team (id, cost_centre)
     ON team.id = day.team_id
"""


def legs_of(question: CubeQuestion, *extra_columns: str) -> sql.Composed:
    """Sums of both periods, table by table; of a part also what is beyond it.

    Columns: key0 and key1 as far as it is grouped, is_now, those `extra_columns` of state, flags, kind, status
    (both null where the table keeps none) and is_core, then micros (null: no price), ms, and rated:
    micros before commitments. A group may come several times; what has no price stands by itself.
    """
    legs: list[sql.Composable] = []
    for place, window in enumerate(question.periods):
        source, is_now = source_of(question, window), place == 0
        if not includes_remainder(question, source):
            legs += [
                _source_leg(question, table, part, extra_columns, is_now=is_now)
                for table, part in _parts_of_window(question, source, window)
            ]
            continue
        part_leg = _source_leg(question, source, window, extra_columns, is_now=is_now)
        remainder = replace(
            question, filters={k: v for k, v in question.filters.items() if k != source.of}
        )
        undivided = remainder.by(*(name for name in question.group_by if name != source.of))
        full_source = find_full_source(question, window, source.of)
        beyond = [
            _source_leg(remainder, table, part, extra_columns, is_now=is_now, without=source.of)
            for table, part in _parts_of_window(undivided, full_source, window)
        ]
        if source.of in question.filters:
            taken_leg = _source_leg(remainder, source, window, extra_columns, is_now=is_now)
            taken_rows = sql.SQL("({})").format(taken_leg)
            legs += [part_leg, *beyond]
            legs.append(_taken_sums(remainder, source.of, extra_columns, taken_rows))
        else:
            # Of the same rows: they are read once.
            both = "(WITH part AS MATERIALIZED ({}) SELECT * FROM part UNION ALL {})"
            taken = _taken_sums(remainder, source.of, extra_columns, sql.SQL("part"))
            legs += [sql.SQL(both).format(part_leg, taken), *beyond]
    return sql.SQL(" UNION ALL ").join(legs)


def _taken_sums(
    question: CubeQuestion, part: str, extra_columns: Told, leg: sql.Composable
) -> sql.Composed:
    """Return the sums that a table of parts takes from the whole: without that dimension, and below zero."""
    shown = [
        sql.SQL("NULL::int8") if name == part else key
        for name, key in zip(question.group_by, leg_keys(question), strict=True)
    ]
    columns = [*shown, sql.Identifier("is_now"), *map(sql.Identifier, extra_columns)]
    return sql.SQL(
        "SELECT {columns}, -sum(micros)::int8, -sum(ms)::int8, -sum(rated)::int8 FROM {leg} AS part"
        " GROUP BY {numbers}, micros IS NULL"
    ).format(columns=sql.SQL(", ").join(columns), leg=leg, numbers=numbers_of(columns))


def numbers_of(columns: Collection[object]) -> sql.Composed:
    """All of the first columns of a SELECT, to group by: `1, 2, 3`."""
    return sql.SQL(", ").join([sql.Literal(number + 1) for number in range(len(columns))])


def key_names(question: CubeQuestion) -> sql.Composed:
    """The keys of the legs, a comma after each: `key0, key1, `."""
    return sql.SQL("").join([sql.SQL("{}, ").format(key) for key in leg_keys(question)])


def leg_keys(question: CubeQuestion) -> list[sql.Identifier]:
    """The keys of the legs, in the order of the question's groups."""
    return [sql.Identifier(f"key{place}") for place in range(len(question.group_by))]


def _parts_of_window(
    question: CubeQuestion, source: Source, window: Window
) -> list[tuple[Source, Window]]:
    """The tables that a window is read from: whole months within it from their own sums."""
    months = window.months_within()
    if source not in (POOL_DAYS, DAYS) or months is None or not MONTHS.has(question.names):
        return [(source, window)]
    before = replace(window, end_day=months.first_day)
    after = replace(window, first_day=months.end_day)
    edges = [(source, edge) for edge in (before, after) if edge.first_day < edge.end_day]
    return [(MONTHS, months), *edges]


def _source_leg(
    question: CubeQuestion,
    source: Source,
    window: Window,
    extra_columns: Told,
    *,
    is_now: bool,
    without: str = "",
) -> sql.Composed:
    """The sums of one table in a period; with `without` they have none of that dimension.

    Extra columns are null where the table keeps none.
    """
    columns: list[sql.Composable] = []
    for name, key in zip(question.group_by, leg_keys(question), strict=True):
        column = sql.SQL("NULL::int8") if name == without else _source_column(source, name)
        if name == "workload" != without and question.splits_workload:
            column = sql.SQL("CASE WHEN {} AND {} IS NULL THEN {} ELSE {} END").format(
                sql.SQL(source.columns["is_of_job"]), column, NO_WORKLOAD, column
            )
        columns.append(sql.SQL("{} AS {}").format(column, key))
    columns.append(sql.SQL("{} AS is_now").format(is_now))
    # Tables of parts keep no unit of their own.
    is_core: LiteralString = (
        "coalesce(day.pool_id = ANY(%(core_pools)s), false)"
        if source.is_part
        else "day.unit = 'core'"
    )
    own_columns: dict[str, LiteralString] = {"is_core": is_core, "flags": "day.flags"}
    for name in extra_columns:
        extra = own_columns.get(name) or source.columns.get(name, "NULL::text")
        columns.append(sql.SQL("{} AS {}").format(sql.SQL(extra), sql.Identifier(name)))
    amount = amount_of(question)
    # By its rates: only the effective amount has commitments in it.
    rated = sql.SQL("coalesce(day.contracted_micros, day.effective_micros)")
    return sql.SQL(
        "SELECT {columns}, sum({amount})::int8 AS micros, sum(day.unit_milliseconds)::int8 AS ms,"
        " sum({rated})::int8 AS rated"
        " FROM {rows} WHERE {where} GROUP BY {numbers}, {amount} IS NULL"
    ).format(
        columns=sql.SQL(", ").join(columns),
        amount=amount,
        rated=rated if question.basis is Basis.EFFECTIVE else amount,
        rows=rows_of(question.by(*(name for name in question.group_by if name != without)), source),
        where=condition_of(question, source, window),
        numbers=numbers_of(columns),
    )


def _source_column(source: Source, name: str) -> sql.Composable:
    column = sql.SQL(source.columns[name_of(name)])
    if not name.startswith(f"{TAG}."):
        return column
    return sql.SQL("({} ->> {})").format(column, sql.Literal(name.removeprefix(f"{TAG}.")))


def condition_of(
    question: CubeQuestion, source: Source, window: Window | None = None
) -> sql.Composable:
    """Return the condition that rows of `rows_of` meet which are asked for in a window, the question's own if none, for `parameters_of`."""
    window = window or question.window
    day: LiteralString = "day.month" if source.of_months else "day.day"
    conditions: list[sql.Composable] = [
        sql.SQL("{0} >= {1} AND {0} < {2}").format(
            sql.SQL(day), sql.Literal(window.first_day), sql.Literal(window.end_day)
        )
    ]
    if question.loading in LEFT_OUT:
        # Not "= 0", of which Postgres expects one row in 200, and sorts what it had better hash.
        conditions.append(sql.SQL("day.flags & {} < 1").format(LEFT_OUT[question.loading]))
    if question.team_ids is not None:
        conditions.append(sql.SQL("day.team_id = ANY(%(scope)s)"))
    conditions += filter_conditions(question.filters, partial(_source_column, source))
    return sql.SQL(" AND ").join(conditions)


def filter_conditions(
    filters: Filters, column: Callable[[str], sql.Composable]
) -> list[sql.Composable]:
    """Return the conditions that rows meet which have any key of each filter, for `filter_parameters`.

    None among the keys stands for what has none; `column` gives a dimension's SQL.
    """
    conditions: list[sql.Composable] = []
    for name, keys in filters.items():
        one_of = sql.SQL("{} = ANY({})").format(column(name), sql.Placeholder(f"filter {name}"))
        none = sql.SQL("{} IS NULL").format(column(name))
        if keys == {None}:
            one_of = none
        elif None in keys:
            one_of = sql.SQL("({} OR {})").format(one_of, none)
        conditions.append(one_of)
    return conditions


def filter_parameters(filters: Filters) -> dict[str, object]:
    """The values that `filter_conditions` names."""
    return {
        f"filter {name}": [key for key in keys if key is not None] for name, keys in filters.items()
    }


def rows_of(question: CubeQuestion, source: Source) -> sql.Composed:
    """The table `day` of a source with all that its keys and filters look up."""
    names = {*question.group_by, *question.filters}
    columns = [source.columns[name_of(name)] for name in names]
    join_texts = [
        source.joins[name_of(name)] for name in sorted(names) if name_of(name) in source.joins
    ]
    joins = [sql.SQL(join) for join in dict.fromkeys(join_texts)]
    if any("pool." in column for column in columns):
        joins.append(sql.SQL(POOLS))
    if any("team." in column for column in columns):
        joins.append(sql.SQL(TEAMS))
    return sql.SQL("{} AS day {}").format(sql.SQL(source.table), sql.SQL(" ").join(joins))


def key_columns(question: CubeQuestion, source: Source) -> list[sql.Composable]:
    """Return the columns that rows of `rows_of` are grouped by, in the order asked for."""
    return [_source_column(source, name) for name in question.group_by]


def amount_of(question: CubeQuestion) -> sql.Composable:
    """Return the cost of a row (`day`) on the basis asked for."""
    return sql.SQL("day.{}").format(sql.Identifier(f"{question.basis}_micros"))


def parameters_of(question: CubeQuestion, *sources: Source) -> dict[str, object]:
    """The values that the legs name; of pools and teams only where a leg looks something up.

    `sources` are the tables where they are not those of the legs.
    """
    names = {*question.group_by, *question.filters}
    used = sources or tuple(source_of(question, window) for window in question.periods)
    is_of_part = any(source.is_part for source in used)
    pools = list(fleet.pools().values()) if is_of_part or names & OF_POOL else []
    teams = accounts.teams() if "cost_centre" in names else []
    params: dict[str, object] = {
        "scope": sorted(question.team_ids or ()),
        "week_starts_on": question.week_starts_on,
        "not_worked": NOT_WORKED,
        "held": HELD,
        "active": int(State.ACTIVE),
        "unobserved": int(State.UNOBSERVED),
        "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
        "pools": [pool.id for pool in pools],
        "clusters": [pool.cluster_id for pool in pools],
        "providers": [pool.provider for pool in pools],
        "regions": [pool.region for pool in pools],
        "models": [pool.gpu_model for pool in pools],
        "options": [pool.purchase_option for pool in pools],
        "core_pools": [pool.id for pool in pools if pool.counts_cores],
        "teams": [team.id for team in teams],
        "cost_centres": [team.cost_centre for team in teams],
    }
    return params | filter_parameters(question.filters)
