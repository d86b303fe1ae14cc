"""The title: what was found, in one sentence, and the line under it."""

from zoneinfo import ZoneInfo

from apps.console.kit.frame import Under
from apps.console.pages.overview.question import Question
from apps.console.pages.overview.sums import Sums
from apps.ledger.queries import Basis, OverviewFacts
from apps.show.amounts import per_cent, share
from apps.show.money import whole_amount
from apps.show.words import basis_words
from apps.unit_economics.queries.waste import Waste

LEAST_SURE_FIRST = ("provisional", "estimated", "restated", "reconciled")


def finding(asked: Question, facts: OverviewFacts, sums: Sums, waste: Waste) -> str:
    """`The last 7 days cost $18,210, and 31 % of it was waste.`"""
    if not facts.days:
        return f"Nothing was charged {asked.words.within}{_to_whom(asked)}."
    if sums.total is None:
        return _unknown(asked)
    amount = whole_amount(sums.total, asked.currency)
    who = asked.who
    said = (
        f"{who} cost {amount} {asked.words.within}"
        if who
        else f"{asked.words.subject} cost {amount}"
    )
    wasted = share(waste.micros or 0, sums.total)
    if wasted is None:
        return f"{said}."
    if not wasted:
        return f"{said}, and none of it is known to be waste."
    return f"{said}, and {per_cent(wasted)} of it was waste."


def under(asked: Question, facts: OverviewFacts) -> Under | None:
    """How sure the sums are; None where there are none."""
    if not facts.days:
        return None
    return Under(
        status=status(facts),
        basis=str(asked.chosen.basis),
        currency=asked.currency,
        period=asked.words.days,
        coverage_ratio=_ratio(facts),
        settled_to=facts.as_of,
        pending_hours=facts.pending_hours,
        zone=ZoneInfo(asked.organisation.zone),
    )


def status(facts: OverviewFacts) -> str:
    """The least sure status of what is summed."""
    return next(word for word in LEAST_SURE_FIRST if word in facts.statuses)


def _ratio(facts: OverviewFacts) -> float | None:
    observed = share(facts.observed_milliseconds, facts.held_milliseconds)
    return None if observed is None else float(observed)


def _unknown(asked: Question) -> str:
    who = _mid(asked.who) or "everything"
    if asked.chosen.basis == Basis.BILLED:
        return f"What was billed for {who} {asked.words.within} is not known: no bill was read."
    label = "" if asked.chosen.basis == Basis.EFFECTIVE else f"{_basis(asked)} "
    return f"What {who} cost {asked.words.within} is not known: no {label}price covers it."


def _basis(asked: Question) -> str:
    return basis_words(str(asked.chosen.basis)).label.lower()


def _to_whom(asked: Question) -> str:
    who = _mid(asked.who)
    is_team = asked.team or not asked.viewer.sees_everything
    return f" to {who}" if is_team else f" for {who}" if who else ""


def _mid(who: str) -> str:
    """As it stands within a sentence."""
    return f"your{who[4:]}" if who.startswith("Your teams") else who
