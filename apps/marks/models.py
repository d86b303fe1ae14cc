"""Marks of changed hours, and of changed spans that are yet to become marks.

Their tables, and the sequence of their revisions, are named after the app that had them first.
"""

from django.db import models
from django.db.models import F, Q


class Pass(models.IntegerChoices):
    """The passes that hours are marked for. Tables keep the numbers; marks are taken in their order."""

    USAGE = 1
    CHARGE = 2
    SPLIT = 3
    SPREAD = 4
    ROLLUP = 5
    CALLS = 6
    DIVIDE = 7
    ROLLUP_CORRECTIONS = 8
    DIVIDE_CORRECTIONS = 9
    BILLS = 10


class ChangedHour(models.Model):
    """This pass must do this unit's hour again.

    `unit` is the node for usage and split, 0 for charge and spread, the pool (0: none) for rollup
    and divide, of corrections too, whose `hour` is the first of the local day, 0 or 1 for calls to
    model APIs: those that are new, or all of the hour anew; for bills what changed that they go by
    (`queries.BillUnit`). A settler deletes a mark only at the revision it read before the facts.
    """

    pk = models.CompositePrimaryKey("pass_id", "hour", "unit")
    pass_id = models.SmallIntegerField(choices=Pass.choices)
    unit = models.BigIntegerField()
    hour = models.DateTimeField()
    revision = models.BigIntegerField()

    class Meta:
        db_table = "fleet_changedhour"

    def __str__(self) -> str:
        return f"{self.pass_id}/{self.unit}/{self.hour:%Y-%m-%dT%H}"


class ChangedRange(models.Model):
    """A change wider than a day, waiting to become marks."""

    pass_id = models.SmallIntegerField(choices=Pass.choices)
    unit = models.BigIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    revision = models.BigIntegerField()

    class Meta:
        db_table = "fleet_changedrange"
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="changed_range_is_forward"
            )
        ]

    def __str__(self) -> str:
        return f"{self.pass_id}/{self.unit} {self.starts_at}–{self.ends_at}"
