"""Answers about runs' bottlenecks, ranks, checkpoints, curves and programmes, over the wire."""

from typing import Any

from rest_framework import serializers

from apps.unit_economics.queries.runs.curves import CurvePoint, Range, ScalingRun
from apps.unit_economics.queries.runs.programme import ProgrammeRun
from apps.unit_economics.queries.runs.stragglers import SlowRank
from apps.web.rest.money import HoursOut, KeyOut, MoneyOut, NamedOut, RatioOut
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters, Text

WINDOW = "today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end; default "


class RunAsked(Parameters):
    """Over which time of a run."""

    window = Text(required=False, help_text=f"{WINDOW}all of the run")


class WorkloadAsked(Parameters):
    """Over which time of a workload."""

    window = Text(required=False, default="90d", help_text=f"{WINDOW}90d")


class ScalingAsked(WorkloadAsked):
    """To how many GPUs, by runs of which time."""

    gpus = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="how many GPUs to answer for; default twice those of the last run",
    )


class RunTimeOut(serializers.Serializer[Any]):
    """A bucket of time: `share_ratio` is of reported GPU time, null for what was not."""

    bucket = KeyOut(
        help_text="diverged, failed, lost, recovery, checkpoint, data_wait, communication, startup, "
        "productive, capacity_wait, idle_after_end or untold"
    )
    cost = MoneyOut(
        source="micros",
        allow_null=True,
        help_text="effective; null where nothing of it has a price",
    )
    gpu_hours = HoursOut(source="unit_milliseconds")
    unpriced_hours = HoursOut(source="unpriced_milliseconds")
    share_ratio = RatioOut(source="share", allow_null=True)


class UsedUpOut(serializers.Serializer[Any]):
    """A resource of the nodes that was used up while their GPUs waited."""

    resource = serializers.CharField(help_text="storage, network, fabric, CPU or memory")
    ratio = RatioOut(
        help_text="of the most the nodes were seen to move, or of the time in which a task waited"
    )
    words = serializers.CharField()


class VerdictOut(serializers.Serializer[Any]):
    """A bucket that has more of the time than is usual, in one sentence.

    `causes_looked_for` is false where no counter of the nodes could tell what held them up.
    """

    bucket = KeyOut()
    name = serializers.CharField()
    share_ratio = RatioOut(source="share")
    cost = MoneyOut(source="micros", allow_null=True)
    gpu_hours = HoursOut(source="unit_milliseconds")
    words = serializers.CharField()
    causes_looked_for = serializers.BooleanField(source="is_seen")
    causes = UsedUpOut(many=True)


class BottlenecksOut(serializers.Serializer[Any]):
    """Where GPU time went; the buckets sum to its whole exactly."""

    words = serializers.CharField()
    cost = MoneyOut(source="micros", allow_null=True)
    gpu_hours = HoursOut(source="unit_milliseconds")
    told_ratio = RatioOut(allow_null=True)
    verdicts = VerdictOut(many=True)
    buckets = RunTimeOut(source="parts", many=True)


class SlowRankOut(Answer[SlowRank]):
    """A rank that is slow in most windows of 50 steps, and where it said it ran."""

    without = ("share",)
    slow_ratio = RatioOut(source="share", help_text="of the windows of 50 steps")


class StragglersOut(serializers.Serializer[Any]):
    """The effect on a run of waiting for the slowest rank, in the steps that were looked at."""

    words = serializers.CharField()
    ranks = serializers.IntegerField()
    steps = serializers.IntegerField()
    looked_from = serializers.DateTimeField(allow_null=True)
    looked_to = serializers.DateTimeField(allow_null=True)
    slowdown_factor = RatioOut(source="factor", allow_null=True)
    wasted_ratio = RatioOut(source="wasted", allow_null=True)
    wasted_cost = MoneyOut(source="micros", allow_null=True)
    wasted_gpu_hours = HoursOut(source="unit_milliseconds", allow_null=True)
    slow_ranks = SlowRankOut(source="slow", many=True)


class HazardOut(serializers.Serializer[Any]):
    """Interruptions in an hour of a GPU, and between what the rate lies in 95 of 100 cases.

    `per_gpu_hour` is null where none happened yet: then only `high` is known.
    """

    failures = serializers.IntegerField(source="failures.count")
    exposed_gpu_hours = serializers.FloatField(source="failures.exposed_gpu_hours")
    per_gpu_hour = serializers.FloatField(source="hazard.rate", allow_null=True)
    low_per_gpu_hour = serializers.FloatField(source="hazard.low", allow_null=True)
    high_per_gpu_hour = serializers.FloatField(source="hazard.high", allow_null=True)


