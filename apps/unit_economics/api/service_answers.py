"""Unit costs and services as JSON and as CSV."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from apps.ledger.queries import SettlementStatus
from apps.ledger.queries.costs import LEAST_SURE_FIRST
from apps.ledger.rest.answers import MetaOut, Named
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter
from apps.web.rest.money import HoursOut, MoneyOut, NamedOut, RatioOut, rounded_ratio
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer
from apps.workloads.queries.answer_times import Attainment

UNDEFINED = "null where nothing was answered, or its cost or count is not known"


class UnitMetaOut(MetaOut):
    """How sure they are, and what of a service's cost its units carry."""

    load = serializers.CharField(help_text="loaded, direct or marginal")
    allocation = serializers.CharField(help_text="allocation: all it held; usage: what was active")


class UnitSumsOut(serializers.Serializer[Any]):
    """The cost of units. The four parts sum to `cost`; null where nothing is known, or there is none.

    `charged_cost` is what the units carry: all but hours in which nobody counted, or what was
    active of it. Tokens of prompts include cached ones; `cost_per_million_prompt_tokens` is of those
    that were computed.
    """

    cost = MoneyOut(source="parts.total", allow_null=True)
    answered_cost = MoneyOut(source="parts.answered", allow_null=True)
    idle_cost = MoneyOut(source="parts.idle", allow_null=True, help_text="hours without requests")
    unattributed_cost = MoneyOut(
        source="parts.unattributed",
        allow_null=True,
        help_text="tokens of the engine beyond those that the gateway counted",
    )
    uncounted_cost = MoneyOut(
        source="parts.uncounted", allow_null=True, help_text="hours in which nobody counted"
    )
    charged_cost = MoneyOut(source="of.micros", allow_null=True)
    requests = serializers.IntegerField(source="told.requests", allow_null=True)
    succeeded_requests = serializers.IntegerField(source="told.succeeded", allow_null=True)
    prompt_tokens = serializers.IntegerField(source="told.prompt_tokens", allow_null=True)
    cached_tokens = serializers.IntegerField(source="told.cached_tokens", allow_null=True)
    output_tokens = serializers.IntegerField(source="told.output_tokens", allow_null=True)
    cost_per_1000_requests = MoneyOut(
        source="units.thousand_requests", allow_null=True, help_text=UNDEFINED
    )
    cost_per_million_tokens = MoneyOut(
        source="units.million_tokens", allow_null=True, help_text=UNDEFINED
    )
    cost_per_million_prompt_tokens = MoneyOut(
        source="units.million_prompt", allow_null=True, help_text=UNDEFINED
    )
    cost_per_million_cached_tokens = MoneyOut(
        source="units.million_cached", allow_null=True, help_text=UNDEFINED
    )
    cost_per_million_output_tokens = MoneyOut(
        source="units.million_output", allow_null=True, help_text=UNDEFINED
    )
    decode_ratio = RatioOut(
        source="of.decode_ratio",
        allow_null=True,
        help_text="the part of its work that was writing answers",
    )
    measured_ratio = RatioOut(
        allow_null=True, help_text="the part of that for which the engine reported its time"
    )
    counted_ratio = RatioOut(source="of.counted_ratio", allow_null=True)
    coverage = RatioOut(source="of.coverage", allow_null=True)
    costless_requests = serializers.IntegerField(
        help_text="answered in hours in which the service has no cost; not in the unit costs"
    )
    gpu_hours = HoursOut(source="unit_milliseconds")
    unpriced_hours = HoursOut(source="unpriced_milliseconds")
    status = serializers.CharField(allow_null=True)


class UnitCostOut(UnitSumsOut):
    """The unit costs of one group; keys that it is not grouped by are null."""

    service = NamedOut(allow_null=True)
    team = NamedOut(allow_null=True)
    feature = serializers.CharField(allow_null=True)
    part = serializers.CharField(
        allow_null=True,
        help_text="by feature: answered, or idle, unattributed, uncounted, which no feature has",
    )
    day = serializers.DateField(allow_null=True)
    week = serializers.DateField(allow_null=True)
    month = serializers.DateField(allow_null=True)


