"""Sentences of what a request's profile says, with numbers and the formula of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from apps.accounts.queries import organisation
from apps.economics.capacity import (
    GpuReturn,
    ReturnedGpus,
    capacity_cost,
    gpu_returns,
    returned_together,
)
from apps.economics.demand_gates import forecast_gates, room_gate, term_gate
from apps.economics.gates import Gate, GateName, joint_gates
from apps.economics.hours import DAY_HOURS, HOUR_MS
from apps.economics.money import MICROS
from apps.planning.queries.budgets import MONEY
from apps.planning.queries.capacity_places import CONTRACTED, EFFECTIVE, LIST
from apps.planning.queries.request_profile import (
    BudgetRoom,
    DemandForecast,
    RequestProfile,
    UseFact,
)
from apps.planning.queries.requests import CapacityRequestFact
from apps.planning.queries.series import TEAM
from apps.show.amounts import gpu_hours, per_cent
from apps.show.money import rounded_amount

NOT_HELD_AGAINST = "it was raised before what is asked for was held against what is there"
NO_DEMAND = "there is no forecast of what is held there beside it"
NOT_SEEN = "what all teams hold there beside it is for who sees everything"
ONLY_THERE = "what is there; what is beyond it waits"
DAY_MS = DAY_HOURS * HOUR_MS
MONTH_MS = 30 * DAY_MS
"""What an open request is priced by: 30 days."""
FIXES: Mapping[GpuReturn, str] = {
    GpuReturn.DATA_WAIT: "A data-loader fix",
    GpuReturn.IDLE: "Giving up GPUs that are idle while allocated",
    GpuReturn.FAILED: "An end to failed and redone work",
    GpuReturn.NO_REQUESTS: "Scaling services down in hours without requests",
    GpuReturn.UNALLOCATED: "Using the team’s own unallocated GPUs",
    GpuReturn.STRANDED: "A MIG geometry that strands nothing",
    GpuReturn.OUT_OF_SERVICE: "Repairing what is out of service",
}
SHARES: Mapping[GpuReturn, str] = {
    GpuReturn.DATA_WAIT: "of runs that report × {share} of their time waiting for data",
    GpuReturn.IDLE: "held × {share} idle while allocated, data waits left aside",
    GpuReturn.FAILED: "of runs that report × {share} of their time failed or redone",
    GpuReturn.NO_REQUESTS: "held × {share} in hours without requests",
}
NOT_MEASURED: Mapping[GpuReturn, str] = {
    GpuReturn.DATA_WAIT: "Waiting for data: not measured, none of its runs reports what its time was spent on",
    GpuReturn.IDLE: "Idle while allocated: not measured, no agent observed what it held",
    GpuReturn.FAILED: "Failed or redone work: not measured, none of its runs reports what its time was spent on",
}
NOTHING: Mapping[GpuReturn, str] = {
    GpuReturn.DATA_WAIT: "None of its runs’ reported time waits for data",
    GpuReturn.IDLE: "Nothing that it held was idle",
    GpuReturn.FAILED: "None of its runs’ reported time failed or was redone",
}
BASES: Mapping[str, str] = {
    CONTRACTED: "contracted price in force, before commitments",
    LIST: "list price in force, before commitments",
    EFFECTIVE: "effective cost of a GPU-hour there in the profile’s days",
}


@dataclass(frozen=True, slots=True)
class ProfileSentence:
    """The GPUs that one cause would give back (None: not measured), the sentence, and its formula."""

    cause: str
    gpus: float | None
    sentence: str
    formula: str


def gpus_text(gpus: float) -> str:
    """GPUs as a mean: `12`, `3.4`, `0.25`."""
    return f"{gpus:,.0f}" if gpus >= 100 else f"{gpus:.1f}" if gpus >= 10 else f"{gpus:.2g}"


def judged_use(profile: RequestProfile) -> tuple[UseFact, bool]:
    """Return the use that the sentences are of: where the capacity is asked for, else all of it; and whether there."""
    is_there = bool(profile.there.held_ms or profile.there.lost_ms)
    return (profile.there, True) if is_there else (profile.everywhere, False)


def profile_sentences(profile: RequestProfile) -> list[ProfileSentence]:
    """Return what each cause would give back, in the order of GpuReturn; none where nothing was held."""
    use, _ = judged_use(profile)
    returns = gpu_returns(use.measured(profile.span_ms))
    return [_sentence_of(gpu_return, use, profile.span_ms) for gpu_return in returns]


def returned_gpus(profile: RequestProfile) -> float | None:
    """All that is measured, together; None where nothing is, or it would be of other GPUs."""
    use, is_there = judged_use(profile)
    return returned_together(gpu_returns(use.measured(profile.span_ms))) if is_there else None


def request_cost(fact: CapacityRequestFact) -> int | None:
    """Its cost in micro-units, of an open one of 30 days; None: no price is known."""
    price = fact.profile.price
    if price is None:
        return None
    return capacity_cost(fact.gpus, fact.milliseconds or MONTH_MS, price.micros)


def demands_seen(fact: CapacityRequestFact, *, sees_all: bool) -> list[DemandForecast]:
    """The forecasts that it was raised with: what all of a pool's teams ask for is for who sees everything."""
    return [demand for demand in fact.profile.forecasts if sees_all or demand.dimension == TEAM]


