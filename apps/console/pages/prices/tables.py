"""The tables of prices: rates as quoted, what pools pay, what has no price, what waits."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html, format_html_join

from apps.console.kit.cells import (
    DAY,
    DAY_OR_INSTANT,
    GPU_HOURS,
    ISO_DAY,
    PROSE,
    QUOTED,
    TEXT,
    WRAPPED,
    Format,
    Locale,
    leading,
    quiet,
    warned,
)
from apps.console.kit.table import Table
from apps.console.pages.pool_links import pool_costs_href, pool_href
from apps.fleet.queries import PoolFact
from apps.ledger.queries import UnpricedPool
from apps.pricing.queries.listing import KINDS
from apps.show.money import quoted_amount
from apps.show.words import OPTIONS, option_words
from apps.tables.column import Column

LOOKED_BACK = "90d"
MOST_BESIDE = 3
IN_FORCE, TO_COME, ENDED = "In force", "To come", "Ended"
NOT_IN_FORCE = {
    "quarantined": "In quarantine",
    "waiting": "Waiting for a second person",
    "refused": "Rejected",
}
PAST = frozenset({ENDED, NOT_IN_FORCE["refused"]})
EVER, OPEN_ENDED = "ever", "open-ended"
NOT_STATED = quiet("not stated")
NO_PRICE = format_html('<span class="hatched">{}</span>', "no price")
SOURCE = Format(TEXT.shown, TEXT.written, "source")

Rate = dict[str, Any]
"""A row of the listing of rates."""


class ListedRate(NamedTuple):
    """A rate as it was entered, and when it is looked at."""

    rate: Rate
    at: datetime

    @property
    def standing(self) -> str:
        """In force, ended, to come, waiting or rejected."""
        rate = self.rate
        if rate["standing"] in NOT_IN_FORCE:
            return NOT_IN_FORCE[rate["standing"]]
        if rate["starts_at"] is not None and rate["starts_at"] > self.at:
            return TO_COME
        is_over = rate["ends_at"] is not None and rate["ends_at"] <= self.at
        return ENDED if is_over else IN_FORCE


class WaitingRate(NamedTuple):
    """A price that waits for finance, who entered it (empty: no person), and what lies beside."""

    listed: ListedRate
    entered_by: str
    beside: Sequence[Rate]
    may_decide: bool


class PaidPool(NamedTuple):
    """The price that a pool pays now, None: nobody knows; and the list price of its machine."""

    pool: PoolFact
    paid: Rate | None
    listed: Rate | None


class UnpricedUse(NamedTuple):
    """A pool with GPU time that no rate covers."""

    fact: UnpricedPool


def what_it_prices(rate: Rate) -> str:
    """The pool by name, or the description that pools match."""
    if rate["pool_id"] is not None:
        return f"pool {rate['pool_name']}"
    machine = rate["instance_type"] or rate["gpu_model"]
    option = option_words(rate["purchase_option"]).lower()
    return f"{rate['provider']}, {rate['region'] or 'any region'}, {machine}, {option}"


def quoted_of(rate: Rate | None) -> tuple[Decimal, str] | None:
    """The amount as quoted, in whole units, and its currency."""
    return (rate["amount"], rate["currency"]) if rate else None


def per(unit: str, quantity_seconds: int) -> str:
    """Return what the amount is quoted for, in words."""
    time = "second" if quantity_seconds == 1 else "hour"
    return f"per {'GPU' if unit == 'gpu' else 'node'} and {time}"


def per_of(rate: Rate) -> str:
    """Return what the amount of a rate is quoted for, in words."""
    return per(rate["unit"], rate["quantity_seconds"])


def _rate_href(rate: Rate | None) -> str:
    return reverse("rate", args=[rate["id"]]) if rate else ""


def _costs_href(row: UnpricedUse) -> str:
    return pool_costs_href(row.fact.pool.name, LOOKED_BACK)


def _price_button(pool: PoolFact, starts_at: str = "") -> str:
    """The way to the form, filled in for the pool."""
    filled = {"pool": pool.id} | ({"starts_at": starts_at} if starts_at else {})
    href = f"{reverse('add-rate')}?{urlencode(filled)}"
    return leading("Set its price", f"for {pool.name}", href)


def _unpriced_cell(row: UnpricedUse, _: Locale) -> str:
    since = f"{row.fact.first_day}T00:00"
    return _price_button(row.fact.pool, since)


def _price_origin(row: PaidPool) -> str | None:
    """Return whose price is paid: the pool's own, a contract's, or the list's."""
    rate = row.paid
    if rate is None:
        return None
    kind = KINDS[rate["kind"]].lower()
    if kind == "list" and rate["purchase_option"] in ("spot", "reserved"):
        kind = OPTIONS[rate["purchase_option"]].lower()
    return f"its own {kind} price" if rate["pool_id"] is not None else f"{kind} price"


