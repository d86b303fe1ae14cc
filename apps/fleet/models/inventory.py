"""Clusters, pools, nodes, devices and agents with their lifetimes."""

import pghistory
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField
from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Lower

from apps.economics.purchase import PurchaseOption

RECLAIMED = "reclaimed"
"""Why a node ended that its cloud took back, as its agent had notice."""


def no_overlap(name: str, key: models.F | Func, *others: models.F) -> ExclusionConstraint:
    """No two rows of one `key` may overlap in `period`; works without btree_gist.

    `others` are further integer keys that must also be equal for two rows to conflict.
    """
    keys = [(_as_range(other), "&&") for other in (key, *others)]
    return ExclusionConstraint(name=name, expressions=[*keys, ("period", "&&")])


def _as_range(key: models.F | Func) -> Func:
    return Func(key, key, Value("[]"), function="int8range")


class Cluster(models.Model):
    """One scheduler's domain; names of nodes and jobs are unique in it."""

    name = models.TextField(unique=True)
    kind = models.TextField(
        choices=[("slurm", "Slurm"), ("kubernetes", "Kubernetes"), ("other", "Other")],
        default="other",
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class ClusterToken(models.Model):
    """A job token writes only its cluster."""

    token = models.OneToOneField("accounts.AccessToken", on_delete=models.PROTECT, primary_key=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="tokens")

    def __str__(self) -> str:
        return f"{self.token} for {self.cluster}"


class CapacityUnit(models.TextChoices):
    """The unit that a pool is measured in; never mixed in one pool."""

    GPU = "gpu"
    CORE = "core"


class IdleSharing(models.TextChoices):
    """The treatment of a pool's idle cost in the loaded view."""

    KEEP = "keep"
    BY_HELD_TIME = "by_held_time"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Pool(models.Model):
    """Nodes of one model, one price and one purchase option."""

    name = models.TextField(unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, null=True, related_name="pools")
    provider = models.TextField()
    region = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    gpu_model = models.TextField(blank=True, default="")
    gpus_per_node = models.PositiveIntegerField(default=0)
    unit = models.TextField(choices=CapacityUnit.choices, default=CapacityUnit.GPU)
    purchase_option = models.TextField(choices=[(option, option) for option in PurchaseOption])
    owner_team = models.ForeignKey(
        "accounts.Team", on_delete=models.PROTECT, null=True, related_name="pools"
    )
    idle_sharing = models.TextField(choices=IdleSharing.choices, default=IdleSharing.KEEP)
    correction_note = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class SharePolicy(models.Model):
    """The policy of what carries the cost of a pool's nodes, from when; the version is on every line it made.

    `rule` says how a slice of a GPU counts. `core_weight` is what one of the `cores_per_node`
    counts against one GPU; 0, as at first: the GPUs carry all.
    """

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="share_policies")
    version = models.PositiveIntegerField()
    rule = models.TextField(
        choices=[
            ("largest", "the larger of compute and memory"),
            ("compute", "compute slices"),
            ("memory", "memory slices"),
        ],
        default="largest",
    )
    cores_per_node = models.PositiveIntegerField(default=0)
    core_weight = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(core_weight=0) | Q(core_weight__gt=0, cores_per_node__gt=0),
                name="weighed_cores_are_counted",
            ),
            models.UniqueConstraint(fields=["pool", "version"], name="share_policy_version_once"),
            no_overlap("share_policies_do_not_overlap", F("pool_id")),
        ]

    def __str__(self) -> str:
        return f"{self.pool} v{self.version}"


class Node(models.Model):
    """A machine, or a pool counted as a whole; charged from its start until something ends it.

    Silence never ends a node. `pool` is null only until someone says where it belongs.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, null=True, related_name="nodes")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="nodes")
    name = models.TextField()
    kind = models.TextField(
        choices=[("machine", "Machine"), ("pool", "Pool as a whole")], default="machine"
    )
    provider_id = models.TextField(blank=True, default="")
    period = DateTimeRangeField()
    end_reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            # hashtextextended stands in for the name: gist has no text without btree_gist.
            no_overlap(
                "node_name_lives_once_at_a_time",
                Func(
                    F("name"),
                    Func(F("cluster_id"), Value(0), function="COALESCE"),
                    function="hashtextextended",
                ),
            ),
            models.CheckConstraint(
                condition=Q(period__startswith__isnull=False), name="node_has_a_start"
            ),
        ]
        indexes = [models.Index(fields=["cluster", "name"], name="node_by_cluster_and_name")]

    def __str__(self) -> str:
        return self.name


class NodeCapacity(models.Model):
    """How many units (GPUs or cores) a node has, from when."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="capacities")
    units = models.PositiveIntegerField()
    period = DateTimeRangeField()

    class Meta:
        constraints = [no_overlap("node_capacities_do_not_overlap", F("node_id"))]

    def __str__(self) -> str:
        return f"{self.node}: {self.units}"


