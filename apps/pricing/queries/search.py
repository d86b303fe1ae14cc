"""Prices by what somebody typed, for who may read them."""

from django.db.models import Q

from apps.accounts.queries import Viewer
from apps.accounts.queries.search import Hits, Kind, Search, SearchHit, about, hits
from apps.pricing.models import Rate

NAMED_BY = ("pool__name", "instance_type", "gpu_model", "provider", "source")


def search_rates(viewer: Viewer, query: Search) -> Hits:
    """Rates by a part of what they price, of the provider or of where they come from."""
    if not viewer.sees_prices:
        return Hits(Kind.RATE, (), has_more=False)
    named = Q()
    for field in NAMED_BY:
        named |= Q(**{f"{field}__icontains": query.text})
    rows = Rate.objects.filter(named).order_by("target", "-id")
    columns = ("id", *NAMED_BY[:4], "region", "kind", "purchase_option")
    matches = (
        SearchHit(
            id_,
            pool or instance_type or gpu_model,
            about(provider, region, f"{kind} price", option.replace("_", " ")),
        )
        for id_, pool, instance_type, gpu_model, provider, region, kind, option in rows.values_list(
            *columns
        )[: query.limit + 1]
    )
    return hits(Kind.RATE, matches, query)
