"""The cost of runs while they were wrong by their own loss: a part of failed or redone work."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import LiteralString

from psycopg import sql

from apps.economics.run_time import Bucket
from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.subqueries import amount_of, condition_of, parameters_of, rows_of
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.tables import rows
from apps.unit_economics.queries.cube_parts import RUN_DAYS


@dataclass(frozen=True, slots=True)
class DivergedCost:
    """Of a run as part of whose work it was: micro-units, of what has a price."""

    workload_id: int | None
    team_id: int
    run: str
    micros: int


def diverged_run_costs(question: CubeQuestion) -> Iterable[DivergedCost]:
    """Of the same lines of which `waste_by` tells the waste; what has no price is left out."""
    charged_question = replace(question, loading=Loading.CHARGED, is_bounded=False)
    query = sql.SQL(COSTS).format(
        amount=amount_of(charged_question),
        runs=rows_of(charged_question, RUN_DAYS),
        where=condition_of(charged_question, RUN_DAYS),
    )
    params = parameters_of(charged_question, RUN_DAYS) | {"diverged": int(Bucket.DIVERGED)}
    return [DivergedCost(*row) for row in rows(query, params) if row[-1] is not None]


COSTS: LiteralString = """
SELECT day.workload_id, day.team_id, run.key, sum(day.micros)::int8
FROM (
    SELECT day.workload_id, day.team_id, day.run_id, {amount} AS micros
    FROM {runs} WHERE {where} AND day.bucket = %(diverged)s
) AS day
JOIN workloads_run_fact AS run ON run.id = day.run_id
GROUP BY 1, 2, 3, day.run_id ORDER BY 1, 2, 3, day.run_id
"""
