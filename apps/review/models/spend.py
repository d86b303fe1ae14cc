"""Days on which more was spent than on days like them, and what people say of what is found."""

from django.db import models
from django.db.models import F, Q


class SpendSubject(models.TextChoices):
    """Whose spend it is; in this order from the whole to the most specific."""

    ORGANISATION = "organisation", "organisation"
    TEAM = "team", "team"
    POOL = "pool", "pool"
    CHARGE = "charge", "charge"
    WORKLOAD = "workload", "workload"


class SpendAnomaly(models.Model):
    """From a day on more was spent on a subject than on days like it before.

    `key` is of the team, pool or workload, or names the charge; `name` as it was called then. `ended_on` is the first
    day that was in line again: None while it lasts. `expected_micros` and `spent_micros` are of `days` days from
    `began_on` up to the last that was out of line: the excess is their difference, which `parts` and, in each dimension,
    `drivers` add up to exactly. `seen_in` are other series that show the same money. `strictness` is how strictly it
    was looked at.
    """

    subject = models.TextField(choices=SpendSubject.choices)
    key = models.TextField(blank=True, default="")
    name = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    began_on = models.DateField()
    first_seen_on = models.DateField()
    last_seen_on = models.DateField()
    ended_on = models.DateField(null=True)
    days = models.IntegerField()
    expected_micros = models.BigIntegerField()
    spent_micros = models.BigIntegerField()
    parts = models.JSONField(default=list)
    drivers = models.JSONField(default=list)
    causes = models.JSONField(default=list)
    seen_in = models.JSONField(default=list)
    strictness = models.FloatField(default=1.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "key", "began_on"], name="spend_anomaly_once"
            ),
            models.CheckConstraint(
                condition=Q(spent_micros__gt=F("expected_micros")), name="spend_anomaly_is_more"
            ),
        ]
        indexes = [
            models.Index(fields=["-began_on", "id"], name="spend_anomaly_by_day"),
            models.Index(fields=["-last_seen_on"], name="spend_anomaly_by_last_seen"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.name} on {self.began_on}"


class VerdictKind(models.TextChoices):
    """What somebody says of an anomaly, or of a series."""

    EXPLAINED = "explained", "explained"
    FALSE_ALARM = "false_alarm", "false alarm"
    MUTED = "muted", "muted"


class AnomalyVerdict(models.Model):
    """What a person said, with who, when and why; taken back it counts no more, and stays.

    `series` is `measure|what it is of`, or `measure|*` for all of a kind. `until` is of mutes; None: until taken back.
    `who` is also of a token.
    """

    verdict = models.TextField(choices=VerdictKind.choices)
    series = models.TextField()
    spend = models.ForeignKey(
        SpendAnomaly, on_delete=models.CASCADE, null=True, related_name="verdicts"
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
        indexes = [models.Index(fields=["series", "at"], name="anomaly_verdict_by_series")]

    def __str__(self) -> str:
        return f"{self.verdict} {self.series}"
