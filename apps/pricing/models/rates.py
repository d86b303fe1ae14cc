"""Rates with validity and priority, and how much of a node's price its GPUs are."""

import pghistory
from django.conf import settings
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
    """Units that a rate is quoted for."""

    NODE = "node"
    GPU = "gpu"


class RateStanding(models.TextChoices):
    """Whether a rate prices anything: only one in force does.

    One that cannot be what it says waits in quarantine, one that moves much for a second person.
    """

    IN_FORCE = "in_force", "in force"
    QUARANTINED = "quarantined", "in quarantine"
    WAITING = "waiting", "waits for a second person"
    REFUSED = "refused", "refused"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Rate(models.Model):
    """A price as quoted: never converted, arithmetic is by fractions.

    Matches nodes of a pool by (provider, region, instance type or GPU model, purchase option), or
    one pool by name. A contract beats a list price, a pool's own rate beats both. `target` spells
    out what it prices, so that two prices of equal priority cannot overlap. `doubt` says why it
    is not simply in force. `tiers` are [from, amount] pairs, amounts as text: what a quantity costs
    beyond so many of them in a month, `amount` being what the first costs.
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
    standing = models.TextField(choices=RateStanding.choices, default=RateStanding.IN_FORCE)
    doubt = models.TextField(blank=True, default="")
    tiers = models.JSONField(default=list)
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

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
                condition=Q(standing="in_force"),
            ),
        ]
        indexes = [
            models.Index(
                fields=["standing"], condition=~Q(standing="in_force"), name="rate_not_in_force"
            )
        ]

    def __str__(self) -> str:
        return f"{self.target} {self.amount} {self.currency}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class NodePricePolicy(models.Model):
    """How much of the price of a pool's nodes rides on their GPUs' time; without one, all of it.

    The rest is the pool owner's. Each change is a row of its own: hours before it keep theirs.
    """

    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, related_name="price_policies")
    gpu_share = models.DecimalField(max_digits=7, decimal_places=6)
    period = DateTimeRangeField()
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(gpu_share__gte=0, gpu_share__lte=1), name="gpu_share_is_a_share"
            ),
            ExclusionConstraint(
                name="one_price_policy_of_a_pool",
                expressions=[
                    (Func("pool", "pool", Value("[]"), function="int8range"), "&&"),
                    ("period", "&&"),
                ],
            ),
        ]

    def __str__(self) -> str:
        return f"pool {self.pool_id}: {self.gpu_share} of the price"
