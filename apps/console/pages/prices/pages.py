"""The list of prices and the page of one rate."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from apps.accounts.queries import person_names
from apps.console.kit.frame import Choice, EmptyState, Filter, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.listed import Asked, listed
from apps.console.pages.prices.deciding import DECIDES, waiting_rows
from apps.console.pages.prices.picture import price_chart
from apps.console.pages.prices.rows import (
    PAID_COLUMNS,
    PAST,
    RATE_COLUMNS,
    paid_rows,
    pool_href,
    rate_row,
    tiers_in_words,
    unpriced_rows,
    what_it_prices,
)
from apps.console.pages.prices.values import (
    PaidRow,
    PricesPage,
    RatePage,
    RateRow,
    UnpricedRow,
    WaitingRow,
)
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.pricing.queries import listing
from apps.pricing.queries.deciding import WAITS
from apps.show.amounts import counted, gpu_hours

LOOKED_BACK = "90d"
SHOWS = {"": "In force or to come", "all": "With ended ones"}
EMPTY = EmptyState(
    title="Nothing has a price yet",
    sentence="Rates with their source and validity are listed here, and GPU time that nobody said "
    "the price of. Such time is never counted as free.",
    steps=(
        Step(
            "Take over the reviewed table of public list prices:",
            command=".venv/bin/python manage.py load_price_table",
        ),
    ),
)


def prices_page(given: QueryDict, asking: Context) -> PricesPage:
    """Unpriced use, what pools pay now, and the rates."""
    pools = fleet.pools()
    rates = listing.all_rates()
    show = given.get("show", "")
    problems = () if show in SHOWS else (f"Prices cannot be chosen by {show[:40]!r}.",)
    rows = [rate_row(rate, asking.at) for rate in rates]
    shown = [row for row in rows if show == "all" or row.standing not in PAST]
    unpriced = unpriced_now(asking)
    paid = paid_rows(pools, {rate["id"]: rate for rate in rates}, asking.at)
    here = reverse("prices")
    of_rates = Asked(given, here, part="rates", noun=("rate", "rates"))
    waiting = waiting_rows(asking)
    new = Link("Enter a price", reverse("add-rate")) if asking.viewer.may_manage else None
    return PricesPage(
        frame=asking.frame,
        finding=_finding(paid, unpriced, waiting),
        currency=asking.organisation.currency,
        zone=asking.zone,
        filters=(_filter(show),),
        problems=problems,
        unpriced=unpriced,
        looked_back="the last 90 days",
        paid=listed(paid, PAID_COLUMNS, Asked(given, here, name="pools", part="paid")),
        rates=listed(shown, RATE_COLUMNS, of_rates),
        show=show,
        sort=of_rates.sort,
        csv_href=reverse("prices-csv") + ("?show=all" if show == "all" else ""),
        new=new,
        waiting=waiting,
        approval=asking.organisation.price_approval_per_cent,
        may_decide=asking.viewer.role in DECIDES,
        empty=None if rates or pools else EMPTY,
    )


def unpriced_now(asking: Context) -> tuple[UnpricedRow, ...]:
    """Pools with GPU time of the last ninety days that no rate covers."""
    chosen = asking.organisation
    calendar = ledger.calendar_of(chosen.zone, chosen.week_starts_on, asking.at)
    found = ledger.unpriced_pools(ledger.window_of(LOOKED_BACK, calendar))
    return unpriced_rows(found, LOOKED_BACK)


def rates_shown(given: QueryDict, at: datetime) -> list[RateRow]:
    """The rates that the address asks for, all of them."""
    rows = [rate_row(rate, at) for rate in listing.all_rates()]
    return [row for row in rows if given.get("show") == "all" or row.standing not in PAST]


def paid_now(asking: Context) -> tuple[PaidRow, ...]:
    """What each pool pays at this moment."""
    rates = {rate["id"]: rate for rate in listing.all_rates()}
    return paid_rows(fleet.pools(), rates, asking.at)


def rate_page(rate_id: int, given: QueryDict, asking: Context) -> RatePage | None:
    """The page of a rate; None where there is none."""
    rate = listing.rate_if_entered(rate_id)
    if rate is None:
        return None
    row = rate_row(rate, asking.at)
    reached = [pool for pool in fleet.pools().values() if listing.may_price(rate, pool)]
    is_over = rate["ends_at"] is not None and rate["ends_at"] <= asking.at
    may_end = asking.viewer.may_manage and rate["standing"] == "in_force" and not is_over
    names = person_names()
    return RatePage(
        frame=asking.frame,
        finding=f"{row.amount} {row.per} for {what_it_prices(rate)}",
        zone=asking.zone,
        rate=row,
        pools=tuple(Link(pool.name, pool_href(pool.name)) for pool in reached),
        history=listed(
            history_of(rate, asking.at),
            RATE_COLUMNS,
            Asked(given, reverse("rate", args=[rate_id]), part="history"),
        ),
        csv_href=reverse("rate-history", args=[rate_id]),
        end=Link("End this price", reverse("end-rate", args=[rate_id])) if may_end else None,
        entered_at=rate["created_at"],
        entered_by=names.get(rate["entered_by_id"], ""),
        chart=price_chart(rate, asking),
        doubt=rate["doubt"],
        decide=Link("Decide about it", reverse("decide-rate", args=[rate_id]))
        if rate["standing"] in WAITS
        else None,
        decision="Rejected" if rate["standing"] == "refused" else "Accepted",
        decided_at=rate["decided_at"],
        decided_by=names.get(rate["decided_by_id"], ""),
        tiers=tiers_in_words(rate),
    )


def history_of(rate: Mapping[str, Any], at: datetime) -> list[RateRow]:
    """Every rate of the same kind for the same thing, the newest first."""
    return [rate_row(each, at) for each in listing.rates_of_target(rate["target"])]


def _finding(
    paid: tuple[PaidRow, ...],
    unpriced: tuple[UnpricedRow, ...],
    waiting: tuple[WaitingRow, ...],
) -> str:
    said = _priced(paid, unpriced)
    if not waiting:
        return said
    verb = "waits" if len(waiting) == 1 else "wait"
    return f"{counted(len(waiting), 'price')} {verb} for a decision. {said}"


def _priced(paid: tuple[PaidRow, ...], unpriced: tuple[UnpricedRow, ...]) -> str:
    without = [row for row in paid if not row.paid]
    if not paid:
        return "There are no pools to price yet."
    if without:
        said = f"{counted(len(without), 'pool has', 'pools have')} no price now"
    else:
        said = "Every pool has a price" if len(paid) > 1 else "The pool has a price"
    time = sum(row.milliseconds for row in unpriced)
    if time:
        said += f"; {gpu_hours(time)} GPU-hours of the last 90 days are unpriced"
    return f"{said}."


def _filter(show: str) -> Filter:
    choices = tuple(Choice(value, text, value == show) for value, text in SHOWS.items())
    return Filter("show", "Rates", choices)
