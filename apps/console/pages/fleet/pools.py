"""Pools as rows, the figures over them, and the finding: how much is held, and whether it works."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.request import Context
from apps.console.pages.fleet.facts import FleetFacts, time_in, time_together
from apps.console.pages.fleet.question import FleetQuestion
from apps.console.pages.fleet.values import PlainFigure, PoolRow
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import count, counted, gpu_count, per_cent

DAY = timedelta(days=1)
Spans = Mapping[int, ledger.PoolSpan]


def chosen_pools(facts: FleetFacts, asked: FleetQuestion) -> list[fleet.PoolFact]:
    """The pools that the address asks for."""
    return [pool for pool in facts.pools.values() if asked.pool in ("", pool.name)]


def spans_since_yesterday(context: Context) -> Spans:
    """What the time of each pool was, yesterday and today."""
    since: date = context.at.astimezone(context.zone).date() - DAY
    return ledger.time_of_pools(since, since + 2 * DAY)


def pool_rows(
    facts: FleetFacts, spans: Spans, asked: FleetQuestion, context: Context
) -> list[PoolRow]:
    """By cluster, then name; an owner is told to those who may know it."""
    clusters = fleet.clusters()
    teams = {team.id: team.name for team in accounts.teams() if context.viewer.sees_team(team.id)}
    chosen = chosen_pools(facts, asked)
    rows = []
    for pool in sorted(chosen, key=lambda each: (each.cluster_id or 0, each.name.casefold())):
        holdings, owner = facts.of([pool]), pool.owner_team_id or 0
        rows.append(
            PoolRow(
                name=pool.name,
                href=asked.href(pool=pool.name, show="", part="nodes"),
                cluster=clusters[pool.cluster_id].name if pool.cluster_id else "",
                gpu_model=pool.gpu_model,
                owner=teams.get(owner, ""),
                owner_href=reverse("costs-team", args=[owner]) if owner in teams else "",
                nodes=holdings.nodes,
                units=holdings.units,
                held=gpu_count(holdings.held),
                held_units=holdings.held,
                time=time_in(spans.get(pool.id, ledger.PoolSpan()), [pool]),
                silent=holdings.silent,
                silent_href=asked.href(pool=pool.name, show="trouble", part="nodes"),
            )
        )
    return rows


def finding(facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Spans) -> str:
    """How much is held now, how much of it was active, and who is silent."""
    holdings = facts.of(chosen)
    where = f" of {chosen[0].name}" if len(chosen) == 1 and len(facts.pools) > 1 else ""
    if not holdings.units:
        return f"No GPU{where} is there now."
    part = per_cent(holdings.held / holdings.units)
    said = f"{part} of {counted(holdings.units, _unit(chosen))}{where} are held now"
    active = time_in(time_together(chosen, spans), chosen).active_ratio
    if active is not None:
        said += f"; since yesterday {per_cent(active)} of their time was active"
    if holdings.silent:
        said += f"; {counted(holdings.silent, 'node is', 'nodes are')} silent"
    return f"{said}."


def _unit(chosen: Sequence[fleet.PoolFact]) -> str:
    """What is counted of these pools: cores only where there is nothing else."""
    return "core" if chosen and all(pool.counts_cores for pool in chosen) else "GPU"


def figures(
    facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Spans, asked: FleetQuestion
) -> tuple[PlainFigure, ...]:
    """Four figures, each leading to the rows that it sums."""
    holdings, time = facts.of(chosen), time_in(time_together(chosen, spans), chosen)
    free = holdings.units - holdings.held
    return (
        PlainFigure(
            "Cores" if _unit(chosen) == "core" else "GPUs",
            count(holdings.units),
            f"{counted(holdings.nodes, 'node')} of {counted(len(chosen), 'pool')}",
            href=asked.href(show="", sort="-units", part="nodes"),
        ),
        PlainFigure(
            "Held now",
            per_cent(holdings.held / holdings.units if holdings.units else None),
            f"{gpu_count(holdings.held)} by jobs, {gpu_count(free)} not held by a job",
            is_unknown=not holdings.units,
            href=asked.href(show="", sort="-held", part="nodes"),
        ),
        PlainFigure(
            "Active",
            per_cent(time.active_ratio),
            "of all GPU time since yesterday",
            is_unknown=time.active_ratio is None,
            href="#pools",
        ),
        PlainFigure(
            "Coverage",
            per_cent(time.coverage_ratio),
            "of held GPU time since yesterday was observed",
            is_unknown=time.coverage_ratio is None,
            href="#pools",
        ),
    )
