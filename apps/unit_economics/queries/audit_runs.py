"""The checks of what runs cost: parts of their jobs' lines and never more, and figures that sum them."""

from dataclasses import replace
from typing import LiteralString

from apps.ledger.queries.audit_compare import Agreement, AuditComparison, Check, Fact
from apps.ledger.queries.audit_rollups import (
    DAY,
    IN_DAYS,
    LINE_SUMS,
    LINES_OF_DAYS,
    MARGINAL,
    MARGINAL_JOIN,
    MARGINAL_SUM,
    MONEY,
    NAMED,
    NAMES,
    NOT_WAITING,
    NULLS,
    ROW_MONEY,
    ROW_STATUS,
    ROW_UNKNOWN,
    STATUS,
    TRAITS,
    UNKNOWN,
)
from apps.ledger.queries.audit_sql import (
    BOUND_DAYS,
    FROZEN,
    POOLS_UNDIVIDED,
    STATUSES_WAITING,
    WAITING,
)

# A job is covered on a day where its runs' spans hold all of its life in it, and no line is of
# another time; then its parts are its lines, else they are no more. Of a closed month they are as
# told while it was open.
CARRIED: LiteralString = """
carried AS (
    SELECT job_id, range_agg(period) AS during FROM workloads_runspan GROUP BY job_id
)
"""
OF_RUNS: LiteralString = """
of_runs AS (
    SELECT job_id FROM carried
    UNION SELECT row.job_id FROM ledger_runday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day
)
"""
WHOLES: LiteralString = f"""
wholes AS (
    SELECT {DAY}, line.job_id, coalesce(line.pool_id, 0) AS pool_id,
           min(line.hour) AS first_hour, max(line.hour) AS last_hour,
           bool_or(least(line.list_micros, line.contracted_micros, line.effective_micros,
                         line.billed_micros) < 0) AS has_credit
    FROM ledger_line AS line CROSS JOIN bounds
    {IN_DAYS} AND line.job_id IN (SELECT job_id FROM of_runs)
    GROUP BY 1, 2, 3, 4
)
"""
COVERED: LiteralString = """
covered AS (
    SELECT wholes.day, wholes.posting_month, wholes.job_id, wholes.pool_id
    FROM wholes JOIN workloads_job AS job ON job.id = wholes.job_id
    JOIN carried ON carried.job_id = job.id AND carried.during @> (
        tstzrange(coalesce(job.started_at, job.opened_at), job.ended_at)
        * tstzrange(wholes.first_hour, wholes.last_hour + interval '1 hour'))
    WHERE coalesce(job.started_at, job.opened_at) < wholes.first_hour + interval '1 hour'
      AND coalesce(job.ended_at > wholes.last_hour, true)
      AND wholes.posting_month NOT IN (SELECT month FROM frozen)
      AND date_trunc('month', wholes.day)::date NOT IN (SELECT month FROM frozen)
)
"""
RUN_DAYS = AuditComparison(
    tables=(
        *(FROZEN, WAITING, POOLS_UNDIVIDED, STATUSES_WAITING, BOUND_DAYS, CARRIED, OF_RUNS, WHOLES),
        *(COVERED, MARGINAL),
    ),
    expected=f"""
    SELECT {DAY}, {STATUS}, charge.kind, line.team_id, line.workload_id, line.pool_id, line.state,
           line.flags, line.job_id, {UNKNOWN}, {LINE_SUMS}, {MARGINAL_SUM}
    {LINES_OF_DAYS} {MARGINAL_JOIN}
    {IN_DAYS} AND line.job_id IN (SELECT job_id FROM of_runs)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14""",
    found=f"""
    SELECT row.day, row.posting_month, {ROW_STATUS}, row.kind, row.team_id, row.workload_id,
           row.pool_id, row.state, row.flags, row.job_id, {ROW_UNKNOWN}, {ROW_MONEY},
           row.marginal_micros
    FROM ledger_runday AS row CROSS JOIN bounds
    WHERE row.day BETWEEN bounds.first_day AND bounds.last_day""",
    keys=("day", *TRAITS, "job_id", *NULLS),
    measures=(*MONEY, "milliseconds", "unpriced", "marginal"),
    place=f"""
    concat_ws(', ', 'job ' || job.raw_id, {NAMED}, compared.kind, compared.status,
              'state ' || compared.state, 'flags ' || compared.flags)""",
    joins=f"{NAMES} LEFT JOIN workloads_job AS job ON job.id = compared.job_id",
    only=f"""
    {NOT_WAITING} AND (
        (day, posting_month, job_id, coalesce(pool_id, 0)) IN (
            SELECT held.day, held.posting_month, held.job_id, held.pool_id FROM covered AS held)
        OR coalesce(basis.found, 0) > coalesce(basis.expected, 0)
           AND (basis.name IN ('milliseconds', 'unpriced')
                OR (day, posting_month, job_id, coalesce(pool_id, 0)) NOT IN (
                    SELECT held.day, held.posting_month, held.job_id, held.pool_id
                    FROM wholes AS held WHERE held.has_credit)))""",
)

