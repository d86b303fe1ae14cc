"""Events that people know of days and a history does not say: holidays, launches, migrations."""

from django.db import models
from django.db.models import F, Q

from apps.planning.models.forecasts import SeriesDimension, SeriesMeasure


class DemandEventKind(models.TextChoices):
    """Kinds of events."""

    HOLIDAY = "holiday", "holiday"
    LAUNCH = "launch", "launch"
    MIGRATION = "migration", "migration"
    MODEL_CHANGE = "model_change", "model change"
    OUTAGE = "outage", "outage"
    OTHER = "other", "other"


class EventEffect(models.TextChoices):
    """The effect said of an event's days: times a factor, an amount more a day, or that nobody knows."""

    FACTOR = "factor", "times a factor"
    ADDED = "added", "an amount more a day"
    UNKNOWN = "unknown", "not known"


class DemandEvent(models.Model):
    """Days, from `first_day` to `last_day` (None: from then on), that are not like the others of some series.

    Of every measure where `measure` is empty, and of everything of it where `dimension` is; `key` is as of a series.
    `factor` and `added` (in the unit of a day's total) belong to their effects.
    """

    name = models.TextField()
    kind = models.TextField(choices=DemandEventKind.choices)
    first_day = models.DateField()
    last_day = models.DateField(null=True)
    measure = models.TextField(choices=SeriesMeasure.choices, blank=True, default="")
    dimension = models.TextField(choices=SeriesDimension.choices, blank=True, default="")
    key = models.TextField(blank=True, default="")
    effect = models.TextField(choices=EventEffect.choices)
    factor = models.FloatField(null=True)
    added = models.FloatField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(last_day=None) | Q(last_day__gte=F("first_day")),
                name="demand_event_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(effect="factor", factor__gte=0, added=None)
                | (Q(effect="added", factor=None) & Q(added__isnull=False) & ~Q(measure=""))
                | Q(effect="unknown", factor=None, added=None),
                name="demand_event_says_its_effect",
            ),
            models.CheckConstraint(
                condition=Q(dimension="", key="") | (~Q(dimension="") & ~Q(key="")),
                name="demand_event_is_of_something",
            ),
        ]

    def __str__(self) -> str:
        return self.name
