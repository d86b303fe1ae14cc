"""The terms of a recommendation: what to do and what that saves, what that is from, and where work would move to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from apps.economics.moves.saving import SavingRange
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationTerms:
    """The terms of a recommendation: what to do, and what that would save. Micro-units a month of 730 h at the marginal price.

    `title` says what to do in a sentence, `computed` how the saving was. A saving of 0 needs `frees_gpu_hours`, GPU-hours a
    month that others may have on GPUs that are paid anyway. `one_time_micros` is what it takes once as far as known, beside
    `effort_hours` of an engineer. `cells` name the dollars that it touches: of two with one in common never both are added
    up. `baseline` has the figures that the saving stands on, by name: what is measured afterwards is held against them.
    `doubts` are what speaks against it, the strongest that was looked for. `range_basis` says whether the ends of `saving`
    were measured or are assumed. `move` are the terms of one that is a fleet move.
    """

    title: str
    subject: str
    team_id: int | None
    workload_id: int | None
    pool_id: int | None
    saving: SavingRange
    effort_hours: int
    risk: str
    risk_reason: str
    why: str
    computed: str
    cells: frozenset[str]
    evidence: tuple[RecommendationEvidence, ...] = ()
    doubts: tuple[str, ...] = ()
    one_time_micros: int = 0
    frees_gpu_hours: float | None = None
    baseline: Mapping[str, Any] = field(default_factory=dict)
    range_basis: str = ""
    move: RecommendedMove | None = None
