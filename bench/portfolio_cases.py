"""Public demand of GPUs with public prices, cut where somebody had to decide on commitments."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv as untyped

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.scenarios import filled_history
from bench.forecast_series import helios_demand, public_sets

# Its stubs leave out what it offers.
arrow_csv: Any = untyped
MACHINES = ("a2-highgpu-1g", "a3-highgpu-1g")
REGION = "us-central1"
TERM_MONTHS = {"1y": 12, "3y": 36}
FIRST_DECISION = 7
SHORT_SERIES = 60
"""Days: in a series up to so long somebody decides every other day, in others once a week."""


@dataclass(frozen=True, slots=True)
class CommitmentPrice:
    """A machine with one GPU, by the hour: on demand, and committed for a term."""

    machine: str
    term_months: int
    on_demand: float
    committed: float
    on: date


@dataclass(frozen=True)
class PurchaseCase:
    """What was known when somebody decided, and what followed."""

    series: str
    day: int
    history: Floats
    followed: Floats


def public_demand(folder: Path) -> dict[str, Floats]:
    """GPUs that ran and were waited for, nodes in use and requests a second, by the hour. FileNotFoundError where a file is missing."""
    helios = {
        f"helios_{path.name.partition('.')[0]}": helios_demand(path)
        for path in sorted((folder / "helios").glob("*.csv.gz"))
    }
    others = {
        name: filled_history(each.series[0])
        for name, each in public_sets(folder).items()
        if name in {"philly", "servegen"}
    }
    return {**helios, **others, "openb": _openb(folder / "openb" / "openb_pod_list_default.csv.gz")}


def _openb(path: Path) -> Floats:
    """GPUs (shares of one among them) of pods from when they were asked for until they went."""
    table = arrow_csv.read_csv(path)
    begins, ends, count, milli = (
        table[name].to_numpy(zero_copy_only=False).astype(np.float64)
        for name in ("creation_time", "deletion_time", "num_gpu", "gpu_milli")
    )
    gpus = np.nan_to_num(count * milli / 1_000)
    known = (gpus > 0) & np.isfinite(ends)
    begins, ends, gpus = begins[known], ends[known], gpus[known]
    hours = np.arange(ends.max() // 3_600 + 1) * 3_600.0
    until = [float((gpus * np.clip(hour - begins, 0, ends - begins)).sum()) for hour in hours]
    return np.diff(until) / 3_600


def commitment_prices(folder: Path) -> list[CommitmentPrice]:
    """The last prices of each machine and term in the region, GPU by GPU."""
    table = arrow_csv.read_csv(folder / "prices" / "gcp_gpu_price_changes_to_2025-06-30.csv.gz")
    last = {
        row["instance_type"]: row
        for row in table.to_pylist()
        if row["instance_type"] in MACHINES and row["region"] == REGION and row["month_1y"]
    }
    return [
        CommitmentPrice(
            machine=machine,
            term_months=months,
            on_demand=row["hour"],
            committed=row[f"month_{term}"] / MONTH_HOURS,
            on=row["date"],
        )
        for machine, row in sorted(last.items())
        for term, months in TERM_MONTHS.items()
    ]


def purchase_cases(demand: dict[str, Floats], days: int) -> Iterator[PurchaseCase]:
    """Each series cut at each day on which somebody decides for the `days` that follow."""
    for name, values in demand.items():
        whole = len(values) // DAY
        step = 2 if whole <= SHORT_SERIES else 7
        for day in range(FIRST_DECISION, whole - days + 1, step):
            followed = values[day * DAY : (day + days) * DAY]
            if followed.sum():
                yield PurchaseCase(name, day, values[: day * DAY], followed)
