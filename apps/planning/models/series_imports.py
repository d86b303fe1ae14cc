"""Files of histories that somebody sent by browser."""

from django.conf import settings
from django.db import models

from apps.uploads.imports import RejectedFileRow, UploadedImport


class SeriesImport(UploadedImport):
    """One import of a file of a series' history: `rows` and `rejected` are rows of it, `imported` and `unchanged` hours.

    `person` is who sent it.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )


class RejectedSeriesRow(RejectedFileRow):
    """A row of a series' file that cannot be taken, with its number, its column and why."""

    batch = models.ForeignKey(SeriesImport, on_delete=models.CASCADE, related_name="rejected_rows")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "line"], name="rejected_series_row_once")
        ]
