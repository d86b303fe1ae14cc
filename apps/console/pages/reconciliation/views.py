"""One bill reconciled: its variance, the charges not tied to a node, the nodes not on it."""

from collections.abc import Mapping
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.queries import organisation
from apps.console.kit.cells import money_cell, text_cell
from apps.console.kit.request import SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.bill_rules.words import pattern_of
from apps.console.pages.reconciliation.values import ApartRow, Cause, ReconciliationPage
from apps.economics.billing import NO_RESOURCE
from apps.ledger.queries.bills import comparing
from apps.ledger.queries.bills.deliveries import BillFact, bill_fact
from apps.ledger.queries.bills.rules import unmatched_usage_types
from apps.show.money import bridged, full_amount, signed_amount

APART_HEADER = (
    "charge",
    "kind",
    "reason",
    "label",
    "team",
    "rows",
    "effective",
    "billed",
    "currency",
)
MOST_SHOWN = 500
# What a rule can bring to a node, a pool, or a team.
MAPPED = ("unmatched", "service")
UNBILLED_HEADER = ("node", "pool", "hours", "estimated", "currency")


@require_safe
@shown_to(SEES_EVERYTHING)
def bill(request: HttpRequest, bill_id: int) -> HttpResponse:
    """The bill beside the estimate."""
    found, chosen = _found(bill_id), organisation()
    variance = comparing.variance_of(bill_id)
    page = ReconciliationPage(
        frame=frame_of(request, chosen, "bills", questions_waiting(timezone.now())),
        finding=_finding(found, variance, chosen.currency),
        zone=ZoneInfo(chosen.zone),
        currency=chosen.currency,
        bill=found,
        billed_micros=variance.billed_micros,
        estimated_micros=variance.estimated_micros,
        causes=_causes(variance, chosen.currency),
        apart=_apart(found),
        unbilled=variance.unbilled[:MOST_SHOWN],
        reconciled_at=found.reconciled_at,
        billed_until=variance.billed_until,
        residual=_residual(found),
    )
    return render(request, "reconciliation/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def apart_csv(request: HttpRequest, bill_id: int) -> HttpResponse:
    """What no node-hour carries."""
    _found(bill_id)
    currency = organisation().currency
    cells = [
        [
            *(each.charge_kind, each.kind, each.reason, text_cell(each.label)),
            *(text_cell(each.team_name), str(each.rows)),
            money_cell(each.effective_micros, currency),
            money_cell(each.billed_micros, currency),
            currency,
        ]
        for each in comparing.apart_sums(bill_id)
    ]
    return csv_answer(f"bill {bill_id} beside nodes", APART_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def unbilled_csv(request: HttpRequest, bill_id: int) -> HttpResponse:
    """Nodes that were estimated and that the bill leaves out."""
    found = _found(bill_id)
    currency = organisation().currency
    cells = [
        [
            *(text_cell(each.node_name), text_cell(each.pool_name), str(each.hours)),
            money_cell(each.estimated_micros, currency),
            currency,
        ]
        for each in comparing.unbilled_so_far(found)
    ]
    return csv_answer(f"bill {bill_id} unbilled nodes", UNBILLED_HEADER, cells)


def _residual(bill: BillFact) -> str:
    """With all its digits and no more; empty while nobody knows it."""
    if bill.residual is None:
        return ""
    return f"{bill.residual.normalize():f} {bill.currency}" if bill.residual else "nothing"


def _found(bill_id: int) -> BillFact:
    found = bill_fact(bill_id)
    if found is None:
        raise Http404
    return found


def _apart(bill: BillFact) -> tuple[ApartRow, ...]:
    usage_types = unmatched_usage_types(bill.id)
    return tuple(
        ApartRow(each, _map_href(each, bill, usage_types)) for each in comparing.apart_sums(bill.id)
    )


def _map_href(each: comparing.ApartSum, bill: BillFact, usage_types: Mapping[str, str]) -> str:
    """The form of a rule that fits these rows, with what it says left open."""
    if each.charge_kind not in MAPPED or not each.label:
        return ""
    name = "service"
    if each.charge_kind == "unmatched":
        name = "resource_id" if each.reason != NO_RESOURCE else "service"
        name = "usage_type" if name == "service" and each.label in usage_types else name
    said = {name: pattern_of(each.label), "issuer": pattern_of(bill.issuer)}
    return f"{reverse('add-bill-rule')}?{urlencode(said)}"


def _finding(bill: BillFact, of: comparing.Variance, currency: str) -> str:
    name = f"{bill.issuer}, {bill.starts_at:%B %Y}"
    if bill.failure:
        return f"{name} waits: {bill.failure}."
    if bill.reconciled_at is None:
        return f"{name} is being reconciled."
    difference = sum(cause.micros for cause in _causes(of, currency))
    if not difference:
        return f"{name} is what was estimated: {full_amount(of.billed_micros, currency)}."
    said = signed_amount(difference, currency)
    return f"{name} differs from the estimate by {said}."


def _causes(of: comparing.Variance, currency: str) -> tuple[Cause, ...]:
    """As they are shown, they lead from the estimate that is shown to what was billed."""
    exact = (
        ("Price", of.price_micros, "the machine time that was estimated, at another price"),
        ("Quantity", of.quantity_micros, "more or less machine time, at the estimated price"),
        ("Missing", of.missing_micros, "estimated and not billed (below 0), or the reverse"),
        ("Unmatched", of.unmatched_micros, "compute of no node on record: charged to Platform"),
        ("Non-compute charges", of.shared_micros, "disks, network, licences, taxes, credits"),
    )
    parts = [micros for _, micros, _ in exact]
    shown = bridged(of.estimated_micros, parts, of.billed_micros, currency)
    return tuple(
        Cause(name, micros, meaning)
        for (name, _, meaning), micros in zip(exact, shown, strict=True)
    )
