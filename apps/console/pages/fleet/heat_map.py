"""When each node was active over the last day, hour by hour; the one that idled most comes first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.urls import reverse
from numpy.typing import NDArray

from apps.console.kit.cells import GPU_HOURS, INSTANT, RATIO, drawn, quiet
from apps.console.kit.heat import HEAT, Heat, HeatCell
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.fleet.facts import FleetFacts
from apps.console.pages.fleet.hours import level_of
from apps.console.pages.pool_links import pool_href
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.time import instant
from apps.tables.column import Column
from apps.telemetry import queries as telemetry

HOURS = 24
PER_PAGE = 40
MOSTLY = 0.5
SECONDS_PER_HOUR = 3600
MILLISECONDS = 1000
# Less than this of an hour unobserved is a window at its edge, not a gap.
HARDLY_ANY = 0.01
Seconds = NDArray[np.float64]
MapHour = tuple[str, str, datetime, float, float, float | None]


@dataclass(frozen=True, slots=True)
class NodesDay:
    """The work of nodes in each hour, `[node, hour]`, and for how long they were there to do it."""

    nodes: Sequence[fleet.NodeStatus]
    hours: Sequence[datetime]
    lived: Seconds
    observed: Seconds
    worked: Seconds
    is_running: NDArray[np.bool_]

    @property
    def is_unobserved(self) -> NDArray[np.bool_]:
        """Where a node was there and nothing of it was measured; the running hour may still be."""
        return (self.lived > 0) & (self.observed <= 0) & ~self.is_running


class MappedNode(NamedTuple):
    """A node at its `place` in the day, and the sums of its hours there, in GPU-seconds.

    `labels` name the hours; its cells are drawn where it is shown.
    """

    day: NodesDay
    labels: Sequence[str]
    place: int
    pool: str
    lived: float
    observed: float
    worked: float
    unobserved_hours: int

    @property
    def node(self) -> fleet.NodeStatus:
        """The node that is mapped."""
        return self.day.nodes[self.place]

    @property
    def idle(self) -> float:
        """Observed and not active, in GPU-seconds."""
        return self.observed - self.worked


def _idle_milliseconds(row: MappedNode) -> int | None:
    return round(row.idle * MILLISECONDS) if row.observed else None


def _observed_ratio(row: MappedNode) -> float | None:
    return min(1.0, row.observed / row.lived) if row.lived else None


def _map_words(row: MappedNode) -> str:
    if not row.observed:
        return "nothing was measured in the last 24 hours"
    idle, observed = (
        gpu_hours(round(seconds * MILLISECONDS)) for seconds in (row.idle, row.observed)
    )
    sentence = f"{idle} of {observed} GPU-hours observed in the last 24 hours were idle"
    unknown = row.unobserved_hours
    return f"{sentence}; {counted(unknown, 'hour')} not observed" if unknown else sentence


def _hours_drawn(row: MappedNode) -> str:
    cells = [_map_cell(row, column, label) for column, label in enumerate(row.labels)]
    return Heat(cells, _map_words(row)).drawn()


def _map_cell(row: MappedNode, column: int, label: str) -> HeatCell:
    day, place = row.day, (row.place, column)
    left, is_running = f"{column * 100 / HOURS:.4f}%", day.is_running[place]
    present, observed = float(day.lived[place]), float(day.observed[place])
    if present <= 0:
        return HeatCell(left, "none", f"{label}: not there")
    if observed <= 0:
        if is_running:
            return HeatCell(left, "none", f"{label}: nothing measured yet")
        return HeatCell(left, "unobserved", f"{label}: not observed")
    worked, part = min(1.0, float(day.worked[place]) / observed), min(1.0, observed / present)
    description = f"{label}: active {per_cent(worked)}"
    if part >= 1 - HARDLY_ANY or is_running:
        return HeatCell(left, level_of(worked), description)
    description += f" of the {per_cent(part)} observed"
    height = f"{max(8, round(part * 100))}%"
    return HeatCell(left, level_of(worked), description, height=height)


MAP = Table[MappedNode](
    "map",
    "Hours of nodes",
    (
        Column("name", "Node", lambda row: row.node.name,
               href=lambda row: reverse("node", args=[row.node.id])),
        Column("hours", "Last 24 hours", _map_words, HEAT, sorts=False,
               shown=lambda row, _: _hours_drawn(row)),
        Column("idle", "Idle GPU-hours", _idle_milliseconds, GPU_HOURS, missing=quiet("unknown")),
        Column("observed", "Observed", _observed_ratio, RATIO,
               note=lambda row: f"{row.unobserved_hours} h unknown" if row.unobserved_hours else ""),
        Column("pool", "Pool", lambda row: row.pool,
               href=lambda row: pool_href(row.pool)),
    ),
    noun=("node", "nodes"),
    empty="Nodes in service with GPUs that match the filter are shown here.",
    sort="map",
    per_page=PER_PAGE,
    css="map",
)  # fmt: skip


def _hours_column(csv: str, of: Callable[[MapHour], float | None]) -> Column[MapHour]:
    def hours(row: MapHour) -> float | None:
        seconds = of(row)
        return None if seconds is None else seconds / SECONDS_PER_HOUR

    return Column(csv, "", hours, RATIO)


HOURS_OF_NODES = Table[MapHour](
    "hours",
    "Hours of nodes",
    (
        Column("node", "", lambda row: row[0]),
        Column("pool", "", lambda row: row[1]),
        Column("hour", "", lambda row: row[2], INSTANT),
        _hours_column("gpu_hours", lambda row: row[3]),
        _hours_column("observed_gpu_hours", lambda row: row[4]),
        _hours_column("active_gpu_hours", lambda row: row[5]),
    ),
)


def heat_map(
    nodes: Sequence[fleet.NodeStatus], facts: FleetFacts, context: Context
) -> TableSection:
    """The map of those of these nodes that have GPUs of their own."""
    day = day_of(nodes, facts)
    labels = [instant(hour, context.zone) for hour in day.hours]
    # Summed once for all: at ten thousand GPUs a sum for each row takes longer than the question.
    parts = (day.lived, day.observed, day.worked, day.is_unobserved.astype(np.float64))
    sums = np.stack([part.sum(axis=1) for part in parts]).T.tolist()
    rows = [
        MappedNode(
            day,
            labels,
            place,
            facts.pools[node.pool_id].name,
            present,
            observed,
            worked,
            int(hours),
        )
        for place, (node, (present, observed, worked, hours)) in enumerate(
            zip(day.nodes, sums, strict=True)
        )
    ]
    rows.sort(key=lambda row: (-row.idle, -row.unobserved_hours, row.node.name.casefold()))
    return MAP.section(
        rows,
        context,
        title=finding(day),
        about="share of each hour’s observed GPU time that was active; most idle time first; from "
        f"{labels[0]} to now",
        csv=HOURS_OF_NODES.file("hours of nodes", context, lambda: map_hours(day, facts)),
        remark=drawn("fleet/_heat_key.html") if rows else "",
    )


def day_of(nodes: Sequence[fleet.NodeStatus], facts: FleetFacts) -> NodesDay:
    """The last 24 hours of those nodes that have GPUs of their own; the running one is the last."""
    chosen = [
        node
        for node in nodes
        if node.kind == "machine" and facts.pools[node.pool_id].unit == "gpu" and node.units
    ]
    to = hour_of(facts.at) + HOUR
    telemetry_day = telemetry.heat(to - HOURS * HOUR, to, [node.id for node in chosen])
    starts = np.array([hour.timestamp() for hour in telemetry_day.hours])
    now = facts.at.timestamp()
    began = np.array([node.started_at.timestamp() if node.started_at else 0.0 for node in chosen])
    ended = np.array(
        [min(now, node.ended_at.timestamp()) if node.ended_at else now for node in chosen]
    )
    until = np.minimum(starts + SECONDS_PER_HOUR, ended.reshape(-1, 1))
    present = np.clip(until - np.maximum(starts, began.reshape(-1, 1)), 0, None)
    units = np.array([node.units for node in chosen], float).reshape(-1, 1)
    is_running = np.broadcast_to(starts + SECONDS_PER_HOUR > now, present.shape)
    return NodesDay(
        chosen,
        telemetry_day.hours,
        present * units,
        telemetry_day.observed_seconds,
        telemetry_day.worked_seconds,
        is_running,
    )


def finding(day: NodesDay) -> str:
    """How many were mostly idle, and of how much nothing is known."""
    nodes = int((day.lived.sum(axis=1) > 0).sum())
    observed, worked = day.observed.sum(axis=1), day.worked.sum(axis=1)
    if not nodes:
        return "No node with GPUs was there in the last 24 hours."
    if not observed.any():
        return f"Nothing was measured of {counted(nodes, 'node')} in the last 24 hours"
    idle = int(((observed > 0) & (worked < MOSTLY * observed)).sum())
    sentence = f"{idle} of {counted(nodes, 'node')} {'was' if idle == 1 else 'were'} mostly idle"
    if not idle:
        sentence = f"None of {counted(nodes, 'node')} was mostly idle"
    unknown, node_hours = int(day.is_unobserved.sum()), int((day.lived > 0).sum())
    sentence += " in the last 24 hours"
    if unknown:
        sentence += f"; {unknown:,} of {counted(node_hours, 'node-hour')} were not observed"
    return sentence


def map_hours(day: NodesDay, facts: FleetFacts) -> Iterator[MapHour]:
    """Of hours that are over: node, pool, hour, GPU-seconds there were, observed, and worked or None."""
    for row, node in enumerate(day.nodes):
        for column, hour in enumerate(day.hours):
            present, observed = day.lived[row, column], day.observed[row, column]
            if present > 0 and not day.is_running[row, column]:
                worked = day.worked[row, column] if observed > 0 else None
                yield node.name, facts.pools[node.pool_id].name, hour, present, observed, worked
