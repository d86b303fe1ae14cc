"""Documents that schedulers are given, by their names."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias

import yaml

from apps.placement.queries.karpenter_documents import karpenter_documents, overlay_documents
from apps.placement.queries.kueue_documents import kueue_documents
from apps.placement.queries.ray_documents import ray_documents
from apps.placement.queries.scheduler_pools import (
    ScheduledPools,
    SchedulerDocuments,
    scheduled_pools,
)

Told: TypeAlias = Callable[[ScheduledPools, datetime], SchedulerDocuments]
GIVEN: Mapping[str, Told] = {
    "kueue": kueue_documents,
    "karpenter": lambda scheduler_pools, _: karpenter_documents(scheduler_pools),
    "karpenter-overlays": lambda scheduler_pools, _: overlay_documents(scheduler_pools),
    "ray": lambda scheduler_pools, _: ray_documents(scheduler_pools),
}


def documents_of(scheduler: str, cluster: str, at: datetime) -> SchedulerDocuments:
    """Return the documents that a scheduler is given, of a cluster's pools or of all. Refuses NoOfferBook, SchedulerNotUnderstood."""
    return GIVEN[scheduler](scheduled_pools(cluster), at)


def documents_as_yaml(bundle: SchedulerDocuments) -> str:
    """One after the other, with what is not in them and left to do as comments before."""
    about = f"offer book of {bundle.made_at:%Y-%m-%dT%H:%M:%SZ}, digest {bundle.digest}"
    comments = "".join(f"# {' '.join(note.split())}\n" for note in [about, *bundle.notes])
    return comments + yaml.safe_dump_all(
        bundle.documents, sort_keys=False, explicit_start=True, allow_unicode=True
    )
