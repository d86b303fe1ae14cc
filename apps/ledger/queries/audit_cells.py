"""The checks of the roll-ups that tell apart what LedgerDay does: by month, user and node."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import AuditComparison
from apps.ledger.queries.audit_rollups import (
    DAY,
    HELD_SUMS,
    IN_DAYS,
    LINE_SUMS,
    LINES_OF_DAYS,
    MONEY,
    NAMED,
    NAMES,
    NOT_WAITING,
    NULLS,
    OPEN_LINE,
    OPEN_ROW,
    OWNER,
    ROW_HELD,
    ROW_MONEY,
    ROW_STATUS,
    ROW_UNKNOWN,
    STATUS,
    UNKNOWN,
)
from apps.ledger.queries.audit_sql import (
    BOUND_DAYS,
    FROZEN,
    POOLS_WAITING,
    STATUSES_WAITING,
    WAITING,
)

MEASURES: tuple[LiteralString, ...] = (*MONEY, "milliseconds", "unpriced", "held", "observed")
CELLS: tuple[LiteralString, ...] = (
    *("posting_month", "status", "kind", *OWNER, "unit", "gpu_model", "purchase_option"),
    *("state", "flags", *NULLS, "has_time"),
)
CELL: LiteralString = f"""
    {NAMED}, compared.kind, compared.status, 'state ' || compared.state,
    'flags ' || compared.flags"""
LINE_CELLS: LiteralString = f"""
    {DAY}, {STATUS}, charge.kind, line.team_id, line.workload_id, line.pool_id,
    coalesce(pool.unit, '') AS unit, coalesce(pool.gpu_model, '') AS gpu_model,
    coalesce(pool.purchase_option, '') AS purchase_option, line.state, line.flags, {UNKNOWN},
    line.unit_milliseconds > 0 AS has_time"""
ROW_CELLS: LiteralString = f"""
    row.kind, row.team_id, row.workload_id, row.pool_id, row.unit, row.gpu_model,
    row.purchase_option, row.state, row.flags, {ROW_UNKNOWN}, row.unit_milliseconds > 0 AS has_time"""
BY_LINE_CELLS: LiteralString = "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17"
# Whose a job is may be told later: what a closed month says of it stays.
OPEN_USER: LiteralString = f"""
    CASE WHEN {OPEN_LINE} THEN coalesce(job."user", '') END AS user_name"""
OPEN_ROW_USER: LiteralString = f"CASE WHEN {OPEN_ROW} THEN row.user_name END"

USER_DAYS = AuditComparison(
    tables=(FROZEN, WAITING, POOLS_WAITING, STATUSES_WAITING, BOUND_DAYS),
    expected=f"""
    SELECT {LINE_CELLS}, line.job_id IS NOT NULL AS is_of_job, {OPEN_USER}, {LINE_SUMS}, {HELD_SUMS}
    {LINES_OF_DAYS} LEFT JOIN workloads_job AS job ON job.id = line.job_id
    {IN_DAYS} {BY_LINE_CELLS}, 18, 19""",
    found=f"""
    SELECT row.day, row.posting_month, {ROW_STATUS}, {ROW_CELLS}, row.is_of_job, {OPEN_ROW_USER},
           {ROW_MONEY}, {ROW_HELD}
    FROM ledger_ledgeruserday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=("day", *CELLS, "is_of_job", "user_name"),
    measures=MEASURES,
    place=f"concat_ws(', ', 'user ' || nullif(compared.user_name, ''), {CELL})",
    joins=NAMES,
    only=NOT_WAITING,
)

NODE_DAYS = AuditComparison(
    tables=(FROZEN, WAITING, POOLS_WAITING, STATUSES_WAITING, BOUND_DAYS),
    expected=f"""
    SELECT {LINE_CELLS}, charge.node_id, {LINE_SUMS}, {HELD_SUMS}
    {LINES_OF_DAYS} {IN_DAYS} {BY_LINE_CELLS}, 18""",
    found=f"""
    SELECT row.day, row.posting_month, {ROW_STATUS}, {ROW_CELLS}, row.node_id, {ROW_MONEY},
           {ROW_HELD}
    FROM ledger_ledgernodeday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=("day", *CELLS, "node_id"),
    measures=MEASURES,
    place=f"concat_ws(', ', 'node ' || node.name, {CELL})",
    joins=f"{NAMES} LEFT JOIN fleet_node AS node ON node.id = compared.node_id",
    only=NOT_WAITING,
)

IN_MONTHS: LiteralString = """
    {month} BETWEEN date_trunc('month', bounds.first_day)::date AND bounds.last_day"""

# Of each month that the span touches all its days. In one transaction with these: nothing waits.
MONTHS = AuditComparison(
    tables=(BOUND_DAYS,),
    expected=f"""
    SELECT date_trunc('month', row.day)::date AS month, row.posting_month, row.status, {ROW_CELLS},
           row.tags, row.is_of_job, {ROW_MONEY}, {ROW_HELD}
    FROM ledger_ledgerday AS row CROSS JOIN bounds
    WHERE {IN_MONTHS.replace("{month}", "date_trunc('month', row.day)::date")}""",
    found=f"""
    SELECT row.month, row.posting_month, row.status, {ROW_CELLS}, row.tags, row.is_of_job,
           {ROW_MONEY}, {ROW_HELD}
    FROM ledger_ledgermonth AS row CROSS JOIN bounds
    WHERE {IN_MONTHS.replace("{month}", "row.month")}""",
    keys=("month", *CELLS, "tags", "is_of_job"),
    measures=MEASURES,
    place=f"concat_ws(', ', {CELL}, 'tags ' || nullif(compared.tags::text, '{{}}'))",
    hour="compared.month",
    joins=NAMES,
)

POOL_CELLS: tuple[LiteralString, ...] = (
    *("day", "posting_month", "status", "kind", "team_id", "pool_id", "unit", "gpu_model"),
    *("purchase_option", "state", "flags", *NULLS, "has_time"),
)
ROW_POOL_CELLS: LiteralString = f"""
    row.day, row.posting_month, row.status, row.kind, row.team_id, row.pool_id, row.unit,
    row.gpu_model, row.purchase_option, row.state, row.flags, {ROW_UNKNOWN},
    row.unit_milliseconds > 0 AS has_time, {ROW_MONEY}, {ROW_HELD}"""

# In one transaction with the days that they sum: nothing waits.
POOL_DAYS = AuditComparison(
    tables=(BOUND_DAYS,),
    expected=f"""
    SELECT {ROW_POOL_CELLS} FROM ledger_ledgerday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    found=f"""
    SELECT {ROW_POOL_CELLS} FROM ledger_ledgerpoolday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=POOL_CELLS,
    measures=MEASURES,
    place="""
    concat_ws(', ', 'pool ' || coalesce(pool.name, 'none'), 'team ' || team.name, compared.kind,
              compared.status, 'state ' || compared.state, 'flags ' || compared.flags)""",
    joins="""
    LEFT JOIN fleet_pool AS pool ON pool.id = compared.pool_id
    LEFT JOIN accounts_team AS team ON team.id = compared.team_id""",
)
