"""Calls to model APIs as rows of tables."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from django.urls import reverse

from apps.accounts.queries import teams
from apps.console.pages.api_spend.values import (
    ComparedRow,
    ModelRow,
    OwnerRow,
    PriceRow,
    UnpricedRow,
)
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import Link
from apps.console.pages.listed import By
from apps.ledger.queries.api_spend import SpendAsked, compared, spend, unpriced_calls
from apps.ledger.queries.calendar import local_day
from apps.pricing.actions.api_prices import UNITS
from apps.pricing.queries.api_ends import end_of
from apps.pricing.queries.api_prices import ApiPriceFact, api_prices
from apps.show.amounts import count, per_cent
from apps.show.money import quoted_amount
from apps.workloads.queries import workloads

SOON = timedelta(days=90)
MODELS: Mapping[str, By[ModelRow]] = {
    "model": By("Model", lambda row: (row.vendor, row.model)),
    "requests": By("Calls", lambda row: row.requests, is_number=True),
    "input": By("Tokens in", lambda row: row.input_tokens, is_number=True),
    "cached": By("of them cached", lambda row: row.cached_tokens, is_number=True),
    "output": By("Tokens out", lambda row: row.output_tokens, is_number=True),
    "million": By("Per M tokens", lambda row: row.million_micros, is_number=True),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
    "limited": By("429", lambda row: row.rate_limited, is_number=True),
    "broken": By("5xx", lambda row: row.server_errors, is_number=True),
    "end": By("Shut off", lambda row: row.end or None),
}
OWNERS: Mapping[str, By[OwnerRow]] = {
    "team": By("Team", lambda row: row.team),
    "workload": By("Workload", lambda row: row.workload),
    "feature": By("Feature", lambda row: row.feature),
    "requests": By("Calls", lambda row: row.requests, is_number=True),
    "tokens": By("Tokens", lambda row: row.tokens, is_number=True),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
}


def model_rows(asked: SpendAsked, who: Asking) -> list[ModelRow]:
    """Each model's calls, the dearest first."""
    today = local_day(who.at, who.organisation.zone)
    return [
        ModelRow(
            vendor=str(found.key[0]),
            model=str(found.key[1]),
            requests=found.requests,
            rate_limited=found.rate_limited,
            server_errors=found.server_errors,
            unpriced=found.unpriced,
            input_tokens=found.input_tokens,
            cached_tokens=found.cached_tokens,
            output_tokens=found.output_tokens,
            cost_micros=found.micros,
            list_micros=found.list_micros,
            million_micros=found.million_micros,
            end=ends.ends_on.isoformat() if ends else "",
            end_source=f"{ends.source}, read {ends.read_on.isoformat()}" if ends else "",
            is_ending=ends is not None and ends.ends_on <= today + SOON,
        )
        for found in spend(asked, ("vendor", "model"))
        for ends in [end_of(str(found.key[0]), str(found.key[1]))]
    ]


def owner_rows(asked: SpendAsked) -> list[OwnerRow]:
    """Whose calls they were, the dearest first."""
    names = {team.id: team.name for team in teams()}
    works = workloads()
    found = []
    for each in spend(asked, ("team", "workload", "feature")):
        team, work, feature = each.key
        found.append(
            OwnerRow(
                team=names[int(str(team))],
                workload="" if work is None else works[int(str(work))].name,
                feature=str(feature),
                requests=each.requests,
                tokens=each.tokens,
                cost_micros=each.micros,
                unpriced=each.unpriced,
            )
        )
    return found


def unpriced_rows(asked: SpendAsked) -> tuple[UnpricedRow, ...]:
    """Calls without a price."""
    return tuple(
        UnpricedRow(each.vendor, each.model, each.tier, each.requests, each.tokens, each.reason)
        for each in unpriced_calls(asked)
    )


def compared_rows(asked: SpendAsked) -> tuple[ComparedRow, ...]:
    """Each day that a vendor's report tells of."""
    return tuple(
        ComparedRow(
            each.vendor,
            each.day,
            each.our_micros,
            each.their_micros,
            each.difference_micros,
            each.unpriced,
        )
        for each in compared(asked)
    )


def price_rows(who: Asking) -> tuple[PriceRow, ...]:
    """The contract prices, with what ends each."""
    return tuple(_price_row(fact, who) for fact in api_prices())


def _price_row(fact: ApiPriceFact, who: Asking) -> PriceRow:
    is_over = fact.ends_at is not None and fact.ends_at <= who.at
    end = Link("End", reverse("end-api-price", args=[fact.id]))
    return PriceRow(
        what=" ".join(part for part in (fact.vendor, fact.model, fact.tier) if part),
        unit=UNITS[fact.unit],
        price=price_words(fact),
        starts_at=fact.starts_at,
        ends_at=fact.ends_at,
        end=end if who.viewer.may_close and not is_over else None,
    )


def price_words(fact: ApiPriceFact) -> str:
    """An amount for a quantity, or a share off the public price."""
    if fact.amount is None:
        return f"{per_cent(fact.discount_ratio or Decimal(0))} off the public price"
    return f"{quoted_amount(fact.amount, fact.currency)} for {count(fact.per_quantity)}"


def errors_of(rows: Sequence[ModelRow]) -> tuple[int, int]:
    """Calls that were turned away or broke, and all calls."""
    failed = sum(row.rate_limited + row.server_errors for row in rows)
    return failed, sum(row.requests for row in rows)
