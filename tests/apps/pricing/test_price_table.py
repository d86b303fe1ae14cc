"""The price table: every row says its source, and loading it again changes nothing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.pricing.actions.price_table import COLUMNS, REVIEWED, read_price_table
from apps.pricing.models import Rate
from apps.pricing.queries import pool_rates
from tests.make import NOON, make_organisation, make_pool

ROW = {
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "gpu_model": "",
    "pool": "",
    "purchase_option": "on_demand",
    "kind": "list",
    "amount": "55.04",
    "currency": "USD",
    "quantity_seconds": "3600",
    "unit": "node",
    "valid_from": "2025-06-01",
    "valid_to": "",
    "source": "a price list",
    "source_date": "2026-07-28",
}


def table(*rows: dict[str, str]) -> list[str]:
    lines = [",".join(COLUMNS)]
    lines.extend(",".join((ROW | row)[name] for name in COLUMNS) for row in rows)
    return [line + "\n" for line in lines]


@pytest.fixture
def load(db, tmp_path):
    """Load these rows with the command; its one line of JSON."""
    make_organisation()

    def _load(*rows: dict[str, str]):
        path = tmp_path / "prices.csv"
        path.write_text("".join(table(*rows)))
        out = StringIO()
        call_command("load_price_table", file=path, json=True, stdout=out, stderr=StringIO())
        return json.loads(out.getvalue().splitlines()[-1])

    return _load


def test_every_reviewed_row_can_be_read_and_says_its_source_and_date() -> None:
    with REVIEWED.open(newline="") as lines:
        reviewed = read_price_table(lines, pool_ids={})
    assert reviewed.rejected == ()
    assert len(reviewed.rows) >= 10
    assert all(rate.source and rate.source_date for _, rate in reviewed.rows)


def test_no_reviewed_row_prices_what_is_owned() -> None:
    with REVIEWED.open(newline="") as lines:
        reviewed = read_price_table(lines, pool_ids={})
    assert not [rate for _, rate in reviewed.rows if rate.purchase_option == "owned"]


@pytest.mark.django_db
def test_the_reviewed_table_loads_whole_and_again_without_a_change() -> None:
    make_organisation()
    out = StringIO()
    call_command("load_price_table", json=True, stdout=out)
    first = json.loads(out.getvalue())
    assert first["imported"] == first["rows"] == Rate.objects.count()
    call_command("load_price_table", json=True, stdout=(again := StringIO()))
    assert json.loads(again.getvalue())["unchanged"] == first["rows"]


def test_a_later_price_of_the_same_thing_ends_the_earlier(load) -> None:
    earlier = {"amount": "98.32", "valid_from": "2023-08-08"}
    assert load({}, earlier)["imported"] == 2
    ends = Rate.objects.order_by("period").values_list("amount", "period__endswith")
    assert [(str(amount), end and f"{end:%Y-%m-%d}") for amount, end in ends] == [
        ("98.320000000", "2025-06-01"),
        ("55.040000000", None),
    ]
    assert load({}, earlier)["unchanged"] == 2


def test_a_rejected_row_is_named_with_line_and_reason_and_loses_none_of_its_neighbours(
    load,
) -> None:
    figures = load(
        {},
        {"amount": "free", "instance_type": "a"},
        {"instance_type": "b", "currency": "EUR"},
        {"instance_type": "c", "source": ""},
        {"instance_type": "d", "valid_from": "soon"},
        {"instance_type": "e", "quantity_seconds": "an hour"},
        {"instance_type": "f", "pool": "nowhere"},
        {"instance_type": "g"},
    )
    assert figures["imported"] == 2
    reasons = {row["line"]: row["reason"] for row in figures["rejected"]}
    assert sorted(reasons) == [3, 4, 5, 6, 7, 8]
    assert "amount: 'free' is not a number" in reasons[3]
    assert "RateCurrencyDiffers" in reasons[4]
    assert reasons[5].startswith("source:")
    assert reasons[6].startswith("valid_from:")
    assert reasons[7].startswith("quantity_seconds:")
    assert "'nowhere'" in reasons[8]


def test_two_different_prices_from_one_day_are_refused_not_chosen_from(load) -> None:
    figures = load({}, {"amount": "50"})
    assert figures["imported"] == 1
    assert "RateOverlaps" in figures["rejected"][0]["reason"]


def test_a_row_for_a_pool_is_that_pools_own_rate(load) -> None:
    pool = make_pool("h100")
    load({"pool": "h100", "provider": "", "instance_type": "", "kind": "contract"})
    assert Rate.objects.get().pool_id == pool


def test_a_file_that_is_no_price_table_is_refused_by_its_columns(load, tmp_path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("node,gpu\n1,2\n")
    with pytest.raises(CommandError, match="missing columns: amount"):
        call_command("load_price_table", file=path)


def test_a_file_that_is_not_there_is_refused_by_name(load, tmp_path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.csv"):
        call_command("load_price_table", file=tmp_path / "nowhere.csv")


def test_a_short_row_is_rejected() -> None:
    lines = [*table(), "aws,us-east-1\n"]
    assert [row.line for row in read_price_table(lines, pool_ids={}).rejected] == [2]


def test_nothing_is_asked_of_the_database_for_no_pools(db) -> None:
    assert pool_rates({}, NOON, NOON) == {}
