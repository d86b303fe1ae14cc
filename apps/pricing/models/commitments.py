"""Commitments bought ahead: reservations, committed use, savings plans, capacity blocks; quotas."""

import pghistory
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q

from apps.pricing.models.rates import RateUnit


class CommitmentKindChoice(models.TextChoices):
    """Kinds of commitments that were bought; the order is the one in which they are applied."""

    CAPACITY_BLOCK = "capacity_block", "Capacity block"
    RESERVED = "reserved", "Reservation"
    COMMITTED_USE = "committed_use", "Committed-use discount"
    SAVINGS_PLAN = "savings_plan", "Savings plan"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Commitment(models.Model):
    """Use that was paid for ahead, for a term: `units` nodes or GPUs, or `spend` an hour.

    Its price is `upfront` once and `hourly` for each hour of the term. A spend buys at `prices`, an
    amount for a node's hour by instance type, as text. It covers use of what its scope names; what
    is empty does not matter. `owner` carries what nobody uses. `external_id` is what bills and the
    provider call it. `platform` and `tenancy` are those of machines that it covers, empty where none
    was said; `account` is the account, project, or subscription (and resource group) that it is of, and
    `is_shared` whether it covers use of others too.
    """

    name = models.TextField(unique=True)
    kind = models.TextField(choices=CommitmentKindChoice.choices)
    provider = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    units = models.PositiveIntegerField(default=0)
    unit = models.TextField(choices=RateUnit.choices, default=RateUnit.NODE)
    spend = models.DecimalField(max_digits=24, decimal_places=9, default=0)
    prices = models.JSONField(default=dict)
    upfront = models.DecimalField(max_digits=24, decimal_places=9, default=0)
    hourly = models.DecimalField(max_digits=24, decimal_places=9, default=0)
    currency = models.CharField(max_length=3)
    period = DateTimeRangeField()
    owner = models.ForeignKey(
        "accounts.Team", on_delete=models.PROTECT, null=True, related_name="+"
    )
    external_id = models.TextField(blank=True, default="")
    platform = models.TextField(blank=True, default="", db_default="")
    tenancy = models.TextField(blank=True, default="", db_default="")
    account = models.TextField(blank=True, default="", db_default="")
    is_shared = models.BooleanField(default=True, db_default=True)
    source = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(units__gt=0, spend=0) | Q(units=0, spend__gt=0),
                name="commitment_is_of_units_or_spend",
            ),
            models.CheckConstraint(
                condition=Q(upfront__gte=0, hourly__gte=0), name="commitment_is_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(period__startswith__isnull=False, period__endswith__isnull=False),
                name="commitment_has_a_term",
            ),
            models.UniqueConstraint(
                fields=["provider", "external_id"],
                condition=~Q(external_id=""),
                name="commitment_known_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CloudQuota(models.Model):
    """The most of something that a provider lets an account have in a region, as last read."""

    provider = models.TextField()
    account = models.TextField()
    region = models.TextField(blank=True, default="")
    code = models.TextField()
    name = models.TextField()
    value = models.DecimalField(max_digits=24, decimal_places=6)
    unit = models.TextField(blank=True, default="")
    used = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    read_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "account", "region", "code"], name="quota_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.account} {self.region} {self.name}: {self.value}"
