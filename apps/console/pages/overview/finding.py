"""The title: what was found, in one sentence."""

from apps.console.pages.costs.question import AskedCosts
from apps.console.pages.costs.sums import Sums
from apps.ledger.queries import Basis
from apps.show.amounts import per_cent, share
from apps.show.money import whole_amount
from apps.show.words import basis_words
from apps.unit_economics.queries.waste import Waste


def finding(asked: AskedCosts, sums: Sums | None, waste: Waste) -> str:
    """`The last 7 days cost $18,210, and 31 % of it was waste.`; `sums` None: nothing was charged."""
    who = _whose_costs(asked)
    if sums is None:
        return f"Nothing was charged {asked.words.within}{_to_whom(asked)}."
    if sums.total is None:
        return _unknown_cost(asked)
    amount = whole_amount(sums.total, asked.currency)
    said = f"{asked.words.subject} cost {amount}"
    if who:
        said = f"{who} cost {amount} {asked.words.within}"
    wasted = share(waste.micros or 0, sums.total)
    if wasted is None:
        return f"{said}."
    if not wasted:
        return f"{said}, and none of it is known to be waste."
    return f"{said}, and {per_cent(wasted)} of it was waste."


def _whose_costs(asked: AskedCosts) -> str:
    """Whose costs these are, and where; empty for everything there is."""
    pool, team = asked.texts.get("pool", ""), asked.texts.get("team", "")
    if not team and not asked.context.viewer.sees_everything:
        names = [each.name for each in asked.teams.values()]
        team = names[0] if len(names) == 1 else "Your teams"
    return f"{team} on {pool}" if team and pool else team or pool


def _unknown_cost(asked: AskedCosts) -> str:
    who, basis = _within_sentence(_whose_costs(asked)) or "everything", asked.question.basis
    if basis == Basis.BILLED:
        return f"What was billed for {who} {asked.words.within} is not known: no bill was read."
    label = "" if basis == Basis.EFFECTIVE else f"{basis_words(str(basis)).label.lower()} "
    return f"What {who} cost {asked.words.within} is not known: no {label}price covers it."


def _to_whom(asked: AskedCosts) -> str:
    who = _within_sentence(_whose_costs(asked))
    is_team = "team" in asked.question.filters or not asked.context.viewer.sees_everything
    return f" to {who}" if is_team else f" for {who}" if who else ""


def _within_sentence(who: str) -> str:
    return f"your{who[4:]}" if who.startswith("Your teams") else who
