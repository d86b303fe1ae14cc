"""The power that a room's machines draw, what its power and cooling leave, and how many more GPUs that feeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.economics.node_power import MS_PER_SECOND, Meter


@dataclass(frozen=True, slots=True)
class NodeMetering:
    """A node in an hour: its GPUs, what their meters reported, and its host's part by its plate.

    `lived_share` is of the hour; `host_watts` None: nobody said what the node draws by its plate.
    """

    name: str
    gpu_model: str
    gpus: int
    lived_share: Fraction
    meters: tuple[Meter, ...]
    host_watts: int | None

    @property
    def metered_gpus(self) -> int:
        """How many of its GPUs have meters that reported."""
        return min(self.gpus, len(self.meters))

    @property
    def gpu_watts(self) -> Fraction | None:
        """The mean draw of one of its GPUs while their meters reported; None: none did."""
        metered_ms = sum(meter.metered_ms for meter in self.meters)
        joules = sum((meter.joules for meter in self.meters), Fraction(0))
        return joules * MS_PER_SECOND / metered_ms if metered_ms else None

    @property
    def watts(self) -> Fraction:
        """The mean over the hour of what is known of it: nothing of what no meter and no plate says."""
        return self.lived_share * (
            (self.gpu_watts or 0) * self.metered_gpus + Fraction(self.host_watts or 0)
        )


@dataclass(frozen=True, slots=True)
class RoomDraw:
    """The machines of a room in an hour; what is not known of them is named and adds nothing."""

    nodes: tuple[NodeMetering, ...]

    @property
    def watts(self) -> Fraction:
        """At the machines, as far as it is known."""
        return sum((node.watts for node in self.nodes), Fraction(0))

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Nodes with a GPU that no meter reported on, by name."""
        return tuple(sorted(node.name for node in self.nodes if node.metered_gpus < node.gpus))

    @property
    def without_host(self) -> tuple[str, ...]:
        """Nodes of which nobody said what they draw besides their GPUs, by name."""
        return tuple(sorted(node.name for node in self.nodes if node.host_watts is None))

    @property
    def is_whole(self) -> bool:
        """Whether it is all of it; else it is at least that."""
        return not (self.unmeasured or self.without_host)

    @property
    def gpu_models(self) -> list[str]:
        """The models that are there, by name."""
        return sorted({node.gpu_model for node in self.nodes} - {""})

    def watts_per_gpu(self, model: str) -> Fraction | None:
        """The mean draw of a GPU of the model; None where no meter reported on one."""
        metered_nodes = [node for node in self.nodes if node.gpu_model == model and node.gpu_watts]
        gpus = sum(node.metered_gpus for node in metered_nodes)
        drawn = sum(
            ((node.gpu_watts or 0) * node.metered_gpus for node in metered_nodes), Fraction(0)
        )
        return Fraction(drawn, gpus) if gpus else None

    def host_watts_per_gpu(self, model: str) -> Fraction:
        """The host's part beside a GPU of the model, of the nodes of which it is known, else 0."""
        known_nodes = [
            node for node in self.nodes if node.gpu_model == model and node.host_watts is not None
        ]
        gpus = sum(node.gpus for node in known_nodes)
        return (
            Fraction(sum(node.host_watts or 0 for node in known_nodes), gpus)
            if gpus
            else Fraction(0)
        )


@dataclass(frozen=True, slots=True)
class RoomLimit:
    """Watts that a room may draw at its meter, and watts of heat that are carried off; None: not said.

    At the meter the machines' watts count `pue` times; all that they draw becomes heat.
    """

    power_watts: Fraction
    cooling_watts: Fraction | None
    pue: Fraction

    def power_left(self, drawn: Fraction) -> Fraction:
        """At the meter, beside machines that draw so much; below zero it is too much."""
        return self.power_watts - drawn * self.pue

    def cooling_left(self, drawn: Fraction) -> Fraction | None:
        """Watts of heat, beside machines that draw so much."""
        return None if self.cooling_watts is None else self.cooling_watts - drawn

    def more_gpus(self, drawn: Fraction, watts_each: Fraction) -> int:
        """How many more fit that draw so much each with their hosts; the tighter limit counts."""
        left = [self.power_left(drawn) / self.pue, self.cooling_left(drawn)]
        return max(0, int(min(watts for watts in left if watts is not None) // watts_each))


@dataclass(frozen=True, slots=True)
class MoreGpus:
    """How many more GPUs of a model fit: as those there draw, and by rated power; None: not known."""

    gpu_model: str
    measured_watts: Fraction | None
    rated_watts: Fraction | None
    as_measured: int | None
    as_rated: int | None


def more_gpus_of(
    draw: RoomDraw, limit: RoomLimit, rated: Sequence[tuple[str, int | None]]
) -> list[MoreGpus]:
    """For each model with the watts of its data sheet (None: not known), beside that draw.

    A GPU's watts have its part of the host added, where plates say it.
    """
    rows = []
    for model, design_watts in rated:
        host, mean = draw.host_watts_per_gpu(model), draw.watts_per_gpu(model)
        measured = None if mean is None else mean + host
        by_design = None if design_watts is None else design_watts + host
        rows.append(
            MoreGpus(
                model,
                measured,
                by_design,
                None if measured is None else limit.more_gpus(draw.watts, measured),
                None if by_design is None else limit.more_gpus(draw.watts, by_design),
            )
        )
    return rows
