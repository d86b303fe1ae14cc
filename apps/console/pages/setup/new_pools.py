"""Adding a pool, with its cluster where that is new; what its nodes would cost is said first."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from django.db import transaction
from django.urls import reverse

from apps.accounts.queries import teams
from apps.accounts.queries.facts import field_names, fields_of
from apps.console.kit.change import Change, Done, changing
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import NonNegativeIntegerField, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context
from apps.console.pages.pool_links import pool_href
from apps.console.pages.setup.new_nodes import check_unit_count, node_price_words
from apps.console.pages.setup.questions import recount
from apps.economics.refusal import Refusal
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.fleet.queries.pool_facts import EnteredPool, PoolFact
from apps.show.words import option_words


class PoolForm(FormOf[EnteredPool]):
    """Form of what the nodes of a pool have in common."""

    # A link fills in what an accounting file told; only a name asks for an answer.
    asked_by = ("name",)
    cluster = PickField("Cluster", hint="Names of jobs and nodes are distinct within one.")
    new_cluster = TextField("Or a new cluster", "As its scheduler is called. Empty: no new one.")
    gpus_per_node = NonNegativeIntegerField("How many of them a node has", is_needed=True)
    owner = PickField("Owner team", hint="Time not held by a job is theirs.")
    field_order = (
        "name",
        "cluster",
        "new_cluster",
        "unit",
        "gpus_per_node",
        "gpu_model",
        "purchase_option",
        "provider",
        "region",
        "instance_type",
        "owner",
    )


class PoolToAdd(NamedTuple):
    """A pool, and the name of the cluster that is added with it; empty: none is."""

    pool: EnteredPool
    new_cluster: str


@changing(MANAGES, "fleet")
def add_pool(context: Context) -> Change[PoolToAdd]:
    """Says what the pool's nodes would cost, then adds it."""
    clusters = {str(cluster.id): cluster.name for cluster in fleet.clusters().values()}
    owners = {str(team.id): team.name for team in teams() if team.kind == "team"}

    def apply(adding: PoolToAdd) -> Done:
        _add_pool(adding, context)
        recount()
        message = f"{adding.pool.name} is added. It costs nothing until it has nodes."
        return message, (pool_href(adding.pool.name),)

    return Change(
        finding="Add a pool",
        explanation="A pool is nodes of one model and one price. It costs nothing until it has "
        "nodes.",
        back=Link("Back to nodes and GPUs", reverse("fleet")),
        form=PoolForm,
        confirm="Add this pool",
        read=_pool_of,
        effects=lambda adding: _pool_effects(adding, clusters, owners, context),
        apply=apply,
        picks={
            "cluster": {"": "none, or a new one", **clusters},
            "owner": {"": "Platform", **owners},
        },
    )


def _pool_of(entered: Mapping[str, Any]) -> PoolToAdd:
    if any(pool.name == entered["name"] for pool in fleet.pools().values()):
        raise Refusal("name", f"there is a pool named {entered['name']!r} already")
    if entered["cluster"] and entered["new_cluster"]:
        raise Refusal("new_cluster", "choose a cluster, or name a new one; not both")
    check_unit_count("gpus_per_node", entered["gpus_per_node"])
    columns = {name: value for name, value in entered.items() if name in field_names(EnteredPool)}
    pool = EnteredPool(
        **columns,
        cluster_id=int(entered["cluster"]) if entered["cluster"] else None,
        owner_team_id=int(entered["owner"]) if entered["owner"] else None,
    )
    return PoolToAdd(pool, entered["new_cluster"])


def _pool_effects(
    adding: PoolToAdd, clusters: Mapping[str, str], owners: Mapping[str, str], context: Context
) -> tuple[str, ...]:
    pool = adding.pool
    model = pool.gpu_model or ("GPUs of unknown model" if pool.unit == "gpu" else "cores")
    cluster = adding.new_cluster or clusters.get(str(pool.cluster_id), "")
    where = f" of the cluster {cluster}" if cluster else " of no cluster: no job is on its nodes"
    sentences = [
        f"Nodes of {pool.name} have {pool.gpus_per_node} × {model} each, bought as "
        f"{option_words(pool.purchase_option).lower()}{where}.",
        f"Time not held by a job is {owners.get(str(pool.owner_team_id), 'Platform')}’s.",
    ]
    if adding.new_cluster and adding.new_cluster not in clusters.values():
        sentences.append(f"The cluster {adding.new_cluster} is added with it.")
    columns = {name: text for name, text in fields_of(pool).items() if name != "share_rule"}
    return (*sentences, node_price_words(PoolFact(id=0, **columns), 1, context))


@transaction.atomic
def _add_pool(adding: PoolToAdd, context: Context) -> None:
    columns = asdict(adding.pool)
    if adding.new_cluster:
        columns["cluster_id"] = actions.open_cluster(name=adding.new_cluster, at=context.at)
    actions.add_pool(pool=EnteredPool(**columns), at=context.at)
