"""The days of a recommendation's costs and of the work they were for, by how its kind is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from statistics import fmean
from typing import TypeAlias

from apps.economics.cost_volume import CostDay
from apps.economics.realised_saving import UnknownSaving
from apps.economics.states import State
from apps.ledger.queries.api_spend import SpendQuery, spend
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.kinds import ChargeKind
from apps.ledger.queries.windows import Window
from apps.review.queries.measuring.ledger_days import (
    CHARGED,
    GPU_TIME,
    CostSubject,
    LedgerDaySum,
    ledger_days,
    price_parts,
)
from apps.review.queries.measuring.outputs import output_of
from apps.review.queries.measuring.spans import MeasuredSpans
from apps.review.queries.recommendations import RecommendationFact
from apps.review.queries.recommending.pool_capacity import RELEASED_PRICE
from apps.review.queries.recommending.proposal import SavingBasis

PRICE_KINDS = frozenset({"to_spot", "elsewhere", "to_api", "to_self_host"})
"""What these change is the price: at one price nothing would be left of them."""
PRICES_IN_IT = "rates that changed in these weeks for another reason are in it too"
COVERED_SINCE = "what its commitment covers since is taken to be what it would have covered before"
STILL_PAID = "whether machines were given back is not known: it is of no single pool"


@dataclass(frozen=True, slots=True)
class MeasuredDays:
    """The days that are held against each other: the settled days of both spans, and the unit of the work (empty: cost alone).

    `would` says what the days since would have cost, in words that end with how many days before and until when. Where it is
    costs for an output (`has_twin`), `twin` is work that was not touched, on the days of both spans.
    """

    before: tuple[CostDay, ...]
    since: tuple[CostDay, ...]
    unit: str
    would: str
    doubts: tuple[str, ...] = ()
    has_twin: bool = False
    twin: tuple[CostDay, ...] = ()
    twin_name: str = ""


DayReader: TypeAlias = Callable[[RecommendationFact, MeasuredSpans], MeasuredDays | UnknownSaving]


def measured_days(
    fact: RecommendationFact, basis: SavingBasis, spans: MeasuredSpans
) -> MeasuredDays | UnknownSaving:
    """By its kind's basis."""
    return READERS[basis](fact, spans)


