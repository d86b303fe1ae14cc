"""Workloads and the runs of them."""

from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models.functions import Lower


class WorkloadKind(models.TextChoices):
    """The classes of work; each has its own economics."""

    TRAINING = "training"
    SERVING = "serving"
    BATCH = "batch"
    NOTEBOOK = "notebook"
    OTHER = "other"


class Workload(models.Model):
    """The stable thing with an owner: a training programme, a service, a notebook fleet."""

    name = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="workloads")
    kind = models.TextField(choices=WorkloadKind.choices, default=WorkloadKind.OTHER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="workload_once")]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One logical training run, whatever jobs carried it."""

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, null=True, related_name="runs")
    key = models.TextField(unique=True)

    class Meta:
        indexes = [
            models.Index(OpClass(Lower("key"), "text_pattern_ops"), name="run_by_key_begun"),
        ]

    def __str__(self) -> str:
        return self.key
