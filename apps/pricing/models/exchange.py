"""Rates of exchange: what a month's money of one currency is worth in another."""

import pghistory
from django.db import models
from django.db.models import Q


class ExchangeKind(models.TextChoices):
    """A rate that somebody stated beats one that was fetched."""

    STATED = "stated"
    FETCHED = "fetched"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ExchangeRate(models.Model):
    """The worth of one unit of a currency in another in a month (its first day)."""

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
