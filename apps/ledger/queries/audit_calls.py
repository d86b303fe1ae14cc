"""The checks of calls to model APIs: calls, what each cost, hours of them, and their charges."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import Agreement, AuditComparison, Fact
from apps.ledger.queries.audit_sql import FROZEN, WAITING

# Pass 6 prices calls and sums their hours; a call that several told of is counted once. Public prices are in dollars; amounts of a currency that
# is not the organisation's have a rate of exchange between them and their micro-units.
SPAN: LiteralString = """
hour >= %(from)s AND hour < %(to)s
AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.pass_id = 6 AND waiting.hour = {hour})
"""
PRICED: LiteralString = SPAN.replace("{hour}", "cost.hour").replace("hour >=", "cost.hour >=", 1)
PRICED = PRICED.replace("AND hour <", "AND cost.hour <")
SUMMED: LiteralString = SPAN.replace("{hour}", "called.hour").replace(
    "hour >=", "called.hour >=", 1
)
SUMMED = SUMMED.replace("AND hour <", "AND called.hour <")
OURS: LiteralString = "(SELECT currency FROM accounts_organisation)"
CALLS: LiteralString = """
    FROM ledger_apicost AS cost JOIN workloads_usageevent AS call
      ON call.id = cost.event_id AND call.is_counted
