"""Verdicts of people on anomalies of spend and on findings, and on the series that they are of."""

from django.db import models
from django.db.models import Q

from apps.review.models.findings import Finding
from apps.review.models.spend import SpendAnomaly


class VerdictKind(models.TextChoices):
    """The kind of a verdict on an anomaly, or on a series."""

    EXPLAINED = "explained", "explained"
    FALSE_ALARM = "false_alarm", "false alarm"
    MUTED = "muted", "muted"


class AnomalyVerdict(models.Model):
    """A verdict of a person, with who, when and why; taken back it counts no more, and stays.

    `series` is `measure|what it is of`, or `measure|*` for all of a kind. A mute is of no anomaly; all else is of one of
    spend or of a finding. `until` is of mutes; None: until taken back. `who` is also of a token.
    """

    verdict = models.TextField(choices=VerdictKind.choices)
    series = models.TextField()
    spend = models.ForeignKey(
        SpendAnomaly, on_delete=models.CASCADE, null=True, related_name="verdicts"
    )
    finding = models.ForeignKey(
        Finding, on_delete=models.CASCADE, null=True, related_name="verdicts"
    )
    at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, default="")
    who = models.TextField()
    by = models.ForeignKey("accounts.User", on_delete=models.PROTECT, null=True, related_name="+")
    taken_back_at = models.DateTimeField(null=True)
    taken_back_who = models.TextField(blank=True, default="")
    taken_back_reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(spend=None) | Q(finding=None), name="anomaly_verdict_of_one"
            )
        ]
        indexes = [models.Index(fields=["series", "at"], name="anomaly_verdict_by_series")]

    def __str__(self) -> str:
        return f"{self.verdict} {self.series}"
