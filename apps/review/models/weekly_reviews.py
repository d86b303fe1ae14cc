"""Weekly reviews, frozen as they were made; what people said and decided of them."""

import pgtrigger
from django.db import models
from django.db.models import Q


class WeeklyReview(models.Model):
    """A review of an ISO week ("2026-W30"), as it was made: it is never changed, nor taken away.

    Made again it is a further edition, and the earlier ones stay. `content` has all but its
    workloads; `digest` is a SHA-256 of the canonical JSON of both together. `made_by` None: on
    schedule, or by a command. `reason` says why there is a further edition.
    """

    week = models.TextField()
    first_day = models.DateField()
    edition = models.SmallIntegerField(default=1)
    schema = models.SmallIntegerField()
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    reason = models.TextField(blank=True, default="")
    content = models.JSONField()
    digest = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["week", "edition"], name="weekly_review_once"),
            models.CheckConstraint(condition=Q(edition__gte=1), name="weekly_review_counts_up"),
        ]
        indexes = [models.Index(fields=["-first_day", "-edition"], name="weekly_review_by_week")]
        triggers = [
            pgtrigger.Protect(
                name="weekly_review_is_frozen", operation=pgtrigger.Update | pgtrigger.Delete
            ),
        ]

    def __str__(self) -> str:
        return f"{self.week} edition {self.edition}"


class WeeklyReviewWorkload(models.Model):
    """A workload in a frozen review, by its place in it; `team` was its owner then."""

    review = models.ForeignKey(WeeklyReview, on_delete=models.CASCADE, related_name="workloads")
    place = models.IntegerField()
    workload = models.ForeignKey("workloads.Workload", on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    verdict = models.TextField()
    content = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["review", "workload"], name="reviewed_workload_once"),
            models.UniqueConstraint(fields=["review", "place"], name="reviewed_workload_in_place"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="reviewed_workload_is_frozen", operation=pgtrigger.Update | pgtrigger.Delete
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workload_id} in {self.review_id}: {self.verdict}"


class WorkloadDecision(models.TextChoices):
    """The owner's decision what to do with a workload."""

    KEEP = "keep", "keep as it is"
    SHRINK = "shrink", "shrink"
    RETIRE = "retire", "retire"
    LOOK_INTO = "look_into", "look into"


class ReviewNote(models.Model):
    """A comment on a week or on a workload in it, or a decision on that workload; the newest decision counts.

    Kept by week, whatever edition was read. `workload` None: of the week as a whole, and without a
    decision. Never changed; `author_name` is also a token's.
    """

    week = models.TextField()
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    decision = models.TextField(choices=WorkloadDecision.choices, blank=True, default="")
    text = models.TextField(blank=True, default="")
    author = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    author_name = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(decision="") | Q(workload__isnull=False),
                name="decision_is_of_a_workload",
            ),
            models.CheckConstraint(
                condition=~Q(decision="") | ~Q(text=""), name="review_note_says_something"
            ),
        ]
        indexes = [models.Index(fields=["week", "workload", "id"], name="review_note_by_week")]

    def __str__(self) -> str:
        return f"{self.week} {self.workload_id} {self.decision}"
