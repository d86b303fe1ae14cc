"""Rates and pools as rows: the amount as quoted, for what, by which source."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.pages.listed import By
from apps.console.pages.prices.values import PaidRow, RateRow, UnpricedRow
from apps.fleet.queries import PoolFact
from apps.ledger import queries as ledger
from apps.pricing import queries as pricing
from apps.show.money import quoted_amount

MOMENT = timedelta(microseconds=1)
KINDS = {"list": "List", "contract": "Contract"}
OPTIONS = {"on_demand": "On demand", "spot": "Spot", "reserved": "Reserved", "owned": "Owned"}
IN_FORCE, TO_COME, ENDED = "In force", "To come", "Ended"
NOT_IN_FORCE = {
    "quarantined": "In quarantine",
    "waiting": "Waiting for a second person",
    "refused": "Rejected",
}
PAST = frozenset({ENDED, NOT_IN_FORCE["refused"]})
RATE_COLUMNS: Mapping[str, By[RateRow]] = {
    "what": By("What it prices", lambda row: row.what),
    "amount": By("Amount as quoted", lambda row: row.number, is_number=True),
    "kind": By("Kind", lambda row: row.kind),
    "from": By("From", lambda row: row.starts_at),
    "until": By("Until", lambda row: row.ends_at),
    "source": By("Source", lambda row: row.source or None),
}
PAID_COLUMNS: Mapping[str, By[PaidRow]] = {
    "name": By("Pool", lambda row: row.pool),
    "model": By("GPU model", lambda row: row.gpu_model),
    "bought": By("Bought as", lambda row: row.purchase_option),
    "paid": By("Paid", lambda row: row.amount, is_number=True),
    "by": By("By", lambda row: row.which or None),
    "list": By("List", is_number=True),
    "since": By("Since", lambda row: row.starts_at),
}


def rate_row(rate: Mapping[str, Any], at: datetime) -> RateRow:
    """A rate as it was entered."""
    return RateRow(
        id=rate["id"],
        what=what_it_prices(rate),
        kind=KINDS[rate["kind"]],
        amount=quoted_amount(rate["amount"], rate["currency"]),
        per=per(rate["unit"], rate["quantity_seconds"]),
        starts_at=rate["starts_at"],
        ends_at=rate["ends_at"],
        source=rate["source"],
        source_date=rate["source_date"],
        standing=_standing(rate, at),
        href=reverse("rate", args=[rate["id"]]),
        exact=f"{rate['amount']:f}",
        number=rate["amount"],
        currency=rate["currency"],
        doubt=rate["doubt"],
    )


def tiers_in_words(rate: Mapping[str, Any]) -> str:
    """`8.00 beyond 1,000 node-hours of a month, 7.00 beyond 5,000`; empty: one price for all."""
    unit = "GPU-hours" if rate["unit"] == "gpu" else "node-hours"
    told = [
        f"{quoted_amount(Decimal(amount), rate['currency'])} beyond {Decimal(beyond):,f}"
        for beyond, amount in rate["tiers"]
    ]
    if told:
        told[0] = f"{told[0]} {unit} of a month"
    return ", ".join(told)


def what_it_prices(rate: Mapping[str, Any]) -> str:
    """The pool by name, or the description that pools match."""
    if rate["pool_id"] is not None:
        return f"pool {rate['pool_name']}"
    machine = rate["instance_type"] or rate["gpu_model"]
    option = OPTIONS.get(rate["purchase_option"], rate["purchase_option"]).lower()
    return f"{rate['provider']}, {rate['region'] or 'any region'}, {machine}, {option}"


def per(unit: str, quantity_seconds: int) -> str:
    """What the amount is quoted for."""
    time = "second" if quantity_seconds == 1 else "hour"
    return f"per {'GPU' if unit == 'gpu' else 'node'} and {time}"


def paid_rows(
    pools: Mapping[int, PoolFact], rates: Mapping[int, Mapping[str, Any]], at: datetime
) -> tuple[PaidRow, ...]:
    """What each pool pays at `at`, pools without a price first."""
    spans = pricing.pool_rates(pools, at, at + MOMENT)
    rows = [_paid_row(pool, spans[pool.id][0], rates) for pool in pools.values()]
    return tuple(sorted(rows, key=lambda row: (bool(row.paid), row.pool.casefold())))


def _paid_row(
    pool: PoolFact, span: pricing.RateSpan, rates: Mapping[int, Mapping[str, Any]]
) -> PaidRow:
    best = span.paid_rate
    paid = rates.get(best.id) if best else None
    listed = rates.get(span.list_rate.id) if span.list_rate else None
    return PaidRow(
        pool=pool.name,
        gpu_model=pool.gpu_model,
        purchase_option=OPTIONS.get(pool.purchase_option, pool.purchase_option),
        paid=quoted_amount(paid["amount"], paid["currency"]) if paid else "",
        per=per(paid["unit"], paid["quantity_seconds"]) if paid else "",
        which=_which(paid) if paid else "",
        listed=quoted_amount(listed["amount"], listed["currency"]) if listed else "",
        starts_at=paid["starts_at"] if paid else None,
        source=paid["source"] if paid else "",
        href=reverse("rate", args=[paid["id"]]) if paid else "",
        price_href=f"{reverse('add-rate')}?pool={pool.id}",
        exact=f"{paid['amount']:f}" if paid else "",
        pool_href=pool_href(pool.name),
        amount=paid["amount"] if paid else None,
    )


def _which(rate: Mapping[str, Any]) -> str:
    kind = KINDS[rate["kind"]].lower()
    if kind == "list" and rate["purchase_option"] in ("spot", "reserved"):
        kind = OPTIONS[rate["purchase_option"]].lower()
    return f"its own {kind} price" if rate["pool_id"] is not None else f"{kind} price"


def pool_href(name: str) -> str:
    """Where the nodes of a pool are."""
    return f"{reverse('fleet')}?{urlencode({'pool': name})}"


def _costs_of(pool: str, window: str) -> str:
    return f"{reverse('costs')}?{urlencode({'window': window, 'pool': pool})}"


def unpriced_rows(
    found: Sequence[ledger.UnpricedPool], looked_back: str
) -> tuple[UnpricedRow, ...]:
    """Pools with GPU time that no rate covers."""
    return tuple(
        UnpricedRow(
            pool=each.pool.name,
            gpu_model=each.pool.gpu_model,
            purchase_option=OPTIONS.get(each.pool.purchase_option, each.pool.purchase_option),
            milliseconds=each.unit_milliseconds,
            since=each.first_day,
            price_href=f"{reverse('add-rate')}?pool={each.pool.id}&starts_at={each.first_day}T00:00",
            pool_href=pool_href(each.pool.name),
            costs_href=_costs_of(each.pool.name, looked_back),
        )
        for each in found
    )


def _standing(rate: Mapping[str, Any], at: datetime) -> str:
    if rate["standing"] in NOT_IN_FORCE:
        return NOT_IN_FORCE[rate["standing"]]
    if rate["starts_at"] is not None and rate["starts_at"] > at:
        return TO_COME
    return ENDED if rate["ends_at"] is not None and rate["ends_at"] <= at else IN_FORCE
