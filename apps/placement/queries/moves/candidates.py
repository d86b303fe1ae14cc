"""Choice of the work that is looked into for a kind of move; of the rest it is said why not."""

from collections.abc import Callable
from math import inf

from apps.economics.purchase import PurchaseOption
from apps.placement.queries.moves.proposal import MoveKindDetection, move_key
from apps.placement.queries.moves.work import MOST_CANDIDATES, FleetWork, WorkCell

NOT_AMONG = f"not among the {MOST_CANDIDATES} that cost most"


def candidate_cells(
    kind_look: MoveKindDetection,
    work: FleetWork,
    why_not: Callable[[WorkCell], str],
    *,
    most_gpus: float = inf,
    too_many: str = NOT_AMONG,
) -> list[WorkCell]:
    """Those of which nothing speaks against it, that cost most first: MOST_CANDIDATES, until `most_gpus` are held in the mean."""
    cells: list[WorkCell] = []
    gpus = 0.0
    for cell in work.cells:
        why = why_not(cell)
        if not why and (gpus >= most_gpus or len(cells) >= MOST_CANDIDATES):
            why = too_many
        if why:
            kind_look.decline(move_key(kind_look.kind, cell.key), why)
        else:
            gpus += cell.gpu_hours / work.span.hours if work.span.hours else 0.0
            cells.append(cell)
    return cells


def why_not_by_hour(cell: WorkCell, already: str = "") -> str:
    """Why leaving a pool saves nothing, or it cannot be said what; empty: it is paid by the hour."""
    option = cell.pool.purchase_option
    if option == already or option == PurchaseOption.SPOT:
        return "on spot already"
    if option in (PurchaseOption.OWNED, PurchaseOption.RESERVED):
        return "on owned or reserved GPUs: they are paid whether it runs or not"
    if cell.unpriced_ms:
        return "a part of its time has no price"
    if cell.charged_micros and cell.paid_by_hour <= 0:
        return "covered by commitments: they are paid whether it runs or not"
    if cell.addressable_micros <= 0:
        return "nothing was charged for it in the weeks looked at"
    return ""
