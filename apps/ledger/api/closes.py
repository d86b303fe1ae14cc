"""Closed months over the wire: closed by finance, and their statements."""

from datetime import date
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.hours import parse_month_text
from apps.ledger.actions.close import CloseRequest, close_month
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.months import CloseFact, close_fact, close_page
from apps.ledger.queries.closes.statements import (
    CloseJournalEntry,
    CloseStatement,
    journal,
    team_statements,
)
from apps.ledger.tables.closes import JOURNAL, STATEMENTS
from apps.web.rest.idempotency import once
from apps.web.rest.money import DecimalMoneyOut, MoneyOut, money_of
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import OptionalText, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import ClosesMonths, RestView, SeesPrices


class CloseIn(StrictSerializer):
    """A month to close, and which open questions of its checklist may stay open, by code."""

    month = Text(max_length=7, help_text="such as 2026-07")
    accept = serializers.ListField(child=Text(), required=False, default=list, max_length=20)
    note = OptionalText(max_length=2_000)


class CloseOut(Answer[CloseFact]):
    """A month as it was closed. Sums are of all teams; `digest` is a SHA-256 of its lines."""

    without = ("checklist", "totals")
    month = serializers.CharField()
    invoices = serializers.CharField(help_text="which invoice billed which of its hours, in words")
    accepted = serializers.ListField(child=serializers.CharField(), help_text="what stood open")
    list = MoneyOut(allow_null=True)
    contracted = MoneyOut(allow_null=True)
    effective = MoneyOut(allow_null=True)
    billed = MoneyOut(allow_null=True)


class StatementOut(RowAnswer):
    """A team's charges of a month; `corrections` is the part that late facts of other months added."""

    table = STATEMENTS
    without = ("month", "version", "cut_off")


class JournalEntryOut(RowAnswer):
    """A posting, in whole cents."""

    table = JOURNAL
    without = ("month", "version")
    amount = DecimalMoneyOut(
        help_text="what the cost centre owes: `debit`, or less than nothing: `credit`"
    )
    debit = DecimalMoneyOut(allow_null=True)
    credit = DecimalMoneyOut(allow_null=True)


class Closes(RestView):
    """Closed months: who sees prices reads them, finance closes."""

    row = CloseOut
    reads = (SeesPrices,)
    changes = (ClosesMonths,)

    @extend_schema(operation_id="list_closes", parameters=[*PAGES], responses=list_of(CloseOut))
    def get(self, request: Request) -> Response:
        """Every version of every closed month, the newest first; opened ones too."""
        Parameters.of(request)
        return paged(request, close_page(parse_page_request(request)), _serialize_close)

    @extend_schema(
        operation_id="close_month",
        parameters=[REPEAT_KEY],
        request=CloseIn,
        responses={201: CloseOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Close a month that is over. For people of finance; a token closes nothing.

        An open item that is not waived is refused by name (409).
        """
        body = parsed(CloseIn, request)
        month, accepted = _parse_month(body["month"]), body["accept"]
        codes = {item.code for item in checklist(month)}
        unknown = sorted(set(accepted) - codes)
        if unknown:
            raise ValidationError({"accept": [f"{unknown[0]!r} is no question of the checklist"]})
        close_request = CloseRequest(month, self.viewer().person_id, accepted, body["note"])
        return Response(
            _serialize_close(
                _get_close_or_404(close_month(request=close_request, at=timezone.now()))
            ),
            status=201,
        )


class CloseStatements(RestView):
    """The statements of a close."""

    row = StatementOut

    @table_schema("list_statements", StatementOut)
    def get(self, request: Request, close_id: int) -> Response:
        """The statements of the caller's teams; of every team to who sees everything."""
        Parameters.of(request, SORT)
        close, teams = _get_close_or_404(close_id), self.viewer().seen_teams
        rows = [CloseStatement(close, statement) for statement in team_statements(close_id, teams)]
        return answer_table(request, StatementOut, rows, accounts.organisation().currency)


class CloseJournal(RestView):
    """The postings of a close."""

    row = JournalEntryOut
    # It names every team's amounts.
    reads = (SeesPrices,)

    @table_schema("list_journal", JournalEntryOut)
    def get(self, request: Request, close_id: int) -> Response:
        """By cost centre, team and account; they sum to the close rounded to the cent."""
        Parameters.of(request, SORT)
        close = _get_close_or_404(close_id)
        rows = [CloseJournalEntry(close, entry) for entry in journal(close_id)]
        return answer_table(request, JournalEntryOut, rows, accounts.organisation().currency)


def _serialize_close(fact: CloseFact) -> dict[str, Any]:
    currency = accounts.organisation().currency
    amounts: dict[str, Any] = {
        basis: money_of(fact.totals.get(f"{basis}_micros"), currency)
        for basis in ("list", "contracted", "effective", "billed")
    }
    return serialize_as(
        CloseOut,
        fact,
        **amounts,
        month=fact.month_text,
        invoices=fact.invoices,
        accepted=[str(item["code"]) for item in fact.checklist if item["count"]],
    )


def _parse_month(text: str) -> date:
    month = parse_month_text(text)
    if month is None:
        raise ValidationError({"month": ["a month is written as 2026-07"]})
    return month


def _get_close_or_404(close_id: int) -> CloseFact:
    fact = close_fact(close_id)
    if fact is None:
        raise ObjectDoesNotExist(f"there is no close {close_id}")
    return fact
