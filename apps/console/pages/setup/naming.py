"""Nodes that schedulers named: a person says which of them are of which pool, from when to when."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import Locale
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import PickField, TicksField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context
from apps.console.kit.table import Table
from apps.console.pages.setup.new_nodes import (
    ENDED_BEFORE,
    NodesToAdd,
    add_pool_link,
    life_fields,
    life_of,
    no_pool_yet,
    node_effects,
    record_nodes,
    refuse_overlapping_nodes,
)
from apps.console.pages.setup.question_kind import PER_PAGE
from apps.console.pages.setup.questions import recount
from apps.economics.hours import hour_of
from apps.economics.refusal import Refusal
from apps.fleet.actions import NewNode
from apps.fleet.queries import PoolFact, pools
from apps.show.amounts import counted
from apps.workloads.queries import UnknownNodeName, unknown_nodes

LONG_OVER = timedelta(days=7)
"""Where the last job that names a node ended so long ago, the node is taken to have ended with it."""


class NamedNodes(NamedTuple):
    """Names that become nodes of a pool, and when the first and last of their jobs held something."""

    names: list[UnknownNodeName]
    adding: NodesToAdd
    span: tuple[datetime, datetime]


class NamingForm(ChangeForm):
    """Form of which nodes, and of which pool; from when to when comes after it."""

    node = TicksField("Nodes", is_needed=True)
    pool = PickField("Pool")


@changing(MANAGES, "setup")
def name_nodes(context: Context) -> Change[NamedNodes]:
    """Preview what the ticked names cost as nodes of the pool; then put all of them on record, or none."""
    keys, pools_by_id = named_by_key(), pools()
    unknown_names = list(keys.values())
    fitting = fitting_pools(unknown_names, pools_by_id)

    def read(entered: Mapping[str, Any]) -> NamedNodes:
        names = [keys[key] for key in entered["node"]]
        return _named_nodes(
            names, pools_by_id[int(entered["pool"])], life_of(entered, context), context
        )

    def apply(thought: NamedNodes) -> Done:
        record_nodes(thought.adding, context.at)
        recount()
        nodes = counted(len(thought.names), "node")
        message = (
            f"{nodes} of {thought.adding.pool.name} added. What their jobs held is charged in the"
        )
        return f"{message} next minutes.", ("setup",)

    return Change(
        finding="Which pool are these nodes of, and from when?",
        explanation="From that day on each costs what a node of the pool costs, until something "
        "ends it.",
        back=Link("Back to Setup", reverse("setup")),
        form=NamingForm,
        confirm="They are in this pool",
        read=read,
        effects=lambda thought: _named_effects(thought, context),
        apply=apply,
        picks={"node": named_picks(keys, context), "pool": fitting},
        initial=_days_of(unknown_names, context),
        more=life_fields(),
        empty=None if fitting else no_pool_yet(),
    )


def named_by_key() -> dict[str, UnknownNodeName]:
    """Every name that waits, by what its tick sends."""
    return {_node_key(unknown_node): unknown_node for unknown_node in unknown_nodes()}


def named_picks(keys: Mapping[str, UnknownNodeName], context: Context) -> dict[str, str]:
    """The names that a form offers: the first of them, and all that were ticked."""
    requested_keys = {*context.query.getlist("node"), *context.sent.getlist("node")}
    offered = [key for place, key in enumerate(keys) if place < PER_PAGE or key in requested_keys]
    return {key: _describe_unknown_node(keys[key]) for key in offered}


def with_ticks(
    table: Table[UnknownNodeName],
    rows: Sequence[UnknownNodeName],
    fitting: Mapping[str, str],
    context: Context,
) -> tuple[Table[UnknownNodeName], dict[str, Any]]:
    """The question's table with a tick for each name, and the entries that those ticked go with.

    None is ticked before a person ticks it, or asks for all of them.
    """
    are_ticked = context.query.get("tick") == table.name

    def ticked(row: UnknownNodeName, _: Locale) -> str:
        return format_html(
            '<label class="tick"><input type="checkbox" name="node" value="{}"{}> {}</label>',
            _node_key(row),
            " checked" if are_ticked else "",
            row.node_name,
        )

    form = NamingForm.opened(
        None,
        context,
        picks={"pool": fitting},
        initial=_days_of(rows, context),
        more=life_fields(),
    )
    name, *others = table.columns
    return replace(table, columns=(replace(name, shown=ticked), *others)), {
        "form": Link("See what they cost", reverse("name-nodes")),
        "others": (Link("They are not ours …", reverse("exclude-nodes")),),
        "fields": [field for field in form.frozen() if field.name != "node"],
        "links": (
            Link("Tick all shown", table.href(context, tick=table.name)),
            pool_link("Another pool", rows),
        ),
        "remark": "Tick the nodes of one pool. Nothing costs anything before you have seen how "
        "much, and confirmed it. Those that are not yours are asked about no more once you say why.",
    }


def pool_link(text: str, rows: Sequence[UnknownNodeName], back_to: str = "setup") -> Link:
    """The way to a new pool that is as far known as these names tell; there may be none."""
    types = {row.gpu_type for row in rows}
    return add_pool_link(
        text,
        cluster=rows[0].cluster_id if rows else "",
        gpu_model=types.pop() if len(types) == 1 else "",
        gpus_per_node=max((row.gpus for row in rows), default=0),
        back_to=back_to,
    )


def fitting_pools(
    names: Sequence[UnknownNodeName], pools_by_id: Mapping[int, PoolFact]
) -> dict[str, str]:
    """Pools that say how many GPUs a node has, of a cluster that names nodes or of none, by id."""
    clusters = {None, *(name.cluster_id for name in names)}
    fitting = [
        pool for pool in pools_by_id.values() if pool.gpus_per_node and pool.cluster_id in clusters
    ]
    return {str(pool.id): pool.name for pool in sorted(fitting, key=lambda pool: pool.name)}


def _named_nodes(
    names: list[UnknownNodeName],
    pool: PoolFact,
    life: tuple[datetime, datetime | None],
    context: Context,
) -> NamedNodes:
    """Refuses pools of another cluster, and names that live then."""
    for name in names:
        if pool.cluster_id not in (None, name.cluster_id):
            raise Refusal("pool", f"{pool.name} is not of the cluster {name.cluster}")
    nodes = tuple(
        NewNode(
            name=name.node_name,
            pool_id=pool.id,
            started_at=life[0],
            units=pool.gpus_per_node,
            cluster_id=name.cluster_id,
            ended_at=life[1],
            end_reason=ENDED_BEFORE if life[1] else "",
        )
        for name in names
    )
    refuse_overlapping_nodes(nodes, context.at, "node")
    # Charged hours are whole: what it costs until now is the same from the look to the confirming.
    until = hour_of(context.at)
    ends = [min(name.last_at or until, until) for name in names]
    return NamedNodes(
        names,
        NodesToAdd(pool, nodes),
        (min(unknown_name.first_at for unknown_name in names), max(ends)),
    )


def _node_key(name: UnknownNodeName) -> str:
    return f"{name.cluster_id}/{name.node_name}"


def _describe_unknown_node(name: UnknownNodeName) -> str:
    gpu_words = f"{counted(name.gpus, 'GPU')} held" if name.gpus else "no GPU held"
    return f"{name.node_name} ({name.cluster}, {gpu_words})"


def _days_of(names: Sequence[UnknownNodeName], context: Context) -> dict[str, str]:
    """The day of the first job that names one; the day after the last, where that is long over."""
    if not names:
        return {}
    first = min(name.first_at for name in names).astimezone(context.zone).date()
    ends = [name.last_at for name in names]
    last = max((end for end in ends if end is not None), default=context.at)
    is_over = None not in ends and context.at - last > LONG_OVER
    day_after = last.astimezone(context.zone).date() + timedelta(days=1)
    return {"from": first.isoformat(), "until": day_after.isoformat() if is_over else ""}


def _named_effects(thought: NamedNodes, context: Context) -> ChangePreview:
    """Preview what the nodes come to, whose jobs are put on them, and what speaks against it."""
    pool, names = thought.adding.pool, thought.names
    effects = [*node_effects(thought.adding, context, thought.span)]
    jobs = sum(name.allocations for name in names)
    effects.insert(1, f"{counted(jobs, 'job')} that waited for them hold their GPUs from then on.")
    larger = [name for name in names if name.gpus > pool.gpus_per_node]
    if larger:
        effects.append(
            f"Look again: jobs held {larger[0].gpus} GPUs of {larger[0].node_name} at once, and a "
            f"node of {pool.name} has {pool.gpus_per_node}."
        )
    without = [name.node_name for name in names if not name.gpus]
    if without and not pool.counts_cores:
        effects.append(f"Look again: no job held a GPU of {', '.join(without[:5])}.")
    return ChangePreview(effects)
