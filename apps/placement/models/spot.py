"""Spot availability as seen by who looks whether it could be had, and plans that workers solved for jobs."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class SpotSeries(models.Model):
    """How many nodes could be had in a zone, every `tick_seconds`; null in `counts` where nobody looked.

    `starts_at` is when the first look was; null where nobody said, and then no hour of the day is known.
    """

    name = models.TextField(unique=True)
    provider = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    zone = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    starts_at = models.DateTimeField(null=True)
    tick_seconds = models.FloatField()
    counts = ArrayField(models.FloatField(null=True))
    source = models.TextField()
    imported_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(tick_seconds__gt=0), name="spot_series_has_ticks"),
            models.CheckConstraint(condition=~Q(counts=[]), name="spot_series_is_not_empty"),
        ]

    def __str__(self) -> str:
        return self.name


class KeptSpotPlan(models.Model):
    """A plan for one running job, asked for by its first question and solved by a worker; null until then.

    `modes` are those of a SpotPlan, [steps × 2 × offer states × slack], deflated; `thin` says why there is
    none. A question with other times, prices or another series begins it anew.
    """

    job = models.OneToOneField("workloads.Job", on_delete=models.CASCADE, related_name="+")
    series = models.ForeignKey(SpotSeries, on_delete=models.CASCADE, related_name="+")
    work_hours = models.FloatField()
    deadline_hours = models.FloatField()
    restart_hours = models.FloatField()
    checkpoint_hours = models.FloatField()
    on_demand = models.FloatField()
    spot = models.FloatField()
    asked_at = models.DateTimeField()
    solved_at = models.DateTimeField(null=True)
    step_hours = models.FloatField(null=True)
    shape = ArrayField(models.IntegerField(), size=4, default=list)
    modes = models.BinaryField(null=True)
    thin = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(modes=None) | Q(solved_at__isnull=False, step_hours__gt=0),
                name="kept_spot_plan_is_solved",
            ),
        ]
        indexes = [
            models.Index(
                fields=["asked_at"], condition=Q(solved_at=None), name="spot_plan_to_solve"
            )
        ]

    def __str__(self) -> str:
        return f"plan of {self.job}"
