"""GET /api/v1/search."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.search import LONGEST, SHORTEST, Kind, SearchHit, sought
from apps.ledger.queries.search import search_everything
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.views import RestView

OF_ALL_KINDS, OF_ONE_KIND = 10, 100


@extend_schema_field(
    {"type": "string", "minLength": SHORTEST, "maxLength": LONGEST, "examples": ["4711"]}
)
class Begun(Text):
    """A part of a name, as the document shows one."""


class SearchAsked(Parameters):
    """Parameters of a search: what to look for."""

    q = Begun(
        min_length=SHORTEST,
        max_length=LONGEST,
        help_text="a part of a name, or the beginning of a job's id, a run's key or a device's UUID",
    )
    kind = serializers.ChoiceField(
        required=False,
        choices=[str(kind) for kind in Kind],
        help_text=f"only this kind, up to {OF_ONE_KIND}; else up to {OF_ALL_KINDS} of each",
    )


class FoundOut(Answer[SearchHit]):
    """A thing by its own name; `about` tells it from others of like name."""

    kind = serializers.ChoiceField(choices=[str(kind) for kind in Kind])


class SearchOut(serializers.Serializer[Any]):
    """The results of a search, by kind; of those in `more` there is more than was answered."""

    results = FoundOut(many=True)
    more = serializers.ListField(child=serializers.CharField())


class Search(RestView):
    """Whatever bears a name, as far as the caller may know of it."""

    @extend_schema(operation_id="search", parameters=[SearchAsked], responses=SearchOut)
    def get(self, request: Request) -> Response:
        """Teams, workloads, jobs, runs, nodes, devices, pools, rates and people by their name.

        Teams, workloads, jobs and runs are the caller's own; rates and people are for who sees the
        whole organisation.
        """
        query = SearchAsked.of(request)
        kind = Kind(query["kind"]) if "kind" in query else None
        most = OF_ALL_KINDS if kind is None else OF_ONE_KIND
        groups = search_everything(self.viewer(), sought(query["q"], most), kind)
        return Response(
            {
                "results": [
                    {"kind": hits.kind, "id": one.id, "name": one.name, "about": one.about}
                    for hits in groups
                    for one in hits.found
                ],
                "more": [hits.kind for hits in groups if hits.has_more],
            }
        )
