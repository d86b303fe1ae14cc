"""The rules that say whose a job is, and which nodes that jobs name are nobody's here."""

import pghistory
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models

from apps.workloads.models.work import Workload


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class OwnershipRule(models.Model):
    """Jobs that match belong to this team and workload; the lowest priority number wins.

    An empty text matches anything; `label` is `key=value`; `name` may hold `*` for any letters.
    """

    priority = models.IntegerField()
    cluster = models.ForeignKey(
        "fleet.Cluster", on_delete=models.PROTECT, null=True, related_name="ownership_rules"
    )
    account = models.TextField(blank=True, default="")
    partition = models.TextField(blank=True, default="")
    namespace = models.TextField(blank=True, default="")
    user = models.TextField(blank=True, default="")
    label = models.TextField(blank=True, default="")
    name = models.TextField(blank=True, default="")
    team = models.ForeignKey(
        "accounts.Team", on_delete=models.PROTECT, related_name="ownership_rules"
    )
    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, null=True, related_name="ownership_rules"
    )
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "priority",
                    "cluster",
                    "account",
                    "partition",
                    "namespace",
                    "user",
                    "label",
                    "name",
                    "period",
                ],
                name="ownership_rule_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.priority}: {self.team}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ExcludedNodeName(models.Model):
    """A name on which jobs hold something, of which somebody said that its node is not ours, and why.

    What its jobs hold there stays without a node. Taking it back deletes it: the trail keeps both.
    """

    cluster = models.ForeignKey("fleet.Cluster", on_delete=models.PROTECT, related_name="+")
    name = models.TextField()
    reason = models.TextField()
    decided_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="excluded_node_name_once"),
            models.CheckConstraint(
                condition=~models.Q(reason=""), name="excluded_node_name_says_why"
            ),
        ]

    def __str__(self) -> str:
        return self.name
