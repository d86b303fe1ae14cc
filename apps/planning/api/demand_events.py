"""Events over the wire: days that are not like the others, as people entered them."""

from dataclasses import replace
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.planning.actions.events import (
    add_demand_event,
    change_demand_event,
    remove_demand_event,
)
from apps.planning.queries.events import (
    EVERY_MEASURE,
    DemandEventFact,
    demand_events,
)
from apps.planning.queries.series import part_named
from apps.planning.tables.demand_events import DEMAND_EVENTS
from apps.web.rest.idempotency import once
from apps.web.rest.pages import serialize_as
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.shapes import Body, parse_as
from apps.web.rest.strict import OptionalText, Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import RestView


class DemandEventIn(Body[DemandEventFact]):
    """Days of an event, what it touches, and what it does to each of them.

    `series` empty: of everything. An amount more of a part is as much more of the organisation; a factor of a part
    changes that part alone.
    """

    without = ("id", "dimension", "key")
    measure = serializers.ChoiceField(
        choices=tuple(EVERY_MEASURE), required=False, default="", help_text="empty: every figure"
    )
    series = OptionalText(help_text="as pool=h100 or team=Vision")

    def made(self, values: dict[str, Any]) -> DemandEventFact:
        """Return the event of the part that `series` names; it is not kept yet."""
        dimension, key = part_named(values.pop("series"))
        return DemandEventFact(id=0, dimension=dimension, key=key, **values)


class DemandEventOut(RowAnswer):
    """An event as it was entered."""

    table = DEMAND_EVENTS
    without = ("of",)


class DemandEvents(RestView):
    """Events of everything, and of what one sees the forecasts of."""

    row = DemandEventOut

    @table_schema("list_demand_events", DemandEventOut)
    def get(self, request: Request) -> Response:
        """All of them, the first to begin first."""
        Parameters.of(request, SORT)
        return answer_table(request, DemandEventOut, demand_events(self.viewer().seen_teams))

    @extend_schema(
        operation_id="add_demand_event",
        parameters=[REPEAT_KEY],
        request=DemandEventIn,
        responses={201: DemandEventOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter an event; forecasts that it touches are made again within ten minutes."""
        event_id = add_demand_event(event=parse_as(DemandEventIn, request), at=timezone.now())
        return Response(serialize_as(DemandEventOut, _get_event_or_404(self, event_id)), status=201)


class OneDemandEvent(RestView):
    """One event."""

    @extend_schema(operation_id="demand_event", responses=DemandEventOut)
    def get(self, request: Request, demand_event_id: int) -> Response:
        """An event by its id."""
        Parameters.of(request)
        return Response(serialize_as(DemandEventOut, _get_event_or_404(self, demand_event_id)))

    @extend_schema(
        operation_id="change_demand_event", request=DemandEventIn, responses=DemandEventOut
    )
    def put(self, request: Request, demand_event_id: int) -> Response:
        """Have it say this instead."""
        event = replace(parse_as(DemandEventIn, request), id=demand_event_id)
        _get_event_or_404(self, demand_event_id)
        change_demand_event(event=event)
        return Response(serialize_as(DemandEventOut, _get_event_or_404(self, demand_event_id)))

    @extend_schema(operation_id="remove_demand_event", responses={200: DemandEventOut})
    def delete(self, request: Request, demand_event_id: int) -> Response:
        """Its days are ordinary ones again; answers what it was."""
        Parameters.of(request)
        event = _get_event_or_404(self, demand_event_id)
        remove_demand_event(event_id=demand_event_id)
        return Response(serialize_as(DemandEventOut, event))


def _get_event_or_404(view: RestView, event_id: int) -> DemandEventFact:
    """The event, or that there is none: another team's is as if it were not there."""
    for event in demand_events(view.viewer().seen_teams):
        if event.id == event_id:
            return event
    raise Http404
