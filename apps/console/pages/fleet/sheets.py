"""The tables of nodes and GPUs as CSV, every row of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from apps.console.kit.cells import hours_cell, moment_cell, text_cell
from apps.console.pages.fleet.hours import by_key
from apps.console.pages.fleet.timeline_values import Happening
from apps.console.pages.fleet.values import (
    DeviceRow,
    Heat,
    HeldRow,
    LifeRow,
    NodeRow,
    OutageRow,
    PoolRow,
)
from apps.fleet.queries import CapacityStep, NodeAgent
from apps.show.amounts import Ratio
from apps.show.words import STATES
from apps.telemetry.queries import NodeHour

SECONDS_PER_HOUR = 3600
STATE_KEYS = [state.key for state in STATES if state.key != "other"]
NODE_HEADER = (
    *("node", "pool", "state", "since", "gpus", "differs", "held_now"),
    *("active_ratio_24h", "sm_active_ratio_24h", "dram_active_ratio_24h", "sm_coverage_ratio_24h"),
    *("coverage_ratio_24h", "last_heard_at"),
)
POOL_HEADER = (
    *("pool", "cluster", "gpu_model", "owner", "nodes", "silent_nodes", "gpus", "held_now"),
    *("active_ratio_since_yesterday", "coverage_ratio_since_yesterday"),
)
HOLDER_HEADER = ("holder", "what", "team", "gpus", "which", "since")
CORE_HOLDER_HEADER = ("holder", "what", "team", "cores", "which", "since")
OUTAGE_HEADER = ("what", "of", "from", "to")
AGENT_HEADER = ("source", "version", "enrolled_at", "last_heard_at", "clock_offset_ms")
CAPACITY_HEADER = ("units", "from", "to")
LIFE_HEADER = ("node", "uuid", "profile", "from", "to")
HOUR_HEADER = ("hour", *(f"{key}_gpu_hours" for key in STATE_KEYS))
DEVICE_HEADER = (
    *("uuid", "name", "kind", "parent", "started_at", "ended_at", "confirmed_at"),
    *("held_now_by", "outage", "last_48_hours"),
)
MAP_HEADER = ("node", "pool", "hour", "gpu_hours", "observed_gpu_hours", "active_gpu_hours")
HAPPENING_HEADER = ("gpu", "kind", "what", "from", "to", "seconds")
NODE_HOUR_HEADER = tuple(NodeHour.__slots__)
HEAT_HEADER = ("hour", "observed_ratio", "worked_ratio")


def node_cells(rows: Sequence[NodeRow]) -> Iterator[Sequence[str]]:
    """A row for each node."""
    for row in rows:
        yield [
            text_cell(row.name),
            text_cell(row.pool),
            text_cell(row.standing.text),
            moment_cell(row.standing.since),
            str(row.units),
            row.differs,
            row.held,
            ratio_cell(row.time.active_ratio),
            ratio_cell(row.meters.sm_active_ratio),
            ratio_cell(row.meters.dram_active_ratio),
            ratio_cell(row.meters.sm_coverage_ratio),
            ratio_cell(row.time.coverage_ratio),
            moment_cell(row.last_seen_at),
        ]


def map_cells(
    rows: Iterable[tuple[str, str, datetime, float, float, float | None]],
) -> Iterator[Sequence[str]]:
    """A row for each hour of a node; of an hour that was not observed no work is told."""
    for node, pool, hour, *seconds in rows:
        told = ("" if each is None else f"{each / SECONDS_PER_HOUR:.6f}" for each in seconds)
        yield [text_cell(node), text_cell(pool), moment_cell(hour), *told]


def happening_cells(rows: Iterable[Happening]) -> Iterator[Sequence[str]]:
    """A row for each stretch or moment; no end while it lasts."""
    for row in rows:
        lasted = "" if row.lasted is None else f"{row.lasted.total_seconds():.0f}"
        yield [
            *(text_cell(each) for each in (row.of, row.kind.lower(), row.what)),
            *(moment_cell(row.starts_at), moment_cell(row.ends_at), lasted),
        ]


def node_hour_cells(hours: Iterable[NodeHour]) -> Iterator[Sequence[str]]:
    """A row for each hour that was reported; what was not told stays empty."""
    for each in hours:
        values = [getattr(each, name) for name in NODE_HOUR_HEADER[1:]]
        yield [moment_cell(each.hour), *("" if one is None else f"{one:.3f}" for one in values)]


def pool_cells(rows: Sequence[PoolRow]) -> Iterator[Sequence[str]]:
    """A row for each pool."""
    for row in rows:
        yield [
            *(text_cell(each) for each in (row.name, row.cluster, row.gpu_model, row.owner)),
            *(str(each) for each in (row.nodes, row.silent, row.units)),
            row.held,
            ratio_cell(row.time.active_ratio),
            ratio_cell(row.time.coverage_ratio),
        ]


def holder_cells(rows: Sequence[HeldRow]) -> Iterator[Sequence[str]]:
    """A row for each job that holds something; of other teams only how much and since when."""
    for row in rows:
        told = (row.who, row.note, row.team)
        yield [*map(text_cell, told), row.units, text_cell(row.where), moment_cell(row.since)]


def outage_cells(rows: Sequence[OutageRow]) -> Iterator[Sequence[str]]:
    """A row for each outage; no end while it lasts."""
    for row in rows:
        span = (row.outage.starts_at, row.outage.ends_at)
        yield [row.kind, text_cell(row.what), *map(moment_cell, span)]


def agent_cells(agents: Sequence[NodeAgent]) -> Iterator[Sequence[str]]:
    """A row for each agent."""
    for each in agents:
        yield [
            each.source,
            text_cell(each.version),
            moment_cell(each.enrolled_at),
            moment_cell(each.last_seen_at),
            str(each.clock_offset_ms),
        ]


def capacity_cells(steps: Sequence[CapacityStep]) -> Iterator[Sequence[str]]:
    """A row for each capacity that was declared."""
    for step in steps:
        yield [str(step.units), moment_cell(step.starts_at), moment_cell(step.ends_at)]


def life_cells(rows: Sequence[LifeRow]) -> Iterator[Sequence[str]]:
    """A row for each life of a device."""
    for row in rows:
        life = row.life
        told = (life.node_name, life.uuid, life.profile)
        yield [*map(text_cell, told), moment_cell(life.starts_at), moment_cell(life.ends_at)]


def hour_cells(hours: Mapping[datetime, Mapping[int, int]]) -> Iterator[Sequence[str]]:
    """A row for each settled hour of a node, a column for each state."""
    for hour in sorted(hours):
        keyed = by_key(hours[hour])
        yield [moment_cell(hour), *(hours_cell(keyed.get(key, 0)) for key in STATE_KEYS)]


def device_cells(rows: Sequence[DeviceRow]) -> Iterator[Sequence[str]]:
    """A row for each device of a node."""
    uuids = {row.life.id: row.life.uuid for row in rows}
    for row in rows:
        life = row.life
        yield [
            text_cell(life.uuid),
            text_cell(row.name),
            text_cell(row.kind),
            text_cell(uuids.get(life.parent_id, "")) if life.parent_id else "",
            moment_cell(life.starts_at),
            moment_cell(life.ends_at),
            moment_cell(life.confirmed_at),
            text_cell(", ".join(each.text for each in row.holders)),
            row.outage,
            row.heat.words,
        ]


def heat_cells(heat: Heat) -> Iterator[Sequence[str]]:
    """A row for each hour in which the device was there."""
    for cell in heat.cells:
        if cell.level != "none":
            yield [
                moment_cell(cell.hour),
                ratio_cell(cell.observed_ratio),
                ratio_cell(cell.worked_ratio),
            ]


def ratio_cell(ratio: Ratio | None) -> str:
    """0 to 1 to the sixth decimal; empty where it is not known."""
    return "" if ratio is None else f"{float(ratio):.6f}"
