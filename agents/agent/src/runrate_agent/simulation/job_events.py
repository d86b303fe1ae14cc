"""A scenario's jobs as the events their schedulers would have sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from runrate_agent.compat import SLOTS, UTC
from runrate_agent.jobs import Allocation, JobEvent
from runrate_agent.simulation.scenario import Scenario
from runrate_agent.simulation.work import Job, Place


@dataclass(frozen=True, **SLOTS)
class Clock:
    """Minutes of a scenario as moments of the calendar."""

    starts_at_ms: int

    def at(self, minute: int) -> str:
        moment = datetime.fromtimestamp(self.starts_at_ms / 1000 + minute * 60, tz=UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def events_of(scenario: Scenario, clock: Clock) -> dict[str, list[JobEvent]]:
    """Every event of each cluster, in order of time."""
    timed = [
        (minute, number, event)
        for number, job in enumerate(scenario.jobs)
        for minute, event in _events(job, clock)
    ]
    timed.sort(key=lambda each: each[:2])
    found: dict[str, list[JobEvent]] = {name: [] for name in scenario.clusters}
    for _, _, event in timed:
        found[event.cluster].append(event)
    return found


def _events(job: Job, clock: Clock) -> Iterator[tuple[int, JobEvent]]:
    yield job.submitted_minute, _event(job, clock, job.submitted_minute, "submit", "PENDING")
    if job.is_pending:
        return
    yield job.started_minute, _event(job, clock, job.started_minute, "start", "RUNNING")
    if job.ended_minute is not None:
        yield job.ended_minute, _event(job, clock, job.ended_minute, "end", job.state)


def _event(job: Job, clock: Clock, minute: int, event: str, state: str) -> JobEvent:
    identity = job.identity
    allocations = () if event == "submit" else _allocations(job)
    return JobEvent(
        cluster=identity.cluster,
        raw_id=identity.raw_id,
        submitted_at=clock.at(job.submitted_minute),
        restart_count=identity.restart_count,
        event=event,
        at=clock.at(minute),
        state=state,
        details={
            "array_id": None,
            "het_id": None,
            "name": identity.name,
            "user": identity.user,
            "account": identity.account,
            "partition": identity.partition,
            "qos": None,
            "namespace": identity.namespace,
            "labels": dict(identity.labels),
            "exit_code": job.exit_code if event == "end" else None,
            "cpus": sum(each.cpus or 0 for each in allocations) or None,
            "run": identity.run,
        },
        allocations=allocations,
    )


def _allocations(job: Job) -> tuple[Allocation, ...]:
    return tuple(_allocation(job, place) for place in job.places)


def _allocation(job: Job, place: Place) -> Allocation:
    pool, count = place.node.pool, len(place.devices)
    cpus_per_device = pool.cpus_per_node // (len(place.node.devices) * pool.replicas)
    return Allocation(
        node=place.node.name,
        gpus=count,
        share=None if pool.replicas == 1 else f"1/{pool.replicas}",
        devices=tuple(each.record.uuid for each in place.devices) if job.is_pinned else None,
        cpus=cpus_per_device * count,
    )
