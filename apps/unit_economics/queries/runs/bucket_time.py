"""The GPU time of runs by what it was spent on, of whatever part of the costs is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.subqueries import condition_of, parameters_of, rows_of
from apps.ledger.queries.tables import rows
from apps.unit_economics.queries.cube_parts import RUN_DAYS

BY_BUCKET: LiteralString = """
SELECT day.bucket, coalesce(sum(day.unit_milliseconds), 0)::int8,
       coalesce(sum(day.unit_milliseconds) FILTER (WHERE day.state = %(idle)s), 0)::int8
FROM {runs} WHERE {where} AND NOT day.is_unasked AND {is_gpu}
GROUP BY day.bucket ORDER BY day.bucket
"""


@dataclass(frozen=True, slots=True)
class BucketTime:
    """GPU-milliseconds in a bucket, and those of them in which no kernel was resident."""

    milliseconds: int
    idle_milliseconds: int


def bucket_times(question: CubeQuestion) -> Mapping[Bucket, BucketTime]:
    """Of the runs' parts of these costs; hours in which a service was asked nothing are left aside."""
    query = sql.SQL(BY_BUCKET).format(
        runs=rows_of(question, RUN_DAYS),
        where=condition_of(question, RUN_DAYS),
        is_gpu=sql.SQL(gpu_time("day")),
    )
    params = parameters_of(question, RUN_DAYS) | {"idle": int(State.HELD_IDLE)}
    return {Bucket(bucket): BucketTime(*sums) for bucket, *sums in rows(query, params)}
