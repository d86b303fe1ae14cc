"""Power and cooling of rooms, and what their machines drew: in the newest hour, and at the peak."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from apps.accounts.queries.facts import facts_of
from apps.economics.gpu_catalogue import gpu_model
from apps.economics.hours import HOUR
from apps.economics.node_power import NodePowerRating
from apps.economics.room_power import MoreGpus, NodeMetering, RoomDraw, RoomLimit, more_gpus_of
from apps.fleet import queries as fleet
from apps.ledger.queries.owned_hours import NOTHING, NodeDrew, node_draws_by_hour
from apps.ledger.queries.tables import rows
from apps.planning.models import PowerLimit
from apps.pricing.queries.owned import OwnedPlanFact, owned_plans_in
from apps.show.entries import Entry

LATELY = timedelta(days=28)
NEWEST = 3 * HOUR
"""A room whose newest reading is older than this draws nobody knows what now."""
KILO = 1_000


@dataclass(frozen=True, slots=True)
class EnteredPowerLimit:
    """A room as it is entered; see its table for what each field is."""

    name: Annotated[str, Entry("Room")]
    pool_ids: Annotated[tuple[int, ...], Entry("Pools that stand in it", is_picked=True)]
    power_kilowatts: Annotated[Decimal, Entry("Power, in kW at the room's meter", example="240")]
    pue: Annotated[
        Decimal,
        Entry(
            "PUE",
            "kW at the room's meter for one at the machines; 1 where the power is said at the machines.",
            example="1.3",
        ),
    ]
    cooling_kilowatts: Annotated[
        Decimal | None,
        Entry("Cooling, in kW of heat carried off", "Empty: nothing said.", example="200"),
    ] = None
    note: Annotated[str, Entry("Note")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLimitFact(EnteredPowerLimit):
    """A room as it was entered."""

    id: int
    created_at: datetime

    @property
    def pool_names(self) -> list[str]:
        """Its pools by name."""
        pools = fleet.pools()
        return sorted(
            pools[pool_id].name if pool_id in pools else str(pool_id) for pool_id in self.pool_ids
        )

    @property
    def watts(self) -> RoomLimit:
        """Return the limits of the room in watts."""
        cooling = self.cooling_kilowatts
        return RoomLimit(
            Fraction(self.power_kilowatts) * KILO,
            None if cooling is None else Fraction(cooling) * KILO,
            Fraction(self.pue),
        )


@dataclass(frozen=True, slots=True)
class DrawnHour:
    """The draw of the machines of a room in the hour that starts at `hour`; at its meter it counts `pue` times."""

    hour: datetime
    draw: RoomDraw
    pue: Fraction

    @property
    def watts(self) -> Fraction:
        """At the room's meter."""
        return self.draw.watts * self.pue

    @property
    def kilowatts(self) -> float:
        """At the room's meter."""
        return float(self.watts) / KILO