def _price_origin_cell(row: PaidPool, _: Locale) -> str:
    return _price_origin(row) or _price_button(row.pool)


def _paid_since(row: PaidPool, locale: Locale) -> str:
    if row.paid is None:
        return ""
    starts_at = row.paid["starts_at"]
    return EVER if starts_at is None else DAY_OR_INSTANT.shown(starts_at, locale)


def _why_it_waits(row: WaitingRate, locale: Locale) -> str:
    rate = row.listed.rate
    by = f" by {row.entered_by}" if row.entered_by else ""
    entered = DAY_OR_INSTANT.shown(rate["created_at"], locale)
    return format_html(
        "{}: {}<small>entered {}{}</small>",
        warned(row.listed.standing),
        rate["doubt"],
        entered,
        by,
    )


def _comparable_cell(row: WaitingRate, locale: Locale) -> str:
    if not row.beside:
        return quiet("nothing")
    cells = (
        (
            locale.onward(_rate_href(rate)),
            quoted_amount(rate["amount"], rate["currency"]),
            what_it_prices(rate),
        )
        for rate in row.beside[:MOST_BESIDE]
    )
    return format_html_join("", '<a href="{}">{}</a> <small>{}</small>', cells)


def _decide_cell(row: WaitingRate, locale: Locale) -> str:
    rate = row.listed.rate
    href = locale.onward(reverse("decide-rate", args=[rate["id"]]))
    subject = f"at the price of {what_it_prices(rate)}"
    return leading("Decide" if row.may_decide else "Look", subject, href)


def _read_on(row: ListedRate) -> str:
    read_on = row.rate["source_date"]
    return f"read on {read_on:%-d %B %Y}" if read_on else ""


