"""What runs cost that went silently wrong: their useful time from then on."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import LiteralString

from apps.economics.states import Flag
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.waste import FAILED_BUCKETS, OF_STATES


@dataclass(frozen=True, slots=True)
class UnwastedRunDay:
    """What of a run's day is in no part of waste: micro-units, of what has a price."""

    run_id: int
    workload_id: int | None
    team_id: int
    day: date
    micros: int


def unwasted_run_days(run_ids: Collection[int], window: Window) -> list[UnwastedRunDay]:
    """By run, day and whose it was; what failed, was lost, or idle is left out: it is waste already."""
    if not run_ids:
        return []
    params = {
        "runs": sorted(run_ids),
        "first": window.first_day,
        "end": window.end_day,
        "failed": [int(bucket) for bucket in FAILED_BUCKETS],
        "of_states": [int(part) for part in OF_STATES],
        "shared_idle": int(Flag.SHARED_IDLE),
    }
    return [UnwastedRunDay(*row) for row in rows(COSTS, params)]


COSTS: LiteralString = """
SELECT run_id, workload_id, team_id, day, sum(effective_micros)::int8
FROM ledger_runday
WHERE run_id = ANY(%(runs)s) AND day >= %(first)s AND day < %(end)s
  AND status <> 'provisional' AND flags & %(shared_idle)s = 0
  AND bucket <> ALL(%(failed)s) AND NOT is_unasked
  AND (state IS NULL OR state <> ALL(%(of_states)s)) AND effective_micros IS NOT NULL
GROUP BY 1, 2, 3, 4 ORDER BY 1, 4
"""
