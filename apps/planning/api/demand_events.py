"""Events over the wire: days that are not like the others, as people entered them."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.facts import fields_of
from apps.planning.actions.events import (
    add_demand_event,
    change_demand_event,
    remove_demand_event,
)
from apps.planning.queries.events import (
    EVENT_EFFECTS,
    EVENT_KINDS,
    DemandEventFact,
    demand_events,
)
from apps.planning.queries.series import DIMENSIONS_OF, name_of_key, part_named
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import OptionalText, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import RestView


class DemandEventIn(StrictSerializer):
    """Days of an event, what it touches, and what it does to each of them.

    `series` empty: of everything. An amount more of a part is as much more of the organisation; a factor of a part
    changes that part alone.
    """

    name = Text()
    kind = serializers.ChoiceField(choices=tuple(EVENT_KINDS))
    first_day = serializers.DateField(help_text="a day of the organisation's zone")
    last_day = serializers.DateField(
        required=False, allow_null=True, default=None, help_text="null: from then on"
    )
    measure = serializers.ChoiceField(
        choices=("", *DIMENSIONS_OF), required=False, default="", help_text="empty: every figure"
    )
    series = OptionalText(help_text="as pool=h100 or team=Vision")
    effect = serializers.ChoiceField(
        choices=tuple(EVENT_EFFECTS),
        help_text="factor, added, or unknown: days before are then left out, those ahead taken as ordinary",
    )
    factor = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="1.4 is 40 % more"
    )
    added = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="more a day, in the figure's unit"
    )


class DemandEventOut(serializers.Serializer[Any]):
    """An event as it was entered."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=tuple(EVENT_KINDS))
    first_day = serializers.DateField()
    last_day = serializers.DateField(allow_null=True)
    measure = serializers.ChoiceField(choices=("", *DIMENSIONS_OF))
    series = serializers.CharField()
    effect = serializers.ChoiceField(choices=tuple(EVENT_EFFECTS))
    factor = serializers.FloatField(allow_null=True)
    added = serializers.FloatField(allow_null=True)


class DemandEvents(RestView):
    """Events of everything, and of what one sees the forecasts of."""

    row = DemandEventOut

    @extend_schema(
        operation_id="list_demand_events", parameters=[*PAGES], responses=list_of(DemandEventOut)
    )
    def get(self, request: Request) -> Response:
        """All of them, the first to begin first."""
        Parameters.of(request)
        page = slice_of(
            demand_events(self.viewer().seen_teams), parse_page_request(request), _by_day
        )
        return paged(request, page, _serialize_event)

    @extend_schema(
        operation_id="add_demand_event",
        parameters=[REPEAT_KEY],
        request=DemandEventIn,
        responses={201: DemandEventOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter an event; forecasts that it touches are made again within ten minutes."""
        event_id = add_demand_event(event=_parse_event(request), at=timezone.now())
        return Response(_serialize_event(_get_event_or_404(self, event_id)), status=201)


class OneDemandEvent(RestView):
    """One event."""

    @extend_schema(operation_id="demand_event", responses=DemandEventOut)
    def get(self, request: Request, demand_event_id: int) -> Response:
        """An event by its id."""
        Parameters.of(request)
        return Response(_serialize_event(_get_event_or_404(self, demand_event_id)))

    @extend_schema(
        operation_id="change_demand_event", request=DemandEventIn, responses=DemandEventOut
    )
    def put(self, request: Request, demand_event_id: int) -> Response:
        """Have it say this instead."""
        event = _parse_event(request, demand_event_id)
        _get_event_or_404(self, demand_event_id)
        change_demand_event(event=event)
        return Response(_serialize_event(_get_event_or_404(self, demand_event_id)))

    @extend_schema(operation_id="remove_demand_event", responses={200: DemandEventOut})
    def delete(self, request: Request, demand_event_id: int) -> Response:
        """Its days are ordinary ones again; answers what it was."""
        Parameters.of(request)
        event = _get_event_or_404(self, demand_event_id)
        remove_demand_event(event_id=demand_event_id)
        return Response(_serialize_event(event))


def _get_event_or_404(view: RestView, event_id: int) -> DemandEventFact:
    """The event, or that there is none: another team's is as if it were not there."""
    for event in demand_events(view.viewer().seen_teams):
        if event.id == event_id:
            return event
    raise Http404


def _parse_event(request: Request, event_id: int = 0) -> DemandEventFact:
    body = parsed(DemandEventIn, request)
    dimension, key = part_named(body.pop("series"))
    return DemandEventFact(id=event_id, dimension=dimension, key=key, **body)


def _serialize_event(event: DemandEventFact) -> dict[str, Any]:
    name = f"{event.dimension}={name_of_key(event.series)}" if event.dimension else ""
    return serialize_as(DemandEventOut, fields_of(event) | {"series": name})


def _by_day(event: DemandEventFact) -> tuple[str, int]:
    return event.first_day.isoformat(), event.id
