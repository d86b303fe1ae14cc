"""Node-hours of hardware of one's own: their part of what the plan owes, and their power."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from apps.accounts import queries as accounts
from apps.economics.gpu_catalogue import gpu_model
from apps.economics.hours import HOUR_MS
from apps.economics.node_power import NodeEnergy, NodePowerRating, drawn_by_tariff, energy_of_node
from apps.economics.owned import JOULES_PER_KWH, power_micros
from apps.economics.owned_time import TariffSpan, within
from apps.economics.rates import Piece
from apps.economics.split import largest_remainder
from apps.fleet import queries as fleet
from apps.ledger.actions.charge.values import (
    Estimate,
    Hour,
    Price,
    WantedCharge,
    digest_of,
    price_of,
)
from apps.ledger.models import ChargeKind, ChargePart
from apps.ledger.queries.charges import unit_spans
from apps.ledger.queries.owned_hours import NOTHING, NodeDrew, PlanHour, node_draws, plans_of_hour
from apps.ledger.queries.owned_plans import MEASURED

MINUTE_MS = 60_000
POOL = "pool"


@dataclass(frozen=True, slots=True)
class OwnedHours:
    """The cost of nodes of pools with a plan, what of the plans no node carries, and those pools."""

    estimates: tuple[Estimate, ...] = ()
    unused: tuple[WantedCharge, ...] = ()
    pools: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Stretch:
    """`[start_ms, end_ms)` of a node; `micros` is its part of what is owed, None: not paid for."""

    start_ms: int
    end_ms: int
    micros: int | None


@dataclass(frozen=True, slots=True)
class _LiveNode:
    """A node of the plan's pool; `spans` are (from, to, units) as far as the hour has come."""

    node: fleet.NodeFact
    spans: tuple[tuple[int, int, int], ...]

    @property
    def lived_ms(self) -> int:
        return sum(end - start for start, end, _ in self.spans)

    def units(self, start_ms: int, of_node: int) -> int | None:
        """How much of the plan it takes then: a machine is a node, whatever it has; None: gone."""
        for start, end, units in self.spans:
            if start <= start_ms < end:
                return units if self.node.kind == POOL else of_node
        return None


@dataclass(frozen=True, slots=True)
class _Drew:
    """The energy that a node drew in the hour, and for how much of its life in it it could be used."""

    energy: NodeEnergy
    lived_ms: int
    up_ms: int

    def within(self, stretch: _Stretch) -> NodeEnergy:
        """The part of one stretch, by time."""
        share = Fraction(stretch.end_ms - stretch.start_ms, self.lived_ms)
        return replace(self.energy, joules=self.energy.joules * share)


def owned_hours(this: Hour, pools: Mapping[int, fleet.PoolFact]) -> OwnedHours:
    """Every node-hour of pools with a plan in service, and the plans' parts that no node carries.

    Over a plan's life the two sum to purchase − salvage, monthly costs and power, exactly.
    """
    plans = plans_of_hour(this.starts_at, this.zone) if this.through_ms else {}
    if not plans:
        return OwnedHours()
    nodes: dict[int, list[fleet.NodeFact]] = {pool_id: [] for pool_id in plans}
    for node in fleet.nodes_alive_between(this.starts_at, this.through):
        if node.pool_id in plans:
            nodes[node.pool_id].append(node)
    draws = node_draws(this.starts_at, this.through, [node for of in nodes.values() for node in of])
    estimates: list[Estimate] = []
    unused: list[WantedCharge] = []
    for pool_id, plan in sorted(plans.items()):
        done = _of_plan(this, plan, pools[pool_id], nodes[pool_id], draws)
        estimates += done.estimates
        unused += done.unused
    return OwnedHours(tuple(estimates), tuple(unused), frozenset(plans))


