"""Titles that are findings, and the quiet words under them."""

from apps.console.kit.cells import titled
from apps.console.pages.costs.days import LOADED
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import Sums
from apps.ledger.queries.cube.states import DataQuality
from apps.show.amounts import counted, per_cent, share
from apps.show.money import rounded_amount
from apps.show.time import instant
from apps.show.words import basis_words


def spent(cost_query: CostQuery, subject: str, sums: Sums) -> str:
    """`Pretraining cost $4,120 last month, and 71 % of it was active.`"""
    when = cost_query.words.within
    if not sums.by_state:
        return f"Nothing was charged to {subject} {when}."
    if sums.total is None:
        return f"What {subject} cost {when} is not known: no price covers it."
    loaded = LOADED.get(str(cost_query.question.loading), "")
    sentence = f"{subject} cost {rounded_amount(sums.total, cost_query.currency)}{loaded} {when}"
    if sums.worked_ratio is None:
        return f"{sentence}."
    if not sums.gpu_milliseconds:
        return f"{sentence}, none of it for GPU time of its own."
    unobserved = share(sums.by_state.get("unobserved") or 0, sums.total)
    if unobserved:
        active_text = (
            "none of it is known to have been active"
            if not sums.worked_ratio
            else f"{_active_part(sums)} of it was active"
        )
        return f"{sentence}; {active_text}, and {per_cent(unobserved)} was not observed."
    return f"{sentence}, and {_active_part(sums)} of it was active."


def under_words(cost_query: CostQuery, certainty: DataQuality) -> tuple[str, ...]:
    """Return which amount is shown, of when, how much of it was observed, and how far it is settled."""
    basis = basis_words(str(cost_query.question.basis))
    observed = share(certainty.observed_milliseconds, certainty.held_milliseconds)
    coverage = f"{per_cent(observed)} of held GPU time observed"
    settled = "nothing settled yet"
    if certainty.as_of is not None:
        settled = f"settled to {instant(certainty.as_of, cost_query.context.zone)}"
    if certainty.is_closed:
        settled += ", and closed"
    if certainty.pending_hours:
        settled += f", {counted(certainty.pending_hours, 'hour')} pending"
    return (
        titled(f"{basis.label} cost in {cost_query.currency}", basis.explanation),
        cost_query.words.days,
        "no GPU time held" if observed is None else coverage,
        settled,
    )


def _active_part(sums: Sums) -> str:
    return "none" if not sums.worked_ratio else per_cent(sums.worked_ratio)
