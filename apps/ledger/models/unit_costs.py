"""What runs, services and API calls cost: parts of lines, summed as their pages read them."""

from django.db import models
from django.db.models import F, Q

from apps.ledger.models.charges import ChargeKind, Status


class RunDay(models.Model):
    """The part of a local day's lines that a run carried, by where its time went.

    `bucket` is an apps.economics.run_time.Bucket. The rows of a job and day, over all its runs, sum
    to the job's lines for the time in which it carried one: no second of a GPU counts twice.
    `is_unasked`: of an hour in which its service was counted, and nobody asked it.
    """

    day = models.DateField()
    posting_month = models.DateField()
    status = models.TextField(choices=Status.choices)
    kind = models.TextField(choices=ChargeKind.choices)
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey("workloads.Run", on_delete=models.PROTECT, related_name="+")
    job = models.ForeignKey("workloads.Job", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    bucket = models.SmallIntegerField()
    is_unasked = models.BooleanField(default=False, db_default=False)
    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    marginal_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()
    energy_joules = models.FloatField(null=True)
    # Of the GPUs' time in which their tensor cores were watched, and were at work.
    tensor_seconds = models.FloatField(null=True)
    tensor_observed_seconds = models.FloatField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["run", "day"], name="run_day_by_run"),
            models.Index(fields=["day", "pool"], name="run_day_by_day"),
            models.Index(fields=["workload", "day"], name="run_day_by_workload"),
            models.Index(fields=["day"], condition=Q(bucket__lte=1), name="run_day_failed"),
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
        indexes = [
            models.Index(F("began_at").desc(nulls_last=True), "run_id", name="run_figures_by_time"),
            models.Index(fields=["workload", "began_at"], name="run_figures_by_workload"),
            models.Index(fields=["team"], name="run_figures_by_team"),
        ]

    def __str__(self) -> str:
        return self.key


class ServicePart(models.IntegerChoices):
    """What an hour of a service's cost was for: requests, nothing, or tokens nobody asked for."""

    ANSWERED = 0, "answered"
    IDLE = 1, "no requests"
    UNATTRIBUTED = 2, "unattributed"
    UNCOUNTED = 3, "not counted"


class ServiceDay(models.Model):
    """A local day's lines of a service, divided over its features by token-weighted work.

    The rows of a service, day and pool sum to its lines exactly.
    """

    day = models.DateField()
    posting_month = models.DateField()
    status = models.TextField(choices=Status.choices)
    kind = models.TextField(choices=ChargeKind.choices)
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    feature = models.TextField(blank=True, default="")
    part = models.SmallIntegerField(choices=ServicePart.choices)
    state = models.SmallIntegerField(null=True)
    flags = models.SmallIntegerField()
    list_micros = models.BigIntegerField(null=True)
    contracted_micros = models.BigIntegerField(null=True)
    effective_micros = models.BigIntegerField(null=True)
    billed_micros = models.BigIntegerField(null=True)
    marginal_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["workload", "day"], name="service_day_by_workload"),
            models.Index(fields=["day", "pool"], name="service_day_by_day"),
            models.Index(fields=["day"], condition=Q(part=1), name="service_day_unasked"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.workload_id}"


class ApiCost(models.Model):
    """What a call to a model API cost by its price at its own time; null where no price is known.

    `price` names the price it is by; `reason` says why there is none. `micros` are of the
    organisation's currency, rounded for this call alone; `amount` is the same, unrounded, in
    `currency`, and `list_amount` what the vendor's public price makes of it.
    """

    event_id = models.BigIntegerField(primary_key=True)
    hour = models.DateTimeField()
    micros = models.BigIntegerField(null=True)
    amount = models.DecimalField(max_digits=30, decimal_places=18, null=True)
    list_amount = models.DecimalField(max_digits=30, decimal_places=18, null=True)
    currency = models.CharField(max_length=3, blank=True, default="")
    price = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["hour"], name="api_cost_by_hour")]

    def __str__(self) -> str:
        return f"{self.event_id}"


class ApiItem(models.Model):
    """What a charge of calls is of: a vendor's model, and whose."""

    vendor = models.TextField()
    model = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["vendor", "model", "team", "workload"],
                name="api_item_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model}"


class ApiHour(models.Model):
    """Calls of an hour, by vendor, model and owner, with what they cost and what is not priced.

    The rows of an hour, vendor, model and owner sum to what the ledger is charged for them, which
    is rounded once. `list_micros` is what the vendors' public prices make of it.
    """

    hour = models.DateTimeField()
    vendor = models.TextField()
    model = models.TextField()
    tier = models.TextField(blank=True, default="")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    feature = models.TextField(blank=True, default="")
    requests = models.BigIntegerField(default=0)
    rate_limited = models.BigIntegerField(default=0)
    server_errors = models.BigIntegerField(default=0)
    other_errors = models.BigIntegerField(default=0)
    unpriced_requests = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    cached_tokens = models.BigIntegerField(default=0)
    cache_write_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    reasoning_tokens = models.BigIntegerField(default=0)
    micros = models.BigIntegerField(null=True)
    list_micros = models.BigIntegerField(null=True)
    reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "vendor", "model", "tier", "team", "workload", "feature"],
                name="api_hour_once",
                nulls_distinct=False,
            )
        ]
        indexes = [models.Index(fields=["team", "hour"], name="api_hour_by_team")]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model} {self.hour}"


class VendorCost(models.Model):
    """A row of a vendor's own cost report: what it says a day cost, by line item."""

    vendor = models.TextField()
    day = models.DateField()
    item = models.TextField(blank=True, default="")
    project = models.TextField(blank=True, default="")
    amount = models.DecimalField(max_digits=24, decimal_places=9)
    currency = models.CharField(max_length=3)
    micros = models.BigIntegerField(null=True)
    told_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["vendor", "day", "item", "project", "currency"], name="vendor_cost_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.day} {self.item}"
