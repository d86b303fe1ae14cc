"""The rules of bills, and the same as CSV, for finance and platform."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.cells import moment_cell, text_cell
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.bill_rules.values import BillRulesPage, RuleRow
from apps.console.pages.bill_rules.words import amounts, fits, says
from apps.console.pages.listed import Asked, By, listed
from apps.ledger.queries.bills.rules import BillRuleRow, bill_rule_rows
from apps.show.amounts import counted

COLUMNS: Mapping[str, By[RuleRow]] = {
    "order": By("Order", lambda row: row.order or None, is_number=True),
    "rows_it_fits": By("Rows that it fits", lambda row: row.fits),
    "says": By("Says", lambda row: row.says),
    "rows": By("Rows mapped", lambda row: row.rows, is_number=True),
    "billed": By("Billed", lambda row: row.most, is_number=True),
    "since": By("Since", lambda row: row.since),
    "end": By("End"),
}
HEADER = (
    *("order", "rule", "issuer", "service", "usage_type", "resource_id", "sub_account"),
    *("tag_key", "tag_value", "kind", "node", "pool", "team", "rows", "billed", "since"),
    "ended_at",
)


@require_safe
@shown_to(SEES_EVERYTHING)
def bill_rules(request: HttpRequest) -> HttpResponse:
    """The rules in the order in which they are asked."""
    who = request_context(request, "bills")
    shows_ended = request.GET.get("show") == "all"
    found = bill_rule_rows()
    rows = _rows([rule for rule in found if shows_ended or rule.ended_at is None])
    here = reverse("bill-rules")
    all_of_them = f"{here}?show=all"
    page = BillRulesPage(
        frame=who.frame,
        finding=_finding(found),
        zone=who.zone,
        rules=listed(rows, COLUMNS, Asked(request.GET, here, part="rules", noun=("rule", "rules"))),
        shows_ended=shows_ended,
        other=Link("In force alone", here) if shows_ended else Link("With ended ones", all_of_them),
        csv_href=reverse("bill-rules-csv"),
        new=Link("Add a rule", reverse("add-bill-rule")),
    )
    return render(request, "bill_rules/page.html", {"page": page})


@require_safe
@shown_to(SEES_EVERYTHING)
def bill_rules_csv(request: HttpRequest) -> HttpResponse:
    """Every rule, ended ones too."""
    found = bill_rule_rows()
    order = {rule.id: place for place, rule in enumerate(_in_force(found), 1)}
    cells = [
        [
            *(str(order.get(rule.id, "")), str(rule.id)),
            *(text_cell(text) for text in _patterns(rule)),
            rule.kind,
            *(text_cell(name or "") for name in (rule.node, rule.pool, rule.team)),
            str(rule.rows),
            " ".join(f"{amount.normalize():f} {name}" for name, amount in rule.billed.items()),
            moment_cell(rule.created_at),
            moment_cell(rule.ended_at),
        ]
        for rule in found
    ]
    return csv_answer("bill rules", HEADER, cells)


def _patterns(rule: BillRuleRow) -> Sequence[str]:
    return (
        *(rule.issuer, rule.service, rule.usage_type, rule.resource_id, rule.sub_account),
        *(rule.tag_key, rule.tag_value),
    )


def _in_force(found: Sequence[BillRuleRow]) -> list[BillRuleRow]:
    return [rule for rule in found if rule.ended_at is None]


def _rows(found: Sequence[BillRuleRow]) -> list[RuleRow]:
    order = {rule.id: place for place, rule in enumerate(_in_force(found), 1)}
    return [
        RuleRow(
            id=rule.id,
            order=order.get(rule.id, 0),
            fits=fits(rule),
            says=says(rule),
            rows=rule.rows,
            billed=amounts(rule.billed),
            most=float(sum(rule.billed.values(), Decimal(0))),
            since=rule.created_at,
            ended_at=rule.ended_at,
            end_href="" if rule.ended_at else reverse("end-bill-rule", args=[rule.id]),
        )
        for rule in found
    ]


def _finding(found: Sequence[BillRuleRow]) -> str:
    rules = _in_force(found)
    if not rules:
        return "No rule says where rows of bills go; they go by what they say themselves."
    mapped = sum(rule.rows for rule in rules)
    if not mapped:
        which = "The rule maps" if len(rules) == 1 else f"The {len(rules)} rules map"
        return f"{which} no row of bills in open months."
    idle = sum(1 for rule in rules if not rule.rows)
    said = f"{counted(len(rules), 'rule')} {'maps' if len(rules) == 1 else 'map'}"
    said += f" {counted(mapped, 'row')} of bills in open months"
    return f"{said}; {idle} of them {'maps' if idle == 1 else 'map'} none." if idle else f"{said}."
