"""How well what was bought ahead is used: coverage, utilisation, savings, and what was not used."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import LiteralString

from apps.economics import commitments as economics
from apps.economics.hours import HOUR, HOUR_MS, MILLISECOND
from apps.economics.money import sum_or_unknown
from apps.fleet import queries as fleet
from apps.ledger.models import ChargePart
from apps.ledger.queries.commitments_billed import (
    BilledUse,
    ToldSpans,
    billed_spans,
    billed_use,
    is_billed,
)
from apps.ledger.queries.commitments_of_hour import bought_as
from apps.ledger.queries.offered_use import OFFERED, bought_blocks, use_of, use_terms_index
from apps.ledger.queries.tables import rows
from apps.pricing.queries.commitments import CommitmentFact, commitments_in

# A term may begin within an hour: a piece is of the time in which it begins, and never before the term
# that it is covered by.
USED: LiteralString = """
SELECT width_bucket(greatest(charge.hour + piece.start_ms * interval '1 millisecond',
                             lower(covering.period)),
                    %(cuts)s::timestamptz[]), piece.commitment_id, charge.pool_id,
       node.kind, coalesce(capacity.units, 0)::int8, coalesce(told.terms, 0)::int8,
       coalesce(sum(piece.end_ms - piece.start_ms) FILTER (WHERE charge.part <> %(host)s), 0)::int8,
       CASE WHEN count(piece.contracted_micros) = count(*)
            THEN sum(piece.contracted_micros)::int8 END,
       CASE WHEN count(piece.effective_micros) = count(*)
            THEN sum(piece.effective_micros)::int8 END
:offered
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
""".replace(":offered", OFFERED)
# What nobody used, by ourselves or by a bill, which calls the commitment what its provider does.
UNUSED: LiteralString = """
SELECT width_bucket(charge.hour, %(cuts)s::timestamptz[]),
       coalesce(charge.commitment_id, bought.id),
       coalesce(sum(extract(epoch FROM least(charge.through, upper(term.period))
                                       - greatest(charge.hour, lower(term.period))) * 1000)
                FILTER (WHERE charge.billed_charge_id IS NULL), 0)::int8,
       CASE WHEN count(charge.effective_micros) = count(*)
            THEN sum(charge.effective_micros)::int8 END
FROM ledger_charge AS charge
LEFT JOIN ledger_billedcharge AS billed ON billed.id = charge.billed_charge_id
LEFT JOIN LATERAL (
    SELECT id FROM pricing_commitment_fact
    WHERE external_id = billed.label AND external_id <> '' ORDER BY id LIMIT 1
) AS bought ON TRUE
LEFT JOIN pricing_commitment_fact AS term ON term.id = coalesce(charge.commitment_id, bought.id)
WHERE charge.kind = 'commitment_unused' AND charge.corrects_id IS NULL
  AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
