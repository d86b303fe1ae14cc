"""How hard a fleet or a team is meant to use what it holds."""

import pghistory
from django.db import models
from django.db.models import Q


class TargetScope(models.TextChoices):
    """Scopes of targets: whose held GPU time is meant."""

    CLUSTER = "cluster", "cluster"
    POOL = "pool", "pool"
    TEAM = "team", "team"


class TargetMeasure(models.TextChoices):
    """Measures of targets: which share of the GPU time that jobs held."""

    ACTIVE = "active", "active"
    SM_ACTIVE = "sm_active", "SM active"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ActivityTarget(models.Model):
    """The share of held GPU time that is to be active; `key` is the id of a cluster, pool or team."""

    scope = models.TextField(choices=TargetScope.choices)
    key = models.BigIntegerField()
    measure = models.TextField(choices=TargetMeasure.choices)
    target = models.DecimalField(max_digits=7, decimal_places=6)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "key", "measure"], name="activity_target_once"
            ),
            models.CheckConstraint(
                condition=Q(target__gt=0, target__lte=1), name="activity_target_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key} {self.measure}: {self.target}"
