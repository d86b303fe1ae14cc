"""How hard held GPUs worked, by whatever MeterDay tells apart."""

from dataclasses import replace
from typing import Any

from psycopg import sql

from apps.economics.gpu_meters import SUMMED, GpuMeters
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import METER_DAYS, TEXTS
from apps.ledger.queries.cube.subqueries import condition_of, key_columns, parameters_of, rows_of
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import rows

GROUPS = frozenset({"day", "team", "workload", "job", "pool", *TEXTS})
"""What meters may be grouped by; a state, a status or a kind of charge has none."""

SUMS = sql.SQL(", ").join(
    [
        sql.SQL(
            "coalesce(sum(day.{0}), 0)::int8" if "milliseconds" in name else "sum(day.{0})"
        ).format(sql.Identifier(name))
        for name in SUMMED
    ]
)


def meters_by(question: CubeQuestion) -> dict[tuple[Any, ...], GpuMeters]:
    """The meters of held GPU time by what the question groups by (of GROUPS), ids and days.

    Empty where they cannot be told apart so: meters are of all the time that was held, whatever
    its state, and shared costs have none.
    """
    # Meters keep no flags: all that is held is asked for.
    loaded_question = replace(question, loading=Loading.LOADED)
    if not METER_DAYS.has(loaded_question.names) or not set(loaded_question.group_by) <= GROUPS:
        return {}
    keys = [
        sql.SQL("coalesce({}, '')").format(column) if name in TEXTS else column
        for name, column in zip(
            loaded_question.group_by, key_columns(loaded_question, METER_DAYS), strict=True
        )
    ]
    numbers = sql.SQL(", ").join([sql.Literal(place + 1) for place in range(len(keys))])
    query = sql.SQL("SELECT {keys} {sums} FROM {rows} WHERE {where} {grouped}").format(
        keys=sql.SQL("").join([sql.SQL("{}, ").format(key) for key in keys]),
        sums=SUMS,
        rows=rows_of(loaded_question, METER_DAYS),
        where=condition_of(loaded_question, METER_DAYS),
        grouped=sql.SQL("GROUP BY {}").format(numbers) if keys else sql.SQL(""),
    )
    meter_rows = rows(query, parameters_of(loaded_question, METER_DAYS))
    return {tuple(row[: len(keys)]): GpuMeters(*row[len(keys) :]) for row in meter_rows}
