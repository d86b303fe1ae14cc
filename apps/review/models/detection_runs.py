"""On which days it was looked for what changed."""

from django.db import models


class Look(models.Model):
    """The look of a local day: at every figure up to the day before."""

    day = models.DateField(primary_key=True)
    looked_at = models.DateTimeField()
    series = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.day}"
