"""Capacity that teams ask for, what Runrate knew about them then, and every step since."""

from django.db import models
from django.db.models import F, Q


class RequestState(models.TextChoices):
    """How far a request is."""

    RAISED = "raised", "waiting for a decision"
    APPROVED = "approved", "approved"
    DECLINED = "declined", "declined"
    WITHDRAWN = "withdrawn", "withdrawn"
    DELIVERED = "delivered", "delivered"


class RequestStepKind(models.TextChoices):
    """Steps that happened to a request; the last is measured, the others are somebody's."""

    RAISED = "raised", "raised"
    APPROVED = "approved", "approved"
    DECLINED = "declined", "declined"
    WITHDRAWN = "withdrawn", "withdrawn"
    DELIVERED = "delivered", "delivered"
    PRODUCTIVE = "productive", "first productive GPU-hour"


class CapacityRequest(models.Model):
    """GPUs for a team (and workload) in a pool or of a model, from `starts_at` to `ends_at` (null: open).

    `profile` is what was known as it was raised, a snapshot that nothing changes afterwards
    (apps.planning.queries.request_profile). `raised_by` is null where a token did.
    """

    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    gpu_model = models.TextField(blank=True, default="")
    gpus = models.PositiveIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    reason = models.TextField()
    raised_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    raised_at = models.DateTimeField()
    state = models.TextField(choices=RequestState.choices, default=RequestState.RAISED)
    profile = models.JSONField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(gpus__gte=1), name="capacity_request_is_for_some_gpus"
            ),
            models.CheckConstraint(
                condition=Q(pool=None) ^ Q(gpu_model=""),
                name="capacity_request_is_of_pool_or_model",
            ),
            models.CheckConstraint(
                condition=Q(ends_at=None) | Q(ends_at__gt=F("starts_at")),
                name="capacity_request_ends_after_it_starts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gpus} GPUs for team {self.team_id}"


class CapacityRequestStep(models.Model):
    """Something that happened to a request, when, by whom (null: by a token, or measured), and why."""

    request = models.ForeignKey(CapacityRequest, on_delete=models.CASCADE, related_name="steps")
    kind = models.TextField(choices=RequestStepKind.choices)
    at = models.DateTimeField()
    by = models.ForeignKey("accounts.User", on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "kind"], name="capacity_request_step_once")
        ]

    def __str__(self) -> str:
        return f"{self.request_id} {self.kind}"
