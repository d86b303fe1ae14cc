"""The rules of bills as a page and as CSV; adding and ending one, with what goes elsewhere."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import COUNT, FIGURE, INSTANT, WRAPPED, Locale, linked, with_hidden_text
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import ParsedField, PickField, TextField
from apps.console.kit.filters import filter_of
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.bill_rules.words import KINDS, amounts, describe_moves, describe_rule, fits
from apps.economics.billing import BillRowRule
from apps.economics.refusal import Refusal
from apps.economics.sharing import BILL_METHODS, METHODS
from apps.fleet import queries as fleet
from apps.ledger.actions import bill_rules as actions
from apps.ledger.queries.bills.rules import (
    BillRuleRow,
    bill_rule_rows,
    moves_if_added,
    moves_if_ended,
    nodes_called,
)
from apps.show.amounts import counted
from apps.tables.column import Column

SAYS = ("kind", "node", "pool", "team", "share_method")
SHOWS = {"": "In force", "all": "With ended ones"}


class ListedRule(NamedTuple):
    """A rule and its place among those in force; None where it is ended."""

    rule: BillRuleRow
    order: int | None


def _rule_column(name: str) -> Column[ListedRule]:
    """Return the column of what the rule has under this name, in CSV alone."""
    return Column(name, "", lambda row: getattr(row.rule, name))


def _end_cell(row: ListedRule, locale: Locale) -> str:
    """The way to end the rule, or when that was."""
    if row.rule.ended_at is not None:
        return INSTANT.shown(row.rule.ended_at, locale)
    end = with_hidden_text("End", f"the rule for {fits(row.rule)}")
    return linked(end, reverse("end-bill-rule", args=[row.rule.id]))


def _exact_billed(row: ListedRule, _: Locale) -> str:
    return " ".join(f"{billed.normalize():f} {name}" for name, billed in row.rule.billed.items())


RULES = Table[ListedRule](
    "rules",
    "Rules",
    (
        Column("order", "Order", lambda row: row.order, COUNT, missing="–"),
        Column("id", "", lambda row: row.rule.id, COUNT),
        Column("rows_it_fits", "Rows that it fits", lambda row: fits(row.rule), WRAPPED, csv=""),
        *map(_rule_column, ("issuer", "service", "usage_type", "resource_id", "sub_account")),
        *map(_rule_column, ("tag_key", "tag_value", "kind", "node", "pool", "team", "share_method")),
        Column("says", "Says", lambda row: describe_rule(row.rule), WRAPPED, csv=""),
        Column("rows", "Rows mapped", lambda row: row.rule.rows, COUNT),
        Column("billed", "Billed", lambda row: ", ".join(amounts(row.rule.billed)) or None, FIGURE,
               order=lambda row: sum(row.rule.billed.values(), Decimal(0)), missing="–",
               written=_exact_billed),
        Column("since", "Since", lambda row: row.rule.created_at, INSTANT, csv="created_at"),
        Column("end", "End", lambda row: row.rule.ended_at, INSTANT, csv="ended_at", sorts=False,
               shown=_end_cell),
    ),
    noun=("rule", "rules"),
    sort="sort",
)  # fmt: skip


def _node_named(text: str) -> int | None:
    """The node of this name, None for none; refuses one that several clusters have."""
    if not text:
        return None
    node_ids = nodes_called(text)
    if not node_ids:
        raise ValueError(f"There is no node named {text!r}.")
    if len(node_ids) > 1:
        raise ValueError(f"Several clusters have a node {text!r}.")
    return node_ids[0]


class BillRuleForm(ChangeForm):
    """Patterns that a row must fit, and what is said of such rows."""

    # A link from a bill's row opens the form with it; only what is said of it asks for an answer.
    asked_by = SAYS

    resource_id = TextField("Resource id", "Patterns as of a shell: * is anything; empty fits all.")
    usage_type = TextField("Usage type")
    service = TextField("Service")
    issuer = TextField("Issuer")
    sub_account = TextField("Sub account")
    tag_key = TextField("Tag", "Its key as it stands in the bill.")
    tag_value = TextField("With the value", "A pattern too; empty: any value.")
    kind = PickField(
        "It pays for", {"": "As the bill says", **KINDS}, "Only compute goes to nodes."
    )
    node = ParsedField("Node", _node_named, "By its name. Hours it did not live stay unmatched.")
    pool = PickField("Or a pool", hint="Spread over its nodes.")
    team = PickField("Team", hint="Charged with what is not tied to a node.")
    share_method = PickField(
        "Or shared by all",
        {"": "Not shared", **{key: METHODS[key].capitalize() for key in BILL_METHODS}},
        "Over the lines of every hour of the bill’s month. Not what is tied to a node or is of a "
        "commitment.",
    )


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
                    "Rows of bills that no node explains are said here to be of a node, a pool or "
                    "a team. {} shows such rows, each with the way to its rule; {}.",
                    linked("A bill’s page", reverse("bills")),
                    linked("or write one", reverse("add-bill-rule")),
                ),
                csv_name="bill rules",
                csv_rows=lambda: rules,
            ),
        ),
    )


@changing(SEES_EVERYTHING, "bills")
def add_rule(context: Context) -> Change[BillRowRule]:
    """Says which rows would go where, then keeps the rule."""

    def apply(rule: BillRowRule) -> Done:
        actions.add_bill_rule(rule=rule, at=context.at)
        return "The rule is saved; bills of open months are reconciled by it.", ("bill-rules",)

    pools = fleet.pools_by_name()
    return Change(
        finding="Add a mapping rule for bills",
        explanation="Evaluated after the rules there are: the first that matches decides.",
        back=Link("Back to the rules", reverse("bill-rules")),
        form=BillRuleForm,
        confirm="Save this rule",
        read=_rule_of,
        effects=lambda rule: describe_moves(moves_if_added(rule)),
        apply=apply,
        picks={
            "pool": {"": "No pool", **{str(pool.id): pool.name for pool in pools}},
            "team": {
                "": "Nobody in particular",
                **{str(team.id): team.name for team in accounts.teams()},
            },
        },
    )


@changing(SEES_EVERYTHING, "bills")
def end_rule(context: Context, bill_rule_id: int) -> Change[BillRuleRow]:
    """Says where its rows would go without it, then ends the rule."""
    rule = value_or_404(
        next(
            (
                bill_rule_row
                for bill_rule_row in bill_rule_rows()
                if bill_rule_row.id == bill_rule_id
            ),
            None,
        )
    )

    def read(_: Mapping[str, Any]) -> BillRuleRow:
        if rule.ended_at is not None:
            raise Refusal("", "it is ended already")
        return rule

    def apply(_: BillRuleRow) -> Done:
        actions.end_bill_rule(rule_id=bill_rule_id, at=context.at)
        return "The rule is ended; bills of open months do without it.", ("bill-rules",)

    return Change(
        finding=f"End the rule for {fits(rule)}",
        explanation=f"It says: {describe_rule(rule)}.",
        back=Link("Back to the rules", reverse("bill-rules")),
        form=ChangeForm,
        confirm="End this rule",
        read=read,
        effects=lambda _: describe_moves(moves_if_ended(bill_rule_id)),
        apply=apply,
    )


def _listed_rules() -> list[ListedRule]:
    """Those in force in the order in which they are asked, then ended ones."""
    return [
        ListedRule(rule, None if rule.ended_at else place)
        for place, rule in enumerate(bill_rule_rows(), 1)
    ]


def _rule_of(entered: Mapping[str, Any]) -> BillRowRule:
    """Return the rule that was entered; refuse one that says nothing, or fits everything."""
    ids: dict[str, Any] = {
        f"{name}_id": int(entered[name]) if entered[name] else None for name in ("pool", "team")
    }
    other_fields = {
        name: value for name, value in entered.items() if name not in {"node", "pool", "team"}
    }
    rule = BillRowRule(id=0, node_id=entered["node"], **ids, **other_fields)
    actions.check_bill_rule(rule)
    return rule


def _rules_finding(rules: Sequence[BillRuleRow]) -> str:
    """How many rows of open months those in force map."""
    if not rules:
        return "No rule says where rows of bills go; they go by what they say themselves."
    mapped = sum(rule.rows for rule in rules)
    if not mapped:
        which = "The rule maps" if len(rules) == 1 else f"The {len(rules)} rules map"
        return f"{which} no row of bills in open months."
    idle = sum(1 for rule in rules if not rule.rows)
    sentence = f"{counted(len(rules), 'rule')} {'maps' if len(rules) == 1 else 'map'}"
    sentence += f" {counted(mapped, 'row')} of bills in open months"
    return (
        f"{sentence}; {idle} of them {'maps' if idle == 1 else 'map'} none."
        if idle
        else f"{sentence}."
    )


urlpatterns = [
    path("bills/rules", bill_rules, name="bill-rules"),
    path("bills/rules/new", add_rule, name="add-bill-rule"),
    path("bills/rules/<int:bill_rule_id>/end", end_rule, name="end-bill-rule"),
]
