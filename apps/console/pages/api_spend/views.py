"""API spend and its tables as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.pages.access import EVERYONE, SEES_EVERYTHING, shown_to
from apps.console.pages.api_spend.pages import api_spend_page, question
from apps.console.pages.api_spend.rows import compared_rows, model_rows, owner_rows, unpriced_rows
from apps.console.pages.commitments.months import asked_month
from apps.console.pages.csv_table import csv_answer, money_cell, text_cell
from apps.console.pages.fleet.asking import asking
from apps.ledger.queries.api_spend import spend

MODELS_HEADER = (
    *("vendor", "model", "calls", "answered_429", "answered_5xx", "unpriced_calls"),
    *("input_tokens", "cached_tokens", "output_tokens", "cost", "list_cost"),
    *("per_million_tokens", "currency", "shut_off"),
)
DAYS_HEADER = ("day", "vendor", "model", "calls", "unpriced_calls", "cost", "currency")
OWNERS_HEADER = (
    *("team", "workload", "feature", "calls", "unpriced_calls", "tokens", "cost", "currency"),
)
UNPRICED_HEADER = ("vendor", "model", "tier", "calls", "tokens", "reason")
VENDORS_HEADER = ("vendor", "day", "ours", "theirs", "difference", "unpriced_calls", "currency")


@require_safe
@shown_to(EVERYONE)
def api_spend(request: HttpRequest) -> HttpResponse:
    """What calls to model APIs cost."""
    page = api_spend_page(request.GET, asking(request, "api-spend"))
    return render(request, "api_spend/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def models_csv(request: HttpRequest) -> HttpResponse:
    """By model."""
    who = asking(request, "api-spend")
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            text_cell(row.vendor),
            text_cell(row.model),
            str(row.requests),
            str(row.rate_limited),
            str(row.server_errors),
            str(row.unpriced),
            str(row.input_tokens),
            str(row.cached_tokens),
            str(row.output_tokens),
            money_cell(row.cost_micros, currency),
            money_cell(row.list_micros, currency),
            money_cell(row.million_micros, currency),
            currency,
            row.end,
        ]
        for row in model_rows(question(request.GET, who, month), who)
    ]
    return csv_answer(f"api-spend-{month.key}", MODELS_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def days_csv(request: HttpRequest) -> HttpResponse:
    """By day and model."""
    who = asking(request, "api-spend")
    month, currency = asked_month(request.GET, who), who.organisation.currency
    found = spend(question(request.GET, who, month), ("day", "vendor", "model"))
    cells = [
        [
            str(row.key[0]),
            text_cell(str(row.key[1])),
            text_cell(str(row.key[2])),
            str(row.requests),
            str(row.unpriced),
            money_cell(row.micros, currency),
            currency,
        ]
        for row in sorted(found, key=lambda each: tuple(map(str, each.key)))
    ]
    return csv_answer(f"api-spend-{month.key}-days", DAYS_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def owners_csv(request: HttpRequest) -> HttpResponse:
    """By team, workload and feature."""
    who = asking(request, "api-spend")
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            text_cell(row.team),
            text_cell(row.workload),
            text_cell(row.feature),
            str(row.requests),
            str(row.unpriced),
            str(row.tokens),
            money_cell(row.cost_micros, currency),
            currency,
        ]
        for row in owner_rows(question(request.GET, who, month))
    ]
    return csv_answer(f"api-spend-{month.key}-teams", OWNERS_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def unpriced_csv(request: HttpRequest) -> HttpResponse:
    """Calls without a price."""
    who = asking(request, "api-spend")
    month = asked_month(request.GET, who)
    cells = [
        [
            text_cell(row.vendor),
            text_cell(row.model),
            text_cell(row.tier),
            str(row.requests),
            str(row.tokens),
            text_cell(row.reason),
        ]
        for row in unpriced_rows(question(request.GET, who, month))
    ]
    return csv_answer(f"api-spend-{month.key}-unpriced", UNPRICED_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def vendors_csv(request: HttpRequest) -> HttpResponse:
    """What vendors say, beside what their calls come to."""
    who = asking(request, "api-spend")
    month, currency = asked_month(request.GET, who), who.organisation.currency
    cells = [
        [
            text_cell(row.vendor),
            row.day.isoformat(),
            money_cell(row.our_micros, currency),
            money_cell(row.their_micros, currency),
            money_cell(row.difference_micros, currency),
            str(row.unpriced),
            currency,
        ]
        for row in compared_rows(question(request.GET, who, month))
    ]
    return csv_answer(f"api-spend-{month.key}-vendors", VENDORS_HEADER, cells)
