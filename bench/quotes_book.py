"""What quotes are asked of, in the database of RUNRATE_DATABASE_URL: `python -m bench.quotes_book OFFERS`.

An offer book of so many offers, made from pools, prices and series as a worker makes it, and jobs to ask for. The first call,
with `secret`, makes the installation. Prints JSON.
"""

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import django

MACHINES = {"p5.48xlarge": "55.04", "p4d.24xlarge": "32.77", "p4de.24xlarge": "40.96"}
SPOT_SHARE = Decimal("0.3")
POOLS = 2
HOURS_SEEN = 14 * 24
JOBS = 40
HOME = "aws:us-east-1"


def main(asked: str) -> dict[str, Any]:
    """The installation's token, or the jobs to ask the new book for."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    if asked == "secret":
        return {"secret": _installation()}
    return {"jobs": _jobs_of_book(int(asked))}


def _installation() -> str:
    from apps.accounts import actions as accounts
    from apps.fleet import actions as fleet
    from controlplane.readiness import make_ready

    make_ready()
    at = datetime.now(UTC)
    for option in ("reserved", "on_demand"):
        pool = fleet.EnteredPool(
            name=option,
            provider="aws",
            region="us-east-1",
            instance_type="p5.48xlarge",
            gpu_model="NVIDIA H100 80GB HBM3",
            gpus_per_node=8,
            purchase_option=option,
        )
        pool_id = fleet.add_pool(pool=pool, at=at)
        for place in range(4 if option == "reserved" else 0):
            name = f"{option}-{place}"
            node = fleet.NewNode(name=name, pool_id=pool_id, started_at=at, units=8)
            fleet.add_node(node=node, at=at)
        _add_price("55.04", option, at, "us-east-1", "p5.48xlarge")
    accounts.add_team(name="Research")
    token = accounts.make_token(name="scheduler", scopes=("read", "manage"), expires_at=None, at=at)
    return str(token.secret)


def _jobs_of_book(offers: int) -> list[dict[str, Any]]:
    from apps.placement.actions import make_offer_book, set_egress_prices
    from apps.placement.models import EgressPrice

    at = datetime.now(UTC)
    known = EgressPrice.objects.count()
    places = [*_places()][: (offers - POOLS) // 2]
    for region, machine in places[known:]:
        for option in ("on_demand", "spot"):
            price = Decimal(MACHINES[machine]) * (SPOT_SHARE if option == "spot" else 1)
            _add_price(f"{price:.4f}", option, at, region, machine)
        _add_series(region, machine, at)
    prices = {(HOME, f"aws:{region}"): Decimal("0.02") for region, _ in places}
    set_egress_prices(prices=prices, source="the bench", at=at)
    found = make_offer_book(at=at)
    if found != offers:
        raise SystemExit(f"the book has {found} offers instead of {offers}")
    return [_job(place, offers, at) for place in range(JOBS)]


def _places() -> Iterator[tuple[str, str]]:
    """A region has one machine."""
    machines = [*MACHINES]
    for place in range(1_000):
        yield f"region-{place}", machines[place % len(machines)]


def _add_price(amount: str, option: str, at: datetime, region: str, machine: str) -> None:
    from apps.pricing import actions as pricing

    rate = pricing.EnteredRate(
        kind="list",
        amount=Decimal(amount),
        currency="USD",
        starts_at=at - timedelta(days=1),
        purchase_option=option,
        provider="aws",
        region=region,
        instance_type=machine,
        source="the bench",
    )
    pricing.add_rate(rate=rate, at=at)


def _add_series(region: str, machine: str, at: datetime) -> None:
    """Two weeks by the hour, down in one hour of 20 to 39."""
    import numpy as np

    from apps.economics.spot.trace import SpotTrace
    from apps.placement.actions import SpotPlace, keep_spot_series

    every = 20 + int(region.rpartition("-")[2]) % 20
    counts = np.array([float(hour % every != 0) for hour in range(HOURS_SEEN)])
    began = (at - timedelta(hours=HOURS_SEEN)).timestamp()
    keep_spot_series(
        name=region,
        trace=SpotTrace(region, 1.0, counts, began),
        place=SpotPlace(provider="aws", region=region, instance_type=machine),
        source="the bench",
        at=at,
    )


def _job(place: int, offers: int, at: datetime) -> dict[str, Any]:
    """Of 8 to 32 GPUs, every other one with its data in one place; any model, so that every offer may take it."""
    gpus = 8 * (1 + place % 4)
    job: dict[str, Any] = {
        "gpus": gpus,
        "work": {"gpu_hours": gpus * (12 + place), "of_model": "H100"},
        "deadline": (at + timedelta(hours=60 + place)).isoformat(),
        "checkpoint": {"write_seconds": 60},
        "restart_seconds": 360,
        "team": "Research",
        "assumed_wait_minutes": 15,
        "limit": offers,
    }
    if place % 2:
        job["dataset"] = {"place": HOME, "gigabytes": 500 + place, "gbps": 10}
    return job


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
