"""Days of the ledger that are settled: what a part of the costs came to on each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date

from apps.economics.hours import HOUR_MS
from apps.economics.states import State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import States, StateSum, state_sums
from apps.ledger.queries.kinds import ChargeKind, Status
from apps.ledger.queries.loading import Loading
from apps.ledger.queries.windows import Window

GPU_TIME = (ChargeKind.NODE_HOUR,)
CHARGED = (ChargeKind.NODE_HOUR, ChargeKind.API)
"""What work is charged itself: what is shared out goes to others when it leaves."""


@dataclass(frozen=True, slots=True)
class LedgerDaySum:
    """A settled day of a part of the costs. Of `gpu_hours` so many are known to have worked."""

    micros: int = 0
    gpu_hours: float = 0.0
    active_hours: float = 0.0


@dataclass(frozen=True, slots=True)
class PriceParts:
    """The charge of a day's GPU time, and what it comes to at one price, in micro-units."""

    paid: float = 0.0
    constant: float = 0.0


@dataclass(frozen=True, slots=True)
class CostSubject:
    """The subject of costs: a workload, else everybody; on a pool, else anywhere."""

    workload_id: int | None = None
    pool_id: int | None = None


def ledger_days(
    subject: CostSubject,
    window: Window,
    kinds: Iterable[ChargeKind],
    *,
    states: Iterable[State] = (),
    basis: Basis = Basis.EFFECTIVE,
) -> dict[date, LedgerDaySum]:
    """Return the subject's charges on each settled day of the window, of these kinds and states (empty: all).

    Days that are provisional, or of which a part has no price, are left out. On a day of which it has nothing it cost
    nothing, where the ledger's other hours are settled.
    """
    question = CubeQuestion(
        window, ("day",), basis=basis, loading=Loading.DIRECT, is_bounded=False
    ).of(kind=map(str, kinds))
    if subject.workload_id is not None:
        question = question.of(workload=[subject.workload_id])
    if subject.pool_id is not None:
        question = question.of(pool=[subject.pool_id])
    if wanted := list(map(int, states)):
        question = question.of(state=wanted)
    sums_by_day = {day: of_day for (day,), of_day in state_sums(question).items()}
    all_time = replace(question, filters={}).of(kind=[str(ChargeKind.NODE_HOUR)])
    ledger = {day: of_day for (day,), of_day in state_sums(all_time).items()}
    return {
        day: _day_sum(sums_by_day.get(day, ()))
        for day, of_day in ledger.items()
        if isinstance(day, date) and _is_settled(sums_by_day.get(day, of_day))
    }


def price_parts(
    subject: CostSubject, window: Window, is_since: Callable[[date], bool]
) -> dict[date, PriceParts]:
    """Return the cost of each day's GPU time, and what it would be at one price for each pool and purchase option.

    That is the mean of the days since, or where it has none any more of the days before: so a rate that changed is no
    saving, and work that moved to cheaper capacity is.
    """
    question = CubeQuestion(
        window, ("day", "pool", "purchase_option"), loading=Loading.DIRECT, is_bounded=False
    ).of(kind=map(str, GPU_TIME))
    if subject.workload_id is not None:
        question = question.of(workload=[subject.workload_id])
    cells = [
        (day, place, sum(state.micros or 0 for state in states), _time_of(states))
        for (day, *place), states in state_sums(question).items()
        if isinstance(day, date)
    ]
    prices: dict[tuple[object, ...], float] = {}
    for is_new in (False, True):
        by_place: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        for day, place, micros, time in cells:
            if is_since(day) is is_new:
                by_place.setdefault(tuple(place), []).append((micros, time))
        for where, amounts in by_place.items():
            if time := sum(of_day for _, of_day in amounts):
                prices[where] = sum(micros for micros, _ in amounts) / time
    parts: dict[date, PriceParts] = {}
    for day, place, micros, time in cells:
        price = prices.get(tuple(place))
        constant = micros if price is None else price * time
        had = parts.get(day, PriceParts())
        parts[day] = PriceParts(had.paid + micros, had.constant + constant)
    return parts


def _time_of(states: States) -> int:
    return sum(state.gpu_milliseconds for state in states)


def _is_settled(states: Iterable[StateSum]) -> bool:
    return all(
        Status.PROVISIONAL not in state.statuses and not state.unpriced_milliseconds
        for state in states
    )


def _day_sum(states: States) -> LedgerDaySum:
    hours = [(state.state, state.gpu_milliseconds / HOUR_MS) for state in states]
    return LedgerDaySum(
        sum(state.micros or 0 for state in states),
        sum(of_state for _, of_state in hours),
        sum(of_state for state, of_state in hours if state == State.ACTIVE),
    )
