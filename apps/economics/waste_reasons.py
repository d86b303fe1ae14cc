"""Where each dollar of waste goes: into what is recommended, or to a reason from a closed list. Each dollar once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.economics.moves.spare_machines import level_above

RARE = 0.05
"""Of the hours: what is free in no more of them is too rare to act on."""


class WasteReason(StrEnum):
    """Why a dollar of waste is in no recommendation; the list is closed, and OTHER is what none of it explains."""

    COMMITTED = "committed"
    OWNED = "owned"
    HEADROOM = "headroom"
    TOO_SHORT = "too_short"
    TOO_LITTLE = "too_little"
    PARTLY_HELD = "partly_held"
    CUT_OFF = "cut_off"
    FAULT = "fault"
    GONE = "gone"
    AT_BEST = "at_best"
    DECLINED = "declined"
    TAKEN_DOWN = "taken_down"
    SAME_DOLLARS = "same_dollars"
    NOT_LOOKED = "not_looked"
    NO_PRICE = "no_price"
    NO_CAUSE = "no_cause"
    NO_OWNER = "no_owner"
    OTHER = "other"


REASON_WORDS: Mapping[WasteReason, str] = {
    WasteReason.COMMITTED: "covered by a commitment or reserved, and paid anyway",
    WasteReason.OWNED: "owned hardware, paid anyway",
    WasteReason.HEADROOM: "needed as headroom at p99",
    WasteReason.TOO_SHORT: "too short or too rare to act on",
    WasteReason.TOO_LITTLE: "below the least saving that is proposed",
    WasteReason.PARTLY_HELD: "on machines that jobs hold in part",
    WasteReason.CUT_OFF: "cut off by how its GPU is cut into slices",
    WasteReason.FAULT: "out of service: to be repaired",
    WasteReason.GONE: "on machines that are gone already",
    WasteReason.AT_BEST: "lost to failures, with checkpoints near their best cadence",
    WasteReason.DECLINED: "somebody dismissed or snoozed what was recommended",
    WasteReason.TAKEN_DOWN: "recommended, but promised less: its kind saved less than it promised before",
    WasteReason.SAME_DOLLARS: "another recommendation for the same dollars is added up instead",
    WasteReason.NOT_LOOKED: "on nodes that are counted by cores, which no rule looks at",
    WasteReason.NO_PRICE: "nobody knows its price by the hour",
    WasteReason.NO_CAUSE: "nobody knows its cause",
    WasteReason.NO_OWNER: "nobody knows whose it is",
    WasteReason.OTHER: "other",
}


@dataclass(frozen=True, slots=True)
class WasteCover:
    """The waste that a recommendation would take away: at most so many micro-units, of these cells, of which each is one sort of

    waste of one thing. `reason` None: by the recommendation; else for this reason it is not.
    """

    key: str
    cells: Sequence[str]
    micros: int
    reason: WasteReason | None = None


@dataclass(frozen=True, slots=True)
class WasteShare:
    """A part of a cell's dollars: covered by the recommendation `key`, or left for a `reason`."""

    cell: str
    micros: int
    key: str = ""
    reason: WasteReason | None = None


def explained_waste(
    cells: Mapping[str, int],
    covers: Sequence[WasteCover],
    reasons: Mapping[str, Sequence[tuple[WasteReason, int]]],
) -> list[WasteShare]:
    """Every dollar of every cell, once: by the covers in their order, then by its reasons in theirs, and what is left as OTHER.

    No cover takes more than it has, nor more than its cells have left; a reason no more than it says.
    """
    left = dict(cells)
    shares: list[WasteShare] = []
    for cover in covers:
        remaining_micros = cover.micros
        for cell in cover.cells:
            taken = min(remaining_micros, left.get(cell, 0))
            if taken > 0:
                shares.append(
                    WasteShare(cell, taken, "" if cover.reason else cover.key, cover.reason)
                )
                left[cell] -= taken
                remaining_micros -= taken
    for cell, micros in left.items():
        remaining_micros = micros
        for reason, most in (*reasons.get(cell, ()), (WasteReason.OTHER, micros)):
            taken = min(remaining_micros, most)
            if taken > 0:
                shares.append(WasteShare(cell, taken, reason=reason))
                remaining_micros -= taken
    return shares


def explained_part(shares: Sequence[WasteShare]) -> float | None:
    """The part of the dollars that a recommendation or a reason of the list explains; None of none."""
    total = sum(share.micros for share in shares)
    other = sum(share.micros for share in shares if share.reason is WasteReason.OTHER)
    return 1 - other / total if total else None


def rare_and_headroom(
    nodes: Sequence[float], free: Sequence[float], rested: Sequence[float]
) -> tuple[float, float]:
    """Of machine-hours that were free for more than an hour (`rested`, of those `free`, of the `nodes` in service, hour by hour):

    those on machines that are free in RARE of the hours at most, and of the others those that are needed at p99.
    """
    often = level_above(free, 1 - RARE)
    needed = level_above([have - idle for have, idle in zip(nodes, free, strict=True)])
    rare = headroom = 0.0
    for have, idle, long_free in zip(nodes, free, rested, strict=True):
        rare += max(0.0, long_free - often)
        headroom += min(long_free, often, max(0.0, needed - (have - idle)))
    return rare, headroom
