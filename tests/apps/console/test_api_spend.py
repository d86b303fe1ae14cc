"""API spend tells what was paid, for which models, by whom, and what nobody could price."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.ledger.actions.calls import price_waiting
from apps.ledger.actions.vendor_costs import VendorCostsNotUnderstood, report_of, take_vendor_costs
from apps.ledger.models import ApiHour, Line, VendorCost
from apps.ledger.solvers.api_pricing import books
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.pricing.models import ApiPrice
from apps.workloads.actions.usage import Call, take_calls
from controlplane.settling import settle_window
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in
from tests.rest import with_token

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
HOUR = NOW.replace(minute=0, second=0, microsecond=0)


@pytest.fixture
def team_id() -> int:
    make.make_organisation()
    return make.make_team()


def calls(team_id: int, **given: Any) -> None:
    values: dict[str, Any] = {
        "hour": HOUR,
        "vendor": "openai",
        "model": "gpt-4.1",
        "team_id": team_id,
        "requests": 100,
        "input_tokens": 900_000,
        "output_tokens": 100_000,
        "micros": 30_000_000,
        "list_micros": 30_000_000,
    }
    ApiHour.objects.create(**values | given)


def page(client: Client, path: str = "/api-spend", **given: Any) -> str:
    answer = client.get(path, given)
    assert answer.status_code == 200, answer.content
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").replace("\u202f", " ")


def test_the_title_says_what_was_spent_and_on_what(team_id: int) -> None:
    calls(team_id)
    calls(team_id, model="claude-sonnet-4-5", vendor="anthropic", micros=10_000_000)
    text = page(signed_in("viewer", team_id))
    assert "Model APIs cost $40" in text
    assert "75 % of it gpt-4.1" in text
    assert "$30.00" in text
    assert "2027-01-14" in text


def test_a_period_is_held_against_another_in_the_figure_the_table_and_the_file(
    team_id: int,
) -> None:
    day = timedelta(days=1)
    calls(team_id, hour=HOUR - 70 * day, micros=1_000_000)
    calls(team_id, hour=HOUR - 5 * day, micros=9_000_000)
    calls(team_id, hour=HOUR - 12 * day, micros=4_000_000)
    calls(team_id, hour=HOUR - 12 * day, model="gpt-gone", micros=2_000_000)
    finance = signed_in("finance")
    rows = {row["model"]: row for row in csv_rows(finance.get("/api-spend.csv", {"window": "7d"}))}

    assert [rows["gpt-4.1"][name] for name in ("cost", "before_cost", "difference", "change")] == [
        "9.000000", "4.000000", "5.000000", "1.250000"
    ]  # fmt: skip
    gone = [rows["gpt-gone"][name] for name in ("requests", "cost", "before_cost", "difference")]
    assert gone == ["0", "0.000000", "2.000000", "-2.000000"]
    text = page(finance, window="7d")
    assert "<b>+50 %</b>" in text
    # Of a year before no call is known.
    assert "no whole span before to compare with" in page(finance, window="7d", compare="lastyear")
    assert "+50 %" not in page(finance, window="7d", compare="lastyear")


def test_an_address_of_a_month_still_is_of_that_month(team_id: int) -> None:
    calls(team_id, hour=HOUR - timedelta(days=400))
    month = f"{HOUR - timedelta(days=400):%Y-%m}"
    assert "Model APIs cost $30" in page(signed_in("finance"), month=month)


def test_calls_without_a_price_are_listed_and_in_no_amount(team_id: int) -> None:
    calls(team_id)
    nothing = {"micros": None, "list_micros": None, "unpriced_requests": 7, "requests": 7}
    calls(team_id, model="house-blend", reason="no price of house-blend is known", **nothing)
    text = page(signed_in("finance"))
    assert "plus 7 unpriced calls" in text
    assert "no price of house-blend is known" in text


def test_what_failed_is_counted(team_id: int) -> None:
    calls(team_id, rate_limited=12, server_errors=3)
    assert "15 of 100 calls answered 429 or 5xx" in page(signed_in("finance"))


def test_a_team_sees_its_own_calls_alone(team_id: int) -> None:
    other = make.make_team("Vision")
    calls(team_id)
    calls(other, model="secret-model", micros=999_000_000)
    text = page(signed_in("viewer", team_id))
    assert "secret-model" not in text
    assert "$30" in text
    assert "Contract prices" not in text


def test_several_teams_are_chosen_as_they_are_carried(team_id: int) -> None:
    calls(make.make_team("Vision"), micros=2_000_000)
    calls(make.make_team("Speech, text"), micros=4_000_000)
    calls(make.make_team("Others"), micros=800_000_000)
    finance = signed_in("finance")
    text = page(finance, team="Vision,Speech%2c text")
    assert "Model APIs cost $6" in text
    assert "There is no team" not in text
    assert 'value="Speech%2c text"' in page(finance)
    sheet = page(finance, "/api-spend.csv", table="owners", team="Vision,Speech%2c text")
    assert len(sheet.splitlines()) == 3


def test_a_team_that_nobody_knows_or_may_see_is_said(team_id: int) -> None:
    make.make_team("Vision")
    calls(team_id)
    for role, name in (("finance", "Vison"), ("viewer", "Vision")):
        text = page(signed_in(role, team_id), team=name)
        assert f"There is no team named &#x27;{name}&#x27;. Shown instead: all teams." in text


def test_without_calls_the_page_says_how_to_send_them(team_id: int) -> None:
    text = page(signed_in("finance"))
    assert "No call to a model API is known" in text
    assert "/api/v1/usage-events" in text


def test_every_table_comes_as_csv(team_id: int) -> None:
    calls(team_id, unpriced_requests=1, reason="why")
    VendorCost.objects.create(
        vendor="openai",
        day=NOW.date(),
        amount=Decimal(31),
        currency="USD",
        micros=31_000_000,
        told_at=NOW,
    )
    finance = signed_in("finance")
    assert "openai,gpt-4.1,100,0,0,1,900000" in page(finance, "/api-spend.csv")
    assert "openai,gpt-4.1,100,1,30.000000,USD" in page(finance, "/api-spend.csv?table=days")
    assert "gpt-4.1,,1,1000000,why" in page(finance, "/api-spend.csv?table=unpriced")
    owners = page(finance, "/api-spend.csv?table=owners").splitlines()
    assert owners[0] == "team,workload,feature,requests,unpriced_requests,tokens,cost,currency"
    assert ",100,1," in owners[1]
    assert owners[1].endswith(",30.000000,USD")
    sheet = page(finance, "/api-spend.csv", table="compared", window="7d")
    assert "30.000000,31.000000,1.000000,1,USD" in sheet


def test_days_of_vendors_are_ordered_by_any_column_over_rest(team_id: int) -> None:
    for vendor, micros in (("anthropic", 2_000_000), ("openai", None), ("mistral", 5_000_000)):
        VendorCost.objects.create(
            vendor=vendor,
            day=NOW.date(),
            amount=Decimal(0),
            currency="USD",
            micros=micros,
            told_at=NOW,
        )
    days = with_token("read").get("vendor-costs", sort="-theirs").json()["results"]
    assert [day["vendor"] for day in days] == ["mistral", "anthropic", "openai"]


def test_a_month_of_calls_asks_little(team_id: int, django_assert_max_num_queries: Any) -> None:
    calls(team_id)
    finn = signed_in("finance")
    finn.get("/api-spend")
    with django_assert_max_num_queries(15):
        assert finn.get("/api-spend").status_code == 200


def test_a_line_of_calls_is_in_the_costs_and_explained(team_id: int) -> None:
    since = HOUR - timedelta(hours=1)
    told = Call(
        "openai",
        "gpt-4.1",
        since,
        source="rest:0",
        key="a",
        team_id=team_id,
        input_tokens=5_000_000,
        output_tokens=0,
    )
    take_calls(calls=[told], at=NOW)
    price_waiting(before=NOW, book=books)
    settle_window(starts_at=since, ends_at=NOW, at=NOW)
    line = Line.objects.get()
    finance = signed_in("finance")
    assert "$10.00" in page(finance, f"/costs/lines/{line.posting_month:%Y-%m}/{line.id}")
    assert "$10.00" in page(finance, "/costs")


PRICE = {
    "vendor": "OpenAI",
    "model": "gpt-4.1*",
    "tier": "",
    "unit": "all",
    "amount": "",
    "discount": "20",
    "per_quantity": "1000000",
    "currency": "USD",
    "starts_at": (HOUR - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M"),
    "ends_at": "",
}


def test_a_contract_price_says_what_it_moves_before_it_is_entered(team_id: int) -> None:
    calls(team_id)
    finance = signed_in("finance")
    text = page(finance, "/api-spend/prices/new", **PRICE)
    assert "100 past calls are priced again; they cost $30.00 now" in text
    assert "With the discount they cost about $24.00" in text
    assert not ApiPrice.objects.exists()
    assert confirmed(finance, "/api-spend/prices/new", PRICE).status_code == 302
    held = ApiPrice.objects.get()
    assert (held.vendor, held.discount_ratio) == ("openai", Decimal("0.2"))
    marks = ChangedHour.objects.filter(pass_id=Pass.CALLS).values_list("hour", "unit")
    assert list(marks) == [(HOUR, 1)]


def test_an_overlapping_contract_price_is_refused_in_words(team_id: int) -> None:
    finance = signed_in("finance")
    confirmed(finance, "/api-spend/prices/new", PRICE)
    assert (
        "holds then; end it first"
        in confirmed(finance, "/api-spend/prices/new", PRICE).content.decode()
    )
    assert ApiPrice.objects.count() == 1


def test_a_contract_price_is_ended(team_id: int) -> None:
    finance = signed_in("finance")
    confirmed(finance, "/api-spend/prices/new", PRICE)
    price_id = ApiPrice.objects.get().pk
    ended_at = HOUR.strftime("%Y-%m-%dT%H:%M")
    assert "No past call changes" in page(
        finance, f"/api-spend/prices/{price_id}/end", ended_at=ended_at
    )
    confirmed(finance, f"/api-spend/prices/{price_id}/end", {"ended_at": ended_at})
    assert ApiPrice.objects.get().period.upper == HOUR


def test_prices_are_for_finance(team_id: int) -> None:
    assert signed_in("platform").get("/api-spend/prices/new").status_code == 403
    assert signed_in("viewer", team_id).get("/api-spend/report").status_code == 403


OPENAI = {
    "object": "page",
    "data": [
        {
            "start_time": int(HOUR.timestamp()),
            "results": [
                {"amount": {"value": 0.06, "currency": "usd"}, "line_item": "a"},
                {"amount": {"value": 0.04, "currency": "usd"}, "line_item": "a"},
            ],
        }
    ],
}


def test_anthropics_amounts_are_cents(team_id: int) -> None:
    bucket = {
        "starting_at": "2026-03-02T00:00:00Z",
        "results": [{"amount": "123.45", "currency": "USD", "description": "tokens"}],
    }
    assert take_vendor_costs(vendor="anthropic", report={"data": [bucket]}, at=NOW) == 1
    cost = VendorCost.objects.get()
    assert (cost.amount, cost.micros) == (Decimal("1.2345"), 1_234_500)


def test_a_report_told_again_takes_the_place_of_its_days(team_id: int) -> None:
    for _ in range(2):
        assert take_vendor_costs(vendor="openai", report=[OPENAI], at=NOW) == 1
    assert VendorCost.objects.get().micros == 100_000


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({}, "`data` is missing"),
        ({"data": [{"start_time": 1}]}, "data\\[0\\]: `results`"),
        ({"data": [{"results": []}]}, "when it starts"),
        ({"data": [{"start_time": 1, "results": [{}]}]}, "data\\[0\\].results\\[0\\]: `amount`"),
    ],
)
def test_a_report_that_is_none_is_refused_by_its_place(
    team_id: int, report: Any, said: str
) -> None:
    with pytest.raises(VendorCostsNotUnderstood, match=said):
        take_vendor_costs(vendor="openai", report=report, at=NOW)


def test_a_report_is_uploaded_and_compared(team_id: int) -> None:
    calls(team_id, micros=90_000)
    finance = signed_in("finance")
    body = report_of(b'{"data": []}')
    assert body == {"data": []}
    file = SimpleUploadedFile("costs.json", repr(OPENAI).replace("'", '"').encode())
    finance.post("/api-spend/report", {"vendor": "openai", "file": file})
    text = page(finance)
    assert "$0.10" in text
    assert "$0.01" in text
    bad = SimpleUploadedFile("costs.json", b"{")
    answer = finance.post("/api-spend/report", {"vendor": "openai", "file": bad})
    assert answer.status_code == 400
    assert "The report is no JSON" in answer.content.decode()
    assert (
        "Choose its report."
        in finance.post("/api-spend/report", {"vendor": "openai"}).content.decode()
    )
