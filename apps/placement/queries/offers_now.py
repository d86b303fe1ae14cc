"""Offers that can be had at a moment, gathered from pools, commitments and prices, for a book."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.ledger.queries.calendar import local_day
from apps.placement.queries.commitment_offers import commitment_offers
from apps.placement.queries.interruptions import with_interruptions
from apps.placement.queries.market_offers import market_offers
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.pool_offers import PAID_ANYWAY, most_held, pool_offers
from apps.placement.queries.quotes import calibration
from apps.planning.queries.budget_figures import figures_of
from apps.planning.queries.budgets import RUNNING, budgets
from apps.planning.queries.gpu_quotas import gpu_quota_use, gpu_quotas
from apps.planning.queries.power_limits import power_limits
from apps.pricing.queries.exchange import exchange
from apps.unit_economics.queries.runs.power import power_of_runs

DOLLAR = "USD"
POWER_SPAN = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class OffersNow:
    """Everything that a book says."""

    offers: list[OfferFact]
    left_out: list[str]
    budgets: list[dict[str, Any]]
    calibration: list[dict[str, Any]]
    per_dollar: Decimal | None

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: equal ones are equal books."""
        text = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def offers_now(at: datetime) -> OffersNow:
    """Pools first, then commitments with idle capacity, then clouds' prices of what no pool is of."""
    with reading_once():
        quotas = gpu_quota_use(gpu_quotas(), at)
        pools = pool_offers(quotas, at)
        committed, unused = commitment_offers(at)
        covered = {
            (offer.provider, offer.region, offer.instance_type or offer.gpu_model, offer.option)
            for offer in pools
        }
        market = market_offers(covered, quotas, at)
        ours = organisation()
        month = local_day(at, ours.zone).replace(day=1)
        dollar = exchange(from_currency=DOLLAR, to_currency=ours.currency, month=month)
        rate = dollar.rate if dollar else None
        return OffersNow(
            offers=_with_power(
                _with_most_held(with_interruptions([*pools, *committed, *market.offers], at), at),
                at,
            ),
            left_out=[*unused, *market.left_out],
            budgets=budgets_left(at),
            calibration=[asdict(fact) for fact in calibration()],
            per_dollar=None if rate is None else Decimal(rate.numerator) / rate.denominator,
        )


def _with_most_held(offers: Sequence[OfferFact], at: datetime) -> list[OfferFact]:
    """Of what is rented by the hour, how much of it was ever held there at once."""
    most = most_held(at)
    return [
        offer
        if offer.option in PAID_ANYWAY
        else replace(offer, most_held_gpus=most[offer.provider, offer.region, offer.gpu_model])
        for offer in offers
    ]


def _with_power(offers: Sequence[OfferFact], at: datetime) -> list[OfferFact]:
    """Return offers with what GPUs of the model drew in runs, and the overhead of the hall where its plan or room says it."""
    drew = power_of_runs(at - POWER_SPAN, at)
    halls = {pool_id: float(room.pue) for room in power_limits() for pool_id in room.pool_ids}
    return [
        replace(
            offer,
            measured_watts=drew[offer.gpu_model].watts if offer.gpu_model in drew else None,
            pue=halls.get(offer.pool_id or 0) if offer.pue is None else offer.pue,
        )
        for offer in offers
    ]


def budgets_left(at: datetime) -> list[dict[str, Any]]:
    """Return what is left of each running budget when its rest comes as expected, in its own whole units; null: not known."""
    running = [figures for figures in figures_of(budgets(None), at) if figures.status == RUNNING]
    return [dict(_budget_left(figures)) for figures in running]


def _budget_left(figures: Any) -> Mapping[str, Any]:
    budget = figures.budget
    return {
        "id": budget.id,
        "name": budget.name,
        "scope": budget.scope,
        "team_id": int(budget.key) if budget.scope == "team" else None,
        "measure": budget.measure,
        "amount": figures.amount,
        "spent": figures.spent.amount,
        "expected": figures.expected,
        "left": figures.headroom,
        "end_day": figures.end_day.isoformat(),
    }
