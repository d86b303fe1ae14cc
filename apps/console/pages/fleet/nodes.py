"""The list of pools and nodes: who has how much, how much of it is held, and what is wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TypeAlias
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.kit.table import ColumnHeading
from apps.console.pages.fleet.facts import FleetFacts
from apps.console.pages.fleet.gpu_share import gpu_share
from apps.console.pages.fleet.heat_map import heat_map
from apps.console.pages.fleet.hours import by_key, key_of, time_of
from apps.console.pages.fleet.pools import (
    COLUMNS,
    chosen_pools,
    figures,
    finding,
    pool_rows,
    spans_since_yesterday,
)
from apps.console.pages.fleet.question import PER_PAGE, FleetQuestion
from apps.console.pages.fleet.trouble import trouble
from apps.console.pages.fleet.values import (
    FleetPage,
    NodeRow,
    Standing,
)
from apps.console.pages.listed import listed
from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import counted, gpu_count
from apps.show.time import duration
from apps.show.words import STATES, StateWords
from apps.telemetry import queries as telemetry

DAY, MINUTE, MILLISECOND = timedelta(days=1), timedelta(minutes=1), timedelta(milliseconds=1)
NOT_METERED = GpuMeters()
OUTAGES = {
    "down": "Down",
    "drained": "Drained",
    "failed": "Failed",
    "maintenance": "In maintenance",
}
NO_POOLS = EmptyState(
    title="No nodes yet",
    sentence="Pools with their nodes and GPUs are listed here, with who holds what now, what was "
    "measured of it and which agents have gone quiet.",
    steps=(
        Step(
            "Add a pool, then its nodes:",
            command=".venv/bin/python manage.py add_pool h100 --provider aws --gpu-model "
            '"NVIDIA H100 80GB HBM3" --gpus-per-node 8 --purchase-option on_demand',
        ),
        Step(
            "Say which nodes it has, and since when they cost money:",
            command=".venv/bin/python manage.py add_nodes h100 gpu-01 gpu-02 --from 2026-01-01",
        ),
    ),
)

SortKey: TypeAlias = "str | int | Fraction | float"


def fleet_page(asked: FleetQuestion, context: Context, facts: FleetFacts) -> FleetPage:
    """The page that answers the question."""
    if not facts.pools:
        return FleetPage(context.frame, "There are no nodes yet.", context.zone, empty=NO_POOLS)
    spans = spans_since_yesterday(context)
    chosen = chosen_pools(facts, asked)
    found = ordered(matching(facts, asked), facts, asked)
    last_page = max(1, -(-len(found) // PER_PAGE))
    page = min(asked.page, last_page)
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    rows = node_rows(shown, facts)
    return FleetPage(
        frame=context.frame,
        finding=finding(facts, chosen, spans),
        zone=context.zone,
        filters=asked.filters,
        sort="" if asked.sort == "name" else asked.sort,
        problems=asked.problems,
        figures=figures(facts, chosen, spans, asked),
        pools=listed(pool_rows(facts, spans, asked, context), COLUMNS, asked.of_pools),
        map=heat_map(matching(facts, asked), facts, asked.of_pools.given, context),
        pools_csv_href=asked.href("fleet-pools", show="", sort=""),
        columns=_columns(asked),
        nodes=rows,
        nodes_said=_said(len(found), page, last_page),
        csv_href=asked.href("fleet-nodes"),
        before=_turned(asked, page - 1, "Previous") if page > 1 else None,
        after=_turned(asked, page + 1, "Next") if page < last_page else None,
        states=_states(spans, rows),
        trouble=trouble(context.at),
        gpu_share=gpu_share(chosen[0], context) if asked.pool and chosen else None,
    )


def matching(facts: FleetFacts, asked: FleetQuestion) -> list[fleet.StandingNode]:
    """The nodes that the address asks for."""
    at = facts.at
    shows: dict[str, Callable[[fleet.StandingNode], bool]] = {
        "": lambda node: node.lives(at),
        "trouble": lambda node: node.is_silent(at) or (node.lives(at) and node.outage is not None),
        "unconfirmed": lambda node: node.lives(at) and node.unconfirmed > 0,
        "ended": lambda node: not node.lives(at),
    }
    return [
        node
        for node in facts.nodes
        if shows[asked.show](node) and asked.pool in ("", facts.pools[node.pool_id].name)
    ]


def ordered(
    nodes: list[fleet.StandingNode], facts: FleetFacts, asked: FleetQuestion
) -> list[fleet.StandingNode]:
    """In the order asked for, by name where that ties; nodes never heard of come first."""
    keys: dict[str, Callable[[fleet.StandingNode], SortKey]] = {
        "name": lambda node: node.name.casefold(),
        "pool": lambda node: facts.pools[node.pool_id].name.casefold(),
        "units": lambda node: node.units,
        "held": lambda node: facts.held[node.id],
        "seen": lambda node: node.last_seen_at.timestamp() if node.last_seen_at else 0.0,
    }
    by_name = sorted(nodes, key=lambda node: (node.name.casefold(), node.id))
    return sorted(by_name, key=keys[asked.sort_key], reverse=asked.sort.startswith("-"))


def node_rows(nodes: Sequence[fleet.StandingNode], facts: FleetFacts) -> tuple[NodeRow, ...]:
    """Each node with its last 24 settled hours."""
    to = hour_of(facts.at) + HOUR
    spans = ledger.time_of_nodes([node.id for node in nodes], to - DAY, to) if nodes else {}
    metered = _metered(nodes, to - DAY, facts.at)
    return tuple(
        NodeRow(
            name=node.name,
            href=reverse("node", args=[node.id]),
            pool=facts.pools[node.pool_id].name,
            pool_href=f"{reverse('fleet')}?{urlencode({'pool': facts.pools[node.pool_id].name})}",
            standing=standing(node, facts.at),
            units=node.units,
            differs=differs(node),
            held=_held(node, facts),
            time=time_of(
                spans.get(node.id, {}), is_measured=not facts.pools[node.pool_id].counts_cores
            ),
            meters=metered.get(node.id, NOT_METERED),
            heard=heard(node, facts.at),
            last_seen_at=node.spoke_at,
        )
        for node in nodes
    )


def _metered(
    nodes: Sequence[fleet.StandingNode], since: datetime, at: datetime
) -> dict[int, GpuMeters]:
    """What meters reported of all the time since then in which each node's GPUs were there."""
    found = telemetry.meters_of("node", [node.id for node in nodes], since, at) if nodes else {}
    return {
        node.id: replace(
            found[node.id],
            gpu_milliseconds=node.units * gone_by(node.started_at, node.ended_at, (since, at)),
        )
        for node in nodes
        if node.id in found
    }


