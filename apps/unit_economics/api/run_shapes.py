"""Shapes of runs, their figures and their costs over the wire."""

from typing import Any

from rest_framework import serializers

from apps.ledger.rest.meters import MetersOut
from apps.unit_economics.queries.runs.values import Order, RunFigure, RunSort
from apps.web.rest.money import HoursOut, KeyOut, MoneyOut, NamedOut, RatioOut
from apps.web.rest.strict import Parameters, Text

STATUSES = ("finished", "failed", "interrupted")


class RunsAsked(Parameters):
    """Parameters of a list of runs: which, and in which order; those whose figure is not known come last either way."""

    workload = Text(required=False, help_text="the name of a workload")
    team = Text(required=False, help_text="the name of a team")
    status = serializers.ChoiceField(STATUSES, required=False)
    window = Text(
        required=False,
        help_text="runs that lived in today, yesterday, 7d, week, month, lastmonth, 2026-07, "
        "2026-07-31 or start/end; default any",
    )
    sort = serializers.ChoiceField([str(each) for each in RunSort], default=str(RunSort.BEGAN))
    order = serializers.ChoiceField([str(each) for each in Order], default=str(Order.FALLING))


class RunOut(serializers.Serializer[Any]):
    """One logical training run, whatever jobs carried it; `ended_at` is null while one may run.

    Its figures are null where they are not known; costs are effective ones, of all its attempts.
    """

    id = serializers.IntegerField()
    key = serializers.CharField()
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    job_ids = serializers.ListField(child=serializers.IntegerField())
    states = serializers.ListField(child=serializers.CharField())
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    status = serializers.ChoiceField(STATUSES, allow_null=True, help_text="null: nobody said yet")
    attempts = serializers.IntegerField(help_text="processes that reported it")
    wall_seconds = serializers.FloatField(allow_null=True)
    gpus = serializers.IntegerField(allow_null=True, help_text="the most it held at once")
    gpu_model = serializers.CharField(allow_null=True)
    cost = MoneyOut(
        source="effective_micros",
        allow_null=True,
        help_text="without idle that is shared out to it",
    )
    gpu_hours = HoursOut(source="unit_milliseconds", allow_null=True)
    unpriced_hours = HoursOut(source="unpriced_milliseconds", allow_null=True)
    energy_joules = serializers.FloatField(allow_null=True)
    coverage = RatioOut(
        source="observed_ratio",
        allow_null=True,
        help_text="the part of what it held that an agent looked at",
    )
    told_ratio = RatioOut(allow_null=True, help_text="reported ÷ all of its time")
    goodput_ratio = RatioOut(
        source="known_goodput_ratio",
        allow_null=True,
        help_text="productive ÷ reported time; null where less than half of its time was reported",
    )
    data_wait_ratio = RatioOut(allow_null=True)
    tokens = serializers.IntegerField(allow_null=True, help_text="what was done again counts once")
    examples = serializers.IntegerField(allow_null=True)
    tokens_per_second = serializers.FloatField(allow_null=True, help_text="while it was in steps")
    mfu_ratio = RatioOut(allow_null=True, help_text="of the dense peak")
    mfu_doubt = serializers.CharField(
        allow_null=True, help_text="why it is not known, or not to be believed"
    )
    tensor_active_ratio = RatioOut(allow_null=True)
    meters = MetersOut(allow_null=True)
    scaling_ratio = RatioOut(
        allow_null=True, help_text="against the smallest runs of its workload; 1 is linear"
    )
    first_good_seconds = serializers.FloatField(
        allow_null=True, help_text="from submission to the first checkpoint that passed"
    )
    good_checkpoints = serializers.IntegerField(allow_null=True)
    cost_per_checkpoint = MoneyOut(source="checkpoint_micros", allow_null=True)
    cost_per_million_tokens = MoneyOut(source="million_tokens_micros", allow_null=True)
    figures_at = serializers.DateTimeField(
        source="computed_at", allow_null=True, help_text="as of when; null: not summed up yet"
    )


class RunAmountsOut(serializers.Serializer[Any]):
    """The costs of something of a run; null where nothing of it is known on that basis.

    All but `loaded_cost`, which is `cost` with idle that was shared out, leave that out.
    """

    cost = MoneyOut(source="amounts.effective_micros", allow_null=True)
    list_cost = MoneyOut(source="amounts.list_micros", allow_null=True)
    contracted_cost = MoneyOut(source="amounts.contracted_micros", allow_null=True)
    billed_cost = MoneyOut(source="amounts.billed_micros", allow_null=True)
    marginal_cost = MoneyOut(
        source="amounts.marginal_micros",
        allow_null=True,
        help_text="of owned hardware, its power alone",
    )
    loaded_cost = MoneyOut(source="amounts.loaded_micros", allow_null=True)
    gpu_hours = HoursOut(source="amounts.unit_milliseconds")
    unpriced_hours = HoursOut(source="amounts.unpriced_milliseconds")
    energy_joules = serializers.FloatField(source="amounts.energy_joules", allow_null=True)


class RunBucketOut(RunAmountsOut):
    """The part of it that was of this bucket."""

    bucket = KeyOut(
        help_text="diverged, failed, lost, recovery, checkpoint, data_wait, communication, startup, "
        "productive, capacity_wait, idle_after_end or untold"
    )


class RunDayOut(RunAmountsOut):
    """A local day of it."""

    day = serializers.DateField()
    buckets = RunBucketOut(many=True)


class RunJobOut(RunAmountsOut):
    """A job that carried it; `id` and `raw_id` are null where it is another team's."""

    id = serializers.IntegerField(source="job_id", allow_null=True)
    raw_id = serializers.CharField(allow_null=True)
    restart_count = serializers.IntegerField()
    state = serializers.CharField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    buckets = RunBucketOut(many=True)


class RunNumberOut(serializers.Serializer[Any]):
    """One of the key metrics; `doubt` says why it is not known, or a caveat.

    `value` is tokens a second, a ratio, seconds or, of a cost, an amount in `currency`.
    """

    figure = serializers.ChoiceField([str(each) for each in RunFigure])
    value = serializers.FloatField(allow_null=True)
    doubt = serializers.CharField(allow_null=True)


class RunCostsOut(serializers.Serializer[Any]):
    """The cost of a run; its buckets, its days and its jobs each sum to `totals` exactly."""

    run = NamedOut()
    currency = serializers.CharField()
    status = serializers.CharField(allow_null=True, help_text="of its least sure amount")
    coverage = RatioOut(source="run.observed_ratio", allow_null=True)
    told_ratio = RatioOut(source="run.told_ratio", allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)
    pending_days = serializers.IntegerField(help_text="that are being summed anew")
    numbers = RunNumberOut(many=True)
    totals = RunAmountsOut(source="*")
    buckets = RunBucketOut(many=True)
    days = RunDayOut(many=True)
    jobs = RunJobOut(many=True)
