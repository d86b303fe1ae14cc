"""Costs shared by everyone, and by whose weights."""

import pghistory
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q


class ShareMethod(models.TextChoices):
    """By what an hour's part of a shared cost goes to the lines of the hour."""

    BY_COST = "by_cost", "By direct cost"
    BY_UNIT_TIME = "by_unit_time", "By GPU time"
    EVEN = "even", "Evenly"
    BY_ACTIVE_TIME = "by_active_time", "By active GPU time"
    BY_ENERGY = "by_energy", "By energy"
    WEIGHTED = "weighted", "By stated weights of teams"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class SharedCost(models.Model):
    """A monthly amount that every hour's lines carry a part of (support, storage, control nodes)."""

    name = models.TextField()
    amount = models.DecimalField(max_digits=24, decimal_places=9)
    currency = models.CharField(max_length=3)
    method = models.TextField(choices=ShareMethod.choices)
    period = DateTimeRangeField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "period"], name="shared_cost_once")]

    def __str__(self) -> str:
        return self.name


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class SharedWeight(models.Model):
    """The weight of a team in a shared cost by stated weights; a team without one carries nothing."""

    cost = models.ForeignKey(SharedCost, on_delete=models.CASCADE, related_name="weights")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    weight = models.DecimalField(max_digits=18, decimal_places=6)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cost", "team"], name="shared_weight_once"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="shared_weight_is_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.cost_id}: team {self.team_id} weighs {self.weight}"
