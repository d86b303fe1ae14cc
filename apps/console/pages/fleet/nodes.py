"""The list of pools and nodes: who has how much, how much of it is held, and what is wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import TypeAlias

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.fleet.hours import HOUR, by_key, key_of, time_of
from apps.console.pages.fleet.question import PER_PAGE, FleetQuestion
from apps.console.pages.fleet.values import (
    FleetColumn,
    FleetPage,
    NodeRow,
    PlainFigure,
    PoolRow,
    Standing,
    Time,
)
from apps.console.pages.frame import EmptyState, Link, Step
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import count, counted, gpu_count, per_cent, share
from apps.show.strip import strip_of_states
from apps.show.time import duration
from apps.show.words import STATES, StateWords
from apps.workloads import queries as workloads

DAY = timedelta(days=1)
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


@dataclass(frozen=True, slots=True)
class FleetFacts:
    """What the list is made of, asked once; `held` is never more than a node has."""

    pools: Mapping[int, fleet.PoolFact]
    nodes: Sequence[fleet.StandingNode]
    held: Mapping[int, Fraction]
    at: datetime

    @property
    def living(self) -> list[fleet.StandingNode]:
        """The nodes that are there now."""
        return [node for node in self.nodes if node.lives(self.at)]


def fleet_facts(at: datetime) -> FleetFacts:
    """Every pool and node, and what jobs hold of it now."""
    nodes = fleet.standing_nodes(at)
    claimed = workloads.held_by_node(at)
    held = {node.id: min(claimed.get(node.id, Fraction(0)), Fraction(node.units)) for node in nodes}
    return FleetFacts(fleet.pools(), nodes, held, at)


def fleet_page(asked: FleetQuestion, asking: Asking, facts: FleetFacts) -> FleetPage:
    """The page that answers the question."""
    if not facts.pools:
        return FleetPage(asking.frame, "There are no nodes yet.", asking.zone, empty=NO_POOLS)
    since = _yesterday(asking)
    spans = ledger.time_of_pools(since, since + 2 * DAY)
    chosen = [pool for pool in facts.pools.values() if asked.pool in ("", pool.name)]
    found = ordered(matching(facts, asked), facts, asked)
    last_page = max(1, -(-len(found) // PER_PAGE))
    page = min(asked.page, last_page)
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    rows = node_rows(shown, facts)
    return FleetPage(
        frame=asking.frame,
        finding=_finding(facts, chosen, spans),
        zone=asking.zone,
        filters=asked.filters,
        sort="" if asked.sort == "name" else asked.sort,
        problems=asked.problems,
        figures=_figures(facts, chosen, spans),
        pools=_pool_rows(facts, chosen, spans, (asked, asking)),
        columns=_columns(asked),
        nodes=rows,
        nodes_said=_said(len(found), page, last_page),
        csv_href=asked.href("fleet-nodes"),
        before=_turned(asked, page - 1, "Previous") if page > 1 else None,
        after=_turned(asked, page + 1, "Next") if page < last_page else None,
        states=_states(spans, rows),
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
    to = facts.at.replace(minute=0, second=0, microsecond=0) + HOUR
    spans = ledger.time_of_nodes([node.id for node in nodes], to - DAY, to) if nodes else {}
    return tuple(
        NodeRow(
            name=node.name,
            href=reverse("node", args=[node.id]),
            pool=facts.pools[node.pool_id].name,
            standing=standing(node, facts.at),
            units=node.units,
            differs=differs(node),
            held=_held(node, facts),
            time=time_of(spans.get(node.id, {})),
            heard=f"{duration(facts.at - node.last_seen_at)} ago" if node.last_seen_at else "",
            last_seen_at=node.last_seen_at,
        )
        for node in nodes
    )


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
    return Standing("In service")


def differs(node: fleet.StandingNode) -> str:
    """Where what agents list is not what was declared, or waits for a person's yes."""
    parts = []
    if node.last_seen_at is not None and node.kind == "machine" and node.gpus_seen != node.units:
        parts.append(f"{node.gpus_seen} seen")
    if node.unconfirmed:
        parts.append(f"{node.unconfirmed} not confirmed")
    return ", ".join(parts)


def _held(node: fleet.StandingNode, facts: FleetFacts) -> str:
    return gpu_count(facts.held[node.id]) if node.lives(facts.at) else ""


def _yesterday(asking: Asking) -> date:
    return asking.at.astimezone(asking.zone).date() - DAY


def _sums(facts: FleetFacts, chosen: Iterable[fleet.PoolFact]) -> tuple[int, int, Fraction]:
    """Nodes, units and what is held of them, of the living nodes of these pools."""
    ids = {pool.id for pool in chosen}
    nodes = [node for node in facts.living if node.pool_id in ids]
    held = sum((facts.held[node.id] for node in nodes), Fraction(0))
    return len(nodes), sum(node.units for node in nodes), held


def _pooled(
    chosen: Iterable[fleet.PoolFact], spans: Mapping[int, ledger.PoolSpan]
) -> ledger.PoolSpan:
    """The time of these pools together."""
    of_pools = [spans[pool.id] for pool in chosen if pool.id in spans]
    states: dict[int, int] = {}
    for span in of_pools:
        for state, milliseconds in span.by_state.items():
            states[state] = states.get(state, 0) + milliseconds
    return ledger.PoolSpan(
        states, sum(span.held for span in of_pools), sum(span.observed for span in of_pools)
    )


