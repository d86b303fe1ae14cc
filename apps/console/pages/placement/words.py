"""Words of the pages of placement."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from apps.placement.queries.quotes import QuoteFact
from apps.show.amounts import counted
from apps.show.money import full_amount
from apps.show.time import duration
from apps.show.words import StateWords

STANDINGS: Mapping[str, str] = {
    "meets": "In time",
    "finish_unknown": "Finish not known",
    "late": "Likely late",
    "cost_unknown": "Cost not known",
}
WAYS: Mapping[str, StateWords] = {
    "owned": StateWords("active", "Owned", "Hardware of your own: an hour more costs its power"),
    "reserved": StateWords("held_idle", "Reserved", "Paid whether it runs or not"),
    "on_demand": StateWords("other", "On demand", "Paid by the hour, not taken back"),
    "spot": StateWords("unallocated", "Spot", "Paid by the hour, may be taken back"),
}
KINDS = {
    "interruptible": "May be interrupted (it saves checkpoints)",
    "uninterrupted": "May not be interrupted",
    "serving": "Serves requests",
}


def hours_words(hours: float | None) -> str | None:
    """`2 d 3 h`; None where not known."""
    return None if hours is None else duration(timedelta(hours=hours))


def answer_finding(answer: Mapping[str, Any], currency: str) -> str:
    """The first offer in a sentence."""
    offers: Sequence[Mapping[str, Any]] = answer["offers"]
    if not offers:
        return "No offer can take this job"
    first = offers[0]
    if first["cost_micros"] is None:
        return "Offers can take this job, and of none is the cost known"
    cost = _added_words(first, currency)
    if first["standing"] == "late":
        return f"No offer is done in time; cheapest: {first['name']}, {cost}"
    finish = hours_words(first["finish_hours"])
    when = f"done in {finish}" if finish else "when it is done is not known"
    return f"Best: {first['name']}, {cost}, {when}"


def _added_words(offer: Mapping[str, Any], currency: str) -> str:
    """`+$12.40 incremental`; of what is paid anyway also how much that is."""
    added = full_amount(offer["cost_micros"]["likely"], currency)
    paid = offer.get("paid_anyway_micros")
    committed = f" ({full_amount(paid, currency)} already committed)" if paid else ""
    return f"+{added} incremental{committed}"


def answer_notes(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is to be known of all offers, and those that cannot take the job, by reason."""
    return *answer.get("cautions", ()), *(
        f"{counted(number, 'offer')} left out: {why}" for why, number in answer["refused"].items()
    )


def job_words(fact: QuoteFact) -> str:
    """`8 GPUs, 384 GPU-hours on H100`."""
    return f"{counted(fact.job['gpus'], 'GPU')}, {fact.answer['work']}"
