"""Rules that say where rows of bills go which do not say it themselves."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.economics.billing import BillRowRule
from apps.economics.focus.kinds import COMMITMENT
from apps.economics.refusal import Refusal
from apps.economics.sharing import BILL_METHODS
from apps.ledger.actions.reconcile import reconcile_again
from apps.ledger.models import Bill, BillRule
from apps.ledger.queries.bill_months import open_bills
from apps.logs.changes import logged_change

STEP = 10


class BillRuleSaysNothing(Refusal):
    """A rule must say a kind, a node, a pool, a team or a way to share, and fit less than everything."""


class BillRuleSharesOtherwise(Refusal):
    """Refusal of a rule: a cost shared by all is of no node, pool or team; one of a commitment is its owner's."""


@logged_change()
@transaction.atomic
def add_bill_rule(*, rule: BillRowRule, at: datetime) -> int:
    """Keep a rule after those there are; bills of open months are reconciled by it again.

    The rule's own id is not looked at: the one that it is kept under is the answer. Refuses what
    check_bill_rule does.
    """
    check_bill_rule(rule)
    last = BillRule.objects.filter(ended_at=None).aggregate(last=Max("priority"))["last"] or 0
    rule_fields = asdict(rule) | {"id": None}
    bill_rule = BillRule.objects.create(priority=last + STEP, created_at=at, **rule_fields)
    _reconcile_again(at)
    return bill_rule.id


def check_bill_rule(rule: BillRowRule) -> None:
    """Refuse BillRuleSaysNothing and BillRuleSharesOtherwise."""
    targets = (rule.kind, rule.node_id, rule.pool_id, rule.team_id, rule.share_method)
    fits = (rule.issuer, rule.service, rule.usage_type, rule.resource_id, rule.sub_account)
    if not any(targets):
        raise BillRuleSaysNothing("kind", "say a kind, a node, a pool, a team or a way to share")
    if rule.share_method and rule.share_method not in BILL_METHODS:
        method_names = ", ".join(BILL_METHODS)
        raise BillRuleSharesOtherwise(
            "share_method", f"rows of bills are shared by one of {method_names}"
        )
    if rule.share_method and (rule.node_id or rule.pool_id or rule.team_id):
        raise BillRuleSharesOtherwise(
            "share_method", "what all share is of no node, no pool and no team"
        )
    if rule.share_method and rule.kind == COMMITMENT:
        raise BillRuleSharesOtherwise(
            "share_method", "what is of a commitment is charged to its owner and is not shared"
        )
    if not any((*fits, rule.tag_key)):
        raise BillRuleSaysNothing(
            "resource_id", "say which rows: a rule that fits all of them would take them all"
        )


@logged_change()
@transaction.atomic
def end_bill_rule(*, rule_id: int, at: datetime) -> None:
    """The rule holds no longer; bills of open months are reconciled without it."""
    if BillRule.objects.filter(id=rule_id, ended_at=None).update(ended_at=at):
        _reconcile_again(at)


def _reconcile_again(at: datetime) -> None:
    opens = open_bills(Bill.objects.exclude(reconciled_at=None))
    reconcile_again(bills=Bill.objects.filter(id__in=opens), at=at)
