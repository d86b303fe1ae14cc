"""A declared table over REST: its columns, its order and its CSV are those of its page."""

import csv
import io
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from apps.accounts.queries.paging import Page, PageRequest
from apps.console.kit.cells import Locale
from apps.show.cell_formats import COUNT, GPU_HOURS, MONEY
from apps.show.entries import Micros, Milliseconds, Ratio
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table
from apps.web.rest.pages import paged, parse_page_request, serialize_as
from apps.web.rest.table_lists import RowAnswer, page_of_table, sort_of

EUROS = Locale("EUR", ZoneInfo("Europe/Berlin"))


@dataclass(frozen=True, slots=True)
class Contract:
    """What a lease holds."""

    provider: str
    ends_on: date | None


@dataclass(frozen=True, slots=True)
class Lease:
    """Something leased."""

    id: int
    name: str
    contract: Contract
    cost_micros: Micros | None
    gpu_milliseconds: Milliseconds
    used: Ratio
    is_hard: bool
    renewal: Contract | None = None
    queued: int = 1_800_000

    @property
    def days(self) -> int | None:
        """How long it lasts."""
        return None if self.contract.ends_on is None else self.contract.ends_on.day


LEASES = Table[Lease](
    "leases",
    "Leases",
    (
        Column("name", "Name", formerly=("lease",)),
        Column("provider", "Provider", field("contract.provider")),
        Column("ends_on", "Ends", field("contract.ends_on"), definition="empty: open-ended"),
        Column("cost", "Cost", field("cost_micros")),
        Column("twice", "", lambda row: row.id * 2, COUNT),
        Column("gpu_hours", "GPU-hours", field("gpu_milliseconds")),
        Column("used", "Used"),
        Column("days", "Days"),
        Column("is_hard", ""),
        Column("change", "Change", csv="", shown=lambda row, _: "Change", sorts=False),
        CURRENCY_COLUMN,
        Column("id", ""),
        Column("renews_with", "", field("renewal.provider")),
        Column("queued_gpu_hours", "", field("queued"), GPU_HOURS),
    ),
    row=Lease,
    unique=lambda row: (row.id,),
    sort="sort",
)


class LeaseOut(RowAnswer):
    """As it is answered."""

    table = LEASES
    without = ("twice",)


def lease(lease_id: int, cost: int | None = 1_500_000, ends_on: date | None = None) -> Lease:
    return Lease(
        lease_id, f"n{lease_id}", Contract("aws", ends_on), cost, 5_400_000, 1 / 3, is_hard=True
    )


def request(query: str) -> Request:
    return Request(APIRequestFactory().get(f"/leases{query}"))


def test_a_row_is_answered_by_the_types_of_its_fields() -> None:
    assert serialize_as(LeaseOut, lease(1, ends_on=date(2026, 3, 9)), "EUR") == {
        "id": 1,
        "name": "n1",
        "provider": "aws",
        "ends_on": "2026-03-09",
        "cost": {"amount": "1.500000", "currency": "EUR"},
        "gpu_hours": 1.5,
        "used": 0.333333,
        "days": 9,
        "is_hard": True,
        "renews_with": None,
        "queued_gpu_hours": 0.5,
    }
    unknown = serialize_as(LeaseOut, lease(1, None), "EUR")
    assert (unknown["cost"], unknown["ends_on"], unknown["days"]) == (None, None, None)


def test_a_field_of_what_a_row_does_not_hold_is_not_known() -> None:
    renewed = replace(lease(1), renewal=Contract("gcp", None))
    assert serialize_as(LeaseOut, renewed, "EUR")["renews_with"] == "gcp"
    assert serialize_as(LeaseOut, lease(1), "EUR")["renews_with"] is None


def test_a_declared_field_with_a_source_reads_the_row_and_one_without_the_column() -> None:
    class OtherwiseOut(LeaseOut):
        provider = serializers.CharField(source="contract")
        name = serializers.ChoiceField(choices=("n1",))

    answer = serialize_as(OtherwiseOut, lease(1), "EUR")
    assert answer["provider"] == str(Contract("aws", None))
    assert answer["name"] == "n1"


def test_only_what_may_be_unknown_may_be_null_and_the_definition_describes_it() -> None:
    fields = LeaseOut().get_fields()
    assert {name for name, rest_field in fields.items() if rest_field.allow_null} == {
        "ends_on",
        "cost",
        "days",
        "renews_with",
    }
    assert fields["ends_on"].help_text == "empty: open-ended"
    assert fields["cost"].help_text == "Cost"


