"""Returns of workloads: what their owner says a unit is worth, and how good their results are."""

from django.db import models
from django.db.models import F, Q

from apps.workloads.models.reports import RunAttempt
from apps.workloads.models.work import Workload


class ValueUnit(models.TextChoices):
    """The unit that a workload's output is counted in; Runrate counts it, but for weeks."""

    THOUSAND_REQUESTS = "thousand_requests", "1,000 requests"
    MILLION_TOKENS = "million_tokens", "1 M tokens"
    FINISHED_RUN = "finished_run", "finished run"
    GOOD_CHECKPOINT = "good_checkpoint", "good checkpoint"
    WEEK = "week", "week"


class WorkloadValue(models.Model):
    """The worth of one unit of a workload from a day on, by its owner's word: from low to high.

    In the organisation's currency. Of those valid on a day the one valid from the latest counts, and
    of these the one stated last; both ends null: from then on no value is stated. Rows are never
    changed or taken away: they are the history.
    `stated_name` is also a token's.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="values")
    unit = models.TextField(choices=ValueUnit.choices)
    low = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    high = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    valid_from = models.DateField()
    note = models.TextField(blank=True, default="")
    stated_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    stated_name = models.TextField()
    stated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(low__isnull=True, high__isnull=True)
                | Q(low__gte=0, high__gte=F("low")),
                name="workload_value_is_a_range",
            )
        ]
        indexes = [models.Index(fields=["workload", "-valid_from", "-id"], name="value_newest")]

    def __str__(self) -> str:
        return f"{self.workload_id} {self.unit} from {self.valid_from}"


class WorkloadScore(models.Model):
    """How good a workload's results were on a day, by its owner's word: an evaluation, task success.

    Another of the same name and day takes its place in what is shown; both are kept.
    """

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="scores")
    name = models.TextField()
    value = models.FloatField()
    higher_is_better = models.BooleanField()
    day = models.DateField()
    stated_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, related_name="+"
    )
    stated_name = models.TextField()
    stated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["workload", "name", "-day", "-id"], name="score_newest")]

    def __str__(self) -> str:
        return f"{self.workload_id} {self.name} {self.value}"


class RunScore(models.Model):
    """A measure that a run reported of itself at a moment, such as its loss or an evaluation's score.

    By the report's sequence and its place in it, as RunEvent. `value` null: it was no finite number.
    """

    pk = models.CompositePrimaryKey("attempt", "sequence", "part")
    attempt = models.ForeignKey(RunAttempt, on_delete=models.CASCADE, related_name="scores")
    sequence = models.BigIntegerField()
    part = models.SmallIntegerField()
    name = models.TextField()
    at = models.DateTimeField()
    step = models.BigIntegerField(null=True)
    value = models.FloatField(null=True)
    higher_is_better = models.BooleanField()

    class Meta:
        indexes = [
            models.Index(fields=["attempt", "name", "at"], name="run_score_by_time"),
            models.Index(fields=["at"], name="run_score_by_moment"),
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