def gone_by(
    starts_at: datetime | None, ends_at: datetime | None, within: tuple[datetime, datetime]
) -> int:
    """Milliseconds of `[starts_at, ends_at)` inside a span; None: since ever, until now."""
    since, at = within
    return max(0, (min(at, ends_at or at) - max(since, starts_at or since)) // MILLISECOND)


def standing(node: fleet.StandingNode, at: datetime) -> Standing:
    """How a node stands, the gravest first."""
    if not node.lives(at):
        return Standing(node.end_reason or "Ended", "quiet", node.ended_at)
    if node.outage is not None:
        return Standing(OUTAGES.get(node.outage, node.outage), "warn", node.outage_since)
    if node.is_silent(at) and node.last_seen_at is not None:
        return Standing(f"Silent for {duration(at - node.last_seen_at)}", "warn", node.last_seen_at)
    if node.last_seen_at is None and node.kind == "machine":
        return Standing("No agent yet", "quiet")
    if node.spoke_at is None and node.kind == "machine":
        return Standing("Agent not heard yet", "quiet", node.last_seen_at)
    return Standing("In service")


def heard(node: fleet.StandingNode, at: datetime) -> str:
    """When its agents last spoke, to the minute; empty where it has none."""
    if node.last_seen_at is None:
        return ""
    span = at - node.last_seen_at
    ago = f"{duration(span - span % MINUTE if span >= MINUTE else span)} ago"
    return ago if node.spoke_at else f"not yet, enrolled {ago}"


def differs(node: fleet.StandingNode) -> str:
    """Where what agents list is not what was declared, or waits for a person's yes."""
    parts = []
    if node.last_seen_at is not None and node.kind == "machine" and node.gpus_seen != node.units:
        parts.append(f"{node.gpus_seen} seen")
    if node.unconfirmed:
        parts.append(f"{node.unconfirmed} not confirmed")
    return ", ".join(parts)


def _columns(asked: FleetQuestion) -> tuple[ColumnHeading, ...]:
    return (
        _column("name", "Node", asked),
        _column("pool", "Pool", asked),
        ColumnHeading("state", "Node status", "", is_number=False),
        _column("units", "GPUs", asked, is_number=True),
        _column("held", "Held now", asked, is_number=True),
        ColumnHeading("time", "Last 24 hours", "", is_number=False),
        ColumnHeading("active", "Active", ""),
        ColumnHeading("sm", "SM active", ""),
        ColumnHeading("dram", "DRAM active", ""),
        ColumnHeading("coverage", "Coverage", ""),
        _column("seen", "Last heard", asked),
    )


def _column(key: str, text: str, asked: FleetQuestion, *, is_number: bool = False) -> ColumnHeading:
    is_chosen = key == asked.sort_key
    is_descending = asked.sort.startswith("-")
    turned = key if is_chosen and is_descending else f"-{key}"
    first = f"-{key}" if is_number else key
    return ColumnHeading(
        key=key,
        text=text,
        href=asked.href(sort=turned if is_chosen else first, part="nodes"),
        order=("descending" if is_descending else "ascending") if is_chosen else "",
        is_number=is_number,
    )


def _held(node: fleet.StandingNode, facts: FleetFacts) -> str:
    return gpu_count(facts.held[node.id]) if node.lives(facts.at) else ""


def _said(found: int, page: int, last_page: int) -> str:
    return counted(found, "node") + (f", page {page} of {last_page}" if last_page > 1 else "")


def _turned(asked: FleetQuestion, page: int, text: str) -> Link:
    return Link(text, asked.href(page=str(page), part="nodes"))


def _states(
    spans: Mapping[int, ledger.PoolSpan], rows: Sequence[NodeRow]
) -> tuple[StateWords, ...]:
    keys = {key for span in spans.values() for key in by_key(span.by_state)}
    strips = [row.time.strip for row in rows if row.time.strip]
    keys |= {part.state.key for strip in strips for part in strip.parts}
    return key_of(keys & {state.key for state in STATES})
