"""Adding and ending a rule of bills, each with the rows that would go elsewhere."""

from collections.abc import Mapping
from typing import NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts import queries as accounts
from apps.console.kit.entries import one_of
from apps.console.kit.form import Field
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, request_context, shown_to
from apps.console.pages.bill_rules.words import KINDS, fits, moves_said, says
from apps.console.pages.changes import ChangePage, Entries
from apps.economics.billing import BillRowRule
from apps.fleet import queries as fleet
from apps.ledger.actions.bill_rules import (
    BillRuleSaysNothing,
    add_bill_rule,
    check_bill_rule,
    end_bill_rule,
)
from apps.ledger.queries.bills.rules import (
    bill_rule_rows,
    moves_if_added,
    moves_if_ended,
    nodes_called,
)

changing = require_http_methods(["GET", "HEAD", "POST"])
PATTERNS = {
    "resource_id": ("Resource id", "Patterns as of a shell: * is anything; empty fits all."),
    "usage_type": ("Usage type", ""),
    "service": ("Service", ""),
    "issuer": ("Issuer", ""),
    "sub_account": ("Sub account", ""),
    "tag_key": ("Tag", "Its key as it stands in the bill."),
    "tag_value": ("With the value", "A pattern too; empty: any value."),
}
SAYS = ("kind", "node", "pool", "team")


class Names(NamedTuple):
    """What can be chosen, by the text that the address carries."""

    kinds: Mapping[str, str]
    pools: Mapping[str, str]
    teams: Mapping[str, str]


@changing
@shown_to(SEES_EVERYTHING)
def add_rule(request: HttpRequest) -> HttpResponse:
    """Says which rows would go where, then keeps the rule."""
    who = request_context(request, "bills")
    given = _given(request)
    entries = Entries(given, dict.fromkeys((*PATTERNS, *SAYS), ""))
    # A link from a bill's row opens the form with it; only what is said of it asks for an answer.
    entries.is_asked = any(name in given for name in SAYS)
    names = _names()
    rule = _rule(entries, names)
    if request.method == "POST" and rule is not None:
        add_bill_rule(rule=rule, at=who.at)
        messages.success(request, "The rule is saved; bills of open months are reconciled by it.")
        return redirect("bill-rules")
    page = ChangePage(
        frame=who.frame,
        finding="Add a mapping rule for bills",
        explanation="Evaluated after the rules there are: the first that matches decides.",
        back=Link("Back to the rules", reverse("bill-rules")),
        here=request.path,
        fields=_fields(entries, names),
        effects=moves_said(moves_if_added(rule)) if rule is not None else (),
        confirm=entries.confirm("Save this rule"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def end_rule(request: HttpRequest, bill_rule_id: int) -> HttpResponse:
    """Says where its rows would go without it, then ends the rule."""
    who = request_context(request, "bills")
    rule = next((each for each in bill_rule_rows() if each.id == bill_rule_id), None)
    if rule is None:
        raise Http404
    if request.method == "POST" and rule.ended_at is None:
        end_bill_rule(rule_id=bill_rule_id, at=who.at)
        messages.success(request, "The rule is ended; bills of open months do without it.")
        return redirect("bill-rules")
    page = ChangePage(
        frame=who.frame,
        finding=f"End the rule for {fits(rule)}",
        explanation=f"It says: {says(rule)}.",
        back=Link("Back to the rules", reverse("bill-rules")),
        here=request.path,
        fields=(),
        effects=() if rule.ended_at else moves_said(moves_if_ended(bill_rule_id)),
        confirm="" if rule.ended_at else "End this rule",
        cannot="It is ended already." if rule.ended_at else "",
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _names() -> Names:
    pools = sorted(fleet.pools().values(), key=lambda pool: pool.name.casefold())
    return Names(
        kinds={"": "As the bill says", **KINDS},
        pools={"": "No pool", **{str(pool.id): pool.name for pool in pools}},
        teams={"": "Nobody in particular", **{str(t.id): t.name for t in accounts.teams()}},
    )


def _rule(entries: Entries, names: Names) -> BillRowRule | None:
    """What was entered as a rule; None where a field is wrong, or nothing was asked yet."""
    kind = entries.read("kind", one_of(names.kinds))
    pool = entries.read("pool", one_of(names.pools))
    team = entries.read("team", one_of(names.teams))
    node_id = entries.read("node", _node)
    if entries.problems or not entries.is_asked:
        return None
    rule = BillRowRule(
        id=0,
        **{name: entries.texts[name] for name in PATTERNS},
        kind=kind or "",
        node_id=node_id,
        pool_id=int(pool) if pool else None,
        team_id=int(team) if team else None,
    )
    try:
        check_bill_rule(rule)
    except BillRuleSaysNothing as refusal:
        field = "kind" if not any((kind, pool, team, node_id)) else "resource_id"
        entries.refused(field, f"{str(refusal)[0].upper()}{str(refusal)[1:]}.")
        return None
    return rule


def _node(text: str) -> int | None:
    if not text:
        return None
    found = nodes_called(text)
    if len(found) != 1:
        raise ValueError(
            f"Several clusters have a node {text!r}."
            if found
            else f"There is no node named {text!r}."
        )
    return found[0]


def _fields(entries: Entries, names: Names) -> tuple[Field, ...]:
    fields = [entries.field(name, label, hint=hint) for name, (label, hint) in PATTERNS.items()]
    return (
        *fields,
        entries.choice("kind", "It pays for", names.kinds, "Only compute goes to nodes."),
        entries.field("node", "Node", hint="By its name. Hours it did not live stay unmatched."),
        entries.choice("pool", "Or a pool", names.pools, "Spread over its nodes."),
        entries.choice("team", "Team", names.teams, "Charged with what is not tied to a node."),
    )
