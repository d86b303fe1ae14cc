"""Fleet moves: what was proposed week by week, and what each week's look saw."""

from django.db import models
from django.db.models import F, Q


class FleetMoveLook(models.Model):
    """The look of a week, which begins on the local day `week`, at `weeks` whole weeks before it.

    `kinds` has for each kind how many candidates were seen, and why they are no proposal, with how many. Micro-units of
    a month: `addressable_micros` is what is paid by the hour, `counted_micros` what the moves that are counted are likely to save.
    `declined` says by its key why a matter that the look before proposed is proposed no more.
    """

    week = models.DateField(unique=True)
    made_at = models.DateTimeField()
    seen_from = models.DateField()
    weeks = models.PositiveSmallIntegerField()
    book_made_at = models.DateTimeField(null=True)
    addressable_micros = models.BigIntegerField()
    counted_micros = models.BigIntegerField()
    kinds = models.JSONField()
    declined = models.JSONField(default=dict, db_default={})
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(seen_from__lte=F("week")), name="fleet_move_look_is_back"
            )
        ]

    def __str__(self) -> str:
        return f"moves of {self.week}"


class FleetMove(models.Model):
    """A matter: the same work to the same kind of capacity is one from week to week, by its `key`.

    What became of it is kept with its recommendation.
    """

    key = models.TextField(unique=True)
    kind = models.TextField()
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    opened_week = models.DateField()

    def __str__(self) -> str:
        return self.key


class FleetMoveProposal(models.Model):
    """A matter as a week's look proposes it, frozen. `place` is its place in the look's order, from 0.

    `document` is what was said, amounts in micro-units a month. Of the proposals of one `exclusive_group`, which touch the
    same dollars, those are counted that are worth most without touching one twice.
    """

    look = models.ForeignKey(FleetMoveLook, on_delete=models.CASCADE, related_name="proposals")
    move = models.ForeignKey(FleetMove, on_delete=models.CASCADE, related_name="proposals")
    place = models.PositiveIntegerField()
    exclusive_group = models.PositiveIntegerField()
    is_counted = models.BooleanField()
    document = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["look", "move"], name="fleet_move_once_in_a_week"),
            models.UniqueConstraint(fields=["look", "place"], name="fleet_move_place_once"),
        ]

    def __str__(self) -> str:
        return f"{self.move} in {self.look}"
