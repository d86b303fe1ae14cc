"""What-if plans over the wire: made whole, answered by week and month."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.planning.actions import plans as actions
from apps.planning.actions.plans import MOST_WEEKS, NewPlan
from apps.planning.api.plan_shapes import (
    EXAMPLE,
    NEW,
    ONE_EXAMPLE,
    WhatIfPlanOneOut,
    WhatIfPlanOut,
    serialize_one_plan,
    serialize_plan,
)
from apps.planning.queries.plan_items import (
    KINDS,
    LAUNCH,
    TRAINING,
    LaunchWork,
    NewPlannedItem,
    PlannedInputs,
    PriceChange,
    TrainingWork,
    measured_mfu,
    measured_throughput,
)
from apps.planning.queries.plans import plan_of_id, plan_outcome, plans, priced_window
from apps.web.rest.examples import answered, listed, sent
from apps.web.rest.once import once
from apps.web.rest.pages import list_of, page_asked, paged, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import OptionalText, Parameters, Strict, Text, Whole, parsed
from apps.web.rest.views import KeepsBills, RestView, SeesPrices

NEEDED = {
    TRAINING: ("gpus", "parameters", "tokens"),
    LAUNCH: ("requests_by_week", "tokens_per_request"),
    "price": ("factor",),
}


class KeepsPlans(KeepsBills):
    """The organisation's token of scope manage, or a person of finance or platform."""

    message = "plans are for finance and platform, and for the organisation's 'manage' tokens"


class PlannedItemIn(Strict):
    """Planned work from a day on; each kind has fields of its own.

    `training`: gpus, parameters, tokens, and mfu or like_run. `launch`: requests_by_week, tokens_per_request, and
    tokens_per_gpu_hour or like_service. `price`: factor.
    """

    kind = serializers.ChoiceField(choices=list(KINDS))
    name = Text()
    starts_on = serializers.DateField()
    gpus = Whole(required=False)
    parameters = serializers.FloatField(required=False, help_text="active on each token")
    tokens = serializers.FloatField(required=False)
    mfu = serializers.FloatField(required=False, help_text="of the dense bf16 peak, above 0")
    like_run = OptionalText(help_text="the key of the run whose measured MFU it has")
    requests_by_week = serializers.ListField(
        child=serializers.FloatField(min_value=0), required=False, max_length=MOST_WEEKS
    )
    tokens_per_request = serializers.FloatField(required=False)
    tokens_per_gpu_hour = serializers.FloatField(required=False)
    like_service = OptionalText(help_text="the service whose measured throughput it has")
    factor = serializers.FloatField(required=False, help_text="of the price of a GPU-hour")


class WhatIfPlanIn(Strict):
    """A plan in a pool or on the pools of a GPU model, one of them, with its planned work."""

    name = Text()
    pool = OptionalText()
    gpu_model = OptionalText()
    first_day = serializers.DateField(help_text="its weeks begin on this weekday")
    weeks = Whole(min_value=1, max_value=MOST_WEEKS)
    growth_per_month = serializers.FloatField(default=0.0, help_text="beyond the forecast")
    items = PlannedItemIn(many=True, required=False)


class WhatIfPlans(RestView):
    """Plans are for finance and platform; the organisation's token of scope manage makes them too."""

    row = WhatIfPlanOut
    reads = (SeesPrices,)
    changes = (KeepsPlans,)

    @extend_schema(
        operation_id="list_plans",
        parameters=[*PAGES],
        responses=list_of(WhatIfPlanOut),
        examples=[listed("Plans", EXAMPLE)],
    )
    def get(self, request: Request) -> Response:
        """Every plan by name, with what it adds, costs and makes wait as of now."""
        Parameters.of(request)
        at = timezone.now()
        with reading_once():
            page = slice_of(plans(), page_asked(request), lambda plan: (plan.name,))
            return paged(request, page, lambda plan: serialize_plan(plan_outcome(plan, at)))

    @extend_schema(
        operation_id="keep_plan",
        parameters=[REPEAT_KEY],
        request=WhatIfPlanIn,
        responses={201: WhatIfPlanOneOut},
        examples=[sent("A plan", NEW), answered("A plan", ONE_EXAMPLE, 201)],
    )
    @once()
    def post(self, request: Request) -> Response:
        """Keep a plan with its planned work; nothing else follows from it."""
        body = parsed(WhatIfPlanIn, request)
        plan = NewPlan(
            name=body["name"],
            pool_id=_pool_named(body["pool"]) if body["pool"] else None,
            gpu_model=body["gpu_model"],
            first_day=body["first_day"],
            weeks=body["weeks"],
            growth_per_month=body["growth_per_month"],
            items=tuple(map(_item_given, body.get("items", []))),
        )
        at = timezone.now()
        made = actions.keep_plan(plan=plan, by=self.viewer().person_id, at=at)
        return Response(_plan_answer(made), status=201)


class OneWhatIfPlan(RestView):
    """A plan by week and month."""

    reads = (SeesPrices,)
    changes = (KeepsPlans,)

    @extend_schema(
        operation_id="get_plan",
        responses=WhatIfPlanOneOut,
        examples=[answered("A plan", ONE_EXAMPLE)],
    )
    def get(self, request: Request, plan_id: int) -> Response:
        """What comes of it on the newest forecast, at the prices in force."""
        Parameters.of(request)
        with reading_once():
            return Response(_plan_answer(plan_id))


def _plan_answer(plan_id: int) -> dict[str, Any]:
    plan = plan_of_id(plan_id)
    if plan is None:
        raise Http404
    return serialize_one_plan(plan_outcome(plan, timezone.now()))


def _pool_named(name: str) -> int:
    for pool in fleet.pools().values():
        if pool.name == name:
            return pool.id
    raise ValidationError({"pool": [f"there is no pool named {name!r}"]})


def _item_given(item: Mapping[str, Any]) -> NewPlannedItem:
    missing = [field for field in NEEDED[item["kind"]] if field not in item]
    if missing:
        raise Refusal(missing[0], f"a {KINDS[item['kind']]} needs this")
    return NewPlannedItem(item["name"], item["starts_on"], _inputs_given(item))


def _inputs_given(item: Mapping[str, Any]) -> PlannedInputs:
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
    """What is assumed; None where it is to be measured."""
    if (assumed in item) == bool(item[like]):
        raise Refusal(assumed, f"say this or {like}, one of them")
    return item.get(assumed)
