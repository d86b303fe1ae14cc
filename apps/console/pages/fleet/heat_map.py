"""When each node was active over the last day, hour by hour; the one that idled most comes first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from django.urls import reverse
from numpy.typing import NDArray

from apps.console.kit.request import Context
from apps.console.pages.fleet.facts import FleetFacts
from apps.console.pages.fleet.heat_values import HeatMap, MapCell, MapRow
from apps.console.pages.fleet.hours import level_of
from apps.console.pages.listed import Asked, By, listed
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.show.amounts import counted, gpu_hours, per_cent
from apps.show.time import instant
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

COLUMNS: Mapping[str, By[MapRow]] = {
    "name": By("Node", lambda row: row.name.casefold()),
    "hours": By("Last 24 hours"),
    "idle": By("Idle GPU-hours", lambda row: row.idle_seconds, is_number=True),
    "observed": By("Observed", lambda row: row.observed_ratio, is_number=True),
    "pool": By("Pool", lambda row: row.pool.casefold()),
}


@dataclass(frozen=True, slots=True)
class Day:
    """What the nodes did in each hour, `[node, hour]`, and for how long they were there to do it."""

    nodes: Sequence[fleet.StandingNode]
    hours: Sequence[datetime]
    lived: Seconds
    observed: Seconds
    worked: Seconds
    is_running: NDArray[np.bool_]

    @property
    def is_unobserved(self) -> NDArray[np.bool_]:
        """Where a node was there and nothing of it was measured; the running hour may still be."""
        return (self.lived > 0) & (self.observed <= 0) & ~self.is_running


def heat_map(
    nodes: Sequence[fleet.StandingNode], facts: FleetFacts, given: QueryDict, context: Context
) -> HeatMap:
    """The map of those of these nodes that have GPUs of their own."""
    day = day_of(nodes, facts)
    # Summed once for all: at ten thousand GPUs a sum for each row takes longer than the question.
    sums = np.stack([each.sum(axis=1) for each in _parts(day)]).T.tolist()
    rows = [
        _row(node, place, told, facts)
        for place, (node, told) in enumerate(zip(day.nodes, sums, strict=True))
    ]
    rows.sort(key=lambda row: (-row.idle_seconds, -row.unobserved_hours, row.name.casefold()))
    path, noun = reverse("fleet"), ("node", "nodes")
    asked = Asked(given, path, name="map", part="map", per_page=PER_PAGE, noun=noun)
    told = listed(rows, COLUMNS, asked)
    labels = [instant(hour, context.zone) for hour in day.hours]
    shown = tuple(_shown(row, day, labels) for row in told.rows)
    return HeatMap(
        finding=finding(day),
        rows=replace(told, rows=shown),
        begins=labels[0],
        csv_href=reverse("fleet-hours") + _kept(given),
    )


def day_of(nodes: Sequence[fleet.StandingNode], facts: FleetFacts) -> Day:
    """The last 24 hours of those nodes that have GPUs of their own; the running one is the last."""
    chosen = [
        node
        for node in nodes
        if node.kind == "machine" and facts.pools[node.pool_id].unit == "gpu" and node.units
    ]
    to = hour_of(facts.at) + HOUR
    told = telemetry.heat(to - HOURS * HOUR, to, [node.id for node in chosen])
    starts = np.array([hour.timestamp() for hour in told.hours])
    now = facts.at.timestamp()
    began = np.array([node.started_at.timestamp() if node.started_at else 0.0 for node in chosen])
    ended = np.array([min(now, _ended(node, now)) for node in chosen])
    until = np.minimum(starts + SECONDS_PER_HOUR, ended.reshape(-1, 1))
    present = np.clip(until - np.maximum(starts, began.reshape(-1, 1)), 0, None)
    units = np.array([node.units for node in chosen], float).reshape(-1, 1)
    is_running = np.broadcast_to(starts + SECONDS_PER_HOUR > now, present.shape)
    return Day(
        chosen, told.hours, present * units, told.observed_seconds, told.worked_seconds, is_running
    )


def finding(day: Day) -> str:
    """How many were mostly idle, and of how much nothing is known."""
    nodes = int((day.lived.sum(axis=1) > 0).sum())
    observed, worked = day.observed.sum(axis=1), day.worked.sum(axis=1)
    if not nodes:
        return "No node with GPUs was there in the last 24 hours."
    if not observed.any():
        return f"Nothing was measured of {counted(nodes, 'node')} in the last 24 hours"
    idle = int(((observed > 0) & (worked < MOSTLY * observed)).sum())
    said = f"{idle} of {counted(nodes, 'node')} {'was' if idle == 1 else 'were'} mostly idle"
    if not idle:
        said = f"None of {counted(nodes, 'node')} was mostly idle"
    unknown, whole = int(day.is_unobserved.sum()), int((day.lived > 0).sum())
    said += " in the last 24 hours"
    if unknown:
        said += f"; {unknown:,} of {counted(whole, 'node-hour')} were not observed"
    return said


def map_hours(day: Day, facts: FleetFacts) -> Iterator[MapHour]:
    """Of hours that are over: node, pool, hour, GPU-seconds there were, observed, and worked or None."""
    for row, node in enumerate(day.nodes):
        for column, hour in enumerate(day.hours):
            lived, observed = day.lived[row, column], day.observed[row, column]
            if lived > 0 and not day.is_running[row, column]:
                worked = day.worked[row, column] if observed > 0 else None
                yield node.name, facts.pools[node.pool_id].name, hour, lived, observed, worked


def _ended(node: fleet.StandingNode, now: float) -> float:
    return node.ended_at.timestamp() if node.ended_at else now


def _parts(day: Day) -> tuple[Seconds, ...]:
    return day.lived, day.observed, day.worked, day.is_unobserved.astype(np.float64)


def _row(node: fleet.StandingNode, place: int, sums: Sequence[float], facts: FleetFacts) -> MapRow:
    """What rows are ordered by; its words are made where it is shown."""
    lived, observed, worked, hours = sums
    return MapRow(
        name=node.name,
        pool=facts.pools[node.pool_id].name,
        idle_seconds=observed - worked,
        observed_seconds=observed,
        observed_ratio=min(1.0, observed / lived) if lived else None,
        unobserved_hours=int(hours),
        place=place,
    )


def _shown(row: MapRow, day: Day, labels: Sequence[str]) -> MapRow:
    is_known = row.observed_seconds > 0
    return replace(
        row,
        href=reverse("node", args=[day.nodes[row.place].id]),
        pool_href=f"{reverse('fleet')}?{urlencode({'pool': row.pool})}",
        idle=_gpu_hours(row.idle_seconds) if is_known else "",
        words=_words(row),
        cells=_cells(day, row.place, labels),
    )


def _words(row: MapRow) -> str:
    if not row.observed_seconds:
        return "nothing was measured in the last 24 hours"
    said = (
        f"{_gpu_hours(row.idle_seconds)} of {_gpu_hours(row.observed_seconds)} GPU-hours observed"
    )
    said += " in the last 24 hours were idle"
    unknown = row.unobserved_hours
    return f"{said}; {counted(unknown, 'hour')} not observed" if unknown else said


def _gpu_hours(seconds: float) -> str:
    return gpu_hours(round(seconds * MILLISECONDS))


def _cells(day: Day, row: int, labels: Sequence[str]) -> tuple[MapCell, ...]:
    return tuple(
        _cell(day, (row, column), f"{column * 100 / HOURS:.4f}%", label)
        for column, label in enumerate(labels)
    )


def _cell(day: Day, place: tuple[int, int], left: str, label: str) -> MapCell:
    lived, observed = float(day.lived[place]), float(day.observed[place])
    if lived <= 0:
        return MapCell(left, "none", f"{label}: not there")
    if observed <= 0:
        if day.is_running[place]:
            return MapCell(left, "none", f"{label}: nothing measured yet")
        return MapCell(left, "unobserved", f"{label}: not observed")
    worked, part = min(1.0, float(day.worked[place]) / observed), min(1.0, observed / lived)
    said = f"{label}: active {per_cent(worked)}"
    if part >= 1 - HARDLY_ANY or day.is_running[place]:
        return MapCell(left, level_of(worked), said)
    said += f" of the {per_cent(part)} observed"
    return MapCell(left, level_of(worked), said, height=f"{max(8, round(part * 100))}%")


def _kept(given: QueryDict) -> str:
    kept = {name: given[name] for name in ("pool", "show") if given.get(name)}
    return f"?{urlencode(kept)}" if kept else ""
