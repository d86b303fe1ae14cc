"""Rates with validity and priority, and costs shared by everyone."""

import pghistory
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Func, Q, Value

from apps.economics.purchase import PurchaseOption


class RateKind(models.TextChoices):
    """A public price, or one that was negotiated."""

    LIST = "list"
    CONTRACT = "contract"


class RateUnit(models.TextChoices):
    """What the rate is quoted for."""

    NODE = "node"
    GPU = "gpu"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Rate(models.Model):
    """A price as quoted: never converted, arithmetic is by fractions.

    Matches nodes of a pool by (provider, region, instance type or GPU model, purchase option), or
    one pool by name. A contract beats a list price, a pool's own rate beats both. `target` spells
    out what it prices, so that two prices of equal priority cannot overlap.
    """

    provider = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    purchase_option = models.TextField(choices=[(option, option) for option in PurchaseOption])
    pool = models.ForeignKey(
        "fleet.Pool", on_delete=models.PROTECT, null=True, related_name="rates"
    )
    kind = models.TextField(choices=RateKind.choices)
    amount = models.DecimalField(max_digits=24, decimal_places=9)
    currency = models.CharField(max_length=3)
    quantity_seconds = models.PositiveIntegerField(default=3600)
    unit = models.TextField(choices=RateUnit.choices, default=RateUnit.NODE)
    period = DateTimeRangeField()
    target = models.TextField()
    source = models.TextField(blank=True, default="")
    source_date = models.DateField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=0), name="rate_is_not_negative"),
            models.CheckConstraint(
                condition=Q(quantity_seconds__in=[1, 3600]), name="rate_is_by_second_or_hour"
            ),
            models.CheckConstraint(
                condition=Q(pool__isnull=False)
                | ~Q(instance_type="") & Q(gpu_model="")
                | Q(instance_type="") & ~Q(gpu_model=""),
                name="rate_names_instance_type_or_gpu_model",
            ),
            ExclusionConstraint(
                name="rates_of_equal_priority_do_not_overlap",
                expressions=[
                    (
                        Func(
                            Func("target", Value(0), function="hashtextextended"),
                            Func("target", Value(0), function="hashtextextended"),
                            Value("[]"),
                            function="int8range",
                        ),
                        "&&",
                    ),
                    ("period", "&&"),
                ],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.target} {self.amount} {self.currency}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class SharedCost(models.Model):
    """A monthly amount that every hour's lines carry a part of (support, storage, control nodes)."""

    name = models.TextField()
    amount = models.DecimalField(max_digits=24, decimal_places=9)
    currency = models.CharField(max_length=3)
    method = models.TextField(
        choices=[("by_cost", "By direct cost"), ("by_unit_time", "By GPU time"), ("even", "Evenly")]
    )
    period = DateTimeRangeField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "period"], name="shared_cost_once")]

    def __str__(self) -> str:
        return self.name


class ExchangeKind(models.TextChoices):
    """A rate that somebody stated beats one that was fetched."""

    STATED = "stated"
    FETCHED = "fetched"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ExchangeRate(models.Model):
    """What one unit of a currency was worth in another in a month (its first day)."""

    month = models.DateField()
    from_currency = models.CharField(max_length=3)
    to_currency = models.CharField(max_length=3)
    rate = models.DecimalField(max_digits=24, decimal_places=12)
    kind = models.TextField(choices=ExchangeKind.choices)
    source = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["from_currency", "to_currency", "month", "kind"],
                name="exchange_rate_once_a_month",
            ),
            models.CheckConstraint(condition=Q(rate__gt=0), name="exchange_rate_is_positive"),
            models.CheckConstraint(condition=Q(month__day=1), name="exchange_rate_is_of_a_month"),
        ]

    def __str__(self) -> str:
        return f"{self.from_currency} in {self.to_currency} {self.month:%Y-%m}"
