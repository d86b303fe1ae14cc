"""Cloud accounts and their tables, as pages and as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.console.kit.cells import moment_cell, text_cell
from apps.console.kit.request import SEES_EVERYTHING, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.clouds.pages import (
    clouds_page,
    machine_rows,
    node_rows,
    quota_rows,
    reading_row,
)
from apps.fleet.queries.cloud_machines import strays
from apps.fleet.queries.clouds import cloud_accounts, sync_health


@require_safe
@shown_to(SEES_EVERYTHING)
def clouds(request: HttpRequest) -> HttpResponse:
    """Every account with what is read of it, limits, and who is missing on either side."""
    page = clouds_page(request.GET, request_context(request, "clouds"))
    return render(request, "clouds/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def readings_csv(request: HttpRequest) -> HttpResponse:
    """What is read of every account, and how that goes."""
    at = timezone.now()
    header = ("account", "what", "state", "last_success", "next_due", "counts", "error", "note")
    rows = [
        (
            text_cell(row.account),
            row.key,
            row.state,
            moment_cell(row.succeeded_at),
            moment_cell(row.due_at),
            text_cell(row.counts),
            text_cell(row.error),
            text_cell(row.note),
        )
        for row in (reading_row(each, at) for each in sync_health())
    ]
    return csv_answer("cloud accounts", header, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def quotas_csv(request: HttpRequest) -> HttpResponse:
    """Every limit and all held capacity."""
    header = ("cloud", "account", "region", "code", "name", "value", "used", "unit", "read_at")
    rows = [
        (
            *(row.cloud, text_cell(row.account), row.region, text_cell(row.code)),
            *(text_cell(row.name), row.value, row.used, row.unit, moment_cell(row.read_at)),
        )
        for row in quota_rows()
    ]
    return csv_answer("quotas", header, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def machines_csv(request: HttpRequest) -> HttpResponse:
    """Machines that run in a cloud and are no node here."""
    names = {account.id: account.name for account in cloud_accounts()}
    header = ("machine", "id", "account", "zone", "instance_type", "bought_as", "launched_at")
    rows = [
        (
            *(text_cell(row.name), text_cell(row.external_id), text_cell(row.account), row.zone),
            *(row.instance_type, row.purchase_option, moment_cell(row.launched_at)),
        )
        for row in machine_rows(strays(timezone.now()), names)
    ]
    return csv_answer("machines without node", header, rows)


@require_safe
@shown_to(SEES_EVERYTHING)
def nodes_csv(request: HttpRequest) -> HttpResponse:
    """Nodes that no cloud account runs."""
    header = ("node", "pool", "cloud", "region", "provider_id", "began_at")
    rows = [
        (
            *(text_cell(row.name), text_cell(row.pool), row.cloud, text_cell(row.region)),
            *(text_cell(row.provider_id), moment_cell(row.began_at)),
        )
        for row in node_rows(strays(timezone.now()))
    ]
    return csv_answer("nodes without machine", header, rows)