class UnitCostsOut(serializers.Serializer[Any]):
    """The answer."""

    meta = UnitMetaOut()
    totals = UnitSumsOut()
    results = UnitCostOut(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class ServiceOut(UnitSumsOut):
    """A service and what its units cost in a window."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField(help_text="serving or batch")
    team = NamedOut()


class QuantileOut(serializers.Serializer[Any]):
    """So much of the requests took at most so long."""

    ratio = serializers.FloatField()
    seconds = serializers.FloatField()
    is_over = serializers.BooleanField(
        help_text="longer than that, the highest bound of the histogram"
    )


class LatencyOut(serializers.Serializer[Any]):
    """How long answers took."""

    told_by = serializers.CharField(
        source="source", help_text="engine or gateway: whose histograms these are"
    )
    requests = serializers.IntegerField()
    quantiles = QuantileOut(many=True)


class KeptObjectiveOut(Answer[Attainment]):
    """A promise and what became of it; `budget_left_ratio` below 0: more misses than allowed."""

    without = ("objective_id", "workload_id")
    id = serializers.IntegerField(source="objective_id")
    measure = serializers.CharField(help_text="latency, first_token or availability")
    budget_days = serializers.IntegerField(
        help_text="the budget is of these, up to the window's end"
    )
    ends_at = serializers.DateTimeField(allow_null=True, help_text="null: it holds until ended")


class ServiceChangeOut(serializers.Serializer[Any]):
    """Something that changed about a service."""

    at = serializers.DateTimeField()
    kind = serializers.CharField()
    name = serializers.CharField()
    feature = serializers.CharField()


class ServiceDetailOut(ServiceOut):
    """A service, its features, how fast it answered, what it promised, and what changed."""

    meta = UnitMetaOut()
    features = UnitCostOut(many=True)
    latency = LatencyOut(allow_null=True)
    first_token = LatencyOut(allow_null=True)
    objectives = KeptObjectiveOut(many=True)
    changes = ServiceChangeOut(many=True)


def unit_meta(
    chosen: UnitFilter, total: UnitCost | None, cost_standing: SettlementStatus, currency: str
) -> dict[str, Any]:
    """The window, the bases and how sure it all is."""
    statuses = [] if total is None else [w for w in LEAST_SURE_FIRST if w in total.statuses]
    coverage = None if total is None else rounded_ratio(total.coverage)
    meta = {
        "window": chosen.window,
        "basis": str(chosen.basis),
        "load": str(chosen.load),
        "allocation": str(chosen.allocation),
        "currency": currency,
        "status": statuses[0] if statuses else None,
        "statuses": statuses,
        "coverage": coverage,
        "as_of": cost_standing.as_of,
        "pending_hours": cost_standing.pending_hours,
    }
    return serialize_as(UnitMetaOut, meta)


def unit_result(
    cost: UnitCost, group_by: Sequence[str], named: Named, currency: str
) -> dict[str, Any]:
    """A group's keys by name, and its sums."""
    key_values = dict(zip(group_by, cost.keys, strict=True))
    keys: dict[str, Any] = {
        name: {"id": key_values[name], "name": names[key_values[name]]}
        if name in key_values
        else None
        for name, names in (("service", named.workloads), ("team", named.teams))
    }
    part = None if cost.purpose is None else cost.purpose.name.lower()
    fields = {"part": part, **key_values, **keys, **unit_figures(cost)}
    return serialize_as(UnitCostOut, fields, currency)


def unit_sums(cost: UnitCost | None, currency: str) -> dict[str, Any]:
    """The sums alone."""
    return serialize_as(UnitSumsOut, unit_figures(cost), currency)


def unit_figures(cost: UnitCost | None) -> dict[str, Any]:
    """Return the figures that UnitSumsOut is told by; of nothing, everything is null or 0."""
    if cost is None:
        return {"costless_requests": 0, "unit_milliseconds": 0, "unpriced_milliseconds": 0}
    worked = sum(cost.worked)
    return {
        "of": cost,
        "parts": cost.parts,
        "told": cost.told,
        "units": cost.units,
        "costless_requests": cost.costless_requests,
        "unit_milliseconds": cost.unit_milliseconds,
        "unpriced_milliseconds": cost.unpriced_milliseconds,
        "measured_ratio": cost.measured_ms / worked if worked else None,
        "status": next((word for word in LEAST_SURE_FIRST if word in cost.statuses), None),
    }
