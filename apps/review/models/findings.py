"""Findings: changes that were found in a measure of a workload."""

from django.db import models
from django.db.models import F, Q


class Measure(models.TextChoices):
    """A measure that is watched, day by day."""

    COST_PER_1000_REQUESTS = "cost_per_1000_requests", "cost per 1,000 requests"
    TOKENS_PER_REQUEST = "tokens_per_request", "tokens per request"
    MFU = "mfu", "MFU"
    DATA_WAIT = "data_wait", "data wait"


class FindingKind(models.TextChoices):
    """A level that changed for good, or one day out of line."""

    STEP = "step", "step"
    SPIKE = "spike", "spike"


class Finding(models.Model):
    """A measure of a workload changed on a day, by how much, and what that is made of.

    `seen` counts the daily looks in a row that found it: a step is told from the second on.
    `effect_ratio` is after ÷ before − 1. `parts` are the exact parts of the difference by cause
    (price, commitments, volume, mix, efficiency), `causes` what changed about then, both as the page tells them.
    `impact_micros` is what it comes to in 30 days, null where there is no price in the measure. `strictness` is how
    strictly it was looked at when it was first seen.
    """

    kind = models.TextField(choices=FindingKind.choices)
    measure = models.TextField(choices=Measure.choices)
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    feature = models.TextField(blank=True, default="")
    changed_on = models.DateField()
    first_seen_on = models.DateField()
    last_seen_on = models.DateField()
    seen = models.IntegerField(default=1)
    before = models.FloatField()
    after = models.FloatField()
    effect_ratio = models.FloatField()
    impact_micros = models.BigIntegerField(null=True)
    parts = models.JSONField(default=list)
    causes = models.JSONField(default=list)
    strictness = models.FloatField(default=1.0, db_default=1.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "measure", "workload", "feature", "changed_on"],
                name="finding_once",
            ),
            models.CheckConstraint(
                condition=Q(last_seen_on__gte=F("first_seen_on")), name="finding_is_seen_forward"
            ),
        ]
        indexes = [
            models.Index(fields=["-changed_on"], name="finding_by_day"),
            models.Index(fields=["workload", "-changed_on"], name="finding_by_workload"),
        ]

    def __str__(self) -> str:
        return f"{self.measure} of {self.workload_id} on {self.changed_on}"
