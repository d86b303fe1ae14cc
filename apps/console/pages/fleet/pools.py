"""Pools as rows, the figures over them, and the finding: how much is held, and whether it works."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import COUNT, FIGURE, RATIO, linked, warned
from apps.console.kit.chart import Figure
from apps.console.kit.frame import Link
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.fleet.facts import (
    FleetFacts,
    FleetQuestion,
    Holdings,
    time_in,
    time_together,
)
from apps.console.pages.fleet.hours import GpuTime, strip_cell
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.cube import filter_word
from apps.show.amounts import count, counted, gpu_count, per_cent
from apps.tables.column import Column

DAY = timedelta(days=1)
Spans = Mapping[int, ledger.PoolSpan]


class ListedPool(NamedTuple):
    """A pool and its living nodes; `owner` is None where it is another team's."""

    pool: fleet.PoolFact
    cluster: str
    owner: Link | None
    holdings: Holdings
    time: GpuTime
    asked: FleetQuestion

    def href(self, show: str = "") -> str:
        """Its nodes in the list below."""
        return self.asked.href(part="nodes", pool=filter_word(self.pool.name), show=show)


def _silent_nodes(row: ListedPool) -> str:
    silent = row.holdings.silent
    return warned(linked(f"{silent:,} silent", row.href("trouble"))) if silent else ""


POOLS = Table[ListedPool](
    "pools",
    "By pool",
    (
        Column("name", "Pool", lambda row: row.pool.name, csv="pool", href=lambda row: row.href(),
               note=lambda row: linked(row.owner.text, row.owner.href) if row.owner else ""),
        Column("cluster", "Cluster", lambda row: row.cluster,
               order=lambda row: row.cluster or None),
        Column("model", "GPU model", lambda row: row.pool.gpu_model, csv="gpu_model"),
        Column("owner", "", lambda row: row.owner.text if row.owner else ""),
        Column("nodes", "Nodes", lambda row: row.holdings.nodes, COUNT, note=_silent_nodes),
        Column("silent_nodes", "", lambda row: row.holdings.silent, COUNT),
        Column("units", "GPUs", lambda row: row.holdings.units, COUNT, csv="gpus"),
        Column("held", "Held now", lambda row: gpu_count(row.holdings.held), FIGURE,
               csv="held_now", order=lambda row: row.holdings.held),
        Column("time", "Since yesterday", lambda row: None, csv="", sorts=False,
               shown=lambda row, _: strip_cell(row.time)),
        Column("active", "Active", lambda row: row.time.active_ratio, RATIO,
               csv="active_ratio_since_yesterday"),
        Column("coverage", "Coverage", lambda row: row.time.coverage_ratio, RATIO,
               csv="coverage_ratio_since_yesterday"),
    ),
    about="nodes in service; held now; active of all their GPU time, yesterday and today as far "
    "as settled",
    sort="pools",
)  # fmt: skip


def chosen_pools(facts: FleetFacts, question: FleetQuestion) -> list[fleet.PoolFact]:
    """The pools that the address asks for."""
    return [pool for pool in facts.pools.values() if question.has_pool(pool.id)]


def spans_since_yesterday(context: Context) -> Spans:
    """Return what the time of each pool was, yesterday and today."""
    since: date = context.at.astimezone(context.zone).date() - DAY
    return ledger.time_of_pools(since, since + 2 * DAY)


def listed_pools(
    facts: FleetFacts, spans: Spans, question: FleetQuestion, context: Context
) -> list[ListedPool]:
    """By cluster, then name; an owner is told to those who may know it."""
    clusters = fleet.clusters()
    owners = {
        team.id: Link(team.name, context.onward(reverse("costs-team", args=[team.id])))
        for team in accounts.teams()
        if context.viewer.sees_team(team.id)
    }
    chosen = chosen_pools(facts, question)
    return [
        ListedPool(
            pool,
            clusters[pool.cluster_id].name if pool.cluster_id else "",
            owners.get(pool.owner_team_id or 0),
            facts.of([pool]),
            time_in(spans.get(pool.id, ledger.PoolSpan()), [pool]),
            question,
        )
        for pool in sorted(
            chosen, key=lambda pool_fact: (pool_fact.cluster_id or 0, pool_fact.name.casefold())
        )
    ]


def finding(facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Spans) -> str:
    """How much is held now, how much of it was active, and who is silent."""
    holdings = facts.of(chosen)
    where = f" of {chosen[0].name}" if len(chosen) == 1 and len(facts.pools) > 1 else ""
    if not holdings.units:
        return f"No GPU{where} is there now."
    part = per_cent(holdings.held / holdings.units)
    sentence = f"{part} of {counted(holdings.units, _unit_of(chosen))}{where} are held now"
    active = time_in(time_together(chosen, spans), chosen).active_ratio
    if active is not None:
        sentence += f"; since yesterday {per_cent(active)} of their time was active"
    if holdings.silent:
        sentence += f"; {counted(holdings.silent, 'node is', 'nodes are')} silent"
    return f"{sentence}."


def _unit_of(chosen: Sequence[fleet.PoolFact]) -> str:
    """Return the unit that is counted of these pools: cores only where there is nothing else."""
    return "core" if chosen and all(pool.counts_cores for pool in chosen) else "GPU"


def figures(
    facts: FleetFacts, chosen: Sequence[fleet.PoolFact], spans: Spans, question: FleetQuestion
) -> tuple[Figure, ...]:
    """Four figures, each leading to the rows that it sums."""
    holdings, time = facts.of(chosen), time_in(time_together(chosen, spans), chosen)
    free = holdings.units - holdings.held
    return (
        Figure(
            "Cores" if _unit_of(chosen) == "core" else "GPUs",
            count(holdings.units),
            f"{counted(holdings.nodes, 'node')} of {counted(len(chosen), 'pool')}",
            href=question.href(show="", sort="-units", part="nodes"),
        ),
        Figure(
            "Held now",
            per_cent(holdings.held / holdings.units if holdings.units else None),
            f"{gpu_count(holdings.held)} by jobs, {gpu_count(free)} not held by a job",
            is_unknown=not holdings.units,
            href=question.href(show="", sort="-held", part="nodes"),
        ),
        Figure(
            "Active",
            per_cent(time.active_ratio),
            "of all GPU time since yesterday",
            is_unknown=time.active_ratio is None,
            href="#pools",
        ),
        Figure(
            "Coverage",
            per_cent(time.coverage_ratio),
            "of held GPU time since yesterday was observed",
            is_unknown=time.coverage_ratio is None,
            href="#pools",
        ),
    )
