"""Output of a workload's runs by the local day: tokens, examples and steps that were not done again."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import LiteralString

from django.db import connection

from apps.economics.hours import first_hour


@dataclass(frozen=True, slots=True)
class RunDayOutput:
    """Of all runs of a workload on a local day, as far as they report it."""

    tokens: int
    examples: int
    steps: int


def run_output_by_day(
    workload_id: int, first_day: date, end_day: date, zone: str
) -> dict[date, RunDayOutput]:
    """The days of `[first_day, end_day)` on which its runs reported."""
    params: dict[str, int | str | datetime] = {
        "workload": workload_id,
        "zone": zone,
        "starts": first_hour(first_day, zone),
        "ends": first_hour(end_day, zone),
    }
    with connection.cursor() as cursor:
        cursor.execute(OUTPUT, params)
        return {day: RunDayOutput(*map(int, sums)) for day, *sums in cursor}


OUTPUT: LiteralString = """
SELECT (told.hour AT TIME ZONE %(zone)s)::date, sum(told.tokens), sum(told.examples), sum(told.steps)
FROM workloads_runhour AS told JOIN workloads_run AS run ON run.id = told.run_id
WHERE run.workload_id = %(workload)s AND told.hour >= %(starts)s AND told.hour < %(ends)s
GROUP BY 1 ORDER BY 1
"""
