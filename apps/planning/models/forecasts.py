"""Series that are forecast, the history that people brought of them, and the forecasts that were made."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class SeriesMeasure(models.TextChoices):
    """A figure by the hour."""

    GPU_HOURS = "gpu_hours", "GPU-hours"
    REQUESTS = "requests", "requests"
    TOKENS = "tokens", "tokens"
    SPEND = "spend", "spend"
    QUEUE_WAIT = "queue_wait", "queue wait"


class SeriesDimension(models.TextChoices):
    """Dimensions that a series is of; the empty one is the whole organisation."""

    WHOLE = "", "the organisation"
    POOL = "pool", "pool"
    GPU_MODEL = "gpu_model", "GPU model"
    WORKLOAD_CLASS = "workload_class", "workload class"
    TEAM = "team", "team"
    SERVICE = "service", "service"


class Granularity(models.TextChoices):
    """Steps that a forecast has a value for: each hour of two weeks, or each local day of eighteen months."""

    HOUR = "hour", "hour"
    DAY = "day", "day"


class ForecastMethod(models.TextChoices):
    """How a forecast came to be; the last value and the last week are what is left where history is too short.

    A baseline stands where it did better on the history before than what it is a baseline of.
    """

    WEIGHTED_MEDIAN = "weighted_median", "weighted median of the candidates"
    LAST_VALUE = "last_value", "last value"
    LEVEL_SCENARIOS = "level_scenarios", "scenarios of the level"
    LAST_WEEK = "last_week", "mean of the last week"
    BASELINE = "baseline", "best baseline"


class ForecastSeries(models.Model):
    """A figure by the hour of one thing: `key` is the id of a pool, team or service, else the word itself.

    `looked_at` is when it was last looked for new hours of it.
    """

    measure = models.TextField(choices=SeriesMeasure.choices)
    dimension = models.TextField(choices=SeriesDimension.choices, blank=True, default="")
    key = models.TextField(blank=True, default="")
    looked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["measure", "dimension", "key"], name="forecast_series_once"
            ),
            models.CheckConstraint(
                condition=Q(dimension="", key="") | (~Q(dimension="") & ~Q(key="")),
                name="forecast_series_is_of_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.dimension}={self.key}"


class HistoryPoint(models.Model):
    """An hour of a series as a file has it, in the unit of its measure; an hour without a row is unknown."""

    pk = models.CompositePrimaryKey("series", "hour")
    series = models.ForeignKey(ForecastSeries, on_delete=models.CASCADE, related_name="history")
    hour = models.DateTimeField()
    value = models.FloatField()

    def __str__(self) -> str:
        return f"{self.series_id} {self.hour:%Y-%m-%dT%H}"


class HistoryDay(models.Model):
    """A local day of a series of which hours were measured: what is left of them beyond 90 days.

    `value` is the day's total in the unit of its measure, of waits the mean.
    """

    pk = models.CompositePrimaryKey("series", "day")
    series = models.ForeignKey(ForecastSeries, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    value = models.FloatField()

    def __str__(self) -> str:
        return f"{self.series_id} {self.day:%Y-%m-%d}"


class Forecast(models.Model):
    """A forecast of a series from the hour `starts_at` on, from what, how, and how it turned out.

    `points[n]` is of the hour (by day: of the local day) n after `starts_at`, `quantiles[level][n]` of each of
    QUANTILE_LEVELS; none where there is no interval. `recent` are those just before, `came` those since, null where
    not known. `digest` is of the values it was made from: `observed_hours` of them since `history_from`,
    `imported_hours` from files, `left_out_hours` not settled or not observed. `weights` are the shares of the
    candidates, `backtests` the scores of this method on this history (`horizon` in hours, or days), `scale` the
    mean difference of hours a day apart, of days a week apart. `shift` is the last change of level in the history
    (`on`, `effect`), `months` the totals of months by day: `month`, `days`, `value`, `quantiles`, and `events` those that
    people entered of its days, with how many before and ahead. `refusal` says why
    a fallback stands here. `reconciled[n]` is what `points[n]` becomes so that all parts add up to the whole's, whose
    forecast is `adds_up_to` (of the whole its own id); null where not all of them are forecast. `realised_hours` of it have come since, 24 for a day: their mean absolute error, that of
    `reconciled`, and the share of them inside the 80 % interval. `expected[n]` is the mean of the paths in that hour or day,
    `sums[level][n]` the quantiles of the total up to and with day n (by the hour: 24 hours) after its start; none where no
    path is known. `capacity[n]` is how many GPUs can be held then, empty where nothing bounds it: what of a value is above is
    waiting. `gates` are what it was held against. `seen`, by the hour, are quantiles (of SEEN_LEVELS) of the last hours that
    came, as many as eight weeks have, the last the most of all that were known; empty where nobody kept them.
    """

    series = models.ForeignKey(ForecastSeries, on_delete=models.CASCADE, related_name="forecasts")
    granularity = models.TextField(choices=Granularity.choices, default=Granularity.HOUR)
    made_at = models.DateTimeField()
    starts_at = models.DateTimeField()
    horizon = models.IntegerField()
    method = models.TextField(choices=ForecastMethod.choices)
    refusal = models.TextField(blank=True, default="")
    digest = models.TextField()
    history_from = models.DateTimeField()
    observed_hours = models.IntegerField()
    imported_hours = models.IntegerField()
    left_out_hours = models.IntegerField()
    queue = models.TextField(blank=True, default="")
    scale = models.FloatField(null=True)
    shift = models.JSONField(null=True)
    months = models.JSONField(default=list)
    events = models.JSONField(default=list)
    weights = models.JSONField(default=dict)
    backtests = models.JSONField(default=list)
    recent = ArrayField(models.FloatField(null=True))
    points = ArrayField(models.FloatField())
    quantiles = ArrayField(ArrayField(models.FloatField(null=True)))
    came = ArrayField(models.FloatField(null=True), default=list)
    realised_hours = models.IntegerField(default=0)
    reconciled = ArrayField(models.FloatField(null=True), default=list)
    adds_up_to = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    realised_reconciled_error = models.FloatField(null=True)
    realised_error = models.FloatField(null=True)
    realised_coverage = models.FloatField(null=True)
    expected = ArrayField(models.FloatField(), default=list)
    sums = ArrayField(ArrayField(models.FloatField()), default=list)
    capacity = ArrayField(models.FloatField(), default=list)
    gates = models.JSONField(default=list)
    seen = ArrayField(models.FloatField(), default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["series", "granularity", "starts_at"], name="forecast_once"
            ),
            models.CheckConstraint(condition=Q(horizon__gte=1), name="forecast_has_a_horizon"),
        ]
        indexes = [models.Index(fields=["-starts_at"], name="forecast_by_start")]

    def __str__(self) -> str:
        return f"{self.series_id} from {self.starts_at:%Y-%m-%dT%H}"


class Reconciliation(models.Model):
    """How forecasts of the whole and of its parts were made to add up.

    `ways` by dimension: `refusal` (why it does not), `parts` (ids of forecasts), `left_out` (`series`, `why`), `rest` (`points`
    and `reconciled` of what is in none of the parts, from the hour or day `offset` after the whole's first on; null where there is nothing).
    `backtests` by horizon: errors and coverage of own forecasts and reconciled ones, of the `whole` and of `parts`.
    """

    whole = models.OneToOneField(Forecast, on_delete=models.CASCADE, related_name="reconciliation")
    made_at = models.DateTimeField()
    offset = models.IntegerField()
    horizon = models.IntegerField()
    ways = models.JSONField(default=dict)
    backtests = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"all that adds up to {self.whole_id}"


class ForecastPaths(models.Model):
    """The scenarios of the newest forecast by day of a series that plans stand on, of no older one.

    `totals` are little-endian 32-bit floats, by scenario and day: of its horizon's days each.
    """

    series = models.OneToOneField(
        ForecastSeries, on_delete=models.CASCADE, primary_key=True, related_name="paths"
    )
    forecast = models.OneToOneField(Forecast, on_delete=models.CASCADE, related_name="paths")
    totals = models.BinaryField()

    def __str__(self) -> str:
        return f"of {self.forecast_id}"
