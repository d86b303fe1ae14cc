"""Answers of services: requests and tokens by the hour, and what was promised of them."""

import pghistory
from django.contrib.postgres.fields import ArrayField, DateTimeRangeField
from django.db import models
from django.db.models import Q

from apps.workloads.models.work import Workload


class RequestSource(models.TextChoices):
    """Who counted: the engine that worked, or the gateway before it that knows features."""

    ENGINE = "engine"
    GATEWAY = "gateway"


class RequestCounts(models.Model):
    """The counts of a service by one kind of source; null where it does not tell them."""

    feature = models.TextField(blank=True, default="")
    source = models.TextField(choices=RequestSource.choices)
    requests = models.BigIntegerField(null=True)
    succeeded = models.BigIntegerField(null=True)
    prompt_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    prefill_seconds = models.FloatField(null=True)
    decode_seconds = models.FloatField(null=True)
    split_kind = models.TextField(blank=True, default="")

    class Meta:
        abstract = True


class RequestHour(RequestCounts):
    """The counts of a service in an hour by one source, by feature and model.

    A later revision of the same source and hour takes the place of an earlier one. `source_key`
    names the counter (an agent's start and the address it reads, a gateway): two of them add up.
    Counts are null where the source does not tell them. `latency_counts` are requests at most as
    long as each of `latency_bounds_seconds`, and one more: longer than the last; not cumulative;
    `first_token_*` the same of the time to the first token. `prefill_seconds` and `decode_seconds`
    are what the engine worked on prompts and on answers; `split_kind` says how they are known.
    """

    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, null=True, related_name="request_hours"
    )
    service_named = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    # Of the agent that told it; null: a token of scope `requests` did.
    node = models.ForeignKey(
        "fleet.Node", on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    model = models.TextField(blank=True, default="")
    source_key = models.TextField()
    hour = models.DateTimeField()
    revision = models.BigIntegerField()
    latency_bounds_seconds = ArrayField(models.FloatField(), default=list)
    latency_counts = ArrayField(models.BigIntegerField(), default=list)
    first_token_bounds_seconds = ArrayField(models.FloatField(), default=list)
    first_token_counts = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source_key", "service_named", "feature", "model", "hour"],
                name="request_hour_once",
            ),
            models.CheckConstraint(
                condition=Q(requests__isnull=True) | Q(requests__gte=0),
                name="request_hour_counts_up",
            ),
        ]
        indexes = [
            models.Index(fields=["workload", "hour"], name="request_hour_by_workload"),
            models.Index(fields=["hour"], name="request_hour_by_hour"),
        ]

    def __str__(self) -> str:
        return f"{self.service_named} {self.hour}"


class RequestDay(RequestCounts):
    """RequestHour of one local day summed: for unit costs over months."""

    day = models.DateField()
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="request_days")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "workload", "feature", "source"], name="request_day_once"
            )
        ]
        indexes = [models.Index(fields=["workload", "day"], name="request_day_by_workload")]

    def __str__(self) -> str:
        return f"{self.workload_id} {self.day}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class ServiceObjective(models.Model):
    """The promise of a service, or of a feature of it: this share of requests within so long.

    Or, `measure` availability and `within_seconds` null: this share answered without an error.
    `budget_days` are those of its error budget, which runs on whatever days a page shows.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="objectives")
    feature = models.TextField(blank=True, default="")
    measure = models.TextField(
        choices=[
            ("latency", "whole answer"),
            ("first_token", "first token"),
            ("availability", "answered without an error"),
        ]
    )
    within_seconds = models.FloatField(null=True)
    target_ratio = models.FloatField()
    budget_days = models.PositiveSmallIntegerField(default=28, db_default=28)
    period = DateTimeRangeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(target_ratio__gt=0, target_ratio__lt=1, budget_days__gte=1)
                & (
                    Q(measure="availability", within_seconds__isnull=True)
                    | (~Q(measure="availability") & Q(within_seconds__gt=0))
                ),
                name="objective_can_be_met",
            )
        ]

    def __str__(self) -> str:
        return f"{self.workload_id} {self.measure} {self.within_seconds}"


class WorkloadChange(models.Model):
    """Something changed about a workload that may explain its numbers; `run` made a shipped model.

    Of kind *model* with a run, it is a model version shipped.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="changes")
    feature = models.TextField(blank=True, default="")
    kind = models.TextField(
        choices=[
            ("deploy", "deployment"),
            ("model", "model"),
            ("prompt", "prompt"),
            ("config", "settings"),
        ]
    )
    name = models.TextField()
    at = models.DateTimeField()
    run = models.ForeignKey(
        "workloads.Run", on_delete=models.PROTECT, null=True, related_name="shipped"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "feature", "kind", "name", "at"], name="workload_change_once"
            )
        ]
        indexes = [models.Index(fields=["workload", "at"], name="workload_change_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
