"""The energy that a node drew in an hour: by the meters of its GPUs as far as they told, else by its plate."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.economics.owned import DrawnPower
from apps.economics.owned_time import TariffSpan

MS_PER_SECOND = 1_000


@dataclass(frozen=True, slots=True)
class NodePowerRating:
    """The most power that a node draws, and how many GPUs of what thermal design power are in it.

    `gpu_watts` None: nobody knows, so that a meter of its GPUs says nothing about the node.
    """

    watts: int
    gpus: int
    gpu_watts: int | None

    @property
    def host_watts(self) -> int:
        """The watts left for all but the GPUs: the plate less the GPUs' design power, at least 0."""
        return max(0, self.watts - self.gpus * (self.gpu_watts or 0))


@dataclass(frozen=True, slots=True)
class Meter:
    """One GPU's meter: how long it was read, and what it drew."""

    metered_ms: int
    joules: Fraction


@dataclass(frozen=True, slots=True)
class NodeEnergy:
    """Joules at the machine; `measured_share` is of the GPU time in which the node was up."""

    joules: Fraction
    measured_share: Fraction

    @property
    def is_measured(self) -> bool:
        """Whether the meters told all of it but the host's part."""
        return self.measured_share == 1


def energy_of_node(plate: NodePowerRating, up_ms: int, meters: Sequence[Meter]) -> NodeEnergy:
    """Return the energy drawn by a node that could be used for `up_ms` of an hour.

    The host's part is by the plate while the node was up. A GPU's is what its meter told, and for
    the time of which it told nothing its part of the plate. Without a GPU's design power, or
    without GPUs, all is by the plate.
    """
    if plate.gpu_watts is None or not plate.gpus:
        return NodeEnergy(Fraction(plate.watts * up_ms, MS_PER_SECOND), Fraction(0))
    of_gpu = Fraction(plate.watts - plate.host_watts, plate.gpus)
    metered_times = [min(up_ms, meter.metered_ms) for meter in meters]
    untold_ms = max(0, plate.gpus * up_ms - sum(metered_times))
    joules = sum((meter.joules for meter in meters), Fraction(0))
    joules += Fraction(plate.host_watts * up_ms, MS_PER_SECOND) + of_gpu * untold_ms / MS_PER_SECOND
    gpu_ms = plate.gpus * up_ms
    return NodeEnergy(joules, 1 - Fraction(untold_ms, gpu_ms) if gpu_ms else Fraction(1))


def drawn_by_tariff(energy: NodeEnergy, spans: Sequence[TariffSpan]) -> list[DrawnPower]:
    """The energy under each tariff, evenly by time: a usage hour keeps one sum of joules."""
    total_ms = sum(span.end_ms - span.start_ms for span in spans)
    return [
        DrawnPower(energy.joules * (span.end_ms - span.start_ms) / total_ms, span.micros)
        for span in spans
    ]
