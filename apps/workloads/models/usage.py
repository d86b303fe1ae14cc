"""Purchases from model APIs, call by call; no prompt and no answer is ever kept."""

from django.db import models

from apps.workloads.models.work import Workload


class UsageEvent(models.Model):
    """One call to a model API, as its response or a gateway told of it.

    (source, key) is told once. `response_id` is the vendor's own id of the response, empty where its
    teller had none: of all that tell of one response one `is_counted`, the others are kept beside
    it. `input_tokens` include cached and cache-write ones, `output_tokens`
    include reasoning ones, whatever the vendor's own convention. `parent_key` is the key of the span
    that holds a span, empty where none does; `stated_cost` what its teller says that it cost, in US
    dollars: shown beside ours, and never booked. `outcome` is ok, rate_limited (429),
    server_error (5xx), refused (other 4xx) or cancelled. `detail` holds counts that prices may ask
    for beyond these (audio tokens, web searches), by genai-prices' own names.
    """

    source = models.TextField()
    key = models.TextField()
    response_id = models.TextField(blank=True, default="")
    is_counted = models.BooleanField(default=True)
    at = models.DateTimeField()
    vendor = models.TextField()
    model = models.TextField()
    tier = models.TextField(blank=True, default="")
    outcome = models.TextField(default="ok")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        Workload, on_delete=models.PROTECT, null=True, related_name="usage_events"
    )
    feature = models.TextField(blank=True, default="")
    input_tokens = models.BigIntegerField(null=True)
    cached_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    detail = models.JSONField(default=dict)
    latency_seconds = models.FloatField(null=True)
    parent_key = models.TextField(blank=True, default="")
    stated_cost = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    taken_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "key"], name="usage_event_once")]
        indexes = [
            models.Index(fields=["at"], name="usage_event_by_time"),
            models.Index(
                fields=["response_id"],
                condition=~models.Q(response_id=""),
                name="usage_event_by_response",
            ),
            models.Index(
                fields=["source", "parent_key"],
                condition=~models.Q(parent_key=""),
                name="usage_event_by_parent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model} {self.key}"


class SetAsideSpan(models.Model):
    """A span that looks like a call and was not understood, or not all of it: to be read again.

    `content` has its times, ids and those of its attributes that are names, ids and numbers; never
    what was asked or answered. `table_version` is of the spellings that it was last read by.
    """

    source = models.TextField()
    key = models.TextField()
    parent_id = models.TextField(blank=True, default="")
    content = models.JSONField()
    table_version = models.TextField()
    taken_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "key"], name="set_aside_once")]
        indexes = [models.Index(fields=["taken_at"], name="set_aside_by_time")]

    def __str__(self) -> str:
        return self.key