GROUP BY 1, 2 ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of what was bought, used and eligible in a time, and what it cost; money in micro-units.

    Capacities are unit-milliseconds, of a spend micro-units times milliseconds. `on_demand` is what
    the covered use costs at the price without the commitment, contracted before list. An amount is
    None where any of it is not known.
    """

    bought: int = 0
    used: int = 0
    eligible: int = 0
    covered_ms: int = 0
    on_demand: int | None = 0
    covered_cost: int | None = 0
    unused_cost: int | None = 0

    @property
    def coverage(self) -> Fraction | None:
        """Covered ÷ eligible use."""
        return economics.coverage(self.used, self.eligible)

    @property
    def utilisation(self) -> Fraction | None:
        """Used ÷ bought."""
        return Fraction(self.used, self.bought) if self.bought else None

    @property
    def cost(self) -> int | None:
        """The amount paid for the commitment, amortised: used and unused."""
        return sum_or_unknown((self.covered_cost, self.unused_cost))

    @property
    def saved(self) -> int | None:
        """On-demand equivalent − cost, unused included; below 0 it cost more than it saved."""
        if self.on_demand is None or self.cost is None:
            return None
        return self.on_demand - self.cost

    @property
    def savings_rate(self) -> Fraction | None:
        """Effective savings rate: saved ÷ on-demand equivalent."""
        if self.on_demand is None or self.cost is None:
            return None
        return economics.effective_savings_rate(self.on_demand, self.cost)

    @property
    def break_even(self) -> Fraction | None:
        """The utilisation at which it costs what on-demand would, at the price of what it covered."""
        if self.on_demand is None or self.cost is None or not self.used:
            return None
        return economics.break_even(self.cost * self.used, self.on_demand * self.bought)

    def plus(self, other: "Figures") -> "Figures":
        """Both together."""
        return Figures(
            bought=self.bought + other.bought,
            used=self.used + other.used,
            eligible=self.eligible + other.eligible,
            covered_ms=self.covered_ms + other.covered_ms,
            on_demand=sum_or_unknown((self.on_demand, other.on_demand)),
            covered_cost=sum_or_unknown((self.covered_cost, other.covered_cost)),
            unused_cost=sum_or_unknown((self.unused_cost, other.unused_cost)),
        )


@dataclass(frozen=True, slots=True)
class Use:
    """The figures of each commitment in each of some times, `[cuts[i], cuts[i + 1])`.

    `eligible_ms` and `covered_ms` are GPU-milliseconds that any commitment could cover, and did.
    `nameless_unused` is what bills tell of commitments that nobody entered.
    """

    cuts: tuple[datetime, ...]
    commitments: Mapping[int, CommitmentFact]
    of: Mapping[tuple[int, int], Figures]
    eligible_ms: Mapping[int, int]
    covered_ms: Mapping[int, int]
    nameless_unused: int | None = 0

    def figures(self, commitment_id: int) -> Figures:
        """Of one commitment through all the times."""
        return total(figures for (one, _), figures in self.of.items() if one == commitment_id)

    def in_time(self, index: int) -> Figures:
        """Of all commitments in one of the times; capacities of unlike units mean nothing."""
        return total(figures for (_, time), figures in self.of.items() if time == index)

    @property
    def all(self) -> Figures:
        """The money of all commitments; capacities of unlike units mean nothing."""
        return total(self.of.values())

    @property
    def coverage(self) -> Fraction | None:
        """Covered ÷ eligible GPU time of all commitments."""
        eligible = sum(self.eligible_ms.values())
        return economics.coverage(sum(self.covered_ms.values()), eligible)

    @property
    def utilisation(self) -> Fraction | None:
        """Used ÷ bought, each commitment weighed by what it cost; None where a cost is unknown."""
        weighed = [
            (figures.cost, figures.utilisation) for figures in map(self.figures, self.commitments)
        ]
        known_pairs = [(cost, used) for cost, used in weighed if used is not None]
        total_cost = sum(cost or 0 for cost, _ in known_pairs)
        if not total_cost or None in [cost for cost, _ in known_pairs]:
            return None
        return sum((used * (cost or 0) for cost, used in known_pairs), Fraction(0)) / total_cost


@dataclass(slots=True)
class _Sums:
    """Figures as they are gathered, by commitment and time."""

    of: dict[tuple[int, int], Figures] = field(default_factory=dict)
    eligible_ms: dict[int, int] = field(default_factory=dict)
    covered_ms: dict[int, int] = field(default_factory=dict)

    def add(self, commitment_id: int, time: int, more: Figures) -> None:
        key = (commitment_id, time)
        self.of[key] = self.of.get(key, Figures()).plus(more)

    def add_time(self, time: int, eligible_ms: int, covered_ms: int) -> None:
        self.eligible_ms[time] = self.eligible_ms.get(time, 0) + eligible_ms
        self.covered_ms[time] = self.covered_ms.get(time, 0) + covered_ms


def commitment_use(cuts: Sequence[datetime], at: datetime) -> Use:
    """Return the use of each commitment, by the charges, between `cuts`, moments in order, at least two.

    Hours that were not charged yet are in nothing.
    """
    starts_at, ends_at = cuts[0], cuts[-1]
    commitments_by_id = {
        commitment.id: commitment for commitment in commitments_in(starts_at, ends_at)
    }
    sums = _Sums()
    nameless: int | None = 0
    if commitments_by_id:
        params: dict[str, object] = {
            "starts_at": starts_at,
            "ends_at": ends_at,
            "host": int(ChargePart.HOST),
        }
        bill_spans = billed_spans(params)
        spans = _span_starts(cuts, commitments_by_id.values(), bill_spans)
        params["cuts"] = spans
        times = {place + 1: bisect_right(cuts, start) - 1 for place, start in enumerate(spans)}
        _add_used(sums, commitments_by_id, times, spans, bill_spans, params)
        nameless = _add_unused(sums, commitments_by_id, times, params)
        _add_billed_use(sums, commitments_by_id, cuts, at, bill_spans)
    return Use(tuple(cuts), commitments_by_id, sums.of, sums.eligible_ms, sums.covered_ms, nameless)


def total(figures: Iterable[Figures]) -> Figures:
    """The sum of some figures."""
    combined = Figures()
    for one in figures:
        combined = combined.plus(one)
    return combined


def _span_starts(
    cuts: Sequence[datetime], commitments: Iterable[CommitmentFact], bill_spans: ToldSpans
) -> list[datetime]:
    """The cuts, and where a term, or what a bill tells of one, begins or ends between them.

    In none a commitment holds, or is told, in part.
    """
    bounds = {
        bound
        for commitment_fact in commitments
        for bound in (commitment_fact.starts_at, commitment_fact.ends_at)
    }
    bounds |= {bound for spans in bill_spans.values() for span in spans for bound in span}
    return sorted({*cuts[:-1], *(bound for bound in bounds if cuts[0] < bound < cuts[-1])})


def _add_used(
    sums: _Sums,
    commitments_by_id: Mapping[int, CommitmentFact],
    times: Mapping[int, int],
    spans: Sequence[datetime],
    bill_spans: ToldSpans,
    params: Mapping[str, object],
) -> None:
    """Add what was eligible and used: by bills where they tell it, else as we covered it."""
    pools, terms = fleet.pools(), use_terms_index(bought_blocks(commitments_by_id.values()))
    params = {**params, **terms.params}
    bought = {one: bought_as(fact) for one, fact in commitments_by_id.items()}
    billed = {
        (one, span): use
        for (one, span), use in billed_use(bought, params).items()
        if is_billed(bill_spans.get(one, ()), spans[span - 1])
    }
    # Of what bills tell: what we would have covered, and its GPU time.
    ours: dict[tuple[int, int], tuple[int, int]] = dict.fromkeys(billed, (0, 0))
    for span, covers, pool_id, kind, units, told_as, *amounts in rows(USED, params):
        lasts_ms, contracted, effective = amounts
        time = times[span]
        use = use_of(pools[pool_id], kind, units, contracted, terms.of(told_as))
        holding = [
            one
            for one, fact in commitments_by_id.items()
            if fact.starts_at <= spans[span - 1] < fact.ends_at
        ]
        rates = {one: economics.capacity_per_ms(bought[one], use) for one in holding}
        could = any(rates.values())
        for one, rate in rates.items():
            sums.add(one, time, Figures(eligible=rate * lasts_ms))
        unit_ms = use.gpus * lasts_ms
        is_ours = covers in commitments_by_id and (covers, span) not in billed
        sums.add_time(time, unit_ms if could else 0, unit_ms if is_ours else 0)
        if (covers, span) in billed:
            would, gpu_ms = ours[covers, span]
            ours[covers, span] = (would + rates.get(covers, 0) * lasts_ms, gpu_ms + unit_ms)
        elif is_ours:
            covered = Figures(
                used=rates.get(covers, 0) * lasts_ms,
                covered_ms=unit_ms,
                on_demand=contracted,
                covered_cost=effective,
            )
            sums.add(covers, time, covered)
    for (one, span), bill_use in billed.items():
        _add_billed(sums, one, times[span], bill_use, ours[one, span])


def _add_billed(
    sums: _Sums, one: int, time: int, bill_use: BilledUse, ours: tuple[int, int]
) -> None:
    would, unit_ms = ours
    # GPU time is ours, as far as the bill used what we would have.
    covered_ms = unit_ms * bill_use.used // would if would else 0
    sums.add_time(time, 0, covered_ms)
    used = Figures(
        used=bill_use.used,
        covered_ms=covered_ms,
        on_demand=bill_use.on_demand,
        covered_cost=bill_use.covered_cost,
    )
    sums.add(one, time, used)


def _add_unused(
    sums: _Sums,
    commitments_by_id: Mapping[int, CommitmentFact],
    times: Mapping[int, int],
    params: Mapping[str, object],
) -> int | None:
    """Add what nobody used; return what bills tell of commitments that nobody entered."""
    nameless: int | None = 0
    for span, one, lasts_ms, micros in rows(UNUSED, params):
        if one in commitments_by_id:
            bought = _capacity_per_ms(commitments_by_id[one]) * lasts_ms
            sums.add(one, times[span], Figures(bought=bought, unused_cost=micros))
        else:
            nameless = sum_or_unknown((nameless, micros))
    return nameless


def _add_billed_use(
    sums: _Sums,
    commitments_by_id: Mapping[int, CommitmentFact],
    cuts: Sequence[datetime],
    at: datetime,
    bill_spans: ToldSpans,
) -> None:
    for one, bill_starts_at, bill_ends_at in (
        (one, *span)
        for one, spans in bill_spans.items()
        if one in commitments_by_id
        for span in spans
    ):
        fact = commitments_by_id[one]
        for time, (starts_at, ends_at) in enumerate(pairwise(cuts)):
            begins = max(starts_at, fact.starts_at, bill_starts_at)
            ends = min(ends_at, fact.ends_at, bill_ends_at, at)
            if ends > begins:
                lasts_ms = (ends - begins) // MILLISECOND
                sums.add(one, time, Figures(bought=_capacity_per_ms(fact) * lasts_ms))


def _capacity_per_ms(fact: CommitmentFact) -> int:
    return bought_as(fact).capacity // HOUR_MS


@dataclass(frozen=True, slots=True)
class Term:
    """How far a commitment has come, in its own currency: whole micro-units, and hours."""

    paid_micros: int
    left_micros: int
    hours: int
    left_hours: int


def term_of(fact: CommitmentFact, at: datetime) -> Term:
    """Its price over its term, so far and from now on; of one ended early nothing is left."""
    price_micros = round(fact.price * 1_000_000)
    is_over = at >= fact.ends_at
    gone_ms = fact.elapsed_ms(min(at, fact.ends_at))
    if not is_over:
        gone_ms -= gone_ms % HOUR_MS
    paid = price_micros * gone_ms // fact.term_ms
    left_hours = max(0, (fact.ends_at - max(at, fact.starts_at)) // HOUR)
    left = 0 if is_over else price_micros * fact.elapsed_ms(fact.ends_at) // fact.term_ms - paid
    return Term(paid, left, fact.hours, left_hours)


def ends_within(fact: CommitmentFact, at: datetime) -> int | None:
    """30, 60 or 90: the fewest days within which it ends; None where it is later or over."""
    if not at < fact.ends_at:
        return None
    days = (fact.ends_at - at) / timedelta(days=1)
    return next((most for most in (30, 60, 90) if days <= most), None)
