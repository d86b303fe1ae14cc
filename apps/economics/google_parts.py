"""The cost of a Google Cloud machine: the sum of its cores, memory and GPUs, each a SKU of its price catalogue.

Shapes are those of Google's machine type list (gcloud compute machine-types list), read 2026-08-16.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

USAGE = {"on_demand": "OnDemand", "spot": "Preemptible"}
MAKERS = re.compile(r"^nvidia-(tesla-)?")
GPU_WORDS = {
    "nvidia-h100-mega-80gb": "Nvidia H100 80GB Mega GPU",
    "nvidia-rtx-pro-6000": "RTX 6000 96GB",
}
"""Accelerator types whose SKU has other words than the type."""
OWN_CORES = {"a3-megagpu": "A3Plus"}
"""Families whose cores and memory have SKUs of their own where a region has any, whatever else begins like them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a machine type; `gpu` is an accelerator type such as nvidia-h100-80gb."""

    name: str
    cores: int
    memory_gib: Decimal
    gpu: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Sku:
    """Dollars for an hour of a core, a GiB or a GPU, since `begins_at`."""

    id: str
    description: str
    group: str
    usage: str
    regions: frozenset[str]
    amount: Decimal
    begins_at: datetime

    def is_gpu_of(self, shape: Shape) -> bool:
        """Whether it is of the shape's kind of GPU."""
        return any(
            group == self.group == "GPU" and _begins_with_words(self, words)
            for words, group, _ in _parts_of_shape(shape)
        )


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """Dollars an hour for the whole machine, since the youngest of its parts' prices."""

    amount: Decimal
    begins_at: datetime
    skus: tuple[str, ...]


def machine_price(
    shape: Shape, skus: Sequence[Sku], *, region: str, purchase_option: str
) -> MachinePrice | str:
    """The sum of its parts, or in words which part has no single price.

    Such machines are billed as cores, memory and GPUs apart.
    """
    regional_skus = [
        sku for sku in skus if region in sku.regions and sku.usage == USAGE[purchase_option]
    ]
    amount, part_skus = Decimal(0), []
    core_family = _core_family(shape, regional_skus)
    for words, group, quantity in _parts_of_shape(shape, core_family):
        fitting = [
            sku for sku in regional_skus if sku.group == group and _begins_with_words(sku, words)
        ]
        if len(fitting) != 1:
            return f"{len(fitting)} SKUs are {words!r} in {region}"
        amount += fitting[0].amount * quantity
        part_skus.append(fitting[0])
    return MachinePrice(
        amount, max(sku.begins_at for sku in part_skus), tuple(sku.id for sku in part_skus)
    )


def _core_family(shape: Shape, regional_skus: Sequence[Sku]) -> str:
    """The name that the shape's own cores have here; empty: they have that of its generation."""
    owns = (core for family, core in OWN_CORES.items() if shape.name.startswith(f"{family}-"))
    core_family = next(owns, "")
    return (
        core_family
        if any(
            core_family and _begins_with_words(sku, f"{core_family} Instance ")
            for sku in regional_skus
        )
        else ""
    )


def _parts_of_shape(shape: Shape, core_family: str = "") -> Iterator[tuple[str, str, Decimal]]:
    family = core_family or shape.name.partition("-")[0].upper()
    yield f"{family} Instance Core", "CPU", Decimal(shape.cores)
    yield f"{family} Instance Ram", "RAM", shape.memory_gib
    if shape.gpus:
        model = MAKERS.sub("", shape.gpu).replace("-", " ").upper()
        yield GPU_WORDS.get(shape.gpu, f"Nvidia {model} GPU"), "GPU", Decimal(shape.gpus)


def _begins_with_words(sku: Sku, words: str) -> bool:
    """Preemptible ones begin with how they are sold; Tesla is left out as Google does it or not."""
    description = sku.description.lower().replace("tesla ", "")
    for sold in ("spot preemptible ", "preemptible "):
        description = description.removeprefix(sold)
    return description.startswith(words.lower())


def _shapes(family: str, gpu: str, sizes: dict[str, tuple[int, int, int]]) -> dict[str, Shape]:
    return {
        f"{family}-{size}": Shape(f"{family}-{size}", cores, Decimal(gib), gpu, gpus)
        for size, (cores, gib, gpus) in sizes.items()
    }


SHAPES = (
    _shapes(
        "a2",
        "nvidia-tesla-a100",
        {
            **{f"highgpu-{gpus}g": (12 * gpus, 85 * gpus, gpus) for gpus in (1, 2, 4, 8)},
            "megagpu-16g": (96, 1360, 16),
        },
    )
    | _shapes(
        "a2-ultragpu",
        "nvidia-a100-80gb",
        {f"{gpus}g": (12 * gpus, 170 * gpus, gpus) for gpus in (1, 2, 4, 8)},
    )
    | _shapes(
        "a3-highgpu",
        "nvidia-h100-80gb",
        {f"{gpus}g": (26 * gpus, 234 * gpus, gpus) for gpus in (1, 2, 4, 8)},
    )
    | _shapes("a3-megagpu", "nvidia-h100-mega-80gb", {"8g": (208, 1872, 8)})
    | _shapes(
        "g2-standard",
        "nvidia-l4",
        {
            **{f"{cores}": (cores, 4 * cores, 1) for cores in (4, 8, 12, 16, 32)},
            "24": (24, 96, 2),
            "48": (48, 192, 4),
            "96": (96, 384, 8),
        },
    )
    | _shapes(
        "g4-standard",
        "nvidia-rtx-pro-6000",
        {f"{48 * gpus}": (48 * gpus, 180 * gpus, gpus) for gpus in (1, 2, 4, 8)},
    )
)
"""Machine types by name; those of which the parts are not known stand in no file's list of prices here."""