def _of_plan(
    this: Hour,
    plan: PlanHour,
    pool: fleet.PoolFact,
    nodes: Sequence[fleet.NodeFact],
    draws: Mapping[int, NodeDrew],
) -> OwnedHours:
    of_node = max(1, pool.gpus_per_node)
    live_nodes = [
        _LiveNode(node, tuple(unit_spans(this.starts_at, node, this.through, pool.gpus_per_node)))
        for node in nodes
    ]
    stretches, left, lived_nodes = _shared_out(this, plan, live_nodes, of_node)
    estimates = tuple(
        (
            live_node.node,
            _priced_parts(
                this,
                plan,
                stretches[live_node.node.id],
                _node_drew(plan, pool, live_node, draws.get(live_node.node.id, NOTHING)),
            ),
        )
        for live_node in live_nodes
        if live_node.node.id in stretches
    )
    unused = () if not left else (_unused_charge(this, plan, pool, left, lived_nodes),)
    return OwnedHours(estimates, unused)


def _shared_out(
    this: Hour, plan: PlanHour, live_nodes: Sequence[_LiveNode], of_node: int
) -> tuple[dict[int, list[_Stretch]], int, Decimal]:
    """Each node's stretches, the micro-units no node carries, and how many nodes there were.

    Between two changes the nodes known longest come first; those beyond the plan are not paid for.
    """
    cuts = {0, this.through_ms}
    for live_node in live_nodes:
        cuts.update(moment for start, end, _ in live_node.spans for moment in (start, end))
    stretches: dict[int, list[_Stretch]] = {}
    left, filled = 0, 0
    for start, end in pairwise(sorted(cuts)):
        owed = plan.fixed_micros * end // HOUR_MS - plan.fixed_micros * start // HOUR_MS
        room = plan.nodes * of_node
        paid: list[tuple[int, int]] = []
        for live_node in live_nodes:
            units = live_node.units(start, of_node)
            if units is None:
                continue
            if units > room:
                _add_stretch(stretches, live_node.node.id, _Stretch(start, end, None))
                continue
            room -= units
            paid.append((live_node.node.id, units))
        *parts, over = largest_remainder(owed, [*(units for _, units in paid), room])
        for (node_id, _), micros in zip(paid, parts, strict=True):
            _add_stretch(stretches, node_id, _Stretch(start, end, micros))
        left += over
        filled += (plan.nodes * of_node - room) * (end - start)
    return stretches, left, Decimal(filled) / (of_node * this.through_ms)


def _add_stretch(stretches: dict[int, list[_Stretch]], node_id: int, one: _Stretch) -> None:
    """One stretch with the one before it, where both are paid for or neither."""
    of_node = stretches.setdefault(node_id, [])
    last = of_node[-1] if of_node else None
    if last and last.end_ms == one.start_ms and (last.micros is None) == (one.micros is None):
        both = None if one.micros is None else (last.micros or 0) + one.micros
        of_node[-1] = _Stretch(last.start_ms, one.end_ms, both)
    else:
        of_node.append(one)


def _node_drew(plan: PlanHour, pool: fleet.PoolFact, live_node: _LiveNode, draw: NodeDrew) -> _Drew:
    up_ms = live_node.lived_ms - _out_ms(live_node, draw.outages)
    if live_node.node.kind == POOL:
        # As many plates as its GPUs make nodes, and no meter.
        units_ms = sum(units * (end - start) for start, end, units in live_node.spans)
        plates = Fraction(units_ms, live_node.lived_ms * max(1, pool.gpus_per_node))
        energy = energy_of_node(NodePowerRating(plan.watts, 0, None), up_ms, ())
        return _Drew(replace(energy, joules=energy.joules * plates), live_node.lived_ms, up_ms)
    model = gpu_model(pool.gpu_model)
    plate = NodePowerRating(
        plan.watts, live_node.spans[-1][2], None if model is None else model.tdp_watts
    )
    return _Drew(energy_of_node(plate, up_ms, draw.meters), live_node.lived_ms, up_ms)


def _out_ms(live_node: _LiveNode, outages: Sequence[tuple[int, int]]) -> int:
    """Milliseconds of the node's life in which it was out of use; outages may overlap."""
    covered = 0
    for start, end, _ in live_node.spans:
        reached = start
        for begins, ends in sorted(outages):
            reached_to = min(end, ends)
            if reached_to > max(reached, begins):
                covered += reached_to - max(reached, begins)
                reached = reached_to
    return covered


