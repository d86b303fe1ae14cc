"""Hardware of one's own: what it was bought for, what it costs to run, and its power."""

import pghistory
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import F, Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class OwnedPlan(models.Model):
    """A purchase of `nodes` nodes of a pool, in service through `period`.

    Straight line: purchase less salvage over `life_months` from the month it entered service.
    `watts` are what a node draws by its plate, taken where no meter tells; `pue` is what a
    kilowatt-hour at the machine takes at the meter of the house.
    """

    name = models.TextField(unique=True)
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, related_name="owned_plans")
    nodes = models.PositiveIntegerField()
    purchase = models.DecimalField(max_digits=24, decimal_places=9)
    salvage = models.DecimalField(max_digits=24, decimal_places=9, default=0)
    life_months = models.PositiveIntegerField()
    watts = models.PositiveIntegerField()
    pue = models.DecimalField(max_digits=6, decimal_places=4, default=1)
    currency = models.CharField(max_length=3)
    period = DateTimeRangeField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(salvage__gte=0, salvage__lte=F("purchase")),
                name="salvage_is_within_the_purchase",
            ),
            models.CheckConstraint(
                condition=Q(nodes__gt=0, life_months__gt=0, pue__gte=1),
                name="owned_plan_is_of_something",
            ),
            models.CheckConstraint(
                condition=Q(period__startswith__isnull=False), name="owned_plan_begins"
            ),
        ]

    def __str__(self) -> str:
        return self.name


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class OwnedCost(models.Model):
    """The cost of a plan each month besides (maintenance, colocation, network, staff)."""

    plan = models.ForeignKey(OwnedPlan, on_delete=models.CASCADE, related_name="costs")
    name = models.TextField()
    monthly = models.DecimalField(max_digits=24, decimal_places=9)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "name", "period"], name="owned_cost_once"),
            models.CheckConstraint(condition=Q(monthly__gte=0), name="owned_cost_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id} {self.name}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class PowerTariff(models.Model):
    """The cost of a kilowatt-hour to a plan, from `minute` of the local day on until its next one.

    A tariff without a time of day has one row, of minute 0.
    """

    plan = models.ForeignKey(OwnedPlan, on_delete=models.CASCADE, related_name="tariffs")
    minute = models.PositiveSmallIntegerField(default=0)
    amount = models.DecimalField(max_digits=24, decimal_places=9)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "minute", "period"], name="tariff_once"),
            models.CheckConstraint(
                condition=Q(amount__gte=0, minute__lt=1440), name="tariff_is_of_a_day"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id} from minute {self.minute}"
