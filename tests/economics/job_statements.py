"""Statements about jobs for tests: made plainly, and drawn at random around one raw id."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from apps.economics.jobs import AllocationRecord, EventKind, JobSource, JobStatement

TEN = datetime(2026, 11, 20, 10, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """So many minutes after ten."""
    return TEN + timedelta(minutes=minutes)


def on(node: str, gpus: int = 8, **given: Any) -> AllocationRecord:
    """So many GPUs on a node."""
    return AllocationRecord(node, Fraction(gpus), **given)


def said(kind: str, minutes: float, **given: Any) -> JobStatement:
    """What the scheduler, where none else is given, says of a job submitted at ten."""
    values = {"source": JobSource.SCHEDULER, "submitted_at": TEN, "restart_count": 0} | given
    return JobStatement(EventKind[kind.upper()], at(minutes), **values)


def loosely(kind: str, minutes: float, **given: Any) -> JobStatement:
    """What somebody says who does not know when the job was submitted, nor which attempt it is."""
    return said(kind, minutes, **{"submitted_at": None, "restart_count": None} | given)


_moments = st.integers(0, 12).map(lambda quarter: at(15 * quarter))
_allocations = st.lists(
    st.builds(
        AllocationRecord,
        node=st.sampled_from(["gpu-01", "gpu-02"]),
        gpus=st.integers(0, 2).map(Fraction),
        share=st.sampled_from([None, Fraction(1, 4)]),
        devices=st.sampled_from([None, ("GPU-a",), ("GPU-b",)]),
    ),
    max_size=3,
).map(tuple)

statements = st.builds(
    JobStatement,
    kind=st.sampled_from(EventKind),
    at=_moments,
    source=st.sampled_from(JobSource),
    submitted_at=st.none() | st.sampled_from([at(0), at(60)]),
    restart_count=st.none() | st.integers(0, 1),
    started_at=st.none() | _moments,
    state=st.sampled_from([None, "RUNNING", "SUSPENDED", "COMPLETED", "FAILED"]),
    account=st.sampled_from([None, "research", "vision"]),
    user=st.sampled_from([None, "ada"]),
    run=st.sampled_from([None, "r1", "r2"]),
    cpus=st.sampled_from([None, Fraction(8)]),
    suspended_seconds=st.sampled_from([None, 60]),
    labels=st.sampled_from([(), (("project", "llm"),), (("project", "ads"), ("tier", "1"))]),
    allocations=st.none() | _allocations,
)
"""Anything anybody may say about one raw id, contradictions among it."""
