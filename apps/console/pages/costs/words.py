"""Titles that are findings, and the quiet words under them."""

from apps.console.kit.cells import titled
from apps.console.pages.costs.days import LOADED
from apps.console.pages.costs.question import AskedCosts
from apps.console.pages.costs.sums import Sums
from apps.ledger.queries.cube.states import Sureness
from apps.show.amounts import counted, per_cent, share
from apps.show.money import whole_amount
from apps.show.time import instant
from apps.show.words import basis_words


def spent(asked: AskedCosts, who: str, sums: Sums) -> str:
    """`Pretraining cost $4,120 last month, and 71 % of it was active.`"""
    when = asked.words.within
    if not sums.by_state:
        return f"Nothing was charged to {who} {when}."
    if sums.total is None:
        return f"What {who} cost {when} is not known: no price covers it."
    loaded = LOADED.get(str(asked.question.loading), "")
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
            else f"{_active_part(sums)} of it was active"
        )
        return f"{said}; {known}, and {per_cent(unobserved)} was not observed."
    return f"{said}, and {_active_part(sums)} of it was active."


def under_words(asked: AskedCosts, known: Sureness) -> tuple[str, ...]:
    """Which amount, of when, how much of it was observed, and how far it is settled."""
    basis = basis_words(str(asked.question.basis))
    observed = share(known.observed_milliseconds, known.held_milliseconds)
    coverage = f"{per_cent(observed)} of held GPU time observed"
    settled = "nothing settled yet"
    if known.as_of is not None:
        settled = f"settled to {instant(known.as_of, asked.context.zone)}"
    if known.is_closed:
        settled += ", and closed"
    if known.pending_hours:
        settled += f", {counted(known.pending_hours, 'hour')} pending"
    return (
        titled(f"{basis.label} cost in {asked.currency}", basis.explanation),
        asked.words.days,
        "no GPU time held" if observed is None else coverage,
        settled,
    )


def _active_part(sums: Sums) -> str:
    return "none" if not sums.worked_ratio else per_cent(sums.worked_ratio)
