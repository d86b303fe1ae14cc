"""Rules that say where rows of bills go which do not say it themselves."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.economics.billing import BillRowRule
from apps.ledger.actions.reconcile import reconcile_again
from apps.ledger.models import Bill, BillRule
from apps.ledger.queries.bill_months import open_bills
from apps.logs.changes import logged_change

STEP = 10


class BillRuleSaysNothing(ValueError):
    """A rule must say a kind, a node, a pool or a team, and fit something less than everything."""


@logged_change()
@transaction.atomic
def add_bill_rule(*, rule: BillRowRule, at: datetime) -> int:
    """Keep a rule after those there are; bills of open months are reconciled by it again.

    The rule's own id is not looked at: the one that it is kept under is the answer. Refuses
    BillRuleSaysNothing.
    """
    check_bill_rule(rule)
    last = BillRule.objects.filter(ended_at=None).aggregate(last=Max("priority"))["last"] or 0
    said = asdict(rule) | {"id": None}
    made = BillRule.objects.create(priority=last + STEP, created_at=at, **said)
    _reconcile_again(at)
    return made.id


def check_bill_rule(rule: BillRowRule) -> None:
    """Refuse BillRuleSaysNothing."""
    says = (rule.kind, rule.node_id, rule.pool_id, rule.team_id)
    fits = (rule.issuer, rule.service, rule.usage_type, rule.resource_id, rule.sub_account)
    if not any(says):
        raise BillRuleSaysNothing("say a kind, a node, a pool or a team")
    if not any((*fits, rule.tag_key)):
        raise BillRuleSaysNothing(
            "say which rows: a rule that fits all of them would take them all"
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
