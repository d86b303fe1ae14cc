"""The checks of what bills ask against what is charged for it."""

from typing import LiteralString

from apps.ledger.queries.audit_compare import Agreement, AuditComparison, Fact
from apps.ledger.queries.audit_lines import MONTH, SPAN
from apps.ledger.queries.audit_sql import FROZEN, WAITING

# Pass 2 is the charge pass. A closed month keeps its charges, whatever a bill says of it later.
CHARGED: str = f"""
    {SPAN} AND {MONTH} NOT IN (SELECT month FROM frozen)
    AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.pass_id = 2 AND waiting.hour = charge.hour)
"""

# All bills of a node-hour together; what one of them does not say, none says. Where they rounded
# their effective cost, the estimate stands and only what they billed is theirs.
BILLED_HOURS = AuditComparison(
    tables=(FROZEN, WAITING),
    expected=f"""
    SELECT hour, node_id,
           CASE WHEN is_told THEN listed END AS list,
           CASE WHEN is_told THEN contracted END AS contracted,
           CASE WHEN is_told THEN effective END AS effective, billed,
           is_provisional::int AS provisional
    FROM (
        SELECT charge.hour, charge.node_id,
               count(charge.effective_micros) = count(*) AS is_told,
               CASE WHEN count(charge.list_micros) = count(*) THEN sum(charge.list_micros) END
                   AS listed,
               CASE WHEN count(charge.contracted_micros) = count(*)
                    THEN sum(charge.contracted_micros) END AS contracted,
               sum(charge.effective_micros) AS effective,
               CASE WHEN count(charge.billed_micros) = count(*) THEN sum(charge.billed_micros) END
                   AS billed,
               bool_or(charge.is_provisional) AS is_provisional
        FROM ledger_billedhour AS charge
        JOIN fleet_node AS node ON node.id = charge.node_id
         AND node.period && tstzrange(charge.hour, charge.hour + interval '1 hour')
        WHERE {CHARGED}
        GROUP BY 1, 2
    ) AS asked""",
    found=f"""
    SELECT charge.hour, charge.node_id,
           CASE WHEN asked.is_told THEN sum(charge.list_micros) END,
           CASE WHEN asked.is_told AND asked.has_contracted THEN sum(charge.contracted_micros) END,
           CASE WHEN asked.is_told THEN sum(charge.effective_micros) END,
           sum(charge.billed_micros),
           CASE WHEN asked.is_told THEN max((charge.status = 'provisional')::int)
                ELSE max(asked.provisional) END
    FROM ledger_charge AS charge
    LEFT JOIN LATERAL (
        SELECT count(effective_micros) = count(*) AS is_told,
               count(contracted_micros) = count(*) AS has_contracted,
               max(is_provisional::int) AS provisional
        FROM ledger_billedhour AS row WHERE row.hour = charge.hour AND row.node_id = charge.node_id
    ) AS asked ON true
    WHERE {CHARGED} AND charge.kind = 'node_hour' AND charge.corrects_id IS NULL
      AND charge.billed_micros IS NOT NULL
    GROUP BY 1, 2, asked.is_told, asked.has_contracted""",
    keys=("hour", "node_id"),
    measures=("list", "contracted", "effective", "billed", "provisional"),
    place="'billed hour of ' || coalesce(node.name, compared.node_id::text)",
    hour="compared.hour",
    joins="LEFT JOIN fleet_node AS node ON node.id = compared.node_id",
)

