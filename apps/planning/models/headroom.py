"""How much capacity a class of work is to have ready."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.planning.models.forecasts import SeriesDimension


class HeadroomDimension(models.TextChoices):
    """Dimensions of the demand that a policy is for, as forecasts name it."""

    POOL = str(SeriesDimension.POOL), "pool"
    GPU_MODEL = str(SeriesDimension.GPU_MODEL), "GPU model"
    WORKLOAD_CLASS = str(SeriesDimension.WORKLOAD_CLASS), "workload class"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class HeadroomPolicy(models.Model):
    """The cost of being short of a GPU against one that idles, and how long getting more takes.

    Costs are of a GPU-hour in the organisation's currency. `key` is the id of a pool, else the word
    itself; of a class `pool_ids` are the pools that it may run in, whose GPUs are there for it. Of
    jobs of `gpus_per_job` GPUs at most the share `most_waiting` is to wait; None: nothing is said.
    """

    name = models.TextField(unique=True)
    dimension = models.TextField(choices=HeadroomDimension.choices)
    key = models.TextField()
    pool_ids = ArrayField(models.BigIntegerField(), default=list)
    short_cost = models.DecimalField(max_digits=20, decimal_places=6)
    idle_cost = models.DecimalField(max_digits=20, decimal_places=6)
    lead_days = models.PositiveIntegerField()
    most_waiting = models.DecimalField(max_digits=7, decimal_places=6, null=True)
    gpus_per_job = models.PositiveIntegerField(default=1)
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(short_cost__gt=0, idle_cost__gt=0), name="headroom_policy_has_costs"
            ),
            models.CheckConstraint(
                condition=Q(lead_days__gte=1, gpus_per_job__gte=1),
                name="headroom_policy_has_a_lead",
            ),
            models.CheckConstraint(
                condition=Q(most_waiting__isnull=True) | Q(most_waiting__gt=0, most_waiting__lt=1),
                name="headroom_policy_waits_by_a_share",
            ),
        ]

    def __str__(self) -> str:
        return self.name
