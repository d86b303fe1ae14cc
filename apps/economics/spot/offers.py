"""The offers of a set of zones together, tick by tick, and the Markov chain that their history was.

At any time one zone is offered: of those that are up the one whose availability still lasts longest by
its age, less what a move there costs where the job's data lies in another. So where moves cost there is
an offer for each place of the data. A state of an offer is that place, and "none" with the age of that,
or a zone with the age of its spell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """By tick: each zone's availability, [zones × ticks]; the zone offered or NO_ZONE, and the offer's state, [places × ticks].

    A place is the zone where the data lies; there is one for all where moves cost nothing. `known` is
    where somebody looked in every zone.
    """

    tick: float
    is_up: Flags
    known: Flags
    zones: Indexes
    states: Indexes

    @property
    def ticks(self) -> int:
        """How long they are."""
        return int(self.zones.shape[1])

    @property
    def places(self) -> int:
        """For how many places of the data there are offers."""
        return len(self.zones)

    def place_of(self, zones: Indexes) -> Indexes:
        """The place of data that lies in these zones."""
        return zones if self.places > 1 else np.zeros_like(zones)


@dataclass(frozen=True, eq=False)
class OfferChain:
    """Chances from one tick to the next.

    `held` is [held states × held states] of a node that is kept, `lost` [held × offer states] of one
    that is taken away, by what is offered then; together their rows sum to 1. `offered` is
    [offer states × offer states] while nothing is held on spot. For each place the first BUCKETS offer
    states are none, the others the held states in their order; `begins` is the held state in which a start
    on each begins, or NO_ZONE, and `moves` whether that is a move of the data.
    """

    tick: float
    held: Hours
    lost: Hours
    offered: Hours
    begins: Indexes
    moves: Flags

    def over(self, ticks: int) -> "OfferChain":
        """The chain that looks only once in so many ticks."""
        if ticks == 1:
            return self
        size = len(self.held)
        matrix = np.zeros((size + len(self.offered),) * 2)
        matrix[:size, :size], matrix[:size, size:] = self.held, self.lost
        matrix[size:, size:] = self.offered
        power = np.linalg.matrix_power(matrix, ticks)
        return replace(
            self,
            tick=self.tick * ticks,
            held=power[:size, :size],
            lost=power[:size, size:],
            offered=power[size:, size:],
        )


def spot_offers(
    traces: Sequence[SpotTrace],
    histories: Sequence[ZoneHistory],
    nodes: int = 1,
    egress_hours: float = 0.0,
) -> SpotOffers:
    """Return the offers of zones, ranked by what their histories say; a move is worth so many hours of availability.

    Traces run side by side; the shortest ends it.
    """
    ticks, tick = min(len(trace.counts) for trace in traces), traces[0].tick
    traces = [trace.part(0, ticks) for trace in traces]
    is_up = np.stack([trace.is_up(nodes) for trace in traces])
    is_known = np.stack([trace.known for trace in traces])
    ages = np.stack(
        [
            age_buckets(up, known_ticks, tick)
            for up, known_ticks in zip(is_up, is_known, strict=True)
        ]
    )
    lasting = np.stack([history.up.lasting(tick) for history in histories])
    worth = np.where(is_up, np.take_along_axis(lasting, ages, axis=1), -np.inf)
    any_known = np.logical_or.reduce(is_known)
    places = len(traces) if egress_hours else 1
    zones = np.full((places, ticks), NO_ZONE)
    states = np.zeros((places, ticks), np.int64)
    for place in range(places):
        net = worth - egress_hours
        net[place] = worth[place]
        best = np.argmax(net, axis=0)
        none = np.take_along_axis(net, best[None], axis=0)[0] <= 0
        zones[place] = np.where(none, NO_ZONE, best)
        states[place] = BUCKETS + BUCKETS * best + ages[best, np.arange(ticks)]
        states[place, none] = age_buckets(none, any_known, tick)[none]
        states[place] += place * BUCKETS * (1 + len(traces))
    return SpotOffers(tick, is_up, np.logical_and.reduce(is_known), zones, states)


def offer_chain(offers: SpotOffers, histories: Sequence[ZoneHistory]) -> OfferChain:
    """The chain of what was offered: each row as counted, with PSEUDO_TICKS as if zones were alone."""
    size, places = BUCKETS * len(histories), offers.places
    block = BUCKETS + size
    held_chances, lost = np.zeros((size, size)), np.zeros((size, places * block))
    followed = _followed_zones(offers)
    for zone, history in enumerate(histories):
        rows = slice(BUCKETS * zone, BUCKETS * (zone + 1))
        chances = history.up.next_chances(offers.tick)
        held_chances[rows, rows] = _staying_matrix(chances)
        lost[rows] = np.outer(chances[:, 2], _after_loss(offers, zone, followed == zone))
    offered = np.zeros((places * block,) * 2)
    for place in range(places):
        there = slice(place * block, (place + 1) * block)
        offered[there, there] = _while_free(
            offers.states[place] - place * block, offers, held_chances, lost
        )
    zone_of = np.repeat(np.arange(-1, len(histories)), BUCKETS)
    moves = (zone_of != np.arange(places)[:, None]) & (zone_of != NO_ZONE) & (places > 1)
    begins = np.append(np.full(BUCKETS, NO_ZONE), np.arange(size))
    return OfferChain(
        offers.tick, held_chances, lost, offered, np.tile(begins, places), moves.ravel()
    )


def _while_free(states: Indexes, offers: SpotOffers, held_chances: Hours, lost: Hours) -> Hours:
    """[states of one place × the same] while nothing is held; lost nodes are taken as of any place."""
    size = len(held_chances)
    block = BUCKETS + size
    followed = offers.known[:-1] & offers.known[1:]
    counts = np.zeros((block,) * 2)
    np.add.at(counts, (states[:-1][followed], states[1:][followed]), 1)
    after = lost.reshape(size, -1, block).sum(axis=1)
    prior = np.vstack([_while_none(offers, counts), np.hstack([after[:, :BUCKETS], held_chances])])
    prior[BUCKETS:, BUCKETS:] += after[:, BUCKETS:]
    chances: Hours = (counts + PSEUDO_TICKS * prior) / (counts.sum(axis=1) + PSEUDO_TICKS)[:, None]
    return chances


def _staying_matrix(chances: Hours) -> Hours:
    """[buckets × buckets] of a spell that does not end."""
    staying: Hours = np.diag(chances[:, 0]) + np.diag(chances[:-1, 1], k=1)
    return staying


def _followed_zones(offers: SpotOffers) -> Indexes:
    """By tick the zone of who took each offer and held it to its end; NO_ZONE while there was none.

    Who was in a zone knows of the others: one that was left a moment ago is hardly up again.
    """
    held_zone, place, zone_by_tick = NO_ZONE, 0, np.full(offers.ticks, NO_ZONE)
    zones, is_up = offers.zones.tolist(), offers.is_up.tolist()
    for at in range(offers.ticks):
        if held_zone == NO_ZONE or not is_up[held_zone][at]:
            held_zone = zones[place][at]
            if held_zone != NO_ZONE and offers.places > 1:
                place = held_zone
        zone_by_tick[at] = held_zone
    return zone_by_tick


def _after_loss(offers: SpotOffers, zone: int, was_held: Flags) -> Hours:
    """Return the shares of what was offered, to data that lies there, in the tick in which a held zone's spell had ended.

    Joined by PSEUDO_ENDS of all its ends, and as many after which nothing was up.
    """
    up, place = offers.is_up[zone], zone if offers.places > 1 else 0
    is_known = offers.known[:-1] & offers.known[1:]
    ends = up[:-1] & ~up[1:] & is_known
    block = BUCKETS * (1 + len(offers.is_up))

    def after(chosen: Flags) -> Hours:
        states = offers.states[place][1 + np.flatnonzero(chosen)]
        return np.bincount(states, minlength=offers.places * block).astype(np.float64)

    counts, every = after(ends & was_held[:-1]), after(ends)
    counts += PSEUDO_ENDS * every / max(1.0, every.sum())
    counts[place * block] += PSEUDO_ENDS
    shares: Hours = counts / counts.sum()
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
    return np.hstack([_staying_matrix(chances), np.outer(chances[:, 2], entered)])
