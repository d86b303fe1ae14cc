"""The rules of bills, as a page and as CSV."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from django.http import HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import COUNT, FIGURE, INSTANT, WRAPPED, Locale
from apps.console.kit.filters import filter_of
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.kit.table import Column, Table
from apps.console.pages.bill_rules import changes
from apps.console.pages.bill_rules.words import amounts, fits, says
from apps.ledger.queries.bills.rules import (
    BillRuleRow,
    bill_rule_rows,
)
from apps.show.amounts import counted

SHOWS = {"": "In force", "all": "With ended ones"}


class ListedRule(NamedTuple):
    """A rule and its place among those in force; None where it is ended."""

    rule: BillRuleRow
    order: int | None


def _rule_column(name: str) -> Column[ListedRule]:
    """What the rule has under this name, in CSV alone."""
    return Column(name, "", lambda row: getattr(row.rule, name))


def _end_cell(row: ListedRule, locale: Locale) -> str:
    """The way to end the rule, or when that was."""
    if row.rule.ended_at is not None:
        return INSTANT.shown(row.rule.ended_at, locale)
    return format_html(
        '<a href="{}">End<span class="unseen"> the rule for {}</span></a>',
        reverse("end-bill-rule", args=[row.rule.id]),
        fits(row.rule),
    )


def _exact_billed(row: ListedRule, _: Locale) -> str:
    return " ".join(f"{billed.normalize():f} {name}" for name, billed in row.rule.billed.items())


RULES = Table[ListedRule](
    "rules",
    "Rules",
    (
        Column("order", "Order", lambda row: row.order, COUNT, missing="–"),
        Column("rule", "", lambda row: row.rule.id, COUNT),
        Column("rows_it_fits", "Rows that it fits", lambda row: fits(row.rule), WRAPPED, csv=""),
        *map(_rule_column, ("issuer", "service", "usage_type", "resource_id", "sub_account")),
        *map(_rule_column, ("tag_key", "tag_value", "kind", "node", "pool", "team")),
        Column("says", "Says", lambda row: says(row.rule), WRAPPED, csv=""),
        Column("rows", "Rows mapped", lambda row: row.rule.rows, COUNT),
        Column("billed", "Billed", lambda row: ", ".join(amounts(row.rule.billed)) or None, FIGURE,
               order=lambda row: sum(row.rule.billed.values(), Decimal(0)), missing="–",
               written=_exact_billed),
        Column("since", "Since", lambda row: row.rule.created_at, INSTANT),
        Column("end", "End", lambda row: row.rule.ended_at, INSTANT, csv="ended_at", sorts=False,
               shown=_end_cell),
    ),
    noun=("rule", "rules"),
    sort="sort",
)  # fmt: skip


@shown(SEES_EVERYTHING, "bills")
def bill_rules(context: Context) -> ConsolePage:
    """The rules in the order in which they are asked."""
    show = "all" if context.query.get("show") == "all" else ""
    rules = _listed_rules()
    rows = [row for row in rules if show or row.order]
    return ConsolePage(
        context=context,
        finding=_rules_finding([row.rule for row in rules if row.order]),
        under=("the first rule that matches decides, before resource ids, tags and usage types",),
        filters=(filter_of("show", "Rules", SHOWS, {"show": show}),),
        back=Link("Bills", reverse("bills")),
        actions=(Link("Add a rule", reverse("add-bill-rule")),),
        sections=(
            RULES.section(
                rows,
                context,
                empty=format_html(
                    "A charge not tied to a node can be mapped from its bill’s page, or by "
                    "<code>{}</code>.",
                    "manage.py add_bill_rule --resource-id 'i-0ab*' --node gpu-07",
                ),
                csv_href=reverse("bill-rules-csv") if rows else "",
            ),
        ),
    )


@shown(SEES_EVERYTHING, "bills")
def bill_rules_csv(context: Context) -> HttpResponse:
    """Every rule, ended ones too."""
    return RULES.csv(_listed_rules(), context, "bill rules")


def _listed_rules() -> list[ListedRule]:
    """Those in force in the order in which they are asked, then ended ones."""
    return [
        ListedRule(rule, None if rule.ended_at else place)
        for place, rule in enumerate(bill_rule_rows(), 1)
    ]


def _rules_finding(rules: Sequence[BillRuleRow]) -> str:
    """How many rows of open months those in force map."""
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


urlpatterns = [
    path("bills/rules", bill_rules, name="bill-rules"),
    path("bills/rules.csv", bill_rules_csv, name="bill-rules-csv"),
    path("bills/rules/new", changes.add_rule, name="add-bill-rule"),
    path("bills/rules/<int:bill_rule_id>/end", changes.end_rule, name="end-bill-rule"),
]
