"""A month's charges with the lines they are divided into, an hour at a time; all teams'."""

from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter

from apps.accounts import queries as accounts
from apps.economics.bases import BilledCosts
from apps.economics.focus.making import (
    BilledBy,
    ChargeFacts,
    PartFacts,
)
from apps.economics.focus.names import spellings
from apps.ledger.models import ChargePart
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.tables import Row, rows

CHARGE_COLUMNS = 28
HOURS = """
SELECT DISTINCT hour FROM ledger_line WHERE posting_month = %(month)s ORDER BY hour
"""
SUMS = """
SELECT count(*), coalesce(sum(list_micros), 0)::int8, coalesce(sum(contracted_micros), 0)::int8,
       coalesce(sum(effective_micros), 0)::int8, coalesce(sum(billed_micros), 0)::int8
FROM ledger_line WHERE posting_month = %(month)s
"""
INVOICES = """
SELECT row.bill_id, min(row.invoice_id)
FROM ledger_billrow AS row
JOIN ledger_billimport AS batch ON batch.id = row.batch_id AND batch.state = 'done'
JOIN ledger_bill AS bill ON bill.id = row.bill_id
WHERE row.replaced_by_id IS NULL AND row.invoice_id <> ''
  AND bill.starts_at < %(to)s AND bill.ends_at > %(from)s
GROUP BY row.bill_id HAVING min(row.invoice_id) = max(row.invoice_id)
"""
PROVIDERS = """
SELECT provider FROM fleet_pool_fact UNION SELECT provider FROM ledger_bill
UNION SELECT issuer FROM ledger_bill
"""
LINES_OF_HOUR = """
SELECT charge.id, charge.kind, charge.status, charge.currency,
       coalesce(original.hour, billed.starts_at, charge.hour),
       coalesce(original.through, billed.ends_at, charge.through),
       coalesce(to_char(original.posting_month, 'YYYY-MM'), ''), charge.reason,
       coalesce((SELECT sum(piece.end_ms - piece.start_ms) FROM ledger_chargepiece AS piece
                 WHERE piece.charge_id = charge.id), 0)::int8,
       coalesce(committed.id, CASE WHEN charge.kind = 'commitment_unused' THEN billed.label END, ''),
       coalesce(committed.name, ''), coalesce(committed.kind, ''),
       coalesce(node.provider_id, ''), coalesce(node.name, ''),
       coalesce(pool.name, ''), coalesce(pool.unit, ''), coalesce(pool.provider, ''),
       coalesce(pool.region, ''), coalesce(pool.instance_type, ''), coalesce(pool.gpu_model, ''),
       coalesce(pool.purchase_option, ''), coalesce(billed.billed_kind, ''),
       coalesce(billed.label, shared.name, ''), coalesce(shared.method, billed.share_method, ''),
       coalesce(bill.id, 0), coalesce(bill.issuer, ''), coalesce(bill.provider, ''), coalesce(bill.account, ''),
       line.list_micros, line.contracted_micros, line.effective_micros, line.billed_micros,
       line.unit_milliseconds, line.team_id, team.name, team.cost_centre,
       coalesce(workload.name, ''), coalesce(workload.kind, ''),
       coalesce(line.job_id::text, ''), coalesce(job.raw_id, ''), coalesce(key.key, ''),
       coalesce(line.state, 0), coalesce(line.policy_version::text, '')
FROM ledger_line AS line
JOIN ledger_charge AS charge ON charge.id = line.charge_id
JOIN accounts_team_fact AS team ON team.id = line.team_id
LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id
LEFT JOIN fleet_node_fact AS node ON node.id = charge.node_id
LEFT JOIN fleet_pool_fact AS pool ON pool.id = charge.pool_id
LEFT JOIN ledger_billedcharge AS billed
    ON billed.id = coalesce(charge.billed_charge_id, original.billed_charge_id)
LEFT JOIN LATERAL (
    SELECT bill_id FROM ledger_billedhour
    WHERE node_id = charge.node_id AND hour = coalesce(original.hour, charge.hour)
    ORDER BY bill_id LIMIT 1
) AS of_node ON TRUE
LEFT JOIN ledger_bill AS bill ON bill.id = coalesce(billed.bill_id, of_node.bill_id)
LEFT JOIN LATERAL (
    SELECT string_agg(coalesce(nullif(bought.external_id, ''), bought.name), ' + '
                      ORDER BY bought.id) AS id,
           string_agg(bought.name, ' + ' ORDER BY bought.id) AS name,
           CASE WHEN count(DISTINCT bought.kind) = 1 THEN min(bought.kind) END AS kind
    FROM pricing_commitment_fact AS bought
    WHERE bought.id = coalesce(charge.commitment_id, original.commitment_id)
       OR charge.part = %(committed)s AND bought.id IN (
           SELECT piece.commitment_id FROM ledger_chargepiece AS piece
           WHERE piece.charge_id = charge.id)
) AS committed ON TRUE
LEFT JOIN pricing_sharedcost_fact AS shared
    ON shared.id = coalesce(charge.shared_cost_id, original.shared_cost_id)
LEFT JOIN workloads_workload_fact AS workload ON workload.id = line.workload_id
LEFT JOIN workloads_job_fact AS job ON job.id = line.job_id
LEFT JOIN telemetry_holderkey_fact AS key ON key.id = line.holder_key_id
WHERE line.posting_month = %(month)s AND line.hour = %(hour)s
ORDER BY charge.id, line.id
"""


def billed_by(month: date) -> BilledBy:
    """The month as moments, whose it is, and which invoices bills of it name."""
    organisation = accounts.organisation()
    span = month_span(month, organisation.zone)
    of_month = {"from": span.starts_at, "to": span.ends_at}
    return BilledBy(
        organisation=organisation.name,
        starts_at=span.starts_at,
        ends_at=span.ends_at,
        invoices=dict(rows(INVOICES, of_month)),
        spelt=spellings(name for (name,) in rows(PROVIDERS, {})),
    )


def charges_of_month(month: date) -> Iterator[tuple[ChargeFacts, list[PartFacts]]]:
    """Every charge posted in `month` with its lines; no more than an hour of them in memory."""
    for hour in hours_posted(month):
        line_rows = rows(
            LINES_OF_HOUR, {"month": month, "hour": hour, "committed": int(ChargePart.COMMITTED)}
        )
        for _, of_charge in groupby(line_rows, key=itemgetter(0)):
            lines = list(of_charge)
            yield ChargeFacts(*lines[0][:CHARGE_COLUMNS]), [_part_facts(line) for line in lines]


def hours_posted(month: date) -> list[datetime]:
    """The hours that have lines posted in `month`."""
    return [hour for (hour,) in rows(HOURS, {"month": month})]


def sums_posted(month: date) -> tuple[int, BilledCosts]:
    """How many lines are posted in `month`, and what they sum to."""
    ((lines, *sums),) = rows(SUMS, {"month": month})
    return lines, BilledCosts(*sums)


def _part_facts(line: Row) -> PartFacts:
    listed, contracted, effective, billed, *of_line = line[CHARGE_COLUMNS:]
    return PartFacts(BilledCosts(listed, contracted, effective, billed), *of_line)
