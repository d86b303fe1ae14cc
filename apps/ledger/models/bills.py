"""Bills as their issuers sent them, and what each row became in the ledger."""

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from apps.ledger.models.charges import ChargeKind
from apps.uploads.imports import ImportedFile, RejectedFileRow

# FOCUS exporters keep up to 14 decimals of a cost; sums of a million of them stay exact.
DIGITS, DECIMALS = 38, 14


class BilledKind(models.TextChoices):
    """The kind of cost that a bill's row pays for; only compute takes the place of an estimate."""

    COMPUTE = "compute"
    DISK = "disk"
    NETWORK = "network"
    LICENCE = "licence"
    OTHER = "other"
    COMMITMENT = "commitment"
    CREDIT = "credit"
    TAX = "tax"
    CAPACITY = "capacity"


class Bill(models.Model):
    """A bill of one issuer to one account for its own billing period, in one currency.

    `is_rounded_upstream` says that its EffectiveCost cannot be trusted to the cent. The residual is
    what the rows sum to less what the charges made of them do, on the billed basis; it is what
    rounding to micro-units leaves over and is null until the bill was reconciled.
    `reconciled_at` is null while something of it waits to be reconciled. `long_from` and `long_until`
    are what rows of machines that are longer than an hour span: how they are spread hangs on what
    the hours there cost; null where it has none. `last_team_id` is the newest team that its rows
    were read by: they may name a later one. `woken_at` is when what it goes by changed last.
    """

    issuer = models.TextField()
    provider = models.TextField()
    account = models.TextField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    currency = models.CharField(max_length=3)
    is_rounded_upstream = models.BooleanField(default=False)
    residual = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    reconciled_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True, default="")
    long_from = models.DateTimeField(null=True)
    long_until = models.DateTimeField(null=True)
    last_team_id = models.BigIntegerField(null=True)
    woken_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["issuer", "account", "starts_at", "currency"], name="bill_once"
            ),
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="bill_is_forward"),
        ]

    def __str__(self) -> str:
        return f"{self.issuer} {self.account} {self.starts_at:%Y-%m}"


class BillImportState(models.TextChoices):
    """How far the import of a bill's file is; one that is held waits for a person's word."""

    WAITING = "waiting", "to be run"
    RUNNING = "running", "running"
    HELD = "held", "held"
    DONE = "done", "done"
    FAILED = "failed", "broken off"
    UNDONE = "undone", "undone"


class BillImport(ImportedFile):
    """One delivery of a bill's file: what came of it; can be undone until its month closes.

    `totals` are the sums of the rows taken in, by currency and basis, as text; `flags` what is odd
    about the file, in words. `is_addition`: the file is one of several of its period and replaces
    nothing. `furthest_rows` is how many rows were ever read of it. `unread_…`: what the billing periods
    of rows that could not be read span, null where none says it. `accepted_…`: who let it stand
    without them, when and why.
    """

    layout = models.TextField(blank=True, default="")
    is_addition = models.BooleanField(default=False)
    state = models.TextField(choices=BillImportState.choices, default=BillImportState.WAITING)
    replaced = models.BigIntegerField(default=0)
    totals = models.JSONField(default=dict)
    flags = models.JSONField(default=list)
    furthest_rows = models.BigIntegerField(default=0)
    undone_at = models.DateTimeField(null=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    unread_from = models.DateTimeField(null=True)
    unread_until = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    accepted_reason = models.TextField(blank=True, default="")
    bills = models.ManyToManyField(Bill, related_name="imports")

    class Meta:
        indexes = [models.Index(fields=["digest"], name="bill_import_by_digest")]


class RejectedBillRow(RejectedFileRow):
    """A row of a bill's file that could not be read: where, and why."""

    batch = models.ForeignKey(BillImport, on_delete=models.CASCADE, related_name="rejected_rows")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "line"], name="rejected_bill_row_once")
        ]


class BilledCharge(models.Model):
    """Rows of one bill that no node carries, summed as they are charged.

    `label` says what they are for (the service, or the resource that was not found), `reason` why
    no node-hour carries them, `commitment_id` what the bill calls the commitment that they are of.
    Those that name a node are of one of its hours, and carried by whoever carries that. Amounts are
    micro-units of the organisation's currency, converted once. A shared one is of one hour of its
    month, and spread over whoever is there by `share_method`; its `reason` names that too.
    """

    bill = models.ForeignKey(Bill, on_delete=models.PROTECT, related_name="charges")
    kind = models.TextField(choices=ChargeKind.choices)
    billed_kind = models.TextField(choices=BilledKind.choices)
    reason = models.TextField()
    label = models.TextField(blank=True, default="")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    hour = models.DateTimeField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, null=True, related_name="+")
    commitment_id = models.TextField(blank=True, default="")
    share_method = models.TextField(blank=True, default="", db_default="")
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    is_provisional = models.BooleanField(default=False)
    rows = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "bill",
                    "kind",
                    "billed_kind",
                    "reason",
                    "label",
                    "starts_at",
                    "ends_at",
                    "team",
                    "pool",
                    "node",
                    "commitment_id",
                ],
                name="billed_charge_once",
                nulls_distinct=False,
            )
        ]
        indexes = [models.Index(fields=["hour"], name="billed_charge_by_hour")]

    def __str__(self) -> str:
        return f"{self.kind} {self.label}"


