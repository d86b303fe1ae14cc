"""One node: its devices and who holds them, its last two days, and its past."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import INSTANT, UNKNOWN, drawn, linked
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Include
from apps.console.kit.request import Context
from apps.console.pages.fleet.hours import heat_of, hour_columns, key_of, shown_from, states_of
from apps.console.pages.fleet.nodes import OUTAGES, gone_by, standing
from apps.console.pages.fleet.tables import (
    AGENTS,
    CAPACITY,
    CORE_HOLDERS,
    DEVICES,
    HOLDERS,
    OUTAGES_TABLE,
    standing_cell,
)
from apps.console.pages.fleet.values import DeviceRow, HeldRow, OutageRow
from apps.console.pages.meters import Metered, MeterTable, meter_table
from apps.economics.gpu_meters import MS_PER_SECOND, meters_together
from apps.economics.hours import HOUR
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import count, counted, gpu_count
from apps.show.words import joined
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

ANOTHER_TEAM = "another team"
Measured = Mapping[int, Mapping[datetime, telemetry.DeviceHourReading]]


def node_page(row: Mapping[str, Any], context: Context) -> ConsolePage:
    """The page of the node that `row` is."""
    node_id, at = row["id"], context.at
    first = shown_from(at)
    in_cores = row["unit"] == "core"
    holders = workloads.holders_now([node_id], at, context.viewer, in_cores=in_cores)
    lives = fleet.devices_of_node(node_id, first)
    outages = fleet.outages_of_node(node_id)
    agents = fleet.agents_of_node(node_id)
    here = _standing_node(row, lives, outages, agents, at)
    measured = _measured(lives, first)
    devices = _device_rows(lives, holders, outages, (measured, context))
    meters = _meters(lives, measured, (first, at))

    def csv(name: str) -> str:
        return reverse(name, args=[node_id])

    return ConsolePage(
        context=context,
        finding=_finding(here, holders, context, "core" if in_cores else "GPU"),
        back=Link("Nodes and GPUs", reverse("fleet")),
        actions=tuple(_actions(here, context)),
        sections=(
            FactList(list(_facts(row, here, context))),
            Include("fleet/_section_tabs.html", {"node": csv("node"), "day": csv("node-day")}),
            Include("fleet/_node_hours.html", _node_hours(node_id, first, context)),
            (CORE_HOLDERS if in_cores else HOLDERS).section(
                held_rows(holders, lives), context, csv_href=csv("node-holders")
            ),
            DEVICES.section(
                devices,
                context,
                csv_href=csv("node-devices"),
                remark=drawn("fleet/_heat_key.html") if devices else "",
            ),
            Include("kit/meters.html", meters) if meters else None,
            OUTAGES_TABLE.section(
                outage_rows(outages, context), context, csv_href=csv("node-outages")
            ),
            AGENTS.section(agents, context, csv_href=csv("node-agents")),
            CAPACITY.section(
                fleet.capacities_of_node(node_id), context, csv_href=csv("node-capacity")
            ),
        ),
    )


def devices_of_node(node_id: int, context: Context) -> tuple[DeviceRow, ...]:
    """The devices of a node with their last two days, and who holds them."""
    first = shown_from(context.at)
    holders = workloads.holders_now([node_id], context.at, context.viewer)
    lives, outages = fleet.devices_of_node(node_id, first), fleet.outages_of_node(node_id)
    return _device_rows(lives, holders, outages, (_measured(lives, first), context))


def _node_hours(node_id: int, first: datetime, context: Context) -> Mapping[str, Any]:
    """What its GPU time was, by hour, as the picture takes it."""
    hours = ledger.hours_of_node(node_id, first, first + 48 * HOUR)
    return {
        "id": node_id,
        "hours": hour_columns(hours, first, context.zone),
        "hours_from": first,
        "states": key_of(states_of(hours.values())),
        "zone": context.zone,
    }


def _standing_node(
    row: Mapping[str, Any],
    lives: Sequence[fleet.DeviceLife],
    outages: Sequence[fleet.OutageOnRecord],
    agents: Sequence[fleet.NodeAgent],
    at: datetime,
) -> fleet.StandingNode:
    now = [life for life in lives if life.ends_at is None or at < life.ends_at]
    lasting = next((each for each in outages if each.device_id is None and _lasts(each, at)), None)
    return fleet.StandingNode(
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
        last_seen_at=max((each.last_seen_at or each.enrolled_at for each in agents), default=None),
        spoke_at=row["last_seen_at"],
        outage=lasting.kind if lasting else None,
        outage_since=lasting.starts_at if lasting else None,
    )


def _lasts(outage: fleet.OutageOnRecord, at: datetime) -> bool:
    return outage.starts_at <= at and (outage.ends_at is None or at < outage.ends_at)


def _finding(
    node: fleet.StandingNode, holders: Sequence[workloads.Holding], context: Context, unit: str
) -> str:
    if not node.lives(context.at):
        return f"{node.name} has ended: {node.end_reason or 'no reason was given'}."
    claimed = sum(each.units or 0 for each in holders)
    held = min(claimed, node.units)
    said = f"{gpu_count(held)} of {counted(node.units, unit)} of {node.name} are held now"
    if not holders:
        said = f"Nobody holds {node.name} now"
    if claimed > node.units:
        said += f"; jobs claim {gpu_count(claimed)}"
    if node.outage is not None:
        said += f"; it is {OUTAGES.get(node.outage, node.outage).lower()}"
    elif node.is_silent(context.at):
        said += "; its agent is silent"
    return f"{said}."


def _facts(
    row: Mapping[str, Any], node: fleet.StandingNode, context: Context
) -> Iterator[tuple[str, str]]:
    yield "Node status", standing_cell(standing(node, context.at), context.locale)
    pool_href = f"{reverse('fleet')}?{urlencode({'pool': row['pool_name']})}"
    yield "Pool", linked(row["pool_name"], pool_href)
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


def holders_of_node(node_id: int, context: Context, *, in_cores: bool) -> tuple[HeldRow, ...]:
    """Who holds what of a node now."""
    holders = workloads.holders_now([node_id], context.at, context.viewer, in_cores=in_cores)
    return held_rows(holders, fleet.devices_of_node(node_id, shown_from(context.at)))


def held_rows(
    holders: Sequence[workloads.Holding], lives: Sequence[fleet.DeviceLife]
) -> tuple[HeldRow, ...]:
    """Who holds what; the names of other teams' work were never read."""
    teams = {team.id: team for team in accounts.teams()} if holders else {}
    names = {life.uuid: device_name(life) for life in lives}
    return tuple(_held_row(each, teams, names) for each in holders)


