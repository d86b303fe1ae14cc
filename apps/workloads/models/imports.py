"""Files of jobs that somebody brought."""

from django.db import models

from apps.uploads.imports import RejectedFileRow, UploadedImport


class ImportBatch(UploadedImport):
    """One import of a file of jobs: what came of it and which rows were rejected.

    `jobs_from` and `jobs_until` are when its jobs held something, `gpu_types` what it calls GPUs, by
    cluster and node.
    """

    kind = models.TextField(choices=[("sacct", "sacct"), ("csv", "CSV of jobs")])
    jobs_from = models.DateTimeField(null=True)
    jobs_until = models.DateTimeField(null=True)
    gpu_types = models.JSONField(default=dict)


class RejectedRow(RejectedFileRow):
    """A row of an import that was not taken, with its line number and why."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.PROTECT, related_name="rejected_rows")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "line"], name="rejected_row_once")]
