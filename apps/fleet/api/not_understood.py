"""Data that came in and was not understood, over the wire."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet.queries.not_understood import DOORS, not_understood
from apps.fleet.tables.not_understood import NOT_UNDERSTOOD
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import Manages, RestView


class NotUnderstoodOut(RowAnswer):
    """A name that a door met and does not know."""

    table = NOT_UNDERSTOOD
    door = serializers.ChoiceField(choices=tuple(DOORS))


class NotUnderstoodView(RestView):
    """Names that no table of a door has: what has them is in no sum, or in one without them."""

    reads = (Manages,)
    row = NotUnderstoodOut

    @table_schema("list_not_understood", NotUnderstoodOut)
    def get(self, request: Request) -> Response:
        """List what was not understood in the last two weeks, by door, place and name; never a value."""
        Parameters.of(request, SORT)
        return answer_table(request, NotUnderstoodOut, not_understood())
