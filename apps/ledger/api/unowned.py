"""GET /api/v1/unowned."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger import queries
from apps.ledger.rest.parameters import DEFAULT_WINDOW, parse_window
from apps.ledger.tables.unowned import UNOWNED
from apps.web.rest.money import HoursOut, NamedOut
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class UnownedAsked(Parameters):
    """Over which time."""

    window = Text(
        required=False,
        help_text="today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end; "
        "default 7d",
    )


class UnownedOut(RowAnswer):
    """Jobs alike that no rule gives to a team, with what a rule for them would ask."""

    table = UNOWNED
    without = ("partition", "unpriced_gpu_hours")
    cluster = NamedOut(source="*")
    unpriced_hours = HoursOut(source="unpriced_milliseconds")


class Unowned(PricesView):
    """The work that no ownership rule gives to a team."""

    row = UnownedOut

    @table_schema("list_unowned", UnownedOut, UnownedAsked)
    def get(self, request: Request) -> Response:
        """List what nobody owned in the window's local days, by who submitted it, the highest cost first."""
        query, at = UnownedAsked.of(request, SORT), timezone.now()
        team_id = accounts.special_teams().unowned_id
        work = queries.unowned_work(parse_window(query.get("window", DEFAULT_WINDOW), at), team_id)
        return answer_table(request, UnownedOut, work, accounts.organisation().currency)
