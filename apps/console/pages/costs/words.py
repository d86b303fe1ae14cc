"""Titles that are findings, and the line under them."""

from collections.abc import Collection
from zoneinfo import ZoneInfo

from apps.console.kit.frame import Under
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.overview.finding import LEAST_SURE_FIRST
from apps.console.pages.overview.sums import Sums
from apps.ledger.queries.drill import Loading, Sureness
from apps.show.amounts import per_cent, share
from apps.show.money import whole_amount

LOADED = {Loading.LOADED: " with shared idle", Loading.DIRECT: " without shared costs"}


def spent(asked: CostQuestion, who: str, sums: Sums) -> str:
    """`Pretraining cost $4,120 last month, and 71 % of it was active.`"""
    when = asked.words.within
    if not sums.by_state:
        return f"Nothing was charged to {who} {when}."
    if sums.total is None:
        return f"What {who} cost {when} is not known: no price covers it."
    loaded = LOADED.get(asked.drill.loading, "")
    said = f"{who} cost {whole_amount(sums.total, asked.currency)}{loaded} {when}"
    if sums.worked_ratio is None:
        return f"{said}."
    if not sums.gpu_milliseconds:
        return f"{said}, none of it for GPU time of its own."
    unobserved = share(sums.by_state.get("unobserved") or 0, sums.total)
    if unobserved:
        known = (
            "none of it is known to have been active"
            if not sums.worked_ratio
            else f"{_active(sums)} of it was active"
        )
        return f"{said}; {known}, and {per_cent(unobserved)} was not observed."
    return f"{said}, and {_active(sums)} of it was active."


def least_sure(statuses: Collection[str]) -> str:
    """The least sure of them; empty without any."""
    return next((word for word in LEAST_SURE_FIRST if word in statuses), "")


def under(asked: CostQuestion, known: Sureness) -> Under | None:
    """How sure the sums are; None where there are none."""
    status = least_sure(known.statuses)
    if not status:
        return None
    observed = share(known.observed_milliseconds, known.held_milliseconds)
    return Under(
        status=status,
        basis=str(asked.drill.chosen.basis),
        currency=asked.currency,
        period=asked.words.days,
        coverage_ratio=None if observed is None else float(observed),
        settled_to=known.as_of,
        pending_hours=known.pending_hours,
        zone=ZoneInfo(asked.organisation.zone),
    )


def _active(sums: Sums) -> str:
    return "none" if not sums.worked_ratio else per_cent(sums.worked_ratio)
