"""Charges, settlements and lines: the ledger itself."""

from django.db import models
from django.db.models import F, Q


class ChargeKind(models.TextChoices):
    """The kind of a charge: the first four have a source period of one hour."""

    NODE_HOUR = "node_hour"
    COMMITMENT_UNUSED = "commitment_unused"
    SHARED = "shared"
    PURCHASE = "purchase"
    CREDIT = "credit"
    TAX = "tax"
    API = "api"
    UNMATCHED = "unmatched"
    SERVICE = "service"
    OWNED_UNUSED = "owned_unused"


class Status(models.TextChoices):
    """How sure an amount is."""

    PROVISIONAL = "provisional"
    ESTIMATED = "estimated"
    RECONCILED = "reconciled"
    RESTATED = "restated"


class ChargePart(models.IntegerChoices):
    """The part of a node-hour that a charge is: each of its bases is known throughout, or unknown.

    What commitments cover is a part of its own, and so is what does not ride on the GPUs. What
    calls to model APIs cost by their own prices is one too: the rest of kind api was billed. What a
    bill's rule shares is one, beside what was entered as a shared cost.
    """

    PRICED = 0
    WITHOUT_LIST_PRICE = 1
    UNPRICED = 2
    COMMITTED = 3
    HOST = 4
    CALLS = 5
    SHARED_BY_BILL = 6


class Charge(models.Model):
    """An amount that something cost over a period, on four bases; null where a basis is unknown.

    Amounts are micro-units of the organisation's currency. `corrects` names the charge whose
    difference this one is. A node-hour priced only in part is two charges that divide its time.
    `estimated_micros` is the effective amount by rates where a bill's took its place;
    `marginal_micros` what an hour of owned hardware adds to what is owed anyway. `owned_plan_id` is
    of the plan that a charge of kind owned_unused, or a node-hour of owned hardware, is by.
    `spread_method` says by what a shared charge was really spread, once it was.
    `commitment_id` is of the commitment that an unused part or a purchase is of, by ourselves or by
    a bill.
    """

    kind = models.TextField(choices=ChargeKind.choices)
    node = models.ForeignKey(
        "fleet.Node", on_delete=models.PROTECT, null=True, related_name="charges"
    )
    pool = models.ForeignKey(
        "fleet.Pool", on_delete=models.PROTECT, null=True, related_name="charges"
    )
    shared_cost_id = models.BigIntegerField(null=True)
    billed_charge_id = models.BigIntegerField(null=True)
    commitment_id = models.BigIntegerField(null=True)
    api_item_id = models.BigIntegerField(null=True)
    part = models.SmallIntegerField(choices=ChargePart.choices, default=ChargePart.PRICED)
    hour = models.DateTimeField()
    through = models.DateTimeField()
    posting_month = models.DateField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    estimated_micros = models.BigIntegerField(null=True)
    marginal_micros = models.BigIntegerField(null=True)
    owned_plan_id = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3)
    status = models.TextField(choices=Status.choices)
    reason = models.TextField(blank=True, default="")
    spread_method = models.TextField(blank=True, default="", db_default="")
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
            models.UniqueConstraint(
                fields=["billed_charge_id"],
                condition=Q(billed_charge_id__isnull=False, corrects__isnull=True),
                name="billed_charge_charged_once",
            ),
            models.UniqueConstraint(
                fields=["commitment_id", "hour"],
                condition=Q(
                    kind="commitment_unused",
                    corrects__isnull=True,
                    billed_charge_id__isnull=True,
                ),
                name="unused_commitment_charged_once",
            ),
            models.UniqueConstraint(
                fields=["owned_plan_id", "hour"],
                condition=Q(kind="owned_unused", corrects__isnull=True),
                name="unused_plan_charged_once",
            ),
            models.UniqueConstraint(
                fields=["api_item_id", "hour"],
                condition=Q(api_item_id__isnull=False, corrects__isnull=True),
                name="api_item_charged_once",
            ),
            models.CheckConstraint(
                condition=Q(kind="node_hour", node__isnull=False) | ~Q(kind="node_hour"),
                name="node_hours_have_nodes",
            ),
        ]
        indexes = [
            models.Index(fields=["hour"], name="charge_by_hour"),
            models.Index(
                fields=["owned_plan_id", "hour"],
                condition=Q(owned_plan_id__isnull=False),
                name="charge_by_owned_plan",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.hour:%Y-%m-%dT%H}"


class ChargePiece(models.Model):
    """The part of a charge in which one rate held on each basis; milliseconds into the hour.

    `commitment_id` is of the one that covers it. `detail` says in words what else made its amounts.
    """

    pk = models.CompositePrimaryKey("charge", "start_ms")
    charge = models.ForeignKey(Charge, on_delete=models.CASCADE, related_name="pieces")
    start_ms = models.IntegerField()
    end_ms = models.IntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    list_rate_id = models.BigIntegerField(null=True)
    contract_rate_id = models.BigIntegerField(null=True)
    commitment_id = models.BigIntegerField(null=True)
    detail = models.TextField(blank=True, default="")

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
