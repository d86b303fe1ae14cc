"""Nodes that schedulers named: a person says which pool they are of, and from when."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import Locale
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import DayField, PickField, TicksField
from apps.console.kit.frame import Link, Step
from apps.console.kit.request import MANAGES, Context
from apps.console.kit.table import Table
from apps.console.pages.setup.questions import MANAGE, PER_PAGE, recount
from apps.economics.hours import first_hour, hour_of
from apps.economics.refusal import Refusal
from apps.fleet import actions as fleet
from apps.fleet.queries import PoolFact, pools
from apps.pricing.queries.what_if import if_nodes_lived
from apps.show.amounts import counted
from apps.show.money import whole_amount
from apps.workloads.queries import UnknownNodeName, unknown_nodes

FROM = {"from": DayField("From", "The first day on which they cost something.")}
NAMED_MOST = 12


class NamedNodes(NamedTuple):
    """Names that become nodes of a pool."""

    names: list[UnknownNodeName]
    pool: PoolFact
    since: datetime


class NamingForm(ChangeForm):
    """Which nodes, and of which pool; the day from which they are comes after it."""

    node = TicksField("Nodes", is_needed=True)
    pool = PickField("Pool")


@changing(MANAGES, "setup")
def name_nodes(context: Context) -> Change[NamedNodes]:
    """What the ticked names cost as nodes of the pool; then puts all of them on record, or none."""
    found, known = unknown_nodes(), pools()
    asked = {*context.query.getlist("node"), *context.sent.getlist("node")}
    keys = {_node_key(each): each for each in found}
    offered = [*list(keys)[:PER_PAGE], *(key for key in list(keys)[PER_PAGE:] if key in asked)]

    def read(entered: Mapping[str, Any]) -> NamedNodes:
        pool = known[int(entered["pool"])]
        since = first_hour(entered["from"], context.organisation.zone)
        if since > context.at:
            raise Refusal("from", "a node costs money from a day that was")
        names = [keys[key] for key in entered["node"]]
        for name in names:
            if pool.cluster_id not in (None, name.cluster_id):
                raise Refusal("pool", f"{pool.name} is not of the cluster {name.cluster}")
        return NamedNodes(names, pool, since)

    def apply(thought: NamedNodes) -> Done:
        _add_nodes(thought, context.at)
        recount()
        nodes = counted(len(thought.names), "node")
        done = f"{nodes} of {thought.pool.name} added. Their jobs are put on them within a minute."
        return done, ("setup",)

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
        picks={
            "node": {key: f"{keys[key].node_name} ({keys[key].cluster})" for key in offered},
            "pool": fitting_pools(found, known),
        },
        more=FROM,
    )


def with_ticks(
    table: Table[UnknownNodeName],
    rows: Sequence[UnknownNodeName],
    fitting: Mapping[str, str],
    context: Context,
) -> tuple[Table[UnknownNodeName], dict[str, Any]]:
    """The question's table with each name ticked, and the entries that the ticked ones are sent with."""

    def ticked(row: UnknownNodeName, _: Locale) -> str:
        return format_html(
            '<label class="tick"><input type="checkbox" name="node" value="{}" checked> {}</label>',
            _node_key(row),
            row.node_name,
        )

    first = min(row.first_at for row in rows).astimezone(context.zone).date()
    form = NamingForm.opened(
        None, context, picks={"pool": fitting}, initial={"from": first.isoformat()}, more=FROM
    )
    name, *others = table.columns
    return replace(table, columns=(replace(name, shown=ticked), *others)), {
        "form": Link("See what they cost", reverse("name-nodes")),
        "fields": [field for field in form.frozen() if field.name != "node"],
        "remark": "Tick the nodes of one pool.",
    }


def fitting_pools(
    names: Sequence[UnknownNodeName], known: Mapping[int, PoolFact]
) -> dict[str, str]:
    """Pools that say how many GPUs a node has, of a cluster that names nodes or of none, by id."""
    clusters = {None, *(name.cluster_id for name in names)}
    fitting = [
        each for each in known.values() if each.gpus_per_node and each.cluster_id in clusters
    ]
    return {str(pool.id): pool.name for pool in sorted(fitting, key=lambda pool: pool.name)}


def pool_first(cluster: str) -> Step:
    """How such a pool is made."""
    command = (
        f"{MANAGE} add_pool POOL --cluster {cluster} --provider own --purchase-option owned "
        '--gpu-model "NVIDIA H100 80GB HBM3" --gpus-per-node 8'
    )
    return Step("They need a pool first: nodes of one model and one price.", command=command)


def _node_key(name: UnknownNodeName) -> str:
    return f"{name.cluster_id}/{name.node_name}"


def _named_effects(thought: NamedNodes, context: Context) -> tuple[str, ...]:
    """What the nodes come to by now, and whose jobs are put on them."""
    pool, count, until = thought.pool, len(thought.names), hour_of(context.at)
    micros, unpriced = if_nodes_lived(pool, count, thought.since, until)
    names = ", ".join(name.node_name for name in thought.names[:NAMED_MOST])
    more = f" and {count - NAMED_MOST} more" if count > NAMED_MOST else ""
    said = [
        f"{counted(count, 'node')} of {pool.name} with {pool.gpus_per_node} GPUs each: "
        f"{names}{more}.",
        f"{counted(sum(name.allocations for name in thought.names), 'job')} that "
        "waited for them hold their GPUs from then on.",
    ]
    if micros:
        amount = whole_amount(micros, context.currency)
        said.append(
            f"By the pool’s prices they cost {amount} up to now, commitments aside; hours of "
            "closed months wait for corrections."
        )
    if unpriced:
        said.append(f"{unpriced:,.0f} node-hours of theirs have no price yet.")
    return tuple(said)


@transaction.atomic
def _add_nodes(thought: NamedNodes, at: datetime) -> None:
    for name in thought.names:
        node = fleet.NewNode(
            name=name.node_name,
            pool_id=thought.pool.id,
            started_at=thought.since,
            units=thought.pool.gpus_per_node,
            cluster_id=name.cluster_id,
        )
        fleet.add_node(node=node, at=at)