# A run's figures are of all its days but for idle that is shared out (flag 64), by bucket, and their
# time is of GPUs, without pools measured in cores; the arrays have a place for each bucket. States 1 to 3 are held, 3 is unobserved.
BUCKETS = AuditComparison(
    tables=(),
    expected="""
    SELECT row.run_id, row.bucket, sum(row.effective_micros) AS effective,
           nullif(sum(row.unit_milliseconds) FILTER (WHERE pool.id IS NULL), 0) AS milliseconds
    FROM ledger_runday AS row
    LEFT JOIN fleet_pool AS pool ON pool.id = row.pool_id AND pool.unit = 'core'
    WHERE row.flags & 64 = 0
    GROUP BY 1, 2
    HAVING sum(row.effective_micros) IS NOT NULL
        OR sum(row.unit_milliseconds) FILTER (WHERE pool.id IS NULL) <> 0""",
    found="""
    SELECT figures.run_id, place.bucket, told.micros, nullif(told.ms, 0)
    FROM ledger_runfigures AS figures
    CROSS JOIN generate_series(0, greatest(jsonb_array_length(figures.bucket_micros),
                                           jsonb_array_length(figures.bucket_unit_ms)) - 1)
        AS place (bucket)
    CROSS JOIN LATERAL (
        SELECT CASE jsonb_typeof(figures.bucket_micros -> place.bucket)
                    WHEN 'number' THEN (figures.bucket_micros ->> place.bucket)::numeric END,
               CASE jsonb_typeof(figures.bucket_unit_ms -> place.bucket)
                    WHEN 'number' THEN (figures.bucket_unit_ms ->> place.bucket)::numeric END
    ) AS told (micros, ms)
    WHERE told.micros IS NOT NULL OR told.ms <> 0""",
    keys=("run_id", "bucket"),
    measures=("effective", "milliseconds"),
    place="concat_ws(' ', 'run', run.key, 'bucket', compared.bucket)",
    hour="NULL::timestamptz",
    joins="LEFT JOIN workloads_run AS run ON run.id = compared.run_id",
)


def nearly(actual: LiteralString, expected: LiteralString) -> LiteralString:
    """Equal but for the order in which floats were added, or both unknown."""
    return f"""(({actual}) IS NULL AND ({expected}) IS NULL
                OR abs(({actual}) - ({expected})) <= 1e-9 * greatest(1, abs({expected})))"""


def ratio(name: LiteralString, column: LiteralString, expected: LiteralString) -> Fact:
    """A figure with a fraction."""
    actual: LiteralString = f"figures.{column}"
    return Fact(name, expected, actual, nearly(actual, expected))


def per(name: LiteralString, column: LiteralString, exact: LiteralString) -> Fact:
    """A figure in whole micro-units, within half a unit of what it rounds."""
    actual: LiteralString = f"figures.{column}"
    holds: LiteralString = f"""(({actual}) IS NULL AND ({exact}) IS NULL
                               OR abs(({actual}) - ({exact})) <= 0.5 + 1e-6)"""
    return Fact(name, exact, actual, holds)


def reported_fact(name: LiteralString, column: LiteralString, expected: LiteralString) -> Fact:
    """A figure that repeats what was told."""
    return Fact(name, expected, f"figures.{column}")


def of_this_fold(fact: Fact) -> Fact:
    """Where the run was folded again since, its figures are due to be written anew."""
    later: LiteralString = "figures.folded_at IS DISTINCT FROM summary.folded_at"
    return replace(fact, holds=f"({fact.condition}) OR {later}")


