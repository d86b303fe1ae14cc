"""How far the word of machines goes: what waits for a person, and what was decided."""

import pghistory
from django.db import models
from django.db.models import Q

from apps.fleet.models.inventory import Node
from apps.fleet.models.join_tokens import JoinToken


class TrustKind(models.TextChoices):
    """The kind of a machine's report that is not its to make, or that has more of it than it may."""

    NODES = "nodes_waiting", "Nodes wait to join"
    DEVICES = "devices_waiting", "More GPUs than the machine can have"
    SLICES = "slices_waiting", "More slices than its GPUs can have"
    HOLDERS = "holders_waiting", "More holders than a GPU can have"
    LABELS = "labels_waiting", "More labels than a job may have"
    NAMES = "names_waiting", "More new names than in a day"
    JOB = "job_of_others", "Reports a job of other nodes"
    SERVICE = "service_elsewhere", "Reports a service that does not run there"
    AGENTS = "agents_in_turn", "Agents replace one another"


class TrustDecision(models.TextChoices):
    """A person's decision; empty: nobody has decided."""

    APPROVED = "approved", "approved"
    REFUSED = "refused", "refused"


class TrustIncident(models.Model):
    """A matter of trust, raised once and counted until a person decides; of a node or a join token.

    Of a growth `ceiling` is how many are taken and `reported` the most that were reported.
    """

    kind = models.TextField(choices=TrustKind.choices)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, null=True, related_name="+")
    join_token = models.ForeignKey(JoinToken, on_delete=models.PROTECT, null=True, related_name="+")
    detail = models.TextField(blank=True, default="")
    ceiling = models.BigIntegerField(null=True)
    reported = models.BigIntegerField(null=True)
    count = models.BigIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    decision = models.TextField(choices=TrustDecision.choices, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    decided_by = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["node", "kind"],
                condition=Q(decided_at__isnull=True, node__isnull=False),
                name="trust_incident_of_node_once",
            ),
            models.UniqueConstraint(
                fields=["join_token", "kind"],
                condition=Q(decided_at__isnull=True, join_token__isnull=False),
                name="trust_incident_of_token_once",
            ),
            models.CheckConstraint(
                condition=Q(node__isnull=True) ^ Q(join_token__isnull=True),
                name="trust_incident_is_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.node_id or self.join_token_id}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class NodeCeiling(models.Model):
    """How many of a kind a person allows a node, in place of what its machine can have."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="ceilings")
    kind = models.TextField(choices=TrustKind.choices)
    most = models.PositiveIntegerField()
    approved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["node", "kind"], name="node_ceiling_once"),
        ]

    def __str__(self) -> str:
        return f"{self.node}: {self.most} {self.kind}"


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(condition=pghistory.AnyChange("decision")),
    pghistory.DeleteEvent(),
    exclude=["last_at", "tries", "version", "machine"],
)
class WaitingNode(models.Model):
    """A machine that came with a join token beyond its number: no node, and free, until approved."""

    join_token = models.ForeignKey(JoinToken, on_delete=models.PROTECT, related_name="waiting")
    name = models.TextField()
    machine = models.TextField(blank=True, default="")
    version = models.TextField(blank=True, default="")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    tries = models.BigIntegerField(default=1)
    decision = models.TextField(choices=TrustDecision.choices, blank=True, default="")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["join_token", "name"], name="waiting_node_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} waits"
