"""Where each dollar of a look's waste goes: into which recommendation, or why into none."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from apps.economics.serving import SERVICE_KINDS
from apps.economics.waste_reasons import (
    REASON_WORDS,
    WasteCover,
    WasteReason,
    WasteShare,
    explained_waste,
)
from apps.review.queries.recommending.checkpoint_cadence import KIND as CADENCE
from apps.review.queries.recommending.checkpoint_cadence import NEAR_BEST
from apps.review.queries.recommending.current_holdings import ENDED
from apps.review.queries.recommending.fewer_replicas import KIND as REPLICAS
from apps.review.queries.recommending.fewer_replicas import NO_WAY, NOTHING_HELD
from apps.review.queries.recommending.idle_holders import LITTLE_IDLE, NOT_AGAIN, SHORT_PAUSES
from apps.review.queries.recommending.kept_promises import FACTOR
from apps.review.queries.recommending.kinds import KIND_KEYS, KIND_WASTES
from apps.review.queries.recommending.pool_capacity import NO_PRICE as NO_MACHINE_PRICE
from apps.review.queries.recommending.proposal import (
    UNHELD,
    DetectedKind,
    KeyOf,
    RecommendationProposal,
    proposals_by_matter,
)
from apps.review.queries.recommending.waste_cells import DetectedWaste, WasteCell
from apps.review.queries.recommending.workload_totals import NO_PRICE
from apps.show.entries import Entry

PUT_OFF, DONE = ("dismissed", "snoozed"), ("done", "verified", "failed")
TO_BE_DONE = ("open", "claimed")
NO_PRICES = frozenset((NO_PRICE, NO_MACHINE_PRICE))
HELD_WHYS = {
    NOTHING_HELD: WasteReason.NO_CAUSE,
    ENDED: WasteReason.GONE,
    NO_WAY: WasteReason.HEADROOM,
    NOT_AGAIN: WasteReason.TOO_SHORT,
    SHORT_PAUSES: WasteReason.TOO_SHORT,
    LITTLE_IDLE: WasteReason.TOO_LITTLE,
}
"""What it says of all that a workload holds for nothing that a kind passed it over, by why."""
PART_WORDS = {
    "failed": "failed or redone",
    "no_requests": "no requests",
    "held_idle": "idle while allocated",
    "unallocated": "unallocated",
    "stranded": "stranded",
    "out_of_service": "out of service",
    "unused_commitment": "unused commitments",
    "unused_owned": "owned, not in service",
}


@dataclass(frozen=True, slots=True)
class WasteLine:
    """So much of a sort of waste of a pool, micro-units of a month of 730 h, that one recommendation covers, or that is left for one reason.

    `matter` is the recommendation's, empty where `reason` says why there is none. `pool` and `option` are empty of what has none.
    """

    pool: Annotated[str, Entry(help="empty of a commitment for no pool")]
    option: str
    part: Annotated[str, Entry(choices=PART_WORDS)]
    micros: int
    matter: str = ""
    title: Annotated[str, Entry(help="the recommendation's; empty without one")] = ""
    reason: Annotated[str, Entry(help=", ".join(REASON_WORDS))] = ""

    @property
    def part_words(self) -> str:
        """The part of the waste, in words."""
        return PART_WORDS[self.part]

    @property
    def where_words(self) -> str:
        """The recommendation, or the reason."""
        return self.title or REASON_WORDS[WasteReason(self.reason)]


@dataclass(frozen=True, slots=True)
class ExplainedWaste:
    """Of a look: local days `[first_day, end_day)`, and every dollar of their waste once, most first."""

    first_day: str
    end_day: str
    lines: tuple[WasteLine, ...]

    @property
    def micros(self) -> int:
        """All of it, in a month."""
        return sum(line.micros for line in self.lines)

    @property
    def covered_micros(self) -> int:
        """The waste that recommendations would take away."""
        return sum(line.micros for line in self.lines if line.matter)

    @property
    def other_micros(self) -> int:
        """The waste that no recommendation and no named reason explains."""
        return sum(line.micros for line in self.lines if line.reason == WasteReason.OTHER)

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "first_day": self.first_day,
            "end_day": self.end_day,
            "lines": [asdict(line) for line in self.lines],
        }


def waste_from(document: Mapping[str, Any]) -> ExplainedWaste | None:
    """As it was kept; None of a look that kept none."""
    if not document:
        return None
    lines = tuple(WasteLine(**line) for line in document["lines"])
    return ExplainedWaste(document["first_day"], document["end_day"], lines)


def explain_waste(
    waste: DetectedWaste | None,
    detected_kinds: Sequence[DetectedKind],
    states: Mapping[str, str],
    counted: Sequence[str] = (),
) -> ExplainedWaste | None:
    """Of what was found in the same look; `states` of matters as they are known, `counted` those that are added up.

    What is added up takes its dollars, then what is done, dismissed or snoozed; what is open and not added up is for the same
    dollars as another. What no rule truly explains is OTHER.
    """
    if waste is None:
        return None
    cells = {cell.key: cell for cell in waste.cells}
    proposed = proposals_by_matter(detected_kinds)
    covers = list(_covers(waste.cells, proposed, states, counted))
    reported = _KindReasons(
        {(kind.kind, key): why for kind in detected_kinds for key, why in kind.declined.items()},
        {
            (kind.kind, key): micros
            for kind in detected_kinds
            for key, micros in kind.little.items()
        },
        frozenset((kind, proposal.key) for kind, proposal in proposed.values()),
    )
    shares = explained_waste(
        {key: cell.micros for key, cell in cells.items()},
        covers,
        {key: tuple(_reasons(cell, reported)) for key, cell in cells.items()},
    )
    return ExplainedWaste(waste.first_day, waste.end_day, _lines(shares, cells, proposed))


@dataclass(frozen=True, slots=True)
class _KindReasons:
    """Why kinds passed things over, what is too little of them, and what they propose, by kind and key."""

    declined: Mapping[tuple[str, str], str]
    little: Mapping[tuple[str, str], int]
    proposed: frozenset[tuple[str, str]]


def _covers(
    cells: Sequence[WasteCell],
    proposed: Mapping[str, tuple[str, RecommendationProposal]],
    states: Mapping[str, str],
    counted: Sequence[str],
) -> Iterator[WasteCover]:
    """Yield the covers of waste: what is added up first, then what is settled or put off, then what gave way for the same dollars."""
    first = set(counted)
    of_dollars: dict[str, list[WasteCell]] = defaultdict(list)
    for cell in cells:
        of_dollars[cell.money_cell].append(cell)

    fates = {matter: _fate(states.get(matter), is_counted=matter in first) for matter in proposed}
    ordered = sorted(
        ((fates[matter], matter, *pair) for matter, pair in proposed.items() if fates[matter][0]),
        key=lambda entry: (entry[0][0], -entry[3].worth, entry[1]),
    )
    for (_, reason), matter, kind, proposal in ordered:
        waste_keys = [
            cell.key
            for name in sorted(proposal.cells)
            for cell in of_dollars.get(name, ())
            if cell.part in KIND_WASTES.get(kind, ())
        ]
        likely = proposal.saving.likely
        yield WasteCover(matter, waste_keys, likely, reason)
        factor = float(proposal.baseline.get(FACTOR, 1.0))
        if reason is None and 0 < factor < 1:
            yield WasteCover(
                matter, waste_keys, round(likely / factor) - likely, WasteReason.TAKEN_DOWN
            )


def _fate(state: str | None, *, is_counted: bool) -> tuple[int, WasteReason | None]:
    """When a proposal takes its dollars, 0 for never; and the reason for which they are in no recommendation, if they are in none."""
    if is_counted:
        return 1, None
    if state in PUT_OFF:
        return 2, WasteReason.DECLINED
    if state in DONE:
        return 2, None
    return (3, WasteReason.SAME_DOLLARS) if state in TO_BE_DONE else (0, None)


def _reasons(cell: WasteCell, reported: _KindReasons) -> Iterator[tuple[WasteReason, int]]:
    """Why what no recommendation covers of a cell is left, in order, with how much at most: what is true of it, and no catch-all."""
    yield from cell.paid_anyway
    if cell.is_gone:
        yield WasteReason.GONE, cell.micros
    if cell.workload is None and cell.part in ("held_idle", "no_requests"):
        yield WasteReason.NO_OWNER, cell.micros
    yield from cell.causes
    matters = [
        (kind, key)
        for kind, wastes in KIND_WASTES.items()
        if cell.part in wastes and (key := _key_of(cell, KIND_KEYS[kind])) is not None
    ]
    whys = {reported.declined[matter] for matter in matters if matter in reported.declined}
    if whys & NO_PRICES:
        yield WasteReason.NO_PRICE, cell.micros
    yield (
        WasteReason.TOO_LITTLE,
        max((reported.little.get(matter, 0) for matter in matters), default=0),
    )
    yield from _reasons_of_part(cell, reported, whys)


def _reasons_of_part(
    cell: WasteCell, reported: _KindReasons, whys: Collection[str]
) -> Iterator[tuple[WasteReason, int]]:
    workload_id = str(cell.workload.id) if cell.workload else ""
    is_of_cores = cell.pool is not None and cell.pool.counts_cores
    match cell.part:
        case "unallocated" | "stranded" if is_of_cores:
            yield WasteReason.NOT_LOOKED, cell.micros
        case "stranded":
            yield WasteReason.CUT_OFF, cell.micros
        case "out_of_service":
            yield WasteReason.FAULT, cell.micros
        case "failed":
            is_best = reported.declined.get((CADENCE, workload_id)) == NEAR_BEST
            yield WasteReason.AT_BEST if is_best else WasteReason.NO_CAUSE, cell.micros
        case "held_idle" | "no_requests" if cell.workload is not None:
            yield from ((reason, cell.micros) for why, reason in HELD_WHYS.items() if why in whys)
            # What its load needs of a service is its headroom once the others are proposed to go.
            if cell.workload.kind in SERVICE_KINDS and (REPLICAS, workload_id) in reported.proposed:
                yield WasteReason.HEADROOM, cell.micros


def _key_of(cell: WasteCell, key_of: KeyOf) -> str | None:
    """As a kind whose keys are of this sort names what the cell is of; None where it names no such thing."""
    owner, _, last = cell.money_cell.partition(":")
    match key_of:
        case KeyOf.POOL if cell.pool is not None and owner == UNHELD:
            return str(cell.pool.id)
        case KeyOf.WORK if cell.workload is not None:
            return cell.money_cell
        case KeyOf.WORKLOAD if cell.workload is not None:
            return str(cell.workload.id)
        case KeyOf.COMMITMENT if owner == "commitment":
            return last
    return None


def _lines(
    shares: Sequence[WasteShare],
    cells: Mapping[str, WasteCell],
    proposed: Mapping[str, tuple[str, RecommendationProposal]],
) -> tuple[WasteLine, ...]:
    """Cells of one pool and sort together, the most first."""
    sums: dict[tuple[str, str, str, str, str], int] = {}
    for share in shares:
        cell = cells[share.cell]
        where = (cell.pool.name if cell.pool else "", cell.option, cell.part)
        key = (*where, share.key, str(share.reason or ""))
        sums[key] = sums.get(key, 0) + share.micros
    lines = (
        WasteLine(
            pool, option, part, micros, matter, proposed[matter][1].title if matter else "", reason
        )
        for (pool, option, part, matter, reason), micros in sums.items()
    )
    return tuple(sorted(lines, key=lambda line: (-line.micros, line.pool, line.part, line.reason)))
