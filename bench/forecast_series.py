"""Public series of GPU demand and of requests by the hour, and made ones for timing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import csv as untyped

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.forecast.series import hourly_means

# Its stubs leave out what it offers.
arrow_csv: Any = untyped
TWO_WEEKS, ONE_WEEK = 14 * DAY, 7 * DAY
LARGEST_CLIENTS = 12


@dataclass(frozen=True, slots=True)
class BenchSet:
    """Series that are judged together, forecast from the hour `first` on."""

    series: tuple[Floats, ...]
    first: int


def public_sets(folder: Path) -> dict[str, BenchSet]:
    """All of them; each cluster of Helios is a set of its own. FileNotFoundError where one is missing."""
    return {
        "philly": BenchSet((_philly(folder / "philly"),), TWO_WEEKS),
        **{
            f"helios_{path.name.partition('.')[0]}": BenchSet((helios_demand(path),), TWO_WEEKS)
            for path in sorted((folder / "helios").glob("*.csv.gz"))
        },
        **_servegen(folder / "servegen" / "m-large_client_rates.csv.gz"),
    }


def _by_hour(moments: NDArray[np.datetime64], values: Floats) -> Floats:
    seconds = moments.astype("datetime64[s]").astype(np.int64)
    return hourly_means(seconds.tolist(), values.tolist()).values


def _philly(folder: Path) -> Floats:
    """Nodes in use; a gap of ten hours."""
    table = arrow_csv.read_csv(folder / "philly_node_sequence_to_2017-11-13.csv.gz")
    return _by_hour(table["time"].to_numpy(), table["active"].to_numpy())


def helios_demand(path: Path) -> Floats:
    """GPUs that ran and that were waited for."""
    table = arrow_csv.read_csv(path)
    running, pending = (table[f"{name}_gpu_num"].to_numpy() for name in ("running", "pending"))
    return _by_hour(table["time"].to_numpy(), running + pending)


def _servegen(path: Path) -> dict[str, BenchSet]:
    """Requests a second of a service, and of its largest clients."""
    table = arrow_csv.read_csv(path)
    client = table["client"].to_numpy()
    hour = table["window_start_seconds"].to_numpy() // 3_600
    rates = np.zeros((client.max() + 1, hour.max() + 1))
    np.add.at(rates, (client, hour), table["rate_requests_per_second"].to_numpy() / 6)
    largest = np.argsort(-rates.sum(axis=1))[:LARGEST_CLIENTS]
    return {
        "servegen": BenchSet((rates.sum(axis=0),), ONE_WEEK),
        "servegen_clients": BenchSet(tuple(rates[largest]), ONE_WEEK),
    }


def made_series(count: int, days: int) -> list[Floats]:
    """Half steps, half curves with noise: the same ones every time."""
    draw = np.random.default_rng(14)
    hour = np.arange(days * DAY)
    made: list[Floats] = []
    for number in range(count):
        noise = draw.normal(0, 1, len(hour))
        if number % 2:
            made.append(200 + 60 * np.sin(2 * np.pi * hour / DAY) + 8 * noise)
        else:
            made.append(
                np.abs(128 + np.cumsum(np.where(draw.random(len(hour)) < 0.05, 8, 0) * noise))
            )
    return made
