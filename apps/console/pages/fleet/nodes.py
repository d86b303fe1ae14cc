"""The list of pools and nodes: who has how much, how much of it is held, and what is wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from apps.console.kit.cells import COUNT, FIGURE, INSTANT, RATIO, linked, quiet, warned
from apps.console.kit.chart import FigureRow
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.fleet.agents import agents_by_need, unhealthy_agents
from apps.console.pages.fleet.corrections import correct_pool_link, pool_history, pool_record
from apps.console.pages.fleet.facts import FleetFacts, FleetQuestion, requested_fleet
from apps.console.pages.fleet.gpu_shares import gpu_share_section
from apps.console.pages.fleet.heat_map import HOURS_OF_NODES, heat_map
from apps.console.pages.fleet.hours import GpuTime, by_key, key_of, strip_cell, time_of
from apps.console.pages.fleet.pools import (
    POOLS,
    chosen_pools,
    figures,
    finding,
    listed_pools,
    spans_since_yesterday,
)
from apps.console.pages.fleet.status_words import StatusLabel, status_label_cell
from apps.console.pages.managers import role_sentence, step_for
from apps.console.pages.pool_links import pool_href
from apps.economics.gpu_meters import GpuMeters
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import counted, gpu_count, per_cent
from apps.show.time import duration, minute_duration
from apps.show.words import STATES, StateWords
from apps.tables.column import Column
from apps.telemetry import queries as telemetry

DAY, MILLISECOND = timedelta(days=1), timedelta(milliseconds=1)
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
)

SILENT_NODES = "Silent nodes keep accruing cost until decommissioned."


class ListedNode(NamedTuple):
    """A node at a moment, what is held of it, and how its last 24 hours were."""

    node: fleet.NodeStatus
    pool: str
    held: Fraction
    at: datetime
    time: GpuTime = GpuTime()
    meters: GpuMeters = NOT_METERED


def _declared_differences(row: ListedNode) -> str:
    """Where what agents list is not what was declared, or waits for a person's yes."""
    node, parts = row.node, []
    if node.last_seen_at is not None and node.kind == "machine" and node.gpus_seen != node.units:
        parts.append(f"{node.gpus_seen} seen")
    if node.unconfirmed:
        parts.append(f"{node.unconfirmed} not confirmed")
    return ", ".join(parts)


def _warned_differences(row: ListedNode) -> str:
    differs = _declared_differences(row)
    return warned(differs) if differs else ""


def _sm_observed(row: ListedNode) -> str:
    if row.meters.sm_active_ratio is None:
        return ""
    return f"of {per_cent(row.meters.sm_coverage_ratio)}"


def _last_heard(row: ListedNode) -> str:
    """When its agents last spoke, to the minute; where they never did, when it was enrolled."""
    node = row.node
    if node.last_seen_at is None:
        return quiet("never")
    ago = f"{minute_duration(row.at - node.last_seen_at)} ago"
    return ago if node.spoke_at else f"not yet, enrolled {ago}"


