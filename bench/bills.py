"""How fast a bill of a million rows comes in, beside reading its file alone, and in how much memory; and again."""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil

from bench.machine import own_database

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "runrate_bench_bills"
ROWS, NODES, HOURS = 1_000_000, 1_370, 744
TARGET_TIMES, TARGET_MIB = 4.0, 300.0
BYTES_PER_MIB = 1 << 20
STARTS_AT = datetime(2026, 7, 1, tzinfo=UTC)
SAME = {
    "AvailabilityZone": "us-east-1a",
    "BillingAccountId": "123456789012",
    "BillingAccountName": "Atlas Labs",
    "BillingAccountType": "Account",
    "BillingCurrency": "USD",
    "BillingPeriodEnd": "2026-08-01T00:00:00Z",
    "BillingPeriodStart": "2026-07-01T00:00:00Z",
    "CapacityReservationId": "NULL",
    "CapacityReservationStatus": "NULL",
    "ChargeCategory": "Usage",
    "ChargeClass": "NULL",
    "ChargeDescription": "$55.04 per On Demand Linux p5.48xlarge Instance Hour",
    "ChargeFrequency": "Usage-Based",
    "CommitmentDiscountCategory": "NULL",
    "CommitmentDiscountId": "NULL",
    "CommitmentDiscountName": "NULL",
    "CommitmentDiscountQuantity": "NULL",
    "CommitmentDiscountStatus": "NULL",
    "CommitmentDiscountType": "NULL",
    "CommitmentDiscountUnit": "NULL",
    "ConsumedQuantity": "1",
    "ConsumedUnit": "Hours",
    "ContractedUnitPrice": "55.04",
    "InvoiceId": "INV-2026-07",
    "InvoiceIssuerName": "Amazon Web Services, Inc.",
    "ListCost": "98.32",
    "ListUnitPrice": "98.32",
    "PricingCategory": "Standard",
    "PricingCurrency": "USD",
    "PricingQuantity": "1",
    "PricingUnit": "Hours",
    "ProviderName": "AWS",
    "PublisherName": "AWS",
    "RegionId": "us-east-1",
    "RegionName": "US East (N. Virginia)",
    "ResourceType": "Instance",
    "ServiceCategory": "Compute",
    "ServiceName": "Amazon Elastic Compute Cloud",
    "ServiceSubcategory": "Virtual Machines",
    "SkuId": "VEAJHRNKTJZA",
    "SkuMeter": "BoxUsage:p5.48xlarge",
    "SkuPriceDetails": '{"GpuCount": 8, "InstanceType": "p5.48xlarge"}',
    "SkuPriceId": "VEAJHRNKTJZA.JRTCKXETXF",
    "SubAccountId": "210987654321",
    "SubAccountName": "research",
    "SubAccountType": "Account",
}


def run(*, full: bool = False) -> dict[str, object]:
    """One import of ROWS rows and the same file again; misses where a target is not kept."""
    with ExitStack() as stack:
        url = stack.enter_context(own_database(os.environ["RUNRATE_DATABASE_URL"], DATABASE))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        environment = os.environ | {"RUNRATE_DATABASE_URL": url}
        manage(environment, "migrate", "--verbosity", "0")
        manage(environment, "bootstrap", "--name", "Atlas Labs", "--currency", "USD")
        file = Path(folder) / "bill.csv"
        write_bill(file, ROWS)
        bare = bare_seconds(file)
        seconds, peak_mib, told = timed(environment, "import_focus", str(file), "--json")
        bare = (bare + bare_seconds(file)) / 2
        again_seconds, _, again = timed(environment, "import_focus", str(file), "--json")
    figures: dict[str, object] = {
        "rows": told["rows"],
        "seconds": round(seconds, 1),
        "bare_seconds": round(bare, 1),
        "times_bare": round(seconds / bare, 2),
        "peak_mib": round(peak_mib, 1),
        "again_seconds": round(again_seconds, 1),
    }
    exact = told["imported"] == ROWS and again["imported"] == 0
    misses = {
        f"{seconds / bare:.1f} times a bare pass is over {TARGET_TIMES:.0f}": seconds
        > TARGET_TIMES * bare,
        f"{peak_mib:.0f} MiB is over {TARGET_MIB:.0f}": peak_mib > TARGET_MIB,
        "not every row came in exactly once": not exact,
    }
    return figures | {"misses": [said for said, is_missed in misses.items() if is_missed]}


def bare_seconds(file: Path) -> float:
    """How long Python's own reader needs for the file's rows, when nothing is done with them."""
    began = time.monotonic()
    with file.open(newline="") as text:
        deque(csv.reader(text), maxlen=0)
    return time.monotonic() - began


def write_bill(file: Path, count: int) -> None:
    """A bill of FOCUS 1.2 with a row for every node and hour, `count` in all."""
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        first = next(_rows(1))
        names = sorted(first)
        writer.writerow(names)
        writer.writerows([row[name] for name in names] for row in _rows(count))


def _rows(count: int) -> Iterator[dict[str, str]]:
    # Made-up costs, not secrets; the same ones in every run.
    random_ = random.Random(7)  # noqa: S311
    for index in range(count):
        node, hour = index % NODES, index // NODES % HOURS
        starts_at = STARTS_AT + timedelta(hours=hour)
        plain = f"{random_.randrange(10**9, 10**11) / 10**9:.10f}"
        yield SAME | {
            "BilledCost": plain,
            "EffectiveCost": plain,
            "ContractedCost": plain,
            "ChargePeriodStart": f"{starts_at:%Y-%m-%dT%H:%M:%SZ}",
            "ChargePeriodEnd": f"{starts_at + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}",
            "ResourceId": f"i-{node:017x}",
            "ResourceName": f"gpu-{node}",
            "Tags": json.dumps({"Name": f"gpu-{node}", "env": "prod", "team": "research"}),
        }


def timed(environment: dict[str, str], *command: str) -> tuple[float, float, dict[str, object]]:
    """Seconds, peak RSS in MiB, and what the command printed last."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks: list[int] = [0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peaks), daemon=True)
    watcher.start()
    said, _ = process.communicate()
    seconds = time.monotonic() - began
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    told: dict[str, object] = json.loads(said.splitlines()[-1])
    return seconds, max(peaks) / BYTES_PER_MIB, told


def _watch(pid: int, peaks: list[int]) -> None:
    try:
        process = psutil.Process(pid)
        while process.is_running():
            peaks.append(process.memory_info().rss)
            time.sleep(0.1)
    except psutil.NoSuchProcess:
        return


def manage(environment: dict[str, str], *command: str) -> None:
    subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
