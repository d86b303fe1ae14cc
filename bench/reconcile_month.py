"""A month's bill for the populated fleet: `python -m bench.reconcile_month DAYS` after settle_days.

Every node is billed by the hour for 31 days at a price of its own, with disks beside it; the hours
of the first DAYS are charged and split already.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import django

from bench.settle_days import WORKER, WORKERS
from bench.settle_fleet import AT, HOUR

HOURS = 31 * 24
KIB = 1024
FILL = """
INSERT INTO ledger_bill (issuer, provider, account, starts_at, ends_at, currency,
    is_rounded_upstream, created_at, changed_at, failure)
VALUES ('A Cloud', 'A Cloud', '1', %(from)s, %(from)s + %(hours)s * interval '1 hour', 'USD',
        false, %(at)s, %(at)s, '');
INSERT INTO ledger_billimport (name, digest, layout, is_addition, state, rows, imported, unchanged,
    replaced, rejected, totals, flags, size_bytes, stored_as, failure, accepted_reason, tries,
    furthest_rows, started_at)
VALUES ('bench', '', '', false, 'done', 0, 0, 0, 0, 0, '{}', '[]', 0, '', '', '', 1, 0, %(at)s);
UPDATE fleet_node SET provider_id = 'i-' || id;
INSERT INTO ledger_billrow (bill_id, batch_id, line, digest, traits, kind, category, charge_class,
    starts_at, ends_at, service, usage_type, description, sku, resource_id, region, sub_account,
    pricing_category, commitment_id, commitment_status, invoice_id, consumed_quantity,
    consumed_unit, pricing_unit, list_cost, contracted_cost, effective_cost, billed_cost, tags, more)
SELECT bill.id, batch.id, row_number() OVER (), decode(md5(node.id::text || sort || k), 'hex'),
       substr(decode(md5(node.id::text || sort), 'hex'), 1, 8), sort, 'Usage', '',
       %(from)s + k * interval '1 hour', %(from)s + (k + 1) * interval '1 hour', 'Machines',
       sort, '', '', 'arn:aws:ec2:us-east-1:1:instance/i-' || node.id, 'us-east-1', '', 'Standard',
       '', '', '', 1, 'Hours', 'Hours', 98.32, 71.123456789 + node.id * 0.00000001,
       55.04 + node.id * 0.00000001, 55.04 + node.id * 0.00000001, '{}', '{}'
FROM ledger_bill AS bill, ledger_billimport AS batch, fleet_node AS node,
     generate_series(0, %(hours)s - 1) AS k, unnest(ARRAY['compute', 'disk']) AS sort
WHERE sort = 'compute' OR node.id %% 14 = 0;
ANALYZE ledger_billrow;
"""
CHARGED = """
SELECT coalesce(sum(abs(charge.billed_micros - made.billed)), 0)::int8
FROM ledger_charge AS charge
JOIN LATERAL (SELECT coalesce(sum(billed_micros), 0) AS billed FROM ledger_line AS line
              WHERE line.charge_id = charge.id) AS made ON true
WHERE charge.billed_micros IS NOT NULL AND charge.hour < %(to)s
"""


def main(days: int) -> dict[str, object]:
    """Fill the bill, then time matching it, settling what changed, and matching it again."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from apps.ledger.actions.reconcile import bills_due, reconcile_bill

    _run(FILL, {"from": HOUR, "hours": HOURS, "at": AT})
    (bill_id,) = bills_due()
    began = time.perf_counter()
    done = reconcile_bill(bill_id=bill_id, at=AT)
    match_seconds = time.perf_counter() - began
    end = HOUR + timedelta(days=days)
    # Only the hours that are populated; charges of disks begin with their days.
    span = {"from": HOUR, "to": end}
    _run("DELETE FROM fleet_changedhour WHERE hour >= %(to)s OR hour < %(from)s", span)
    began = time.perf_counter()
    command = [sys.executable, "-m", "bench.settle_days", WORKER, str(days * 24)]
    workers = [subprocess.Popen(command) for _ in range(WORKERS)]
    if any(worker.wait() for worker in workers):
        raise SystemExit("a worker failed")
    settle_seconds = time.perf_counter() - began
    began = time.perf_counter()
    if reconcile_bill(bill_id=bill_id, at=AT).hours_changed:
        raise SystemExit("matching again changed something")
    return {
        "match_seconds": round(match_seconds, 1),
        "settle_seconds": round(settle_seconds, 1),
        "again_seconds": round(time.perf_counter() - began, 1),
        "node_hours": done.node_hours,
        "rows": _one("SELECT count(*) FROM ledger_billrow", {}),
        "residual_micros": _one(CHARGED, {"to": end}),
        "peak_mib": round(_peak_kib() / KIB, 1),
    }


def _peak_kib() -> int:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _run(query: str, params: Mapping[str, Any]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, params)


def _one(query: str, params: Mapping[str, Any]) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
