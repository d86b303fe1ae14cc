"""A bill's row reads the same however it was written; what cannot be read names its column."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.focus.cells import BadCell
from apps.economics.focus.columns import NotABill, layout_of
from apps.economics.focus.reading import RowReader
from apps.economics.focus.rows import BilledRow, as_json
from tests.economics.focus_tables import HOUR_OF_A_NODE, read, read_cells, read_row

TEN = datetime(2026, 7, 3, 10, tzinfo=UTC)
OLD_NAMES = {
    "ServiceProviderName": "ProviderName",
    "RegionId": "Region",
    "ConsumedQuantity": "UsageQuantity",
    "ConsumedUnit": "UsageUnit",
    "EffectiveCost": "AmortizedCost",
    "ChargeCategory": "ChargeType",
}


def test_a_row_is_read_in_the_words_of_the_newest_version():
    row = read_row()

    assert row.frame.bill == ("A Cloud", "A Cloud", "1234", *_period(), "USD")
    assert (row.starts_at, row.ends_at) == (TEN, TEN + timedelta(hours=1))
    assert row.costs == (Decimal("98.32"), Decimal("90.5"), Decimal("55.04"), Decimal("55.04"))
    assert (row.frame.kind, row.frame.category, row.frame.resource_id) == (
        "compute",
        "Usage",
        "i-01",
    )
    assert json.loads(row.frame.tags) == {"team": "research"}


def test_names_of_older_versions_mean_the_same():
    old = {OLD_NAMES.get(name, name): cell for name, cell in HOUR_OF_A_NODE.items()}

    assert _said(read(old)) == _said(read_row())


@pytest.mark.parametrize(
    ("sign", "version"),
    [
        ("InvoiceDetailId", "1.4"),
        ("HostProviderName", "1.3"),
        ("InvoiceId", "1.2"),
        ("SkuMeter", "1.1"),
        ("ListCost", "1.0"),
    ],
)
def test_the_newest_column_names_the_version(sign: str, version: str):
    needed = [n for n in HOUR_OF_A_NODE if n.startswith(("Bill", "Charge"))]

    assert layout_of([*needed, sign]).version == version
    assert layout_of(needed).version == "1.0"


@pytest.mark.parametrize("spelling", [str.lower, str.upper, lambda name: "_".join(name)])
def test_the_spelling_of_a_column_does_not_matter(spelling):
    assert _said(read({spelling(n): cell for n, cell in HOUR_OF_A_NODE.items()})) == _said(
        read_row()
    )


def test_a_header_without_what_a_bill_needs_is_refused_by_name():
    with pytest.raises(NotABill, match="BilledCost, BillingAccountId"):
        layout_of(
            [name for name in HOUR_OF_A_NODE if name not in ("BilledCost", "BillingAccountId")]
        )


def test_columns_of_their_own_are_kept_and_never_mistaken():
    row = read_row(x_BilledCost="7", AvailabilityZone="eu-1a", SubAccountName="NULL")

    assert row.costs.billed == Decimal("55.04")
    assert json.loads(row.frame.more) == {
        "x_BilledCost": "7", "AvailabilityZone": "eu-1a", "ServiceCategory": "Compute"
    }  # fmt: skip


def test_of_two_spellings_of_a_column_the_first_counts_and_the_other_is_kept():
    row = read(HOUR_OF_A_NODE | {"ProviderName": "An older name"})

    assert row.frame.bill.provider == "A Cloud"
    assert json.loads(row.frame.more)["ProviderName"] == "An older name"


@pytest.mark.parametrize("null", ["", " ", "NULL", "null", "None", "\\N", None, float("nan")])
def test_null_in_any_spelling_is_nothing(null: object):
    row = read_row(EffectiveCost=null, ResourceId=null, Tags=null, ServiceCategory=null)

    assert (
        row.costs.effective,
        row.frame.resource_id,
        json.loads(row.frame.tags),
        json.loads(row.frame.more),
    ) == (None, "", {}, {})


@pytest.mark.parametrize(
    "said",
    [
        "2026-07-03T10:00:00Z",
        "2026-07-03T10:00:00",
        "2026-07-03 10:00:00",
        "2026-07-03 10:00:00.000",
        "2026-07-03 10:00:00 UTC",
        "2026-07-03T12:00:00+02:00",
        TEN,
        TEN.replace(tzinfo=None),
        TEN.astimezone(timezone(timedelta(hours=-7))),
    ],
)
def test_a_time_without_a_zone_is_utc(said: object):
    assert read_row(ChargePeriodStart=said).starts_at == TEN


def test_a_day_begins_at_midnight():
    assert read_row(ChargePeriodStart=date(2026, 7, 3)).starts_at == TEN.replace(hour=0)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("1.00000000000000499", "1.0000000000000"),
        ("0.123456789012345678", "0.12345678901235"),
        ("0.000000000000015", "0.00000000000002"),
        ("0.000000000000025", "0.00000000000002"),
        ("5.84E-7", "0.000000584"),
        (0.1, "0.1"),
        (Decimal("2.50"), "2.50"),
        (3, "3"),
        ("-7.5", "-7.5"),
    ],
)
def test_a_cost_keeps_fourteen_decimals_and_is_never_a_binary_fraction(said: object, kept: str):
    assert read_row(BilledCost=said).costs.billed == Decimal(kept)


def test_a_unit_price_keeps_sixteen_decimals():
    assert read_row(ListUnitPrice="0.12345678901234567").list_unit_price == Decimal(
        "0.1234567890123457"
    )


@pytest.mark.parametrize(
    ("said", "tags"),
    [
        ('{"team": "research", "gpus": 8, "spot": true, "idle": false}',
         {"team": "research", "gpus": "8", "spot": "true", "idle": "false"}),
        ('[{"key": "team", "value": "research"}]', {"team": "research"}),
        ([("team", "research")], {"team": "research"}),
        ([{"key": "team", "value": None}], {"team": ""}),
        ({"team": "research"}, {"team": "research"}),
        ("{}", {}),
        ('{"deep": {"a": 1}}', {"deep": '{"a": 1}'}),
        ('{"a\\u0000b": "\\ud800"}', {"a\N{REPLACEMENT CHARACTER}b": "?"}),
    ],
)  # fmt: skip
def test_tags_come_as_json_as_a_map_or_as_a_list_of_labels(said: object, tags: dict[str, str]):
    assert json.loads(read_row(Tags=said).frame.tags) == tags


def test_what_no_database_keeps_in_a_text_becomes_another_character():
    row = read_row(ResourceId="i\0-1", ServiceName="caf\ud800é")

    assert (row.frame.resource_id, row.frame.service) == ("i\N{REPLACEMENT CHARACTER}-1", "caf?é")


@pytest.mark.parametrize(
    "cell", ["223456789012", 223456789012.0, "223456789012.0", "2.23456789012E+11"]
)
def test_an_account_that_a_table_has_as_a_number_is_that_number(cell: object):
    assert read_row(BillingAccountId=cell).frame.bill.account == "223456789012"


@pytest.mark.parametrize(
    ("field", "cell", "reason"),
    [
        ("BilledCost", "", "is empty"),
        ("BilledCost", "1,5", "is no number: write it as 1234.56"),
        ("BilledCost", "Infinity", "is no amount"),
        ("BilledCost", "1e23", "is no amount"),
        ("BilledCost", "10000000000000", "is more than 1,000,000,000,000"),
        ("ListCost", "-1e13", "is more than 1,000,000,000,000"),
        ("ChargeCategory", "Gift", "is no category of a charge"),
        ("ChargePeriodStart", "yesterday", "is no time such as"),
        ("ChargePeriodStart", "", "is empty"),
        ("ChargePeriodStart", "0001-01-01", "is no time of a bill"),
        ("ChargePeriodEnd", "2026-07-03T10:00:00Z", "is not after ChargePeriodStart"),
        ("BillingPeriodEnd", "2026-07-01", "is not after BillingPeriodStart"),
        ("BillingAccountId", "NULL", "is empty"),
        ("BillingAccountId", "1.23457E+11", "that a spreadsheet rounded"),
        ("BillingAccountId", 1e17, "that a spreadsheet rounded"),
        ("BillingCurrency", "dollars", "is no currency of ISO 4217"),
        ("BillingCurrency", "ZZZ", "is no currency of ISO 4217"),
        ("BillingCurrency", "U5D", "is no currency of ISO 4217"),
        ("Tags", "team=research", "is no JSON object of tags"),
        ("Tags", "7", "is no JSON object of tags"),
        ("Tags", "[1]", "is no list of keys and values"),
    ],
)
def test_a_cell_that_cannot_be_read_names_its_column_and_why(field: str, cell: str, reason: str):
    with pytest.raises(BadCell, match=reason) as refused:
        read_row(**{field: cell})

    assert refused.value.field == field


def test_a_row_that_names_neither_issuer_nor_provider_is_of_no_bill():
    with pytest.raises(BadCell) as refused:
        read_row(InvoiceIssuerName="", ServiceProviderName="NULL")

    assert refused.value.field == "InvoiceIssuerName"
    assert read_row(InvoiceIssuerName="").frame.bill.issuer == "A Cloud"
    assert read_row(ServiceProviderName="").frame.bill.provider == "A Cloud"


def test_cells_that_were_left_out_at_the_end_are_empty():
    names = [*HOUR_OF_A_NODE, "SkuMeter", "x_Note"]

    row = read_cells(names, list(HOUR_OF_A_NODE.values()))

    assert (row.frame.usage_type, json.loads(row.frame.more)) == (
        "",
        {"ServiceCategory": "Compute"},
    )
    short = [name for name in HOUR_OF_A_NODE if name != "Tags"]
    assert read_cells([*short, "Tags"], [HOUR_OF_A_NODE[name] for name in short]).frame.tags == "{}"


def test_the_same_row_has_the_same_digest_and_any_other_has_another():
    same = read_row(ChargeClass="NULL").digest

    assert same == read_row(ChargeClass="").digest
    assert same != read_row(ChargeClass="Correction").digest
    swapped = {"BilledCost": "ListCost", "ListCost": "BilledCost"}
    renamed = {swapped.get(name, name): cell for name, cell in HOUR_OF_A_NODE.items()}
    assert read(renamed).digest != read(HOUR_OF_A_NODE).digest


def test_rows_that_differ_only_in_time_and_amount_are_alike():
    hour_later = read_row(
        ChargePeriodStart="2026-07-03T11:00:00Z", ChargePeriodEnd="2026-07-03T12:00:00Z",
        BilledCost="9",
    )  # fmt: skip

    assert hour_later.frame.traits == read_row().frame.traits
    assert hour_later.frame.traits != read_row(Tags='{"team": "search"}').frame.traits


def test_words_of_older_versions_for_pricing_are_those_of_the_newest():
    said = [
        read_row(PricingCategory=each).frame.pricing_category for each in ("On-Demand", "spot", "X")
    ]

    assert said == ["Standard", "Dynamic", "X"]


def test_a_column_of_texts_is_written_as_json():
    assert as_json({}) == "{}"
    assert as_json({"a": "é"}) == '{"a":"é"}'


costs = st.decimals(
    min_value=-(10**9), max_value=10**9, places=12, allow_nan=False, allow_infinity=False
)


@given(cost=costs, order=st.permutations(list(HOUR_OF_A_NODE)), is_text=st.booleans())
def test_any_order_of_columns_as_text_or_as_values_reads_the_same(cost, order, is_text):
    cells = HOUR_OF_A_NODE | {"BilledCost": f"{cost:f}" if is_text else cost}

    row = read({name: cells[name] for name in order})

    assert _said(row) == _said(read_row(BilledCost=f"{cost:f}"))
    assert row.costs.billed == cost


def _period() -> tuple[datetime, datetime]:
    return datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)


def _said(row):
    return row._replace(digest=b"")


NAMES = [*HOUR_OF_A_NODE, "x_Note", "SubAccountName", "ContractedUnitPrice"]
TEXTS = st.sampled_from(
    [
        "",
        "NULL",
        "i-01",
        " i-01 ",
        "a\x1fb",
        "\x1fa",
        "50 %s",
        "%",
        "café",
        "nul\0",
        "caf\ud800",
        "x" * 80,
    ]
)
CELLS = {
    "ResourceId": TEXTS,
    "x_Note": TEXTS,
    "SubAccountName": TEXTS,
    "Tags": st.sampled_from(["{}", '{"team": "a"}', "no json", "", {"team": "a"}, None]),
    "ChargeCategory": st.sampled_from(["Usage", "usage ", "Tax", "none"]),
    "ChargePeriodStart": st.sampled_from(["2026-07-03T10:00:00Z", " 2026-07-03 10:00", "12", None]),
    "BilledCost": st.sampled_from(["1", " 1 ", "1.0", Decimal("1.0"), 1.0, "", "NULL", "x", "0"]),
    "ListCost": st.sampled_from(["98.32", "0", "", "-", "0.123456789012345678"]),
    "ListUnitPrice": st.sampled_from(["", "0.123456789012345678", "0.5", "1e40"]),
    "ConsumedQuantity": st.sampled_from(["", "1", "1e400", "0"]),
}


@given(
    rows=st.lists(st.fixed_dictionaries({}, optional=CELLS), min_size=2, max_size=12),
    left_out=st.lists(st.sampled_from([0, 0, 1]), min_size=12, max_size=12),
    lacks=st.sets(st.sampled_from(["ListUnitPrice", "ConsumedQuantity", "Tags"])),
)
def test_what_was_read_before_changes_nothing_of_a_row(rows, left_out, lacks):
    names = [name for name in NAMES if name not in lacks]
    reader = RowReader(layout_of(names))
    for given_cells, missing in zip(rows * 2, left_out * 2, strict=False):
        said = HOUR_OF_A_NODE | given_cells
        cells = [said.get(name, "") for name in names][: len(names) - missing]

        assert _told(reader, cells) == _told(RowReader(layout_of(names)), cells)


def test_rows_on_record_are_known_again_by_their_digest():
    """By these a file that is sent again is told from one that changed: they stay what they were."""
    cells = HOUR_OF_A_NODE | {"ResourceName": " a node ", "Tags": "NULL"}
    values = cells | {"BilledCost": Decimal("55.040"), "ChargePeriodStart": TEN}

    assert read(cells).digest.hex() == "4438a6cc4bcd9c0030e9eaa135c28d51"
    assert (
        read(values | {"Tags": [("team", "research")]}).digest.hex()
        == "f7e2bc2565431c2c60ee80aabb3c29b5"
    )


def test_rows_that_differ_in_time_and_amounts_alone_have_one_frame():
    reader = RowReader(layout_of(list(HOUR_OF_A_NODE)))
    later = {
        "ChargePeriodStart": "2026-07-03T11:00:00Z", "ChargePeriodEnd": "2026-07-03T12:00:00Z",
        "BilledCost": "7",
    }  # fmt: skip

    one, other, third = (
        reader.read(list((HOUR_OF_A_NODE | more).values()))
        for more in ({}, later, {"ResourceId": "i-02"})
    )

    assert one.frame is other.frame
    assert third.frame == replace(one.frame, resource_id="i-02", traits=third.frame.traits)
    assert len({one.digest, other.digest, third.digest}) == 3


def _told(reader: RowReader, cells: list[object]) -> BilledRow | str:
    try:
        return reader.read(cells)
    except BadCell as bad:
        return str(bad)
