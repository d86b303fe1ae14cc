"""Commitments, bought ahead, applied to the use of one hour: who they covered, and what nobody used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from apps.economics import azure_sizes, ec2_sizes
from apps.economics.eligibility import (
    ANY_TERMS,
    ON_DEMAND,
    CommitmentTerms,
    UseTerms,
    is_elsewhere,
    may_cover,
    platform_and_tenancy,
)
from apps.economics.hours import HOUR_MS
from apps.economics.places import is_zone, lies_in, may_lie_in
from apps.economics.rates import Per
from apps.economics.split import largest_remainder
from apps.economics.use_terms import DEFAULT_PLATFORM, DEFAULT_TENANCY


class NotACommitment(ValueError):
    """Neither a count of units nor an hourly amount with prices was bought, or both were."""


class CommitmentKind(IntEnum):
    """Kinds of purchase of a commitment; the lower one is applied first."""

    CAPACITY_BLOCK = 0
    RESERVED = 1
    COMMITTED_USE = 2
    SAVINGS_PLAN = 3


@dataclass(frozen=True, slots=True)
class CommitmentScope:
    """The scope that a commitment may cover; what is empty does not matter."""

    provider: str = ""
    region: str = ""
    instance_type: str = ""
    gpu_model: str = ""
    pool_id: int | None = None

    @property
    def narrowness(self) -> int:
        """A pool is narrower than an instance type, that than a GPU model, that than a zone.

        A zone is narrower than a region: AWS applies zonal reservations before regional ones.
        """
        zone = is_zone(self.region)
        dimensions = (
            self.provider,
            self.region,
            zone,
            self.gpu_model,
            self.instance_type,
            self.pool_id,
        )
        return sum(2**place for place, one in enumerate(dimensions) if one)

    @property
    def is_bound(self) -> bool:
        """Whether it is of a place or of machines, and not of all that a provider has."""
        return bool(self.region or self.gpu_model or self.instance_type or self.pool_id)


@dataclass(frozen=True, slots=True)
class CommitmentOfHour:
    """`units` nodes or GPUs, or `spend_micros` an hour at `prices` (micro-units of a node's hour).

    `paid_micros` is the part of its whole price that belongs to this hour, `lasts_ms`
    how much of the hour it holds. Refuses NotACommitment.
    """

    id: int
    kind: CommitmentKind
    scope: CommitmentScope
    paid_micros: int
    units: int = 0
    per: Per = Per.NODE
    spend_micros: int = 0
    prices: Mapping[str, int] = field(default_factory=dict)
    lasts_ms: int = HOUR_MS
    terms: CommitmentTerms = ANY_TERMS

    def __post_init__(self) -> None:
        """Refuse what could cover nothing, or by two measures at once."""
        if (self.units > 0) == (self.spend_micros > 0):
            raise NotACommitment(f"commitment {self.id}: either units or an hourly amount")

    @property
    def capacity(self) -> int:
        """Unit-milliseconds of the hour; of a spend plan micro-units times milliseconds.

        One that covers any size of its family counts quarters of AWS's normalization factor, or
        Azure's ratio.
        """
        unit_size = self.size or 1
        return (self.units * unit_size or self.spend_micros) * self.lasts_ms

    @property
    def size(self) -> int | None:
        """The size of one unit, where it covers other sizes of its family too; else None.

        So do regional EC2 reservations of most families, on Linux with default tenancy, and Azure's
        of a group of sizes.
        """
        if self.kind is not CommitmentKind.RESERVED or not self.units or self.per is not Per.NODE:
            return None
        return self.size_of(self.scope.instance_type)

    def size_of(self, instance_type: str) -> int | None:
        """How much of a commitment of this vendor a machine of this type takes; None: no size."""
        if self.scope.provider == "azure":
            return azure_sizes.ratio(instance_type)
        is_regional = bool(self.scope.region) and not is_zone(self.scope.region)
        terms = (DEFAULT_PLATFORM, DEFAULT_TENANCY)
        has_defaults = not {*platform_and_tenancy(self.terms)} - {"", *terms}
        if self.scope.provider != "aws" or not is_regional or not has_defaults:
            return None
        return ec2_sizes.size_quarters(instance_type)

    def family_of(self, instance_type: str) -> str:
        """Of which sizes a commitment that covers several covers any."""
        if self.scope.provider == "azure":
            return azure_sizes.family_of(instance_type)
        return ec2_sizes.family_of(instance_type)


@dataclass(frozen=True, slots=True)
class CommitmentUse:
    """A span of an hour of one node, in milliseconds, by what it is and what it would cost.

    Machines that are only counted are one use of as many `nodes`.
    """

    node_id: int
    start_ms: int
    end_ms: int
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    pool_id: int
    gpus: int
    list_micros: int | None
    contracted_micros: int | None
    nodes: int = 1
    terms: UseTerms = ON_DEMAND


@dataclass(frozen=True, slots=True)
class Covered:
    """The part of a use that one commitment covers, and what it costs there."""

    commitment_id: int
    node_id: int
    start_ms: int
    end_ms: int
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int


@dataclass(frozen=True, slots=True)
class Unused:
    """The cost of a commitment beyond what it covered: `capacity` nobody took of `of`."""

    commitment_id: int
    micros: int
    capacity: int
    of: int


@dataclass(frozen=True, slots=True)
class Applied:
    """All covered parts by node and time, and one unused part of each commitment by id."""

    covered: tuple[Covered, ...]
    unused: tuple[Unused, ...]


@dataclass(frozen=True, slots=True)
class _Taken:
    use: CommitmentUse
    start_ms: int
    end_ms: int
    weight: int


def apply(commitments: Sequence[CommitmentOfHour], uses: Sequence[CommitmentUse]) -> Applied:
    """Cover the uses of one hour over all pools; nothing is covered twice.

    Capacity blocks first, then reserved, committed use and savings plans. Among the first three
    the narrowest scope goes first, so a zone's reservations before a region's; one that covers any
    size of its family takes the smallest first, any other the use with the highest contracted cost
    per unit. Savings plans of a place or a family go before those of all machines; within each,
    over all their plans at once, the highest saving percentage goes first, then the lower price of
    the plan. Use of the account that a commitment is of goes before that of others which share it.
    Ties by ids. Sources: AWS's EC2 User Guide on reserved instances, its Savings Plans User Guide, and
    Azure's pages on how reservations and savings plans are applied, as of 2026-11.
    A commitment covers any units for its milliseconds of the hour, as providers bill. Its covered
    parts share its hour's price by what they take of it, each up to its contracted cost; what is
    left is unused. The order in which anything is given does not matter.
    """
    left = {commitment.id: commitment.capacity for commitment in commitments}
    free = {(use.node_id, use.start_ms): use.start_ms for use in uses}
    taken: dict[int, list[_Taken]] = {commitment.id: [] for commitment in commitments}
    pairs = [(one, use) for one in commitments for use in uses if capacity_per_ms(one, use) > 0]
    for commitment, use in sorted(pairs, key=_saving_order):
        key = (use.node_id, use.start_ms)
        rate = capacity_per_ms(commitment, use)
        start = free[key]
        end = min(use.end_ms, start + left[commitment.id] // rate)
        if end > start:
            weight = rate * (end - start)
            taken[commitment.id].append(_Taken(use, start, end, weight))
            left[commitment.id] -= weight
            free[key] = end
    covered: list[Covered] = []
    unused = []
    for commitment in sorted(commitments, key=lambda one: one.id):
        parts = _covered_parts(commitment, taken[commitment.id], left[commitment.id])
        over = commitment.paid_micros - sum(part.effective_micros for part in parts)
        unused.append(Unused(commitment.id, over, left[commitment.id], commitment.capacity))
        covered += parts
    covered.sort(key=lambda part: (part.node_id, part.start_ms))
    return Applied(tuple(covered), tuple(unused))


def capacity_per_ms(commitment: CommitmentOfHour, use: CommitmentUse) -> int:
    """Capacity that a millisecond of this use takes; 0 where the commitment does not cover it."""
    if not _is_eligible(commitment, use):
        return 0
    if commitment.spend_micros:
        return commitment.prices.get(priced_as(use), 0) * use.nodes
    if commitment.size:
        return (commitment.size_of(use.instance_type) or 0) * use.nodes
    return use.nodes if commitment.per is Per.NODE else use.gpus


def priced_as(use: CommitmentUse) -> str:
    """Return the name that a plan's prices give a use: `m5.24xlarge`, and with its platform and tenancy where those differ.

    A plan has a price for each of them: `m5.24xlarge windows dedicated`. What is not known is the default.
    """
    platform = use.terms.platform or DEFAULT_PLATFORM
    tenancy = use.terms.tenancy or DEFAULT_TENANCY
    parts = (use.instance_type, platform, tenancy)
    return " ".join(part for part in parts if part not in {DEFAULT_PLATFORM, DEFAULT_TENANCY})


def coverage(covered_ms: int, eligible_ms: int) -> Fraction | None:
    """Covered use of all that could be; None where there was none."""
    return Fraction(covered_ms, eligible_ms) if eligible_ms else None


def utilisation(unused: Sequence[Unused]) -> Fraction | None:
    """Used of what was bought; None where nothing was. Capacities are of one unit."""
    bought = sum(leftover.of for leftover in unused)
    return 1 - Fraction(sum(leftover.capacity for leftover in unused), bought) if bought else None


def effective_savings_rate(on_demand_micros: int, actual_micros: int) -> Fraction | None:
    """(on-demand equivalent − actual, unused included) ÷ on-demand equivalent (FinOps ESR)."""
    if not on_demand_micros:
        return None
    return Fraction(on_demand_micros - actual_micros, on_demand_micros)


def break_even(committed_micros: int, on_demand_micros: int) -> Fraction | None:
    """The utilisation at which a commitment costs what on-demand would."""
    return Fraction(committed_micros, on_demand_micros) if on_demand_micros else None


def _is_eligible(commitment: CommitmentOfHour, use: CommitmentUse) -> bool:
    scope = commitment.scope
    is_zonal = commitment.kind is CommitmentKind.RESERVED and is_zone(scope.region)
    if not may_cover(commitment.terms, use.terms, is_zonal=is_zonal):
        return False
    machine = (scope.instance_type, use.instance_type)
    if commitment.size:
        machine = (
            commitment.family_of(scope.instance_type),
            commitment.family_of(use.instance_type),
        )
    pairs = (
        (scope.provider, use.provider),
        machine,
        (scope.gpu_model, use.gpu_model),
    )
    in_pool = scope.pool_id is None or scope.pool_id == use.pool_id
    in_place = not scope.region or may_lie_in(use.region, scope.region)
    return in_pool and in_place and all(wanted in ("", value) for wanted, value in pairs)


def _saving_order(pair: tuple[CommitmentOfHour, CommitmentUse]) -> tuple[int | Fraction, ...]:
    commitment, use = pair
    # A use without a price saves nothing that anybody knows of.
    saved = use.contracted_micros or 0
    per_ms = capacity_per_ms(commitment, use)
    # On demand ÷ the plan's price: the highest is the highest saving percentage.
    worth = Fraction(saved, per_ms * (use.end_ms - use.start_ms))
    scope = commitment.scope
    # An owner's own use comes before that of other accounts which share it.
    others = is_elsewhere(commitment.terms, use.terms)
    place: tuple[int | Fraction, ...]
    if commitment.kind is CommitmentKind.SAVINGS_PLAN:
        place = (not scope.is_bound, others, -worth, per_ms // use.nodes)
    else:
        size = per_ms // use.nodes if commitment.size else 0
        may_be_elsewhere = bool(scope.region) and not lies_in(use.region, scope.region)
        place = (-scope.narrowness, others, may_be_elsewhere, size, -worth)
    return (commitment.kind, *place, commitment.id, use.node_id, use.start_ms)


def _covered_parts(
    commitment: CommitmentOfHour, taken: Sequence[_Taken], left: int
) -> list[Covered]:
    weights = [used_part.weight for used_part in taken]
    shares = largest_remainder(commitment.paid_micros, [*weights, left])
    parts = []
    for portion, share in zip(taken, shares[:-1], strict=True):
        contracted = _amount_within(portion, portion.use.contracted_micros)
        parts.append(
            Covered(
                commitment_id=commitment.id,
                node_id=portion.use.node_id,
                start_ms=portion.start_ms,
                end_ms=portion.end_ms,
                list_micros=_list_within(portion, contracted),
                contracted_micros=contracted,
                effective_micros=share if contracted is None else min(share, contracted),
            )
        )
    return parts


def _list_within(taken: _Taken, contracted: int | None) -> int | None:
    listed, agreed = taken.use.list_micros, taken.use.contracted_micros
    if listed is None or agreed is None or contracted is None:
        return _amount_within(taken, listed)
    # Each step is cut by itself, so that no cut loses the order of the bases.
    return contracted + (_amount_within(taken, listed - agreed) or 0)


def _amount_within(taken: _Taken, micros: int | None) -> int | None:
    """The part of a use's amount in a span of it; the spans of a use sum to the amount."""
    if micros is None:
        return None
    use = taken.use
    lasts = use.end_ms - use.start_ms
    until = micros * (taken.end_ms - use.start_ms) // lasts
    return until - micros * (taken.start_ms - use.start_ms) // lasts
