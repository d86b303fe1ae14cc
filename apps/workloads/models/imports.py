"""Files of jobs that somebody brought."""

from django.db import models


class ImportState(models.TextChoices):
    """How far an import is; one of a command begins as running."""

    LOOKING = "looking", "to be looked at"
    ASKING = "asking", "waits for a person"
    WAITING = "waiting", "to be run"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "broken off"
    DISCARDED = "discarded", "discarded"


class ImportBatch(models.Model):
    """One import of a file of jobs: what came of it and which rows were rejected.

    `stored_as` is the uploaded file's name under RUNRATE_HOME/uploads while it is kept; `asked` how
    it is to be read, `seen` what a look at its first lines found; `alive_at` the last sign of life
    of whoever works on it. `read_bytes` is how far it is in the file, `jobs_from` and `jobs_until`
    when its jobs held something, `gpu_types` what it calls GPUs, by cluster and node.
    """

    kind = models.TextField(choices=[("sacct", "sacct"), ("csv", "CSV of jobs")])
    name = models.TextField()
    digest = models.TextField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    rows = models.BigIntegerField(default=0)
    imported = models.BigIntegerField(default=0)
    unchanged = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    state = models.TextField(choices=ImportState.choices, default=ImportState.DONE)
    stored_as = models.TextField(blank=True, default="")
    size_bytes = models.BigIntegerField(default=0)
    asked = models.JSONField(default=dict)
    seen = models.JSONField(default=dict)
    failure = models.TextField(blank=True, default="")
    alive_at = models.DateTimeField(null=True)
    read_bytes = models.BigIntegerField(default=0)
    jobs_from = models.DateTimeField(null=True)
    jobs_until = models.DateTimeField(null=True)
    gpu_types = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name


class RejectedRow(models.Model):
    """A row of an import that was not taken, with its line number and why."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.PROTECT, related_name="rejected_rows")
    line = models.BigIntegerField()
    field = models.TextField()
    reason = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "line"], name="rejected_row_once")]

    def __str__(self) -> str:
        return f"line {self.line}: {self.field}: {self.reason}"
