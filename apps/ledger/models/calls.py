"""The cost of calls to model APIs, one by one and by the hour, and what their vendors say."""

from django.db import models


class ApiCost(models.Model):
    """The cost of a call to a model API by its price at its own time; null where no price is known.

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
    """The item that a charge of calls is of: a vendor's model, and whose."""

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
    is rounded once. `list_micros` is what the vendors' public prices make of it. `stated_micros` is what gateways and SDKs say that
    calls of it cost, and `against_micros` our price of the same calls: of those that have both.
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
    stated_micros = models.BigIntegerField(null=True)
    against_micros = models.BigIntegerField(null=True)
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
