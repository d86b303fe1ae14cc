"""Bodies of what-if plans as scripts send them."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from apps.accounts.queries import person_of_address
from apps.economics.planned_work import WorkSpread
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.planning.queries.plan_items import (
    KINDS,
    LAUNCH,
    MOST_WEEKS,
    OF_KIND,
    PRICE,
    TRAINING,
    LaunchWork,
    NewPlannedItem,
    PlannedInputs,
    PriceChange,
    TrainingWork,
    measured_mfu,
    measured_throughput,
)
from apps.planning.queries.plan_outcomes import priced_window
from apps.planning.queries.plans import EnteredPlan, PlanEdit, PlanFact, PlanTerms
from apps.web.rest.shapes import Body, BodyFields, RestField, body_fields, parse_as
from apps.web.rest.strict import OptionalText, StrictSerializer, Text, parsed

NEEDED = {
    TRAINING: ("gpus", "parameters", "tokens"),
    LAUNCH: ("requests_by_week", "tokens_per_request"),
    PRICE: ("factor",),
}


class PlannedItemIn(StrictSerializer):
    """Planned work from a day on; each kind has fields of its own.

    `training`: gpus, parameters, tokens, and mfu or like_run. `launch`: requests_by_week, tokens_per_request, and
    tokens_per_gpu_hour or like_service. `price`: factor.
    """

    kind = serializers.ChoiceField(choices=list(KINDS))
    name = Text()
    starts_on = serializers.DateField()
    requests_by_week = serializers.ListField(
        child=serializers.FloatField(min_value=0), required=False, max_length=MOST_WEEKS
    )
    low = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        help_text="as a share of what is entered: it comes to less in one case of ten; with high, or neither",
    )
    high = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="it comes to more in one of ten"
    )

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields of every item, and the inputs of each kind, which other kinds leave out."""
        declared = super().get_fields()
        inputs = {
            name: field
            for kind in OF_KIND.values()
            for name, field in body_fields(kind, without=declared).items()
        }
        for field in inputs.values():
            field.required = False
        return declared | inputs


class WhatIfPlanIn(Body[EnteredPlan]):
    """A plan in a pool or on the pools of a GPU model, one of them, with its planned work."""

    without = ("pool_id", "variant_of")
    pool = OptionalText()
    items = PlannedItemIn(many=True, required=False)

    def made(self, values: dict[str, Any]) -> EnteredPlan:
        """Return the plan in the pool that is named; refuses as `plan_sent`."""
        pool, items = values.pop("pool"), values.pop("items", [])
        return EnteredPlan(
            **values,
            pool_id=_pool_named(pool) if pool else None,
            items=tuple(map(_parse_item, items)),
        )


class WhatIfPlanEditIn(BodyFields[PlanTerms]):
    """A plan's terms anew; what is planned in it and where it is stay."""

    owner = OptionalText(
        help_text="the address of a person of finance or platform; empty: it stays whose it is"
    )


class WhatIfPlanCopyIn(StrictSerializer):
    """Another plan of the same work: there, or in another pool or on another GPU model."""

    name = Text()
    pool = OptionalText(help_text="this and gpu_model empty: where the plan is")
    gpu_model = OptionalText()


def plan_sent(request: Request) -> EnteredPlan:
    """The plan that a body describes; refuses a ValidationError or Refusal that names the field."""
    return parse_as(WhatIfPlanIn, request)


def edit_sent(request: Request, plan: PlanFact) -> PlanEdit:
    """Return the edit that a body makes of a plan; refuses as `plan_sent`."""
    body = parsed(WhatIfPlanEditIn, request)
    owner_id, owner = plan.owner_id, body.pop("owner")
    if owner:
        owner_id = person_of_address(owner)
        if owner_id is None:
            raise ValidationError({"owner": ["nobody signs in with this address"]})
    return PlanEdit(**body, owner_id=owner_id)


def copy_sent(request: Request, plan: PlanFact) -> tuple[str, int | None, str]:
    """The name of a copy, and where it is; refuses as `plan_sent`."""
    body = parsed(WhatIfPlanCopyIn, request)
    if not body["pool"] and not body["gpu_model"]:
        return body["name"], plan.pool_id, plan.gpu_model
    pool_id = _pool_named(body["pool"]) if body["pool"] else None
    return body["name"], pool_id, body["gpu_model"]


def item_sent(request: Request) -> NewPlannedItem:
    """The item that a body describes; refuses as `plan_sent`."""
    return _parse_item(parsed(PlannedItemIn, request))


def _pool_named(name: str) -> int:
    for pool in fleet.pools().values():
        if pool.name == name:
            return pool.id
    raise ValidationError({"pool": [f"there is no pool named {name!r}"]})


def _parse_item(item: Mapping[str, Any]) -> NewPlannedItem:
    missing = [field for field in NEEDED[item["kind"]] if field not in item]
    if missing:
        raise Refusal(missing[0], f"a {KINDS[item['kind']]} needs this")
    low, high = item["low"], item["high"]
    if (low is None) != (high is None):
        raise Refusal("low" if low is None else "high", "say low and high, or neither")
    spread = None if low is None or high is None else WorkSpread(low, high)
    return NewPlannedItem(item["name"], item["starts_on"], _parse_inputs(item), spread)


def _parse_inputs(item: Mapping[str, Any]) -> PlannedInputs:
    if item["kind"] == TRAINING:
        mfu = _one_of(item, "mfu", "like_run")
        if mfu is None:
            mfu = measured_mfu(item["like_run"])
        return TrainingWork(item["gpus"], item["parameters"], item["tokens"], mfu, item["like_run"])
    if item["kind"] == LAUNCH:
        per_hour = _one_of(item, "tokens_per_gpu_hour", "like_service")
        if per_hour is None:
            per_hour = measured_throughput(item["like_service"], priced_window(timezone.now()))
        return LaunchWork(
            tuple(item["requests_by_week"]),
            item["tokens_per_request"],
            per_hour,
            item["like_service"],
        )
    return PriceChange(item["factor"])


def _one_of(item: Mapping[str, Any], assumed: str, like: str) -> float | None:
    """Return the value that is assumed; None where it is to be measured."""
    if (assumed in item) == bool(item[like]):
        raise Refusal(assumed, f"say this or {like}, one of them")
    return item.get(assumed)
