"""The evidence that a recommendation is from, and what one to run work elsewhere has beside."""

from dataclasses import dataclass
from typing import Annotated

from apps.show.entries import Entry, Micros, Ratio


@dataclass(frozen=True, slots=True)
class RecommendationEvidence:
    """A piece of evidence of a proposal: what it is, the figure in words, and its page from the root on (empty: it has none).

    `ref` is the id or key of that source, where it has one. `is_price`: only for who reads prices.
    """

    label: str
    figure: str
    link: str = ""
    is_price: bool = False
    ref: Annotated[
        str,
        Entry(
            help="id or key of that run, pool, offer, rate, quote, scenario or portfolio; empty where it has none"
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class RecommendedMove:
    """The terms of a recommendation that is a fleet move: from where to where, what moving costs once, and what interrupts it there.

    Micro-units; `effort_micros` and `payback_months` are None where nobody said what an engineer's hour costs.
    `payback_months` is as the week's look computed it, before the record of its kind takes the saving down.
    """

    source: str
    target: str
    egress_micros: Micros
    restart_micros: Micros
    effort_micros: Annotated[Micros | None, Entry(help="null: nobody said what an hour costs")]
    payback_months: Annotated[
        Ratio | None, Entry(help="before the record of its kind takes the saving down")
    ]
    interruptions_per_month: Ratio | None
    restart_hours_per_month: Ratio | None
    confidence: Annotated[str, Entry(help="high, medium or low, by the doubts")]