def _time(span: ledger.PoolSpan) -> Time:
    return Time(
        strip=strip_of_states(by_key(span.by_state)),
        worked_ratio=time_of(span.by_state).worked_ratio,
        coverage_ratio=share(span.observed, span.held),
    )


def _finding(
    facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Mapping[int, ledger.PoolSpan]
) -> str:
    _, units, held = _sums(facts, chosen)
    where = f" of {chosen[0].name}" if len(chosen) == 1 and len(facts.pools) > 1 else ""
    if not units:
        return f"No GPU{where} is there now."
    said = f"{per_cent(held / units)} of {counted(units, 'GPU')}{where} are held now"
    worked = _time(_pooled(chosen, spans)).worked_ratio
    if worked is not None:
        said += f"; since yesterday they worked {per_cent(worked)} of the time"
    ids = {pool.id for pool in chosen}
    silent = sum(node.is_silent(facts.at) for node in facts.living if node.pool_id in ids)
    if silent:
        said += f"; {counted(silent, 'node is', 'nodes are')} silent"
    return f"{said}."


def _figures(
    facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Mapping[int, ledger.PoolSpan]
) -> tuple[PlainFigure, ...]:
    nodes, units, held = _sums(facts, chosen)
    time = _time(_pooled(chosen, spans))
    return (
        PlainFigure(
            "GPUs", count(units), f"{counted(nodes, 'node')} of {counted(len(chosen), 'pool')}"
        ),
        PlainFigure(
            "Held now",
            per_cent(held / units if units else None),
            f"{gpu_count(held)} by jobs, {gpu_count(units - held)} free or out of service",
            is_unknown=not units,
        ),
        PlainFigure(
            "Worked",
            per_cent(time.worked_ratio),
            "of all GPU time since yesterday",
            is_unknown=time.worked_ratio is None,
        ),
        PlainFigure(
            "Coverage",
            per_cent(time.coverage_ratio),
            "of held GPU time since yesterday was observed",
            is_unknown=time.coverage_ratio is None,
        ),
    )


def _pool_rows(
    facts: FleetFacts,
    chosen: Sequence[fleet.PoolFact],
    spans: Mapping[int, ledger.PoolSpan],
    who: tuple[FleetQuestion, Asking],
) -> tuple[PoolRow, ...]:
    asked, asking = who
    clusters = fleet.clusters()
    teams = {team.id: team.name for team in accounts.teams()}
    rows = []
    for pool in sorted(chosen, key=lambda each: (each.cluster_id or 0, each.name.casefold())):
        nodes, units, held = _sums(facts, [pool])
        owner = pool.owner_team_id
        rows.append(
            PoolRow(
                name=pool.name,
                href=asked.href(pool=pool.name, show=""),
                cluster=clusters[pool.cluster_id].name if pool.cluster_id else "",
                gpu_model=pool.gpu_model,
                owner=teams.get(owner, "") if owner and asking.viewer.sees_team(owner) else "",
                nodes=nodes,
                units=units,
                held=gpu_count(held),
                time=_time(spans.get(pool.id, ledger.PoolSpan())),
                silent=sum(
                    node.is_silent(facts.at) for node in facts.living if node.pool_id == pool.id
                ),
            )
        )
    return tuple(rows)


def _columns(asked: FleetQuestion) -> tuple[FleetColumn, ...]:
    return (
        _column("name", "Node", asked),
        _column("pool", "Pool", asked),
        FleetColumn("State"),
        _column("units", "GPUs", asked, is_number=True),
        _column("held", "Held now", asked, is_number=True),
        FleetColumn("Last 24 hours"),
        FleetColumn("Worked", is_number=True),
        FleetColumn("Coverage", is_number=True),
        _column("seen", "Last heard", asked),
    )


def _column(key: str, text: str, asked: FleetQuestion, *, is_number: bool = False) -> FleetColumn:
    is_chosen = key == asked.sort_key
    is_descending = asked.sort.startswith("-")
    turned = key if is_chosen and is_descending else f"-{key}"
    first = f"-{key}" if is_number else key
    return FleetColumn(
        text=text,
        href=asked.href(sort=turned if is_chosen else first),
        order=("descending" if is_descending else "ascending") if is_chosen else "",
        is_number=is_number,
    )


def _said(found: int, page: int, last_page: int) -> str:
    return counted(found, "node") + (f", page {page} of {last_page}" if last_page > 1 else "")


def _turned(asked: FleetQuestion, page: int, text: str) -> Link:
    return Link(text, asked.href(page=str(page)))


def _states(
    spans: Mapping[int, ledger.PoolSpan], rows: Sequence[NodeRow]
) -> tuple[StateWords, ...]:
    keys = {key for span in spans.values() for key in by_key(span.by_state)}
    strips = [row.time.strip for row in rows if row.time.strip]
    keys |= {part.state.key for strip in strips for part in strip.parts}
    return key_of(keys & {state.key for state in STATES})
