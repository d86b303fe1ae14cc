"""What Runrate answers about placement, as frozen values; None: not known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True)
class Money:
    """An exact amount."""

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        """`4,608.00 USD`."""
        return f"{self.amount:,.2f} {self.currency}"


@dataclass(frozen=True)
class CostRange:
    """What is likely, between a low and a high end."""

    low: Money
    likely: Money
    high: Money


@dataclass(frozen=True)
class PriceRow:
    """A price on record, when it was last said, and whether that is long ago."""

    rate: int
    kind: str
    source: str
    said_on: str
    age_days: int
    is_stale: bool

    def __str__(self) -> str:
        """`price 18, contract of Order form 114, said on 2026-03-01`."""
        source = f" of {self.source}" if self.source else ""
        return f"price {self.rate}, {self.kind}{source}, said on {self.said_on}"


@dataclass(frozen=True)
class QuotedOffer:
    """A job on one offer; hours count from when it was asked.

    `cost` is what the job adds, `charged` what the ledger will say of it. `standing` is meets, finish_unknown, late or
    cost_unknown. `reasons` say how figures came to be, `cautions` what is thin, old or assumed, `unknown` what is missing.
    """

    key: str
    name: str
    option: str
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    nodes: int
    standing: str
    cost: CostRange | None
    compute: CostRange | None
    charged: Money | None
    finish_hours: float | None
    late_finish_hours: float | None
    deadline_chance: float | None
    interruptions: float | None
    cadence_seconds: float | None
    egress: Money | None
    transfer_hours: float | None
    wait_hours: float | None
    gpu_hours: float | None
    kilowatt_hours: float | None
    price_rows: tuple[PriceRow, ...]
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]
    unknown: tuple[str, ...]
    energy_words: str = ""
    rented_gpus: int | None = None
    paid_anyway: Money | None = None
    budgets: tuple[BudgetAfter, ...] = ()
    evidence: InterruptionEvidence | None = None

    @property
    def place(self) -> str:
        """`aws us-east-1`; empty where nobody said."""
        return " ".join(filter(None, (self.provider, self.region)))

    @property
    def is_in_time(self) -> bool:
        """Whether its cost is known and it is done by the deadline, where there is one."""
        return self.standing == "meets"


@dataclass(frozen=True)
class BudgetAfter:
    """What an offer would leave of a budget, in money or GPU-hours; below 0 where it exceeds it."""

    name: str
    measure: str
    left: float | None


@dataclass(frozen=True)
class BudgetLeft:
    """What a budget leaves when its period goes on as expected, in money or GPU-hours."""

    name: str
    measure: str
    left: float | None
    end_day: str


@dataclass(frozen=True)
class Outcome:
    """The offer that was taken and what came of it; None: not yet."""

    offer: str
    taken_at: datetime
    job: int | None
    run: int | None
    cost: Money | None
    hours: float | None
    gpu_hours: float | None
    ended_at: datetime | None
    interruptions: int | None = None


@dataclass(frozen=True)
class Gate:
    """What the first offer was held against; `is_passed` None: nobody can tell, `fallback`: what is answered where it failed."""

    name: str
    is_passed: bool | None
    says: str
    fallback: str


@dataclass(frozen=True)
class Quote:
    """A job held against every offer of a book, the best first; `refused` counts those that cannot take it, by reason."""

    id: int
    asked_at: datetime
    asked_by: str | None
    team: str | None
    gpus: int
    work: str
    deadline: datetime | None
    book_made_at: datetime
    digest: str
    matched: int
    refused: dict[str, int]
    outcome: Outcome | None
    budgets: tuple[BudgetLeft, ...]
    offers: tuple[QuotedOffer, ...]
    cautions: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()


@dataclass(frozen=True)
class JoinedEvidence:
    """A source whose rate was added, by so many interruptions, to one that says too little alone."""

    source: str
    names: tuple[str, ...]
    exposure_hours: float
    interruptions: int
    added_interruptions: int
    seen_until: datetime | None
    age_days: int | None
    is_stale: bool


@dataclass(frozen=True)
class InterruptionEvidence:
    """Interruptions in an hour on spot with the range of 95 %, the hours of wait after one, and who saw them."""

    low: float
    likely: float
    high: float
    wait: float
    words: str
    is_thin: bool
    source: str | None
    names: tuple[str, ...] | None
    exposure_hours: float | None
    interruptions: int | None
    is_per_node: bool | None
    joined: JoinedEvidence | None = None
    hour_factors: tuple[float, ...] | None = None
    seen_until: datetime | None = None
    age_days: int | None = None
    is_stale: bool | None = None


@dataclass(frozen=True)
class Offer:
    """GPUs that can be had, bought in one way; None: not known, of GPUs: nothing bounds them.

    `price` is of a GPU-hour more, `paid` what one costs anyway.
    """

    key: str
    name: str
    option: str
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    gpus_per_node: int
    gpu_memory_gib: float | None
    price: Money | None
    paid: Money | None
    lowest_price: Money | None
    highest_price: Money | None
    gpus_there: int | None
    gpus_free: int | None
    median_wait_hours: float | None
    p90_wait_hours: float | None
    waits_counted: int
    interruptions: InterruptionEvidence | None
    price_rows: tuple[PriceRow, ...]
    notes: tuple[str, ...]
    made_at: datetime


@dataclass(frozen=True)
class SeenInterruptions:
    """Interruptions in an hour with the range of 95 %."""

    exposure_hours: float
    interruptions: int
    rate: float | None
    low: float
    high: float | None
    is_thin: bool


@dataclass(frozen=True)
class MoveEvidence:
    """What is known of how long spot lasts in a series."""

    series: str
    interruptions: SeenInterruptions
    remaining_life_hours: float | None
    seen_until: datetime | None
    is_thin: bool
    words: str


@dataclass(frozen=True)
class NextMove:
    """What a running job does now: stay, move_to_spot, fall_back_to_on_demand or wait; `deadline` is guaranteed, unless_interrupted or late."""

    action: str
    mode: str
    decided_by: str
    reason: str
    deadline: str
    slack_hours: float
    risk_hours: float
    break_even_life_hours: float | None
    plan_solved_at: datetime | None
    plan_is_asked: bool
    plan_thin: str
    evidence: MoveEvidence | None


@dataclass(frozen=True)
class AdmissionLimit:
    """A budget or quota that a job counts against, in `unit`; None: not known."""

    kind: str
    id: int
    name: str
    is_hard: bool
    standing: str
    verdict: str
    unit: str
    needed: str | None
    left_now: str | None
    left_expected: str | None
    reason: str


@dataclass(frozen=True)
class Admission:
    """Whether a job may start: `verdict` is allow, warn or deny; `is_admitted` also where somebody let it pass."""

    id: int
    asked_at: datetime
    asked_by: str
    team: str
    workload: str
    gpus: int
    gpu_hours: float | None
    pool: str
    gpu_model: str
    provider: str
    region: str
    cost: Money | None
    cost_from: str
    verdict: str
    is_admitted: bool
    reasons: tuple[str, ...]
    limits: tuple[AdmissionLimit, ...]
    overridden_at: datetime | None
    overridden_by: str | None
    override_reason: str | None
    digest: str
    used_at: datetime | None = None
    used_by: str | None = None
