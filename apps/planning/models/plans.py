"""Tables of what-if plans: planned work that is added to a forecast, as its owner entered it."""

import pghistory
from django.db import models
from django.db.models import Q


class PlannedKind(models.TextChoices):
    """Kinds of a plan's items."""

    TRAINING = "training", "training"
    LAUNCH = "launch", "launch"
    PRICE = "price", "price change"


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    exclude=["changed_at"],
)
class WhatIfPlan(models.Model):
    """Planned work in a pool or on the pools of a GPU model, over `weeks` from the local day `first_day`.

    `growth_per_month` is what the forecast's level grows by beyond its end. `owner` is null where a token made it.
    `variant_of` is the plan that it was copied from, null where it was not, or that one is removed.
    """

    name = models.TextField(unique=True)
    description = models.TextField(blank=True, default="")
    variant_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    owner = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    gpu_model = models.TextField(blank=True, default="")
    first_day = models.DateField()
    weeks = models.PositiveSmallIntegerField()
    growth_per_month = models.FloatField(default=0.0)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(pool=None) ^ Q(gpu_model=""), name="what_if_plan_is_of_pool_or_model"
            ),
            models.CheckConstraint(condition=Q(weeks__gte=1), name="what_if_plan_has_weeks"),
        ]

    def __str__(self) -> str:
        return self.name


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class PlannedItem(models.Model):
    """A training, a launch or a price change from a local day on; `inputs` are those of its kind.

    They are the fields of TrainingWork, LaunchWork or PriceChange (apps.planning.queries.plan_items). It comes to less
    than `low` times what they say in one case of ten, and to more than `high` times in one; null: as entered.
    """

    plan = models.ForeignKey(WhatIfPlan, on_delete=models.CASCADE, related_name="items")
    kind = models.TextField(choices=PlannedKind.choices)
    name = models.TextField()
    starts_on = models.DateField()
    inputs = models.JSONField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "name"], name="planned_item_named_once"),
            models.CheckConstraint(
                condition=Q(low=None, high=None) | Q(low__gt=0, low__lte=1, high__gte=1),
                name="planned_item_is_likely_between",
            ),
        ]

    def __str__(self) -> str:
        return self.name
