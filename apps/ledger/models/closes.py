"""Months closed: what was in them then, frozen, and what each team was told."""

import pghistory
import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.ledger.models.charges import ChargeKind, Status
from apps.ledger.models.sums import CostSums


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Close(models.Model):
    """A month as a finance person closed it; reopening keeps it and a later close is a new version.

    `cut_off` is when its facts were read, `digest` a SHA-256 of its lines, `checklist` what stood
    open and was accepted, `totals` micro-units by basis.
    """

    month = models.DateField()
    version = models.IntegerField()
    closed_at = models.DateTimeField()
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    note = models.TextField(blank=True, default="")
    cut_off = models.DateTimeField()
    digest = models.TextField()
    lines = models.BigIntegerField()
    checklist = models.JSONField(default=list)
    totals = models.JSONField(default=dict)
    reopened_at = models.DateTimeField(null=True)
    reopened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    reopen_reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["month", "version"], name="close_version_once"),
            models.UniqueConstraint(
                fields=["month"], condition=Q(reopened_at=None), name="month_closed_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} v{self.version}"


class StatementLine(CostSums):
    """A part of what a team was told it cost in a closed month; its lines sum to the close.

    `corrects_month` is set on what a correction of an earlier closed month posted here.
    """

    close = models.ForeignKey(Close, on_delete=models.PROTECT, related_name="statement_lines")
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.PROTECT, null=True, related_name="+"
    )
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.TextField(choices=ChargeKind.choices)
    status = models.TextField(choices=Status.choices)
    corrects_month = models.DateField(null=True)
    unit = models.TextField(blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["close", "team"], name="statement_by_team")]

    def __str__(self) -> str:
        return f"{self.close_id} team {self.team_id}"


class DigestOrigin(models.TextChoices):
    """When a digest of a closed month was made."""

    CLOSE = "close", "when it was closed"
    UPGRADE = "upgrade", "later: it was closed by a version that made none"
    PSEUDONYM = "pseudonym", "when a person's name was taken out"
    BILL = "bill", "when the bill was late-arriving, was undone, or was read anew"


class MonthDigest(models.Model):
    """A table's contents of a month when it was closed: its rows, and a SHA-256 of these `columns`.

    Columns that may name a person have a digest of their own (`is_personal`), with the key of their
    rows, so that taking a name out renews only this one. `bill_id` is of the bill whose rows alone
    it is of: one that comes after the close has digests of its own. Of several the last is in force;
    none is ever changed.
    """

    close = models.ForeignKey(Close, on_delete=models.PROTECT, related_name="digests")
    table = models.TextField()
    bill_id = models.BigIntegerField(null=True)
    is_personal = models.BooleanField()
    columns = models.JSONField()
    rows = models.BigIntegerField()
    digest = models.TextField()
    origin = models.TextField(choices=DigestOrigin.choices)
    made_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["close", "table", "is_personal", "id"], name="digest_of_table")
        ]
        triggers = [
            pgtrigger.Protect(
                name="month_digest_is_frozen", operation=pgtrigger.Update | pgtrigger.Delete
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table} of close {self.close_id}"


class LateEstimate(models.Model):
    """The cost that a node's hour of a closed month would have without its bill, by what came since.

    Its charges are frozen, and bills' rows that are longer than an hour are spread by what their
    hours cost. An hour that has any has those of all its nodes, and one without a node; `weight` is
    in micro-units. They go when the month is opened.
    """

    hour = models.DateTimeField()
    node = models.ForeignKey("fleet.Node", on_delete=models.PROTECT, null=True, related_name="+")
    pool = models.ForeignKey("fleet.Pool", on_delete=models.PROTECT, null=True, related_name="+")
    weight = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "node"], name="late_estimate_once", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.node_id}@{self.hour:%Y-%m-%dT%H}"


class CorrectedHour(models.Model):
    """A mark of a closed month of which the difference is posted; units are those of ChangedHour.

    What is posted later for the same hour does this one again, and opening the month lays it as a
    mark: until then the fact is in no line of the month.
    """

    pk = models.CompositePrimaryKey("hour", "pass_id", "unit")
    hour = models.DateTimeField()
    pass_id = models.SmallIntegerField()
    unit = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.pass_id}/{self.unit}/{self.hour:%Y-%m-%dT%H}"
