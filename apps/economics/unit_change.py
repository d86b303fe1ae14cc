"""The parts of a change of a figure per unit: they add up exactly, in millionths."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from apps.economics.money import sum_or_unknown
from apps.economics.variance import effects

LEAST = 1e-9
MILLION = 1_000_000
PRICE, VOLUME, MIX, EFFICIENCY = "price", "volume", "mix", "efficiency"
COMMITMENTS = "commitments"
DISCOUNTS = "credits"
"""The name of spend that is given back, or owed for a commitment that nobody used."""
INNER = "inner"


@dataclass(frozen=True, slots=True)
class UnitSpend:
    """The cost of a kind of GPU in a span and for how long it worked; without time, it is a charge.

    `contracted_micros` is what the same would have cost without commitments; None: nobody knows.
    """

    micros: int
    unit_ms: int
    contracted_micros: int | None = None

    def plus(self, other: "UnitSpend") -> "UnitSpend":
        """Both together."""
        contracted = sum_or_unknown((self.contracted_micros, other.contracted_micros))
        return UnitSpend(self.micros + other.micros, self.unit_ms + other.unit_ms, contracted)


@dataclass(frozen=True, slots=True)
class Served:
    """A span of a service: its spend by kind of GPU, its requests, and their tokens if known."""

    spend: Mapping[str, UnitSpend]
    requests: int
    tokens: int | None

    @property
    def unit_ms(self) -> int:
        """All time of all kinds."""
        return sum(spend.unit_ms for spend in self.spend.values())

    @property
    def thousand(self) -> float:
        """Currency for a thousand requests."""
        return sum(spend.micros for spend in self.spend.values()) / self.requests / 1_000


@dataclass(frozen=True, slots=True)
class Weighed:
    """A part of a mean: its amount, and the weight that this is per."""

    amount: float
    weight: float


def mean_of(cells: Mapping[str, Weighed]) -> float | None:
    """Σ amount ÷ Σ weight; None of no weight."""
    weight = sum(cell.weight for cell in cells.values())
    return sum(cell.amount for cell in cells.values()) / weight if weight else None


def served_parts(before: Served, after: Served) -> dict[str, int]:
    """Return the parts that moved the cost of a thousand requests, in millionths; they sum to its change.

    Each kind's cost per request is its price of GPU time before commitments × what these leave of it
    (commitments) × its share of the time (mix) × the time of a token (efficiency) × the tokens of
    a request (volume); without tokens, × the time of a request. Where one of the spans does not
    know its price before commitments, all of the price is price. Charges without time are price,
    credits commitments; a kind that came or went is mix.
    """
    parts = dict.fromkeys((PRICE, COMMITMENTS, VOLUME, MIX, EFFICIENCY), 0.0)
    by_tokens = bool(before.tokens and after.tokens)
    works = [span.tokens or 0 if by_tokens else span.requests for span in (before, after)]
    for name in sorted({*before.spend, *after.spend}):
        was, now = _unit_factors(before, name, works[0]), _unit_factors(after, name, works[1])
        if COMMITMENTS not in was or COMMITMENTS not in now:
            was, now = _without_commitments(was), _without_commitments(now)
        if was and now:
            moved = effects(was, now)
        else:
            moved = {
                _change_reason(before, after, name): _unit_cost(after, name)
                - _unit_cost(before, name)
            }
        for factor, amount in moved.items():
            parts[factor] += amount
    return in_millionths(parts, round(after.thousand * MILLION) - round(before.thousand * MILLION))


def mean_parts(
    before: Mapping[str, Weighed], after: Mapping[str, Weighed], inner: str
) -> dict[str, int]:
    """Return the parts that moved a mean, in millionths: the weights of its cells (mix), and the cells (`inner`).

    They sum to its change, of two means that are known.
    """
    parts = {MIX: 0.0, inner: 0.0}
    wholes = [sum(cell.weight for cell in cells.values()) for cells in (before, after)]
    for name in {*before, *after}:
        was, now = (
            _mix_factors(cells.get(name), weight_sum)
            for cells, weight_sum in zip((before, after), wholes, strict=True)
        )
        if was[MIX] > 0 and now[MIX] > 0 and was[INNER] > 0 and now[INNER] > 0:
            moved = effects(was, now)
            parts[MIX] += moved[MIX]
            parts[inner] += moved[INNER]
            continue
        reason = inner if was[MIX] > 0 and now[MIX] > 0 else MIX
        parts[reason] += now[MIX] * now[INNER] - was[MIX] * was[INNER]
    total = round((mean_of(after) or 0) * MILLION) - round((mean_of(before) or 0) * MILLION)
    return in_millionths(parts, total)


def in_millionths(parts: Mapping[str, float], total: int) -> dict[str, int]:
    """The parts as whole millionths that sum to `total`: largest remainders, ties in their order."""
    exact = {name: amount * MILLION for name, amount in parts.items()}
    millionths = {name: floor(amount) for name, amount in exact.items()}
    left = total - sum(millionths.values())
    by_remainder = sorted(exact, key=lambda name: millionths[name] - exact[name])
    for place in range(abs(left)):
        millionths[by_remainder[place % len(by_remainder)]] += 1 if left > 0 else -1
    return millionths


def _unit_factors(span: Served, name: str, work: int) -> dict[str, float]:
    spend = span.spend.get(name)
    if spend is None or spend.unit_ms <= 0 or spend.micros <= 0:
        return {}
    factors = {
        PRICE: spend.micros / spend.unit_ms,
        MIX: spend.unit_ms / span.unit_ms,
        EFFICIENCY: span.unit_ms / work,
        VOLUME: work / span.requests / 1_000,
    }
    if spend.contracted_micros is not None and spend.contracted_micros > 0:
        factors[COMMITMENTS] = spend.micros / spend.contracted_micros
        factors[PRICE] = spend.contracted_micros / spend.unit_ms
    return factors


def _without_commitments(factors: Mapping[str, float]) -> dict[str, float]:
    """Return the factors with one price, after commitments."""
    left = factors.get(COMMITMENTS, 1.0)
    return {
        name: factor * left if name == PRICE else factor
        for name, factor in factors.items()
        if name != COMMITMENTS
    }


def _change_reason(before: Served, after: Served, name: str) -> str:
    """Why a kind's cost per request changed that has no time, or no cost, at one end."""
    if name == DISCOUNTS:
        return COMMITMENTS
    was, now = before.spend.get(name), after.spend.get(name)
    if (was is None or was.unit_ms == 0) and (now is None or now.unit_ms == 0):
        return PRICE
    return PRICE if was is not None and now is not None and was.unit_ms and now.unit_ms else MIX


def _unit_cost(span: Served, name: str) -> float:
    spend = span.spend.get(name)
    return 0.0 if spend is None else spend.micros / span.requests / 1_000


def _mix_factors(cell: Weighed | None, weight_sum: float) -> dict[str, float]:
    if cell is None or not cell.weight or not weight_sum:
        return {MIX: 0.0, INNER: 0.0}
    # So little that no millionth of a mean shows it is nothing: logarithms of it run away.
    inner = cell.amount / cell.weight if cell.amount / weight_sum > LEAST else 0.0
    return {MIX: cell.weight / weight_sum, INNER: inner}
