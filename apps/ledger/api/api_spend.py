"""The cost of model APIs, contract prices, and the vendors' own reports beside it."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation, teams
from apps.economics.calls import Contract
from apps.economics.vendor_names import vendor_named
from apps.ledger.actions.api_prices import end_price, enter_price
from apps.ledger.actions.vendor_costs import take_vendor_costs
from apps.ledger.queries.api_spend import AMOUNTS, GROUPS, Spend, SpendQuery, compared, spend
from apps.ledger.rest.parameters import parse_window
from apps.ledger.tables.vendor_days import VENDOR_DAYS
from apps.pricing.actions.api_prices import UNITS, EnteredApiPrice
from apps.pricing.queries.api_prices import api_price, api_prices
from apps.web.rest.idempotency import once
from apps.web.rest.money import MoneyOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, Body, parse_as
from apps.web.rest.strict import (
    Moment,
    Parameters,
    PatternOfRows,
    QuotedAmount,
    StrictSerializer,
    Text,
    parsed,
)
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import (
    BuysAhead,
    CanManageBilling,
    Reads,
    RestView,
    SeesPrices,
    serialize_team_reference,
)
from apps.workloads.queries import workloads

DEFAULT_WINDOW = "7d"
SHARE = r"^(0(\.[0-9]{1,8})?|1(\.0{1,8})?)$"


class ApiSpendAsked(Parameters):
    """Parameters that choose calls, and by what they are grouped."""

    window = Text(
        required=False,
        default=DEFAULT_WINDOW,
        help_text="today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end",
    )
    group_by = serializers.CharField(
        required=False,
        default="model",
        allow_blank=True,
        max_length=200,
        help_text=f"by comma: {', '.join(GROUPS)}; empty: everything together",
    )
    vendor = Text(required=False)
    team = Text(required=False, help_text="the name of a team")


class CompareAsked(Parameters):
    """Parameters that choose days."""

    window = Text(required=False, default=DEFAULT_WINDOW, help_text="as of api-spend")
    vendor = Text(required=False)


class ApiSpendOut(Answer[Spend]):
    """Calls and what they cost; what was not grouped by is null, and so is an amount nobody knows.

    `cost` is of the calls that have a price; `list_cost` the same at public prices.
    """

    without = ("key", "unpriced", *AMOUNTS)
    vendor = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    feature = serializers.CharField(allow_null=True)
    tier = serializers.CharField(allow_null=True)
    day = serializers.DateField(allow_null=True)
    unpriced_requests = serializers.IntegerField(source="unpriced")
    cost = MoneyOut(source="micros", allow_null=True)
    list_cost = MoneyOut(source="list_micros", allow_null=True)
    stated_cost = MoneyOut(
        source="stated_micros",
        allow_null=True,
        help_text="what gateways and SDKs say that calls cost which have a price here; never booked",
    )
    stated_difference = MoneyOut(
        source="stated_difference_micros",
        allow_null=True,
        help_text="the same less our price of the same calls",
    )
    cost_per_million_tokens = MoneyOut(source="million_micros", allow_null=True)


class ApiPriceIn(Body[EnteredApiPrice]):
    """A contract price: an `amount` for `per_quantity` of a unit, or a `discount_ratio` off."""

    without = ("remark",)
    amount = QuotedAmount(required=False, allow_null=True, help_text="9 of its decimals are kept")
    discount_ratio = PatternOfRows(SHARE, max_length=25, required=False, allow_null=True)

    def made(self, values: dict[str, Any]) -> EnteredApiPrice:
        """Return the price, whose amounts are texts in a body."""
        for name in ("amount", "discount_ratio"):
            values[name] = _decimal_or_none(values.get(name))
        return EnteredApiPrice(**values)


class ApiPriceEndIn(StrictSerializer):
    """From when it prices nothing."""

    ended_at = Moment()


class ApiPriceOut(Answer[Contract]):
    """A contract price as it stands."""

    unit = serializers.ChoiceField(choices=tuple(UNITS))


class VendorCostsIn(StrictSerializer):
    """A vendor's own cost report as it came: a page, or a list of pages."""

    vendor = Text()
    report = serializers.JSONField(
        help_text="of OpenAI's /organization/costs, or Anthropic's cost_report (amounts in cents)"
    )


class VendorCostsOut(serializers.Serializer[Any]):
    """How many rows are kept of it."""

    vendor = serializers.CharField()
    rows = serializers.IntegerField()


class ComparedOut(RowAnswer):
    """A vendor's day of UTC: what its calls come to, what it says, and theirs less ours."""

    table = VENDOR_DAYS