OF_DAYS = (
    Fact("effective", "days.effective", "figures.effective_micros"),
    Fact("milliseconds", "days.ms", "figures.unit_milliseconds"),
    Fact("unpriced", "days.unpriced", "figures.unpriced_milliseconds"),
    ratio("joules", "energy_joules", "days.joules"),
    ratio("observed", "observed_ratio", "days.observed / days.held"),
    ratio("tensor active", "tensor_active_ratio", "days.tensor / days.watched"),
)
OF_FOLD = (
    ratio("told", "told_ratio", "coalesce(clock.told_ms, 0) / clock.all_ms"),
    ratio("goodput", "goodput_ratio", "clock.productive_ms / clock.told_ms"),
    ratio("data wait", "data_wait_ratio", "clock.data_wait_ms / clock.told_ms"),
    per(
        "per checkpoint",
        "checkpoint_micros",
        "days.effective / nullif(summary.good_checkpoints, 0)",
    ),
    per(
        "per million tokens",
        "million_tokens_micros",
        "days.effective * 1000000 / nullif(summary.tokens, 0)",
    ),
    ratio(
        "tokens a second",
        "tokens_per_second",
        "figures.tokens / nullif(steps.step_ms, 0) * 1000",
    ),
    Fact("key", "run.key", "figures.key"),
    Fact(
        "workload",
        "coalesce(run.workload_id, figures.workload_id)",
        "figures.workload_id",
    ),
    reported_fact("status", "status", "coalesce(summary.status, '')"),
    reported_fact("GPUs", "gpus", "summary.gpus"),
    reported_fact("attempts", "attempts", "coalesce(summary.attempts, 0)"),
    reported_fact("tokens", "tokens", "nullif(summary.tokens, 0)"),
    reported_fact("examples", "examples", "nullif(summary.examples, 0)"),
    reported_fact("good checkpoints", "good_checkpoints", "coalesce(summary.good_checkpoints, 0)"),
    reported_fact("began", "began_at", "coalesce(summary.began_at, figures.began_at)"),
    reported_fact(
        "ended",
        "ended_at",
        "CASE WHEN summary.began_at IS NULL THEN figures.ended_at ELSE summary.ended_at END",
    ),
    ratio(
        "first good checkpoint",
        "first_good_seconds",
        "extract(epoch FROM summary.first_good_at - summary.submitted_at)",
    ),
    ratio(
        "wall time",
        "wall_seconds",
        """CASE WHEN figures.ended_at IS NULL THEN figures.wall_seconds
                ELSE greatest(0, extract(epoch FROM figures.ended_at - figures.began_at)) END""",
    ),
)
RUN_FIGURES = Agreement(
    tables=(),
    source="""ledger_runfigures AS figures JOIN workloads_run AS run ON run.id = figures.run_id
    LEFT JOIN workloads_runsummary AS summary ON summary.run_id = run.id
    CROSS JOIN LATERAL (
        SELECT sum(row.effective_micros) AS effective,
               coalesce(sum(row.unit_milliseconds) FILTER (WHERE is_gpu), 0) AS ms,
               coalesce(sum(row.unpriced_milliseconds), 0) AS unpriced,
               sum(row.energy_joules) AS joules,
               nullif(sum(row.unit_milliseconds) FILTER (
                   WHERE is_gpu AND row.state IN (1, 2, 3) AND row.flags & 3 = 0), 0) AS held,
               coalesce(sum(row.unit_milliseconds) FILTER (
                   WHERE is_gpu AND row.state IN (1, 2) AND row.flags & 3 = 0), 0) AS observed,
               sum(row.tensor_seconds) FILTER (WHERE row.tensor_observed_seconds <> 0) AS tensor,
               nullif(sum(row.tensor_observed_seconds), 0) AS watched
        FROM ledger_runday AS row
        LEFT JOIN fleet_pool AS pool ON pool.id = row.pool_id
        CROSS JOIN LATERAL (SELECT pool.unit IS DISTINCT FROM 'core' AS is_gpu) AS measured
        WHERE row.run_id = run.id AND row.flags & 64 = 0
    ) AS days
    CROSS JOIN LATERAL (
        SELECT nullif(sum(of_bucket.ms), 0) AS all_ms,
               nullif(sum(of_bucket.ms) FILTER (WHERE place <> 11), 0) AS told_ms,
               coalesce(sum(of_bucket.ms) FILTER (WHERE place = 8), 0) AS productive_ms,
               coalesce(sum(of_bucket.ms) FILTER (WHERE place = 5), 0) AS data_wait_ms
        FROM workloads_runhour AS hour
        CROSS JOIN unnest(hour.bucket_ms) WITH ORDINALITY AS of_bucket (ms, place)
        WHERE hour.run_id = run.id
    ) AS clock
    CROSS JOIN LATERAL (
        SELECT sum(hour.step_ms) AS step_ms FROM workloads_runhour AS hour WHERE hour.run_id = run.id
    ) AS steps""",
    where="true",
    facts=(*OF_DAYS, *(of_this_fold(fact) for fact in OF_FOLD)),
    place="'run ' || figures.key",
    hour="figures.began_at",
)

CHECKS = (
    Check("runs have no more than their jobs' lines", RUN_DAYS),
    Check("runs' figures sum their days by bucket", BUCKETS),
    Check("runs' figures are their days and their reports", RUN_FIGURES),
)
