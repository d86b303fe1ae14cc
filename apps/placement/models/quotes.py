"""Quotes as they were answered, and what came of the jobs that took one of their offers."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q


class JobQuote(models.Model):
    """A job as it was asked, its offers as they were answered, and the one that was taken.

    `digest` is of the job and of `book_digest`: the same inputs have the same answer. `pool_offers` says of those offers that are of
    pools (`pool_ids`, in order) their `place` among all, from 0, and what is charged: without the answer being read. `chosen` is the key of an offer, taken by a
    job of a scheduler or by a run of several. `run_name` is what the run will be called that may take one of
    `expected`, keys of offers in order; empty where a scheduler was told nothing. A job or a run takes one quote. `followed_at` is when it
    was last looked whether it ended. `cluster` is the one that its caller is bound to; null: none. `actual_…` is what came of it, of what the ledger has: null until it ended and was charged.
    """

    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    cluster = models.ForeignKey(
        "fleet.Cluster", on_delete=models.PROTECT, null=True, related_name="+"
    )
    job = models.JSONField()
    book = models.ForeignKey("placement.OfferBook", on_delete=models.SET_NULL, null=True)
    book_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    answer = models.JSONField()
    pool_ids = ArrayField(models.BigIntegerField(), default=list)
    pool_offers = models.JSONField(default=list)
    chosen = models.TextField(blank=True, default="")
    run_name = models.TextField(blank=True, default="")
    expected = models.JSONField(default=list)
    taken_at = models.DateTimeField(null=True)
    followed_at = models.DateTimeField(null=True)
    taken_by_job = models.ForeignKey(
        "workloads.Job", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    taken_by_run = models.ForeignKey(
        "workloads.Run", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actual_micros = models.BigIntegerField(null=True)
    actual_hours = models.FloatField(null=True)
    actual_gpu_hours = models.FloatField(null=True)
    actual_interruptions = models.PositiveIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(chosen="", taken_at=None) | ~Q(chosen="") & Q(taken_at__isnull=False),
                name="quote_taken_at_a_time",
            ),
            models.UniqueConstraint(fields=["taken_by_job"], name="quote_once_of_a_job"),
            models.UniqueConstraint(fields=["taken_by_run"], name="quote_once_of_a_run"),
        ]
        indexes = [
            models.Index(fields=["-asked_at", "-id"], name="quote_newest_first"),
            models.Index(
                fields=["taken_at"],
                condition=~Q(chosen="") & Q(ended_at=None),
                name="quote_to_follow",
            ),
            models.Index(
                fields=["-ended_at", "-id"],
                condition=~Q(chosen="") & Q(ended_at__isnull=False),
                name="quote_ended",
            ),
            models.Index(
                fields=["run_name", "-asked_at", "-id"],
                condition=~Q(run_name="") & Q(chosen=""),
                name="quote_to_take",
            ),
            GinIndex(fields=["pool_ids"], condition=Q(chosen=""), name="quote_open_by_pool"),
        ]

    def __str__(self) -> str:
        return f"quote {self.pk}"
