"""Alerts: one for each matter, what was told of it step by step, and who read how far."""

from django.db import models
from django.db.models import Q


class AlertKind(models.TextChoices):
    """The kind of matter that an alert is about."""

    BUDGET_THRESHOLD = "budget_threshold", "budget used"
    BUDGET_FORECAST = "budget_forecast", "budget forecast"
    ANOMALY = "anomaly", "anomaly"
    BACKUP = "backup", "backup"


class AlertSeverity(models.TextChoices):
    """How soon somebody should look; urgent ones are sent in quiet hours too."""

    NOTICE = "notice", "notice"
    WARNING = "warning", "warning"
    URGENT = "urgent", "urgent"


class AlertState(models.TextChoices):
    """Where it stands."""

    OPEN = "open", "open"
    ACKNOWLEDGED = "acknowledged", "acknowledged"
    MUTED = "muted", "muted"
    RESOLVED = "resolved", "resolved"


class Alert(models.Model):
    """A matter that its owner is told of; there is never a second one of it.

    `matter` is its stable key, such as `budget:12:2026-11-01:threshold`. `level` is how far it went (of thresholds the
    per cent); it grows, and falls back where the budget's amount was raised. `title` and `facts` are those of its newest entry. `team` None: the organisation's.
    `muted_until` None of a muted one: until somebody says otherwise. `state_…` is who, when and why; `state_name` is
    also of a token, and empty where Runrate itself did it.
    """

    matter = models.TextField(unique=True)
    kind = models.TextField(choices=AlertKind.choices)
    severity = models.TextField(choices=AlertSeverity.choices)
    level = models.IntegerField(default=0)
    title = models.TextField()
    facts = models.JSONField(default=list)
    link = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    opened_at = models.DateTimeField()
    told_at = models.DateTimeField()
    state = models.TextField(choices=AlertState.choices, default=AlertState.OPEN)
    state_at = models.DateTimeField()
    state_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    state_name = models.TextField(blank=True, default="")
    state_reason = models.TextField(blank=True, default="")
    muted_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(muted_until=None) | Q(state="muted"), name="alert_muted_until_a_moment"
            ),
        ]
        indexes = [
            models.Index(fields=["-told_at", "-id"], name="alert_newest_first"),
            models.Index(fields=["state", "-told_at"], name="alert_by_state"),
        ]

    def __str__(self) -> str:
        return self.matter


class AlertStep(models.TextChoices):
    """A step in the life of an alert."""

    OPENED = "opened", "opened"
    RAISED = "raised", "went further"
    LOWERED = "lowered", "fell back"
    REOPENED = "reopened", "open again"
    ACKNOWLEDGED = "acknowledged", "acknowledged"
    MUTED = "muted", "muted"
    UNMUTED = "unmuted", "no longer muted"
    RESOLVED = "resolved", "resolved"


class AlertEntry(models.Model):
    """A step of an alert, as it was told: `title` and `facts` are never changed. `who` is empty where Runrate itself did it.

    `routed_at` is when it was put into messages of channels; None where that is still to be done.
    """

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="entries")
    at = models.DateTimeField()
    step = models.TextField(choices=AlertStep.choices)
    severity = models.TextField(choices=AlertSeverity.choices)
    title = models.TextField()
    facts = models.JSONField(default=list)
    who = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    routed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["alert", "at", "id"], name="alert_entry_in_order"),
            models.Index(
                fields=["id"], condition=Q(routed_at=None), name="alert_entry_to_be_routed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.alert_id}"


class AlertsRead(models.Model):
    """Until when a person has read what is told."""

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, primary_key=True)
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id} until {self.read_at}"


class BudgetForecastLook(models.Model):
    """The expectation of a budget on a local day, as the last look of the day had it.

    `budget_id` is of planning's budgets, `first_day` that of its period. `chance` and `expected_share` are null where not known.
    """

    budget_id = models.BigIntegerField()
    first_day = models.DateField()
    day = models.DateField()
    looked_at = models.DateTimeField()
    chance = models.FloatField(null=True)
    expected_share = models.FloatField(null=True)
    share_gone = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["budget_id", "first_day", "day"], name="budget_looked_at_once_a_day"
            )
        ]

    def __str__(self) -> str:
        return f"budget {self.budget_id} on {self.day}"
