"""Data that came in through a door and was not understood: counted by its name, for two weeks."""

from django.db import models


class NotUnderstood(models.Model):
    """How often a name that no table has came in through a door on a day of UTC.

    `place` is the node or cluster it is of, empty where it is of none; `example` the id of the last that had it. Never
    a value, and nothing of what anybody wrote. An empty `name` counts further names of a full day.
    """

    door = models.TextField(
        choices=[
            ("calls", "calls to model APIs"),
            ("litellm", "LiteLLM"),
            ("spans", "spans"),
            ("sacct", "sacct"),
            ("jobs", "jobs over REST"),
            ("csv", "tables of jobs"),
            ("grants", "grants of devices"),
            ("devices", "devices"),
            ("metrics", "metrics of engines"),
        ]
    )
    place = models.TextField(blank=True, default="")
    name = models.TextField(blank=True, default="")
    day = models.DateField()
    times = models.BigIntegerField()
    last_at = models.DateTimeField()
    example = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["door", "day", "place", "name"], name="not_understood_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.door} {self.name}"
