"""How many GPUs a provider lets an organisation have at once."""

import pghistory
from django.db import models
from django.db.models import Q


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class GpuQuota(models.Model):
    """At most `most_gpus` GPUs of a model at once, of a provider in a region; empty ones are any.

    More take `lead_days` from the day on which `raised_by` asks; `requested_gpus` were asked for on `asked_on`.
    A job that would need more is denied where `is_hard`, else warned of.
    """

    provider = models.TextField()
    region = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    most_gpus = models.PositiveIntegerField()
    lead_days = models.PositiveIntegerField()
    raised_by = models.TextField(blank=True, default="")
    asked_gpus = models.PositiveIntegerField(null=True)
    asked_on = models.DateField(null=True)
    is_hard = models.BooleanField(default=False, db_default=False)
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "region", "gpu_model"], name="gpu_quota_once"
            ),
            models.CheckConstraint(
                condition=Q(asked_gpus__isnull=True, asked_on__isnull=True)
                | Q(asked_gpus__isnull=False, asked_on__isnull=False),
                name="gpu_quota_asked_on_a_day",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.region} {self.gpu_model}: {self.most_gpus}"