def request_gates(fact: CapacityRequestFact, *, sees_all: bool) -> tuple[Gate, ...]:
    """Return the gates of a request: of the forecast that it is answered from as it was raised, its history beside the term, and what is there.

    The forecast is that of the place, for who sees it; else those of the teams. An open request counts for the 30 days that it is priced by.
    """
    demands = demands_seen(fact, sees_all=sees_all)
    of_place = [demand for demand in demands if demand.dimension != TEAM]
    term_days = (fact.milliseconds or MONTH_MS) / DAY_MS
    gates: tuple[Gate, ...] = (*forecast_gates(None), term_gate(None, term_days))
    if demands:
        gates = joint_gates(
            [
                (_name_of(demand), (*demand.gates, term_gate(demand.history_days, term_days)))
                for demand in of_place or demands
            ]
        )
    room = _room_gate(fact, sees_all=sees_all)
    others = [gate for gate in gates if gate.name is not room.name]
    return (*others[:2], room, *others[2:])


def _room_gate(fact: CapacityRequestFact, *, sees_all: bool) -> Gate:
    """Whether what is asked for is there beside what is expected there already; who does not see that is told of what is asked for alone."""
    where, asked_gpus, room = (
        f"pool {fact.pool}" if fact.pool else fact.gpu_model,
        fact.gpus,
        fact.profile.room,
    )
    if room is None:
        return Gate(GateName.CAPACITY, None, f"{where}: {NOT_HELD_AGAINST}")
    is_there_alone = room.there is None or asked_gpus <= room.there
    is_known = sees_all and room.expected is not None
    if room.there is not None and is_there_alone and not is_known:
        return Gate(GateName.CAPACITY, None, f"{where}: {NO_DEMAND if sees_all else NOT_SEEN}")
    expected = room.expected if sees_all else None
    price = None if room.waiting_micros is None else room.waiting_micros / MICROS
    gate = room_gate((expected or 0.0) + asked_gpus, room.there, price, organisation().currency)
    if gate.is_passed is None:
        return replace(gate, says=f"{where}: {gate.says}")
    sentence = f"{where}: with the {asked_gpus:,} asked for {gate.says}"
    # What waiting costs is said where headroom is.
    return replace(gate, says=sentence, fallback=gate.fallback if sees_all else ONLY_THERE)


def forecast_words(demand: DemandForecast, gpus: int) -> str:
    """Return a sentence of what is expected against what is there, with what is asked for on top."""
    sentence = (
        f"GPU-hours forecast of {_name_of(demand)}: {gpus_text(demand.mean_gpus)} GPUs on average over "
        f"{demand.hours / 24:.0f} days, up to {gpus_text(demand.most_gpus)}"
    )
    if demand.there is None:
        return f"{sentence}."
    room = demand.there - demand.mean_gpus
    is_one = gpus == 1
    fits = (
        ("fits" if is_one else "fit") if room >= gpus else f"{'does' if is_one else 'do'} not fit"
    )
    return (
        f"{sentence}; {demand.there:,} are there, {gpus_text(max(0.0, room))} free on average: "
        f"{gpus:,} more {fits} in them."
    )


def budget_words(budget: BudgetRoom, currency: str) -> str:
    """Return a sentence of what is left of a budget as things are expected, before the request."""

    def amount(value: int) -> str:
        if budget.measure == MONEY:
            return rounded_amount(value, currency)
        return f"{gpu_hours(abs(value))} GPU-hours"

    until = f"until {date.fromisoformat(budget.end_day) - timedelta(days=1)}"
    full_amount = amount(budget.amount)
    if budget.headroom is None:
        return f"{budget.name}: {full_amount} {until}; what is left of it is not known."
    if budget.headroom < 0:
        return f"{budget.name}: expected to be exceeded by {amount(-budget.headroom)} of {full_amount} {until}."
    return f"{budget.name}: {amount(budget.headroom)} of {full_amount} left {until} as things are expected."


def span_words(milliseconds: int) -> str:
    """A span in days where it is whole ones, else in hours."""
    days = timedelta(milliseconds=milliseconds) / timedelta(days=1)
    return f"{days:.0f} days" if days == int(days) else f"{days * 24:,.0f} hours"


def _name_of(demand: DemandForecast) -> str:
    return {"pool": "pool ", "gpu_model": "", "team": "team "}[demand.dimension] + demand.of


def _sentence_of(returned: ReturnedGpus, use: UseFact, span_ms: int) -> ProfileSentence:
    cause = returned.cause
    lost = use.lost_ms.get(cause, 0)
    if returned.gpus is None:
        return ProfileSentence(cause, None, f"{NOT_MEASURED[cause]}.", "")
    if not lost:
        return ProfileSentence(cause, 0.0, f"{NOTHING[cause]}.", "")
    gpus = gpus_text(returned.gpus)
    if returned.of_gpus is None or returned.share is None:
        formula = f"{gpu_hours(lost)} GPU-hours ÷ {gpu_hours(span_ms)} hours = {gpus}"
    else:
        share = SHARES[cause].format(share=per_cent(returned.share))
        formula = f"{gpus_text(returned.of_gpus)} GPUs {share} = {gpus}"
    noun = "GPU" if gpus == "1" else "GPUs"
    return ProfileSentence(
        cause, returned.gpus, f"{FIXES[cause]} returns up to {gpus} {noun}.", formula
    )
