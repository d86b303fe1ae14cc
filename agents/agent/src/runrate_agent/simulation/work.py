"""A scenario's work: jobs with their places, processes without a job, silences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import shake_128

from runrate_agent.compat import SLOTS
from runrate_agent.simulation.fleet import Device, Node, devices_on
from runrate_agent.simulation.load import Load
from runrate_agent.simulation.table import Table


@dataclass(frozen=True, **SLOTS)
class Place:
    node: Node
    devices: tuple[Device, ...]


@dataclass(frozen=True, **SLOTS)
class Identity:
    """What a scheduler says of a job that never changes."""

    cluster: str
    scheduler: str
    raw_id: str
    restart_count: int
    name: str
    user: str
    account: str | None
    partition: str | None
    namespace: str | None
    labels: Mapping[str, str]
    run: str | None

    @property
    def holder(self) -> str:
        return f"{self.scheduler}/{self.cluster}/{self.raw_id}"


@dataclass(frozen=True, **SLOTS)
class Job:
    """One attempt. Minutes of the scenario's clock; `ended_minute` None: it runs on.

    A job in state PENDING never starts. Not pinned: its events do not say which GPUs it got.
    """

    identity: Identity
    submitted_minute: int
    started_minute: int
    ended_minute: int | None
    state: str
    exit_code: int
    places: tuple[Place, ...]
    is_pinned: bool
    is_contested: bool
    load: Load

    @property
    def is_pending(self) -> bool:
        return self.state == "PENDING"


@dataclass(frozen=True, **SLOTS)
class Process:
    """Work the agent sees and no job explains; an empty holder is a process of nobody known."""

    place: Place
    started_minute: int
    ended_minute: int
    holder: str
    load: Load


@dataclass(frozen=True, **SLOTS)
class Gap:
    """A node whose agent is silent, or sees only part of each minute."""

    node: str
    started_minute: int
    ended_minute: int
    observed_ratio: float


@dataclass(frozen=True, **SLOTS)
class Surroundings:
    """What a job's table refers to by name."""

    clusters: Mapping[str, str]
    nodes: Mapping[str, Node]
    loads: Mapping[str, Load]
    seed: int
    minutes: int

    def load(self, table: Table) -> Load:
        name = table.text("load")
        if name not in self.loads:
            raise table.refusal("load", f"no load named {name!r}")
        return self.loads[name]

    def places(self, table: Table) -> tuple[Place, ...]:
        inner = table.table("on")
        return tuple(self._place(inner, name) for name in inner.keys_left())

    def _place(self, table: Table, name: str) -> Place:
        if name not in self.nodes:
            raise table.refusal(name, "no such node")
        node = self.nodes[name]
        return Place(node, devices_on(node, table.text(name), f"{table.place}.{name}"))


def jobs_in(root: Table, around: Surroundings) -> Iterator[Job]:
    """Each job of each table: `times` of them, `every_hours` apart."""
    for table in root.tables("jobs"):
        yield from _jobs(table, around)


def processes_in(root: Table, around: Surroundings) -> Iterator[Process]:
    for table in root.tables("processes"):
        load, holder = around.load(table), table.text("holder", "")
        started = table.minutes("started_hours")
        ended = started + table.minutes("hours")
        for place in around.places(table):
            yield Process(place, started, ended, holder, load)
        table.text("name", "")
        table.end()


def gaps_in(root: Table, nodes: Mapping[str, Node]) -> Iterator[Gap]:
    for table in root.tables("gaps"):
        node = table.text("node")
        if node not in nodes:
            raise table.refusal("node", "no such node")
        started = table.minutes("started_hours")
        ended = started + table.minutes("hours")
        yield Gap(node, started, ended, table.ratio("observed_ratio", 0))
        table.end()


def _jobs(table: Table, around: Surroundings) -> Iterator[Job]:
    every_minutes, times = table.minutes("every_hours", 0), table.count("times", 1)
    jitter_minutes = table.count("jitter_minutes", 0)
    first = _first(table, around)
    table.end()
    for nth in range(times):
        raw_id = _numbered(first.identity.raw_id, nth)
        later = nth * every_minutes + _up_to(jitter_minutes, f"{around.seed}/{raw_id}")
        yield replace(
            first,
            identity=replace(first.identity, raw_id=raw_id),
            submitted_minute=first.submitted_minute + later,
            started_minute=first.started_minute + later,
            ended_minute=None if first.ended_minute is None else first.ended_minute + later,
        )


def _first(table: Table, around: Surroundings) -> Job:
    started = table.minutes("started_hours")
    return Job(
        identity=_identity(table, around),
        submitted_minute=started - table.minutes("wait_hours", 0.05),
        started_minute=started,
        ended_minute=started + table.minutes("hours") if table.has("hours") else None,
        state=table.text("state", "COMPLETED"),
        exit_code=table.count("exit_code", 0),
        places=around.places(table),
        is_pinned=table.truth("pinned", default=True),
        is_contested=table.truth("contested", default=False),
        load=around.load(table),
    )


def _identity(table: Table, around: Surroundings) -> Identity:
    cluster = table.text("cluster")
    if cluster not in around.clusters:
        raise table.refusal("cluster", f"no cluster named {cluster!r}")
    return Identity(
        cluster=cluster,
        scheduler=around.clusters[cluster],
        raw_id=table.text("id"),
        restart_count=table.count("restart_count", 0),
        name=table.text("name"),
        user=table.text("user"),
        account=table.text("account", "") or None,
        partition=table.text("partition", "") or None,
        namespace=table.text("namespace", "") or None,
        labels=table.texts("labels"),
        run=table.text("run", "") or None,
    )


def _numbered(raw_id: str, nth: int) -> str:
    """The id of the nth repetition, the way schedulers count on: 4711, 4712; eval-1, eval-2."""
    return str(int(raw_id) + nth) if raw_id.isdigit() else f"{raw_id}-{nth + 1}" if nth else raw_id


def _up_to(most: int, key: str) -> int:
    return int.from_bytes(shake_128(key.encode()).digest(4), "big") % (most + 1)
