"""The tables of one node: who holds it, its devices, and its past."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    FIGURE,
    GPU_HOURS,
    INSTANT,
    TEXT,
    Format,
    Locale,
    linked,
    quiet,
    warned,
)
from apps.console.kit.frame import Link
from apps.console.kit.heat import HEAT, Heat
from apps.console.kit.table import Table
from apps.console.pages.fleet.hours import by_key
from apps.console.pages.fleet.nodes import OUTAGES
from apps.fleet import queries as fleet
from apps.show.amounts import gpu_count
from apps.show.words import STATES
from apps.tables.column import Column
from apps.workloads import queries as workloads

ANOTHER_TEAM = "another team"
STATE_KEYS = [state.key for state in STATES if state.key != "other"]
WRAPPED = Format(TEXT.shown, TEXT.written, "wrap")
StateHour = tuple[datetime, Mapping[int, int]]


class HolderNow(NamedTuple):
    """Who holds something now, and where; `team` is None where it is not the viewer's."""

    holding: workloads.Holding
    team: Link | None
    where: str


class DeviceNow(NamedTuple):
    """A device of a node with its last two days, who holds it by name, and what ails it."""

    life: fleet.DeviceLife
    holders: Sequence[workloads.Holding]
    heat: Heat
    outage: str
    parent: str
    at: datetime


class OutageNow(NamedTuple):
    """An outage, and whether the viewer may end it."""

    outage: fleet.OutageOnRecord
    may_end: bool


def holder_label(holding: workloads.Holding) -> str:
    """The job by its name, or its number; `another team` where it is not the viewer's."""
    if not holding.is_theirs:
        return ANOTHER_TEAM
    return holding.name or f"job {holding.raw_id}"


def job_href(holding: workloads.Holding) -> str:
    """Where the job's cost is told; empty where it is not the viewer's."""
    return reverse("costs-job", args=[holding.job_id]) if holding.job_id else ""


def device_name(life: fleet.DeviceLife) -> str:
    """`GPU 3`, or the slice's profile; the UUID where neither is known."""
    if life.kind == "mig":
        return f"slice {life.profile}" if life.profile else life.uuid
    return life.uuid if life.index is None else f"GPU {life.index}"


def _job_and_user(row: HolderNow) -> str:
    """Return what the name of a holder leaves out: the job's id, and whose it is at the scheduler."""
    holding = row.holding
    if not holding.is_theirs:
        return ""
    number = f"job {holding.raw_id}" if holding.name else ""
    return " ".join(filter(None, (number, holding.user and f"of {holding.user}")))


def _device_warnings(row: DeviceNow) -> str:
    unconfirmed = not row.life.confirmed_at and not row.life.ends_at
    warnings = [*(["not confirmed"] if unconfirmed else []), *([row.outage] if row.outage else [])]
    return warned(", ".join(warnings)) if warnings else ""


def _device_holders(row: DeviceNow, locale: Locale) -> SafeString:
    if row.life.ends_at is not None and row.life.ends_at <= row.at:
        return quiet("ended")
    if not row.holders:
        return quiet("no named holder")
    named = (
        (linked(holder_label(holder), locale.onward(job_href(holder))),) for holder in row.holders
    )
    return format_html_join(", ", "{}", named)


def _way_to_end(row: OutageNow) -> str:
    if not row.may_end or row.outage.ends_at is not None:
        return ""
    return linked("End it", reverse("end-outage", args=[row.outage.id]))


HOLDERS = Table[HolderNow](
    "holders",
    "Who holds it now",
    (
        Column("holder", "Holder", lambda row: holder_label(row.holding),
               href=lambda row: job_href(row.holding), note=_job_and_user),
        Column("what", "", _job_and_user),
        Column("team", "Team", lambda row: row.team.text if row.team else "",
               shown=lambda row, locale: linked(row.team.text, locale.onward(row.team.href))
               if row.team else quiet(ANOTHER_TEAM)),
        Column("gpus", "GPUs", lambda row: gpu_count(row.holding.units), FIGURE),
        Column("which", "Which", lambda row: row.where, WRAPPED),
        Column("since", "Since", lambda row: row.holding.since, INSTANT),
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
DEVICES = Table[DeviceNow](
    "devices",
    "GPUs",
    (
        Column("name", "GPU", lambda row: device_name(row.life),
               href=lambda row: reverse("device", args=[row.life.id]), note=_device_warnings),
        Column("uuid", "", lambda row: row.life.uuid),
        Column("last_48_hours", "Last 48 hours", lambda row: row.heat.words, HEAT,
               shown=lambda row, _: row.heat.drawn()),
        Column("held_now_by", "Held now by", lambda row: ", ".join(map(holder_label, row.holders)),
               WRAPPED, shown=_device_holders),
        Column("kind", "Model",
               lambda row: "MIG slice" if row.life.kind == "mig" else row.life.model),
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
OUTAGES_OF_NODE = Table[OutageNow](
    "outages",
    "Outages",
    (
        Column("what", "What", lambda row: OUTAGES.get(row.outage.kind, row.outage.kind)),
        Column("of", "Of", lambda row: row.outage.device_uuid or "the whole node"),
        Column("from", "From", lambda row: row.outage.starts_at, DAY_OR_INSTANT),
        Column("to", "To", lambda row: row.outage.ends_at, DAY_OR_INSTANT, missing="ongoing"),
        Column("change", "Change", lambda row: "", FIGURE, csv="",
               shown=lambda row, _: _way_to_end(row)),
    ),
    about="time in them that no job held is out of service",
    empty="None is on record.",
)  # fmt: skip
AGENTS_OF_NODE = Table[fleet.NodeAgent](
    "agents",
    "Agents",
    (
        Column("source", "Source", lambda row: row.source),
        Column("version", "Version", lambda row: row.version),
        Column("enrolled_at", "", lambda row: row.enrolled_at, INSTANT),
        Column("last_seen_at", "Last heard", lambda row: row.last_seen_at, DAY_OR_INSTANT,
               missing=quiet("never")),
        Column("clock_offset_ms", "", lambda row: row.clock_offset_ms, COUNT),
    ),
    about="",
    empty="No agent reports for it, so nothing of it is observed.",
)  # fmt: skip
CAPACITY = Table[fleet.CapacityStep](
    "capacity",
    "Declared capacity",
    (
        Column("units", "Units", lambda row: row.units, COUNT),
        Column("from", "From", lambda row: row.starts_at, DAY_OR_INSTANT, missing="ever"),
        Column("to", "To", lambda row: row.ends_at, DAY_OR_INSTANT, missing="open-ended"),
    ),
    about="",
)


def _state_column(key: str) -> Column[StateHour]:
    return Column(f"{key}_gpu_hours", "", lambda row: by_key(row[1]).get(key, 0), GPU_HOURS)


STATE_HOURS = Table[StateHour](
    "hours",
    "Hours by state",
    (Column("hour", "", lambda row: row[0], INSTANT), *map(_state_column, STATE_KEYS)),
)
