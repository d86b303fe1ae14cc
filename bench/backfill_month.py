"""A cluster's accounting imported on the first day, settled and audited: `python -m bench.backfill_month DAYS`.

The file is made up, of a shape that was seen: one pool, in 31 days some 23,900 jobs of which 7,400
hold GPUs, most of those for weeks, so that an hour has some three thousand lines; 156 accounts.
"""

import csv
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
django.setup()

# Django has to be set up before anything that has models.
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from apps.accounts import actions as accounts  # noqa: E402

FROM = datetime(2026, 5, 1, tzinfo=UTC)
HOLDERS_A_DAY, OTHERS_A_DAY, ACCOUNTS = 141, 531, 156
BEFORE_DAYS = 37
PROCESSES = 2
MEASURED = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
SHORT_JOBS = 0.2
SHORT_HOURS, LONG_HOURS = (0.1, 6.0), (400.0, 880.0)
GPUS = (1, 1, 1, 1, 2, 4, 8)
HEADER = ("id", "account", "user", "start", "end", "gpus", "cpus")
MAPPING = """
cluster = "trace"
[columns]
raw_id = "id"
account = "account"
user = "user"
started_at = "start"
ended_at = "end"
gpus = "gpus"
cpus = "cpus"
[times]
format = "epoch"
unit = "s"
[window]
from = "{since}"
to = "{until}"
[pool]
name = "trace"
capacity = "peak"
ends_at = "{until}"
"""


def main(days: int) -> dict[str, object]:
    """What import, rules and price, settling and the audit took, in seconds; lines and memory."""
    call_command("migrate", verbosity=0)
    accounts.bootstrap(organisation=accounts.Bootstrap("Bench", "USD", "UTC", 1), at=FROM)
    until = FROM + timedelta(days=days)
    with tempfile.TemporaryDirectory() as folder:
        file, mapping = Path(folder, "jobs.csv"), Path(folder, "jobs.toml")
        with file.open("w", newline="") as out:
            csv.writer(out).writerows((HEADER, *_jobs(days)))
        mapping.write_text(MAPPING.format(since=FROM.isoformat(), until=until.isoformat()))
        took = {"import_seconds": _timed("import_jobs", str(file), mapping=str(mapping))}
    began = time.monotonic()
    _own_and_price()
    took["rules_seconds"] = round(time.monotonic() - began, 2)
    took["settle_seconds"] = _timed("settle", processes=PROCESSES)
    took["audit_seconds"] = _timed("audit_ledger")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT hour) FROM ledger_line")
        lines, hours = cursor.fetchone()
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE gpus_numerator > 0) FROM workloads_allocation"
        )
        jobs, holders = cursor.fetchone()
    peaks = [resource.getrusage(who).ru_maxrss for who in MEASURED]
    counted = {"jobs": jobs, "holders": holders, "lines": lines, "hours": hours}
    return {**took, **counted, "peak_mib": max(peaks) // 1024}


def _jobs(days: int) -> Iterator[tuple[object, ...]]:
    """The rows that the time asked for has anything of; the longest began well before it."""
    draw = random.Random(7)  # noqa: S311  # a load, not a secret
    span = (days + BEFORE_DAYS) * 86_400
    first, since = int(FROM.timestamp()), int(FROM.timestamp()) - BEFORE_DAYS * 86_400
    for number in range((HOLDERS_A_DAY + OTHERS_A_DAY) * (days + BEFORE_DAYS)):
        start = since + draw.randrange(span)
        holds = draw.randrange(HOLDERS_A_DAY + OTHERS_A_DAY) < HOLDERS_A_DAY
        is_short = not holds or draw.random() < SHORT_JOBS
        end = start + int(3600 * draw.uniform(*(SHORT_HOURS if is_short else LONG_HOURS)))
        account = f"account-{draw.randrange(ACCOUNTS)}"
        if end > first:
            gpus = draw.choice(GPUS) if holds else 0
            yield number, account, f"user-{number % 900}", start, end, gpus, 8


def _own_and_price() -> None:
    """A team and a rule for each account but a few, and the price of a GPU-hour."""
    with redirect_stdout(StringIO()):
        for number in range(ACCOUNTS - 6):
            call_command("add_team", f"team-{number}")
            call_command("add_rule", f"team-{number}", account=f"account-{number}")
        call_command("add_rate", "trace", "2.10", "--from", FROM.isoformat(), "--per", "gpu")


def _timed(command: str, *arguments: str, **options: object) -> float:
    began = time.monotonic()
    with redirect_stdout(StringIO()):
        call_command(command, *arguments, **options)
    return round(time.monotonic() - began, 2)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
