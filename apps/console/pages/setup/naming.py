"""Nodes that schedulers named: a person says which pool they are of, and from when."""

from collections.abc import Collection
from datetime import date, datetime

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.queries import organisation
from apps.console.kit.request import MANAGES, shown_to
from apps.console.pages.setup.questions import recount
from apps.economics.hours import first_hour
from apps.economics.refusal import Refusal
from apps.fleet import actions as fleet
from apps.fleet.queries import PoolFact, pools
from apps.show.amounts import counted
from apps.workloads.queries import UnknownNodeName, unknown_nodes


@require_POST
@shown_to(MANAGES)
def name_nodes(request: HttpRequest) -> HttpResponse:
    """Put the ticked names on record as nodes of the pool; all of them, or none."""
    at = timezone.now()
    try:
        pool = _pool(request.POST.get("pool", ""))
        since = _since(request.POST.get("from", ""), at)
        names = _named(request.POST.getlist("node"), pool)
        _add(names, pool, since, at)
    except Refusal as refused:
        messages.warning(request, f"Nothing was changed: {refused.message}.")
    else:
        nodes = counted(len(names), "node")
        messages.success(
            request, f"{nodes} of {pool.name} added. Their jobs are put on them within a minute."
        )
        recount()
    return redirect("setup")


def _pool(text: str) -> PoolFact:
    found = {str(pool_id): pool for pool_id, pool in pools().items()}.get(text)
    if found is None:
        raise Refusal("pool", "say which pool they are of")
    if not found.gpus_per_node:
        raise Refusal("pool", f"{found.name} does not say how many GPUs a node of it has")
    return found


def _since(text: str, at: datetime) -> datetime:
    try:
        since = first_hour(date.fromisoformat(text), organisation().zone)
    except (ValueError, OverflowError):
        raise Refusal("from", "say from which day on, such as 2026-11-01") from None
    if not datetime(1970, 1, 2, tzinfo=at.tzinfo) <= since <= at:
        raise Refusal("from", "the day lies out of reach; a node costs money from a day that was")
    return since


def _named(keys: Collection[str], pool: PoolFact) -> list[UnknownNodeName]:
    chosen = set(keys)
    found = [each for each in unknown_nodes() if f"{each.cluster_id}/{each.node_name}" in chosen]
    if not found:
        raise Refusal("node", "tick the nodes that are meant")
    for each in found:
        if pool.cluster_id not in (None, each.cluster_id):
            raise Refusal("pool", f"{pool.name} is not of the cluster {each.cluster}")
    return found


@transaction.atomic
def _add(names: Collection[UnknownNodeName], pool: PoolFact, since: datetime, at: datetime) -> None:
    for each in names:
        node = fleet.NewNode(
            name=each.node_name,
            pool_id=pool.id,
            started_at=since,
            units=pool.gpus_per_node,
            cluster_id=each.cluster_id,
        )
        fleet.add_node(node=node, at=at)
