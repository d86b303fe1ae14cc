"""Scope of a caller: whose jobs it may ask quotes and admissions of, and what of the answers it is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from apps.accounts.queries import Scope, TokenFact, Viewer, teams_of_token
from apps.accounts.queries.reading import once
from apps.fleet.queries import cluster_of_token, clusters, pools
from apps.placement.models import JobQuote
from apps.placement.queries.book import BookFact, cheapest_on_demand
from apps.placement.queries.offer_facts import is_of_commitment, pool_of_key
from apps.placement.queries.quotes import QuoteFact, quote
from apps.planning.queries.budgets import ORGANISATION
from apps.unit_economics.queries.runs.list import run_rows
from apps.workloads import queries as workloads

ASKS_FOR_A_TEAM = frozenset({Scope.READ, Scope.MANAGE, Scope.SCHEDULE})
NOT_SHOWN = "what its figures are from is shown to finance, platform and the organisation's tokens"
OF_ANOTHER_TEAM = "as a run of another team"
cluster_of = once(cluster_of_token)


def pools_of(cluster_id: int) -> frozenset[int]:
    """The pools of one cluster, by id."""
    return frozenset(pool.id for pool in pools().values() if pool.cluster_id == cluster_id)


@dataclass(frozen=True, slots=True)
class PlacementScope:
    """`team_ids` whose jobs (None: everybody's, and nobody's), on pools of `cluster_id` (None: anywhere).

    `own_team_id` is the team of a job of which none is named; None: it stays nobody's.
    """

    team_ids: frozenset[int] | None = None
    cluster_id: int | None = None
    own_team_id: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.team_ids is None and self.cluster_id is None

    @property
    def sees_limits(self) -> bool:
        """Whether budgets of others, quotas, contracts and waits behind an answer are shown."""
        return self.team_ids is None

    @property
    def pool_ids(self) -> frozenset[int] | None:
        """The pools on which its jobs may run; None: any."""
        if self.cluster_id is None:
            return None
        return pools_of(self.cluster_id)

    def covers_team(self, team_id: int | None) -> bool:
        """Whether a job of this team (None: of nobody) is one of its own."""
        return self.team_ids is None or team_id in self.team_ids


WHOLE = PlacementScope()


def asking_scope(token: TokenFact | None, viewer: Viewer) -> PlacementScope | None:
    """For whom this caller may ask; None: for nobody.

    Finance, platform and the organisation's `manage` tokens ask of everything; a `schedule` token of what it is bound to (a team and
    those below, a cluster); a team's own token of that team and those below.
    """
    if viewer.may_manage if token else viewer.sees_prices:
        return WHOLE
    if token is None:
        return None
    is_scheduler = Scope.SCHEDULE in token.scopes
    cluster_id = cluster_of(token.id) if is_scheduler else None
    if token.team_id is not None and token.scopes & ASKS_FOR_A_TEAM:
        return PlacementScope(teams_of_token(token), cluster_id, token.team_id)
    return PlacementScope(cluster_id=cluster_id) if is_scheduler else None


def reading_scope(token: TokenFact | None, viewer: Viewer) -> PlacementScope | None:
    """Return the scope of quotes and admissions that this caller may read: all where it sees prices, else those that it may ask."""
    return WHOLE if viewer.sees_prices else asking_scope(token, viewer)


def narrowed_book(book: BookFact, scope: PlacementScope) -> BookFact:
    """The book with the offers and budgets that this caller is answered by."""
    if scope.is_whole:
        return book
    is_shown = offer_filter(scope)
    offers = {key: offer for key, offer in book.offers.items() if is_shown(key)}
    return replace(
        book,
        offers=offers,
        models=frozenset(offer.gpu_model for offer in offers.values()),
        on_demand=cheapest_on_demand(offers.values()),
        budgets=[budget for budget in book.budgets if _is_budget_shown(budget, scope)],
    )


def offer_filter(scope: PlacementScope) -> Callable[[str], bool]:
    """Whether the offer of a key is shown: a cluster's caller sees its pools, a team's no commitment."""
    pool_ids = scope.pool_ids

    def is_shown(key: str) -> bool:
        if pool_ids is not None:
            return pool_of_key(key) in pool_ids
        return scope.team_ids is None or not is_of_commitment(key)

    return is_shown


def _is_budget_shown(budget: Mapping[str, Any], scope: PlacementScope) -> bool:
    """A team sees its own and its workloads' budgets, as in the list of budgets."""
    if scope.sees_limits:
        return True
    return budget["scope"] != ORGANISATION and scope.covers_team(budget["team_id"])


