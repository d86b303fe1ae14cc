"""A portfolio's answer in words."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from apps.planning.queries.portfolio.runs import PortfolioRunFact
from apps.show.amounts import counted, per_cent
from apps.show.money import MICROS, rounded_amount

MONTH_HOURS = 730
NO_GAP = 0.00005
"""A part of the cost that would be shown as 0.00 %."""
CHOICES = {
    "chosen": "What is found best",
    "nothing new": "As today: nothing new",
    "look-back rule": "Look-back rule of clouds",
    "all committed": "All of mean demand committed",
    "newsvendor on the last 7 days": "Newsvendor on the last 7 days",
    "newsvendor on the last 14 days": "Newsvendor on the last 14 days",
    "mix of scenarios": "The mix of scenarios",
}
SOURCES = {
    "owned": "Owned",
    "committed": "Reserved or committed",
    "on_demand": "On demand",
    "spot": "Spot",
    "unused": "Paid for and not used",
}
CHANGES = {
    "demand -20%": "Demand is a fifth less",
    "demand +20%": "Demand is a fifth more",
    "price on demand -20%": "On demand costs a fifth less",
    "the mean alone counts": "Only the expected cost counts",
    "the tail alone counts": "Only the worst scenarios count",
}
SEVERAL = "of several families"


def micros_of(amount: float | None) -> int | None:
    """An estimate as tables of money take it."""
    return None if amount is None else round(amount * MICROS)


def change(name: str) -> str:
    """Return what of the question would be otherwise, in words."""
    return CHANGES.get(name, name)


def bought(lots: Mapping[str, int], nothing: str = "Nothing new") -> str:
    """`2 × a year, 1 × three years`."""
    return ", ".join(f"{count:,} × {name}" for name, count in lots.items()) or nothing


def bought_gpus(answer: Mapping[str, Any]) -> str:
    """`8 GPUs of a year, 2 GPUs of three years`."""
    offers = [offer for offer in answer["offers"] if offer["lots"]]
    return ", ".join(f"{counted(offer['gpus'], 'GPU')} of {offer['name']}" for offer in offers)


def part(ratio: float | None) -> str | None:
    """A part in per cent, below 0 with its sign; None where it is not known."""
    if ratio is None:
        return None
    return f"−{per_cent(-ratio)}" if ratio < 0 else per_cent(ratio)


def month_of(text: str) -> str:
    """`October 2026`."""
    return f"{date.fromisoformat(text):%B %Y}"


def months_of(answer: Mapping[str, Any]) -> float:
    """How many are planned."""
    return float(answer["hours"]) / MONTH_HOURS


def compared(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One of the choices that ours is compared with."""
    alternative: Mapping[str, Any] = next(one for one in answer["compared"] if one["name"] == name)
    return alternative


def finding(answer: Mapping[str, Any]) -> str:
    """Return what to buy, and what that saves a month against buying nothing new."""
    currency, months = answer["currency"], months_of(answer)
    chosen, nothing = answer["chosen"], compared(answer, "nothing new")
    if not chosen["lots"]:
        cost = rounded_amount(micros_of(chosen["mean_cost"] / months), currency)
        return f"Buy nothing new: what holds, with spot and on demand, costs least, about {cost} a month"
    saved = (nothing["mean_cost"] - chosen["mean_cost"]) / months
    share = saved / nothing["mean_cost"] * months if nothing["mean_cost"] else 0.0
    if saved <= 0:
        return f"Buy {bought_gpus(answer)}: it holds the limits that were set"
    amount = rounded_amount(micros_of(saved), currency)
    return f"Buy {bought_gpus(answer)}: about {amount} a month less than buying nothing new, {per_cent(share)}"


def describe_requester(run: PortfolioRunFact, names: Mapping[int, str]) -> str:
    """Who asked."""
    if run.is_weekly:
        return "asked by the week"
    return f"asked by {names.get(run.asked_by_id or 0, 'a token')}"


def progress(run: PortfolioRunFact) -> str:
    """How far a run is."""
    if run.state == "waiting":
        return "It waits for the worker, a few seconds as a rule"
    if not run.of:
        return "The ledger is being read"
    return f"{run.found} of {counted(run.of, 'mix', 'mixes')} found"


def describe_answer_scope(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the answer is over, and how far from the best it can be."""
    return (
        f"{months_of(answer):.0f} months from {date.fromisoformat(answer['on']):%-d %B %Y}",
        f"{counted(answer['scenarios'], 'scenario')} of demand",
        _gap_words(max(0.0, answer["gap"])),
    )


def _gap_words(gap: float) -> str:
    """How much less the best choice could cost than this one."""
    if gap < NO_GAP:
        return "optimal among the offers considered"
    return f"optimal among the offers considered, to {gap:.2%}".replace("%", " %")


def savings_months(answer: Mapping[str, Any]) -> str:
    """Return which months the savings rate is of, or why there are none."""
    measured = answer["bought"]
    if measured["refusal"]:
        return str(measured["refusal"])
    return f"of {' and '.join(month_of(month) for month in measured['months'][-2:])}" + (
        "" if len(measured["months"]) <= 2 else " and the month before"
    )


def blocked_limit(answer: Mapping[str, Any]) -> str:
    """Whether the limit on blocked GPU-hours is held; empty where none was set."""
    limit = answer["most_blocked"]
    if limit is None:
        return ""
    blocked_text = part(answer["chosen"]["limited_part"])
    over = f"{limit:.2%}".replace("%", " %")
    if answer["keeps_limit"]:
        return f"Blocked GPU-hours: {blocked_text}, within the limit of {over}"
    return (
        f"No choice of these offers keeps blocked GPU-hours to {over}: this one was made without the limit, and"
        f" {blocked_text} are blocked. More lots, an earlier start or a larger quota would help."
    )


def interruptible(answer: Mapping[str, Any], family: str) -> float | None:
    """The part of a family's GPU-hours that may be interrupted; None: nobody tells."""
    shares = {one["name"]: one["share"] for one in answer["interruptible"]}
    return shares.get(family)


def answered_by(answer: Mapping[str, Any]) -> str:
    """Return what the answer is instead of the mix of scenarios, and why; empty where it is that."""
    rule = answer.get("answered_by", "chosen")
    if rule == "chosen":
        return ""
    return f"Answered by another rule: {CHOICES[rule].lower()}, which cost less than the mix of scenarios on this history"
