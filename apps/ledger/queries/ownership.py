"""Costs of jobs to their owners: what a rule would move, and what nobody owns."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from psycopg import sql

from apps.accounts import queries as accounts
from apps.economics.states import Flag
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

GPU = sql.SQL(gpu_time())
CHARGED = sql.SQL("flags & {} = 0").format(sql.Literal(int(Flag.SHARED_IDLE)))


@dataclass(frozen=True, slots=True)
class JobCost:
    """The cost of a job to one owner, null where nothing of it has a price.

    Time is of GPUs; what has no price may be core time too.
    """

    job_id: int
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int


def cost_of_jobs(
    job_ids: Collection[int], team_id: int | None, workload_id: int | None, first_day: date | None
) -> list[JobCost]:
    """Return the cost of these jobs to this owner (team None: *Unowned*) as settled, from a local day on."""
    if not job_ids:
        return []
    team = accounts.special_teams().unowned_id if team_id is None else team_id
    query = sql.SQL(
        """
        SELECT job_id, sum(effective_micros)::int8,
               coalesce(sum(unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               sum(unpriced_milliseconds)::int8
        FROM ledger_ledgerjobday
        WHERE job_id = ANY(%(jobs)s) AND day >= %(from)s AND team_id = %(team)s
          AND workload_id IS NOT DISTINCT FROM %(workload)s AND {charged}
        GROUP BY 1 ORDER BY 1
        """
    ).format(charged=CHARGED, gpu=GPU)
    params = {
        "jobs": list(job_ids),
        "from": first_day or date.min,
        "team": team,
        "workload": workload_id,
    }
    return [JobCost(*row) for row in rows(query, params)]


def unowned_costs(window: Window, team_id: int) -> list[JobCost]:
    """Return the costs of jobs of this team (*Unowned*) and no workload in the window, the dearest first."""
    query = sql.SQL(
        """
        SELECT job_id, sum(effective_micros)::int8 AS micros,
               coalesce(sum(unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8 AS time,
               sum(unpriced_milliseconds)::int8
        FROM ledger_ledgerjobday
        WHERE team_id = %(team)s AND workload_id IS NULL AND day >= %(from)s AND day < %(to)s
          AND {charged}
        GROUP BY 1 ORDER BY micros DESC NULLS LAST, time DESC, 1
        """
    ).format(charged=CHARGED, gpu=GPU)
    params = {"team": team_id, "from": window.first_day, "to": window.end_day}
    return [JobCost(*row) for row in rows(query, params)]
