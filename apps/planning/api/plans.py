"""REST of what-if plans: made whole, changed, copied, answered by week and month."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.accounts.queries.trail import TrailChange
from apps.planning.actions import planned_items as items
from apps.planning.actions import plans as actions
from apps.planning.api.plan_bodies import (
    PlannedItemIn,
    WhatIfPlanCopyIn,
    WhatIfPlanEditIn,
    WhatIfPlanIn,
    copy_sent,
    edit_sent,
    item_sent,
    plan_sent,
)
from apps.planning.api.plan_shapes import (
    PlanChangeOut,
    WhatIfPlanOneOut,
    WhatIfPlanOut,
    serialize_one_plan,
    serialize_plan,
    serialize_plan_change,
)
from apps.planning.queries.plan_outcomes import plan_outcome
from apps.planning.queries.plans import plan_history, plan_of_id, plans
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters
from apps.web.rest.views import CanManageBilling, RestView, SeesPrices


class CanManagePlans(CanManageBilling):
    """The organisation's token of scope manage, or a person of finance or platform."""

    message = "plans are for finance and platform, and for the organisation's 'manage' tokens"


class WhatIfPlans(RestView):
    """Plans are for finance and platform; the organisation's token of scope manage makes them too."""

    row = WhatIfPlanOut
    reads = (SeesPrices,)
    changes = (CanManagePlans,)

    @extend_schema(operation_id="list_plans", parameters=[*PAGES], responses=list_of(WhatIfPlanOut))
    def get(self, request: Request) -> Response:
        """Every plan by name, with what it adds, costs and makes wait as of now."""
        Parameters.of(request)
        at = timezone.now()
        with reading_once():
            page = slice_of(plans(), parse_page_request(request), lambda plan: (plan.name,))
            return paged(request, page, lambda plan: serialize_plan(plan_outcome(plan, at)))

    @extend_schema(
        operation_id="keep_plan",
        parameters=[REPEAT_KEY],
        request=WhatIfPlanIn,
        responses={201: WhatIfPlanOneOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Keep a plan with its planned work; nothing else follows from it."""
        plan, at = plan_sent(request), timezone.now()
        kept_plan_id = actions.keep_plan(plan=plan, by=self.viewer().person_id, at=at)
        return Response(_plan_answer(kept_plan_id), status=201)


class OneWhatIfPlan(RestView):
    """A plan by week and month."""

    reads = (SeesPrices,)
    changes = (CanManagePlans,)

    @extend_schema(operation_id="get_plan", responses=WhatIfPlanOneOut)
    def get(self, request: Request, plan_id: int) -> Response:
        """Return what comes of the plan on the newest forecast, at the prices in force."""
        Parameters.of(request)
        with reading_once():
            return Response(_plan_answer(plan_id))

    @extend_schema(operation_id="change_plan", request=WhatIfPlanEditIn, responses=WhatIfPlanOneOut)
    def put(self, request: Request, plan_id: int) -> Response:
        """Say its terms anew, or hand it to another owner; the audit trail keeps what they were."""
        edit = edit_sent(request, plan_of_id(plan_id))
        actions.change_plan(plan_id=plan_id, edit=edit, at=timezone.now())
        return Response(_plan_answer(plan_id))

    @extend_schema(operation_id="remove_plan", responses={200: WhatIfPlanOneOut})
    def delete(self, request: Request, plan_id: int) -> Response:
        """Forget it with its planned work; answers what it was."""
        Parameters.of(request)
        removed = _plan_answer(plan_id)
        actions.remove_plan(plan_id=plan_id)
        return Response(removed)


class CopiesOfPlan(RestView):
    """Variants of a plan."""

    reads = (SeesPrices,)
    changes = (CanManagePlans,)

    @extend_schema(
        operation_id="copy_plan",
        parameters=[REPEAT_KEY],
        request=WhatIfPlanCopyIn,
        responses={201: WhatIfPlanOneOut},
    )
    @once()
    def post(self, request: Request, plan_id: int) -> Response:
        """Keep another plan of the same work, there or elsewhere, to be changed and compared."""
        plan, at = plan_of_id(plan_id), timezone.now()
        copied = actions.variant_of(plan, *copy_sent(request, plan))
        kept_plan_id = actions.keep_plan(plan=copied, by=self.viewer().person_id, at=at)
        return Response(_plan_answer(kept_plan_id), status=201)


class ItemsOfPlan(RestView):
    """Items that are planned in a plan."""

    reads = (SeesPrices,)
    changes = (CanManagePlans,)

    @extend_schema(
        operation_id="add_planned_item",
        parameters=[REPEAT_KEY],
        request=PlannedItemIn,
        responses={201: WhatIfPlanOneOut},
    )
    @once()
    def post(self, request: Request, plan_id: int) -> Response:
        """Plan one thing more; answers the plan as it is then."""
        item = item_sent(request)
        items.add_planned_item(plan_id=plan_id, item=item, at=timezone.now())
        return Response(_plan_answer(plan_id), status=201)


class OnePlannedItem(RestView):
    """One thing that is planned in a plan."""

    reads = (SeesPrices,)
    changes = (CanManagePlans,)

    @extend_schema(
        operation_id="replace_planned_item", request=PlannedItemIn, responses=WhatIfPlanOneOut
    )
    def put(self, request: Request, plan_id: int, item_id: int) -> Response:
        """Say it anew as a whole, of the same kind; answers the plan as it is then. `like_run` is measured anew."""
        item = item_sent(request)
        items.change_planned_item(plan_id=plan_id, item_id=item_id, item=item, at=timezone.now())
        return Response(_plan_answer(plan_id))

    @extend_schema(operation_id="remove_planned_item", responses={200: WhatIfPlanOneOut})
    def delete(self, request: Request, plan_id: int, item_id: int) -> Response:
        """Take it out; answers the plan as it is then."""
        Parameters.of(request)
        items.remove_planned_item(plan_id=plan_id, item_id=item_id, at=timezone.now())
        return Response(_plan_answer(plan_id))


class HistoryOfPlan(RestView):
    """Who changed a plan, from what to what."""

    row = PlanChangeOut
    reads = (SeesPrices,)

    @extend_schema(
        operation_id="list_plan_changes", parameters=[*PAGES], responses=list_of(PlanChangeOut)
    )
    def get(self, request: Request, plan_id: int) -> Response:
        """The newest change first, of the plan and of what is planned in it."""
        Parameters.of(request)
        history = plan_history(plan_of_id(plan_id).id)
        page = slice_of(history, parse_page_request(request), _newest_first)
        return paged(request, page, serialize_plan_change)


def _newest_first(change: TrailChange) -> tuple[float, str, int]:
    place = change.place
    return -place.at.timestamp(), place.label or "", -(place.id or 0)


def _plan_answer(plan_id: int) -> dict[str, Any]:
    return serialize_one_plan(plan_outcome(plan_of_id(plan_id), timezone.now()))
