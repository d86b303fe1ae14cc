"""Tables of what agents sent and what became of it; windows and usage hours live in partitioned tables."""

from django.db import models

from apps.personal.fields import CODE, DOCUMENT, FIGURES, MACHINE, TEXT, Declarations


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


class WindowRejection(models.Model):
    """Windows of an agent that were refused, or fields that were dropped, counted by day."""

    agent = models.ForeignKey("fleet.Agent", on_delete=models.PROTECT, related_name="rejections")
    day = models.DateField()
    field = models.TextField()
    reason = models.TextField()
    kept = models.BooleanField()
    count = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "telemetry_rejection"
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "day", "field", "reason", "kept"], name="rejection_counted_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.field}: {self.reason} ({self.count})"


class TelemetryWindow(models.Model):
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

    class Meta:
        db_table = "telemetry_window"

    def __str__(self) -> str:
        return f"{self.device_id}@{self.starts_at}"


class UsageHour(models.Model):
    """The usage of a device in an hour, per holder; everything later reads this.

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


class NodeBusyHour(models.Model):
    """The work of the GPUs of a node together in an hour, in quarter-seconds of a GPU.

    Derived from usage hours by the roll-up, for pictures of a whole fleet; it moves no money.
    """

    pk = models.CompositePrimaryKey("hour", "node")
    hour = models.DateTimeField()
    node = models.ForeignKey("fleet.Node", on_delete=models.DO_NOTHING, related_name="+")
    observed_quarters = models.IntegerField()
    worked_quarters = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.node_id}@{self.hour}"


class Report(models.Model):
    """A report was stored, and what was answered: sending it again is harmless."""

    pk = models.CompositePrimaryKey("agent_id", "boot", "sequence")
    agent_id = models.IntegerField()
    boot = models.BigIntegerField()
    sequence = models.BigIntegerField()
    received_at = models.DateTimeField(db_index=True)
    answer = models.JSONField()

    def __str__(self) -> str:
        return f"{self.agent_id}/{self.boot}/{self.sequence}"


class DeviceHour(models.Model):
    """The evidence that explains a device's hour, by source; it moves no money.

    A mean is kept as its sum over seconds beside those seconds; NULL is what was never told.
    """

    pk = models.CompositePrimaryKey("hour", "device", "source")
    hour = models.DateTimeField()
    device = models.ForeignKey("fleet.Device", on_delete=models.DO_NOTHING, related_name="+")
    source = models.SmallIntegerField()
    observed_seconds = models.FloatField()
    temperature_sum = models.FloatField(null=True)
    temperature_seconds = models.FloatField(null=True)
    temperature_peak = models.FloatField(null=True)
    clock_sum = models.FloatField(null=True)
    clock_seconds = models.FloatField(null=True)
    graphics_sum = models.FloatField(null=True)
    graphics_seconds = models.FloatField(null=True)
    power_capped_seconds = models.FloatField(null=True)
    thermal_seconds = models.FloatField(null=True)
    hardware_slowed_seconds = models.FloatField(null=True)
    pcie_bytes = models.FloatField(null=True)
    nvlink_bytes = models.FloatField(null=True)
    ecc_corrected = models.FloatField(null=True)
    ecc_uncorrected = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.device_id}@{self.hour}"


class NodeReportHour(models.Model):
    """The work of the rest of a node in an hour, by source; a peak is the most per second of a window."""

    pk = models.CompositePrimaryKey("hour", "node", "source")
    hour = models.DateTimeField()
    node = models.ForeignKey("fleet.Node", on_delete=models.DO_NOTHING, related_name="+")
    source = models.SmallIntegerField()
    observed_seconds = models.FloatField()
    fabric_bytes = models.FloatField(null=True)
    fabric_peak = models.FloatField(null=True)
    fabric_errors = models.FloatField(null=True)
    network_bytes = models.FloatField(null=True)
    network_peak = models.FloatField(null=True)
    network_errors = models.FloatField(null=True)
    disk_read_bytes = models.FloatField(null=True)
    disk_written_bytes = models.FloatField(null=True)
    disk_peak = models.FloatField(null=True)
    cpu_stalled_seconds = models.FloatField(null=True)
    io_stalled_seconds = models.FloatField(null=True)
    memory_stalled_seconds = models.FloatField(null=True)

    class Meta:
        db_table = "telemetry_nodehour"

    def __str__(self) -> str:
        return f"{self.node_id}@{self.hour}"


class Incident(models.Model):
    """Something that happened to a node or one of its devices; while it lasts `ended_at` is NULL.

    `uuid` is the device as the agent named it, also where no such device is on record.
    """

    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, related_name="+")
    device = models.ForeignKey(
        "fleet.Device", on_delete=models.PROTECT, null=True, related_name="+"
    )
    uuid = models.TextField(blank=True, default="")
    kind = models.TextField()
    code = models.BigIntegerField(null=True)
    detail = models.TextField(blank=True, default="")
    started_at = models.DateTimeField()
    last_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    count = models.IntegerField(default=1)

    class Meta:
        indexes = [
            models.Index(fields=["node", "started_at"], name="incident_by_node"),
            models.Index(fields=["started_at", "id"], name="incident_by_start"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.node_id}"


PERSONAL_FIELDS: Declarations = {
    "batch": {"remarks": DOCUMENT},
    "holderkey": {"key": TEXT},
    "incident": {"uuid": MACHINE, "kind": CODE, "detail": TEXT},
    "report": {"answer": DOCUMENT},
    "usagehour": {"observed": FIGURES, "worked": FIGURES},
    "windowrejection": {"field": CODE, "reason": TEXT},
}