class Device(models.Model):
    """A GPU or a MIG slice; a slice made again is a new device even under its old UUID."""

    id = models.AutoField(primary_key=True)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="devices")
    uuid = models.TextField()
    kind = models.TextField(choices=[("gpu", "GPU"), ("mig", "MIG slice")], default="gpu")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="slices")
    model = models.TextField(blank=True, default="")
    index = models.IntegerField(null=True)
    profile = models.TextField(blank=True, default="")
    compute_slices = models.PositiveSmallIntegerField(null=True)
    memory_slices = models.PositiveSmallIntegerField(null=True)
    replicas = models.PositiveSmallIntegerField(default=1)
    period = DateTimeRangeField()
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            no_overlap(
                "device_uuid_lives_once_at_a_time",
                Func(F("uuid"), Value(0), function="hashtextextended"),
            ),
            models.CheckConstraint(
                condition=Q(kind="gpu", parent__isnull=True) | Q(kind="mig", parent__isnull=False),
                name="slices_have_parents",
            ),
            models.CheckConstraint(condition=Q(replicas__gte=1), name="replicas_at_least_one"),
        ]
        indexes = [
            models.Index(fields=["uuid"], name="device_by_uuid"),
            models.Index(OpClass(Lower("uuid"), "text_pattern_ops"), name="device_by_uuid_begun"),
        ]

    def __str__(self) -> str:
        return self.uuid


class Outage(models.Model):
    """A node, or one of its devices, was down, drained, failed or in maintenance."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="outages")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, null=True, related_name="outages")
    kind = models.TextField(
        choices=[
            ("down", "Down"),
            ("drained", "Drained"),
            ("failed", "Failed"),
            ("maintenance", "Maintenance"),
        ]
    )
    period = DateTimeRangeField()

    def __str__(self) -> str:
        return f"{self.node} {self.kind}"


class Agent(models.Model):
    """An agent that reports for a node; its token writes only that node.

    Where it came with a join token, `machine` is what tells its machine from another of its name,
    and `takeovers` how often since `takeovers_since` it came again while the one before still spoke.
    """

    id = models.AutoField(primary_key=True)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="agents")
    token = models.OneToOneField(
        "accounts.AccessToken", on_delete=models.PROTECT, related_name="agent"
    )
    source = models.TextField(
        choices=[("nvml", "NVML"), ("dcgm", "dcgm-exporter"), ("simulated", "Simulated")]
    )
    join_token = models.ForeignKey(
        "fleet.JoinToken", on_delete=models.PROTECT, null=True, related_name="agents"
    )
    machine = models.TextField(blank=True, default="")
    version = models.TextField(blank=True, default="")
    enrolled_at = models.DateTimeField()
    takeovers = models.PositiveIntegerField(default=0, db_default=0)
    takeovers_since = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(null=True)
    clock_offset_ms = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.source} on {self.node}"


class AgentStatus(models.Model):
    """How an agent last said it is, and what it said its node is; the report it said so in."""

    agent = models.OneToOneField(
        Agent, on_delete=models.CASCADE, primary_key=True, related_name="status"
    )
    at = models.DateTimeField()
    boot = models.BigIntegerField()
    sequence = models.BigIntegerField()
    state = models.TextField(blank=True, default="")
    expected_gpus = models.IntegerField(null=True)
    seen_gpus = models.IntegerField(null=True)
    missing = models.JSONField(default=list)
    spool_batches = models.BigIntegerField(null=True)
    spool_bytes = models.BigIntegerField(null=True)
    spool_oldest_at = models.DateTimeField(null=True)
    dropped_windows = models.BigIntegerField(null=True)
    cpu_seconds = models.FloatField(null=True)
    pss_bytes = models.BigIntegerField(null=True)
    calls_per_second = models.FloatField(null=True)
    driver = models.TextField(blank=True, default="")
    problems = models.JSONField(default=list)
    purchase_option = models.TextField(blank=True, default="")
    instance_type = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    provider_id = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return f"{self.agent}: {self.state}"


class Enrolment(models.Model):
    """A one-time token with which an agent fetches its own; used once, then spent."""

    digest = models.BinaryField(max_length=32, unique=True)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="enrolments")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"enrolment of {self.node}"