@dataclass(frozen=True, slots=True)
class PowerUse:
    """A room with what it drew in the newest hour and at the peak; None: no meter reported anything."""

    limit: PowerLimitFact
    now: DrawnHour | None
    peak: DrawnHour | None
    more: tuple[MoreGpus, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the peak is all of it: else it is at least that, and what is left at most that."""
        return self.peak is not None and self.peak.draw.is_whole

    @property
    def power_left(self) -> Fraction | None:
        """Watts at the meter beside the peak."""
        return None if self.peak is None else self.limit.watts.power_left(self.peak.draw.watts)

    @property
    def cooling_left(self) -> Fraction | None:
        """Watts of heat beside the peak; None also where nobody said what is carried off."""
        return None if self.peak is None else self.limit.watts.cooling_left(self.peak.draw.watts)

    @property
    def power_left_kilowatts(self) -> float | None:
        """At the meter beside the peak."""
        return None if self.power_left is None else float(self.power_left) / KILO

    @property
    def cooling_left_kilowatts(self) -> float | None:
        """Of heat beside the peak."""
        return None if self.cooling_left is None else float(self.cooling_left) / KILO


def power_limits() -> list[PowerLimitFact]:
    """Every room, by name."""
    return list(facts_of(PowerLimitFact, PowerLimit.objects.order_by("name")))


def power_use(limits: Sequence[PowerLimitFact], at: datetime) -> list[PowerUse]:
    """Each with its use over the whole hours of the 28 days before `at`."""
    end = at.replace(minute=0, second=0, microsecond=0)
    reported = _joules_by_hour([pool_id for limit in limits for pool_id in limit.pool_ids], end)
    hours = [_reported_hours(limit, reported, end) for limit in limits]
    known_hours = _HourFacts.of(
        {hour for pair in hours for hour in pair if hour is not None},
        {pool_id for limit in limits for pool_id in limit.pool_ids},
    )
    uses = []
    for limit, (newest, peak) in zip(limits, hours, strict=True):
        at_peak = known_hours.drawn_in(limit, peak)
        uses.append(
            PowerUse(
                limit,
                known_hours.drawn_in(limit, newest),
                at_peak,
                () if at_peak is None else _more_gpus(limit, at_peak),
            )
        )
    return uses


def _reported_hours(
    limit: PowerLimitFact, reported: Mapping[int, Mapping[datetime, float]], end: datetime
) -> tuple[datetime | None, datetime | None]:
    """The newest hour that was reported of a room, where that is lately, and the one of its peak."""
    by_hour: dict[datetime, float] = defaultdict(float)
    for pool_id in limit.pool_ids:
        for hour, joules in reported.get(pool_id, {}).items():
            by_hour[hour] += joules
    newest = max(by_hour, default=None)
    peak = max(by_hour, key=lambda hour: (by_hour[hour], hour), default=None)
    is_lately = newest is not None and end - newest <= NEWEST
    return (newest if is_lately else None), peak


def _more_gpus(limit: PowerLimitFact, peak: DrawnHour) -> tuple[MoreGpus, ...]:
    rated = [(name, _design_watts(name)) for name in peak.draw.gpu_models]
    return tuple(more_gpus_of(peak.draw, limit.watts, rated))


def _design_watts(name: str) -> int | None:
    model = gpu_model(name)
    return None if model is None else model.tdp_watts


def _joules_by_hour(pool_ids: Sequence[int], end: datetime) -> dict[int, dict[datetime, float]]:
    joules_by_pool: dict[int, dict[datetime, float]] = defaultdict(dict)
    if pool_ids:
        params = {"pools": list(pool_ids), "from": end - LATELY, "to": end}
        for pool_id, hour, joules in rows(JOULES, params):
            joules_by_pool[pool_id][hour] = joules
    return joules_by_pool


@dataclass(frozen=True, slots=True)
class _HourFacts:
    """The nodes of the hours that rooms are told by, what they drew, and the plans in service."""

    lived: Mapping[datetime, Sequence[fleet.NodeFact]]
    drew: Mapping[datetime, Mapping[int, NodeDrew]]
    plans: Sequence[OwnedPlanFact]

    @classmethod
    def of(cls, hours: Collection[datetime], pool_ids: Collection[int]) -> "_HourFacts":
        """All that is known of these pools in these hours, in as many statements as of one."""
        if not hours:
            return cls({}, {}, ())
        nodes_by_hour = {
            hour: [node for node in nodes if node.pool_id in pool_ids]
            for hour, nodes in fleet.nodes_alive_by_hour(hours).items()
        }
        plans = owned_plans_in(min(hours), max(hours) + HOUR)
        return cls(nodes_by_hour, node_draws_by_hour(nodes_by_hour), plans)

    def drawn_in(self, limit: PowerLimitFact, hour: datetime | None) -> DrawnHour | None:
        """Return what a room drew in the hour; None of none."""
        if hour is None:
            return None
        nodes = [node for node in self.lived[hour] if node.pool_id in limit.pool_ids]
        plates = {
            plan.pool_id: plan.watts
            for plan in self.plans
            if plan.starts_at < hour + HOUR and (plan.ends_at is None or plan.ends_at > hour)
        }
        drew = self.drew[hour]
        return DrawnHour(
            hour,
            RoomDraw(
                tuple(
                    _metering_of(node, drew.get(node.id, NOTHING), plates.get(node.pool_id))
                    for node in nodes
                )
            ),
            Fraction(limit.pue),
        )


def _metering_of(node: fleet.NodeFact, drew: NodeDrew, plate: int | None) -> NodeMetering:
    pool = fleet.pools()[node.pool_id]
    lived_share = Fraction(round((node.lived_to - node.lived_from) / HOUR * KILO), KILO)
    if pool.counts_cores:
        return NodeMetering(node.name, "", 0, lived_share, (), plate)
    design = _design_watts(pool.gpu_model)
    host = (
        None
        if plate is None or design is None
        else NodePowerRating(plate, node.units, design).host_watts
    )
    return NodeMetering(node.name, pool.gpu_model, node.units, lived_share, drew.meters, host)


JOULES = """
SELECT node.pool_id, usage.hour, sum(usage.energy_joules)::float8
FROM telemetry_usagehour_fact AS usage
JOIN fleet_device_fact AS device ON device.id = usage.device_id
JOIN fleet_node_fact AS node ON node.id = device.node_id
WHERE node.pool_id = ANY(%(pools)s) AND usage.hour >= %(from)s AND usage.hour < %(to)s
  AND usage.energy_joules IS NOT NULL
GROUP BY node.pool_id, usage.hour
"""
