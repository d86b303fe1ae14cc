"""The list of pools and nodes: who has how much, how much of it is held, and what is wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.cells import linked
from apps.console.kit.frame import EmptyState, Step
from apps.console.kit.page import ConsolePage, Include
from apps.console.kit.request import Context
from apps.console.pages.fleet.facts import FleetFacts
from apps.console.pages.fleet.gpu_share import gpu_share
from apps.console.pages.fleet.heat_map import heat_map
from apps.console.pages.fleet.hours import by_key, key_of, time_of
from apps.console.pages.fleet.pools import (
    chosen_pools,
    figures,
    finding,
    pool_rows,
    spans_since_yesterday,
)
from apps.console.pages.fleet.question import FleetQuestion
from apps.console.pages.fleet.tables import NODES, POOLS
from apps.console.pages.fleet.trouble import trouble
from apps.console.pages.fleet.values import NOT_METERED, NodeRow, Standing
from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import gpu_count
from apps.show.time import duration
from apps.show.words import STATES, StateWords
from apps.telemetry import queries as telemetry

DAY, MINUTE, MILLISECOND = timedelta(days=1), timedelta(minutes=1), timedelta(milliseconds=1)
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

SILENT_NODES = "Silent nodes keep accruing cost until an inventory, the bill or a person ends them."


def fleet_page(asked: FleetQuestion, context: Context, facts: FleetFacts) -> ConsolePage:
    """The page that answers the question."""
    if not facts.pools:
        finding_ = "There are no nodes yet."
        return ConsolePage(context=context, finding=finding_, empty=NO_POOLS)
    spans, chosen = spans_since_yesterday(context), chosen_pools(facts, asked)
    found = matching(facts, asked)
    shown, part = NODES.part_of(NODES.ordered(node_rows(found, facts), context), context)
    rows = with_time(shown, facts)
    trouble_links = [linked(each.text, each.href) for each in trouble(context.at)]
    share = gpu_share(chosen[0], context) if asked.pool and chosen else None
    return ConsolePage(
        context=context,
        finding=finding(facts, chosen, spans),
        under=(SILENT_NODES, *trouble_links),
        filters=asked.filters,
        problems=asked.problems,
        sections=(
            Include("fleet/_section_figures.html", figures(facts, chosen, spans, asked)),
            Include("fleet/_section_map.html", heat_map(found, facts, context.query, context)),
            POOLS.section(
                pool_rows(facts, spans, asked, context),
                context,
                csv_href=reverse("fleet-pools"),
                states=_states(spans, rows),
            ),
            NODES.section(rows, context, part=part, csv_href=reverse("fleet-nodes")),
            Include("fleet/_section_share.html", share) if share else None,
        ),
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


def node_rows(nodes: Sequence[fleet.StandingNode], facts: FleetFacts) -> list[NodeRow]:
    """Each node by name, without its last 24 hours: those are asked of the ones that are shown."""
    return [
        NodeRow(
            name=node.name,
            href=reverse("node", args=[node.id]),
            pool=facts.pools[node.pool_id].name,
            pool_href=f"{reverse('fleet')}?{urlencode({'pool': facts.pools[node.pool_id].name})}",
            standing=standing(node, facts.at),
            units=node.units,
            differs=differs(node),
            held=gpu_count(facts.held[node.id]) if node.lives(facts.at) else "",
            held_units=facts.held[node.id],
            heard=heard(node, facts.at),
            last_seen_at=node.spoke_at,
            node=node,
        )
        for node in sorted(nodes, key=lambda node: (node.name.casefold(), node.id))
    ]


def with_time(rows: Sequence[NodeRow], facts: FleetFacts) -> list[NodeRow]:
    """The rows with their last 24 settled hours, and what meters reported of them."""
    to = hour_of(facts.at) + HOUR
    nodes = [row.node for row in rows]
    spans = ledger.time_of_nodes([node.id for node in nodes], to - DAY, to) if nodes else {}
    metered = _metered(nodes, to - DAY, facts.at)
    return [
        replace(
            row,
            time=time_of(
                spans.get(row.node.id, {}),
                is_measured=not facts.pools[row.node.pool_id].counts_cores,
            ),
            meters=metered.get(row.node.id, NOT_METERED),
        )
        for row in rows
    ]


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


def _states(
    spans: Mapping[int, ledger.PoolSpan], rows: Sequence[NodeRow]
) -> tuple[StateWords, ...]:
    keys = {key for span in spans.values() for key in by_key(span.by_state)}
    strips = [row.time.strip for row in rows if row.time.strip]
    keys |= {part.state.key for strip in strips for part in strip.parts}
    return key_of(keys & {state.key for state in STATES})
