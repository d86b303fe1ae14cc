"""The title: what was found, in one sentence."""

from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import Sums
from apps.ledger.queries import Basis
from apps.show.amounts import per_cent, share
from apps.show.money import rounded_amount
from apps.show.words import basis_words
from apps.unit_economics.queries.waste import Waste

YOUR_TEAMS = "your teams"
"""As it stands within a sentence."""


def finding(cost_query: CostQuery, sums: Sums | None, waste: Waste) -> str:
    """`The last 7 days cost $18,210, and 31 % of it was waste.`; `sums` None: nothing was charged."""
    subject = _cost_scope_label(cost_query)
    if sums is None:
        return f"Nothing was charged {cost_query.words.within}{_to_whom(cost_query)}."
    if sums.total is None:
        return _unknown_cost(cost_query)
    amount = rounded_amount(sums.total, cost_query.currency)
    sentence = f"{cost_query.words.subject} cost {amount}"
    if subject:
        sentence = f"{subject} cost {amount} {cost_query.words.within}"
    wasted = share(waste.micros or 0, sums.total)
    if wasted is None:
        return f"{sentence}."
    if not wasted:
        return f"{sentence}, and none of it is known to be waste."
    return f"{sentence}, and {per_cent(wasted)} of it was waste."


def _cost_scope_label(cost_query: CostQuery, several: str = "Your teams") -> str:
    """Return whose costs these are, and where; empty for everything there is. `several` are the viewer's teams, where these are more than one."""
    pool, team = cost_query.texts.get("pool", ""), cost_query.texts.get("team", "")
    if not team and not cost_query.context.viewer.sees_everything:
        names = [team_fact.name for team_fact in cost_query.teams.values()]
        team = names[0] if len(names) == 1 else several
    return f"{team} on {pool}" if team and pool else team or pool


def _unknown_cost(cost_query: CostQuery) -> str:
    subject, basis = (
        _cost_scope_label(cost_query, YOUR_TEAMS) or "everything",
        cost_query.question.basis,
    )
    if basis == Basis.BILLED:
        return f"What was billed for {subject} {cost_query.words.within} is not known: no bill was read."
    label = "" if basis == Basis.EFFECTIVE else f"{basis_words(str(basis)).label.lower()} "
    return f"What {subject} cost {cost_query.words.within} is not known: no {label}price covers it."


def _to_whom(cost_query: CostQuery) -> str:
    subject = _cost_scope_label(cost_query, YOUR_TEAMS)
    is_team = "team" in cost_query.question.filters or not cost_query.context.viewer.sees_everything
    return f" to {subject}" if is_team else f" for {subject}" if subject else ""