def _per_output(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    if fact.workload_id is None:
        return UnknownSaving.NO_WORKLOAD
    costs = ledger_days(CostSubject(fact.workload_id), spans.whole, CHARGED)
    before = {day: cost for day, cost in costs.items() if spans.is_before(day)}
    output = output_of(fact.workload_id, spans.whole, before, costs)
    paid = {day: float(cost.micros) for day, cost in costs.items()}
    would = f"its {output.unit} of each day at what one cost on the same weekday"
    doubts = [output.doubt] if output.doubt else []
    if fact.kind in PRICE_KINDS:
        doubts.append(PRICES_IN_IT)
    else:
        paid = _at_constant_prices(fact.workload_id, paid, spans)
        would += ", at today's rates"
    return _split(
        paid,
        output.days,
        spans,
        MeasuredDays((), (), output.unit, would, tuple(doubts), has_twin=True),
    )


def _at_constant_prices(
    workload_id: int, paid: Mapping[date, float], spans: MeasuredSpans
) -> dict[date, float]:
    """Return what the GPU time of each day would have cost at the rates since; what calls cost stays as it was."""
    parts = price_parts(CostSubject(workload_id), spans.whole, spans.is_since)
    return {
        day: micros + (parts[day].constant - parts[day].paid if day in parts else 0.0)
        for day, micros in paid.items()
    }


def _held_idle_days(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    days = ledger_days(_subject_of(fact), spans.whole, GPU_TIME, states=(State.HELD_IDLE,))
    would = "the GPU-hours that it held idle on the same weekday, at today's price of one,"
    return _at_todays_price(fact, days, spans, would)


def _unallocated(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    subject = CostSubject(None, fact.pool_id)
    days = ledger_days(subject, spans.whole, GPU_TIME, states=(State.UNALLOCATED,))
    promised = fact.baseline.get(RELEASED_PRICE)
    price = promised or _hour_price(days, spans.is_since) or _hour_price(days, spans.is_before)
    if fact.pool_id is None or price is None or not fact.baseline.get("paid_by_hour"):
        return UnknownSaving.PAID_ANYWAY if fact.pool_id else UnknownSaving.NOTHING_PAID
    # A day of which nothing stands any more has no row: it is a day without such hours.
    all_hours = ledger_days(subject, spans.whole, GPU_TIME)
    paid = {day: days[day].gpu_hours * price if day in days else 0.0 for day in all_hours}
    at_price = "at what it was promised to save" if promised else "at today's price of one"
    would = f"the GPU-hours that no job held on the same weekday, {at_price},"
    doubts = (COVERED_SINCE,) if promised else ()
    return _split(paid, dict.fromkeys(paid, 1.0), spans, MeasuredDays((), (), "", would, doubts))


def _held_days(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    days = ledger_days(_subject_of(fact), spans.whole, GPU_TIME)
    would = "the GPU-hours that it held on the same weekday, at today's price of one,"
    return _at_todays_price(fact, days, spans, would)


def _retired(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    """Return the days of a retired workload: what it held, with its calls on the days on which all of them have a price."""
    if fact.workload_id is None:
        return UnknownSaving.NO_WORKLOAD
    held_days, (calls, _) = _held_days(fact, spans), _called_days(fact.workload_id, spans.whole)
    if not any(calls.values()):
        return held_days
    template = MeasuredDays((), (), "", "what its calls cost on the same weekday")
    paid: dict[date, float] = dict(calls)
    if isinstance(held_days, MeasuredDays):
        template = replace(
            held_days, would=f"what its calls cost on the same weekday, and {held_days.would}"
        )
        days = {
            date.fromordinal(cost_day.day): cost_day.micros
            for cost_day in (*held_days.before, *held_days.since)
        }
        paid = {day: of_day + calls[day] for day, of_day in days.items() if day in calls}
    return _split(paid, dict.fromkeys(paid, 1.0), spans, template)


def _committed(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    """Of all GPUs: what a commitment covers moves from pool to pool."""
    kinds = (ChargeKind.NODE_HOUR, ChargeKind.COMMITMENT_UNUSED)
    paid = ledger_days(CostSubject(), spans.whole, kinds)
    worth = ledger_days(CostSubject(), spans.whole, GPU_TIME, basis=Basis.CONTRACTED)
    both = {day: ledger_day.micros for day, ledger_day in paid.items() if day in worth}
    would = "the GPU-hours of all pools at their price on demand, and of that the part that was paid on the same weekday"
    work = {day: float(ledger_day.micros) for day, ledger_day in worth.items()}
    doubts = ("other commitments that began or ended in these weeks are in it too",)
    return _split(both, work, spans, MeasuredDays((), (), "price on demand", would, doubts))


def _api_tokens(fact: RecommendationFact, spans: MeasuredSpans) -> MeasuredDays | UnknownSaving:
    if fact.workload_id is None:
        return UnknownSaving.NO_WORKLOAD
    priced, tokens = _called_days(fact.workload_id, spans.whole)
    would = "the tokens of each day's calls at what one cost on the same weekday"
    return _split(priced, tokens, spans, MeasuredDays((), (), "tokens", would))


def _called_days(workload_id: int, window: Window) -> tuple[dict[date, int], dict[date, float]]:
    """Return a workload's charges for calls on days on which all of them have a price, and the tokens of each day."""
    costs = ledger_days(CostSubject(workload_id), window, (ChargeKind.API,))
    query = SpendQuery(window.starts_at, window.ends_at, window.zone)
    called = {
        day_spend.key[1]: day_spend
        for day_spend in spend(query, ["workload", "day"])
        if day_spend.key[0] == workload_id
    }
    tokens = {
        day: float(day_spend.tokens) for day, day_spend in called.items() if isinstance(day, date)
    }
    priced = {
        day: cost.micros
        for day, cost in costs.items()
        if day not in called or not called[day].unpriced
    }
    return priced, tokens


READERS: Mapping[SavingBasis, DayReader] = {
    SavingBasis.PER_OUTPUT: _per_output,
    SavingBasis.HELD_IDLE: _held_idle_days,
    SavingBasis.HELD: _held_days,
    SavingBasis.UNALLOCATED: _unallocated,
    SavingBasis.RETIRED: _retired,
    SavingBasis.COMMITTED: _committed,
    SavingBasis.API_TOKENS: _api_tokens,
}


def _subject_of(fact: RecommendationFact) -> CostSubject:
    return CostSubject(fact.workload_id, fact.pool_id)


def _at_todays_price(
    fact: RecommendationFact,
    days: Mapping[date, LedgerDaySum],
    spans: MeasuredSpans,
    would: str,
) -> MeasuredDays | UnknownSaving:
    """Return the cost of the hours at the price that they have now; where there are none any more, at their last one.

    Only the part that is paid by the hour is saved by leaving; and hours that it gave back and that then stood
    unallocated in the pool are still paid.
    """
    price = _hour_price(days, spans.is_since) or _hour_price(days, spans.is_before)
    by_hour = float(fact.baseline.get("paid_by_hour", 1.0))
    if price is None or not by_hour:
        return UnknownSaving.NOTHING_PAID if by_hour else UnknownSaving.PAID_ANYWAY
    hours = {day: ledger_day.gpu_hours for day, ledger_day in days.items()}
    doubts: tuple[str, ...] = (STILL_PAID,)
    if fact.pool_id is not None:
        hours, doubts = _add_unallocated_rise(hours, fact.pool_id, spans), ()
    paid = {day: of_day * price * by_hour for day, of_day in hours.items()}
    days_held = MeasuredDays((), (), "", would, doubts)
    return _split(paid, dict.fromkeys(paid, 1.0), spans, days_held)


def _hour_price(days: Mapping[date, LedgerDaySum], is_of: Callable[[date], bool]) -> float | None:
    """Micro-units of a GPU-hour on these days; None without any."""
    chosen = [ledger_day for day, ledger_day in days.items() if is_of(day)]
    hours = sum(ledger_day.gpu_hours for ledger_day in chosen)
    return sum(ledger_day.micros for ledger_day in chosen) / hours if hours else None


def _add_unallocated_rise(
    hours: Mapping[date, float], pool_id: int, spans: MeasuredSpans
) -> dict[date, float]:
    """The hours, and since then also those by which the pool's unallocated ones rose: at most as many as were given back."""
    unallocated_days = ledger_days(
        CostSubject(None, pool_id), spans.whole, GPU_TIME, states=(State.UNALLOCATED,)
    )
    unallocated_hours = {day: ledger_day.gpu_hours for day, ledger_day in unallocated_days.items()}
    before = [day for day in hours if spans.is_before(day)]
    if not before:
        return dict(hours)
    usual_hours = fmean(hours[day] for day in before)
    usual = fmean(unallocated_hours.get(day, 0.0) for day in before)
    return {
        day: of_day
        + (
            min(max(0.0, usual_hours - of_day), max(0.0, unallocated_hours.get(day, 0.0) - usual))
            if spans.is_since(day)
            else 0.0
        )
        for day, of_day in hours.items()
    }


def _split(
    paid: Mapping[date, float],
    work: Mapping[date, float],
    spans: MeasuredSpans,
    of: MeasuredDays,
) -> MeasuredDays:
    """With the days of both spans, in order."""
    days = [CostDay(day.toordinal(), paid[day], work.get(day, 0.0)) for day in sorted(paid)]
    return replace(
        of,
        before=tuple(day for day in days if spans.is_before(date.fromordinal(day.day))),
        since=tuple(day for day in days if spans.is_since(date.fromordinal(day.day))),
    )
