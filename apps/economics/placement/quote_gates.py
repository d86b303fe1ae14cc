"""Gates that the first offer of a quote is held against before a job is placed by it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.economics.gates import Gate, GateName, capacity_gate, history_gate, parts_gate
from apps.economics.hours import DAY_HOURS
from apps.economics.placement.quote_backtest import EndedQuote, quote_backtest

NEXT = "the next offer"


@dataclass(frozen=True, slots=True)
class QuotedOffer:
    """The first offer: GPUs that it takes and that are there, hours until it is done, and its cost with its parts.

    None is not known. `watched_hours` are those in which interruptions there were counted; `is_spot` says whether they matter.
    """

    gpus: float
    there: float | None
    finish_hours: float | None
    is_spot: bool
    watched_hours: float | None
    cost: float | None
    parts: tuple[float, ...]
    currency: str


def quote_gates(offer: QuotedOffer, ended: Sequence[EndedQuote]) -> tuple[Gate, ...]:
    """The grounds of a quote: what quotes bought so came to, what is there, its parts beside the whole, and on spot the hours of evidence for as many of work.

    `ended` are those of its way of buying.
    """
    return (
        *quote_backtest(ended, offer.currency),
        capacity_gate(offer.gpus, offer.there, "GPUs", NEXT),
        _cost_gate(offer),
        *_evidence_gates(offer),
    )


def _cost_gate(offer: QuotedOffer) -> Gate:
    if offer.cost is None:
        return Gate(GateName.PARTS, None, "what it costs is not known")
    return parts_gate(offer.cost, offer.parts, offer.currency)


def _evidence_gates(offer: QuotedOffer) -> Iterator[Gate]:
    if not offer.is_spot:
        return
    if offer.watched_hours is None or offer.finish_hours is None:
        yield Gate(GateName.HISTORY, None, "interruptions there were counted by nobody")
        return
    gate = history_gate(offer.watched_hours / DAY_HOURS, offer.finish_hours / DAY_HOURS)
    yield gate if gate.is_passed else replace(gate, fallback=NEXT)
