"""The tables of nodes and GPUs: pools, nodes, what is on one, and its hours."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    FIGURE,
    GPU_HOURS,
    INSTANT,
    RATIO,
    TEXT,
    Format,
    Locale,
    drawn,
    linked,
    moment_cell,
    quiet,
    warned,
)
from apps.console.kit.table import Column, Table
from apps.console.pages.fleet.hours import by_key
from apps.console.pages.fleet.timeline_values import Happening
from apps.console.pages.fleet.values import (
    DeviceRow,
    HeatCell,
    HeldRow,
    LifeRow,
    NodeRow,
    OutageRow,
    PoolRow,
    Standing,
    Time,
)
from apps.fleet.queries import CapacityStep, NodeAgent
from apps.show.amounts import per_cent
from apps.show.words import STATES
from apps.telemetry.queries import NodeHourEvidence

SECONDS_PER_HOUR = 3600
STATE_KEYS = [state.key for state in STATES if state.key != "other"]
WRAPPED = Format(TEXT.shown, TEXT.written, "wrap")
HEAT = Format(TEXT.shown, TEXT.written, "heat-cell")
MapHour = tuple[str, str, datetime, float, float, float | None]
StateHour = tuple[datetime, Mapping[int, int]]


def standing_cell(standing: Standing, locale: Locale) -> SafeString:
    """How a node stands, and since when."""
    template = "fleet/_standing.html"
    return drawn(template, standing=standing, zone=locale.zone)


def _strip(time: Time) -> SafeString:
    return drawn("components/strip.html", strip=time.strip)


def _warning(text: str) -> str:
    return warned(text) if text else ""


def _sm_observed(row: NodeRow) -> str:
    if row.meters.sm_active_ratio is None:
        return ""
    return f"of {per_cent(row.meters.sm_coverage_ratio)}"


def _silent(row: PoolRow) -> str:
    return warned(linked(f"{row.silent:,} silent", row.silent_href)) if row.silent else ""


NODES = Table[NodeRow](
    "nodes",
    "Nodes",
    (
        Column("name", "Node", lambda row: row.name, csv="node", href=lambda row: row.href),
        Column("pool", "Pool", lambda row: row.pool, href=lambda row: row.pool_href),
        Column("state", "Node status", lambda row: row.standing.text, sorts=False,
               shown=lambda row, locale: standing_cell(row.standing, locale)),
        Column("since", "", lambda row: row.standing.since, INSTANT),
        Column("units", "GPUs", lambda row: row.units, COUNT, csv="gpus",
               note=lambda row: _warning(row.differs)),
        Column("differs", "", lambda row: row.differs),
        Column("held", "Held now", lambda row: row.held, FIGURE, csv="held_now",
               order=lambda row: row.held_units),
        Column("time", "Last 24 hours", lambda row: None, csv="", sorts=False,
               shown=lambda row, _: _strip(row.time)),
        Column("active", "Active", lambda row: row.time.active_ratio, RATIO,
               csv="active_ratio_24h", sorts=False),
        Column("sm", "SM active", lambda row: row.meters.sm_active_ratio, RATIO,
               csv="sm_active_ratio_24h", sorts=False, note=_sm_observed),
        Column("dram", "DRAM active", lambda row: row.meters.dram_active_ratio, RATIO,
               csv="dram_active_ratio_24h", sorts=False),
        Column("sm_coverage_ratio_24h", "", lambda row: row.meters.sm_coverage_ratio, RATIO),
        Column("coverage", "Coverage", lambda row: row.time.coverage_ratio, RATIO,
               csv="coverage_ratio_24h", sorts=False),
        Column("seen", "Last heard", lambda row: row.last_seen_at, INSTANT, csv="last_heard_at",
               shown=lambda row, _: row.heard or quiet("never")),
    ),
    noun=("node", "nodes"),
    about="{said}; strip, active and coverage are of the last 24 hours as far as settled; active "
    "is of all GPU time, held or not, SM and DRAM active of the share of it that their meters "
    "reported",
    empty="No node is so.",
    sort="sort",
    default_sort="name",
    per_page=50,
)  # fmt: skip
POOLS = Table[PoolRow](
    "pools",
    "By pool",
    (
        Column("name", "Pool", lambda row: row.name, csv="pool", href=lambda row: row.href,
               note=lambda row: linked(row.owner, row.owner_href) if row.owner else ""),
        Column("cluster", "Cluster", lambda row: row.cluster,
               order=lambda row: row.cluster or None),
        Column("model", "GPU model", lambda row: row.gpu_model, csv="gpu_model"),
        Column("owner", "", lambda row: row.owner),
        Column("nodes", "Nodes", lambda row: row.nodes, COUNT, note=_silent),
        Column("silent_nodes", "", lambda row: row.silent, COUNT),
        Column("units", "GPUs", lambda row: row.units, COUNT, csv="gpus"),
        Column("held", "Held now", lambda row: row.held, FIGURE, csv="held_now",
               order=lambda row: row.held_units),
        Column("time", "Since yesterday", lambda row: None, csv="", sorts=False,
               shown=lambda row, _: _strip(row.time)),
        Column("active", "Active", lambda row: row.time.active_ratio, RATIO,
               csv="active_ratio_since_yesterday"),
        Column("coverage", "Coverage", lambda row: row.time.coverage_ratio, RATIO,
               csv="coverage_ratio_since_yesterday"),
    ),
    about="nodes in service; held now; active of all their GPU time, yesterday and today as far "
    "as settled",
    sort="pools",
)  # fmt: skip


def _hours(csv: str, of: Callable[[MapHour], float | None]) -> Column[MapHour]:
    def hours(row: MapHour) -> float | None:
        seconds = of(row)
        return None if seconds is None else seconds / SECONDS_PER_HOUR

    return Column(csv, "", hours, RATIO)


MAP = Table[MapHour](
    "map",
    "Hours of nodes",
    (
        Column("node", "", lambda row: row[0]),
        Column("pool", "", lambda row: row[1]),
        Column("hour", "", lambda row: row[2], INSTANT),
        _hours("gpu_hours", lambda row: row[3]),
        _hours("observed_gpu_hours", lambda row: row[4]),
        _hours("active_gpu_hours", lambda row: row[5]),
    ),
)
HOLDERS = Table[HeldRow](
    "holders",
    "Who holds it now",
    (
        Column("holder", "Holder", lambda row: row.who, href=lambda row: row.job_href,
               note=lambda row: row.note),
        Column("what", "", lambda row: row.note),
        Column("team", "Team", lambda row: row.team,
               shown=lambda row, _: linked(row.team, row.team_href)
               if row.team else quiet("another team")),
        Column("gpus", "GPUs", lambda row: row.units, FIGURE),
        Column("which", "Which", lambda row: row.where, WRAPPED),
        Column("since", "Since", lambda row: row.since, INSTANT),
    ),
    about="as schedulers reported",
    empty="No job holds any of its GPUs.",
)  # fmt: skip
CORE_HOLDERS = replace(
    HOLDERS,
    columns=tuple(
        replace(column, key="cores", text="Cores") if column.key == "gpus" else column
        for column in HOLDERS.columns
    ),
)


def _device_warnings(row: DeviceRow) -> str:
    unconfirmed = not row.life.confirmed_at and not row.life.ends_at
    said = [*(["not confirmed"] if unconfirmed else []), *([row.outage] if row.outage else [])]
    return _warning(", ".join(said))


def _device_holders(row: DeviceRow) -> str:
    if not row.is_there:
        return quiet("ended")
    if not row.holders:
        return quiet("no named holder")
    return format_html_join(", ", "{}", ((linked(each.text, each.href),) for each in row.holders))


DEVICES = Table[DeviceRow](
    "devices",
    "GPUs",
    (
        Column("name", "GPU", lambda row: row.name, href=lambda row: row.href,
               note=_device_warnings),
        Column("uuid", "", lambda row: row.life.uuid),
        Column("last_48_hours", "Last 48 hours", lambda row: row.heat.words, HEAT,
               shown=lambda row, _: drawn("fleet/_heat.html", heat=row.heat)),
        Column("held_now_by", "Held now by", lambda row: ", ".join(each.text for each in row.holders),
               WRAPPED, shown=lambda row, _: _device_holders(row)),
        Column("kind", "Model", lambda row: row.kind),
        Column("parent", "", lambda row: row.parent),
        Column("started_at", "In service since", lambda row: row.life.starts_at, DAY_OR_INSTANT),
        Column("ended_at", "", lambda row: row.life.ends_at, INSTANT),
        Column("confirmed_at", "", lambda row: row.life.confirmed_at, INSTANT),
        Column("outage", "", lambda row: row.outage),
    ),
    about="how much of what was observed of each of the last 48 hours they were active, whoever "
    "held them",
    empty="No agent has reported a GPU of this node in the last two days. Until one does, its time "
    "is divided by declared capacity.",
    csv_first=("uuid", "name", "kind", "parent", "started_at", "ended_at", "confirmed_at",
               "held_now_by", "outage", "last_48_hours"),
)  # fmt: skip
OUTAGES_TABLE = Table[OutageRow](
    "outages",
    "Outages",
    (
        Column("what", "What", lambda row: row.kind),
        Column("of", "Of", lambda row: row.what),
        Column("from", "From", lambda row: row.outage.starts_at, DAY_OR_INSTANT),
        Column("to", "To", lambda row: row.outage.ends_at, DAY_OR_INSTANT, missing="ongoing"),
        Column("change", "Change", lambda row: row.end_href, FIGURE, csv="",
               shown=lambda row, _: linked("End it", row.end_href) if row.end_href else ""),
    ),
    about="time in them that no job held is out of service",
    empty="None is on record.",
)  # fmt: skip
AGENTS = Table[NodeAgent](
    "agents",
    "Agents",
    (
        Column("source", "Source", lambda row: row.source),
        Column("version", "Version", lambda row: row.version),
        Column("enrolled_at", "", lambda row: row.enrolled_at, INSTANT),
        Column("last_heard_at", "Last heard", lambda row: row.last_seen_at, DAY_OR_INSTANT,
               missing=quiet("never")),
        Column("clock_offset_ms", "", lambda row: row.clock_offset_ms, COUNT),
    ),
    about="",
    empty="No agent reports for it, so nothing of it is observed.",
)  # fmt: skip
CAPACITY = Table[CapacityStep](
    "capacity",
    "Declared capacity",
    (
        Column("units", "Units", lambda row: row.units, COUNT),
        Column("from", "From", lambda row: row.starts_at, DAY_OR_INSTANT, missing="ever"),
        Column("to", "To", lambda row: row.ends_at, DAY_OR_INSTANT, missing="open-ended"),
    ),
    about="",
)
LIVES = Table[LifeRow](
    "lives",
    "History",
    (
        Column("node", "Node", lambda row: row.life.node_name, href=lambda row: row.node_href),
        Column("uuid", "", lambda row: row.life.uuid),
        Column("from", "From", lambda row: row.life.starts_at, INSTANT, href=lambda row: row.href),
        Column("to", "To", lambda row: row.life.ends_at, INSTANT, missing="still there"),
        Column("profile", "Profile", lambda row: row.life.profile),
    ),
    about="a slice made again is a new device even under its old UUID",
    csv_first=("node", "uuid", "profile"),
)
DEVICE_HOURS = Table[HeatCell](
    "device-hours",
    "The hours as a table",
    (
        Column("hour", "Hour", lambda cell: cell.hour, INSTANT),
        Column("observed_ratio", "Observed", lambda cell: cell.observed_ratio, RATIO),
        Column("worked_ratio", "Active of that", lambda cell: cell.worked_ratio, RATIO),
    ),
)


def _state(key: str) -> Column[StateHour]:
    return Column(f"{key}_gpu_hours", "", lambda row: by_key(row[1]).get(key, 0), GPU_HOURS)


STATE_HOURS = Table[StateHour](
    "hours",
    "Hours by state",
    (Column("hour", "", lambda row: row[0], INSTANT), *map(_state, STATE_KEYS)),
)


def _told(name: str) -> Column[NodeHourEvidence]:
    def written(hour: NodeHourEvidence, _: Locale) -> str:
        value: Any = getattr(hour, name)
        return "" if value is None else f"{value:.3f}"

    return Column(name, "", lambda hour: getattr(hour, name), written=written)


NODE_HOURS = Table[NodeHourEvidence](
    "bottlenecks",
    "Network and stalls",
    (
        Column("hour", "", lambda hour: hour.hour, INSTANT),
        *map(_told, NodeHourEvidence.__slots__[1:]),
    ),
)
HAPPENINGS = Table[Happening](
    "timeline",
    "What happened",
    (
        Column("gpu", "", lambda row: row.of),
        Column("kind", "", lambda row: row.kind.lower()),
        Column("what", "", lambda row: row.what),
        Column(
            "from", "", lambda row: row.starts_at, written=lambda row, _: moment_cell(row.starts_at)
        ),
        Column("to", "", lambda row: row.ends_at, written=lambda row, _: moment_cell(row.ends_at)),
        Column("seconds", "", lambda row: row.lasted and f"{row.lasted.total_seconds():.0f}"),
    ),
)
