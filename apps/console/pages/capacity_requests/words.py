"""Capacity requests in words."""

from collections.abc import Sequence
from datetime import timedelta, tzinfo

from apps.planning.queries.request_words import (
    BASES,
    MONTH_MS,
    gpus_text,
    request_cost,
    returned_gpus,
    span_words,
)
from apps.planning.queries.requests import APPROVED, STATES, WAITING, CapacityRequestFact
from apps.show.amounts import counted
from apps.show.money import rounded_amount, unit_cost
from apps.show.time import day_or_instant, minute_duration


def finding_of(fact: CapacityRequestFact) -> str:
    """The request, how far it is, and how much of it the team's own use says is there already."""
    returned = returned_gpus(fact.profile)
    sentence = f"{fact.title}: {STATES[fact.state]}"
    if returned is None:
        return f"{sentence}; what fixes would return is not measured there"
    return f"{sentence}; fixes to what it holds there would return up to {gpus_text(returned)} GPUs"


def list_finding(facts: Sequence[CapacityRequestFact]) -> str:
    """How many wait, for how many GPUs, and for how long the longest has been decided on."""
    waiting = [fact for fact in facts if fact.state == WAITING]
    if waiting:
        gpus = counted(sum(fact.gpus for fact in waiting), "GPU")
        return (
            f"{counted(len(waiting), 'request waits', 'requests wait')} for a decision, for {gpus}"
        )
    approved = [fact for fact in facts if fact.state == APPROVED]
    if approved:
        gpus = counted(sum(fact.gpus for fact in approved), "GPU")
        return f"No request waits for a decision; {gpus} are approved and not delivered yet"
    return "No request waits for a decision"


def span_of(fact: CapacityRequestFact, zone: tzinfo) -> str:
    """From when until when it is for."""
    until = "open-ended" if fact.ends_at is None else f"until {day_or_instant(fact.ends_at, zone)}"
    return f"from {day_or_instant(fact.starts_at, zone)}, {until}"


def cost_words(fact: CapacityRequestFact, currency: str, *, sees_prices: bool) -> str:
    """The cost and, to who may see prices, how it is computed; or that no price is known."""
    price, micros = fact.profile.price, request_cost(fact)
    if price is None or micros is None:
        return "Unknown: no price of these GPUs is known"
    span = span_words(fact.milliseconds or MONTH_MS)
    amount = rounded_amount(micros, currency)
    cost_text = f"{amount} for {span}" if fact.ends_at else f"{amount} for every {span}, open-ended"
    if not sees_prices:
        return f"{cost_text}; {BASES[price.basis]}"
    hourly_price = unit_cost(round(price.micros), currency)
    return (
        f"{cost_text}: {counted(fact.gpus, 'GPU')} × {span} × {hourly_price} a GPU-hour "
        f"({price.pool}: {BASES[price.basis]})"
    )


def wait_words(seconds: float, *, is_longer: bool) -> str:
    """A queue wait; `> 3 h` where more of them still wait than have been let in."""
    return f"{'> ' if is_longer else ''}{minute_duration(timedelta(seconds=seconds))}"
