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
from apps.placement.queries.asked import (
    AskedQuote,
    WorkBasis,
    are_same_model,
    refuse_impossible_job,
    work_basis,
)
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.offer_terms import PAID_ANYWAY, OfferTerms, match_offers
from apps.placement.queries.placement_scope import PlacementScope, narrowed_book
from apps.placement.queries.places import EgressFact, egress_from
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


def answer_quote(asked: AskedQuote, scope: PlacementScope, at: datetime) -> AnsweredQuote:
    """Every offer that the caller sees, held against the job. Refuses QuoteNotUnderstood and NoOfferBook."""
    refuse_impossible_job(asked, at)
    basis = work_basis(asked, scope.team_ids, scope.cluster_id)
    book = newest_book()
    if book is None:
        raise NoOfferBook("", "no offer book was made yet: a worker makes one every hour")
    book = narrowed_book(book, scope)
    basis = replace(basis, of_model=_model_of_book(book, basis.of_model))
    egress = egress_from(asked.dataset.place) if asked.dataset else {}
    promised = promised_gpus(at)
    found = match_offers(book, asked, basis, egress, promised, at)
    terms = {each.offer.key: each for each in found.matched}
    job = asked.placed_job(at)
    ranked = ranked_offers([estimate_offer(job, each.terms) for each in found.matched])
    budgets = budgets_of_team(book.budgets, asked.team_id)
    answer = {
        "work": basis.words,
        "book_made_at": book.made_at.isoformat(),
        "cautions": _cautions_of(book, asked, at),
        "matched": len(ranked),
        "refused": dict(sorted(found.refused.items())),
        "budgets": budgets,
        "offers": [
            _offer_answer(asked, terms[each.key], each, budgets) for each in ranked[: asked.limit]
        ],
    }
    digest = _digest_of(asked, basis, book, egress, promised, scope)
    return AnsweredQuote(book, digest, answer)


def _cautions_of(book: BookFact, asked: AskedQuote, at: datetime) -> list[str]:
    """What is old or missing behind every offer."""
    cautions = []
    if at - book.made_at > STALE_BOOK:
        hours = (at - book.made_at) / HOUR
        cautions.append(
            f"the offer book was made {hours:.0f} hours ago: workers make a new one every hour"
        )
    if asked.dataset is not None and book.per_dollar is None:
        cautions.append("nobody knows what a US dollar is worth this month: egress is not priced")
    return cautions


def _model_of_book(book: BookFact, name: str) -> str:
    """What offers call this model, where one of theirs is meant: `H100` may be of several."""
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
    found: set[int] = set()
    while team_id is not None and team_id not in found:
        found.add(team_id)
        team_id = parents.get(team_id)
    return frozenset(found)


def _digest_of(
    asked: AskedQuote,
    basis: WorkBasis,
    book: BookFact,
    egress: Mapping[str, EgressFact],
    promised: Mapping[str, Sequence[int]],
    scope: PlacementScope,
) -> str:
    """SHA-256 of everything that the answer is made from."""
    parts: list[Any] = [asked.document(), basis, book.digest, egress, promised]
    if not scope.is_whole:
        parts.append([sorted(book.offers), book.budgets])
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _offer_answer(
    asked: AskedQuote,
    terms: OfferTerms,
    found: PlacedEstimate,
    budgets: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    offer = terms.offer
    charged = None
    per_hour = offer.charged_micros
    if found.gpu_hours is not None and per_hour is not None and found.egress is not None:
        charged = round(found.gpu_hours * per_hour + found.egress)
    return {
        "key": offer.key,
        "name": offer.name,
        "option": offer.option,
        "provider": offer.provider,
        "region": offer.region,
        "instance_type": offer.instance_type,
        "gpu_model": offer.gpu_model,
        "nodes": -(-asked.gpus // offer.gpus_per_node),
        "standing": found.order.name.lower(),
        "cost_micros": _micros_range(found.cost),
        "compute_micros": _micros_range(found.compute),
        "charged_micros": charged,
        "paid_anyway_micros": _paid_anyway(offer, found),
        "finish_hours": found.finish,
        "late_finish_hours": found.latest_finish,
        "deadline_chance": found.chance,
        "interruptions": found.interruptions,
        "cadence_seconds": None if found.cadence is None else found.cadence * HOUR_SECONDS,
        "egress_micros": None if found.egress is None else round(found.egress),
        "transfer_hours": found.transfer,
        "wait_hours": found.wait,
        "gpu_hours": found.gpu_hours,
        "kilowatt_hours": found.kilowatt_hours,
        "energy_words": terms.energy_words,
        "rented_gpus": terms.terms.rented_gpus or asked.gpus,
        "there_gpus": offer.there_gpus,
        "budgets": [_budget_after(budget, charged, found.gpu_hours) for budget in budgets],
        "evidence": offer.interruptions,
        "price_rows": terms.rates,
        "reasons": terms.reasons,
        "cautions": terms.cautions,
        "unknown": list(found.unknown),
    }


def _paid_anyway(offer: OfferFact, found: PlacedEstimate) -> int | None:
    """What the GPUs of these hours cost whether the job runs or not: of what is owned or bought ahead; else nothing."""
    if offer.option not in PAID_ANYWAY:
        return 0
    if found.gpu_hours is None or offer.paid_micros is None:
        return None
    return round(found.gpu_hours * offer.paid_micros)


def _budget_after(
    budget: Mapping[str, Any], charged: int | None, gpu_hours: float | None
) -> dict[str, Any]:
    """What this offer would leave of a budget, as the rest of its period is expected; null: not known."""
    left = budget["left"]
    taken = charged if budget["measure"] == MONEY else gpu_hours and round(gpu_hours * HOUR_MS)
    return {
        "name": budget["name"],
        "measure": budget["measure"],
        "left": None if left is None or taken is None else left - taken,
    }


def _micros_range(found: LikelyRange | None) -> dict[str, int] | None:
    if found is None:
        return None
    return {name: round(getattr(found, name)) for name in ("low", "likely", "high")}
