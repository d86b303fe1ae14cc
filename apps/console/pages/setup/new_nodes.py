"""Nodes that are put on record: by hand here, or by the names that schedulers told; and what they
would cost, which is said first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import (
    DayField,
    LinesField,
    NonNegativeIntegerField,
    PickField,
    day_of,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import MANAGES, Context
from apps.console.pages.pool_links import pool_href
from apps.console.pages.setup.questions import recount
from apps.economics.hours import first_hour, hour_of
from apps.economics.jobs import FieldUnreadable
from apps.economics.node_lists import expand
from apps.economics.refusal import Refusal
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.fleet.queries import PoolFact
from apps.pricing.queries.what_if import cost_of_added_nodes
from apps.show.amounts import counted
from apps.show.money import rounded_amount
from apps.show.time import day

DAY = timedelta(days=1)
MONTH_OF_DAYS = 30
NAMED_MOST = 12
NODES_AT_ONCE = 5000
MOST_UNITS = 9999
ENDED_BEFORE = "ended before it was added"
LINES_HINT = (
    "One a line, or as Slurm writes them: gpu-[01-16]. After commas a line may say its own first "
    "day, its count of GPUs and what its provider calls it: gpu-17,2026-11-01,4,i-0abc."
)


def life_fields() -> dict[str, DayField]:
    """From when to when nodes live, at the end of a form."""
    until_hint = "The day on which they were gone. Empty: they still run."
    return {
        "from": DayField("From", "The first day on which they cost something."),
        "until": DayField("Until", until_hint, is_needed=False),
    }


class NodesToAdd(NamedTuple):
    """New nodes of a pool."""

    pool: PoolFact
    nodes: tuple[actions.NewNode, ...]


class WrittenNode(NamedTuple):
    """A line of a list of nodes; what it does not say is None."""

    name: str
    first_day: date | None
    units: int | None
    provider_id: str = ""


def written_nodes(text: str) -> list[WrittenNode]:
    """Reads such a list; ValueError in a sentence names the line that is none."""
    nodes: list[WrittenNode] = []
    for number, line in enumerate(text.splitlines(), 1):
        names, _, remainder = line.partition(",") if "[" not in line else _after_brackets(line)
        cells = [cell.strip() for cell in remainder.split(",")] if remainder.strip() else []
        try:
            first_day = day_of(cells[0]) if cells and cells[0] else None
            units = _units_of(cells[1]) if len(cells) > 1 else None
            if len(cells) > 3:
                raise ValueError("Say a name, a first day, a count and its provider's id.")
            provider_id = cells[2] if len(cells) > 2 else ""
            expanded = expand(names.strip(), field_name="Nodes") if names.strip() else ()
        except (ValueError, FieldUnreadable) as problem:
            raise ValueError(f"Line {number}: {problem}") from None
        if provider_id and len(expanded) > 1:
            raise ValueError(
                f"Line {number}: {provider_id} is one node's, and the line names {len(expanded)}."
            )
        if len(nodes) + len(expanded) > NODES_AT_ONCE:
            raise ValueError(f"At most {NODES_AT_ONCE:,} nodes are added at once: divide the list.")
        nodes += [WrittenNode(name, first_day, units, provider_id) for name in expanded]
    if not nodes:
        raise ValueError("Name at least one node.")
    counts = Counter(node.name for node in nodes)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"Named twice: {', '.join(twice[:NAMED_MOST])}.")
    return nodes


class NewNodesForm(ChangeForm):
    """Names of nodes and their pool."""

    asked_by = ("nodes",)

    nodes = LinesField("Nodes", written_nodes, LINES_HINT)
    pool = PickField("Pool")
    units = NonNegativeIntegerField("GPUs of a node", "Empty: as many as the pool says.")


@changing(MANAGES, "fleet")
def add_nodes(context: Context) -> Change[NodesToAdd]:
    """Says what the nodes would cost, then puts all of them on record, or none."""
    pools_by_id = fleet.pools()

    def read(entered: Mapping[str, Any]) -> NodesToAdd:
        pool = pools_by_id[int(entered["pool"])]
        entered_units = entered["units"]
        units = (
            pool.gpus_per_node
            if entered_units is None
            else check_unit_count("units", entered_units)
        )
        if not units:
            raise Refusal("units", f"{pool.name} does not say how many GPUs a node of it has")
        life = life_of(entered, context)
        nodes = tuple(
            actions.NewNode(
                name=node.name,
                pool_id=pool.id,
                started_at=first_hour(node.first_day, context.organisation.zone)
                if node.first_day
                else life[0],
                units=node.units or units,
                cluster_id=pool.cluster_id,
                provider_id=node.provider_id,
                ended_at=life[1],
                end_reason=ENDED_BEFORE if life[1] else "",
            )
            for node in entered["nodes"]
        )
        refuse_overlapping_nodes(nodes, context.at, "nodes")
        return NodesToAdd(pool, nodes)

    def apply(adding: NodesToAdd) -> Done:
        record_nodes(adding, context.at)
        recount()
        nodes = counted(len(adding.nodes), "node")
        return f"{nodes} of {adding.pool.name} added.", (pool_href(adding.pool.name),)

    return Change(
        finding="Add nodes",
        explanation="From its first day on each costs what a node of its pool costs, until "
        "something ends it.",
        back=Link("Back to nodes and GPUs", reverse("fleet")),
        form=NewNodesForm,
        confirm="Put them on record",
        read=read,
        effects=lambda adding: node_effects(adding, context),
        apply=apply,
        picks={"pool": {str(pool.id): pool.name for pool in pools_by_id.values()}},
        initial={"from": context.calendar.today.isoformat()},
        more=life_fields(),
        empty=None if pools_by_id else no_pool_yet(),
    )


def no_pool_yet() -> EmptyState:
    """Return the empty state of what comes before nodes: a pool."""
    return EmptyState(
        "They need a pool first",
        "A pool is nodes of one model and one price.",
        (Step("Say what its nodes have in common.", link=add_pool_link()),),
    )


def add_pool_link(text: str = "Add a pool", **filled: object) -> Link:
    """The way to the form of a new pool, with what is known already."""
    query = urlencode({name: value for name, value in filled.items() if value})
    return Link(text, f"{reverse('add-pool')}{f'?{query}' if query else ''}")


def life_of(entered: Mapping[str, Any], context: Context) -> tuple[datetime, datetime | None]:
    """From when to when nodes live, by the entries of `life_fields`; refuses by their names."""
    zone = context.organisation.zone
    since = first_hour(entered["from"], zone)
    until = None if entered["until"] is None else first_hour(entered["until"], zone)
    if until is not None and until > context.at:
        raise Refusal("until", "this lies in the future; say it when it has happened")
    if until is not None and until <= since:
        raise Refusal("until", "they end after they begin")
    if since > context.at:
        raise Refusal("from", "a node costs money from a day that was")
    return since, until


def refuse_overlapping_nodes(nodes: Sequence[actions.NewNode], at: datetime, field: str) -> None:
    """Refuse what adding them would refuse: a name that lives then, a life that lies ahead."""
    lifetimes_by_name = fleet.nodes_named(nodes[0].cluster_id, [node.name for node in nodes])
    for node in nodes:
        if node.started_at > at or (node.ended_at and node.ended_at <= node.started_at):
            raise Refusal(field, f"{node.name} would begin in the future, or after its end")
        for _, began_at, ended_at in lifetimes_by_name.get(node.name, ()):
            begins_before = ended_at is None or node.started_at < ended_at
            if begins_before and (node.ended_at is None or began_at < node.ended_at):
                raise Refusal(field, f"{node.name} is on record then already")


def first_names(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - NAMED_MOST} more" if len(names) > NAMED_MOST else ""
    return ", ".join(names[:NAMED_MOST]) + more


def check_unit_count(field: str, count: int) -> int:
    """How many GPUs or cores somebody says that a node has; refuses what no node has."""
    if not 1 <= count <= MOST_UNITS:
        raise Refusal(field, f"a node has 1 to {MOST_UNITS:,}")
    return count


def node_effects(
    adding: NodesToAdd, context: Context, span: tuple[datetime, datetime] | None = None
) -> tuple[str, ...]:
    """Return what the nodes come to a day, a month, and up to now, and in the `span` of a file's jobs."""
    pool, nodes = adding.pool, adding.nodes
    names = first_names([node.name for node in nodes])
    counts = sorted({node.units for node in nodes})
    size_words = (
        f"{counts[0]} {'core' if pool.counts_cores else 'GPU'}{'s' if counts[0] > 1 else ''}"
    )
    size_words = f"{size_words} each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} GPUs"
    sentences = [
        f"{counted(len(nodes), 'node')} of {pool.name} with {size_words}: {names}.",
        node_price_words(pool, len(nodes), context),
    ]
    zone, until = context.zone, hour_of(context.at)
    micros, unpriced = _cost_of_nodes(pool, nodes, None, until)
    ends = {node.ended_at for node in nodes}
    first = min(node.started_at for node in nodes).astimezone(zone).date()
    (ended_at,) = ends if len(ends) == 1 else (None,)
    if micros:
        until_words = "up to now" if ended_at is None else f"to {_dated(ended_at, context)}"
        sentences.append(
            f"From {_dated_day(first)} {until_words} they cost {rounded_amount(micros, context.currency)} by "
            "the pool’s prices, commitments aside; hours of closed months wait for corrections."
        )
    if span is not None and micros:
        within, _ = _cost_of_nodes(pool, nodes, span[0], span[1])
        sentences.append(
            f"Of that {rounded_amount(within, context.currency)} are of the time of the jobs that "
            f"name them, {_dated(span[0], context)} to {_dated(span[1], context)}."
        )
    if unpriced:
        sentences.append(f"{unpriced:,.0f} node-hours of theirs have no price yet.")
    return tuple(sentences)


