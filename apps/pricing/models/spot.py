"""Memory of spot prices beside the rates that they are."""

from django.db import models


class SpotRepeat(models.Model):
    """A moment at which the spot price of `target` was told again, and was what it was.

    Without it a price that turns out late to have moved in between would hold on too long.
    """

    target = models.TextField()
    moment = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["target", "moment"], name="spot_repeat_once")
        ]

    def __str__(self) -> str:
        return f"{self.target} at {self.moment}"