def test_the_file_has_the_same_columns_and_the_currency_once() -> None:
    (row,) = csv.DictReader(io.StringIO(LEASES.csv_text([lease(1, None)], EUROS)))
    assert row == {
        "name": "n1",
        "provider": "aws",
        "ends_on": "",
        "cost": "",
        "twice": "2",
        "gpu_hours": "1.500000",
        "used": "0.333333",
        "days": "",
        "is_hard": "True",
        "currency": "EUR",
        "id": "1",
        "renews_with": "",
        "queued_gpu_hours": "0.500000",
    }


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
@pytest.mark.parametrize("sort", ["", "cost", "-cost", "name", "days"])
def test_pages_of_any_order_are_the_whole_list_forwards_and_backwards(
    limit: int, sort: str
) -> None:
    rows = [lease(number, cost) for number, cost in enumerate((5, None, 3, 5, 0, None))]
    ordered = LEASES.in_order(rows, sort)
    pages = [page_of_table(LEASES, rows, sort, PageRequest(limit=limit))]
    while pages[-1].after is not None:
        asked_page = PageRequest(limit=limit, after=pages[-1].after)
        pages.append(page_of_table(LEASES, rows, sort, asked_page))
    assert [row for page in pages for row in page.rows] == ordered
    for earlier, later in pairwise(pages):
        back = page_of_table(LEASES, rows, sort, PageRequest(limit=limit, before=later.before))
        assert back.rows == earlier.rows
    assert pages[0].before is None


def test_a_page_goes_on_where_its_row_was_when_that_is_gone() -> None:
    rows = [lease(number, number) for number in range(6)]
    first = page_of_table(LEASES, rows, "-cost", PageRequest(limit=2))
    assert [row.id for row in first.rows] == [5, 4]
    left = [row for row in rows if row.id != 4]
    second = page_of_table(LEASES, left, "-cost", PageRequest(limit=2, after=first.after))
    assert [row.id for row in second.rows] == [3, 2]
    back = page_of_table(LEASES, left, "-cost", PageRequest(limit=2, before=second.before))
    assert [row.id for row in back.rows] == [5]


def test_a_cursor_of_another_order_is_refused() -> None:
    page = paged(request("?sort=-cost&limit=1"), Page([lease(1)], (1, 0), None), lambda _: {})
    query = urlsplit(page.data["next"]).query
    assert parse_page_request(request(f"?{query}")).after == (1, 0)
    for other in ("sort=cost", "sort=name", ""):
        with pytest.raises(ValidationError) as refused:
            parse_page_request(request(f"?{query.replace('sort=-cost', other)}"))
        assert "cursor" in refused.value.detail


def test_an_order_by_what_is_no_column_is_refused_with_those_there_are() -> None:
    assert sort_of(request("?sort=-cost"), LeaseOut) == "-cost"
    with pytest.raises(ValidationError) as refused:
        sort_of(request("?sort=change"), LeaseOut)
    assert "one of: name, provider, ends_on, cost, gpu_hours, used, days" in str(
        refused.value.detail
    )
    with pytest.raises(ValidationError):
        sort_of(request("?sort=twice"), LeaseOut)  # a column of the file, and no field


def test_an_order_of_before_still_orders() -> None:
    column = LEASES.sorted_by("-lease")
    assert column is not None
    assert column.key == "name"


def test_a_column_that_the_rows_do_not_have_is_refused_where_it_is_declared() -> None:
    with pytest.raises(AttributeError):
        Table[Lease]("t", "T", (Column("price", "Price"),), row=Lease)
    with pytest.raises(AttributeError):
        Table[Lease]("t", "T", (Column("price", "Price", field("contract.price")),), row=Lease)
    with pytest.raises(TypeError, match="what its rows are"):
        Table[Lease]("t", "T", (Column("name", "Name"),))


def test_the_format_of_a_money_field_is_that_of_amounts() -> None:
    cost = next(column for column in LEASES.columns if column.key == "cost")
    assert cost.format is MONEY


def test_a_column_with_a_value_of_its_own_stays_the_column_that_it_is() -> None:
    cost: Column[Lease] = Column("cost", "Cost", lambda row: row.cost_micros, MONEY)
    assert Table[Lease]("t", "T", (cost,)).columns == (cost,)
    assert Table[Lease]("t", "T", (cost,)).columns[0] is cost


def test_a_page_is_ordered_by_the_columns_that_it_shows() -> None:
    hidden: Column[Lease] = Column("id", "", lambda row: -row.id, COUNT)
    shown: Column[Lease] = Column("id", "Number", lambda row: row.id, COUNT, csv="")
    table = Table[Lease]("t", "T", (hidden, shown))
    assert table.sorted_by("id") is hidden
    assert table.sorted_by("id", table.page_columns) is shown
