"""One node: its devices and who holds them, its last two days, and its past."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import INSTANT, UNKNOWN, drawn, linked
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Include, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import TableSection
from apps.console.pages.fleet.hours import (
    SHOWN_HOURS,
    heat_of,
    hour_columns,
    key_of,
    shown_from,
    states_of,
)
from apps.console.pages.fleet.node_tables import (
    AGENTS_OF_NODE,
    CAPACITY,
    CORE_HOLDERS,
    DEVICES,
    HOLDERS,
    OUTAGES_OF_NODE,
    STATE_HOURS,
    DeviceNow,
    HolderNow,
    OutageNow,
    device_name,
)
from apps.console.pages.fleet.nodes import OUTAGES, milliseconds_within, node_status_label
from apps.console.pages.fleet.status_words import status_label_cell
from apps.console.pages.fleet.trust import trust_sections
from apps.console.pages.meters import Metered, MeteredTime, meter_section
from apps.console.pages.pool_links import pool_href
from apps.economics.gpu_meters import MS_PER_SECOND, meters_together
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import count, counted, gpu_count
from apps.show.words import joined
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

Measured = Mapping[int, Mapping[datetime, telemetry.DeviceHourReading]]
LAST_48_HOURS = MeteredTime("gpu_hours_48h", "of the last 48 hours")


def on_record(node_id: int) -> Mapping[str, Any]:
    """The node, or the page that there is none."""
    return value_or_404(fleet.node_if_on_record(node_id))


@shown(EVERYONE, "fleet")
def node(context: Context, node_id: int) -> ConsolePage:
    """One node."""
    return node_page(on_record(node_id), context)


def node_page(row: Mapping[str, Any], context: Context) -> ConsolePage:
    """The page of the node that `row` is."""
    node_id, at = row["id"], context.at
    first = shown_from(at)
    in_cores = row["unit"] == "core"
    holders = workloads.holders_now([node_id], at, context.viewer, in_cores=in_cores)
    device_lives = fleet.devices_of_node(node_id, first)
    outages = fleet.outages_of_node(node_id)
    agents = fleet.agents_of_node(node_id)
    standing_node = _node_status(row, device_lives, outages, agents, at)
    measured = _measured_hours(device_lives, first)
    devices = _devices_now(device_lives, holders, outages, (measured, context))
    hours = _node_hours(node_id, first, context)
    meters = _meters_of_devices(device_lives, measured, (first, at), context)

    return ConsolePage(
        context=context,
        finding=_node_finding(standing_node, holders, context, "core" if in_cores else "GPU"),
        back=Link("Nodes and GPUs", reverse("fleet")),
        actions=tuple(_actions_of(standing_node, context)),
        csv_files=(hours["csv"],),
        main_table=STATE_HOURS.name,
        sections=(
            FactList(list(_facts_of(row, standing_node, context))),
            node_tabs(node_id, context),
            *trust_sections(context, node_id),
            Include("fleet/_node_hours.html", hours),
            (CORE_HOLDERS if in_cores else HOLDERS).section(
                holders_now(holders, device_lives), context, csv_name=f"holders of node {node_id}"
            ),
            DEVICES.section(
                devices,
                context,
                csv_name=f"devices of node {node_id}",
                remark=drawn("fleet/_heat_key.html") if devices else "",
            ),
            meters,
            OUTAGES_OF_NODE.section(
                [OutageNow(outage, context.viewer.may_manage) for outage in outages],
                context,
                csv_name=f"outages of node {node_id}",
            ),
            AGENTS_OF_NODE.section(agents, context, csv_name=f"agents of node {node_id}"),
            CAPACITY.section(row["capacities"], context, csv_name=f"capacity of node {node_id}"),
        ),
    )


def _node_hours(node_id: int, first: datetime, context: Context) -> Mapping[str, Any]:
    """Return what a node's GPU time was, by hour, as the picture takes it."""
    hours = _hours_of(node_id, first)
    return {
        "csv": STATE_HOURS.file(f"hours of node {node_id}", context, lambda: sorted(hours.items())),
        "hours": hour_columns(hours, first, context.zone),
        "hours_from": first,
        "states": key_of(states_of(hours.values())),
        "zone": context.zone,
    }


