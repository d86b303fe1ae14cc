"""The tables of calls to model APIs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    ISO_DAY,
    MONEY,
    PROSE,
    RATIO,
    SIGNED_MONEY,
    SIGNED_RATIO,
    TEXT,
    UNIT_COST,
    linked,
    titled,
    undefined,
    warned,
)
from apps.console.kit.table import Table
from apps.economics.calls import Contract
from apps.ledger.queries.api_spend import Spend, Unpriced, no_calls
from apps.ledger.tables.vendor_days import VENDOR_DAYS
from apps.pricing.actions.api_prices import UNITS
from apps.pricing.queries.api_ends import ApiEnd, end_of
from apps.show.amounts import change, count, difference, per_cent, share
from apps.show.money import quoted_amount
from apps.tables.column import CURRENCY_COLUMN, Column

SOON = timedelta(days=90)


class ModelCalls(NamedTuple):
    """Calls of a vendor's model over a period; `today` tells whether its end is near.

    `changed` is what it cost in the spans that are compared, now and before; None where that is not known.
    """

    found: Spend
    vendor: str
    model: str
    today: date
    changed: tuple[int | None, int | None] = (None, None)

    @property
    def ends(self) -> ApiEnd | None:
        """When its vendor shuts it off; None: no date is known."""
        return end_of(self.vendor, self.model)


def model_calls(
    spend_rows: Iterable[Spend],
    today: date,
    compared: tuple[Sequence[Spend], Sequence[Spend]] | None = None,
) -> list[ModelCalls]:
    """Each model's calls, of what was grouped by vendor and model.

    With spans that are `compared` a model without calls in one of them cost 0 there, and one that was called there alone is a row too.
    """
    spend_by_key = {spend.key: spend for spend in spend_rows}
    if compared is None:
        return [_model_row(row, today, (None, None)) for row in spend_by_key.values()]
    now, before = ({row.key: row.micros for row in spent} for spent in compared)
    for call_spend in (row for spent in compared for row in spent):
        spend_by_key.setdefault(call_spend.key, no_calls(call_spend.key))
    return [
        _model_row(row, today, (now.get(key, 0), before.get(key, 0)))
        for key, row in spend_by_key.items()
    ]


def _model_row(spend_row: Spend, today: date, changed: tuple[int | None, int | None]) -> ModelCalls:
    return ModelCalls(spend_row, str(spend_row.key[0]), str(spend_row.key[1]), today, changed)


class OwnedCalls(NamedTuple):
    """Calls of a team's feature."""

    found: Spend
    team: str
    workload: str
    feature: str


class PriceRow(NamedTuple):
    """A contract price; `end_href` leads to ending it, where the viewer may."""

    fact: Contract
    end_href: str


def _vendor_and_unpriced(row: ModelCalls) -> str:
    unpriced = row.found.unpriced
    return f"{row.vendor}; {count(unpriced)} without a price" if unpriced else row.vendor


def _retirement_cell(row: ModelCalls) -> str:
    ends = row.ends
    if ends is None:
        return ""
    day, source = ends.ends_on.isoformat(), f"{ends.source}, read on {ends.read_on:%-d %B %Y}"
    return warned(day, source) if ends.ends_on <= row.today + SOON else titled(day, source)


def _end_day(row: ModelCalls) -> date | None:
    return row.ends.ends_on if row.ends else None


MODELS = Table[ModelCalls](
    "table",
    "By model",
    (
        Column("vendor", "", lambda row: row.vendor),
        Column(
            "model",
            "Model",
            lambda row: row.model,
            PROSE,
            order=lambda row: (row.vendor, row.model),
            note=_vendor_and_unpriced,
        ),
        Column("requests", "Calls", lambda row: row.found.requests, COUNT),
        Column("unpriced_requests", "", lambda row: row.found.unpriced, COUNT),
        Column("input", "Tokens in", lambda row: row.found.input_tokens, COUNT, csv="input_tokens"),
        Column(
            "cached",
            "of them cached",
            lambda row: row.found.cached_tokens,
            COUNT,
            csv="cached_tokens",
        ),
        Column(
            "output", "Tokens out", lambda row: row.found.output_tokens, COUNT, csv="output_tokens"
        ),
        Column("cost", "Cost", lambda row: row.found.micros, MONEY),
        Column("compared_cost", "", lambda row: row.changed[0], MONEY),
        Column("before_cost", "", lambda row: row.changed[1], MONEY),
        Column("difference", "Difference", lambda row: difference(*row.changed), SIGNED_MONEY),
        Column(
            "change",
            "Change",
            lambda row: share(difference(*row.changed), row.changed[1]),
            SIGNED_RATIO,
            shown=lambda row, _: change(*row.changed),
        ),
        Column("list_cost", "", lambda row: row.found.list_micros, MONEY),
        Column("stated_cost", "", lambda row: row.found.stated_micros, MONEY),
        Column("stated_difference", "Stated by gateways, less ours",
               lambda row: row.found.stated_difference_micros, SIGNED_MONEY, missing="—"),
        Column(
            "million",
            "Per M tokens",
            lambda row: row.found.million_micros,
            UNIT_COST,
            csv="cost_per_million_tokens",
            missing=undefined("some calls have no price, or there are no tokens"),
        ),
        CURRENCY_COLUMN,
        Column(
            "answered",
            "Answered",
            lambda row: share(row.found.requests - row.found.failed, row.found.requests),
            RATIO,
        ),
        Column("rate_limited", "", lambda row: row.found.rate_limited, COUNT),
        Column("server_errors", "", lambda row: row.found.server_errors, COUNT),
        Column("end", "Retirement date", _end_day, ISO_DAY, csv="shut_off",
               shown=lambda row, _: _retirement_cell(row)),
    ),
    noun=("model", "models"),
    about="{said}; tokens in hold the cached ones, tokens out the reasoning ones; answered without an error (429, 5xx and others)",
    sort="sort",
    csv_first=("vendor", "model", "requests", "rate_limited", "server_errors", "unpriced_requests"),
)  # fmt: skip