def node_price_words(pool: PoolFact, count: int, context: Context) -> str:
    """Return what so many nodes of a pool cost a day and in 30 days, by prices as they stand."""
    at = hour_of(context.at)
    micros, unpriced = cost_of_added_nodes(pool, count, at, at + DAY)
    they = "A node costs" if count == 1 else "They cost"
    if unpriced or not micros:
        return (
            f"No price on record is of the pool {pool.name}: what its nodes cost is unknown until "
            "somebody says it, never nothing."
        )
    return (
        f"{they} {rounded_amount(micros, context.currency)} a day, "
        f"{rounded_amount(micros * MONTH_OF_DAYS, context.currency)} in 30 days, at the price of today."
    )


@transaction.atomic
def record_nodes(adding: NodesToAdd, at: datetime) -> None:
    """All of the nodes, or none."""
    for node in adding.nodes:
        actions.add_node(node=node, at=at)


def _cost_of_nodes(
    pool: PoolFact,
    nodes: Sequence[actions.NewNode],
    starts_at: datetime | None,
    ends_at: datetime,
) -> tuple[int, float]:
    """Micro-units, and node-hours without a price, of their lives within a span."""

    def life(node: actions.NewNode) -> tuple[int, datetime, datetime]:
        begins = max(node.started_at, starts_at or node.started_at)
        return node.units, begins, min(ends_at, node.ended_at or ends_at)

    micros, unpriced = 0, 0.0
    for (units, begins, ends), alike in groupby(sorted(nodes, key=life), key=life):
        of_pool = replace(pool, gpus_per_node=units)
        group_cost = cost_of_added_nodes(of_pool, len(list(alike)), begins, ends)
        micros, unpriced = micros + group_cost[0], unpriced + group_cost[1]
    return micros, unpriced


def _after_brackets(line: str) -> tuple[str, str, str]:
    """A line that writes names with brackets, in which commas are part of them."""
    names, bracket, remainder = line.rpartition("]")
    tail, comma, cell_text = remainder.partition(",")
    return f"{names}{bracket}{tail}", comma, cell_text


def _units_of(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MOST_UNITS):
        raise ValueError(f"{text[:20]!r} is no count of GPUs.")
    return int(text)


def _dated(at: datetime, context: Context) -> str:
    return _dated_day(at.astimezone(context.zone).date())


def _dated_day(local: date) -> str:
    return f"{day(local)} {local.year}"
