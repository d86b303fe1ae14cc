"""Output of runs by the week: tokens, finished runs, checkpoints that passed."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import LiteralString

from django.db import connection


@dataclass(frozen=True, slots=True)
class RunOutput:
    """Of a run in a local week; tokens are of steps that were not done again."""

    tokens: int = 0
    finished_runs: int = 0
    good_checkpoints: int = 0

    def plus(self, other: "RunOutput") -> "RunOutput":
        """Both together."""
        return RunOutput(
            self.tokens + other.tokens,
            self.finished_runs + other.finished_runs,
            self.good_checkpoints + other.good_checkpoints,
        )


def run_output_by_week(
    starts_at: datetime, ends_at: datetime, zone: str
) -> dict[tuple[int, date], RunOutput]:
    """By run and the week's Monday, of all runs that report anything at all then."""
    with connection.cursor() as cursor:
        cursor.execute(OUTPUT, {"starts": starts_at, "ends": ends_at, "zone": zone})
        return {
            (run_id, week): RunOutput(*map(int, sums)) for run_id, week, *sums in cursor.fetchall()
        }


OUTPUT: LiteralString = """
SELECT came.run_id, date_trunc('week', came.at AT TIME ZONE %(zone)s)::date,
       sum(came.tokens), sum(came.finished), sum(came.good)
FROM (
    SELECT run_id, hour AS at, tokens, 0 AS finished, 0 AS good
    FROM workloads_runhour WHERE hour >= %(starts)s AND hour < %(ends)s
    UNION ALL
    SELECT run_id, ended_at, 0, 1, 0 FROM workloads_runsummary
    WHERE ended_at >= %(starts)s AND ended_at < %(ends)s AND status = 'finished'
    UNION ALL
    SELECT attempt.run_id, event.at, 0, 0, 1
    FROM workloads_runevent AS event
    JOIN workloads_runattempt AS attempt ON attempt.id = event.attempt_id
    WHERE event.at >= %(starts)s AND event.at < %(ends)s AND event.kind = 'good_checkpoint'
) AS came
GROUP BY 1, 2 ORDER BY 1, 2
"""