class ApiSpend(RestView):
    """The cost of calls to model APIs."""

    row = ApiSpendOut

    @extend_schema(
        operation_id="api_spend", parameters=[ApiSpendAsked, *PAGES], responses=list_of(ApiSpendOut)
    )
    def get(self, request: Request) -> Response:
        """Sums of the window's calls, the highest cost first; of the caller's teams alone."""
        query = ApiSpendAsked.of(request)
        group_by = _group_by(query["group_by"])
        viewer, currency = self.viewer(), organisation().currency
        names = {team.id: team.name for team in teams()}
        team_ids: Collection[int] | None = viewer.seen_teams
        if "team" in query:
            team_ids = {
                i for i, name in names.items() if name == query["team"] and viewer.sees_team(i)
            }
        wanted = _parse_spend_query(query, team_ids)
        rows = list(enumerate(spend(wanted, group_by)))
        page = slice_of(rows, parse_page_request(request), lambda row: (row[0],))
        works = workloads()

        def told(row: tuple[int, Spend]) -> dict[str, Any]:
            key = dict.fromkeys(GROUPS) | dict(zip(group_by, row[1].key, strict=True))
            work = key["workload"]
            return _serialize_spend(
                row[1],
                key
                | {
                    "team": serialize_team_reference(viewer, key["team"], names),
                    "workload": None if work is None else {"id": work, "name": works[work].name},
                },
                currency,
            )

        return paged(request, page, told)


class ApiPricesView(RestView):
    """Finance and platform read, finance enters."""

    reads = (Reads, SeesPrices)
    changes = (Reads, BuysAhead)


class ApiPrices(ApiPricesView):
    """Contract prices of model APIs."""

    row = ApiPriceOut

    @extend_schema(
        operation_id="list_api_prices", parameters=[*PAGES], responses=list_of(ApiPriceOut)
    )
    def get(self, request: Request) -> Response:
        """Every contract price, past ones too."""
        Parameters.of(request)
        page = slice_of(api_prices(), parse_page_request(request), lambda fact: (fact.id,))
        return paged(request, page, lambda fact: serialize_as(ApiPriceOut, fact))

    @extend_schema(
        operation_id="add_api_price",
        parameters=[REPEAT_KEY],
        request=ApiPriceIn,
        responses={201: ApiPriceOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter a contract price; calls of its period are priced again.

        One that overlaps another of the same unit and model is refused.
        """
        fact = api_price(enter_price(price=parse_as(ApiPriceIn, request)))
        return Response(serialize_as(ApiPriceOut, _contract_or_404(fact)), status=201)


class ApiPriceEnd(ApiPricesView):
    """The end of a contract price."""

    @extend_schema(
        operation_id="end_api_price",
        parameters=[REPEAT_KEY],
        request=ApiPriceEndIn,
        responses=ApiPriceOut,
    )
    @once()
    def post(self, request: Request, api_price_id: int) -> Response:
        """From then on calls go by another contract, or by the public price."""
        ended_at = parsed(ApiPriceEndIn, request)["ended_at"]
        if _contract_or_404(api_price(api_price_id)).ends_at != ended_at:
            end_price(price_id=api_price_id, ended_at=ended_at)
        return Response(serialize_as(ApiPriceOut, _contract_or_404(api_price(api_price_id))))


class VendorCosts(RestView):
    """The cost of calls as vendors state it, beside what the calls come to."""

    row = ComparedOut
    reads = (SeesPrices,)
    changes = (CanManageBilling,)

    @table_schema("list_vendor_costs", ComparedOut, CompareAsked)
    def get(self, request: Request) -> Response:
        """Each day that a vendor's report tells of; days are of UTC, as vendors cut them."""
        query = _parse_spend_query(CompareAsked.of(request, SORT), None)
        return answer_table(request, ComparedOut, compared(query), organisation().currency)

    @extend_schema(
        operation_id="take_vendor_costs",
        parameters=[REPEAT_KEY],
        request=VendorCostsIn,
        responses=VendorCostsOut,
    )
    @once()
    def post(self, request: Request) -> Response:
        """Keep the days of a report instead of those reported before; nothing is booked."""
        body = parsed(VendorCostsIn, request)
        vendor = vendor_named(body["vendor"])
        rows = take_vendor_costs(vendor=vendor, report=body["report"], at=timezone.now())
        return Response({"vendor": vendor, "rows": rows})


def _serialize_spend(group_spend: Spend, key: dict[str, Any], currency: str) -> dict[str, Any]:
    return serialize_as(
        ApiSpendOut, group_spend, currency, **key, million_micros=group_spend.million_micros
    )


def _parse_spend_query(query: dict[str, Any], team_ids: Collection[int] | None) -> SpendQuery:
    window = parse_window(query["window"], timezone.now())
    vendor = vendor_named(query["vendor"]) if "vendor" in query else None
    return SpendQuery(window.starts_at, window.ends_at, window.zone, team_ids, vendor)


def _group_by(text: str) -> list[str]:
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in GROUPS:
            raise ValidationError({"group_by": [f"{name!r} is none of {', '.join(GROUPS)}"]})
    return names


def _decimal_or_none(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _contract_or_404(fact: Contract | None) -> Contract:
    if fact is None:
        raise ObjectDoesNotExist("there is no such contract price")
    return fact
