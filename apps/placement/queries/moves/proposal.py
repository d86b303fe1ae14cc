"""A proposal as every kind makes it, and what a kind looked at where it made none."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.conf import settings
from django.urls import reverse

from apps.economics.money import MICROS
from apps.economics.moves.disruption import MoveDisruption, move_worth
from apps.economics.moves.saving import SavingRange, first_year_month, payback_months


class MoveKind(StrEnum):
    """Kinds of moves: what is moved where."""

    TO_SPOT = "to_spot"
    TO_COMMITMENT = "to_commitment"
    ELSEWHERE = "elsewhere"
    TO_API = "to_api"
    TO_SMALLER = "to_smaller"


EFFORT_HOURS = {
    MoveKind.TO_SPOT: 8,
    MoveKind.TO_COMMITMENT: 4,
    MoveKind.ELSEWHERE: 24,
    MoveKind.TO_API: 40,
    MoveKind.TO_SMALLER: 16,
}
"""An engineer's hours for a move: a choice of ours, stated with each; what they cost is RUNRATE_ENGINEER_HOUR_COST."""
CONFIDENCE = ("high", "medium", "low")


PAGES_OF = {
    "run": "run",
    "rate": "rate",
    "quote": "quote",
    "scenario": "crossover",
    "portfolio": "portfolio-run",
}
"""Where evidence of a kind stands, by its id."""


@dataclass(frozen=True, slots=True)
class ProposalEvidence:
    """The source of a figure, and where it stands: a run, a pool, an offer, a price row, a quote, a scenario, a portfolio, windows.

    `ref` is its id or key. `is_price`: only for who reads prices.
    """

    kind: str
    ref: str
    words: str
    is_price: bool = False

    @property
    def link(self) -> str:
        """Its own page, from the root on; empty where it has none."""
        return reverse(PAGES_OF[self.kind], args=[int(self.ref)]) if self.kind in PAGES_OF else ""


@dataclass(frozen=True, slots=True)
class OneTimeCost:
    """The cost of moving once, in micro-units: egress, what is lost in restarts, an engineer's hours; None: not known.

    `effort_hours` are in `effort_micros` where an hour has a price here.
    """

    egress_micros: int = 0
    restart_micros: int = 0
    effort_hours: int = 0
    effort_micros: int | None = None

    @property
    def micros(self) -> int:
        """As far as it is known."""
        return self.egress_micros + self.restart_micros + (self.effort_micros or 0)


@dataclass(frozen=True, slots=True)
class MoveProposal:
    """A move, priced net of moving. Micro-units a month of 730 h; `spend_micros` is what is spent there at the margin.

    `key` is the same from week to week; `cells` are the dollars that it touches. `doubts` are what takes confidence
    away, one by one.
    """

    key: str
    kind: MoveKind
    subject: str
    source: str
    target: str
    team_id: int | None
    workload_id: int | None
    pool_id: int | None
    spend_micros: int
    saving: SavingRange
    one_time: OneTimeCost
    disruption: MoveDisruption
    evidence: tuple[ProposalEvidence, ...]
    doubts: tuple[str, ...]
    why: str
    cells: frozenset[str] = field(default_factory=frozenset)

    @property
    def confidence(self) -> str:
        """By how many things stand against it: none, one, or more."""
        return CONFIDENCE[min(len(self.doubts), 2)]

    @property
    def payback_months(self) -> float | None:
        """Until the likely saving has paid what moving costs; None where nobody said what an engineer's hour costs."""
        is_effort_known = self.one_time.effort_micros is not None
        return payback_months(self.one_time.micros if is_effort_known else None, self.saving)

    @property
    def worth(self) -> float:
        """Return the worth that proposals are ordered by."""
        return move_worth(
            first_year_month(self.saving, self.one_time.micros), self.disruption.level
        )


@dataclass(slots=True)
class MoveKindDetection:
    """A look at one kind of move: its candidates, why most are no proposal (with how many), and the proposals.

    `declined` says by the key of a proposal why there is none this time.
    """

    kind: MoveKind
    seen: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    declined: dict[str, str] = field(default_factory=dict)
    proposals: list[MoveProposal] = field(default_factory=list)

    def decline(self, key: str, why: str) -> None:
        """Seen, and no proposal."""
        self.seen += 1
        self.reasons[why] += 1
        self.declined[key] = why

    def propose(self, proposal: MoveProposal) -> None:
        """Seen, and kept where it is worth proposing: no more than is spent there, and no less than the floor."""
        floor = settings.FINDING_FLOOR * MICROS
        if proposal.saving.likely < max(1, floor):
            why = "it saves nothing" if proposal.saving.likely <= 0 else "it saves too little"
            self.decline(proposal.key, why)
            return
        self.seen += 1
        self.proposals.append(proposal)


def one_time_cost(kind: MoveKind, *, egress: float = 0.0, restart: float = 0.0) -> OneTimeCost:
    """With an engineer's hours for the kind, priced where the installation says what one costs."""
    hours, price = EFFORT_HOURS[kind], settings.ENGINEER_HOUR_COST
    return OneTimeCost(
        egress_micros=round(egress),
        restart_micros=round(restart),
        effort_hours=hours,
        effort_micros=hours * price * MICROS if price else None,
    )


def reasons_in_order(kind_look: MoveKindDetection) -> list[tuple[str, int]]:
    """The most frequent first."""
    return sorted(kind_look.reasons.items(), key=lambda entry: (-entry[1], entry[0]))


def proposals_of(kind_looks: Sequence[MoveKindDetection]) -> list[MoveProposal]:
    """All kinds' together, worth most first."""
    proposals = [proposal for kind_look in kind_looks for proposal in kind_look.proposals]
    return sorted(proposals, key=lambda proposal: (-proposal.worth, proposal.key))


def move_key(kind: MoveKind, what: str) -> str:
    """The key of a proposal: the same from week to week."""
    return f"{kind}:{what}"


def declined_by_key(kind_looks: Sequence[MoveKindDetection]) -> Mapping[str, str]:
    """Why there is no proposal of these keys."""
    return {key: why for kind_look in kind_looks for key, why in kind_look.declined.items()}
