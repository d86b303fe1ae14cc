"""Budgets are set, replaced and removed; what they were stays in the audit trail."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts import queries as accounts
from apps.accounts.actions.entered import keep, replace
from apps.accounts.queries.facts import fields_of
from apps.economics.hours import EARLIEST_MONTH, MONTHS_END
from apps.economics.refusal import Refusal
from apps.economics.serving import SERVICE_KINDS
from apps.logs.changes import logged_change
from apps.planning.models import Budget, BudgetMeasure, BudgetRecurrence, BudgetScope
from apps.planning.queries.budgets import (
    MONTHLY,
    ORGANISATION,
    SERVICE,
    TAG,
    TEAM,
    EnteredBudget,
)
from apps.workloads import queries as workloads

LARGEST, DECIMALS = Decimal(10) ** 12, 6
LONGEST = timedelta(days=10 * 366)


class BudgetNotUnderstood(Refusal):
    """A refusal that says what is wrong with a field of a budget."""


class BudgetNameTaken(Refusal):
    """Another budget has this name."""


@logged_change()
@transaction.atomic
def add_budget(*, budget: EnteredBudget, at: datetime) -> int:
    """Set a budget; answers its id. Refuses as check_budget does."""
    check_budget(budget)
    taken = {"planning_budget_name_key": _name_taken(budget)}
    return keep(Budget, _columns_of(budget), at, taken)


@logged_change()
@transaction.atomic
def replace_budget(*, budget_id: int, budget: EnteredBudget) -> None:
    """Set it anew as a whole. Refuses as check_budget does, and Budget.DoesNotExist."""
    row = Budget.objects.select_for_update().get(pk=budget_id)
    check_budget(budget, replaced=row.pk)
    replace(row, _columns_of(budget), {"planning_budget_name_key": _name_taken(budget)})


@logged_change()
@transaction.atomic
def remove_budget(*, budget_id: int) -> None:
    """Hold nothing against it any more. Refuses Budget.DoesNotExist."""
    Budget.objects.select_for_update().get(pk=budget_id).delete()


def check_budget(budget: EnteredBudget, replaced: int | None = None) -> None:
    """Refuse BudgetNotUnderstood and BudgetNameTaken; `replaced` is the id of the one it takes the place of."""
    if not budget.name.strip():
        raise BudgetNotUnderstood("name", "a budget has a name")
    for field, choices in (
        ("scope", BudgetScope),
        ("measure", BudgetMeasure),
        ("recurrence", BudgetRecurrence),
    ):
        if getattr(budget, field) not in choices.values:
            raise BudgetNotUnderstood(field, f"it is one of {', '.join(choices.values)}")
    _refuse_key(budget)
    _refuse_days(budget)
    _refuse_steps(budget)
    budget_ids = Budget.objects.filter(name=budget.name.strip()).values_list("pk", flat=True)
    if set(budget_ids) - {replaced}:
        raise _name_taken(budget)


def _refuse_key(budget: EnteredBudget) -> None:
    """A key names something of its scope that is there."""
    if budget.scope == ORGANISATION:
        if budget.key:
            raise BudgetNotUnderstood("of", "a budget of the organisation names nothing else")
        return
    if budget.scope == TAG:
        name, is_told, value = budget.key.partition("=")
        if name not in settings.TAG_KEYS or not (is_told and value):
            there = ", ".join(settings.TAG_KEYS) or "none is set up (RUNRATE_TAG_KEYS)"
            raise BudgetNotUnderstood("of", f"say a tag as key=value; keys: {there}")
        return
    if budget.key not in _keys_of(budget.scope):
        raise BudgetNotUnderstood("of", f"there is no {budget.scope} {budget.key!r}")


def _keys_of(scope: str) -> set[str]:
    if scope == TEAM:
        return {str(team.id) for team in accounts.teams()}
    all_workloads = workloads.workloads().values()
    return {
        str(workload.id)
        for workload in all_workloads
        if scope != SERVICE or workload.kind in SERVICE_KINDS
    }


def _refuse_days(budget: EnteredBudget) -> None:
    """Months begin and end with months; a project has an end."""
    first, last = budget.first_day, budget.last_day
    for field, day in (("first_day", first), ("last_day", last)):
        if day is not None and not EARLIEST_MONTH <= day < MONTHS_END:
            raise BudgetNotUnderstood(
                field, f"a budget is of days from {EARLIEST_MONTH:%Y} on and before {MONTHS_END:%Y}"
            )
    if budget.recurrence == MONTHLY:
        if first.day != 1:
            raise BudgetNotUnderstood("first_day", "a monthly budget begins with a month")
        if last is not None and (last + timedelta(days=1)).day != 1:
            raise BudgetNotUnderstood("last_day", "a monthly budget ends with a month")
    elif last is None:
        raise BudgetNotUnderstood("last_day", "a budget of the whole time has a last day")
    if last is not None and not first <= last <= first + LONGEST:
        raise BudgetNotUnderstood("last_day", "it ends after it begins, within ten years")


def _refuse_steps(budget: EnteredBudget) -> None:
    days = [step.from_day for step in budget.steps]
    if not days or days[0] != budget.first_day or days != sorted(set(days)):
        raise BudgetNotUnderstood(
            "amounts",
            "the first holds from the first day on, and each later one from a later month",
        )
    if budget.recurrence != MONTHLY and len(days) > 1:
        raise BudgetNotUnderstood("amounts", "a budget of the whole time has one amount")
    if any(day.day != 1 for day in days[1:]):
        raise BudgetNotUnderstood("amounts", "an amount changes with the first day of a month")
    if budget.last_day is not None and days[-1] > budget.last_day:
        raise BudgetNotUnderstood("amounts", "an amount holds from a day on that is not over then")
    for step in budget.steps:
        amount = step.amount
        if not amount.is_finite() or not 0 < amount < LARGEST or amount != round(amount, DECIMALS):
            raise BudgetNotUnderstood(
                "amounts", f"{amount} is not above 0, of up to 12 digits and 6 decimals"
            )


def _columns_of(budget: EnteredBudget) -> dict[str, Any]:
    columns = fields_of(budget)
    del columns["steps"]
    return {
        **columns,
        "name": budget.name.strip(),
        "amounts_from": [step.from_day for step in budget.steps],
        "amounts": [step.amount for step in budget.steps],
    }


def _name_taken(budget: EnteredBudget) -> BudgetNameTaken:
    return BudgetNameTaken("name", f"there is a budget named {budget.name.strip()!r} already")
