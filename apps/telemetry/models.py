"""What agents sent and what became of it; windows and usage hours live in partitioned tables."""

from django.db import models


class HolderKey(models.Model):
    """The agent's text for whose process it saw, interned; id 0 is '' (nobody, or the device)."""

    id = models.AutoField(primary_key=True)
    key = models.TextField(unique=True)

    def __str__(self) -> str:
        return self.key


class Batch(models.Model):
    """A batch was stored: the row that makes sending it again harmless."""

    pk = models.CompositePrimaryKey("agent_id", "boot", "sequence")
    agent_id = models.IntegerField()
    boot = models.BigIntegerField()
    sequence = models.BigIntegerField()
    received_at = models.DateTimeField(db_index=True)
    accepted = models.IntegerField()
    remarks = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"{self.agent_id}/{self.boot}/{self.sequence}"


class Rejection(models.Model):
    """Windows of an agent that were refused, or fields that were dropped, counted by day."""

    agent = models.ForeignKey("fleet.Agent", on_delete=models.PROTECT, related_name="rejections")
    day = models.DateField()
    field = models.TextField()
    reason = models.TextField()
    kept = models.BooleanField()
    count = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "day", "field", "reason", "kept"], name="rejection_counted_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.field}: {self.reason} ({self.count})"


class Window(models.Model):
    """One window as it arrived. No foreign key and no primary key: see the second migration."""

    pk = models.CompositePrimaryKey("device_id", "starts_at", "holder_id")
    starts_at = models.DateTimeField()
    device_id = models.IntegerField()
    holder_id = models.IntegerField()
    agent_id = models.IntegerField()
    boot = models.BigIntegerField()
    length_ms = models.IntegerField()
    source = models.SmallIntegerField()
    flags = models.SmallIntegerField()
    observed_seconds = models.FloatField()
    worked_seconds = models.FloatField(null=True)
    sm_ratio = models.FloatField(null=True)
    tensor_ratio = models.FloatField(null=True)
    dram_ratio = models.FloatField(null=True)
    energy_joules = models.FloatField(null=True)
    memory_used_bytes = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.device_id}@{self.starts_at}"


class UsageHour(models.Model):
    """What a device did in an hour, per holder; everything later reads this.

    `observed` and `worked` are 60 bytes, one per minute, in quarter-seconds (0 to 240). A row with
    holder 0 is the device's own reading; without one the only row is both.
    """

    pk = models.CompositePrimaryKey("hour", "device", "holder")
    hour = models.DateTimeField()
    device = models.ForeignKey("fleet.Device", on_delete=models.DO_NOTHING, related_name="+")
    holder = models.ForeignKey(HolderKey, on_delete=models.DO_NOTHING, related_name="+")
    observed = models.BinaryField()
    worked = models.BinaryField()
    sm_seconds = models.FloatField(null=True)
    sm_observed_seconds = models.FloatField(null=True)
    tensor_seconds = models.FloatField(null=True)
    tensor_observed_seconds = models.FloatField(null=True)
    dram_seconds = models.FloatField(null=True)
    dram_observed_seconds = models.FloatField(null=True)
    energy_joules = models.FloatField(null=True)
    source = models.SmallIntegerField()

    def __str__(self) -> str:
        return f"{self.device_id}@{self.hour}"