NODES = Table[ListedNode](
    "nodes",
    "Nodes",
    (
        Column("name", "Node", lambda row: row.node.name, csv="node",
               href=lambda row: reverse("node", args=[row.node.id])),
        Column("pool", "Pool", lambda row: row.pool,
               href=lambda row: pool_href(row.pool)),
        Column("state", "Node status", lambda row: node_status_label(row.node, row.at).text, sorts=False,
               shown=lambda row, locale: status_label_cell(node_status_label(row.node, row.at), locale)),
        Column("since", "", lambda row: node_status_label(row.node, row.at).since, INSTANT),
        Column("units", "GPUs", lambda row: row.node.units, COUNT, csv="gpus",
               note=_warned_differences),
        Column("differs", "", _declared_differences),
        Column("held", "Held now",
               lambda row: gpu_count(row.held) if row.node.lives(row.at) else "", FIGURE,
               csv="held_now", order=lambda row: row.held),
        Column("time", "Last 24 hours", lambda row: None, csv="", sorts=False,
               shown=lambda row, _: strip_cell(row.time)),
        Column("active", "Active", lambda row: row.time.active_ratio, RATIO,
               csv="active_ratio_24h", sorts=False),
        Column("sm", "SM active", lambda row: row.meters.sm_active_ratio, RATIO,
               csv="sm_active_ratio_24h", sorts=False, note=_sm_observed),
        Column("dram", "DRAM active", lambda row: row.meters.dram_active_ratio, RATIO,
               csv="dram_active_ratio_24h", sorts=False),
        Column("sm_coverage_ratio_24h", "", lambda row: row.meters.sm_coverage_ratio, RATIO),
        Column("coverage", "Coverage", lambda row: row.time.coverage_ratio, RATIO,
               csv="coverage_ratio_24h", sorts=False),
        Column("seen", "Last heard", lambda row: row.node.spoke_at, INSTANT, csv="last_heard_at",
               shown=lambda row, _: _last_heard(row)),
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


@shown(EVERYONE, "fleet")
def nodes(context: Context) -> ConsolePage:
    """Clusters, pools and nodes; whoever signed in may see them, never whose work is on them."""
    question, facts = requested_fleet(context)
    if not facts.pools:
        return ConsolePage(
            context=context,
            finding="There are no nodes yet.",
            empty=_no_pools(context),
            csv_files=(
                NODES.file("nodes", context, tuple),
                POOLS.file("pools", context, tuple),
                HOURS_OF_NODES.file("hours of nodes", context, tuple),
            ),
            main_table=NODES.name,
        )
    spans, chosen = spans_since_yesterday(context), chosen_pools(facts, question)
    matches = matching(facts, question)
    shown_nodes, part = NODES.part_of(NODES.ordered(listed_nodes(matches, facts), context), context)
    rows = with_time(shown_nodes, facts)
    one = chosen[0] if question.pool_ids and len(chosen) == 1 else None
    may_correct = one is not None and context.viewer.may_manage
    return ConsolePage(
        context=context,
        finding=finding(facts, chosen, spans),
        under=(SILENT_NODES, *trouble_links(context)),
        filters=question.filters,
        problems=tuple(question.reading.problems),
        actions=(correct_pool_link(one.id, "Correct this pool"),) if one and may_correct else (),
        main_table=NODES.name,
        sections=(
            FigureRow(figures(facts, chosen, spans, question)),
            pool_record(one, context) if one else None,
            heat_map(matches, facts, context),
            POOLS.section(
                listed_pools(facts, spans, question, context),
                context,
                csv_name="pools",
                states=_states_of(spans, rows),
            ),
            NODES.section(
                rows,
                context,
                part=part,
                csv_name="nodes",
                csv_rows=lambda: with_time(listed_nodes(matches, facts), facts),
            ),
            gpu_share_section(one, context) if one else None,
            pool_history(one, context) if one else None,
        ),
    )


def _no_pools(context: Context) -> EmptyState:
    """Nothing is on record: the ways that this viewer may go."""
    if not context.viewer.sees_everything:
        return replace(NO_POOLS, steps=(Step(role_sentence("puts them on record")),))
    guide = Step(
        "Its nodes come by a list, by an accounting file, or let themselves in.",
        link=Link("The first day, step by step", reverse("first-day")),
    )
    pool = step_for(
        "A pool is nodes of one model and one price.",
        Link("Add a pool", reverse("add-pool")),
        "adds it",
        may=context.viewer.may_manage,
    )
    return replace(NO_POOLS, steps=(pool, guide))


def trouble_links(context: Context) -> list[SafeString]:
    """How many incidents are open and how many agents are unhealthy; nothing where none is."""
    lasting, ill = telemetry.open_incidents(), unhealthy_agents(agents_by_need(context.at))
    links = []
    if lasting:
        text = counted(lasting, "open incident")
        links.append(linked(text, context.onward(f"{reverse('incidents')}?open=yes")))
    if ill:
        text = counted(ill, "unhealthy agent")
        links.append(linked(text, context.onward(f"{reverse('agents')}?show=unwell")))
    return links


def matching(facts: FleetFacts, question: FleetQuestion) -> list[fleet.NodeStatus]:
    """The nodes that the address asks for."""
    at = facts.at
    shows: dict[str, Callable[[fleet.NodeStatus], bool]] = {
        "": lambda node: node.lives(at),
        "trouble": lambda node: node.is_silent(at) or (node.lives(at) and node.outage is not None),
        "unconfirmed": lambda node: node.lives(at) and node.unconfirmed > 0,
        "ended": lambda node: not node.lives(at),
    }
    return [
        node
        for node in facts.nodes
        if shows[question.show](node) and question.has_pool(node.pool_id)
    ]


def listed_nodes(matches: Sequence[fleet.NodeStatus], facts: FleetFacts) -> list[ListedNode]:
    """Each node by name, without its last 24 hours: those are asked of the ones that are shown."""
    return [
        ListedNode(node, facts.pools[node.pool_id].name, facts.held[node.id], facts.at)
        for node in sorted(matches, key=lambda node: (node.name.casefold(), node.id))
    ]


def with_time(rows: Sequence[ListedNode], facts: FleetFacts) -> list[ListedNode]:
    """The rows with their last 24 settled hours, and what meters reported of them."""
    to = hour_of(facts.at) + HOUR
    there = [row.node for row in rows]
    spans = ledger.time_of_nodes([node.id for node in there], to - DAY, to) if there else {}
    metered = _metered_nodes(there, to - DAY, facts.at)
    return [
        row._replace(
            time=time_of(
                spans.get(row.node.id, {}),
                is_measured=not facts.pools[row.node.pool_id].counts_cores,
            ),
            meters=metered.get(row.node.id, NOT_METERED),
        )
        for row in rows
    ]


def _metered_nodes(
    there: Sequence[fleet.NodeStatus], since: datetime, at: datetime
) -> dict[int, GpuMeters]:
    """Return what meters reported of all the time since `since` in which each node's GPUs were there."""
    meters_by_node = (
        telemetry.meters_of("node", [node.id for node in there], since, at) if there else {}
    )
    return {
        node.id: replace(
            meters_by_node[node.id],
            gpu_milliseconds=node.units
            * milliseconds_within(node.started_at, node.ended_at, (since, at)),
        )
        for node in there
        if node.id in meters_by_node
    }


def milliseconds_within(
    starts_at: datetime | None, ends_at: datetime | None, within: tuple[datetime, datetime]
) -> int:
    """Milliseconds of `[starts_at, ends_at)` inside a span; None: since ever, until now."""
    since, at = within
    return max(0, (min(at, ends_at or at) - max(since, starts_at or since)) // MILLISECOND)


def node_status_label(node: fleet.NodeStatus, at: datetime) -> StatusLabel:
    """How a node stands, the gravest first."""
    if not node.lives(at):
        return StatusLabel(node.end_reason or "Ended", "quiet", node.ended_at)
    if node.outage is not None:
        return StatusLabel(OUTAGES.get(node.outage, node.outage), "warn", node.outage_since)
    if node.is_silent(at) and node.last_seen_at is not None:
        return StatusLabel(
            f"Silent for {duration(at - node.last_seen_at)}", "warn", node.last_seen_at
        )
    if node.last_seen_at is None and node.kind == "machine":
        return StatusLabel("No agent yet", "quiet")
    if node.spoke_at is None and node.kind == "machine":
        return StatusLabel("Agent not heard yet", "quiet", node.last_seen_at)
    return StatusLabel("In service")


def _states_of(
    spans: Mapping[int, ledger.PoolSpan], rows: Sequence[ListedNode]
) -> tuple[StateWords, ...]:
    keys = {key for span in spans.values() for key in by_key(span.by_state)}
    strips = [row.time.strip for row in rows if row.time.strip]
    keys |= {part.state.key for strip in strips for part in strip.parts}
    return key_of(keys & {state.key for state in STATES})
