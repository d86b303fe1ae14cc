"""Runs and services in the cube: each holds only the lines that are of one."""

from typing import LiteralString

from apps.ledger.queries.cube.dimensions import MOST, Dimension, add_dimension
from apps.ledger.queries.cube.sources import KIND, OF_PARTS, Source, add_source

STATUS: dict[str, LiteralString] = {"status": "day.status"}

RUN_DAYS = Source(
    "ledger_runday", {**OF_PARTS, **KIND, **STATUS, "run": "day.run_id"}, of="run", is_part=True
)
SERVICE_DAYS = Source(
    "ledger_serviceday",
    {**OF_PARTS, **KIND, **STATUS, "service": "day.workload_id"},
    of="service",
    is_part=True,
)


def add_cube_parts() -> None:
    """Let costs be asked by run and by service."""
    add_dimension(Dimension("run", "Run", "Not in a run", most=MOST), after="job")
    add_dimension(Dimension("service", "Service", "Not in a service", most=MOST), after="run")
    add_source(RUN_DAYS)
    add_source(SERVICE_DAYS)
