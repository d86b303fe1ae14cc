"""The way from a sum down to the lines behind it; everything is asked for as somebody."""

from apps.ledger.queries.drill.behind import Behind, PieceBehind, SiblingLine, behind_line
from apps.ledger.queries.drill.daily import Daily, costs_by_day
from apps.ledger.queries.drill.lines import LineRow, lines_of_job, lines_of_no_job
from apps.ledger.queries.drill.sums import (
    Drill,
    JobSums,
    NoWorkload,
    Sureness,
    costs_by_team,
    costs_by_workload,
    costs_by_workload_and_of_none,
    costs_of_job_by_day,
    costs_of_jobs,
    costs_of_no_workload,
    scoped,
    sureness,
    tags_used,
)
from apps.ledger.queries.loading import Loading
