"""How fast a month of a million lines is written as FOCUS files, and in how much memory."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import psutil
import psycopg

from bench.bills import timed
from bench.machine import own_database, python

DATABASE = "runrate_bench_export"
LINES, FEWER_LINES = 1_000_000, 250_000
NODES, HOURS, LINES_OF_CHARGE = 336, 744, 4
PEAK_MIB = 500
# A node-hour of 8 GPUs in four lines; owners and jobs are those of the populated fleet.
FILL = """
INSERT INTO ledger_charge (kind, node_id, pool_id, part, hour, through, posting_month, list_micros,
    contracted_micros, effective_micros, currency, status, reason, digest)
SELECT 'node_hour', node.id, node.pool_id, 0, hour, hour + interval '1 hour', '2026-03-01',
       98320000, 71120000, 55040000, 'USD', 'estimated', '', 'made'
FROM (SELECT id, pool_id FROM fleet_node ORDER BY id LIMIT %(nodes)s) AS node,
     generate_series('2026-03-01T00:00Z'::timestamptz, '2026-03-31T23:00Z', '1 hour') AS hour
WHERE hour < '2026-03-01T00:00Z'::timestamptz + %(hours)s * interval '1 hour';
INSERT INTO ledger_chargepiece
    (charge_id, start_ms, end_ms, list_micros, contracted_micros, effective_micros, detail)
SELECT id, 0, 3600000, list_micros, contracted_micros, effective_micros, '' FROM ledger_charge;
CREATE TABLE IF NOT EXISTS ledger_line_2026_03 PARTITION OF ledger_line
    FOR VALUES FROM ('2026-03-01') TO ('2026-04-01');
INSERT INTO ledger_line (charge_id, hour, posting_month, pool_id, team_id, job_id, state, flags,
    evidence, unit_milliseconds, list_micros, contracted_micros, effective_micros)
SELECT charge.id, charge.hour, charge.posting_month, charge.pool_id, owner.id,
       (SELECT min(id) FROM workloads_job) + (charge.id + place) %% 100, 1, 0, 1, 7200000,
       24580000, 17780000, 13760000
FROM ledger_charge AS charge, generate_series(1, %(parts)s) AS place,
     (SELECT min(id) AS id FROM accounts_team) AS owner;
ANALYZE;
"""


def run(*, full: bool = False) -> dict[str, object]:
    """A month of LINES as CSV and (`full`) as Parquet, and a quarter of it as CSV."""
    with ExitStack() as stack:
        url = stack.enter_context(own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        python(url, "bench.settle_fleet", str(NODES))
        fewer, peak_of_fewer = _exported(url, folder / "fewer.csv", FEWER_LINES)
        figures = {"fewer_lines": fewer["rows"], "fewer_peak_mib": peak_of_fewer}
        for ending in ("csv", "parquet") if full else ("csv",):
            told, peak = _exported(url, folder / f"month.{ending}", LINES)
            figures |= {
                "lines": told["rows"],
                f"{ending}_seconds": told["seconds"],
                f"{ending}_peak_mib": peak,
            }
    misses = [
        f"{name} is {value}, over {PEAK_MIB}"
        for name, value in figures.items()
        if name.endswith("peak_mib") and float(str(value)) > PEAK_MIB
    ]
    load = round(psutil.getloadavg()[0], 1)
    return figures | {"load": load, "misses": misses}


def _exported(url: str, file: Path, lines: int) -> tuple[dict[str, object], float]:
    """The month with so many lines, written to a file; what was told, and the peak in MiB."""
    hours = min(HOURS, -(-lines // (NODES * LINES_OF_CHARGE)))
    given = {"nodes": NODES, "hours": hours, "parts": LINES_OF_CHARGE}
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute("TRUNCATE ledger_charge, ledger_line CASCADE")
        connection.execute(FILL, given)
    environment = os.environ | {"RUNRATE_DATABASE_URL": url}
    command = ("export_focus", "--month", "2026-03", "--out", str(file), "--json")
    seconds, peak_mib, told = timed(environment, *command)
    return told | {"seconds": round(seconds, 1)}, round(peak_mib, 1)