def _node_status(
    row: Mapping[str, Any],
    devices: Sequence[fleet.DeviceLife],
    outages: Sequence[fleet.OutageOnRecord],
    agents: Sequence[fleet.NodeAgent],
    at: datetime,
) -> fleet.NodeStatus:
    now = [life for life in devices if life.ends_at is None or at < life.ends_at]
    lasting = next(
        (outage for outage in outages if outage.device_id is None and _lasts_at(outage, at)), None
    )
    return fleet.NodeStatus(
        id=row["id"],
        name=row["name"],
        pool_id=row["pool_id"],
        kind=row["kind"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        end_reason=row["end_reason"],
        units=row["units"] or 0,
        gpus_seen=sum(life.kind == "gpu" for life in now),
        unconfirmed=sum(life.confirmed_at is None for life in now),
        last_seen_at=max(
            (agent.last_seen_at or agent.enrolled_at for agent in agents), default=None
        ),
        spoke_at=row["last_seen_at"],
        outage=lasting.kind if lasting else None,
        outage_since=lasting.starts_at if lasting else None,
    )


def _lasts_at(outage: fleet.OutageOnRecord, at: datetime) -> bool:
    return outage.starts_at <= at and (outage.ends_at is None or at < outage.ends_at)


def _node_finding(
    node: fleet.NodeStatus, holders: Sequence[workloads.Holding], context: Context, unit: str
) -> str:
    if not node.lives(context.at):
        return f"{node.name} has ended: {node.end_reason or 'no reason was given'}."
    claimed = sum(holder.units or 0 for holder in holders)
    held_units = min(claimed, node.units)
    sentence = f"{gpu_count(held_units)} of {counted(node.units, unit)} of {node.name} are held now"
    if not holders:
        sentence = f"Nobody holds {node.name} now"
    if claimed > node.units:
        sentence += f"; jobs claim {gpu_count(claimed)}"
    if node.outage is not None:
        sentence += f"; it is {OUTAGES.get(node.outage, node.outage).lower()}"
    elif node.is_silent(context.at):
        sentence += "; its agent is silent"
    return f"{sentence}."


def _facts_of(
    row: Mapping[str, Any], node: fleet.NodeStatus, context: Context
) -> Iterator[tuple[str, str]]:
    yield "Node status", status_label_cell(node_status_label(node, context.at), context.locale)
    yield "Pool", linked(row["pool_name"], pool_href(row["pool_name"]))
    if row["cluster_name"]:
        yield "Cluster", row["cluster_name"]
    yield "GPUs declared" if row["unit"] == "gpu" else "Cores declared", count(row["units"])
    if row["provider_id"]:
        yield "Known to its provider as", row["provider_id"]
    began, ended = (
        INSTANT.shown(at, context.locale) if at else UNKNOWN
        for at in (node.started_at, node.ended_at)
    )
    until = format_html(" to {}", ended) if node.ended_at else ""
    yield "Charged from", format_html("{}{}", began, until)


def _measured_hours(devices: Sequence[fleet.DeviceLife], first: datetime) -> Measured:
    """The last two days of these devices, by device and hour."""
    measured: dict[int, dict[datetime, telemetry.DeviceHourReading]] = {}
    if devices:
        ids = [life.id for life in devices]
        for device_hour in telemetry.device_hours(ids, first, first + SHOWN_HOURS * HOUR):
            measured.setdefault(device_hour.device_id, {})[device_hour.hour] = device_hour
    return measured


def _meters_of_devices(
    devices: Sequence[fleet.DeviceLife],
    measured: Measured,
    within: tuple[datetime, datetime],
    context: Context,
) -> TableSection | None:
    """Utilization of each device in the last two days, whoever held it."""
    meters_by_device = (
        telemetry.meters_of("device", [life.id for life in devices], *within) if devices else {}
    )
    rows = [
        Metered(
            device_name(life),
            replace(
                meters_by_device[life.id],
                gpu_milliseconds=milliseconds_within(life.starts_at, life.ends_at, within),
                **_measured_milliseconds(measured.get(life.id, {}).values()),
            ),
            reverse("device", args=[life.id]),
        )
        for life in devices
        if life.id in meters_by_device
    ]
    total = meters_together(row.meters for row in rows)
    return meter_section(rows, total, "Device", context, LAST_48_HOURS)


def _measured_milliseconds(hours: Collection[telemetry.DeviceHourReading]) -> dict[str, int]:
    observed = sum(hour.observed_seconds for hour in hours)
    active = sum(hour.worked_seconds for hour in hours)
    return {
        "observed_milliseconds": round(observed * MS_PER_SECOND),
        "active_milliseconds": round(active * MS_PER_SECOND),
    }


def holders_now(
    holders: Sequence[workloads.Holding], devices: Sequence[fleet.DeviceLife]
) -> list[HolderNow]:
    """Who holds what; the names of other teams' work were never read."""
    teams = {team.id: team for team in accounts.teams()} if holders else {}
    # Jobs that nobody owns are kept under the team that stands for nobody.
    nobody = next((team_fact for team_fact in teams.values() if team_fact.kind == "unowned"), None)
    names = {life.uuid: device_name(life) for life in devices}
    rows = []
    for holder in holders:
        team = teams.get(holder.team_id or 0, nobody)
        owner = Link("Unowned", "")
        if team is not None:
            owner = Link(team.name, reverse("costs-team", args=[team.id]))
        where = "which ones is not known"
        if holder.device_uuids:
            where = joined([names.get(uuid, uuid) for uuid in holder.device_uuids])
        rows.append(HolderNow(holder, owner if holder.is_theirs else None, where))
    return rows


def _devices_now(
    devices: Sequence[fleet.DeviceLife],
    holders: Sequence[workloads.Holding],
    outages: Sequence[fleet.OutageOnRecord],
    about: tuple[Measured, Context],
) -> list[DeviceNow]:
    measured, context = about
    first = shown_from(context.at)
    uuids = {life.id: life.uuid for life in devices}
    down = {outage.device_id: outage.kind for outage in outages if _lasts_at(outage, context.at)}
    return [
        DeviceNow(
            life,
            [
                holder
                for holder in holders
                if holder.device_uuids and life.uuid in holder.device_uuids
            ],
            heat_of(
                measured.get(life.id, {}),
                (first, life.starts_at, life.ends_at),
                context.at,
                context.zone,
            ),
            OUTAGES.get(down.get(life.id, ""), ""),
            uuids.get(life.parent_id or 0, ""),
            context.at,
        )
        for life in devices
    ]


def node_tabs(node_id: int, context: Context, *, is_day: bool = False) -> Include:
    """The ways between a node's page and its day."""
    hrefs = {name: context.onward(reverse(f"node{name}", args=[node_id])) for name in ("", "-day")}
    return Include(
        "fleet/_node_tabs.html", {"node": hrefs[""], "day": hrefs["-day"], "is_day": is_day}
    )


def _hours_of(node_id: int, first: datetime) -> Mapping[datetime, Mapping[int, int]]:
    return ledger.hours_of_node(node_id, first, first + SHOWN_HOURS * HOUR)


def _actions_of(node: fleet.NodeStatus, context: Context) -> Iterator[Link]:
    if not context.viewer.may_manage:
        return
    if node.unconfirmed and node.lives(context.at):
        yield Link("Confirm its devices", reverse("confirm-node-devices", args=[node.id]))
    yield Link("Correct its provider’s id", reverse("correct-node", args=[node.id]))
    yield Link("Correct its pool", reverse("correct-pool", args=[node.pool_id]))
    if node.ended_at is None:
        yield Link("Record an outage", reverse("record-outage", args=[node.id]))
        yield Link("End this node", reverse("end-node", args=[node.id]))
