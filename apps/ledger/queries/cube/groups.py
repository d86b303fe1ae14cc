"""Sums of costs as REST answers them: charged, loaded and shared cost side by side, by any groups."""

from dataclasses import dataclass, replace
from typing import Any, LiteralString

from psycopg import sql

from apps.economics.states import Flag
from apps.ledger.queries.cube.dimensions import Dimension, dimensions
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import DAYS, SOURCES, TEXTS, name_of
from apps.ledger.queries.cube.subqueries import leg_keys, legs_of, numbers_of, parameters_of
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class CostGroup:
    """The sums of one group; `keys` are its values in the order of `group_by` (ids, days, texts).

    `micros` is every cost but shared-out idle, so that groups sum to the charges; `loaded_micros`
    has that too; `shared_micros` is the part of `micros` that shared charges are. Null where
    nothing is known. Held and observed milliseconds are of GPUs; `core_milliseconds` is the
    capacity of pools measured in cores.
    """

    keys: tuple[Any, ...]
    micros: int | None
    loaded_micros: int | None
    shared_micros: int | None
    gpu_milliseconds: int
    core_milliseconds: int
    held_milliseconds: int
    observed_milliseconds: int
    unpriced_milliseconds: int
    is_provisional: bool


def summed_dimensions() -> dict[str, Dimension]:
    """Return the dimensions that such sums may be grouped and filtered by: all that no table of parts is needed for."""
    column_names = {name for source in SOURCES if not source.is_part for name in source.columns}
    return {
        name: dimension for name, dimension in dimensions().items() if name_of(name) in column_names
    }


def cost_groups(question: CubeQuestion) -> list[CostGroup]:
    """The sums by any number of groups, ordered by their values; without any, one of everything.

    Of any window where days of the ledger tell all of it apart; else refused as by `source_of`.
    """
    group_by = question.group_by
    loaded_question = replace(
        question, loading=Loading.LOADED, is_bounded=not DAYS.has(question.names)
    )
    numbers = numbers_of(group_by)
    keys = [
        sql.SQL("coalesce({}, ''), " if name in TEXTS else "{}, ").format(key)
        for name, key in zip(group_by, leg_keys(question), strict=True)
    ]
    query = sql.SQL(SUMS).format(
        keys=sql.SQL("").join(keys),
        legs=legs_of(loaded_question, "state", "flags", "kind", "status", "is_core"),
        grouped=sql.SQL("GROUP BY {0} ORDER BY {0}").format(numbers) if group_by else sql.SQL(""),
    )
    sum_rows = rows(query, parameters_of(loaded_question) | {"shared_idle": int(Flag.SHARED_IDLE)})
    width = len(group_by)
    return [CostGroup(tuple(row[:width]), *row[width:]) for row in sum_rows]


SUMS: LiteralString = """
SELECT {keys}
       sum(micros) FILTER (WHERE flags & %(shared_idle)s = 0)::int8, sum(micros)::int8,
       sum(micros) FILTER (WHERE kind = 'shared')::int8,
       coalesce(sum(ms) FILTER (WHERE NOT is_core), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE is_core), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND state = ANY(%(held)s)
           AND flags & %(not_held)s = 0), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE NOT is_core AND state = ANY(%(held)s)
           AND state <> %(unobserved)s AND flags & %(not_held)s = 0), 0)::int8,
       coalesce(sum(ms) FILTER (WHERE micros IS NULL), 0)::int8,
       coalesce(bool_or(status = 'provisional'), false)
FROM ({legs}) AS leg {grouped}
"""
