"""The answer to a quote: offers in order with their figures, and what the budgets leave."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from apps.accounts import queries as accounts
from apps.accounts.queries.reading import once
from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.placement.estimates import (
    LikelyRange,
    PlacedEstimate,
    estimate_offer,
    ranked_offers,
)
from apps.economics.refusal import Refusal
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.offer_terms import PAID_ANYWAY, OfferTerms, match_offers
from apps.placement.queries.placement_scope import PlacementScope, narrowed_book
from apps.placement.queries.places import EgressFact, egress_from
from apps.placement.queries.quote_request import (
    QuoteRequest,
    WorkBasis,
    are_same_model,
    refuse_impossible_job,
    work_basis,
)
from apps.placement.queries.quotes import promised_gpus
from apps.planning.queries.budgets import MONEY

HOUR_SECONDS = 3600
STALE_BOOK = 2 * HOUR
"""One is made every hour: an older one says that no worker made it."""


class NoOfferBook(Refusal):
    """No worker made an offer book yet."""


@dataclass(frozen=True, slots=True)
class AnsweredQuote:
    """A quote as it is kept: what it is made from, and the document that is answered."""

    book: BookFact
    digest: str
    answer: dict[str, Any]


def answer_quote(question: QuoteRequest, scope: PlacementScope, at: datetime) -> AnsweredQuote:
    """Every offer that the caller sees, held against the job. Refuses QuoteNotUnderstood and NoOfferBook."""
    refuse_impossible_job(question, at)
    basis = work_basis(question, scope.team_ids, scope.cluster_id)
    book = newest_book()
    if book is None:
        raise NoOfferBook("", "no offer book was made yet: a worker makes one every hour")
    book = narrowed_book(book, scope)
    basis = replace(basis, of_model=_model_of_book(book, basis.of_model))
    egress = egress_from(question.dataset.place) if question.dataset else {}
    promised = promised_gpus(at)
    outcome = match_offers(book, question, basis, egress, promised, at)
    terms = {offer_terms.offer.key: offer_terms for offer_terms in outcome.matched}
    job = question.placed_job(at)
    ranked = ranked_offers(
        [estimate_offer(job, offer_terms.terms) for offer_terms in outcome.matched]
    )
    budgets = budgets_of_team(book.budgets, question.team_id)
    answer = {
        "work": basis.words,
        "book_made_at": book.made_at.isoformat(),
        "cautions": _cautions_of(book, question, at),
        "matched": len(ranked),
        "refused": dict(sorted(outcome.refused.items())),
        "budgets": budgets,
        "offers": [
            _offer_answer(question, terms[ranked_offer.key], ranked_offer, budgets)
            for ranked_offer in ranked[: question.limit]
        ],
    }
    digest = _digest_of(question, basis, book, egress, promised, scope)
    return AnsweredQuote(book, digest, answer)


def _cautions_of(book: BookFact, question: QuoteRequest, at: datetime) -> list[str]:
    """Return cautions of what is old or missing behind every offer."""
    cautions = []
    if at - book.made_at > STALE_BOOK:
        hours = (at - book.made_at) / HOUR
        cautions.append(
            f"the offer book was made {hours:.0f} hours ago: workers make a new one every hour"
        )
    if question.dataset is not None and book.per_dollar is None:
        cautions.append("nobody knows what a US dollar is worth this month: egress is not priced")
    return cautions


def _model_of_book(book: BookFact, name: str) -> str:
    """Return the name that offers give this model, where one of theirs is meant: `H100` may be of several."""
    same = {model for model in book.models if name and model and are_same_model(name, model)}
    return same.pop() if len(same) == 1 else name


def budgets_of_team(
    budgets: Sequence[Mapping[str, Any]], team_id: int | None
) -> list[dict[str, Any]]:
    """Those that the team's work counts against: the organisation's, its own, and those of teams above it."""
    above = teams_above(team_id)
    return [
        dict(budget)
        for budget in budgets
        if budget["scope"] == "organisation"
        or (budget["team_id"] is not None and budget["team_id"] in above)
    ]


@once
def teams_above(team_id: int | None) -> frozenset[int]:
    """The team and all above it; none of no team."""
    parents = {team.id: team.parent_id for team in accounts.teams()}
    team_ids: set[int] = set()
    while team_id is not None and team_id not in team_ids:
        team_ids.add(team_id)
        team_id = parents.get(team_id)
    return frozenset(team_ids)


def _digest_of(
    question: QuoteRequest,
    basis: WorkBasis,
    book: BookFact,
    egress: Mapping[str, EgressFact],
    promised: Mapping[str, Sequence[int]],
    scope: PlacementScope,
) -> str:
    """SHA-256 of everything that the answer is made from."""
    parts: list[Any] = [question.document(), basis, book.digest, egress, promised]
    if not scope.is_whole:
        parts.append([sorted(book.offers), book.budgets])
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _offer_answer(
    question: QuoteRequest,
    terms: OfferTerms,
    estimate: PlacedEstimate,
    budgets: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    offer = terms.offer
    charged = None
    per_hour = offer.charged_micros
    if estimate.gpu_hours is not None and per_hour is not None and estimate.egress is not None:
        charged = round(estimate.gpu_hours * per_hour + estimate.egress)
    return {
        "key": offer.key,
        "name": offer.name,
        "option": offer.option,
        "provider": offer.provider,
        "region": offer.region,
        "instance_type": offer.instance_type,
        "gpu_model": offer.gpu_model,
        "nodes": -(-question.gpus // offer.gpus_per_node),
        "standing": estimate.order.name.lower(),
        "cost_micros": _micros_range(estimate.cost),
        "compute_micros": _micros_range(estimate.compute),
        "charged_micros": charged,
        "paid_anyway_micros": _paid_anyway(offer, estimate),
        "finish_hours": estimate.finish,
        "late_finish_hours": estimate.latest_finish,
        "deadline_chance": estimate.chance,
        "interruptions": estimate.interruptions,
        "cadence_seconds": None if estimate.cadence is None else estimate.cadence * HOUR_SECONDS,
        "egress_micros": None if estimate.egress is None else round(estimate.egress),
        "transfer_hours": estimate.transfer,
        "wait_hours": estimate.wait,
        "gpu_hours": estimate.gpu_hours,
        "kilowatt_hours": estimate.kilowatt_hours,
        "energy_words": terms.energy_words,
        "rented_gpus": terms.terms.rented_gpus or question.gpus,
        "there_gpus": offer.there_gpus,
        "budgets": [_budget_after(budget, charged, estimate.gpu_hours) for budget in budgets],
        "evidence": offer.interruptions,
        "price_rows": terms.rates,
        "reasons": terms.reasons,
        "cautions": terms.cautions,
        "unknown": list(estimate.unknown),
    }


def _paid_anyway(offer: OfferFact, estimate: PlacedEstimate) -> int | None:
    """Return what the GPUs of these hours cost whether the job runs or not: of what is owned or bought ahead; else nothing."""
    if offer.option not in PAID_ANYWAY:
        return 0
    if estimate.gpu_hours is None or offer.paid_micros is None:
        return None
    return round(estimate.gpu_hours * offer.paid_micros)


def _budget_after(
    budget: Mapping[str, Any], charged: int | None, gpu_hours: float | None
) -> dict[str, Any]:
    """Return what this offer would leave of a budget, as the rest of its period is expected; null: not known."""
    left = budget["left"]
    taken = charged if budget["measure"] == MONEY else gpu_hours and round(gpu_hours * HOUR_MS)
    return {
        "name": budget["name"],
        "measure": budget["measure"],
        "left": None if left is None or taken is None else left - taken,
    }


def _micros_range(cost_range: LikelyRange | None) -> dict[str, int] | None:
    if cost_range is None:
        return None
    return {name: round(getattr(cost_range, name)) for name in ("low", "likely", "high")}