def _held_row(
    holding: workloads.Holding, teams: Mapping[int, accounts.TeamFact], names: Mapping[str, str]
) -> HeldRow:
    where = "which ones is not known"
    if holding.device_uuids:
        where = joined([names.get(uuid, uuid) for uuid in holding.device_uuids])
    if not holding.is_theirs:
        return HeldRow(
            ANOTHER_TEAM, "", "", gpu_count(holding.units), where, holding.since, is_theirs=False
        )
    # Jobs that nobody owns are kept under the team that stands for nobody.
    nobody = next((each for each in teams.values() if each.kind == "unowned"), None)
    team = teams.get(holding.team_id or 0, nobody)
    return HeldRow(
        who=who_holds(holding),
        note=_note(holding),
        team=team.name if team else "Unowned",
        units=gpu_count(holding.units),
        where=where,
        since=holding.since,
        is_theirs=True,
        job_href=job_href(holding),
        team_href=reverse("costs-team", args=[team.id]) if team else "",
    )


def device_name(life: fleet.DeviceLife) -> str:
    """`GPU 3`, or the slice's profile; the UUID where neither is known."""
    if life.kind == "mig":
        return f"slice {life.profile}" if life.profile else life.uuid
    return life.uuid if life.index is None else f"GPU {life.index}"


def _measured(lives: Sequence[fleet.DeviceLife], first: datetime) -> Measured:
    """The last two days of these devices, by device and hour."""
    measured: dict[int, dict[datetime, telemetry.DeviceHourReading]] = {}
    if lives:
        ids = [life.id for life in lives]
        for each in telemetry.device_hours(ids, first, first + 48 * HOUR):
            measured.setdefault(each.device_id, {})[each.hour] = each
    return measured


