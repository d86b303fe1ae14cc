"""Costs of runs and services of days, as rows of exports."""

from psycopg import sql

from apps.economics.run_time import Bucket
from apps.ledger.queries.export_sources import (
    AMOUNTS,
    JOB,
    JOB_TAGGED,
    OF_JOBS,
    OWNER,
    OWNERS,
    QUALITIES,
    TAGS_OF_JOB,
    ExportSource,
    ExportWhat,
    add_export_source,
    money_cell,
    plain_cells,
    text_cell,
    word_cell,
)
from apps.unit_economics.models import ServicePart

SERVICE_DAYS = ExportSource(
    table="ledger_serviceday AS of",
    joins=OWNERS,
    columns={
        **plain_cells("day"),
        "pool": text_cell("pool.name"),
        **OWNER,
        "feature": text_cell("of.feature"),
        "part": word_cell("part", [part.name.lower() for part in ServicePart]),
        **plain_cells("kind", "status"),
        **QUALITIES,
        **plain_cells("unit_milliseconds", "unpriced_milliseconds"),
        **AMOUNTS,
        "marginal_cost": money_cell("marginal_micros"),
    },
)
RUN_DAYS = ExportSource(
    table="ledger_runday AS of",
    joins=OWNERS + OF_JOBS + " JOIN workloads_run_fact AS run ON run.id = of.run_id",
    tags=TAGS_OF_JOB,
    tags_joined=JOB_TAGGED,
    has_job=True,
    columns={
        **plain_cells("day"),
        "run": text_cell("run.key"),
        **plain_cells("run_id"),
        "pool": text_cell("pool.name"),
        **OWNER,
        **JOB,
        "bucket": word_cell("bucket", [bucket.name.lower() for bucket in Bucket]),
        **plain_cells("kind", "status"),
        **QUALITIES,
        "unit": sql.SQL("pool.unit"),
        **plain_cells("unit_milliseconds", "unpriced_milliseconds", "energy_joules"),
        **AMOUNTS,
        "marginal_cost": money_cell("marginal_micros"),
    },
)


def add_export_sources() -> None:
    """Let exports be of them."""
    add_export_source(ExportWhat.SERVICE_DAYS, SERVICE_DAYS)
    add_export_source(ExportWhat.RUN_DAYS, RUN_DAYS)
