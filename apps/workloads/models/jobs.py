"""Jobs, what they hold, and which runs they carry."""

from django.contrib.postgres.fields import ArrayField, DateTimeRangeField
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Collate, Lower

from apps.workloads.models.work import Run


class Job(models.Model):
    """One attempt by a scheduler, as its events fold together.

    `state` is the scheduler's word in capitals; a terminal one is final unless accounting says
    otherwise. `submitted_at` is null until something states it; `opened_at` is the submission, or
    the first moment known of. A job whose events turned out to be another's is kept empty, since
    lines may name it, and says which job it became.
    """

    cluster = models.ForeignKey("fleet.Cluster", on_delete=models.PROTECT, related_name="jobs")
    raw_id = models.TextField()
    submitted_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField()
    restart_count = models.IntegerField(default=0)
    array_id = models.TextField(blank=True, default="")
    het_id = models.TextField(blank=True, default="")
    name = models.TextField(blank=True, default="")
    user = models.TextField(blank=True, default="")
    account = models.TextField(blank=True, default="")
    partition = models.TextField(blank=True, default="")
    qos = models.TextField(blank=True, default="")
    namespace = models.TextField(blank=True, default="")
    labels = models.JSONField(default=dict)
    state = models.TextField(blank=True, default="")
    exit_code = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    suspended_seconds = models.BigIntegerField(default=0)
    cpus_numerator = models.BigIntegerField(null=True)
    cpus_denominator = models.BigIntegerField(default=1)
    source_rank = models.SmallIntegerField(default=9)
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "raw_id", "opened_at", "restart_count"],
                condition=Q(merged_into__isnull=True),
                name="job_once",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True)
                | Q(started_at__isnull=True)
                | Q(ended_at__gte=F("started_at")),
                name="job_ends_after_it_starts",
            ),
            models.CheckConstraint(
                condition=Q(cpus_denominator__gte=1), name="job_cpus_are_a_fraction"
            ),
        ]
        indexes = [
            models.Index(fields=["cluster", "raw_id"], name="job_by_raw_id"),
            # Beginnings of names, read in the order of the index until there are enough.
            models.Index(Collate("raw_id", "C"), F("id").desc(), name="job_by_id_begun"),
            models.Index(Collate(Lower("name"), "C"), F("id").desc(), name="job_by_name_begun"),
            models.Index(fields=["started_at"], name="job_by_start"),
            # Lists go down by id: of ten million jobs, one person's are read without the others'.
            models.Index(fields=["user", "id"], name="job_by_user"),
            models.Index(fields=["account", "id"], name="job_by_account"),
        ]

    def __str__(self) -> str:
        return f"{self.raw_id} {self.name}".strip()


class JobEvent(models.Model):
    """A source's statement about a job and when it happened; the job is the fold of these.

    `agent_node` is the node whose agent said it with its own token; null: anybody else.
    """

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="events")
    kind = models.SmallIntegerField(
        choices=[(1, "submit"), (2, "start"), (3, "update"), (4, "end")]
    )
    at = models.DateTimeField()
    source_rank = models.SmallIntegerField()
    agent_node = models.ForeignKey(
        "fleet.Node", on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    content = models.JSONField()
    digest = models.BinaryField(max_length=16)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "digest"], name="job_event_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} at {self.at}"


class Allocation(models.Model):
    """A job's holding on a node: a count of GPUs, or a share of one, from when to when.

    `node` is null while nobody knows a node of that name; it holds nothing until then. `gpus` is
    exact: `gpus_numerator / gpus_denominator`, and so is `cpus`. `part` tells apart several grants
    on one node. `device_uuids` null means not pinned; `gpus_unknown`, that nobody says how many GPUs.
    """

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="allocations")
    node_name = models.TextField()
    node = models.ForeignKey(
        "fleet.Node", on_delete=models.PROTECT, null=True, related_name="allocations"
    )
    part = models.SmallIntegerField(default=0)
    gpus_numerator = models.BigIntegerField()
    gpus_denominator = models.BigIntegerField(default=1)
    device_uuids = ArrayField(models.TextField(), null=True)
    cpus_numerator = models.BigIntegerField(null=True)
    cpus_denominator = models.BigIntegerField(default=1)
    divided_evenly = models.BooleanField(default=False)
    gpus_unknown = models.BooleanField(default=False, db_default=False)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "job", "node_name", "part", Lower("period"), name="allocation_once"
            ),
            models.CheckConstraint(
                condition=Q(
                    gpus_numerator__gte=0, gpus_denominator__gte=1, cpus_denominator__gte=1
                ),
                name="allocation_is_a_fraction",
            ),
            models.CheckConstraint(
                condition=Q(period__isempty=False, period__startswith__isnull=False),
                name="allocation_has_a_start",
            ),
        ]
        indexes = [
            models.Index(fields=["node_name"], name="allocation_by_node_name"),
            # An hour holds few of all the allocations that there ever were on a node.
            GistIndex(fields=["period"], name="allocation_by_period"),
        ]

    def __str__(self) -> str:
        return f"{self.job} on {self.node_name}"


class RunSpan(models.Model):
    """A run was carried by a job from when to when; many to many.

    `is_reported`: the run's own reports say so, and not what is stated of the job.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="spans")
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="run_spans")
    period = DateTimeRangeField()
    is_reported = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint("run", "job", Lower("period"), name="run_span_once")]

    def __str__(self) -> str:
        return f"{self.run} by {self.job}"
