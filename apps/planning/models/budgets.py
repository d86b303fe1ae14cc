"""Budgets: what may be spent, or used, and from when to when."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q


class BudgetScope(models.TextChoices):
    """Scopes of budgets: whose costs a budget is for."""

    ORGANISATION = "organisation", "the organisation"
    TEAM = "team", "team"
    WORKLOAD = "workload", "workload"
    SERVICE = "service", "service"
    TAG = "tag", "tag"


class BudgetMeasure(models.TextChoices):
    """Measures that a budget is in."""

    MONEY = "money", "money"
    GPU_HOURS = "gpu_hours", "GPU-hours"


class BudgetRecurrence(models.TextChoices):
    """Whether it begins anew with each month, or is one sum for a project's life."""

    MONTHLY = "monthly", "each month"
    PROJECT = "project", "the whole time"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Budget(models.Model):
    """So much of a measure for one scope, in local days from `first_day` to `last_day`, both of it.

    `key` is the id of a team, workload or service, a tag as `key=value`, empty of the organisation.
    `amounts[n]`, in whole units of the organisation's currency or in GPU-hours, holds from the day
    `amounts_from[n]` on: of a project one, of a monthly budget one for each month with which it
    changes. `last_day` None: open-ended. Overlapping budgets stand beside each other. A job that would exceed
    it is denied where `is_hard`, else warned of.
    """

    name = models.TextField(unique=True)
    scope = models.TextField(choices=BudgetScope.choices)
    key = models.TextField(blank=True, default="")
    measure = models.TextField(choices=BudgetMeasure.choices)
    recurrence = models.TextField(choices=BudgetRecurrence.choices)
    first_day = models.DateField()
    last_day = models.DateField(null=True)
    amounts_from = ArrayField(models.DateField())
    amounts = ArrayField(models.DecimalField(max_digits=20, decimal_places=6))
    is_hard = models.BooleanField(default=False, db_default=False)
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scope="organisation", key="") | (~Q(scope="organisation") & ~Q(key="")),
                name="budget_is_of_something",
            ),
            models.CheckConstraint(
                condition=Q(last_day__gte=F("first_day"))
                | Q(last_day__isnull=True, recurrence="monthly"),
                name="budget_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(amounts__len=F("amounts_from__len"), amounts__len__gte=1),
                name="budget_has_an_amount",
            ),
        ]

    def __str__(self) -> str:
        return self.name
