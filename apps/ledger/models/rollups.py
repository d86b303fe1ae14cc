"""Roll-ups that pages and reports read, and how far the clock has marked hours."""

from django.db import models
from django.db.models import Q

from apps.ledger.models.sums import CostSums, PostedSums


class LedgerSums(PostedSums):
    """The columns that roll-ups of all lines have in common: what tells sums apart, and the sums.

    No row mixes known amounts with unknown ones on any basis, nor what has device time with what
    has none, so that a sum by any of its columns is what the lines give.
    """

    unit = models.TextField(blank=True, default="")
    held_milliseconds = models.BigIntegerField()
    observed_milliseconds = models.BigIntegerField()

    class Meta:
        abstract = True


class LedgerDay(LedgerSums):
    """Lines of one local day summed as pages and reports read them; `is_of_job`: a job held them."""

    day = models.DateField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    gpu_model = models.TextField(blank=True, default="")
    purchase_option = models.TextField(blank=True, default="")
    tags = models.JSONField(default=dict)
    is_of_job = models.BooleanField(db_default=False)

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


class LedgerTeamDay(LedgerSums):
    """LedgerDay summed over workloads, pools and tags: for every question that names none of them."""

    day = models.DateField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["day"], name="ledger_team_day_by_day"),
            models.Index(fields=["team", "day"], name="ledger_team_day_by_team"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.team_id}"


class LedgerPoolDay(LedgerSums):
    """LedgerDay summed over workloads and tags: for what pools tell, day by day."""

    day = models.DateField()
    team_id = models.BigIntegerField()
    pool_id = models.BigIntegerField(null=True)
    gpu_model = models.TextField(blank=True, default="")
    purchase_option = models.TextField(blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["day", "pool_id"], name="ledger_pool_day_by_day")]

    def __str__(self) -> str:
        return f"{self.day} pool {self.pool_id}"


class LedgerCells(LedgerSums):
    """The cells that LedgerDay tells apart, but its day and tags. Keys are plain numbers: the lines hold them."""

    team_id = models.BigIntegerField()
    workload_id = models.BigIntegerField(null=True)
    pool_id = models.BigIntegerField(null=True)
    gpu_model = models.TextField(blank=True, default="")
    purchase_option = models.TextField(blank=True, default="")

    class Meta:
        abstract = True


class LedgerMonth(LedgerCells):
    """LedgerDay summed over the days of a local `month`: for questions about whole months.

    What a later month posted of these days stands apart, in rows of that `posting_month`.
    """

    month = models.DateField()
    tags = models.JSONField(default=dict)
    is_of_job = models.BooleanField(db_default=False)

    class Meta:
        indexes = [
            models.Index(fields=["month", "pool_id"], name="ledger_month_by_month"),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.team_id}"


class LedgerUserDay(LedgerCells):
    """Lines of one local day by whose jobs they are of, as schedulers name people.

    `is_of_job` false: of no job. A job's own `user_name` is empty where nothing reported one.
    """

    day = models.DateField()
    is_of_job = models.BooleanField()
    user_name = models.TextField(blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["day", "pool_id"], name="ledger_user_day_by_day"),
            models.Index(fields=["user_name", "day"], name="ledger_user_day_by_user"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.user_name}"


class LedgerNodeDay(LedgerCells):
    """Lines of one local day by the node that was charged; null: charges of no node."""

    day = models.DateField()
    node_id = models.BigIntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["day", "pool_id"], name="ledger_node_day_by_day"),
            models.Index(fields=["node_id", "day"], name="ledger_node_day_by_node"),
        ]

    def __str__(self) -> str:
        return f"{self.day} node {self.node_id}"


class LedgerJobDay(CostSums):
    """Lines of one job on one local day, by owner, state and flags: for drill-down, read by key."""

    day = models.DateField()
    posting_month = models.DateField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    job = models.ForeignKey("workloads.Job", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )

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
    """The readings of GPUs' meters while a job held them on a local day, by owner; no money.

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
