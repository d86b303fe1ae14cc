"""Portfolios over REST: the newest answer, the runs, asking for one and calling it off."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.files.limits import BodyKind
from apps.planning import actions
from apps.planning.api.portfolio_shapes import DocumentOut, PortfolioAnswerOut
from apps.planning.queries.portfolio.runs import (
    PortfolioRunFact,
    latest_portfolio,
    portfolio_run,
    portfolio_runs,
)
from apps.planning.tables.portfolio_runs import PORTFOLIO_RUNS
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.strict import Parameters, StrictSerializer, parsed
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import CanManageBilling, Reads, RestView, SeesPrices

TABLES_HELP = "as [[{}]] of docs/guides/portfolio.md; a table of a name that is known changes it"


class PortfolioIn(StrictSerializer):
    """Inputs said over the ledger's question; whatever is left out is as the ledger has it, or without a limit."""

    months = serializers.IntegerField(required=False, min_value=1, max_value=60)
    scenarios = serializers.IntegerField(required=False, min_value=1, max_value=500)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=100_000)
    monthly_growth = serializers.FloatField(required=False, min_value=-0.5, max_value=1)
    growth_spread = serializers.FloatField(required=False, min_value=0, max_value=0.5)
    risk_weight = serializers.FloatField(required=False, min_value=0, max_value=1)
    tail = serializers.FloatField(required=False, min_value=0, max_value=0.99)
    budget = serializers.FloatField(required=False, min_value=0, max_value=1e15)
    upfront_budget = serializers.FloatField(required=False, min_value=0, max_value=1e15)
    most_blocked = serializers.FloatField(required=False, min_value=0, max_value=1)
    blocked_tail = serializers.FloatField(required=False, min_value=0, max_value=0.99)
    families = serializers.ListField(
        child=DocumentOut(), required=False, help_text=TABLES_HELP.format("families")
    )
    offers = serializers.ListField(
        child=DocumentOut(), required=False, help_text=TABLES_HELP.format("offers")
    )
    held = serializers.ListField(
        child=DocumentOut(), required=False, help_text=TABLES_HELP.format("held")
    )


class RunAddressOut(serializers.CharField):
    """Where a run is answered, by its id."""

    def to_representation(self, value: Any) -> str:
        """Return its path."""
        return reverse("api-portfolio-run", args=[value])


class PortfolioRunOut(RowAnswer):
    """A run: how far it is, and where it is answered; `refusal` says why it is not."""

    table = PORTFOLIO_RUNS
    address = RunAddressOut(source="id")
    asked_by = NamedOut(allow_null=True, source="*")


class PortfolioOut(PortfolioRunOut):
    """A run with its answer; null until it is done."""

    answer = PortfolioAnswerOut(allow_null=True)


class CanRequestPortfolios(CanManageBilling):
    """Permission to ask for portfolios: the organisation's token of scope manage, or a person of finance or platform."""

    message = "portfolios are asked for by finance and platform, and by the organisation's 'manage' tokens"


class PortfolioView(RestView):
    """Portfolios tell prices: they are finance's and platform's."""

    reads = (Reads, SeesPrices)
    changes = (CanRequestPortfolios,)


class LatestPortfolio(PortfolioView):
    """The newest portfolio that is answered."""

    @extend_schema(operation_id="portfolio", responses=PortfolioOut)
    def get(self, request: Request) -> Response:
        """Return what to own, reserve, buy on demand and run on spot; 404 where none is answered yet."""
        Parameters.of(request)
        with reading_once():
            return Response(_serialize_full_run(latest_portfolio()))


class PortfolioRuns(PortfolioView):
    """Runs of portfolios that were asked for."""

    row = PortfolioRunOut

    @table_schema("list_portfolio_runs", PortfolioRunOut)
    def get(self, request: Request) -> Response:
        """All runs that are kept, the newest first."""
        Parameters.of(request, SORT)
        with reading_once():
            return answer_table(request, PortfolioRunOut, portfolio_runs())

    @extend_schema(
        operation_id="ask_portfolio",
        parameters=[REPEAT_KEY],
        request=PortfolioIn,
        responses={202: PortfolioRunOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Have a portfolio answered from what the ledger knows, with these assumptions; takes up to a minute."""
        run_id = actions.request_portfolio(
            overlay=parsed(PortfolioIn, request),
            asked_by_id=self.viewer().person_id,
            at=timezone.now(),
        )
        answer = _serialize_run(_get_run_or_404(run_id))
        return Response(answer, status=202, headers={"Location": answer["address"]})


class OnePortfolioRun(PortfolioView):
    """One run."""

    @extend_schema(operation_id="portfolio_run", responses=PortfolioOut)
    def get(self, request: Request, portfolio_id: int) -> Response:
        """How far it is, and its answer when it is done."""
        Parameters.of(request)
        with reading_once():
            return Response(_serialize_full_run(portfolio_run(portfolio_id)))


class CancelledPortfolioRun(PortfolioView):
    """A run that is called off."""

    body = BodyKind.EMPTY

    @extend_schema(operation_id="cancel_portfolio_run", request=None, responses=PortfolioRunOut)
    def post(self, request: Request, portfolio_id: int) -> Response:
        """Call it off; refused where it is over."""
        _get_run_or_404(portfolio_id)
        parsed(StrictSerializer, request)
        actions.cancel_portfolio(run_id=portfolio_id, at=timezone.now())
        return Response(_serialize_run(_get_run_or_404(portfolio_id)))


def _get_run_or_404(run_id: int) -> PortfolioRunFact:
    run = portfolio_run(run_id)
    if run is None:
        raise Http404
    return run


def _serialize_run(run: PortfolioRunFact) -> dict[str, Any]:
    return serialize_as(PortfolioRunOut, run)


def _serialize_full_run(run: PortfolioRunFact | None) -> dict[str, Any]:
    if run is None:
        raise Http404
    return serialize_as(PortfolioOut, run)
