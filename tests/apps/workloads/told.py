"""Jobs told to a real database, and what it then says of them."""

from datetime import datetime, timedelta
from typing import Any

from apps.economics.jobs import JobEventIn, JobStatement
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import OF_DAYS, Pass
from apps.workloads.actions.recording import Recorded, record_events
from apps.workloads.models import Allocation, Job
from tests.economics.job_statements import at
from tests.make import make_cluster, make_node

NOW = at(600)
"""Ten hours after the jobs of these tests begin."""
LONG_AGO = at(-6000)


def tell(raw_id: str, *told: JobStatement, cluster: str = "atlas") -> list[Recorded]:
    """Record what is told of one job, all at once."""
    return record_events(events=[JobEventIn(cluster, raw_id, each) for each in told], at=NOW)


def node(name: str = "gpu-01", *, cluster: str = "atlas", since: datetime = LONG_AGO) -> int:
    """A node of this cluster."""
    return make_node(name, cluster_id=make_cluster(cluster), at=since)


def held(raw_id: str) -> list[tuple[Any, ...]]:
    """Node, part, whole GPUs or share, from and to of all a raw id holds."""
    rows = Allocation.objects.filter(job__raw_id=raw_id).order_by("node_name", "period", "part")
    return [
        (
            row.node_name,
            row.gpus_numerator,
            row.gpus_denominator,
            row.period.lower,
            row.period.upper,
        )
        for row in rows
    ]


def jobs(raw_id: str) -> list[Job]:
    """The jobs of a raw id that are nobody else by now."""
    found = Job.objects.filter(raw_id=raw_id, merged_into=None)
    return list(found.order_by("opened_at", "restart_count"))


def marked(node_id: int) -> set[datetime]:
    """The hours of this node that wait for the split, however they were marked."""
    hours = set(ChangedHour.objects.filter(pass_id=3, unit=node_id).values_list("hour", flat=True))
    for span in ChangedRange.objects.filter(pass_id=3, unit=node_id):
        hour = span.starts_at
        while hour < span.ends_at:
            hours.add(hour)
            hour += timedelta(hours=1)
    return hours


def days_marked() -> list[tuple[Pass, int, datetime]]:
    """The pools and local days (by their first hour) that wait, and for which pass."""
    waiting = ChangedHour.objects.filter(pass_id__in=OF_DAYS).order_by("unit", "hour", "pass_id")
    return [(Pass(each.pass_id), each.unit, each.hour) for each in waiting]


def forget_marks() -> None:
    """As if every pass were done."""
    ChangedHour.objects.all().delete()
    ChangedRange.objects.all().delete()