def models_shown(
    models: Sequence[ModelCalls], table: Table[ModelCalls] = MODELS
) -> Table[ModelCalls]:
    """Return a table of models as a page has it: beside our price what gateways state, where any states one."""
    if any(row.found.stated_micros is not None for row in models):
        return table
    columns = (column for column in table.columns if column.key != "stated_difference")
    return replace(table, columns=tuple(columns))


DAYS = Table[Spend](
    "days",
    "By day and model",
    (
        Column("day", "", lambda row: str(row.key[0])),
        Column("vendor", "", lambda row: row.key[1]),
        Column("model", "", lambda row: row.key[2]),
        Column("requests", "", lambda row: row.requests, COUNT),
        Column("unpriced_requests", "", lambda row: row.unpriced, COUNT),
        Column("cost", "", lambda row: row.micros, MONEY),
        CURRENCY_COLUMN,
    ),
)
OWNERS = Table[OwnedCalls](
    "owners",
    "By team and feature",
    (
        Column("team", "Team", lambda row: row.team, PROSE),
        Column("workload", "Workload", lambda row: row.workload, PROSE),
        Column(
            "feature",
            "Feature",
            lambda row: row.feature,
            PROSE,
            shown=lambda row, _: row.feature or "not reported",
        ),
        Column("requests", "Calls", lambda row: row.found.requests, COUNT),
        Column("unpriced_requests", "", lambda row: row.found.unpriced, COUNT),
        Column("tokens", "Tokens", lambda row: row.found.tokens, COUNT),
        Column("cost", "Cost", lambda row: row.found.micros, MONEY),
        CURRENCY_COLUMN,
    ),
    sort="owners",
)
UNPRICED = Table[Unpriced](
    "unpriced",
    "Without a price",
    (
        Column("vendor", "", lambda row: row.vendor),
        Column("model", "Model", lambda row: row.model, PROSE, note=lambda row: row.vendor),
        Column("tier", "Tier", lambda row: row.tier),
        Column("requests", "Calls", lambda row: row.requests, COUNT),
        Column("tokens", "Tokens", lambda row: row.tokens, COUNT),
        Column("reason", "Why", lambda row: row.reason, PROSE),
    ),
    about="not free: a contract price or a newer table of prices gives them one",
)
VENDORS = Table.of(VENDOR_DAYS)
PRICES = Table[PriceRow](
    "prices",
    "Contract prices",
    (
        Column(
            "what",
            "Of",
            lambda row: " ".join(
                part for part in (row.fact.vendor, row.fact.model, row.fact.tier) if part
            ),
            PROSE,
        ),
        Column("unit", "What", lambda row: UNITS[row.fact.unit]),
        Column("price", "Price", lambda row: price_words(row.fact), PROSE),
        Column("starts_at", "From", lambda row: row.fact.starts_at, DAY_OR_INSTANT, missing=""),
        Column("ends_at", "To", lambda row: row.fact.ends_at, DAY_OR_INSTANT, missing="open-ended"),
        Column("change", "Change", lambda row: row.end_href, TEXT,
               shown=lambda row, _: linked("End", row.end_href) if row.end_href else ""),
    ),
    about="they take the place of public ones",
    empty="None: every call goes by its vendor’s public price.",
)  # fmt: skip


def price_rows(facts: list[Contract], at: datetime, *, may_end: bool) -> list[PriceRow]:
    """The contract prices, with what ends those that are not over."""
    return [
        PriceRow(
            fact,
            reverse("end-api-price", args=[fact.id])
            if may_end and (fact.ends_at is None or at < fact.ends_at)
            else "",
        )
        for fact in facts
    ]


def price_words(fact: Contract) -> str:
    """An amount for a quantity, or a share off the public price."""
    if fact.amount is None:
        return f"{per_cent(fact.discount_ratio or Decimal(0))} off the public price"
    return f"{quoted_amount(fact.amount, fact.currency)} for {count(fact.per_quantity)}"
