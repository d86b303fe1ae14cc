"""Unit costs and services as JSON and as CSV."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from rest_framework import serializers

from apps.economics.hours import HOUR_MS
from apps.ledger.queries import Standing
from apps.ledger.rest.answers import LEAST_SURE_FIRST, MetaOut, Named, money_of
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter
from apps.web.rest.money import MoneyOut, NamedOut

UNDEFINED = "null where nothing was answered, or its cost or count is not known"


class UnitMetaOut(MetaOut):
    """How sure they are, and what of a service's cost its units carry."""

    load = serializers.CharField(help_text="loaded, direct or marginal")
    allocation = serializers.CharField(help_text="allocation: all it held; usage: what was active")


class UnitSumsOut(serializers.Serializer[Any]):
    """What units cost. The four parts sum to `cost`; null where nothing is known, or there is none.

    `charged_cost` is what the units carry: all but hours in which nobody counted, or what was
    active of it. Tokens of prompts include cached ones; `cost_per_million_prompt_tokens` is of those
    that were computed.
    """

    cost = MoneyOut(allow_null=True)
    answered_cost = MoneyOut(allow_null=True)
    idle_cost = MoneyOut(allow_null=True, help_text="hours without requests")
    unattributed_cost = MoneyOut(
        allow_null=True, help_text="tokens of the engine beyond those that the gateway counted"
    )
    uncounted_cost = MoneyOut(allow_null=True, help_text="hours in which nobody counted")
    charged_cost = MoneyOut(allow_null=True)
    requests = serializers.IntegerField(allow_null=True)
    succeeded_requests = serializers.IntegerField(allow_null=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    cached_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    cost_per_1000_requests = MoneyOut(allow_null=True, help_text=UNDEFINED)
    cost_per_million_tokens = MoneyOut(allow_null=True, help_text=UNDEFINED)
    cost_per_million_prompt_tokens = MoneyOut(allow_null=True, help_text=UNDEFINED)
    cost_per_million_cached_tokens = MoneyOut(allow_null=True, help_text=UNDEFINED)
    cost_per_million_output_tokens = MoneyOut(allow_null=True, help_text=UNDEFINED)
    decode_ratio = serializers.FloatField(
        allow_null=True, help_text="the part of its work that was writing answers"
    )
    measured_ratio = serializers.FloatField(
        allow_null=True, help_text="the part of that for which the engine reported its time"
    )
    counted_ratio = serializers.FloatField(allow_null=True)
    coverage = serializers.FloatField(allow_null=True)
    costless_requests = serializers.IntegerField(
        help_text="answered in hours in which the service has no cost; not in the unit costs"
    )
    gpu_hours = serializers.FloatField()
    unpriced_hours = serializers.FloatField()
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

    told_by = serializers.CharField(help_text="engine or gateway: whose histograms these are")
    requests = serializers.IntegerField()
    quantiles = QuantileOut(many=True)


class KeptObjectiveOut(serializers.Serializer[Any]):
    """A promise and what became of it; `budget_left_ratio` below 0: more misses than allowed."""

    id = serializers.IntegerField()
    feature = serializers.CharField()
    measure = serializers.CharField(help_text="latency, first_token or availability")
    within_seconds = serializers.FloatField(allow_null=True)
    target_ratio = serializers.FloatField()
    budget_days = serializers.IntegerField(
        help_text="the budget is of these, up to the window's end"
    )
    requests = serializers.IntegerField()
    met_ratio = serializers.FloatField(allow_null=True)
    at_least_ratio = serializers.FloatField(allow_null=True)
    budget_left_ratio = serializers.FloatField(allow_null=True)
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
    chosen: UnitFilter, total: UnitCost | None, known: Standing, currency: str
) -> dict[str, Any]:
    """The window, the bases and how sure it all is."""
    return {
        "window": {
            "text": chosen.window.text,
            "starts_at": _moment(chosen.window.starts_at),
            "ends_at": _moment(chosen.window.ends_at),
            "zone": chosen.window.zone,
        },
        "basis": str(chosen.basis),
        "load": str(chosen.load),
        "allocation": str(chosen.allocation),
        "currency": currency,
        "status": None if total is None else _status(total),
        "statuses": [w for w in LEAST_SURE_FIRST if total is not None and w in total.statuses],
        "coverage": None if total is None else _ratio(total.coverage),
        "as_of": None if known.as_of is None else _moment(known.as_of),
        "pending_hours": known.pending_hours,
    }


def unit_result(
    cost: UnitCost, group_by: Sequence[str], named: Named, currency: str
) -> dict[str, Any]:
    """A group's keys by name, and its sums."""
    given = dict(zip(group_by, cost.keys, strict=True))
    keys: dict[str, Any] = {
        name: {"id": given[name], "name": names[given[name]]} if name in given else None
        for name, names in (("service", named.workloads), ("team", named.teams))
    }
    keys["feature"] = given.get("feature")
    keys["part"] = None if cost.purpose is None else cost.purpose.name.lower()
    keys |= {name: _day(given.get(name)) for name in ("day", "week", "month")}
    return keys | unit_sums(cost, currency)


def unit_sums(cost: UnitCost | None, currency: str) -> dict[str, Any]:
    """The sums alone; of nothing, everything is null or 0."""
    if cost is None:
        return dict(_NOTHING)
    parts, told, worked = cost.parts, cost.told, sum(cost.worked)
    amounts = {
        "cost": parts.total,
        "answered_cost": parts.answered,
        "idle_cost": parts.idle,
        "unattributed_cost": parts.unattributed,
        "uncounted_cost": parts.uncounted,
        "charged_cost": cost.micros,
    }
    units = cost.units
    return {
        **{name: money_of(micros, currency) for name, micros in amounts.items()},
        "requests": told.requests,
        "succeeded_requests": told.succeeded,
        "prompt_tokens": told.prompt_tokens,
        "cached_tokens": told.cached_tokens,
        "output_tokens": told.output_tokens,
        "cost_per_1000_requests": _unit(units.thousand_requests, currency),
        "cost_per_million_tokens": _unit(units.million_tokens, currency),
        "cost_per_million_prompt_tokens": _unit(units.million_prompt, currency),
        "cost_per_million_cached_tokens": _unit(units.million_cached, currency),
        "cost_per_million_output_tokens": _unit(units.million_output, currency),
        "decode_ratio": _ratio(cost.decode_ratio),
        "measured_ratio": _ratio(cost.measured_ms / worked if worked else None),
        "counted_ratio": _ratio(cost.counted_ratio),
        "coverage": _ratio(cost.coverage),
        "costless_requests": cost.costless_requests,
        "gpu_hours": round(cost.unit_milliseconds / HOUR_MS, 6),
        "unpriced_hours": round(cost.unpriced_milliseconds / HOUR_MS, 6),
        "status": _status(cost),
    }


_NOTHING: Mapping[str, Any] = {
    name: 0 if isinstance(field, serializers.FloatField) and not field.allow_null else None
    for name, field in UnitSumsOut().fields.items()
} | {"costless_requests": 0}


def _status(cost: UnitCost) -> str | None:
    return next((word for word in LEAST_SURE_FIRST if word in cost.statuses), None)


def _unit(micros: Fraction | None, currency: str) -> dict[str, str] | None:
    return None if micros is None else money_of(round(micros), currency)


def _ratio(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 6)


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
