"""GET /api/v1/unowned."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger import queries
from apps.ledger.rest.parameters import DEFAULT_WINDOW, parse_window
from apps.web.rest.money import HoursOut, MoneyOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.views import PricesView


class UnownedAsked(Parameters):
    """Over which time."""

    window = Text(
        required=False,
        help_text="today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end; "
        "default 7d",
    )


class UnownedOut(serializers.Serializer[Any]):
    """Jobs alike that no rule gives to a team, with what a rule for them would ask."""

    cluster = NamedOut()
    account = serializers.CharField(source="submitter.account")
    namespace = serializers.CharField(source="submitter.namespace")
    user = serializers.CharField(source="submitter.user")
    jobs = serializers.IntegerField()
    gpu_hours = HoursOut(source="unit_milliseconds")
    unpriced_hours = HoursOut(source="unpriced_milliseconds")
    cost = MoneyOut(
        source="micros",
        allow_null=True,
        help_text="effective; null where nothing of it has a price",
    )


class Unowned(PricesView):
    """The work that no ownership rule gives to a team."""

    row = UnownedOut

    @extend_schema(
        operation_id="list_unowned",
        parameters=[UnownedAsked, *PAGES],
        responses=list_of(UnownedOut),
    )
    def get(self, request: Request) -> Response:
        """List what nobody owned in the window's local days, by who submitted it, the highest cost first."""
        text, at = UnownedAsked.of(request).get("window", DEFAULT_WINDOW), timezone.now()
        team_id = accounts.special_teams().unowned_id
        work = queries.unowned_work(parse_window(text, at), team_id)
        page = slice_of(work, parse_page_request(request), lambda one: one.rank)
        currency = accounts.organisation().currency
        return paged(request, page, lambda one: serialize_unowned_work(one, currency))


def serialize_unowned_work(one: queries.UnownedWork, currency: str) -> dict[str, Any]:
    """One row as it is answered."""
    cluster = {"id": one.submitter.cluster_id, "name": one.submitter.cluster}
    return serialize_as(UnownedOut, one, currency, cluster=cluster)
