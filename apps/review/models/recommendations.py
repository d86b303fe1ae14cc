"""Recommendations: one for each matter, what became of it, what it brought, and what each week's look saw."""

import pgtrigger
from django.db import models
from django.db.models import F, Q

from apps.economics.realised_saving import SavingStatus


class RecommendationState(models.TextChoices):
    """Where it stands."""

    OPEN = "open", "open"
    CLAIMED = "claimed", "claimed"
    DONE = "done", "done"
    VERIFIED = "verified", "verified"
    FAILED = "failed", "failed"
    DISMISSED = "dismissed", "dismissed"
    SNOOZED = "snoozed", "snoozed"
    CLOSED = "closed", "no longer proposed"


class RecommendationLook(models.Model):
    """The look of the week that begins on the local day `week`; it is kept, and never made again.

    `kinds` has for each kind what was looked at, how many of it, and why the others are no proposal, with how many.
    `counted_micros` is what those that are counted are likely to save in a month, in micro-units. `waste` says where each
    dollar of the waste of the same weeks went; it is empty of looks from before that was kept.
    """

    week = models.DateField(unique=True)
    made_at = models.DateTimeField()
    counted_micros = models.BigIntegerField()
    kinds = models.JSONField()
    waste = models.JSONField(default=dict, db_default={})

    def __str__(self) -> str:
        return f"recommendations of {self.week}"


class Recommendation(models.Model):
    """A matter: what is proposed of one thing is one from week to week, by its `matter`, such as `to_spot:7:2`.

    `proposal` is what was proposed last, amounts in micro-units of a month of 730 h; while it is claimed or done it
    stays as it was at the claim. Of one `exclusive_group`, which touch the same dollars, those with `is_counted` may be
    added up; it is 0 until it is looked which others touch the same. `team` None: the organisation's. `owner` sees to it
    until the local day `due_on`. `state_…` is who, when and why; `state_name` is also of a token, and empty where
    Runrate itself did it.
    """

    matter = models.TextField(unique=True)
    kind = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    proposal = models.JSONField()
    exclusive_group = models.PositiveIntegerField()
    is_counted = models.BooleanField()
    first_week = models.DateField()
    last_week = models.DateField()
    state = models.TextField(choices=RecommendationState.choices, default=RecommendationState.OPEN)
    state_at = models.DateTimeField()
    state_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    state_name = models.TextField(blank=True, default="")
    state_reason = models.TextField(blank=True, default="")
    owner = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    due_on = models.DateField(null=True)
    claimed_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(last_week__gte=F("first_week")), name="recommended_forward"
            ),
            models.CheckConstraint(
                condition=Q(state="snoozed", snoozed_until__isnull=False)
                | ~Q(state="snoozed") & Q(snoozed_until=None),
                name="recommendation_snoozed_until",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("claimed", "done", "verified", "failed"))
                | Q(owner__isnull=False, claimed_at__isnull=False),
                name="recommendation_claimed_by_an_owner",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("done", "verified", "failed")) | Q(done_at__isnull=False),
                name="recommendation_done_at",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("dismissed", "closed")) | ~Q(state_reason=""),
                name="recommendation_ended_with_reason",
            ),
        ]
        indexes = [models.Index(fields=["state", "team"], name="recommendation_by_state")]

    def __str__(self) -> str:
        return self.matter


class RecommendationVerb(models.TextChoices):
    """A step in the life of a recommendation."""

    PROPOSED = "proposed", "proposed"
    PROPOSED_AGAIN = "proposed_again", "proposed again"
    CLAIMED = "claimed", "claimed"
    DONE = "done", "done"
    VERIFIED = "verified", "verified"
    FAILED = "failed", "failed"
    DISMISSED = "dismissed", "dismissed"
    SNOOZED = "snoozed", "snoozed"
    WOKEN = "woken", "no longer snoozed"
    REOPENED = "reopened", "reopened"
    CLOSED = "closed", "no longer proposed"


class RecommendationStep(models.Model):
    """A step of a recommendation, never changed; `who` is empty where Runrate itself did it."""

    recommendation = models.ForeignKey(
        Recommendation, on_delete=models.CASCADE, related_name="steps"
    )
    at = models.DateTimeField()
    verb = models.TextField(choices=RecommendationVerb.choices)
    who = models.TextField(blank=True, default="")
    why = models.TextField(blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["recommendation", "at", "id"], name="recommendation_step_in_order")
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.recommendation_id}"


class RecommendationOutcome(models.Model):
    """The outcome of a recommendation that was done: the promise at its claim, and what the ledger measured afterwards.

    `measured` is the saving as it was measured, with its counterfactual in words and figures; amounts in micro-units
    of a month of 730 h. One that is done again has another outcome.
    """

    recommendation = models.ForeignKey(
        Recommendation, on_delete=models.CASCADE, related_name="outcomes"
    )
    claimed_at = models.DateTimeField()
    done_at = models.DateTimeField()
    settled_at = models.DateTimeField()
    is_verified = models.BooleanField()
    promise = models.JSONField()
    measured = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recommendation", "done_at"], name="recommendation_settled_once"
            )
        ]

    def __str__(self) -> str:
        return f"outcome of {self.recommendation_id}"


class SavingMeasurement(models.Model):
    """A measurement, in the week that begins on the local day `week`, of a recommendation that was done at `done_at`; never changed.

    `promise` is the saving as it was claimed, `measured` what the ledger's days since came to so far (null where that is
    not known: `why` says so); amounts in micro-units of a month of 730 h. `digest` is a SHA-256 of all of it.
    """

    recommendation = models.ForeignKey(
        Recommendation, on_delete=models.CASCADE, related_name="measurements"
    )
    done_at = models.DateTimeField()
    week = models.DateField()
    measured_at = models.DateTimeField()
    status = models.TextField(choices=[(each.value, each.value) for each in SavingStatus])
    why = models.TextField(blank=True, default="")
    promise = models.JSONField()
    measured = models.JSONField(null=True)
    digest = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recommendation", "done_at", "week"], name="saving_measured_once_a_week"
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("verified", "failed")) | Q(measured__isnull=False),
                name="saving_judged_by_a_measure",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="saving_measurement_is_frozen", operation=pgtrigger.Update)
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.recommendation_id} in the week of {self.week}"
