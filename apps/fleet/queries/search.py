"""Nodes, devices and pools by what somebody typed: whoever signed in may know of them."""

from django.db.models import Q
from django.db.models.functions import Lower

from apps.accounts.queries.search import Hits, Kind, Search, SearchHit, about, begins_first, hits
from apps.fleet.models import Device, Node, Pool

UUID_BEGINNINGS = ("", "gpu-", "mig-")
"""What stands before the digits of a UUID and may be left out."""


def search_nodes(query: Search) -> Hits:
    """Nodes by a part of their name."""
    rows = Node.objects.filter(name__icontains=query.text, period__isempty=False)
    ordered = rows.order_by(begins_first("name", query.text), "name", "-id")
    records = ordered.values_list("id", "name", "pool__name", "period__endswith")
    search_hits = (
        SearchHit(id_, name, about(pool, "" if ended_at is None else f"ended {ended_at:%Y-%m-%d}"))
        for id_, name, pool, ended_at in records[: query.limit + 1]
    )
    return hits(Kind.NODE, search_hits, query)


def search_devices(query: Search) -> Hits:
    """GPUs and slices by the beginning of their UUID, with or without the letters before it."""
    text = query.text.lower()
    begins = Q()
    for beginning in UUID_BEGINNINGS:
        begins |= Q(uuid_lower__startswith=beginning + text)
    rows = Device.objects.annotate(uuid_lower=Lower("uuid")).filter(begins, period__isempty=False)
    records = rows.order_by("uuid", "-id").values_list("id", "uuid", "model", "node__name")
    search_hits = (
        SearchHit(id_, uuid, about(model, f"on {node}"))
        for id_, uuid, model, node in records[: query.limit + 1]
    )
    return hits(Kind.DEVICE, search_hits, query)


def search_pools(query: Search) -> Hits:
    """Pools by a part of their name or of the model of their GPUs."""
    named = Q(name__icontains=query.text) | Q(gpu_model__icontains=query.text)
    rows = Pool.objects.filter(named).order_by(begins_first("name", query.text), "name")
    records = rows.values_list("id", "name", "gpu_model", "provider", "region")
    search_hits = (
        SearchHit(id_, name, about(*parts)) for id_, name, *parts in records[: query.limit + 1]
    )
    return hits(Kind.POOL, search_hits, query)
