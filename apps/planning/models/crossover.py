"""Comparisons of self-hosting with an API that somebody keeps, and their runs."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class KeptAdvice(models.TextChoices):
    """The advice that a run came to; empty where it was refused."""

    SELF_HOST = "self_host", "serve it yourself"
    API = "api", "buy it from the API"
    TOO_CLOSE = "too_close_to_call", "too close to call"


class KeptScenario(models.Model):
    """A scenario as it was entered: `text` is TOML, or the same in JSON, and says its `name`.

    What it leaves out is measured of `service`, whose team then is its own. It is that team's to
    see, finance's and platform's; without a team theirs alone. `asked_at`: when a run was last asked
    for, by hand or by a change. `owner` is null where a token keeps it.
    """

    name = models.TextField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    service = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    text = models.TextField()
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"], name="scenario_kept_once", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return self.name


class ScenarioRun(models.Model):
    """The answer of a kept scenario at a moment, from which inputs.

    `inputs` is the whole document that was answered, of which `digest` is the SHA-256; `measured`
    says what of it a service's hours gave. `answer` is empty and `refusal` says why, where it could
    not be answered. `flipped_from` is what the run before advised where this one advises
    otherwise; `moved` are the inputs that are not what they were then. `is_asked`: not by the week.
    """

    scenario = models.ForeignKey(KeptScenario, on_delete=models.CASCADE, related_name="runs")
    ran_at = models.DateTimeField()
    is_asked = models.BooleanField()
    digest = models.TextField(blank=True, default="")
    inputs = models.JSONField(default=dict)
    measured = models.JSONField(null=True)
    answer = models.JSONField(default=dict)
    advice = models.TextField(choices=KeptAdvice.choices, blank=True, default="")
    refusal = models.TextField(blank=True, default="")
    flipped_from = models.TextField(choices=KeptAdvice.choices, blank=True, default="")
    moved = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scenario", "ran_at"], name="scenario_runs_in_order"),
            models.CheckConstraint(
                condition=Q(advice="") ^ Q(refusal=""), name="run_is_answered_or_refused"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scenario_id} at {self.ran_at:%Y-%m-%dT%H:%M}"
