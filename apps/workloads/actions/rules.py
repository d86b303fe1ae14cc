"""The rules that say whose jobs are: added, ended, and the hours they move marked."""

from dataclasses import fields
from datetime import datetime

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.economics.ownership import Rule
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.workloads.actions.touched_hours import TouchedHours
from apps.workloads.models import OwnershipRule, Workload
from apps.workloads.queries import RuleFact
from apps.workloads.queries.ownership import held_by_matching

CLAIM = "RUNRATE_TEAM"
"""The label with which a process says whose it is."""


class RuleExists(Refusal):
    """A refusal: the same rule is kept already; which of two equals counts must not depend on chance."""


class RuleEndsBeforeItStarts(Refusal):
    """A rule that would be in force at no time."""


class RuleAlreadyEnded(Refusal):
    """A rule that ended is not ended later: another is added."""


class LabelUnreadable(Refusal):
    """A rule looks at a label as `key=value`."""


class ClaimOfAnybody(Refusal):
    """A rule that hears a process's own RUNRATE_TEAM says which account or user may claim it."""


class WorkloadOfAnotherTeam(Refusal):
    """A rule cannot give a job to one team and to the workload of another."""


@logged_change()
@transaction.atomic
def add_rule(*, rule: RuleFact, at: datetime) -> int:
    """Keep a rule (`rule.rule.id` is moot) and mark the past hours of all it matches; its id.

    Hours are owned by the rules in force at their start. Refuses RuleExists,
    RuleEndsBeforeItStarts, LabelUnreadable, ClaimOfAnybody and WorkloadOfAnotherTeam.
    """
    refuse_nonsense(rule)
    columns = {field.name: getattr(rule.rule, field.name) for field in fields(Rule)}
    del columns["id"]
    twin = RuleExists("", f"a rule of priority {rule.rule.priority} asks exactly that already")
    with refusing({"ownership_rule_once": twin}):
        stored_rule = OwnershipRule.objects.create(**columns, period=(rule.starts_at, rule.ends_at))
    _mark_matching(rule, at)
    return stored_rule.id


@logged_change()
@transaction.atomic
def end_rule(*, rule_id: int, ended_at: datetime, at: datetime) -> None:
    """The rule counts no more from `ended_at` on; marks the past hours that lose it.

    Refuses RuleAlreadyEnded and RuleEndsBeforeItStarts.
    """
    stored_rule = OwnershipRule.objects.select_for_update().get(id=rule_id)
    starts_at, ends_at = stored_rule.period.lower, stored_rule.period.upper
    if ends_at is not None and ends_at <= ended_at:
        raise RuleAlreadyEnded("ended_at", f"rule {rule_id} ended at {ends_at:%Y-%m-%d %H:%M}Z")
    if starts_at is not None and ended_at <= starts_at:
        raise RuleEndsBeforeItStarts(
            "ended_at", f"rule {rule_id} begins at {starts_at:%Y-%m-%d %H:%M}Z"
        )
    stored_rule.period = (starts_at, ended_at)
    stored_rule.save(update_fields=["period"])
    ended_rule = Rule(**{field.name: getattr(stored_rule, field.name) for field in fields(Rule)})
    _mark_matching(RuleFact(ended_rule, ended_at, ends_at), at)


def refuse_nonsense(fact: RuleFact) -> None:
    """Refuse what no rule can say: see `add_rule`, but for RuleExists."""
    rule = fact.rule
    if fact.starts_at and fact.ends_at and fact.ends_at <= fact.starts_at:
        raise RuleEndsBeforeItStarts("ends_at", f"{fact.ends_at} is not after {fact.starts_at}")
    if rule.label and not rule.label.partition("=")[1]:
        raise LabelUnreadable("label", f"{rule.label!r} is not key=value")
    if rule.label.startswith(f"{CLAIM}=") and not (rule.account or rule.user or rule.namespace):
        raise ClaimOfAnybody("label", f"a rule on {CLAIM} must name an account, user or namespace")
    if rule.workload_id is not None:
        workload = Workload.objects.get(id=rule.workload_id)
        if workload.team_id != rule.team_id:
            raise WorkloadOfAnotherTeam(
                "workload", f"{workload.name} is not a workload of that team"
            )


def _mark_matching(rule: RuleFact, at: datetime) -> None:
    touched = TouchedHours(at)
    for holding in held_by_matching(rule, at):
        touched.add(holding.node_id, holding.starts_at, holding.ends_at)
    touched.mark()
