"""Pools as they are entered and as they are on record."""

from dataclasses import dataclass
from typing import Annotated

from apps.economics.purchase import PurchaseOption
from apps.fleet.models.inventory import CapacityUnit
from apps.show.entries import Entry
from apps.show.words import option_words

UNITS = {"gpu": "GPUs", "core": "cores; its nodes have no GPU"}
PURCHASE_OPTIONS = {str(option): option_words(option) for option in PurchaseOption}
SHARE_RULES = ("largest", "compute", "memory")
IDLE_SHARINGS = ("keep", "by_held_time")


@dataclass(frozen=True, slots=True)
class PoolTerms:
    """Nodes of one model, one price and one purchase option; `gpus_per_node` is the catalogue's."""

    name: Annotated[str, Entry("Name of the pool", needed="Give it a name.")]
    provider: Annotated[
        str,
        Entry(
            "Provider",
            "Such as aws or gcp; own.",
            initial="own",
            needed="Say whose machines they are.",
        ),
    ]
    purchase_option: Annotated[str, Entry("Bought as", choices=PURCHASE_OPTIONS, initial="owned")]
    cluster_id: int | None = None
    region: Annotated[
        str, Entry("Region", "Of a cloud; with the instance type its list price is found.")
    ] = ""
    instance_type: Annotated[str, Entry("Instance type")] = ""
    gpu_model: Annotated[
        str, Entry("GPU model", "As NVML prints it, such as NVIDIA H100 80GB HBM3.")
    ] = ""
    gpus_per_node: Annotated[int, Entry("How many of them a node has", least=0, most=1_024)] = 0
    unit: Annotated[str, Entry("Counted in", choices=UNITS, initial="gpu")] = "gpu"
    owner_team_id: int | None = None
    idle_sharing: Annotated[str, Entry(choices=IDLE_SHARINGS)] = "keep"

    @property
    def counts_cores(self) -> bool:
        """Its nodes' time is core time, and cores carry its cost; never GPU time."""
        return self.unit == CapacityUnit.CORE


@dataclass(frozen=True, slots=True)
class EnteredPool(PoolTerms):
    """A pool as it is added, with how slices of its GPUs count."""

    share_rule: Annotated[str, Entry(choices=SHARE_RULES)] = "largest"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFact(PoolTerms):
    """A pool as it is on record."""

    id: int
