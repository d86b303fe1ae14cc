"""Quotes over REST: asked, read, taken, and how well they said what came."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries.reading import reading_once
from apps.placement import actions
from apps.placement.api.callers import PlacementView
from apps.placement.api.quote_shapes import (
    QuoteIn,
    QuoteOneOut,
    QuoteOut,
    TakenIn,
    parse_quote_request,
    serialize_one_quote,
    serialize_quote,
)
from apps.placement.queries.placement_scope import PlacementScope, shown_quote, visible_quote
from apps.placement.queries.quotes import calibration, quote_page
from apps.placement.tables.quote_calibration import QUOTE_CALIBRATION
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema


class Quotes(PlacementView):
    """Quotes show prices: who sees these reads all, and a scheduler or a team what it may ask."""

    row = QuoteOut
    counted_as = "quotes"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Teams and the organisation are read once for each request: nothing here changes them."""
        with reading_once():
            return super().dispatch(request, *args, **kwargs)

    @extend_schema(operation_id="list_quotes", parameters=[*PAGES], responses=list_of(QuoteOut))
    def get(self, request: Request) -> Response:
        """The newest first, without their offers."""
        Parameters.of(request)
        scope = self.scope()
        page = quote_page(
            parse_page_request(request), scope.team_ids, scope.pool_ids, scope.cluster_id
        )
        return paged(request, page, lambda fact: serialize_quote(shown_quote(fact, scope)))

    @extend_schema(
        operation_id="ask_quote",
        parameters=[REPEAT_KEY],
        request=QuoteIn,
        responses={201: QuoteOneOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Quote what a job costs where, and when it would be done: offers of the newest book, in order."""
        body, scope = parsed(QuoteIn, request), self.scope()
        quote = actions.make_quote(
            question=parse_quote_request(body, requested_team_id(body["team"], scope)),
            team_ids=scope.team_ids,
            by=self.viewer().person_id,
            at=timezone.now(),
            cluster_id=scope.cluster_id,
        )
        return Response(serialize_one_quote(shown_quote(quote, scope)), status=201)


class OneQuote(PlacementView):
    """A quote with its offers."""

    @extend_schema(operation_id="get_quote", responses=QuoteOneOut)
    def get(self, request: Request, quote_id: int) -> Response:
        """As it was answered, and what came of the offer that was taken."""
        Parameters.of(request)
        scope = self.scope()
        return Response(serialize_one_quote(shown_quote(visible_quote(quote_id, scope), scope)))


class TakenQuote(PlacementView):
    """The offer of a quote that was taken."""

    @extend_schema(
        operation_id="take_quote",
        parameters=[REPEAT_KEY],
        request=TakenIn,
        responses={200: QuoteOneOut},
    )
    @once()
    def post(self, request: Request, quote_id: int) -> Response:
        """Say which offer was taken, by which job or run: its cost and time are then held against the quote."""
        scope = self.scope()
        # Whether there is such a quote is answered before its body is read: to others there is none.
        visible_quote(quote_id, scope)
        body = parsed(TakenIn, request)
        actions.take_offer(
            quote_id=quote_id,
            key=body["offer"],
            job_id=body["job"],
            run_id=body["run"],
            at=timezone.now(),
            scope=scope,
        )
        return Response(serialize_one_quote(shown_quote(visible_quote(quote_id, scope), scope)))


class CalibrationOut(RowAnswer):
    """Of quotes that ended: medians of actual ÷ predicted (null: none has both), and those in time."""

    table = QUOTE_CALIBRATION


class QuoteCalibrations(PlacementView):
    """How well quotes said what came."""

    row = CalibrationOut

    @table_schema("list_quote_calibration", CalibrationOut)
    def get(self, request: Request) -> Response:
        """By way of buying, of every quote that was taken and ended, as far as they are the caller's."""
        Parameters.of(request, SORT)
        scope = self.scope()
        return answer_table(request, CalibrationOut, calibration(scope.team_ids, scope.pool_ids))


def requested_team_id(name: str, scope: PlacementScope) -> int | None:
    """The team of this name, of those that the asker acts for; where none is said its own, or None."""
    if not name:
        return scope.own_team_id
    teams = {team.name: team.id for team in accounts.teams() if scope.covers_team(team.id)}
    if name not in teams:
        raise ValidationError({"team": [f"there is no team named {name!r}"]})
    return teams[name]
