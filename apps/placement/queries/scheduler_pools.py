"""Pools of the offer book as schedulers are told of them: the cheapest first, those without a rate left out."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offer_facts import OfferFact, machine_dollars
from apps.placement.queries.pool_offers import idle_gpus
from apps.placement.queries.quote_answer import NoOfferBook
from apps.planning.queries.capacity_places import gpus_by_pool

POOL_LABEL, TEAM_LABEL = "runrate.dev/pool", "runrate.dev/team"
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
LONGEST_NAME = 50
NVIDIA_GPU, AMD_GPU = "nvidia.com/gpu", "amd.com/gpu"


class SchedulerNotUnderstood(Refusal):
    """There is no such cluster, or nothing can be told of it."""


@dataclass(frozen=True, slots=True)
class ScheduledPool:
    """A pool with a rate. `name` is one of Kubernetes, `most_gpus` all that may be held of it at once; None: nothing bounds it."""

    name: str
    offer: OfferFact
    resource: str
    most_gpus: int | None

    @property
    def micros(self) -> int:
        """Return the cost of a GPU-hour more, in micro-units of the organisation's currency."""
        return self.offer.micros or 0

    def dollars_an_hour(self, per_dollar: Decimal) -> Decimal:
        """Of a whole machine, to the millionth."""
        return machine_dollars(self.micros, self.offer.gpus_per_node, per_dollar)


@dataclass(slots=True)
class SchedulerDocuments:
    """Documents that a scheduler is given, by which book, and in words what is not in them and what is left to do."""

    made_at: datetime
    digest: str
    documents: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScheduledPools:
    """Pools by what a GPU-hour more costs, then by what one costs anyway, then by name."""

    book: BookFact
    pools: list[ScheduledPool]
    notes: list[str]

    def documents(self) -> SchedulerDocuments:
        """None yet."""
        return SchedulerDocuments(self.book.made_at, self.book.digest, notes=list(self.notes))


def scheduled_pools(cluster: str = "") -> ScheduledPools:
    """Those of a cluster, or of all. Refuses NoOfferBook, SchedulerNotUnderstood."""
    book = newest_book()
    if book is None:
        raise NoOfferBook("", "no offer book was made yet: a worker makes one every hour")
    clusters = {fact.name: fact.id for fact in fleet.clusters().values()}
    if cluster and cluster not in clusters:
        raise SchedulerNotUnderstood("cluster", f"there is no cluster named {cluster!r}")
    pools = fleet.pools()
    there, idle = gpus_by_pool(book.made_at), idle_gpus(book.made_at)
    entries: list[ScheduledPool] = []
    notes: list[str] = []
    for offer in book.offers.values():
        pool = pools.get(offer.pool_id or 0)
        if pool is None or (cluster and pool.cluster_id != clusters[cluster]):
            continue
        resource = _resource_of(offer.gpu_model)
        if offer.micros is None or resource is None:
            lacks = "it has no rate" if offer.micros is None else "its GPU's vendor is not known"
            notes.append(f"left out: {offer.name}, {lacks}")
            continue
        busy_gpus = there[pool.id] - idle[pool.id]
        most = offer.there_gpus if offer.there_gpus is not None else offer.free_gpus
        if most is not None and offer.there_gpus is None:
            most += busy_gpus
        name = kubernetes_name(offer.name, [entry.name for entry in entries], pool.id)
        entries.append(ScheduledPool(name, offer, resource, most))
    entries.sort(key=lambda entry: (entry.micros, entry.offer.paid_micros or 0, entry.name))
    return ScheduledPools(book, entries, notes)


def kubernetes_name(name: str, taken: Collection[str], number: int) -> str:
    """A name as a label of DNS; with a number where nothing is left of it, or another has it."""
    plain = NOT_IN_NAMES.sub("-", name.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return plain if plain and plain not in taken else f"{plain}-{number}".strip("-")


def _resource_of(gpu_model: str) -> str | None:
    """As the vendor's device plugin names it."""
    names = [model.name for model in named_gpu(gpu_model).candidates]
    resources = {AMD_GPU if name.startswith("AMD") else NVIDIA_GPU for name in names}
    return resources.pop() if len(resources) == 1 else None
