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
    """One logical training run, whatever jobs carried it.

    `key` is its name, which is its team's own: of one name there is one run of each team, and one
    of nobody in particular. A workload's run is of the workload's team.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, null=True, related_name="runs")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    key = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key", "team"], nulls_distinct=False, name="run_once_a_team"
            ),
        ]
        indexes = [
            models.Index(OpClass(Lower("key"), "text_pattern_ops"), name="run_by_key_begun"),
        ]

    def __str__(self) -> str:
        return self.key
