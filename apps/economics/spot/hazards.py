"""How long spot lasts and stays away, by how long it has: counted on a history, little of it trusted little.

Lifetimes are heavy-tailed, so the chance that the next tick ends one falls with its age. Each bucket
of ages is a state; what was counted in it is joined by PSEUDO_TICKS of the zone as a whole.
"""

from dataclasses import dataclass

import numpy as np

from apps.economics.spot.job import Flags, Hours, Indexes
from apps.economics.spot.trace import SpotTrace

AGE_EDGES = np.array([0.25, 1.0, 4.0])
"""Hours at which a spell comes into the next bucket."""
BUCKETS = len(AGE_EDGES) + 1
BUCKET_WIDTHS = np.append(np.diff(AGE_EDGES, prepend=0.0), np.inf)
PSEUDO_TICKS = 10
LEAST_SPELLS = 5
"""Of fewer ended spells a history is too thin to plan by."""


@dataclass(frozen=True, eq=False)
class SpellCounts:
    """Ticks spent in each bucket of age whose next tick is known, and what came next."""

    exposed: Hours
    ended: Hours
    grown: Hours

    @property
    def spells(self) -> int:
        """How many spells were seen to end."""
        return int(self.ended.sum())

    def pooled_chances(self, tick: float) -> Hours:
        """For each bucket the chances that it stays, comes into the next one, and ends, where nothing was counted in it.

        As often as at any age, but a spell lasts at least as long again as it has: one end in its age.
        """
        total = self.exposed.sum()
        ending = self.ended.sum() / total if total else 0.0
        ends = np.minimum(ending, np.append(np.inf, tick / AGE_EDGES))
        growing = (1 - ends) * np.minimum(1.0, tick / BUCKET_WIDTHS)
        return np.column_stack([1 - ends - growing, growing, ends])

    def next_chances(self, tick: float) -> Hours:
        """Return the chances counted in each bucket (stay, next bucket, end), joined by PSEUDO_TICKS of all; rows sum to 1."""
        prior = self.pooled_chances(tick)
        stayed = self.exposed - self.ended - self.grown
        counts = np.stack([stayed, self.grown, self.ended], axis=1)
        return (counts + PSEUDO_TICKS * prior) / (self.exposed + PSEUDO_TICKS)[:, None]

    def lasting(self, tick: float) -> Hours:
        """Mean hours that a spell in each bucket still lasts; infinite where none was ever seen to end."""
        _stays, grows, ends = self.next_chances(tick).T
        lasting = np.full(BUCKETS, np.inf)
        if ends.all():
            lasting[-1] = tick / ends[-1]
            for bucket in range(BUCKETS - 2, -1, -1):
                left = tick + grows[bucket] * lasting[bucket + 1]
                lasting[bucket] = left / (grows[bucket] + ends[bucket])
        return lasting


@dataclass(frozen=True, eq=False)
class ZoneHistory:
    """The history of one zone, and what it has to say of it."""

    tick: float
    known_hours: float
    up_share: float | None
    up: SpellCounts
    down: SpellCounts

    @property
    def too_thin(self) -> str:
        """Why it is no ground for a plan; empty where it is one."""
        spells = min(self.up.spells, self.down.spells)
        if spells >= LEAST_SPELLS:
            return ""
        return (
            f"{self.known_hours:.0f} h of history with {self.up.spells} ends of availability and"
            f" {self.down.spells} of outage: {LEAST_SPELLS} of each are the least"
        )


def age_buckets(is_up: Flags, is_known: Flags, tick: float) -> Indexes:
    """The bucket of age of each tick's spell, up or down; a spell is cut where it is not known."""
    kind = np.where(is_known, is_up.astype(np.int64), -1)
    begins = np.append(True, kind[1:] != kind[:-1])
    places = np.arange(len(kind))
    began = np.maximum.accumulate(np.where(begins, places, 0))
    ages = (places - began + 1) * tick
    return np.searchsorted(AGE_EDGES, ages - 1e-9, side="right")


def zone_history(trace: SpotTrace, nodes: int = 1) -> ZoneHistory:
    """Count a whole trace. Ticks before an unknown one are left out, as is where it ends."""
    is_up, is_known = trace.is_up(nodes), trace.known
    buckets = age_buckets(is_up, is_known, trace.tick)
    followed = is_known[:-1] & is_known[1:]
    known_ticks = int(is_known.sum())
    return ZoneHistory(
        tick=trace.tick,
        known_hours=known_ticks * trace.tick,
        up_share=float(is_up.sum() / known_ticks) if known_ticks else None,
        up=_spell_counts(is_up, buckets, followed),
        down=_spell_counts(~is_up, buckets, followed),
    )


def _spell_counts(is_on: Flags, buckets: Indexes, followed: Flags) -> SpellCounts:
    at = is_on[:-1] & followed
    ends = at & ~is_on[1:]
    grows = at & is_on[1:] & (buckets[1:] > buckets[:-1])
    exposed, ended, grown = (
        np.bincount(buckets[:-1][chosen], minlength=BUCKETS).astype(np.float64)
        for chosen in (at, ends, grows)
    )
    return SpellCounts(exposed, ended, grown)
