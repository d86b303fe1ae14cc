"""The pages of commitments: what they saved, what nobody used, entering and ending one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.marks.actions import mark_span
from apps.marks.queries import Pass
from apps.pricing.queries.commitments import commitments
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, TEN = scene.HOUR, scene.TEN
MARCH = "month=2026-03"
NEXT_DAY = datetime(2026, 3, 3, 12, tzinfo=UTC)
ENTERED = {
    "name": "two nodes",
    "kind": "reserved",
    "pool": "",
    "provider": "aws",
    "region": "",
    "instance_type": "p5.48xlarge",
    "gpu_model": "",
    "units": "2",
    "unit": "node",
    "spend": "",
    "prices": "",
    "upfront": "",
    "hourly": "70",
    "currency": "USD",
    "starts_at": "2026-03-02T10:00",
    "ends_at": "2026-04-02T10:00",
    "owner": "",
    "external_id": "",
    "source": "order 17",
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


@pytest.fixture
def noon_of_the_next_day(monkeypatch: pytest.MonkeyPatch) -> datetime:
    monkeypatch.setattr(timezone, "now", lambda: NEXT_DAY)
    return NEXT_DAY


@pytest.fixture
def finn() -> Client:
    return signed_in("finance")


def settle(hours: int = 1) -> None:
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + hours * HOUR)
    scene.settle(ends_at=TEN + hours * HOUR)


def make_used(**given: Any) -> int:
    """One node of the two that are reserved runs from 10:00 to 11:00."""
    scene.make_priced_node("gpu-01")
    values = {"name": "two nodes", "units": 2, "hourly": Decimal(70), "provider": "aws"} | given
    one = scene.make_commitment(**values)
    settle()
    return one


def test_the_title_says_what_was_saved_and_what_nobody_used(finn: Client) -> None:
    make_used()
    text = words_of(finn.get(f"/commitments?{MARCH}"))
    assert "Commitments saved 29 % of on-demand in March 2026; $35.00 was not used" in text
    assert "Commitment coverage 100 % of the GPU time that could be covered" in text
    assert "Commitment utilization 50 %" in text
    # How sure the figures are is said once, of all of them.
    assert text.count("Estimated") == 1
    assert " estimated " not in text
    # 70 a node-pair hour against twice 98.32.
    assert "100 % 50 % 36 % 29 % $98.32 $70.00 $35.00 Platform" in text
    assert "Most was left unused on Mon 2 March: $35.00." in text


def test_one_that_costs_more_than_on_demand_says_so(finn: Client) -> None:
    make_used(hourly=Decimal(150))
    answer = finn.get(f"/commitments?{MARCH}")
    assert "Commitments cost 53 % more than on-demand in March 2026" in words_of(answer)
    assert "under the break-even" in answer.content.decode()


def test_what_is_undefined_is_said_and_never_zero(finn: Client) -> None:
    scene.make_priced_node("gpu-01")
    scene.make_commitment(instance_type="p4d.24xlarge")
    settle()
    text = words_of(finn.get(f"/commitments?{MARCH}"))
    assert "Nobody used the commitments of March 2026: $40.00" in text
    assert "Savings rate of commitments Not known" in text
    assert "undefined 0 % undefined undefined" in text


def test_use_without_a_price_leaves_the_savings_unknown(finn: Client) -> None:
    make.make_node("gpu-01", started_at=TEN, at=scene.LATER, units=8)
    scene.make_commitment()
    settle()
    text = words_of(finn.get(f"/commitments?{MARCH}"))
    assert "What commitments saved in March 2026 is not known; all of them was used" in text


def test_before_the_first_charge_and_without_one_the_page_says_which(finn: Client) -> None:
    text = words_of(finn.get("/commitments"))
    assert "Nothing was bought ahead" in text
    assert "Enter a commitment" in text
    scene.make_commitment()
    assert "The commitments of March 2026 are not charged yet" in words_of(
        finn.get(f"/commitments?{MARCH}")
    )
    assert "No commitment held in January 2026" in words_of(finn.get("/commitments?month=2026-01"))


def test_a_month_nobody_understands_is_said_and_the_current_one_shown(finn: Client) -> None:
    scene.make_commitment()
    text = words_of(finn.get("/commitments?month=the-ides"))
    assert "'the-ides' is no month" in text


@pytest.mark.parametrize(
    ("days", "said"), [(20, "within 30 days"), (45, "within 60"), (80, "within 90")]
)
def test_the_ones_that_end_soon_are_flagged(
    finn: Client, noon_of_the_next_day: datetime, days: int, said: str
) -> None:
    ends_at = TEN + timedelta(days=days)
    scene.make_commitment(name="soon over", period=(TEN, ends_at))
    scene.make_commitment(name="long", period=(TEN, TEN + timedelta(days=400)))
    text = words_of(finn.get("/commitments"))
    assert "Ending soon" in text
    assert said in text.partition("One by one")[0]
    assert "long ends" not in text


def test_the_order_of_application_is_explained(finn: Client) -> None:
    make_used()
    text = words_of(finn.get(f"/commitments?{MARCH}"))
    assert (
        "Capacity blocks first, then reservations, then committed use, savings plans last" in text
    )


def test_every_table_is_there_as_exact_csv(finn: Client) -> None:
    one = make_used()
    (row,) = csv_rows(finn.get(f"/commitments.csv?{MARCH}"))
    assert (row["utilisation"], row["unused"]) == ("0.500000", "35.000000")
    assert (row["coverage"], row["cost"], row["on_demand"]) == (
        "1.000000",
        "70.000000",
        "98.320000",
    )
    days = {
        each["day"]: each for each in csv_rows(finn.get(f"/commitments.csv?table=days&{MARCH}"))
    }
    assert (days["2026-03-02"]["used"], days["2026-03-02"]["unused"]) == ("35.000000", "35.000000")
    assert days["2026-03-01"]["used"] == ""
    (team,) = csv_rows(finn.get(f"/commitments/{one}.csv?{MARCH}"))
    assert (team["pool"], team["gpu_hours"], team["cost"]) == (
        "pool of gpu-01",
        "8.000000",
        "35.000000",
    )
    (hour,) = csv_rows(finn.get(f"/commitments/{one}.csv?table=hours&{MARCH}"))
    assert (hour["from"], hour["unused"], hour["carried_by"]) == (
        "2026-03-02T10:00:00Z",
        "35.000000",
        "Platform",
    )
    assert hour["reason"] == "two nodes: 50.0 % of the hour used"


def test_the_page_of_one_says_its_terms_its_months_and_whose_it_was(finn: Client) -> None:
    owner = make.make_team("Research")
    one = make_used(owner_id=owner, upfront=Decimal(1000), external_id="ri-1")
    text = words_of(finn.get(f"/commitments/{one}?{MARCH}"))
    assert "two nodes saved 19 % of on-demand in March 2026; 50 % of it was used" in text
    assert "Upfront $1,000.00 By the hour $70.00 an hour" in text
    assert "Unused is charged to Research" in text
    assert "Whom it covered March 2026, by pool and team" in text
    assert "Mon 2 March Research 1 $40.00" in text
    assert "Provider’s name ri-1" in text


def test_node_hours_that_two_commitments_cover_are_told_of_each_by_its_part(finn: Client) -> None:
    scene.make_priced_node("gpu-01")
    first = scene.make_commitment(units=6, unit="gpu", hourly=Decimal(30), name="six")
    second = scene.make_commitment(units=2, unit="gpu", hourly=Decimal(5), name="two")
    settle()
    (six,) = csv_rows(finn.get(f"/commitments/{first}.csv?{MARCH}"))
    (two,) = csv_rows(finn.get(f"/commitments/{second}.csv?{MARCH}"))
    assert (six["gpu_hours"], six["cost"]) == ("6.000000", "30.000000")
    assert (two["gpu_hours"], two["cost"]) == ("2.000000", "5.000000")
    assert Decimal(six["on_demand"]) + Decimal(two["on_demand"]) == Decimal("98.32")


def test_platform_reads_and_finance_alone_buys(finn: Client) -> None:
    one = make_used()
    petra = signed_in("platform")
    assert "Enter a commitment" not in words_of(petra.get(f"/commitments?{MARCH}"))
    assert "End it before its term" not in words_of(petra.get(f"/commitments/{one}"))
    assert petra.get("/commitments/new").status_code == 403
    assert petra.post("/commitments/new", ENTERED).status_code == 403
    assert petra.post(f"/commitments/{one}/end", {}).status_code == 403
    assert "Enter a commitment" in words_of(finn.get(f"/commitments?{MARCH}"))


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_nobody_else_sees_what_was_bought(role: str) -> None:
    one = make_used()
    client = signed_in(role)
    addresses = [
        "",
        ".csv",
        ".csv?table=days",
        "/new",
        *(f"/{one}{end}" for end in ("", ".csv", ".csv?table=hours", "/end")),
    ]
    assert {client.get(f"/commitments{end}").status_code for end in addresses} == {403}
    assert "Commitments" not in words_of(client.get("/"))


def test_what_entering_moves_is_shown_before_it_is_done(
    finn: Client, noon_of_the_next_day: datetime
) -> None:
    scene.make_priced_node("gpu-01")
    settle(hours=2)
    text = words_of(finn.get("/commitments/new", ENTERED))
    assert "26 past hours are charged again. It would have been used by 3.8 %." in text
    assert "cost about $197; the commitment costs $1,820 in these hours (+$1,623.36)." in text
    assert commitments() == []
    answer = confirmed(finn, "/commitments/new", ENTERED)
    (held,) = commitments()
    assert answer["Location"] == f"/commitments/{held.id}"
    assert (held.units, held.hourly, held.source) == (2, Decimal(70), "order 17")


def test_a_spend_is_entered_with_its_prices(finn: Client) -> None:
    given = {"units": "", "spend": "25", "prices": "p5.48xlarge=49.5; p4d.24xlarge = 19.2"}
    confirmed(finn, "/commitments/new", ENTERED | given | {"kind": "savings_plan", "hourly": "25"})
    (held,) = commitments()
    assert held.prices == {"p5.48xlarge": Decimal("49.5"), "p4d.24xlarge": Decimal("19.2")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"units": "many"}, "Say a whole number, as in 8."),
        ({"hourly": "much"}, "Say an amount in figures"),
        ({"prices": "p5"}, "Say prices as in"),
        ({"hourly": ""}, "It costs something, or upfront"),
        ({"is_shared": "no"}, "One that is not shared is of an account"),
        ({"ends_at": "2026-03-02T09:00"}, "is not after"),
        ({"units": ""}, "Neither units nor an hourly spend was bought"),
        ({"instance_type": ""}, "names an instance type, a GPU model or a pool"),
        ({"prices": "a=NaN", "spend": "1", "units": ""}, "Say an amount in figures"),
        ({"name": "taken"}, "There is a commitment of this name already."),
    ],
)
def test_what_says_nothing_is_said_at_its_field_and_nothing_is_entered(
    finn: Client, given: dict[str, str], said: str
) -> None:
    scene.make_commitment(name="taken")
    for answer in (
        finn.get("/commitments/new", ENTERED | given),
        finn.post("/commitments/new", ENTERED | given),
    ):
        assert said in words_of(answer)
        assert "What will change" not in words_of(answer)
    assert len(commitments()) == 1


def test_a_currency_without_a_rate_of_exchange_is_refused_when_it_is_entered(finn: Client) -> None:
    answer = confirmed(finn, "/commitments/new", ENTERED | {"currency": "EUR"})
    assert "No rate of exchange from EUR to USD" in words_of(answer)
    assert commitments() == []


def test_what_ending_moves_is_shown_before_it_is_done(
    finn: Client, noon_of_the_next_day: datetime
) -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment(name="a node")
    settle(hours=3)
    given = {"ended_at": "2026-03-02T11:00"}
    text = words_of(finn.get(f"/commitments/{one}/end", given))
    assert "25 past hours are charged again without it." in text
    assert "$80.00 of its cost goes, and what it covered costs about $197 again (+$116.64)." in text
    assert commitments()[0].ended_at is None
    confirmed(finn, f"/commitments/{one}/end", given)
    assert commitments()[0].ended_at == TEN + HOUR
    assert "ended early" in words_of(finn.get(f"/commitments?{MARCH}"))
    assert "End it before its term" not in words_of(finn.get(f"/commitments/{one}"))
    again = confirmed(finn, f"/commitments/{one}/end", given)
    assert "ends at 2026-03-02 11:00Z already" in words_of(again)


def test_what_is_not_there_is_not_found(finn: Client) -> None:
    assert finn.get("/commitments/77").status_code == 404
    assert finn.get("/commitments/77/end").status_code == 404


def test_names_from_outside_are_no_formulas(finn: Client) -> None:
    make_used(name="=cmd()")
    (row,) = csv_rows(finn.get(f"/commitments.csv?{MARCH}"))
    assert row["commitment"] == "'=cmd()"


def test_the_list_asks_as_many_questions_of_ten_as_of_one(
    finn: Client, django_assert_max_num_queries: Any
) -> None:
    make_used()
    for number in range(9):
        scene.make_commitment(name=f"another {number}", instance_type="p4d.24xlarge")
    settle()
    finn.get(f"/commitments?{MARCH}")
    with django_assert_max_num_queries(15):
        finn.get(f"/commitments?{MARCH}")
