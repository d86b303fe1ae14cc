"""How hard held GPUs worked, by whatever MeterDay tells apart."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, LiteralString

from psycopg import sql

from apps.economics.gpu_meters import SUMMED, GpuMeters
from apps.ledger.queries.costs import CostFilter, parameters, where
from apps.ledger.queries.tables import rows

KEYS: dict[str, LiteralString] = {
    "day": "day.day",
    "team": "day.team_id",
    "workload": "day.workload_id",
    "job": "day.job_id",
    "pool": "day.pool_id",
    "gpu_model": "coalesce(pool.gpu_model, '')",
    "purchase_option": "coalesce(pool.purchase_option, '')",
}
"""What meters may be grouped by; a state, a status or a kind of charge has none."""

SUMS = sql.SQL(", ").join(
    [
        sql.SQL(
            "coalesce(sum(day.{0}), 0)::int8" if "milliseconds" in name else "sum(day.{0})"
        ).format(sql.Identifier(name))
        for name in SUMMED
    ]
)


def meters_by(
    chosen: CostFilter, group_by: Sequence[str], job_ids: Collection[int] | None = None
) -> dict[tuple[Any, ...], GpuMeters]:
    """The meters of held GPU time by the values of `group_by` (of KEYS), ids and days.

    Empty where they cannot be told apart so, or where `chosen` names states: meters are of all the
    time that was held. `job_ids` leaves only those jobs.
    """
    if chosen.states is not None or not KEYS.keys() >= set(group_by):
        return {}
    columns = [sql.SQL(KEYS[name]) for name in group_by]
    numbers = sql.SQL(", ").join([sql.Literal(place + 1) for place in range(len(columns))])
    query = sql.SQL(
        "SELECT {keys} {sums} FROM ledger_meterday AS day"
        " JOIN fleet_pool_fact AS pool ON pool.id = day.pool_id WHERE {where} {grouped}"
    ).format(
        keys=sql.SQL("").join([sql.SQL("{}, ").format(column) for column in columns]),
        sums=SUMS,
        where=sql.SQL(" AND ").join(_meter_conditions(chosen, job_ids)),
        grouped=sql.SQL("GROUP BY {}").format(numbers) if columns else sql.SQL(""),
    )
    params = parameters(chosen) | {"jobs": sorted(job_ids or ())}
    return {
        tuple(row[: len(columns)]): GpuMeters(*row[len(columns) :]) for row in rows(query, params)
    }


def _meter_conditions(
    chosen: CostFilter, job_ids: Collection[int] | None
) -> Iterable[sql.Composable]:
    yield where(replace(chosen, tags={}))
    if chosen.tags:
        # A meter day keeps no tags of its own: its job's labels are they.
        yield sql.SQL(
            "EXISTS (SELECT FROM workloads_job_fact AS job"
            " WHERE job.id = day.job_id AND job.labels @> %(tags)s::jsonb)"
        )
    if job_ids is not None:
        yield sql.SQL("day.job_id = ANY(%(jobs)s)")