def _priced_parts(
    this: Hour,
    plan: PlanHour,
    stretches: Sequence[_Stretch],
    drew: _Drew,
) -> list[tuple[ChargePart, Price]]:
    paid = [stretch for stretch in stretches if stretch.micros is not None]
    over = [stretch for stretch in stretches if stretch.micros is None]
    parts = []
    if paid:
        parts.append((ChargePart.PRICED, _owed_price(this, plan, paid, drew)))
    if over:
        reason = f"{plan.name} paid for {plan.nodes} nodes, and more of its pool lived"
        pieces = tuple(
            Piece(stretch.start_ms, stretch.end_ms, None, None, None, detail=reason)
            for stretch in over
        )
        parts.append((ChargePart.UNPRICED, price_of((plan.pool_id, this.through_ms), pieces)))
    return parts


def _owed_price(
    this: Hour,
    plan: PlanHour,
    paid: Sequence[_Stretch],
    drew: _Drew,
) -> Price:
    pieces, marginal = [], 0
    for stretch in paid:
        spans = within(plan.tariffs, stretch.start_ms, stretch.end_ms)
        energy = drew.within(stretch)
        power = power_micros(drawn_by_tariff(energy, spans), plan.pue)
        owed = stretch.micros or 0
        detail = f"{plan.name}: {_plain_amount(owed)} owed anyway, {_plain_amount(power)} "
        detail += _energy_words(drew, energy) + _tariff_words(plan, spans, energy)
        amounts = (owed + power,) * 3
        pieces.append(Piece(stretch.start_ms, stretch.end_ms, *amounts, detail=detail))
        marginal += power
    total_price = price_of((plan.pool_id, this.through_ms, plan.id, marginal), tuple(pieces))
    return replace(total_price, marginal_micros=marginal, owned_plan_id=plan.id)


def _energy_words(drew: _Drew, energy: NodeEnergy) -> str:
    if not energy.joules:
        return "power: none drawn" if drew.up_ms else "power: none while out of service"
    kwh = energy.joules / JOULES_PER_KWH
    words = f"{float(kwh):.1f} kWh" if kwh >= 1 else f"{float(kwh):.3f} kWh"
    if energy.is_measured:
        words = f"{MEASURED}{words}"
    elif energy.measured_share:
        percent = min(99, max(1, round(100 * energy.measured_share)))
        words = f"power: {words}, {percent} % of GPU time measured, the rest by its plate,"
    else:
        words = f"power: {words} by its plate"
    if drew.up_ms == drew.lived_ms:
        return words
    return f"{words} (out of service for {round((drew.lived_ms - drew.up_ms) / MINUTE_MS)} min)"


def _tariff_words(plan: PlanHour, spans: Sequence[TariffSpan], energy: NodeEnergy) -> str:
    if not energy.joules:
        return ""
    rates = [_plain_amount(spans[0].micros)]
    rates += [f"until {_clock_time(span)}, then {_plain_amount(span.micros)}" for span in spans[1:]]
    pue = Decimal(plan.pue.numerator) / plan.pue.denominator
    return f" × {_plain_number(pue)} PUE at {' '.join(rates)}"


def _clock_time(span: TariffSpan) -> str:
    return f"{span.starts_local // 60:02}:{span.starts_local % 60:02}"


def _unused_charge(
    this: Hour, plan: PlanHour, pool: fleet.PoolFact, left: int, lived_nodes: Decimal
) -> WantedCharge:
    """Return the plan's charge for nodes that did not live, as one line of the pool's owner."""
    team_id = pool.owner_team_id or accounts.special_teams().platform_id
    reason = f"{plan.name}: {_plain_number(round(lived_nodes, 2))} of {plan.nodes} nodes lived"
    about = (plan.id, team_id, pool.id, this.through_ms, left, reason)
    digest = digest_of(about)
    return WantedCharge(
        key=(ChargeKind.OWNED_UNUSED, plan.id, ChargePart.PRICED),
        pool_id=pool.id,
        price=Price((), left, left, left, digest, marginal_micros=0),
        reason=reason,
        team_id=team_id,
    )


def _plain_amount(micros: int) -> str:
    return _plain_number(Decimal(micros).scaleb(-6))


def _plain_number(number: Decimal) -> str:
    """All its digits, and no more."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
