"""Quotas of GPUs at once, and how much of each is used: now, and at most in the last 28 days."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated

from apps.accounts.queries.facts import facts_of
from apps.economics.hours import MILLISECOND
from apps.fleet import queries as fleet
from apps.planning.models import GpuQuota
from apps.planning.queries.hard_limit import HARD_LIMIT
from apps.show.entries import Entry

LATELY = timedelta(days=28)


@dataclass(frozen=True, slots=True)
class EnteredGpuQuota:
    """A quota as it is entered; see its table for what each field is. An empty region or model is any."""

    provider: Annotated[str, Entry("Provider", is_picked=True)]
    region: Annotated[str, Entry("Region", is_picked=True)]
    gpu_model: Annotated[str, Entry("GPU model", is_picked=True)]
    most_gpus: Annotated[int, Entry("GPUs at once, at most")]
    lead_days: Annotated[int, Entry("Days until more are granted")]
    raised_by: Annotated[str, Entry("Who raises it")] = ""
    asked_gpus: Annotated[int | None, Entry("Asked for", "GPUs at once; empty: nothing.")] = None
    asked_on: Annotated[date | None, Entry("Asked on")] = None
    note: Annotated[str, Entry("Note")] = ""
    is_hard: Annotated[bool, HARD_LIMIT] = False

    @property
    def name(self) -> str:
        """`aws us-east-1 NVIDIA L4`; what is empty is any."""
        return " ".join(filter(None, (self.provider, self.region, self.gpu_model)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuQuotaFact(EnteredGpuQuota):
    """A quota as it was entered."""

    id: int
    created_at: datetime

    @property
    def pool_ids(self) -> frozenset[int]:
        """The pools that count against it."""
        return frozenset(
            pool.id
            for pool in fleet.pools().values()
            if not pool.counts_cores
            and pool.provider == self.provider
            and self.region in ("", pool.region)
            and self.gpu_model in ("", pool.gpu_model)
        )

    @property
    def expected_on(self) -> date | None:
        """When what was asked for is there, by the lead time."""
        return None if self.asked_on is None else self.asked_on + timedelta(days=self.lead_days)


@dataclass(frozen=True, slots=True)
class GpuQuotaUse:
    """GPUs alive now, and the most at any moment of the last 28 days."""

    quota: GpuQuotaFact
    used_gpus: int
    peak_gpus_28_days: int

    @property
    def headroom_gpus(self) -> int:
        """GPUs that may still be started now; below zero more run than the quota says."""
        return self.quota.most_gpus - self.used_gpus


def gpu_quotas() -> list[GpuQuotaFact]:
    """Every quota, by provider, region and model."""
    rows = GpuQuota.objects.order_by("provider", "region", "gpu_model")
    return list(facts_of(GpuQuotaFact, rows))


def gpu_quota_use(quotas: Sequence[GpuQuotaFact], at: datetime) -> list[GpuQuotaUse]:
    """Each with its use; the fleet of 28 days is read once."""
    nodes = fleet.nodes_alive_between(at - LATELY, at + MILLISECOND) if quotas else []
    uses = []
    for quota in quotas:
        quota_nodes = [node for node in nodes if node.pool_id in quota.pool_ids]
        used = sum(node.units for node in quota_nodes if node.lived_to > at)
        changes = [(node.lived_from, node.units) for node in quota_nodes]
        changes += [(node.lived_to, -node.units) for node in quota_nodes]
        uses.append(GpuQuotaUse(quota, used, most_at_once(changes)))
    return uses


def most_at_once(changes: Iterable[tuple[datetime, int]]) -> int:
    """The highest sum of the changes up to any moment; what ends at a moment makes room for what begins then."""
    reached = most = 0
    for _, change in sorted(changes):
        reached += change
        most = max(most, reached)
    return most
