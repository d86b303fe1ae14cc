"""Costs of runs: parts of lines by where the time went, and each run's own figures."""

from django.db import models
from django.db.models import F, Q

from apps.ledger.models.sums import PostedSums


class RunDay(PostedSums):
    """The part of a local day's lines that a run carried, by where its time went.

    `bucket` is an apps.economics.run_time.Bucket. The rows of a job and day, over all its runs, sum
    to the job's lines for the time in which it carried one: no second of a GPU counts twice.
    `is_unasked`: of an hour in which its service was counted, and nobody asked it.
    """

    day = models.DateField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey("workloads.Run", on_delete=models.PROTECT, related_name="+")
    job = models.ForeignKey("workloads.Job", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    bucket = models.SmallIntegerField()
    is_unasked = models.BooleanField(default=False, db_default=False)
    marginal_micros = models.BigIntegerField(null=True)
    energy_joules = models.FloatField(null=True)
    # Of the GPUs' time in which their tensor cores were watched, and were at work.
    tensor_seconds = models.FloatField(null=True)
    tensor_observed_seconds = models.FloatField(null=True)

    class Meta:
        db_table = "ledger_runday"
        indexes = [
            models.Index(fields=["run", "day"], name="run_day_by_run"),
            models.Index(fields=["day", "pool"], name="run_day_by_day"),
            models.Index(fields=["workload", "day"], name="run_day_by_workload"),
            models.Index(fields=["day"], condition=Q(bucket__in=[0, 1, 11]), name="run_day_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.day} run {self.run_id}"


class RunFigures(models.Model):
    """A run's own figures, for lists of many: null where unknown. Amounts are effective ones.

    `bucket_micros` and `bucket_unit_ms` are by apps.economics.run_time.Bucket, in its order.
    `mfu_doubt` says why an MFU is not to be believed or not known; `tensor_active_ratio` stands for
    it where only that is known. `scaling_ratio` is against the smallest runs of its workload.
    """

    run = models.OneToOneField(
        "workloads.Run", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    key = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    status = models.TextField(blank=True, default="")
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    wall_seconds = models.FloatField(null=True)
    gpus = models.IntegerField(null=True)
    gpu_model = models.TextField(blank=True, default="")
    jobs = models.IntegerField(default=0)
    attempts = models.IntegerField(default=0)
    effective_micros = models.BigIntegerField(null=True)
    unpriced_milliseconds = models.BigIntegerField(default=0)
    unit_milliseconds = models.BigIntegerField(default=0)
    energy_joules = models.FloatField(null=True)
    observed_ratio = models.FloatField(null=True)
    told_ratio = models.FloatField(null=True)
    goodput_ratio = models.FloatField(null=True)
    tokens = models.BigIntegerField(null=True)
    examples = models.BigIntegerField(null=True)
    tokens_per_second = models.FloatField(null=True)
    mfu_ratio = models.FloatField(null=True)
    mfu_doubt = models.TextField(blank=True, default="")
    tensor_active_ratio = models.FloatField(null=True)
    scaling_ratio = models.FloatField(null=True)
    first_good_seconds = models.FloatField(null=True)
    good_checkpoints = models.IntegerField(default=0)
    checkpoint_micros = models.BigIntegerField(null=True)
    million_tokens_micros = models.BigIntegerField(null=True)
    data_wait_ratio = models.FloatField(null=True)
    bucket_micros = models.JSONField(default=list)
    bucket_unit_ms = models.JSONField(default=list)
    # Of the summary that these figures are by.
    folded_at = models.DateTimeField(null=True)
    computed_at = models.DateTimeField()

    class Meta:
        db_table = "ledger_runfigures"
        indexes = [
            models.Index(F("began_at").desc(nulls_last=True), "run_id", name="run_figures_by_time"),
            models.Index(fields=["workload", "began_at"], name="run_figures_by_workload"),
            models.Index(fields=["team"], name="run_figures_by_team"),
        ]

    def __str__(self) -> str:
        return self.key
