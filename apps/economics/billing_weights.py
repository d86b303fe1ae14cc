"""Weights by which a scheduler bills what a node's GPUs and cores cost an hour."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class BillingWeights:
    """The cost of a GPU and of a core of a node an hour, in one unit of money; a core 0 where the GPUs carry all."""

    gpu: Fraction
    core: Fraction


def billing_weights(
    gpu_hour: Fraction,
    *,
    gpus: int,
    cores: int = 0,
    core_weight: Fraction = Fraction(0),
    gpu_share: Fraction = Fraction(1),
) -> BillingWeights:
    """Divide a node's hour as the ledger does, `gpu_hour` × `gpus`, less what does not ride on GPUs.

    `core_weight` is what one of `cores` counts against one GPU. All of a node held costs gpu × gpus + core × cores =
    gpu_hour × gpus × gpu_share. Refuses ValueError of no GPUs.
    """
    if gpus < 1:
        raise ValueError("a node without GPUs has no GPU-hour")
    total = gpu_hour * gpus * gpu_share
    of_gpu = total / (gpus + core_weight * cores)
    return BillingWeights(of_gpu, of_gpu * core_weight)
