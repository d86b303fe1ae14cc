"""Days on which more was spent than on days like them."""

from django.db import models
from django.db.models import F, Q

from apps.economics.spend_detectors import SpendDetector


class SpendSubject(models.TextChoices):
    """The subject whose spend is watched; in this order from the whole to the most specific."""

    ORGANISATION = "organisation", "organisation"
    TEAM = "team", "team"
    POOL = "pool", "pool"
    CHARGE = "charge", "charge"
    WORKLOAD = "workload", "workload"


class SpendLine(models.TextChoices):
    """The look that found an anomaly of spend, and so the line that the spend was held against."""

    DAY = SpendDetector.DAY, "by the day"
    WEEK = SpendDetector.WEEK, "by the week"
    CREEP = SpendDetector.CREEP, "creeping up"
    WEEKEND = SpendDetector.WEEKEND, "at weekends"
    BUDGET = SpendDetector.BUDGET, "creeping over its budget"
    YEAR = SpendDetector.YEAR, "creeping over last year"


class SpendAnomaly(models.Model):
    """From a day on more was spent on a subject than on days like it before.

    `key` is of the team, pool or workload, or names the charge; `name` as it was called then. `ended_on` is the first
    day that was in line again: None while it lasts. `expected_micros` and `spent_micros` are of `days` days from
    `began_on` up to the last that was out of line: the excess is their difference, which `parts` and, in each dimension,
    `drivers` add up to exactly. `seen_in` are other series that show the same money. `strictness` is how strictly it
    was looked at. `look` found it; `line_from` to `line_until` are the days that what was expected is of (None: not kept), each × `line_scale`:
    of a budget (`line_name`) what makes them its pace, of a year ago how much more it was anyhow. `over_since` is the first
    day of the weeks in a row that are over such a line (None: of no such).
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
    look = models.TextField(choices=SpendLine.choices, default=SpendLine.DAY)
    line_from = models.DateField(null=True)
    line_until = models.DateField(null=True)
    line_name = models.TextField(blank=True, default="", db_default="")
    line_scale = models.FloatField(default=1.0, db_default=1.0)
    over_since = models.DateField(null=True)

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
