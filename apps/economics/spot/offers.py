"""What a set of zones offers together, tick by tick, and the Markov chain that its history was.

At any time one zone is offered: of those that are up the one least likely to end in the next tick,
by its age. A state of an offer is "none" with the age of that, or a zone with the age of its spell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.spot.hazards import (
    BUCKETS,
    PSEUDO_TICKS,
    SpellCounts,
    ZoneHistory,
    age_buckets,
)
from apps.economics.spot.job import Flags, Hours, Indexes
from apps.economics.spot.trace import SpotTrace

NO_ZONE = -1
PSEUDO_ENDS = 1
"""How many ends of availability with nothing else up each zone is taken to have had already."""


@dataclass(frozen=True, eq=False)
class SpotOffers:
    """By tick: each zone's availability, [zones × ticks], the zone offered or NO_ZONE, and the offer's state.

    `known` is where somebody looked in every zone.
    """

    tick: float
    is_up: Flags
    known: Flags
    zones: Indexes
    states: Indexes

    @property
    def ticks(self) -> int:
        """How long they are."""
        return len(self.zones)


@dataclass(frozen=True, eq=False)
class OfferChain:
    """Chances from one tick to the next.

    `held` is [held states × held states] of a node that is kept, `lost` [held × offer states] of one
    that is taken away, by what is offered then; together their rows sum to 1. `offered` is
    [offer states × offer states] while nothing is held on spot. The first BUCKETS offer states are
    none, the others the held states in their order.
    """

    tick: float
    held: Hours
    lost: Hours
    offered: Hours

    def over(self, ticks: int) -> "OfferChain":
        """The chain that looks only once in so many ticks."""
        if ticks == 1:
            return self
        size = len(self.held)
        whole = np.zeros((size + len(self.offered),) * 2)
        whole[:size, :size], whole[:size, size:] = self.held, self.lost
        whole[size:, size:] = self.offered
        power = np.linalg.matrix_power(whole, ticks)
        return OfferChain(
            self.tick * ticks, power[:size, :size], power[:size, size:], power[size:, size:]
        )


def spot_offers(
    traces: Sequence[SpotTrace], histories: Sequence[ZoneHistory], nodes: int = 1
) -> SpotOffers:
    """What zones offer, ranked by what their histories say. Traces run side by side; the shortest ends it."""
    ticks, tick = min(len(trace.counts) for trace in traces), traces[0].tick
    traces = [trace.part(0, ticks) for trace in traces]
    is_up = np.stack([trace.is_up(nodes) for trace in traces])
    known = np.stack([trace.known for trace in traces])
    ages = np.stack([age_buckets(up, seen, tick) for up, seen in zip(is_up, known, strict=True)])
    ending = np.stack([history.up.next_chances(tick)[:, 2] for history in histories])
    risk = np.where(is_up, np.take_along_axis(ending, ages, axis=1), np.inf)
    best = np.argmin(risk, axis=0)
    none = ~np.logical_or.reduce(is_up)
    states = BUCKETS + BUCKETS * best + ages[best, np.arange(ticks)]
    states[none] = age_buckets(none, np.logical_or.reduce(known), tick)[none]
    all_known = np.logical_and.reduce(known)
    return SpotOffers(tick, is_up, all_known, np.where(none, NO_ZONE, best), states)


def offer_chain(offers: SpotOffers, histories: Sequence[ZoneHistory]) -> OfferChain:
    """The chain of what was offered: each row as counted, with PSEUDO_TICKS as if zones were alone."""
    size = BUCKETS * len(histories)
    held, lost = np.zeros((size, size)), np.zeros((size, BUCKETS + size))
    for zone, history in enumerate(histories):
        rows = slice(BUCKETS * zone, BUCKETS * (zone + 1))
        chances = history.up.next_chances(offers.tick)
        held[rows, rows] = _staying(chances)
        lost[rows] = np.outer(chances[:, 2], _after_loss(offers, zone))
    followed = offers.known[:-1] & offers.known[1:]
    counts = np.zeros((BUCKETS + size,) * 2)
    np.add.at(counts, (offers.states[:-1][followed], offers.states[1:][followed]), 1)
    prior = np.vstack([_while_none(offers, counts), np.hstack([lost[:, :BUCKETS], held])])
    prior[BUCKETS:, BUCKETS:] += lost[:, BUCKETS:]
    offered = (counts + PSEUDO_TICKS * prior) / (counts.sum(axis=1) + PSEUDO_TICKS)[:, None]
    return OfferChain(offers.tick, held, lost, offered)


def _staying(chances: Hours) -> Hours:
    """[buckets × buckets] of a spell that does not end."""
    kept: Hours = np.diag(chances[:, 0]) + np.diag(chances[:-1, 1], k=1)
    return kept


def _after_loss(offers: SpotOffers, zone: int) -> Hours:
    """What was offered in the tick in which a zone's spell had ended."""
    up = offers.is_up[zone]
    followed = offers.known[:-1] & offers.known[1:]
    ended = 1 + np.flatnonzero(up[:-1] & ~up[1:] & followed)
    size = BUCKETS * (1 + len(offers.is_up))
    seen = np.bincount(offers.states[ended], minlength=size).astype(np.float64)
    seen[0] += PSEUDO_ENDS
    shares: Hours = seen / seen.sum()
    return shares


def _while_none(offers: SpotOffers, counts: Hours) -> Hours:
    """Rows of the states without an offer, from how all of them together went on."""
    ended = counts[:BUCKETS, BUCKETS:].sum(axis=0)
    inside = counts[:BUCKETS, :BUCKETS]
    grown = np.append(np.diag(inside, k=1), 0.0)
    ends = counts[:BUCKETS, BUCKETS:].sum(axis=1)
    chances = SpellCounts(counts[:BUCKETS].sum(axis=1), ends, grown).pooled_chances(offers.tick)
    first = np.zeros(len(ended))
    first[::BUCKETS] = 1.0
    entered = (ended + first / first.sum()) / (ended.sum() + 1)
    return np.hstack([_staying(chances), np.outer(chances[:, 2], entered)])