"""


def rounded(exact: LiteralString) -> LiteralString:
    """Half to even, which Postgres does not do of itself."""
    template: LiteralString = """
        CASE WHEN abs(:exact - trunc(:exact)) = 0.5 THEN 2 * round(:exact / 2)
             ELSE round(:exact) END
    """
    return template.replace(":exact", f"({exact})")


CALL_COSTS = Agreement(
    tables=(WAITING,),
    source="""ledger_apicost AS cost
    LEFT JOIN workloads_usageevent AS call ON call.id = cost.event_id""",
    where=PRICED,
    facts=(
        Fact("hour", "date_trunc('hour', call.at, 'UTC')", "cost.hour"),
        Fact(
            "micro-units",
            rounded("cost.amount * 1000000"),
            "cost.micros",
            f"""CASE WHEN cost.currency IN ('', {OURS})
                     THEN cost.micros IS NOT DISTINCT FROM {rounded("cost.amount * 1000000")}
                     ELSE cost.micros IS NULL OR cost.amount IS NOT NULL END""",
        ),
        Fact(
            "currency",
            "'one where there is an amount'",
            "cost.currency",
            """(cost.amount IS NOT NULL) = (cost.currency <> '')
               AND (cost.price <> '') = (cost.amount IS NOT NULL)
               AND (cost.micros IS NULL) = (cost.reason <> '')""",
        ),
    ),
    place="'call ' || cost.event_id",
    hour="cost.hour",
)

CALL_HOURS = AuditComparison(
    tables=(WAITING,),
    expected=f"""
    SELECT cost.hour, call.vendor, call.model, call.tier, call.team_id, call.workload_id,
           call.feature, count(*) AS requests,
           count(*) FILTER (WHERE call.outcome = 'rate_limited') AS rate_limited,
           count(*) FILTER (WHERE call.outcome = 'server_error') AS server_errors,
           count(*) FILTER (WHERE call.outcome IN ('refused', 'cancelled')) AS other_errors,
           coalesce(sum(call.input_tokens), 0) AS input_tokens,
           coalesce(sum(call.cached_tokens), 0) AS cached_tokens,
           coalesce(sum(call.cache_write_tokens), 0) AS cache_write_tokens,
           coalesce(sum(call.output_tokens), 0) AS output_tokens,
           coalesce(sum(call.reasoning_tokens), 0) AS reasoning_tokens,
           CASE WHEN count(cost.micros) = 0 THEN count(*)
                ELSE count(*) FILTER (WHERE cost.amount IS NULL) END AS unpriced_requests
    {CALLS} WHERE {PRICED}
    GROUP BY 1, 2, 3, 4, 5, 6, 7""",
    found=f"""
    SELECT called.hour, called.vendor, called.model, called.tier, called.team_id,
           called.workload_id, called.feature, called.requests, called.rate_limited,
           called.server_errors, called.other_errors, called.input_tokens, called.cached_tokens,
           called.cache_write_tokens, called.output_tokens, called.reasoning_tokens,
           called.unpriced_requests
    FROM ledger_apihour AS called WHERE {SUMMED}""",
    keys=("hour", "vendor", "model", "tier", "team_id", "workload_id", "feature"),
    measures=(
        *("requests", "rate_limited", "server_errors", "other_errors", "unpriced_requests"),
        *("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"),
        "reasoning_tokens",
    ),
    place="concat_ws(' ', 'calls of', compared.vendor, compared.model, compared.feature)",
    hour="compared.hour",
)

# Rounded once for all calls of a model and owner in an hour.
CALL_AMOUNTS = AuditComparison(
    tables=(WAITING,),
    expected=f"""
    SELECT cost.hour, call.vendor, call.model, call.team_id, call.workload_id,
           {rounded("sum(cost.amount) * 1000000")} AS effective,
           CASE WHEN count(*) FILTER (WHERE cost.amount IS NOT NULL AND cost.list_amount IS NULL) = 0
                THEN {rounded("sum(cost.list_amount) * 1000000")} END AS list
    {CALLS} WHERE {PRICED}
    GROUP BY 1, 2, 3, 4, 5
    HAVING bool_and(cost.currency IN ('', 'USD')) AND {OURS} = 'USD'""",
    found=f"""
    SELECT called.hour, called.vendor, called.model, called.team_id, called.workload_id,
           sum(called.micros), CASE WHEN bool_and(called.list_micros IS NOT NULL
                                                  OR called.micros IS NULL)
                                    THEN sum(called.list_micros) END
    FROM ledger_apihour AS called WHERE {SUMMED} AND {OURS} = 'USD' AND NOT EXISTS (
        SELECT 1 {CALLS} WHERE cost.hour = called.hour AND call.vendor = called.vendor
           AND call.model = called.model AND cost.currency NOT IN ('', 'USD'))
    GROUP BY 1, 2, 3, 4, 5""",
    keys=("hour", "vendor", "model", "team_id", "workload_id"),
    measures=("effective", "list"),
    place="concat_ws(' ', 'calls of', compared.vendor, compared.model)",
    hour="compared.hour",
)

# A gateway that knows no price states 0, and another call of the same answer may state it.
CALL_STATED = AuditComparison(
    tables=(WAITING,),
    expected=f"""
    SELECT cost.hour, call.vendor, call.model, call.tier, call.team_id, call.workload_id,
           call.feature,
           {rounded("sum(said.stated) FILTER (WHERE cost.amount IS NOT NULL) * 1000000")} AS stated,
           {rounded("sum(cost.amount) FILTER (WHERE said.stated IS NOT NULL) * 1000000")} AS against
    {CALLS}
    CROSS JOIN LATERAL (
        SELECT CASE WHEN call.stated_cost > 0 THEN call.stated_cost
                    WHEN call.response_id <> '' THEN (
                        SELECT max(stated_cost) FROM workloads_usageevent AS other
                        WHERE other.response_id = call.response_id AND other.response_id <> ''
                          AND other.stated_cost > 0)
               END AS stated
    ) AS said
    WHERE {PRICED}
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    HAVING bool_and(cost.currency IN ('', 'USD')) AND {OURS} = 'USD'""",
    found=f"""
    SELECT called.hour, called.vendor, called.model, called.tier, called.team_id,
           called.workload_id, called.feature, called.stated_micros, called.against_micros
    FROM ledger_apihour AS called WHERE {SUMMED} AND {OURS} = 'USD' AND NOT EXISTS (
        SELECT 1 {CALLS} WHERE cost.hour = called.hour AND call.vendor = called.vendor
           AND call.model = called.model AND cost.currency NOT IN ('', 'USD'))""",
    keys=("hour", "vendor", "model", "tier", "team_id", "workload_id", "feature"),
    measures=("stated", "against"),
    place="concat_ws(' ', 'stated of', compared.vendor, compared.model, compared.feature)",
    hour="compared.hour",
)

# What vendors book by their own bill has no charge here; a closed month keeps its charges.
CALL_CHARGES = AuditComparison(
    tables=(FROZEN, WAITING),
    expected=f"""
    SELECT called.hour, item.id, called.team_id, called.workload_id,
           sum(called.micros) AS effective, sum(called.micros) AS contracted,
           CASE WHEN bool_and(called.list_micros IS NOT NULL OR called.micros IS NULL)
                THEN sum(called.list_micros) END AS list
    FROM ledger_apihour AS called
    LEFT JOIN ledger_apiitem AS item
      ON item.vendor = called.vendor AND item.model = called.model
     AND item.team_id = called.team_id AND item.workload_id IS NOT DISTINCT FROM called.workload_id
    WHERE {SUMMED}
      AND called.vendor NOT IN (SELECT vendor FROM pricing_apivendor WHERE booked_by = 'bill')
    GROUP BY 1, 2, 3, 4
    HAVING sum(called.micros) <> 0 OR sum(called.unpriced_requests) > 0""",
    found="""
    SELECT charge.hour, charge.api_item_id, line.team_id, line.workload_id,
           charge.effective_micros, charge.contracted_micros, charge.list_micros
    FROM ledger_charge AS charge LEFT JOIN ledger_line AS line ON line.charge_id = charge.id
    WHERE charge.part = 5 AND charge.corrects_id IS NULL AND charge.digest <> ''
      AND charge.hour >= %(from)s AND charge.hour < %(to)s
      AND NOT EXISTS (SELECT 1 FROM waiting
                      WHERE waiting.pass_id = 6 AND waiting.hour = charge.hour)""",
    keys=("hour", "id", "team_id", "workload_id"),
    measures=("effective", "contracted", "list"),
    place="concat_ws(' ', 'calls of', item.vendor, item.model)",
    hour="compared.hour",
    joins="LEFT JOIN ledger_apiitem AS item ON item.id = compared.id",
    only="""
    date_trunc('month', hour AT TIME ZONE %(zone)s)::date NOT IN (SELECT month FROM frozen)
    AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.pass_id = 2 AND waiting.hour = summed.hour)""",
)

VENDOR_REPORTS = Agreement(
    tables=(),
    source="ledger_vendorcost AS told",
    where=f"""told.currency = {OURS} AND told.day >= %(from)s::date - 1
              AND told.day <= %(to)s::date + 1""",
    facts=(Fact("micro-units", rounded("told.amount * 1000000"), "told.micros"),),
    place="concat_ws(' ', 'report of', told.vendor, told.item)",
    hour="told.day",
)
