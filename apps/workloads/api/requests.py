"""GET and POST request-hours: what services answered, as engines and gateways count it."""

from typing import Any

import msgspec
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.authentication import scopes_of
from apps.accounts.queries import Scope, TokenFact
from apps.fleet.queries import agent_of_token
from apps.web.rest.bodies import json_body
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Moment, Parameters, Text
from apps.web.rest.views import RestView
from apps.workloads.actions.request_statements import CountedRequests
from apps.workloads.actions.requests import (
    RequestTaken,
    RequestTeller,
    record_requests,
)
from apps.workloads.api.naming import NameResolver
from apps.workloads.api.request_wire import read_row, row_schema
from apps.workloads.api.rows import RowFault, RowsTakenOut, TooManyRows
from apps.workloads.api.wire import BodyUnreadable, Fault, fault_of
from apps.workloads.queries import request_listing

MOST_ROWS = 5_000
FOREIGN = "another token counts under this source key"
ENGINES_ALONE = "a node's token tells what engines count: a gateway needs the scope 'requests'"


class RequestRowsUnreadable(BodyUnreadable):
    """A body that cannot be taken apart into rows."""

    asks = 'send {"rows": […]}'


class TooManyRequestRows(TooManyRows):
    """More rows than one transaction should hold."""


class CountsRequests(BasePermission):
    """A token of scope requests, or the token of a node's agent."""

    message = "this needs the scope 'requests'"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may tell what was answered."""
        scopes = scopes_of(request)
        return Scope.REQUESTS in scopes or (
            Scope.INGEST in scopes and _node_of(request) is not None
        )


class RequestHoursAsked(Parameters):
    """Parameters that choose the hours; `since` and `until` bound them, half-open."""

    workload = Text(required=False, help_text="the name of a workload")
    service = Text(required=False, help_text="the name that was reported")
    unmatched = serializers.BooleanField(
        required=False, help_text="true: those alone that name no known service, or several"
    )
    since = Moment(required=False)
    until = Moment(required=False)


class RequestHourOut(Answer[CountedRequests]):
    """The counts of one source; null: it does not tell. `workload` is null where none is known."""

    without = ("latency", "first_token")
    first = ("workload", "service", "feature", "model")
    workload = NamedOut(allow_null=True)
    source = serializers.ChoiceField(choices=("engine", "gateway"))  # type: ignore[assignment]  # a field, taken off the class by DRF


class RequestRowOut(serializers.Serializer[Any]):
    """The outcome of one row; not known: no service of that name is, or several are."""

    row = serializers.IntegerField()
    known = serializers.BooleanField()
    changed = serializers.BooleanField()


class RequestsTakenOut(RowsTakenOut):
    """The outcome of the rows: good ones are kept, bad ones listed."""

    unmatched = serializers.IntegerField(
        help_text="of the accepted: kept until such a service is known"
    )
    results = RequestRowOut(many=True)
    errors = RowFault(many=True)  # type: ignore[assignment]  # the wire's word


BODY = {
    "type": "object",
    "required": ["rows"],
    "properties": {"rows": {"type": "array", "maxItems": MOST_ROWS, "items": row_schema()}},
}


class RequestHours(RestView):
    """The answers of services by the hour, as engines and gateways count them."""

    counted_as = "events"
    row = RequestHourOut

    def get_permissions(self) -> list[BasePermission]:
        """Who reads may ask; telling is for gateways, and for agents of what engines count."""
        return [CountsRequests()] if self.request.method == "POST" else super().get_permissions()

    @extend_schema(
        operation_id="list_request_hours",
        parameters=[RequestHoursAsked, *PAGES],
        responses=list_of(RequestHourOut),
    )
    def get(self, request: Request) -> Response:
        """List the counts of services of the caller's teams, the latest hours first."""
        query, called = RequestHoursAsked.of(request), NameResolver(self.viewer())
        wanted = request_listing.RequestHoursWanted(
            workload_ids=called.workload_ids(query.get("workload")),
            service=query.get("service"),
            is_unmatched=query.get("unmatched"),
            starts_at=query.get("since"),
            ends_at=query.get("until"),
        )
        page = request_listing.request_hour_page(wanted, called.viewer, parse_page_request(request))
        return paged(request, page, lambda row: _serialize_request_hour(row, called))

    @extend_schema(
        operation_id="record_request_hours",
        request={"application/json": BODY},
        responses=RequestsTakenOut,
    )
    def post(self, request: Request) -> Response:
        """Take the rows that can be read and say by row why the others cannot.

        Each row holds all that its source counted in that hour so far: a later revision takes the
        place of an earlier one, the same one again changes nothing.
        """
        at = timezone.now()
        teller = _request_teller(request)
        read = [
            _check_reporter(teller, read_row(raw, at=at, row=row), row)
            for row, raw in enumerate(_raw_rows(json_body(request)))
        ]
        good = {row: one for row, one in enumerate(read) if isinstance(one, CountedRequests)}
        taken = record_requests(counted=list(good.values()), teller=teller, at=at)
        return Response(_serialize_taken(read, dict(zip(good, taken, strict=True))))


def _request_teller(request: Request) -> RequestTeller:
    """A token of scope requests speaks for its team; an agent's for its node alone."""
    team_id = request.auth.team_id if isinstance(request.auth, TokenFact) else None
    is_wide = Scope.REQUESTS in scopes_of(request)
    return RequestTeller(team_id, None if is_wide else _node_of(request))


def _node_of(request: Request) -> int | None:
    agent = agent_of_token(request.auth.id) if isinstance(request.auth, TokenFact) else None
    return None if agent is None else agent.node_id


def _check_reporter(
    teller: RequestTeller, row: CountedRequests | Fault, number: int
) -> CountedRequests | Fault:
    """The row, unless it is not this teller's to tell."""
    if isinstance(row, CountedRequests) and teller.node_id is not None and row.source != "engine":
        return Fault("source", ENGINES_ALONE, number)
    return row


def _serialize_taken(
    read: list[CountedRequests | Fault], taken: dict[int, RequestTaken]
) -> dict[str, Any]:
    errors = [one for one in read if isinstance(one, Fault)]
    errors += [Fault("source_key", FOREIGN, row) for row, one in taken.items() if one.is_foreign]
    accepted = {row: one for row, one in taken.items() if not one.is_foreign}
    results = [
        {"row": row, "known": one.workload_id is not None, "changed": one.is_changed}
        for row, one in accepted.items()
    ]
    return {
        "accepted": len(accepted),
        "changed": sum(1 for one in accepted.values() if one.is_changed),
        "unmatched": sum(1 for one in accepted.values() if one.workload_id is None),
        "results": results,
        "errors": [one.document() for one in sorted(errors, key=lambda one: one.row or 0)],
    }


def _serialize_request_hour(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    named = {"workload": called.workload(row["workload_id"]), "service": row["service_named"]}
    return serialize_as(RequestHourOut, {**row, **named})


class _RequestRows(msgspec.Struct, forbid_unknown_fields=True):
    rows: list[msgspec.Raw]


_ROWS = msgspec.json.Decoder(_RequestRows)


def _raw_rows(body: bytes) -> list[msgspec.Raw]:
    try:
        document = _ROWS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        raise RequestRowsUnreadable(fault_of(str(refused))) from refused
    if len(document.rows) > MOST_ROWS:
        raise TooManyRequestRows(len(document.rows), "rows", MOST_ROWS)
    return document.rows
