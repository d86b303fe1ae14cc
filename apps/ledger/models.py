"""Charges, settlements, lines and rollups: the ledger itself."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class ChargeKind(models.TextChoices):
    """What is charged: the first four have a source period of one hour."""

    NODE_HOUR = "node_hour"
    COMMITMENT_UNUSED = "commitment_unused"
    SHARED = "shared"
    PURCHASE = "purchase"
    CREDIT = "credit"
    TAX = "tax"
    API = "api"
    UNMATCHED = "unmatched"


class Status(models.TextChoices):
    """How sure an amount is."""

    PROVISIONAL = "provisional"
    ESTIMATED = "estimated"
    RECONCILED = "reconciled"
    RESTATED = "restated"


class Part(models.IntegerChoices):
    """Which part of a node-hour a charge is: each of its bases is known throughout, or unknown."""

    PRICED = 0
    WITHOUT_LIST_PRICE = 1
    UNPRICED = 2


class Charge(models.Model):
    """An amount that something cost over a period, on four bases; null where a basis is unknown.

    Amounts are micro-units of the organisation's currency. `corrects` names the charge whose
    difference this one is. A node-hour priced only in part is two charges that divide its time.
    """

    kind = models.TextField(choices=ChargeKind.choices)
    node = models.ForeignKey(
        "fleet.Node", on_delete=models.PROTECT, null=True, related_name="charges"
    )
    pool = models.ForeignKey(
        "fleet.Pool", on_delete=models.PROTECT, null=True, related_name="charges"
    )
    shared_cost_id = models.BigIntegerField(null=True)
    part = models.SmallIntegerField(choices=Part.choices, default=Part.PRICED)
    hour = models.DateTimeField()
    through = models.DateTimeField()
    posting_month = models.DateField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3)
    status = models.TextField(choices=Status.choices)
    reason = models.TextField(blank=True, default="")
    corrects = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="corrections"
    )
    digest = models.BinaryField(max_length=16)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["node", "hour", "part"],
                condition=Q(kind="node_hour", corrects__isnull=True),
                name="node_hour_charged_once",
            ),
            models.UniqueConstraint(
                fields=["shared_cost_id", "hour"],
                condition=Q(kind="shared", corrects__isnull=True),
                name="shared_hour_charged_once",
            ),
            models.CheckConstraint(
                condition=Q(kind="node_hour", node__isnull=False) | ~Q(kind="node_hour"),
                name="node_hours_have_nodes",
            ),
        ]
        indexes = [models.Index(fields=["hour"], name="charge_by_hour")]

    def __str__(self) -> str:
        return f"{self.kind} {self.hour:%Y-%m-%dT%H}"


class ChargePiece(models.Model):
    """The part of a charge in which one rate held on each basis; milliseconds into the hour."""

    pk = models.CompositePrimaryKey("charge", "start_ms")
    charge = models.ForeignKey(Charge, on_delete=models.CASCADE, related_name="pieces")
    start_ms = models.IntegerField()
    end_ms = models.IntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    list_rate_id = models.BigIntegerField(null=True)
    contract_rate_id = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(end_ms__gt=F("start_ms")), name="piece_is_forward")
        ]

    def __str__(self) -> str:
        return f"{self.charge_id}: {self.start_ms}–{self.end_ms}"


class Settlement(models.Model):
    """A node-hour was split: from which facts (their digest), how far, and to what totals.

    The digest is five of 8 bytes, one for each kind of fact, so that `reason` can say which changed.
    Version 0 is provisional and overwritten in place; later versions are kept.
    """

    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, related_name="settlements")
    hour = models.DateTimeField()
    version = models.IntegerField()
    through = models.DateTimeField()
    digest = models.BinaryField(max_length=40)
    reason = models.TextField()
    policy_version = models.IntegerField()
    unit_milliseconds = models.BigIntegerField()
    effective_micros = models.BigIntegerField(null=True)
    settled_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["node", "hour", "version"], name="settlement_once"),
            models.UniqueConstraint(
                fields=["node", "hour"],
                condition=Q(superseded_at__isnull=True),
                name="one_settlement_in_force",
            ),
        ]
        indexes = [models.Index(fields=["hour"], name="settlement_by_hour")]

    def __str__(self) -> str:
        return f"{self.node_id}@{self.hour:%Y-%m-%dT%H} v{self.version}"


class Line(models.Model):
    """A part of a charge that one owner, holder and state carries; partitioned by posting month.

    `state` is apps.economics.states.State, `flags` its Flag bits, `evidence` its Evidence bits.
    `job` and `holder_key_id` (a process key no job explains) are never both set.
    """

    pk = models.CompositePrimaryKey("posting_month", "id")
    id = models.BigIntegerField()
    posting_month = models.DateField()
    charge = models.ForeignKey(Charge, on_delete=models.DO_NOTHING, related_name="lines")
    settlement = models.ForeignKey(
        Settlement, on_delete=models.DO_NOTHING, null=True, related_name="lines"
    )
    hour = models.DateTimeField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.DO_NOTHING, null=True, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.DO_NOTHING, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.DO_NOTHING, null=True, related_name="+"
    )
    job = models.ForeignKey(
        "workloads.Job", on_delete=models.DO_NOTHING, null=True, related_name="+"
    )
    holder_key_id = models.IntegerField(null=True)
    state = models.SmallIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    flags = models.SmallIntegerField()
    evidence = models.SmallIntegerField()
    policy_version = models.IntegerField(null=True)

    class Meta:
        managed = False
        db_table = "ledger_line"

    def __str__(self) -> str:
        return f"line {self.id}"


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


class ExportWhat(models.TextChoices):
    """Which rows an export is of."""

    LINES = "lines"
    JOB_DAYS = "job_days"
    DAYS = "days"


class ExportState(models.TextChoices):
    """How far an export is."""

    QUEUED = "queued"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Export(models.Model):
    """A file of ledger rows that somebody asked for, made in the background and kept for a while.

    `asked` are the filters in words, `chosen` the ids they meant. `team_ids` are the teams whose
    rows are in the file, decided when it was made; null: everybody's. `alive_at` is when whoever
    makes it last said so; `attempt` counts who took it up.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    token = models.ForeignKey(
        "accounts.AccessToken", on_delete=models.PROTECT, null=True, related_name="+"
    )
    what = models.TextField(choices=ExportWhat.choices)
    window_text = models.TextField()
    first_day = models.DateField()
    end_day = models.DateField()
    zone = models.TextField()
    asked = models.JSONField(default=dict)
    chosen = models.JSONField(default=dict)
    team_ids = models.JSONField(null=True)
    state = models.TextField(choices=ExportState.choices, default=ExportState.QUEUED)
    rows = models.BigIntegerField(default=0)
    rows_estimated = models.BigIntegerField(null=True)
    size_bytes = models.BigIntegerField(null=True)
    digest = models.TextField(blank=True, default="")
    failure = models.TextField(blank=True, default="")
    attempt = models.IntegerField(default=0)
    asked_at = models.DateTimeField()
    alive_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    has_file = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=True) ^ Q(token__isnull=True),
                name="export_is_somebodys",
            ),
            models.CheckConstraint(
                condition=Q(end_day__gt=F("first_day")), name="export_window_is_forward"
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(state__in=("queued", "making")),
                name="export_to_be_made",
            ),
            models.Index(fields=["person", "id"], name="export_by_person"),
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.window_text}"