class CheckpointsOut(serializers.Serializer[Any]):
    """How often a run saves checkpoints, and how often it should.

    `advice` is null unless the cadence is off by more than three times; other nulls are what was
    not measured.
    """

    advice = serializers.CharField(source="words", allow_null=True)
    gpus = serializers.IntegerField(allow_null=True)
    saves = serializers.IntegerField()
    write_seconds = serializers.FloatField(allow_null=True)
    cadence_seconds = serializers.FloatField(allow_null=True)
    best_cadence_seconds = serializers.FloatField(source="best_seconds", allow_null=True)
    young_cadence_seconds = serializers.FloatField(source="young_seconds", allow_null=True)
    mtbf_seconds = serializers.FloatField(allow_null=True)
    hazard = HazardOut(source="*")
    weekly_cost = MoneyOut(source="weekly_micros", allow_null=True)
    weekly_excess_cost = MoneyOut(source="weekly_excess_micros", allow_null=True)
    restore_tested_at = serializers.DateTimeField(source="restored_at", allow_null=True)


class RangeOut(Answer[Range]):
    """A figure, and its 90 % bootstrap interval; null: no interval."""


class MoneyRangeOut(serializers.Serializer[Any]):
    """An amount, and between what it lies."""

    value = MoneyOut()
    low = MoneyOut(allow_null=True)
    high = MoneyOut(allow_null=True)


class ScalingRunOut(Answer[ScalingRun]):
    """A run that the curves are fitted on."""

    id = serializers.IntegerField(source="run_id")


class ScalingPointOut(Answer[CurvePoint]):
    """A model version on so many GPUs."""

    tokens_per_second = RangeOut()
    hours = RangeOut(allow_null=True)
    cost = MoneyRangeOut(source="micros", allow_null=True)


class ScalingFigures(serializers.Serializer[Any]):
    """From `from_gpus` to `to_gpus`."""

    from_gpus = serializers.IntegerField(source="gpus")
    to_gpus = serializers.IntegerField(source="more")
    speed_up = RangeOut()
    cost_multiplier = RangeOut()
    version_tokens = serializers.IntegerField(allow_null=True)
    version_hours = RangeOut(source="hours", allow_null=True)
    version_cost = MoneyRangeOut(source="micros", allow_null=True)
    peak_gpus = serializers.FloatField(allow_null=True)
    gpu_model = serializers.CharField()
    model = serializers.CharField()
    other_runs = serializers.IntegerField(source="others")


class ScalingOut(serializers.Serializer[Any]):
    """The two curves, or in `words` why there are none: then `answer` is null."""

    words = serializers.CharField()
    answer = ScalingFigures(allow_null=True)
    runs = ScalingRunOut(many=True)
    points = ScalingPointOut(many=True)


class ShippedOut(serializers.Serializer[Any]):
    """A model version that was shipped."""

    name = serializers.CharField()
    shipped_at = serializers.DateTimeField(source="at")
    run_id = serializers.IntegerField(allow_null=True)


class TrendOut(Answer[ProgrammeRun]):
    """The key metrics of a run."""

    without = ("run_id", "key", "micros", "checkpoint_micros")
    run = NamedOut()
    cost = MoneyOut(source="micros", allow_null=True)
    checkpoint_cost = MoneyOut(source="checkpoint_micros", allow_null=True)


class ProgrammeOut(serializers.Serializer[Any]):
    """The results of a training programme for its money; null where nothing is known or to divide by."""

    cost = MoneyOut(source="micros", allow_null=True)
    gpu_hours = HoursOut(source="unit_milliseconds")
    unpriced_hours = HoursOut(source="unpriced_milliseconds")
    energy_joules = serializers.FloatField(allow_null=True)
    cost_per_version = MoneyOut(source="version_micros", allow_null=True)
    cost_per_million_tokens = MoneyOut(source="million_tokens_micros", allow_null=True)
    tokens = serializers.IntegerField()
    runs = serializers.IntegerField()
    experiments_per_week = RatioOut(allow_null=True)
    goodput_ratio = RatioOut(
        allow_null=True,
        help_text="productive ÷ reported time; null where less than half of the time was reported",
    )
    told_ratio = RatioOut(allow_null=True)
    failed_runs = serializers.IntegerField()
    failed_cost = MoneyOut(source="failed_micros", allow_null=True)
    failed_ratio = RatioOut(source="failed_share", allow_null=True)
    versions = ShippedOut(many=True)
    trend = TrendOut(many=True)