def _meters(
    lives: Sequence[fleet.DeviceLife], measured: Measured, within: tuple[datetime, datetime]
) -> MeterTable | None:
    """Utilization of each device in the last two days, whoever held it."""
    told = telemetry.meters_of("device", [life.id for life in lives], *within) if lives else {}
    rows = [
        Metered(
            device_name(life),
            replace(
                told[life.id],
                gpu_milliseconds=gone_by(life.starts_at, life.ends_at, within),
                **_milliseconds(measured.get(life.id, {}).values()),
            ),
            reverse("device", args=[life.id]),
        )
        for life in lives
        if life.id in told
    ]
    whole = meters_together(row.meters for row in rows)
    return meter_table(rows, whole, "Device", "of the last 48 hours")


def _milliseconds(hours: Collection[telemetry.DeviceHourReading]) -> dict[str, int]:
    observed = sum(hour.observed_seconds for hour in hours)
    active = sum(hour.worked_seconds for hour in hours)
    return {
        "observed_milliseconds": round(observed * MS_PER_SECOND),
        "active_milliseconds": round(active * MS_PER_SECOND),
    }


def _device_rows(
    lives: Sequence[fleet.DeviceLife],
    holders: Sequence[workloads.Holding],
    outages: Sequence[fleet.OutageOnRecord],
    about: tuple[Measured, Context],
) -> tuple[DeviceRow, ...]:
    measured, context = about
    first = shown_from(context.at)
    uuids = {life.id: life.uuid for life in lives}
    down = {each.device_id: each.kind for each in outages if _lasts(each, context.at)}
    return tuple(
        DeviceRow(
            life=life,
            href=reverse("device", args=[life.id]),
            name=device_name(life),
            kind="MIG slice" if life.kind == "mig" else life.model,
            holders=_holders_of(life, holders),
            is_there=life.ends_at is None or context.at < life.ends_at,
            heat=heat_of(
                measured.get(life.id, {}),
                (first, life.starts_at, life.ends_at),
                context.at,
                context.zone,
            ),
            outage=OUTAGES.get(down.get(life.id, ""), ""),
            parent=uuids.get(life.parent_id or 0, ""),
        )
        for life in lives
    )


def _holders_of(life: fleet.DeviceLife, holders: Sequence[workloads.Holding]) -> tuple[Link, ...]:
    pinned = [each for each in holders if each.device_uuids and life.uuid in each.device_uuids]
    return tuple(Link(who_holds(each), job_href(each)) for each in pinned)


def _note(holding: workloads.Holding) -> str:
    """What the name leaves out: the job's id, and whose it is at the scheduler."""
    number = f"job {holding.raw_id}" if holding.name else ""
    return " ".join(filter(None, (number, holding.user and f"of {holding.user}")))


def job_href(holding: workloads.Holding) -> str:
    """Where the job's cost is told; empty where it is not the viewer's."""
    return reverse("costs-job", args=[holding.job_id]) if holding.job_id else ""


def who_holds(holding: workloads.Holding) -> str:
    """The job by its name, or its number; `another team` where it is not the viewer's."""
    if not holding.is_theirs:
        return ANOTHER_TEAM
    return holding.name or f"job {holding.raw_id}"


def outage_rows(outages: Sequence[fleet.OutageOnRecord], context: Context) -> tuple[OutageRow, ...]:
    """The outages in words; whoever manages may end those that last."""
    may_end = context.viewer.may_manage
    return tuple(
        OutageRow(
            outage=each,
            kind=OUTAGES.get(each.kind, each.kind),
            what=each.device_uuid or "the whole node",
            end_href=reverse("end-outage", args=[each.id])
            if may_end and each.ends_at is None
            else "",
        )
        for each in outages
    )


def _actions(node: fleet.StandingNode, context: Context) -> Iterator[Link]:
    if not context.viewer.may_manage:
        return
    if node.unconfirmed and node.lives(context.at):
        yield Link("Confirm its devices", reverse("confirm-node-devices", args=[node.id]))
    if node.ended_at is None:
        yield Link("Record an outage", reverse("record-outage", args=[node.id]))
        yield Link("End this node", reverse("end-node", args=[node.id]))
