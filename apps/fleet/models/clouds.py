"""Cloud accounts to read from, how reading them goes, and the machines that run there."""

import pghistory
from django.db import models


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class CloudAccount(models.Model):
    """An account (AWS) or project (GCP) to read from, and what of it; keys are never kept here.

    `provider` is the key of a cloud in `apps.providers`: a new cloud needs no migration. `regions` and `syncs` are lists of words. `export_uri` is where AWS delivers its bills,
    `s3://bucket/prefix/name`, the bucket being in `export_region`.
    """

    name = models.TextField(unique=True)
    provider = models.TextField()
    account = models.TextField()
    regions = models.JSONField(default=list)
    syncs = models.JSONField(default=list)
    role_arn = models.TextField(blank=True, default="")
    export_uri = models.TextField(blank=True, default="")
    export_region = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class CloudSync(models.Model):
    """One thing that is read of an account: how the last time went, and where to go on.

    `turn` counts the times it was begun: whoever works on an earlier one may no longer write.
    `cursor` is kept after each page; what is in it is the reader's own affair. `counts` are of the
    last time, `error` says in words why it broke off and `fault` by a code (CloudFault), `note` what
    was odd about it. Who asked for it at once did so at `wanted_at`.
    """

    account = models.ForeignKey(CloudAccount, on_delete=models.PROTECT, related_name="states")
    what = models.TextField()
    state = models.TextField(
        choices=[("running", "running"), ("done", "done"), ("failed", "broken off")]
    )
    turn = models.PositiveIntegerField(default=1)
    started_at = models.DateTimeField()
    alive_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    succeeded_at = models.DateTimeField(null=True)
    cursor = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    error = models.TextField(blank=True, default="")
    fault = models.TextField(blank=True, default="")
    note = models.TextField(blank=True, default="")
    wanted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "what"], name="cloud_sync_once")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.what}: {self.state}"


class CloudMachine(models.Model):
    """A machine with accelerators that ran in an account when it was last read.

    `names` are all that a node of it may be called. What is not seen any more goes.
    """

    account = models.ForeignKey(CloudAccount, on_delete=models.PROTECT, related_name="machines")
    external_id = models.TextField()
    name = models.TextField()
    names = models.JSONField(default=list)
    region = models.TextField()
    zone = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    purchase_option = models.TextField(blank=True, default="")
    cpus = models.PositiveIntegerField(null=True)
    launched_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "external_id"], name="cloud_machine_once")
        ]

    def __str__(self) -> str:
        return self.name
