"""Tokens that many machines trade, each for a token of its own node."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.fleet.models.inventory import Cluster, Pool


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    exclude=["digest"],
)
class JoinToken(models.Model):
    """A token that a DaemonSet or an image carries: good for the nodes of one cluster, until it expires.

    `node_names` are names or shell patterns. A node that is not on record goes into `pool`; with
    none it is refused. `scopes` are what each node's own token may do. Machines beyond `most_nodes`
    wait for a person.
    """

    name = models.TextField()
    digest = models.BinaryField(max_length=32, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="join_tokens")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, null=True, related_name="join_tokens")
    node_names = ArrayField(models.TextField())
    scopes = ArrayField(models.TextField())
    most_nodes = models.PositiveIntegerField(default=20, db_default=20)
    made_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")),
                name="join_token_expires_after_it_was_made",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} for {self.cluster}"
