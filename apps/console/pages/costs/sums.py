"""Amounts of states added up as pages speak of them; unknown stays None."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from apps.economics.hours import HOUR_MS
from apps.economics.money import sum_of_known
from apps.economics.states import State
from apps.ledger.queries import StateSum
from apps.ledger.queries.cube.days import Daily, PeriodComparison
from apps.show.amounts import share
from apps.show.words import NOT_WORKED, STATES, StateWords

Micros = int | None
TIMES = (
    "gpu_milliseconds",
    "unpriced_milliseconds",
    "held_milliseconds",
    "observed_milliseconds",
    "core_milliseconds",
)
"""The times of a sum by state."""


@dataclass(frozen=True, slots=True)
class Sums:
    """The cost of some GPU time, by key of state; a state that did not occur is not in it."""

    by_state: Mapping[str, Micros]
    provisional: Mapping[str, Micros]
    gpu_milliseconds: int
    unpriced_milliseconds: int

    @property
    def total(self) -> Micros:
        """Everything known; None where nothing is."""
        return sum_of_known(self.by_state.values())

    @property
    def provisional_total(self) -> Micros:
        """The part of the total that is not settled yet."""
        return sum_of_known(self.provisional.values())

    @property
    def not_worked(self) -> Micros:
        """The cost of time of which it is known that nothing worked: the states of waste."""
        if self.total is None:
            return None
        return sum_of_known(self.by_state.get(key) for key in NOT_WORKED) or 0

    @property
    def worked_ratio(self) -> Fraction | None:
        """The part of the total in which a kernel was running."""
        return share(self.by_state.get("active") or 0, self.total)

    @property
    def gpu_hour_micros(self) -> Micros:
        """The total ÷ its GPU-hours; at least so much where some of them have no price."""
        if self.total is None or not self.gpu_milliseconds:
            return None
        return round(Fraction(self.total * HOUR_MS, self.gpu_milliseconds))

    @property
    def states(self) -> tuple[StateWords, ...]:
        """The states with a cost, in the order in which they are drawn."""
        return tuple(state for state in STATES if self.by_state.get(state.key))


@dataclass(frozen=True, slots=True)
class SummedDays:
    """The sums of each day, of all of them, and of like spans `now` and `before`, where there are."""

    days: Mapping[date, Sums]
    whole: Sums
    against: PeriodComparison | None
    now: Sums
    before: Sums


def summed_days(daily: Daily) -> SummedDays:
    """Every sum that figures are of, each made once."""
    against = daily.against
    return SummedDays(
        days={day: sums_of(states) for day, states in daily.days.items()},
        whole=sums_of(daily.states),
        against=against,
        now=sums_of(against.now_states if against else ()),
        before=sums_of(against.before_states if against else ()),
    )


def sums_of(parts: Iterable[StateSum]) -> Sums:
    """The sums of days or teams, in one pass."""
    by_state: dict[str, Micros] = {}
    provisional: dict[str, Micros] = {}
    gpu_milliseconds = unpriced_milliseconds = 0
    for part in parts:
        key = _KEYS[part.state]
        by_state[key] = _with(by_state.get(key), part.micros)
        provisional[key] = _with(provisional.get(key), part.provisional_micros)
        gpu_milliseconds += part.gpu_milliseconds
        unpriced_milliseconds += part.unpriced_milliseconds
    return Sums(by_state, provisional, gpu_milliseconds, unpriced_milliseconds)


def states_less(total_states: Iterable[StateSum], part: Iterable[StateSum]) -> tuple[StateSum, ...]:
    """Return what is left of a whole without a part of it, by state; states of which nothing is left are not in it."""
    taken = {state_sum.state: state_sum for state_sum in part}
    left = []
    for state, sums in _by_state(total_states).items():
        of_part = taken.get(state)
        remainder = sums if of_part is None else _less(sums, of_part)
        if not remainder.is_nothing:
            left.append(remainder)
    return tuple(left)


def _by_state(parts: Iterable[StateSum]) -> dict[State | None, StateSum]:
    """Those of one state together."""
    sum_by_state: dict[State | None, StateSum] = {}
    for part in parts:
        previous = sum_by_state.get(part.state)
        sum_by_state[part.state] = part if previous is None else _plus(previous, part)
    return sum_by_state


def _plus(one: StateSum, other: StateSum) -> StateSum:
    micros, provisional = (
        sum_of_known((getattr(one, name), getattr(other, name)))
        for name in ("micros", "provisional_micros")
    )
    times = {name: getattr(one, name) + getattr(other, name) for name in TIMES}
    return one._replace(
        micros=micros,
        provisional_micros=provisional,
        statuses=one.statuses | other.statuses,
        **times,
    )


def _less(total: StateSum, part: StateSum) -> StateSum:
    """Unknown stays unknown: where all of the whole has no price, so has what is left."""
    micros = None if total.micros is None else total.micros - (part.micros or 0)
    times = {name: getattr(total, name) - getattr(part, name) for name in TIMES}
    return total._replace(micros=micros, provisional_micros=None, **times)


def is_unobserved(by_state: Mapping[str, Micros]) -> bool:
    """Whether nothing that was held was observed: how much of it was active is not known."""
    observed = by_state.get("active") or by_state.get("held_idle")
    return bool(by_state.get("unobserved")) and not observed


def state_key(state: State | None) -> str:
    """The key under which words, colours and charts know a state."""
    return "other" if state is None else state.name.lower()


_KEYS = {state: state_key(state) for state in (None, *State)}


def _with(sum_so_far: Micros, micros: Micros) -> Micros:
    if micros is None or sum_so_far is None:
        return micros if sum_so_far is None else sum_so_far
    return sum_so_far + micros
