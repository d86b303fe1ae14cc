"""Data that came in and was not understood, over the wire."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet.queries.not_understood import DOORS, NotUnderstoodFact, not_understood
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import Manages, RestView


class NotUnderstoodOut(Answer[NotUnderstoodFact]):
    """A name that a door met and does not know."""

    door = serializers.ChoiceField(choices=tuple(DOORS))
    place = serializers.CharField(help_text="the node or cluster it is of; empty: of none")
    name = serializers.CharField(help_text="empty: further names of days that had too many")
    example = serializers.CharField(help_text="an id of what had it; empty where it has none")


class NotUnderstoodView(RestView):
    """Names that no table of a door has: what has them is in no sum, or in one without them."""

    reads = (Manages,)
    row = NotUnderstoodOut

    @extend_schema(
        operation_id="list_not_understood", parameters=PAGES, responses=list_of(NotUnderstoodOut)
    )
    def get(self, request: Request) -> Response:
        """List what was not understood in the last two weeks, by door, place and name; never a value."""
        Parameters.of(request)
        page = slice_of(
            not_understood(),
            parse_page_request(request),
            lambda fact: (fact.door, fact.place, fact.name),
        )
        return paged(request, page, lambda fact: serialize_as(NotUnderstoodOut, fact))
