"""Prices and their tables as CSV, for finance and platform."""

from collections.abc import Iterable, Iterator, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.kit.cells import hours_cell, moment_cell, text_cell
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.prices.deciding import waiting_rows
from apps.console.pages.prices.pages import (
    history_of,
    paid_now,
    prices_page,
    rate_page,
    rates_shown,
    unpriced_now,
)
from apps.console.pages.prices.values import RateRow
from apps.pricing.queries import listing

RATES_HEADER = (
    *(
        "prices",
        "kind",
        "amount",
        "currency",
        "per",
        "starts_at",
        "ends_at",
        "source",
        "source_date",
    ),
    *("standing", "doubt"),
)
WAITING_HEADER = ("prices", "amount", "currency", "per", "kind", "starts_at", "standing", "why")
PAID_HEADER = (
    *("pool", "gpu_model", "purchase_option", "paid", "currency", "per", "which", "starts_at"),
    "source",
)
UNPRICED_HEADER = ("pool", "gpu_model", "purchase_option", "gpu_hours", "since")


@require_safe
@shown_to(SEES_EVERYTHING)
def prices(request: HttpRequest) -> HttpResponse:
    """What is paid, what has no price, and every rate."""
    page = prices_page(request.GET, request_context(request, "prices"))
    return render(request, "prices/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def rate(request: HttpRequest, rate_id: int) -> HttpResponse:
    """One rate and its history."""
    page = rate_page(rate_id, request.GET, request_context(request, "prices"))
    if page is None:
        raise Http404
    return render(request, "prices/rate.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def rates_csv(request: HttpRequest) -> HttpResponse:
    """The rates, amounts as quoted."""
    who = request_context(request, "prices")
    return csv_answer("rates", RATES_HEADER, _rate_cells(rates_shown(request.GET, who.at), who))


@require_safe
@shown_to(SEES_EVERYTHING)
def rate_history_csv(request: HttpRequest, rate_id: int) -> HttpResponse:
    """Every rate there was of the same kind for the same thing."""
    who = request_context(request, "prices")
    rate_ = listing.rate_if_entered(rate_id)
    if rate_ is None:
        raise Http404
    cells = _rate_cells(history_of(rate_, who.at), who)
    return csv_answer(f"history of rate {rate_id}", RATES_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def waiting_csv(request: HttpRequest) -> HttpResponse:
    """What waits for finance, and why."""
    rows = [
        [
            text_cell(row.rate.what),
            row.rate.exact,
            row.rate.currency,
            row.rate.per,
            row.rate.kind,
            moment_cell(row.rate.starts_at),
            row.rate.standing,
            text_cell(row.why),
        ]
        for row in waiting_rows(request_context(request, "prices"))
    ]
    return csv_answer("prices that wait", WAITING_HEADER, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def pools_csv(request: HttpRequest) -> HttpResponse:
    """What each pool pays now."""
    who = request_context(request, "prices")
    rows = [
        [
            text_cell(row.pool),
            text_cell(row.gpu_model),
            row.purchase_option,
            row.exact,
            who.organisation.currency,
            row.per,
            row.which,
            moment_cell(row.starts_at),
            text_cell(row.source),
        ]
        for row in paid_now(who)
    ]
    return csv_answer("prices of pools", PAID_HEADER, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def unpriced_csv(request: HttpRequest) -> HttpResponse:
    """GPU time of the last ninety days without a price."""
    rows = [
        [
            text_cell(row.pool),
            text_cell(row.gpu_model),
            row.purchase_option,
            hours_cell(row.milliseconds),
            row.since.isoformat(),
        ]
        for row in unpriced_now(request_context(request, "prices"))
    ]
    return csv_answer("unpriced use", UNPRICED_HEADER, rows)


def _rate_cells(rows: Iterable[RateRow], who: Context) -> Iterator[Sequence[str]]:
    for row in rows:
        yield [
            text_cell(row.what),
            row.kind,
            row.exact,
            row.currency,
            row.per,
            moment_cell(row.starts_at),
            moment_cell(row.ends_at),
            text_cell(row.source),
            "" if row.source_date is None else row.source_date.isoformat(),
            row.standing,
            text_cell(row.doubt),
        ]
