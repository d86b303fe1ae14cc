"""Reports of training runs about themselves, and what those fold to by the hour."""

from django.contrib.postgres.fields import ArrayField, DateTimeRangeField
from django.db import models
from django.db.models import F, Q

from apps.workloads.models.jobs import Job
from apps.workloads.models.work import Run


class RunStatus(models.TextChoices):
    """How a run, or an attempt of it, ended; empty while nobody said."""

    UNTOLD = "", "not told"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"
    INTERRUPTED = "interrupted", "interrupted"


class RunAttempt(models.Model):
    """One process's part in a run, from its start to its end or to the last that was heard of it.

    `key` is the process's own; `job` null while no job of that cluster and id is known at the time.
    `model` says what MFU needs: active_parameters, adapter_parameters, layers, heads,
    head_dimension, sequence, precision. `dropped` counts the reports it could not keep. `host` is
    the machine's own name. `team` is on whose word: null, nobody's in particular, and then it is
    of the run of its job's team.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    key = models.TextField()
    rank = models.IntegerField(default=0)
    world_size = models.IntegerField(default=1)
    restarts = models.IntegerField(default=0)
    host = models.TextField(blank=True, default="", db_default="")
    scheduler = models.TextField(blank=True, default="")
    cluster_named = models.TextField(blank=True, default="")
    raw_id = models.TextField(blank=True, default="")
    workload_named = models.TextField(blank=True, default="")
    job = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="attempts")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    heard_at = models.DateTimeField()
    status = models.TextField(choices=RunStatus.choices, blank=True, default="")
    model = models.JSONField(default=dict)
    tags = models.JSONField(default=dict)
    first_step = models.BigIntegerField(null=True)
    last_step = models.BigIntegerField(null=True)
    dropped = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="run_attempt_once"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(ended_at__gte=F("began_at")),
                name="run_attempt_ends_after_it_begins",
            ),
        ]
        indexes = [
            models.Index(
                fields=["raw_id"],
                condition=Q(job__isnull=True) & ~Q(raw_id=""),
                name="run_attempt_without_job",
            )
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.key}"


class RunProgress(models.Model):
    """A few seconds of an attempt, summed up; by the report's sequence and its place in it."""

    pk = models.CompositePrimaryKey("attempt", "sequence", "part")
    attempt = models.ForeignKey(RunAttempt, on_delete=models.CASCADE, related_name="progress")
    sequence = models.BigIntegerField()
    part = models.SmallIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    steps = models.IntegerField()
    first_step = models.BigIntegerField(null=True)
    last_step = models.BigIntegerField(null=True)
    tokens = models.BigIntegerField()
    examples = models.BigIntegerField()
    flops = models.FloatField()
    productive_ms = models.BigIntegerField()
    phases_ms = models.JSONField(default=dict)
    step_times_ms = ArrayField(models.FloatField(), default=list)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gte=F("starts_at")), name="run_progress_is_forward"
            )
        ]
        indexes = [models.Index(fields=["attempt", "starts_at"], name="run_progress_by_time")]

    def __str__(self) -> str:
        return f"{self.attempt_id} {self.sequence}.{self.part}"


class RunEvent(models.Model):
    """A moment of an attempt: a checkpoint that passed, a restore."""

    pk = models.CompositePrimaryKey("attempt", "sequence", "part")
    attempt = models.ForeignKey(RunAttempt, on_delete=models.CASCADE, related_name="events")
    sequence = models.BigIntegerField()
    part = models.SmallIntegerField()
    kind = models.TextField(
        choices=[("good_checkpoint", "a checkpoint that passed"), ("restored", "restored")]
    )
    at = models.DateTimeField()
    step = models.BigIntegerField(null=True)
    metric = models.FloatField(null=True)

    class Meta:
        indexes = [models.Index(fields=["attempt", "at"], name="run_event_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at}"


class RunHour(models.Model):
    """An hour of a run on one job (or on none that is known), folded from what was told.

    `bucket_ms` are milliseconds by the clock of that job's time in the run, one for each
    apps.economics.run_time.Bucket in its order; they sum to that time. `minutes` says in which
    minutes each was, as apps.economics.minutes packs them; empty: not kept. `tokens`, `examples`, `flops`
    and `steps` are of steps that were not done again later; `redone_tokens` of those that were.
    """

    pk = models.CompositePrimaryKey("run", "job_key", "hour")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="hours")
    # The job's id; 0 where none is known.
    job_key = models.BigIntegerField()
    hour = models.DateTimeField()
    bucket_ms = ArrayField(models.BigIntegerField())
    minutes = models.BinaryField(default=b"", db_default=b"")
    tokens = models.BigIntegerField(default=0)
    redone_tokens = models.BigIntegerField(default=0)
    examples = models.BigIntegerField(default=0)
    flops = models.FloatField(default=0.0)
    steps = models.BigIntegerField(default=0)
    step_ms = models.BigIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["job_key", "hour"], name="run_hour_by_job")]

    def __str__(self) -> str:
        return f"{self.run_id}@{self.hour}"


class RunSummary(models.Model):
    """The summary that a run folded to as a whole; `told_at` later than `folded_at`: it is to be folded again.

    `changed_from` is the first moment about which something new is known since; null: all of it.
    `submitted_at` is of its first job; `status` of its last attempt, else of its last job.
    `first_good_at` is of the first checkpoint that passed. `diverged` is when the run was wrong by
    its own loss; the last without an end where it still is.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="summary"
    )
    told_at = models.DateTimeField()
    folded_at = models.DateTimeField(null=True)
    changed_from = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    status = models.TextField(choices=RunStatus.choices, blank=True, default="")
    attempts = models.IntegerField(default=0)
    jobs = models.IntegerField(default=0)
    gpus = models.IntegerField(null=True)
    model = models.JSONField(default=dict)
    tags = models.JSONField(default=dict)
    steps = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    redone_tokens = models.BigIntegerField(default=0)
    examples = models.BigIntegerField(default=0)
    flops = models.FloatField(default=0.0)
    good_checkpoints = models.IntegerField(default=0)
    first_good_at = models.DateTimeField(null=True)
    last_good_step = models.BigIntegerField(null=True)
    dropped = models.BigIntegerField(default=0)
    diverged = ArrayField(DateTimeRangeField(), default=list, db_default=[])

    class Meta:
        indexes = [
            models.Index(
                fields=["told_at"],
                condition=Q(folded_at__isnull=True) | Q(told_at__gt=F("folded_at")),
                name="run_summary_to_fold",
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.status}"
