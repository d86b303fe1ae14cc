"""Prices of calls to model APIs: the organisation's own contract prices, and who books them."""

import pghistory
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ApiPrice(models.Model):
    """A contract price for a vendor's model over a period: beats the public one.

    `model` may end in `*` for all names that begin so. `per_quantity` tokens (or requests) cost
    `amount`. With `discount_ratio` instead of an amount, the public price is reduced by that share.
    """

    vendor = models.TextField()
    model = models.TextField()
    tier = models.TextField(blank=True, default="")
    unit = models.TextField(
        choices=[
            ("input", "input tokens"),
            ("cached", "cached input tokens"),
            ("cache_write", "cache-write tokens"),
            ("output", "output tokens"),
            ("request", "requests"),
            ("all", "everything"),
        ]
    )
    amount = models.DecimalField(max_digits=24, decimal_places=9, null=True)
    per_quantity = models.BigIntegerField(default=1_000_000)
    currency = models.CharField(max_length=3, default="USD")
    discount_ratio = models.DecimalField(max_digits=9, decimal_places=8, null=True)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__isnull=False, discount_ratio__isnull=True, amount__gte=0)
                | Q(amount__isnull=True, discount_ratio__gte=0, discount_ratio__lte=1),
                name="api_price_is_an_amount_or_a_discount",
            ),
            models.CheckConstraint(
                condition=Q(per_quantity__gte=1), name="api_price_has_a_quantity"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model} {self.unit}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ApiVendor(models.Model):
    """The record of a vendor's calls that goes to the ledger: the calls themselves, or its bill.

    A vendor without a row is booked by its calls. One dollar is never booked by both.
    """

    vendor = models.TextField(unique=True)
    booked_by = models.TextField(choices=[("calls", "its calls"), ("bill", "its bill")])

    def __str__(self) -> str:
        return self.vendor