RATES = Table[ListedRate](
    "rates",
    "Rates",
    (
        Column("what", "What it prices", lambda row: what_it_prices(row.rate), PROSE, csv="prices",
               href=lambda row: _rate_href(row.rate)),
        Column("amount", "Amount as quoted", lambda row: quoted_of(row.rate), QUOTED,
               note=lambda row: per_of(row.rate)),
        Column("currency", "", lambda row: row.rate["currency"]),
        Column("per", "", lambda row: per_of(row.rate)),
        Column("kind", "Kind", lambda row: KINDS[row.rate["kind"]]),
        Column("from", "From", lambda row: row.rate["starts_at"], DAY_OR_INSTANT, csv="starts_at",
               missing=EVER),
        Column("until", "Until", lambda row: row.rate["ends_at"], DAY_OR_INSTANT, csv="ends_at",
               missing=OPEN_ENDED,
               note=lambda row: "" if row.standing == IN_FORCE else row.standing.lower()),
        Column("source", "Source", lambda row: row.rate["source"] or None, SOURCE,
               missing=NOT_STATED, note=_read_on),
        Column("source_date", "", lambda row: row.rate["source_date"], ISO_DAY),
        Column("standing", "", lambda row: row.standing),
        Column("doubt", "", lambda row: row.rate["doubt"]),
    ),
    noun=("rate", "rates"),
    sort="sort",
    csv_first=("prices", "kind"),
)  # fmt: skip
HISTORY = replace(
    RATES,
    name="history",
    title="History of this price",
    about="every rate of this kind for the same thing, the newest first",
)
BESIDE = replace(
    RATES,
    name="beside",
    title="Comparable prices",
    about="the same machine in other regions and at other times, the newest first",
    columns=tuple(
        column for column in RATES.columns if column.key in {"what", "amount", "from", "source"}
    ),
    sort="",
    csv_first=(),
)
PAID = Table[PaidPool](
    "paid",
    "Current price of each pool",
    (
        Column("name", "Pool", lambda row: row.pool.name, csv="pool",
               href=lambda row: pool_href(row.pool.name)),
        Column("model", "GPU model", lambda row: row.pool.gpu_model, csv="gpu_model"),
        Column("bought", "Bought as", lambda row: option_words(row.pool.purchase_option), csv="purchase_option"),
        Column("paid", "Paid", lambda row: quoted_of(row.paid), QUOTED, missing=NO_PRICE,
               href=lambda row: _rate_href(row.paid),
               note=lambda row: per_of(row.paid) if row.paid else ""),
        Column("currency", "", lambda _: None,
               written=lambda row, locale: row.paid["currency"] if row.paid else locale.currency),
        Column("per", "", lambda row: per_of(row.paid) if row.paid else None),
        Column("by", "By", _price_origin, csv="which", shown=_price_origin_cell),
        Column("list", "List", lambda row: quoted_of(row.listed), QUOTED, csv=""),
        Column("since", "Since", lambda row: row.paid["starts_at"] if row.paid else None,
               DAY_OR_INSTANT, csv="starts_at", shown=_paid_since),
        Column("source", "", lambda row: row.paid["source"] if row.paid else None),
    ),
    noun=("pool", "pools"),
    about="a pool’s own price beats a contract, a contract the list; hardware of your own costs what its plan says",
    sort="pools",
)  # fmt: skip
UNPRICED = Table[UnpricedUse](
    "unpriced",
    "Use without a price",
    (
        Column("pool", "Pool", lambda row: row.fact.pool.name,
               href=lambda row: pool_href(row.fact.pool.name)),
        Column("gpu_model", "GPU model", lambda row: row.fact.pool.gpu_model),
        Column("purchase_option", "Bought as", lambda row: option_words(row.fact.pool.purchase_option)),
        Column("gpu_hours", "GPU-hours", lambda row: row.fact.unit_milliseconds, GPU_HOURS,
               href=_costs_href),
        Column("since", "Since", lambda row: row.fact.first_day, DAY, csv="first_day"),
        Column("price", "Price", lambda _: None, csv="", shown=_unpriced_cell),
    ),
    about="GPU time of the last 90 days that no rate covers; it is in no sum, and never free",
    empty="None: every settled hour of a node has a price.",
)  # fmt: skip
WAITING = Table[WaitingRate](
    "waiting",
    "Prices to approve",
    (
        Column("what", "What it prices", lambda row: what_it_prices(row.listed.rate), PROSE,
               csv="prices", href=lambda row: _rate_href(row.listed.rate),
               note=lambda row: f"{KINDS[row.listed.rate['kind']].lower()} price"),
        Column("amount", "Amount as quoted", lambda row: quoted_of(row.listed.rate), QUOTED,
               note=lambda row: per_of(row.listed.rate)),
        Column("currency", "", lambda row: row.listed.rate["currency"]),
        Column("per", "", lambda row: per_of(row.listed.rate)),
        Column("kind", "", lambda row: KINDS[row.listed.rate["kind"]]),
        Column("starts_at", "From", lambda row: row.listed.rate["starts_at"], DAY_OR_INSTANT,
               missing=EVER),
        Column("standing", "", lambda row: row.listed.standing),
        Column("why", "Why it waits", lambda row: row.listed.rate["doubt"], WRAPPED,
               shown=_why_it_waits),
        Column("beside", "Comparable prices", lambda _: None, WRAPPED, csv="", shown=_comparable_cell),
        Column("decide", "Decision", lambda _: None, csv="", shown=_decide_cell),
    ),
    about="they are not used until a person of finance accepts them",
    empty="None: no price is implausible beside comparable ones, or changes by more than one "
    "person may approve.",
)  # fmt: skip
