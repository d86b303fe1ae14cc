"""The outcome of promises of one kind, and by how much later ones of the kind are taken down for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.moves.saving import SavingRange

NEWEST = 10
"""So many of a kind say how it does now."""
PRIOR_CASES = 3.0
"""As if so many had come to just what was promised: one that failed says little of its kind."""
LEAST_FACTOR = 0.1


@dataclass(frozen=True, slots=True)
class PromiseCase:
    """One that was done and judged: what was promised before anything was taken off, and what was measured, a month."""

    promised_micros: float
    realised_micros: float
    is_verified: bool


@dataclass(frozen=True, slots=True)
class PromiseRecord:
    """The newest cases of a kind, together, in micro-units a month."""

    cases: int = 0
    verified: int = 0
    promised_micros: int = 0
    realised_micros: int = 0

    @property
    def ratio(self) -> float | None:
        """The amount realised over the amount promised, below 0 where it cost more; None before the first."""
        return self.realised_micros / self.promised_micros if self.promised_micros > 0 else None

    @property
    def factor(self) -> float:
        """The factor that a later promise of the kind is multiplied with: the ratio, drawn to 1 by PRIOR_CASES, and never above 1."""
        if self.ratio is None:
            return 1.0
        drawn = (self.cases * max(0.0, self.ratio) + PRIOR_CASES) / (self.cases + PRIOR_CASES)
        return min(1.0, max(LEAST_FACTOR, drawn))

    @property
    def says(self) -> str:
        """The record in a sentence; empty before the first case."""
        if self.ratio is None:
            return ""
        which = (
            "the last of this kind" if self.cases == 1 else f"the last {self.cases} of this kind"
        )
        return f"{which} came to {self.ratio:.0%} of what was promised"


NO_RECORD = PromiseRecord()


def promise_record(newest_first: Sequence[PromiseCase]) -> PromiseRecord:
    """Of the newest cases; those that promised nothing are in none."""
    cases = [case for case in newest_first if case.promised_micros > 0][:NEWEST]
    return PromiseRecord(
        cases=len(cases),
        verified=sum(case.is_verified for case in cases),
        promised_micros=round(sum(case.promised_micros for case in cases)),
        realised_micros=round(sum(case.realised_micros for case in cases)),
    )


def taken_down(saving: SavingRange, factor: float) -> SavingRange:
    """A promise at what its kind comes to; an end below 0 stays as it is."""
    ends = (saving.low, saving.likely, saving.high)
    return SavingRange(*(round(end * factor) if end > 0 else end for end in ends))