SHARED_SO: LiteralString = """
(charge.kind <> 'shared' AND charge.share_method = ''
 OR charge.kind = 'shared' AND (charge.reason, charge.share_method) IN (
    ('shared by direct cost', 'by_cost'), ('shared by GPU time', 'by_unit_time'),
    ('shared evenly', 'even'), ('shared by active GPU time', 'by_active_time'),
    ('shared by energy', 'by_energy')))
"""
# What names a node that lived then is on that node's lines, and what is shared on everybody's: they
# are nobody's as a whole. By what it is shared stands in its reason too. What is of a
# commitment stays with its owner and pool (of two that a bill calls alike, the one entered first);
# else it is whose the bill says, and Platform's where it says nobody's.
BILLED_CHARGES = AuditComparison(
    tables=(FROZEN, WAITING),
    expected=f"""
    SELECT charge.id, charge.hour, charge.kind, charge.ends_at AS through,
           node.id AS node_id, coalesce(node.pool_id, bought.pool_id, charge.pool_id) AS pool_id,
           CASE WHEN {SHARED_SO} THEN charge.reason ELSE 'shared otherwise' END AS reason,
           CASE WHEN charge.kind = 'shared' THEN charge.team_id
                WHEN node.id IS NULL THEN coalesce(bought.owner_id, charge.team_id, platform.id) END
               AS team_id,
           bought.id AS commitment,
           charge.list_micros AS list, charge.contracted_micros AS contracted,
           charge.effective_micros AS effective, charge.billed_micros AS billed,
           charge.is_provisional::int AS provisional
    FROM ledger_billedcharge AS charge
    CROSS JOIN (SELECT id FROM accounts_team WHERE kind = 'platform') AS platform
    LEFT JOIN fleet_node AS node ON node.id = charge.node_id
     AND node.period && tstzrange(charge.hour, charge.hour + interval '1 hour')
    LEFT JOIN LATERAL (
        SELECT id, owner_id, pool_id FROM pricing_commitment AS known
        WHERE charge.commitment_id <> '' AND known.external_id = charge.commitment_id
        ORDER BY id LIMIT 1
    ) AS bought ON true
    WHERE {CHARGED}""",
    found=f"""
    SELECT charge.billed_charge_id, charge.hour, charge.kind, charge.through, charge.node_id,
           charge.pool_id, charge.reason, line.team_id, charge.commitment_id, charge.list_micros, charge.contracted_micros,
           charge.effective_micros, charge.billed_micros, (charge.status = 'provisional')::int
    FROM ledger_charge AS charge
    LEFT JOIN ledger_line AS line
      ON line.charge_id = charge.id AND charge.node_id IS NULL AND charge.kind <> 'shared'
    WHERE {CHARGED} AND charge.billed_charge_id IS NOT NULL AND charge.corrects_id IS NULL
      AND charge.digest <> ''""",
    keys=(
        *("id", "hour", "kind", "through", "node_id", "pool_id", "reason", "team_id"),
        "commitment",
    ),
    measures=("list", "contracted", "effective", "billed", "provisional"),
    place="concat_ws(', ', 'billed charge ' || compared.id, compared.kind, compared.reason)",
    hour="compared.hour",
)

# Rows in force, less what was made of them: what rounding to micro-units left over. Of a bill in
# another currency the rate of exchange stands between.
RESIDUALS = Agreement(
    tables=(),
    source="""(
        SELECT bill.id, concat_ws(' ', bill.issuer, bill.account) AS named, bill.starts_at,
               bill.ends_at, bill.residual, bill.reconciled_at,
               coalesce((SELECT sum(row.billed_cost) FROM ledger_billrow AS row
                         JOIN ledger_billimport AS batch ON batch.id = row.batch_id
                         WHERE row.bill_id = bill.id AND row.replaced_by_id IS NULL
                           AND batch.state = 'done'), 0)
               - (coalesce((SELECT sum(billed_micros) FROM ledger_billedhour AS hour
                            WHERE hour.bill_id = bill.id), 0)
                  + coalesce((SELECT sum(billed_micros) FROM ledger_billedcharge AS charge
                              WHERE charge.bill_id = bill.id), 0)) / 1000000::numeric AS left_over
        FROM ledger_bill AS bill
        JOIN accounts_organisation AS organisation ON organisation.currency = bill.currency
    ) AS bill""",
    where="""bill.reconciled_at IS NOT NULL
             AND bill.starts_at < %(to)s AND bill.ends_at > %(from)s""",
    facts=(Fact("residual", "bill.left_over", "bill.residual"),),
    place="'bill of ' || bill.named",
    hour="bill.starts_at",
)

# A file's sums as they were taken in, by currency and basis, against the rows that are kept of it.
DELIVERIES = AuditComparison(
    tables=(),
    expected="""
    SELECT batch.id, currency.key AS currency, (currency.value ->> 'list')::numeric AS list,
           (currency.value ->> 'contracted')::numeric AS contracted,
           (currency.value ->> 'effective')::numeric AS effective,
           (currency.value ->> 'billed')::numeric AS billed
    FROM ledger_billimport AS batch CROSS JOIN jsonb_each(batch.totals) AS currency
    WHERE batch.state = 'done' AND batch.unchanged = 0 AND batch.imported > 0""",
    found="""
    SELECT batch.id, bill.currency, sum(row.list_cost), sum(row.contracted_cost),
           sum(row.effective_cost), sum(row.billed_cost)
    FROM ledger_billrow AS row JOIN ledger_billimport AS batch ON batch.id = row.batch_id
    JOIN ledger_bill AS bill ON bill.id = row.bill_id
    WHERE batch.state = 'done' AND batch.unchanged = 0
    GROUP BY 1, 2""",
    keys=("id", "currency"),
    measures=("list", "contracted", "effective", "billed"),
    place="'bill file ' || batch.name",
    hour="batch.started_at",
    joins="LEFT JOIN ledger_billimport AS batch ON batch.id = compared.id",
)