class BilledHour(models.Model):
    """A bill's amount for one node's hour: it takes the place of the estimate.

    Micro-units of the organisation's currency, converted once. `effective_micros` is null where
    the bill rounded its effective cost: the estimate then stands. `billed_milliseconds` is the
    machine time that it asks for, null where it does not say.
    """

    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, related_name="+")
    hour = models.DateTimeField()
    bill = models.ForeignKey(Bill, on_delete=models.PROTECT, related_name="hours")
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    billed_milliseconds = models.BigIntegerField(null=True)
    is_provisional = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hour", "node", "bill"], name="billed_hour_once")
        ]

    def __str__(self) -> str:
        return f"{self.node_id}@{self.hour:%Y-%m-%dT%H}"


class BilledMatch(models.Model):
    """Where rows of one bill that are alike went when it was reconciled, and by what.

    Either to a node, to the nodes of a pool, or to charges of their own: those have a `reason`, a
    `label` and perhaps a team. `matched_by`: resource id, tag, usage type, or the rule
    of `rule_id`. `lives` are the nodes that were called so one after the other, where that is more
    than `node`: a row is of the one that lived then.
    """

    bill = models.ForeignKey(Bill, on_delete=models.CASCADE, related_name="matches")
    traits = models.BinaryField(max_length=8)
    kind = models.TextField(choices=BilledKind.choices)
    charge_kind = models.TextField(choices=ChargeKind.choices)
    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, null=True, related_name="+")
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True, default="")
    label = models.TextField(blank=True, default="")
    matched_by = models.TextField(blank=True, default="")
    rule_id = models.BigIntegerField(null=True)
    lives = ArrayField(models.BigIntegerField(), null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bill", "traits"], name="billed_match_once")]
        indexes = [
            models.Index(
                fields=["node"], condition=Q(node__isnull=False), name="billed_match_by_node"
            )
        ]

    def __str__(self) -> str:
        return f"{self.bill_id}: {self.charge_kind} {self.label}"


class BillRow(models.Model):
    """One row of a bill, in the words of FOCUS 1.4 whatever it was delivered in.

    A row is in force while `replaced_by` is null. `digest` is of everything the file said of it,
    `traits` of what decides where its cost goes (see BilledMatch). `more` keeps every column that
    has no field of its own, custom ones too.
    """

    # Each is the beginning of an index below: another of its own would be written for every row.
    bill = models.ForeignKey(Bill, on_delete=models.PROTECT, related_name="rows", db_index=False)
    batch = models.ForeignKey(
        BillImport, on_delete=models.PROTECT, related_name="bill_rows", db_index=False
    )
    replaced_by = models.ForeignKey(
        BillImport,
        on_delete=models.PROTECT,
        null=True,
        related_name="rows_replaced",
        db_index=False,
    )
    line = models.BigIntegerField()
    digest = models.BinaryField(max_length=16)
    traits = models.BinaryField(max_length=8)
    kind = models.TextField(choices=BilledKind.choices)
    category = models.TextField()
    charge_class = models.TextField(blank=True, default="")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    service = models.TextField(blank=True, default="")
    usage_type = models.TextField(blank=True, default="")
    description = models.TextField(blank=True, default="")
    sku = models.TextField(blank=True, default="")
    resource_id = models.TextField(blank=True, default="")
    region = models.TextField(blank=True, default="")
    sub_account = models.TextField(blank=True, default="")
    pricing_category = models.TextField(blank=True, default="")
    commitment_id = models.TextField(blank=True, default="")
    commitment_status = models.TextField(blank=True, default="")
    invoice_id = models.TextField(blank=True, default="")
    consumed_quantity = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    consumed_unit = models.TextField(blank=True, default="")
    pricing_quantity = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    pricing_unit = models.TextField(blank=True, default="")
    list_unit_price = models.DecimalField(max_digits=38, decimal_places=16, null=True)
    contracted_unit_price = models.DecimalField(max_digits=38, decimal_places=16, null=True)
    list_cost = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    contracted_cost = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    effective_cost = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS, null=True)
    billed_cost = models.DecimalField(max_digits=DIGITS, decimal_places=DECIMALS)
    tags = models.JSONField(default=dict)
    more = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["batch", "line"], name="bill_row_by_batch"),
            models.Index(
                fields=["replaced_by"],
                condition=Q(replaced_by__isnull=False),
                name="bill_row_replaced",
            ),
            models.Index(fields=["bill", "traits"], name="bill_row_by_traits"),
            models.Index(
                fields=["bill", "commitment_id", "ends_at"],
                condition=~Q(commitment_id=""),
                name="bill_row_by_commitment",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bill_id} line {self.line}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class BillRule(models.Model):
    """How rows of bills are to be read that do not say it themselves; the first that fits wins.

    A pattern is a shell pattern ('' fits all); `tag_key` and `tag_value` fit one tag. What it says
    may be the kind of cost, the node or pool that carries it, the team that owns it, or by what
    it is shared by all (`share_method`, of pricing's ShareMethod).
    """

    priority = models.IntegerField()
    issuer = models.TextField(blank=True, default="")
    service = models.TextField(blank=True, default="")
    usage_type = models.TextField(blank=True, default="")
    resource_id = models.TextField(blank=True, default="")
    sub_account = models.TextField(blank=True, default="")
    tag_key = models.TextField(blank=True, default="")
    tag_value = models.TextField(blank=True, default="")
    kind = models.TextField(choices=BilledKind.choices, blank=True, default="")
    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, null=True, related_name="+")
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    share_method = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["priority"], condition=Q(ended_at=None), name="bill_rule_priority_once"
            ),
            models.CheckConstraint(
                condition=~Q(kind="")
                | Q(node__isnull=False)
                | Q(pool__isnull=False)
                | Q(team__isnull=False)
                | ~Q(share_method=""),
                name="bill_rule_says_something",
            ),
        ]

    def __str__(self) -> str:
        return f"bill rule {self.priority}"
