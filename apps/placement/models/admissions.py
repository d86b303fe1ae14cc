"""Admissions: a job as it was asked for, what was answered and why, and who let it pass all the same."""

import pghistory
from django.db import models
from django.db.models import Q


class AdmissionVerdict(models.TextChoices):
    """Verdicts that an admission is answered with."""

    ALLOW = "allow", "allow"
    WARN = "warn", "warn"
    DENY = "deny", "deny"


@pghistory.track(pghistory.UpdateEvent())
class JobAdmission(models.Model):
    """A job held against budgets and quotas. `digest` is of the job and of every figure that it was held against.

    `answer` is the need, and each limit with what is left of it. Nothing of a row changes but by an override (who,
    when, and why) and by the one job that used it: when, and `used_by`, `task:DIGEST` of SkyPilot's or `job:ID`. The audit trail has both.
    `…_name` is of the person, or of the token where there is no person.
    """

    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    asked_name = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    job = models.JSONField()
    digest = models.CharField(max_length=64)
    verdict = models.TextField(choices=AdmissionVerdict.choices)
    answer = models.JSONField()
    overridden_at = models.DateTimeField(null=True)
    overridden_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    overridden_name = models.TextField(blank=True, default="")
    override_reason = models.TextField(blank=True, default="")
    used_at = models.DateTimeField(null=True)
    used_by = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(overridden_at=None, override_reason="")
                | Q(overridden_at__isnull=False, verdict="deny") & ~Q(override_reason=""),
                name="admission_overridden_with_reason",
            ),
            models.CheckConstraint(
                condition=Q(used_at=None, used_by="")
                | Q(used_at__isnull=False, overridden_at__isnull=False) & ~Q(used_by=""),
                name="admission_used_where_overridden",
            ),
        ]
        indexes = [
            models.Index(fields=["-asked_at", "-id"], name="admission_newest_first"),
            models.Index(
                fields=["-overridden_at", "-id"],
                condition=Q(overridden_at__isnull=False),
                name="admission_overridden",
            ),
        ]

    def __str__(self) -> str:
        return f"admission {self.pk}"
