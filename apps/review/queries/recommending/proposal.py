"""A recommendation as a detector makes it, and what the detector looked at where it makes none."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from django.conf import settings

from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass, move_worth
from apps.economics.moves.saving import first_year_month
from apps.review.queries.recommendation_evidence import RecommendationTerms

TOO_LITTLE = "it saves too little"
MEASURED, ASSUMED = "measured", "assumed"
"""What the ends of a range of savings are from: what was seen, or a choice of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationProposal(RecommendationTerms):
    """A proposal: what to do, and what that would save. Micro-units a month of 730 h at the marginal price.

    `key` is the same from week to week, within its kind. No end of `saving` is above `spend_micros`, what is spent there.
    `cells` are named by the functions below. `forgoes_micros` is what it returns in a month, by its owner's word, that would
    be gone with it: it is in `worth`, and not in `saving`. Its `doubts` are never empty.
    """

    key: str
    spend_micros: int
    risk: DisruptionClass
    forgoes_micros: int = 0
    range_basis: str = MEASURED

    @property
    def worth(self) -> float:
        """The worth it is chosen by: the saving of a month of the first year, less what is gone with it and what its risk takes off."""
        month = first_year_month(self.saving, self.one_time_micros)
        return move_worth(month - self.forgoes_micros, self.risk)

    @property
    def document(self) -> dict[str, Any]:
        """Return what is kept of a proposal; its key, team, workload and pool are the row's, and what it forgoes is in its worth."""
        fields = asdict(self)
        for name in ("key", "team_id", "workload_id", "pool_id", "forgoes_micros"):
            del fields[name]
        return fields | {"cells": sorted(self.cells), "worth_micros": round(self.worth)}


@dataclass(slots=True)
class DetectedKind:
    """The result of a detector: `looked_at` of the things that `looked_at_words` names, and what it proposes.

    `passed_over` says why the others are no proposal, with how many; `declined` says it by the key of what may have
    been proposed before, and `little` what those would save that save too little. `weeks` is how many it looked at, None where it looks at none. Where it could not look, `not_looked` says why: then its matters stay as they are.
    """

    kind: str
    looked_at_words: str
    looked_at: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)
    declined: dict[str, str] = field(default_factory=dict)
    proposals: list[RecommendationProposal] = field(default_factory=list)
    not_looked: str = ""
    little: dict[str, int] = field(default_factory=dict)
    weeks: int | None = None

    def pass_over(self, why: str, key: str = "", count: int = 1) -> None:
        """Looked at, and no proposal."""
        self.looked_at += count
        self.passed_over[why] += count
        if key:
            self.declined[key] = why

    def propose(self, proposal: RecommendationProposal) -> None:
        """Looked at, and kept where it saves at least RUNRATE_FINDING_FLOOR a month, or frees GPU-hours."""
        floor = max(1, settings.FINDING_FLOOR * MICROS)
        if proposal.saving.likely < floor and not proposal.frees_gpu_hours:
            self.pass_over(TOO_LITTLE, proposal.key)
            self.little[proposal.key] = max(0, proposal.saving.likely)
            return
        if max(proposal.saving.low, proposal.saving.high) > proposal.spend_micros:
            raise ValueError(f"{self.kind} {proposal.key}: no saving is above what is spent there")
        if not proposal.doubts:
            raise ValueError(f"{self.kind} {proposal.key}: what speaks against it was looked for")
        self.looked_at += 1
        # Of one week nobody knows how far weeks differ: its range has no measured width.
        is_of_one = self.weeks == 1 and proposal.saving.low == proposal.saving.high
        basis = ASSUMED if is_of_one else proposal.range_basis
        self.proposals.append(replace(proposal, range_basis=basis))


Detector: TypeAlias = Callable[[datetime], DetectedKind]
"""Looks as of a moment, by what lower apps publish."""


class SavingBasis(StrEnum):
    """The basis on which the costs before and since are held against each other, once a recommendation is done."""

    PER_OUTPUT = "per_output"
    """What the workload costs for a unit of its output, wherever it runs or is called."""
    HELD_IDLE = "held_idle"
    """GPU-hours that are held without work, at today's price."""
    HELD = "held"
    """GPU-hours that are held, at today's price: what nobody needs has no output."""
    COMMITTED = "committed"
    """What is paid for a pool's hours, and for commitments that nobody uses, over what the hours come to on demand."""
    RETIRED = "retired"
    """The same, and what its calls to model APIs cost: of what is retired nothing is left to be held against."""
    UNALLOCATED = "unallocated"
    """GPU-hours of a pool that no job holds, at today's price."""
    API_TOKENS = "api_tokens"
    """What calls to model APIs cost for a token."""


class KeyOf(StrEnum):
    """The things that the keys of a kind's proposals are ids of: a workload 3 is no pool 3."""

    WORKLOAD = "workload"
    POOL = "pool"
    WORK = "work"
    """A workload on a pool, `7:2`."""
    COMMITMENT = "commitment"
    SOMETHING = "something"
    """Anything else."""


@dataclass(frozen=True, slots=True)
class RecommendedKind:
    """A kind: its key, its name on pages, what it is about in a sentence, who looks for it, and how it is measured.

    `wastes` are the sorts of waste that it takes away. What `gives_way` is added up only where no other kind's proposal is for
    the same dollars. `key_of` says what its keys name, where it takes waste away.
    """

    key: str
    label: str
    about: str
    detect: Detector
    basis: SavingBasis = SavingBasis.PER_OUTPUT
    wastes: tuple[str, ...] = ()
    gives_way: bool = False
    key_of: KeyOf = KeyOf.SOMETHING


def effort_cost(hours: int) -> int:
    """Return the cost of so many hours of an engineer, in micro-units; 0 where RUNRATE_ENGINEER_HOUR_COST says nothing."""
    return round(hours * (settings.ENGINEER_HOUR_COST or 0) * MICROS)


UNHELD = "unallocated"


def unheld_cell(pool_id: int) -> str:
    """Return the cell of what a pool costs by the hour while no job holds it."""
    return f"{UNHELD}:{pool_id}"


def commitment_cell(commitment_id: int) -> str:
    """Return the cell of what a commitment costs, used or not."""
    return f"commitment:{commitment_id}"


def api_cell(workload_id: int) -> str:
    """Return the cell of what a workload pays for calls to model APIs."""
    return f"api:{workload_id}"


def proposals_by_matter(
    kinds: Sequence[DetectedKind],
) -> dict[str, tuple[str, RecommendationProposal]]:
    """All kinds' proposals with their kind, by the matter."""
    return {
        f"{kind.kind}:{proposal.key}": (kind.kind, proposal)
        for kind in kinds
        for proposal in kind.proposals
    }
