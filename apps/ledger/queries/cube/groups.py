"""Sums of costs as REST answers them: charged, loaded and shared cost side by side, by any groups."""

from dataclasses import replace
from typing import LiteralString

from psycopg import sql

from apps.economics.states import Flag
from apps.ledger.queries.cube.dimensions import Dimension, dimensions
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import DAYS, SOURCES, TEXTS, name_of
from apps.ledger.queries.cube.subqueries import leg_keys, legs_of, numbers_of, parameters_of
from apps.ledger.queries.cube.sums import CubeKey, CubeRow, CubeSums
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import rows


def summed_dimensions() -> dict[str, Dimension]:
    """Return the dimensions that such sums may be grouped and filtered by: all that no table of parts is needed for."""
    column_names = {name for source in SOURCES if not source.is_part for name in source.columns}
    return {
        name: dimension for name, dimension in dimensions().items() if name_of(name) in column_names
    }


def cost_groups(question: CubeQuestion) -> list[CubeRow]:
    """The sums by any number of groups, ordered by their values; without any, one of everything.

    Its `micros` are every cost but shared-out idle, so that groups sum to the charges. Of any window
    where days of the ledger tell all of it apart; else refused as by `source_of`.
    """
    group_by = question.group_by
    loaded_question = replace(
        question, loading=Loading.LOADED, is_bounded=not DAYS.has(question.names)
    )
    keys = [
        sql.SQL("coalesce({}, ''), " if name in TEXTS else "{}, ").format(key)
        for name, key in zip(group_by, leg_keys(question), strict=True)
    ]
    query = sql.SQL(SUMS).format(
        keys=sql.SQL("").join(keys),
        legs=legs_of(loaded_question, "state", "flags", "kind", "status", "is_core"),
        grouped=sql.SQL("GROUP BY {0} ORDER BY {0}" if group_by else "").format(
            numbers_of(group_by)
        ),
    )
    params = parameters_of(loaded_question) | {"shared_idle": int(Flag.SHARED_IDLE)}
    width = len(group_by)
    return [
        CubeRow(
            tuple(map(CubeKey, row[:width])),
            CubeSums(**dict(zip(MEASURES, row[width:], strict=True))),
        )
        for row in rows(query, params)
    ]


MEASURES = (
    "micros", "loaded_micros", "shared_micros", "gpu_milliseconds", "core_milliseconds",
    "held_milliseconds", "observed_milliseconds", "unpriced_milliseconds", "is_provisional",
)  # fmt: skip
"""What SUMS adds up, in the order of its columns."""
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
