"""Portfolios that were asked for, how far each is, and what it came to."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class PortfolioState(models.TextChoices):
    """How far a run is; the last three are over."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "under way"
    DONE = "done", "done"
    REFUSED = "refused", "refused"
    CANCELLED = "cancelled", "cancelled"


class PortfolioRun(models.Model):
    """A question to the ledger with `overlay` over it, as its tables and keys; `text` is what was typed of it.

    `reading_options` is null where a token asked; `is_weekly` where nobody did. Of `of` mixes `found` are
    found; `alive_at` is when a worker last said so, of the `tries` that were begun. `answer` is of a run that is done, with the whole
    question and its `digest`; `refusal` says why there is none.
    """

    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    is_weekly = models.BooleanField(default=False)
    overlay = models.JSONField(default=dict)
    text = models.TextField(blank=True, default="")
    state = models.TextField(choices=PortfolioState.choices, default=PortfolioState.WAITING)
    alive_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    found = models.IntegerField(default=0)
    of = models.IntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    digest = models.TextField(blank=True, default="")
    answer = models.JSONField(null=True)
    refusal = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state=PortfolioState.DONE, answer__isnull=False)
                | ~Q(state=PortfolioState.DONE) & Q(answer__isnull=True),
                name="portfolio_is_answered_when_done",
            ),
            models.CheckConstraint(
                condition=Q(state=PortfolioState.REFUSED) ^ Q(refusal=""),
                name="portfolio_says_why_it_is_refused",
            ),
        ]
        indexes = [models.Index(fields=["state", "-asked_at"], name="portfolio_by_state")]

    def __str__(self) -> str:
        return f"asked at {self.asked_at:%Y-%m-%dT%H:%M}"