def is_quote_shown(fact: QuoteFact, scope: PlacementScope) -> bool:
    """Whether a quote is one of this caller's: of its teams, and asked for its cluster or with an offer there."""
    if not scope.covers_team(fact.team_id):
        return False
    if scope.cluster_id is not None and fact.cluster_id == scope.cluster_id:
        return True
    return scope.pool_ids is None or any(map(offer_filter(scope), _keys_of(fact)))


def visible_quote(quote_id: int, scope: PlacementScope) -> QuoteFact:
    """One quote of this caller's, as it was answered; refuses JobQuote.DoesNotExist, also where it is not theirs."""
    fact = quote(quote_id)
    if not is_quote_shown(fact, scope):
        raise JobQuote.DoesNotExist
    return fact


def is_job_covered(job_id: int, scope: PlacementScope, at: datetime) -> bool:
    """Whether there is such a job, of the caller's teams as rules say now, in its cluster."""
    job = workloads.job(job_id)
    if job is None:
        return False
    if scope.cluster_id is not None and clusters()[scope.cluster_id].name != job.cluster:
        return False
    return scope.team_ids is None or scope.covers_team(
        workloads.owners([job.id], at)[job.id].team_id
    )


def is_run_covered(run_id: int, scope: PlacementScope) -> bool:
    """Whether there is such a run that was settled, of the caller's teams, with jobs in its cluster."""
    run = run_rows([run_id]).get(run_id)
    if run is None or not scope.covers_team(run.team_id):
        return False
    return scope.cluster_id is None or workloads.is_run_in_cluster(run_id, scope.cluster_id)


def shown_quote(fact: QuoteFact, scope: PlacementScope) -> QuoteFact:
    """The quote as this caller is shown it; whoever asked it may have seen more."""
    if scope.is_whole:
        return fact
    is_shown = offer_filter(scope)
    budgets = [budget for budget in fact.answer["budgets"] if _is_budget_shown(budget, scope)]
    names = {budget["name"] for budget in budgets}
    offers = [
        _shown_offer(offer, names, scope)
        for offer in fact.answer["offers"]
        if is_shown(offer["key"])
    ]
    work = _shown_work(fact, scope)
    return replace(fact, answer={**fact.answer, "budgets": budgets, "offers": offers, "work": work})


def _keys_of(fact: QuoteFact) -> list[str]:
    return [offer["key"] for offer in fact.answer["offers"]]


def _shown_offer(
    offer: Mapping[str, Any], budget_names: set[str], scope: PlacementScope
) -> dict[str, Any]:
    budgets = [budget for budget in offer.get("budgets", ()) if budget["name"] in budget_names]
    if scope.sees_limits:
        return {**offer, "budgets": budgets}
    # Notes name rates, commitments and how much others wait, and how many quotes they took.
    hidden = {"price_rows": [], "evidence": None, "reasons": [NOT_SHOWN], "cautions": []}
    return {**offer, "budgets": budgets, **hidden}


def _shown_work(fact: QuoteFact, scope: PlacementScope) -> str:
    words: str = fact.answer["work"]
    run_id = (fact.job.get("work") or {}).get("like_run")
    if run_id is None:
        return words
    return words if is_run_covered(run_id, scope) else OF_ANOTHER_TEAM
