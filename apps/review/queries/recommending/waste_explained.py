"""Where each dollar of a look's waste goes: into which recommendation, or why into none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
from apps.review.queries.recommending.fewer_replicas import KIND as REPLICAS
from apps.review.queries.recommending.fewer_replicas import NOTHING_HELD
from apps.review.queries.recommending.kinds import KIND_WASTES
from apps.review.queries.recommending.proposal import (
    TOO_LITTLE,
    DetectedKind,
    RecommendationProposal,
    proposals_by_matter,
)
from apps.review.queries.recommending.waste_cells import WasteCell, WasteOfLook

PUT_OFF, DONE = ("dismissed", "snoozed"), ("done", "verified", "failed")
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

    pool: str
    option: str
    part: str
    micros: int
    matter: str = ""
    title: str = ""
    reason: str = ""

    @property
    def part_words(self) -> str:
        """What it is."""
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
        """What recommendations would take away."""
        return sum(line.micros for line in self.lines if line.matter)

    @property
    def other_micros(self) -> int:
        """What neither explains."""
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
    waste: WasteOfLook | None,
    found: Sequence[DetectedKind],
    states: Mapping[str, str],
    counted: Sequence[str] = (),
) -> ExplainedWaste | None:
    """Of what was found in the same look; `states` of matters as they are known, `counted` those that are added up.

    What is added up takes its dollars, then what is done, dismissed or snoozed; what is open and not added up is for the same
    dollars as another.
    """
    if waste is None:
        return None
    cells = {cell.key: cell for cell in waste.cells}
    proposed = proposals_by_matter(found)
    covers = list(_covers(waste.cells, proposed, states, counted))
    covered = {cell for cover in covers for cell in cover.cells}
    declined = {(each.kind, key): why for each in found for key, why in each.declined.items()}
    shares = explained_waste(
        {key: cell.micros for key, cell in cells.items()},
        covers,
        {
            key: tuple(_reasons(cell, declined, is_covered=key in covered))
            for key, cell in cells.items()
        },
    )
    return ExplainedWaste(waste.first_day, waste.end_day, _lines(shares, cells, proposed))


def _covers(
    cells: Sequence[WasteCell],
    proposed: Mapping[str, tuple[str, RecommendationProposal]],
    states: Mapping[str, str],
    counted: Sequence[str],
) -> Iterator[WasteCover]:
    first = set(counted)
    ordered = sorted(
        proposed.items(), key=lambda each: (each[0] not in first, -each[1][1].worth, each[0])
    )
    for matter, (kind, proposal) in ordered:
        state = states.get(matter)
        if matter not in first and state not in (*PUT_OFF, *DONE):
            continue
        own = [
            cell.key
            for cell in cells
            if cell.part in KIND_WASTES.get(kind, ()) and cell.money_cell in proposal.cells
        ]
        reason = WasteReason.DECLINED if state in PUT_OFF else None
        yield WasteCover(matter, own, proposal.saving.likely, reason)


def _reasons(
    cell: WasteCell, declined: Mapping[tuple[str, str], str], *, is_covered: bool
) -> Iterator[tuple[WasteReason, int]]:
    """Why what no recommendation covers of a cell is left, in order, with how much at most."""
    yield from cell.paid_anyway
    if cell.is_gone:
        yield WasteReason.GONE, cell.micros
    key = _key_of(cell)
    whys = {why for (_, its), why in declined.items() if its in (key, cell.money_cell)}
    if TOO_LITTLE in whys and not is_covered:
        yield WasteReason.TOO_LITTLE, cell.micros
    match cell.part:
        case "unallocated":
            yield WasteReason.PARTLY_HELD, cell.partly
            yield WasteReason.TOO_SHORT, cell.fresh
            yield WasteReason.HEADROOM, cell.micros if cell.is_looked_at else 0
        case "stranded":
            yield WasteReason.CUT_OFF, cell.micros
        case "out_of_service":
            yield WasteReason.FAULT, cell.micros
        case "failed":
            is_best = (
                cell.workload is not None
                and declined.get((CADENCE, str(cell.workload.id))) == NEAR_BEST
            )
            yield WasteReason.AT_BEST if is_best else WasteReason.NO_CAUSE, cell.micros
        case "held_idle" | "no_requests":
            yield from _held_reasons(cell, declined)


def _held_reasons(
    cell: WasteCell, declined: Mapping[tuple[str, str], str]
) -> Iterator[tuple[WasteReason, int]]:
    """Of what a workload held: a service's is its headroom where its hours say so, others' pauses were too short."""
    if cell.workload is None:
        yield WasteReason.NO_OWNER, cell.micros
    elif cell.workload.kind not in SERVICE_KINDS:
        yield WasteReason.TOO_SHORT, cell.micros
    elif declined.get((REPLICAS, str(cell.workload.id))) == NOTHING_HELD:
        yield WasteReason.NO_CAUSE, cell.micros
    else:
        yield WasteReason.HEADROOM, cell.micros


def _key_of(cell: WasteCell) -> str:
    """As kinds of pools name it."""
    return str(cell.pool.id) if cell.workload is None and cell.pool else cell.money_cell


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
