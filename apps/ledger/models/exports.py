"""Files of ledger rows that somebody asked for."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class ExportWhat(models.TextChoices):
    """The rows that an export is of."""

    LINES = "lines"
    JOB_DAYS = "job_days"
    DAYS = "days"
    SERVICE_DAYS = "service_days"
    RUN_DAYS = "run_days"


class FileForm(models.TextChoices):
    """The form that a file is written in: CSV packed by gzip, or Parquet."""

    CSV = "csv"
    PARQUET = "parquet"


class ExportState(models.TextChoices):
    """How far an export is."""

    QUEUED = "queued"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Export(models.Model):
    """A file of ledger rows that somebody asked for, made in the background and kept for a while.

    `asked` are the filters in words, `chosen` the ids they meant. `team_ids` are the teams whose
    rows are in the file, decided when it was made; null: everybody's. `alive_at` is when whoever
    makes it last said so; `attempt` counts who took it up, `tries` those of them that nobody else ended.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    token = models.ForeignKey(
        "accounts.AccessToken", on_delete=models.PROTECT, null=True, related_name="+"
    )
    what = models.TextField(choices=ExportWhat.choices)
    form = models.TextField(choices=FileForm.choices, default=FileForm.CSV, db_default=FileForm.CSV)
    window_text = models.TextField()
    first_day = models.DateField()
    end_day = models.DateField()
    zone = models.TextField()
    asked = models.JSONField(default=dict)
    chosen = models.JSONField(default=dict)
    team_ids = models.JSONField(null=True)
    state = models.TextField(choices=ExportState.choices, default=ExportState.QUEUED)
    rows = models.BigIntegerField(default=0)
    rows_estimated = models.BigIntegerField(null=True)
    size_bytes = models.BigIntegerField(null=True)
    digest = models.TextField(blank=True, default="")
    failure = models.TextField(blank=True, default="")
    attempt = models.IntegerField(default=0)
    tries = models.IntegerField(default=0)
    asked_at = models.DateTimeField()
    alive_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    has_file = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=True) ^ Q(token__isnull=True),
                name="export_is_somebodys",
            ),
            models.CheckConstraint(
                condition=Q(end_day__gt=F("first_day")), name="export_window_is_forward"
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(state__in=("queued", "making")),
                name="export_to_be_made",
            ),
            models.Index(fields=["person", "id"], name="export_by_person"),
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.window_text}"
