"""What pages and reports read, and how far the clock has marked hours."""

from django.db import models
from django.db.models import Q

from apps.ledger.models.charges import ChargeKind, Status


class LedgerDay(models.Model):
    """Lines of one local day summed as pages and reports read them."""

    day = models.DateField()
    posting_month = models.DateField()
    status = models.TextField(choices=Status.choices)
    kind = models.TextField(choices=ChargeKind.choices)
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    unit = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    purchase_option = models.TextField(blank=True, default="")
    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    tags = models.JSONField(default=dict)
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    held_milliseconds = models.BigIntegerField()
    observed_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["day", "pool"], name="ledger_day_by_day_and_pool"),
            models.Index(fields=["team", "day"], name="ledger_day_by_team"),
            models.Index(
                fields=["day", "pool"],
                condition=Q(effective_micros=None),
                name="ledger_day_unpriced",
            ),
            models.Index(fields=["day"], condition=~Q(tags={}), name="ledger_day_tagged"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.team_id}"


class LedgerTeamDay(models.Model):
    """LedgerDay summed over workloads, pools and tags: for every question that names none of them.

    No row mixes known amounts with unknown ones on any basis, nor what has device time with what
    has none, so that a sum by any of its columns is what LedgerDay gives.
    """

    day = models.DateField()
    posting_month = models.DateField()
    status = models.TextField(choices=Status.choices)
    kind = models.TextField(choices=ChargeKind.choices)
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    unit = models.TextField(blank=True, default="")
    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    held_milliseconds = models.BigIntegerField()
    observed_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["day"], name="ledger_team_day_by_day"),
            models.Index(fields=["team", "day"], name="ledger_team_day_by_team"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.team_id}"


class LedgerJobDay(models.Model):
    """Lines of one job on one local day, by owner, state and flags: for drill-down, read by key."""

    day = models.DateField()
    posting_month = models.DateField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    job = models.ForeignKey("workloads.Job", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["job", "day"], name="ledger_job_day_by_job"),
            models.Index(fields=["day", "pool"], name="ledger_job_day_by_day"),
            models.Index(fields=["workload", "day"], name="ledger_job_day_by_workload"),
            models.Index(
                fields=["team", "day"],
                condition=Q(workload=None),
                name="ledger_job_day_of_no_workload",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} job {self.job_id}"


class MeterDay(models.Model):
    """What the meters of GPUs told while a job held them on a local day, by owner; no money.

    Columns are those of apps.economics.gpu_meters.GpuMeters; null is what no meter told. Of a job with
    several owners on the day each has the part of the meters that it has of the held time.
    """

    day = models.DateField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, related_name="+")
    job = models.ForeignKey("workloads.Job", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    gpu_milliseconds = models.BigIntegerField()
    observed_milliseconds = models.BigIntegerField()
    active_milliseconds = models.BigIntegerField()
    sm_seconds = models.FloatField(null=True)
    sm_observed_seconds = models.FloatField(null=True)
    tensor_seconds = models.FloatField(null=True)
    tensor_observed_seconds = models.FloatField(null=True)
    dram_seconds = models.FloatField(null=True)
    dram_observed_seconds = models.FloatField(null=True)
    nvlink_bytes = models.FloatField(null=True)
    nvlink_observed_seconds = models.FloatField(null=True)
    pcie_bytes = models.FloatField(null=True)
    pcie_observed_seconds = models.FloatField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["day", "pool"], name="ledger_meter_day_by_day"),
            models.Index(fields=["team", "day"], name="ledger_meter_day_by_team"),
            models.Index(fields=["job", "day"], name="ledger_meter_day_by_job"),
        ]

    def __str__(self) -> str:
        return f"{self.day} job {self.job_id}"


class ClockSweep(models.Model):
    """How far the clock sweep has marked hours; after an outage it goes on from here."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    begun_through = models.DateTimeField()
    final_through = models.DateTimeField()
    refreshed_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_clock_sweep")]

    def __str__(self) -> str:
        return f"{self.begun_through}"
