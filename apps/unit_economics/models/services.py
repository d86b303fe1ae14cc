"""Costs and counts of services, by feature and in all, summed as unit costs are read."""

from django.db import models
from django.db.models import Q

from apps.ledger.models.sums import PostedSums


class ServicePart(models.IntegerChoices):
    """The purpose of an hour of a service's cost: requests, nothing, or tokens nobody asked for."""

    ANSWERED = 0, "answered"
    IDLE = 1, "no requests"
    UNATTRIBUTED = 2, "unattributed"
    UNCOUNTED = 3, "not counted"


class ServiceDay(PostedSums):
    """A local day's lines of a service, divided over its features by token-weighted work.

    The rows of a service, day and pool sum to its lines exactly.
    """

    day = models.DateField()
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    feature = models.TextField(blank=True, default="")
    part = models.SmallIntegerField(choices=ServicePart.choices)
    marginal_micros = models.BigIntegerField(null=True)

    class Meta:
        db_table = "ledger_serviceday"
        indexes = [
            models.Index(fields=["workload", "day"], name="service_day_by_workload"),
            models.Index(fields=["day", "pool"], name="service_day_by_day"),
            models.Index(fields=["day"], condition=Q(part=1), name="service_day_unasked"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.workload_id}"


class ServiceCount(models.Model):
    """The counts of a service on a local day, by feature and part: the units of its ServiceDay.

    Of hours in which the service has lines. Counts are null where an hour of them is not told, but
    tokens are of the hours that tell them: `prompt_ms`, `cached_ms` and `output_ms` divide the
    device time of those by the work of their tokens, `untold_ms` is that of the others.
    `measured_ms` is the part of them whose prefill and decode time was told, not taken for granted.
    """

    day = models.DateField()
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    feature = models.TextField(blank=True, default="")
    part = models.SmallIntegerField(choices=ServicePart.choices)
    hours = models.SmallIntegerField()
    requests = models.BigIntegerField(null=True)
    succeeded = models.BigIntegerField(null=True)
    prompt_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    prompt_ms = models.BigIntegerField(default=0)
    cached_ms = models.BigIntegerField(default=0)
    output_ms = models.BigIntegerField(default=0)
    untold_ms = models.BigIntegerField(default=0)
    measured_ms = models.BigIntegerField(default=0)

    class Meta:
        db_table = "ledger_servicecount"
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "day", "feature", "part"], name="service_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.workload_id} {self.feature}"


class ServiceTotal(models.Model):
    """ServiceDay and ServiceCount of a service, day and posting month in one row for each measure of money.

    `measure` is a basis (all its lines), a basis with `.direct` (without what is shared out to it)
    or `marginal`. Amounts are by part, null where nothing is known. Of all parts but what is
    not counted, `stated_micros` is what has device time and `active_micros` the active of that.
    `statuses` has a bit for each Status in order, `costless_requests` are of hours without lines.
    What was counted stands in the row of the day's own month: those of corrections add 0.
    """

    day = models.DateField()
    posting_month = models.DateField()
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    measure = models.TextField()
    answered_micros = models.BigIntegerField(null=True)
    idle_micros = models.BigIntegerField(null=True)
    unattributed_micros = models.BigIntegerField(null=True)
    uncounted_micros = models.BigIntegerField(null=True)
    stated_micros = models.BigIntegerField(null=True)
    active_micros = models.BigIntegerField(null=True)
    unit_milliseconds = models.BigIntegerField()
    unpriced_milliseconds = models.BigIntegerField()
    held_milliseconds = models.BigIntegerField()
    observed_milliseconds = models.BigIntegerField()
    statuses = models.SmallIntegerField()
    requests = models.BigIntegerField(null=True)
    succeeded = models.BigIntegerField(null=True)
    prompt_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    prompt_ms = models.BigIntegerField(default=0)
    cached_ms = models.BigIntegerField(default=0)
    output_ms = models.BigIntegerField(default=0)
    untold_ms = models.BigIntegerField(default=0)
    measured_ms = models.BigIntegerField(default=0)
    costless_requests = models.BigIntegerField(default=0)

    class Meta:
        db_table = "ledger_servicetotal"
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "measure", "day", "posting_month"], name="service_total_once"
            )
        ]
        indexes = [models.Index(fields=["measure", "day"], name="service_total_by_measure")]

    def __str__(self) -> str:
        return f"{self.day} {self.workload_id} {self.measure}"
