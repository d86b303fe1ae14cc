"""A job tried by hand, the quotes that were kept, and what came of one."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.placement.actions import make_offer_book, make_quote, set_egress_prices
from apps.placement.models import JobQuote
from apps.placement.queries.quote_request import QuoteRequest, RequestedWork
from tests import make
from tests.apps.console.people import signed_in, words_of
from tests.rest import with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def finance() -> Client:
    """Of finance, with one reserved node idle and a pool on demand on record."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_pool("rented", cluster_id=cluster_id)
    make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id)
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    return signed_in("finance")


def quoted(**instead: object) -> int:
    """A quote of 16 GPUs, which only the pool on demand can take."""
    values: dict[str, object] = {
        "gpus": 16,
        "work": RequestedWork(gpu_hours=160),
        "deadline": AT + timedelta(hours=20),
        "assumed_wait_minutes": 60.0,
    }
    asked = QuoteRequest(**values | instead)  # type: ignore[arg-type]  # of fields by name
    return make_quote(question=asked, team_ids=None, by=None, at=AT).id


def test_without_a_book_the_page_says_how_one_comes(finance: Client) -> None:
    page = words_of(finance.get("/placement"))

    assert "No offer book yet" in page
    assert finance.get("/placement.csv?table=offers").status_code == 200


def test_a_job_is_tried_as_the_form_stands_and_nothing_is_kept(finance: Client) -> None:
    make_offer_book(at=AT)
    page = words_of(finance.get("/placement"))

    assert "Best: kept, +$0.00 incremental ($1,440.00 already committed), done in 2 d" in page
    assert "8 of 8 GPUs are idle" in page
    assert "What is there Passed: at most 8 GPUs at once, and 8 are there." in page
    assert JobQuote.objects.count() == 0


def test_what_is_entered_moves_the_answer_and_its_csv(finance: Client) -> None:
    make_offer_book(at=AT)
    set_egress_prices(
        prices={("gcp:us-east1", "aws:us-east-1"): Decimal("0.1")}, source="a list", at=AT
    )
    entered = {
        "look": "yes", "gpus": "16", "gpu_hours": "160", "of_model": "", "kind": "interruptible",
        "has_fallback": "no", "deadline_hours": "20", "restart_minutes": "6", "wait_minutes": "60",
        "place": "aws:us-east-1", "gigabytes": "100", "budget_team": "",
    }  # fmt: skip
    page = words_of(finance.get("/placement", entered))
    (row,) = csv.DictReader(
        io.StringIO(finance.get("/placement.csv", entered | {"table": "offers"}).content.decode())
    )

    assert "Best: rented, +$1,100.80 incremental, done in 11 h" in page
    assert "1 offer left out: fewer GPUs there than asked for" in page
    assert (row["name"], row["cost"], row["standing"]) == ("rented", "1100.800000", "In time")
    assert "the data is there already" in row["why"]


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ({"gpus": "x"}, "cannot be understood"),
        ({"kind": "uninterrupted", "gpu_hours": "0"}, "cannot be understood"),
        ({"deadline_hours": "1"}, "No offer is done in time"),
        ({"wait_minutes": ""}, "when it is done is not known"),
    ],
)
def test_what_cannot_be_answered_is_said(
    finance: Client, instead: dict[str, str], said: str
) -> None:
    make_offer_book(at=AT)
    entered = {
        "look": "yes", "gpus": "16", "gpu_hours": "160", "kind": "interruptible", "has_fallback": "no",
        "restart_minutes": "6", "wait_minutes": "60", "deadline_hours": "",
    }  # fmt: skip

    assert said in words_of(finance.get("/placement", entered | instead))


def test_quotes_are_listed_with_what_was_taken_and_what_came(finance: Client) -> None:
    assert "No quote was asked yet" in words_of(finance.get("/placement/quotes"))
    make_offer_book(at=AT)
    left, taken = quoted(), quoted()
    row = JobQuote.objects.get(id=taken)
    row.chosen, row.taken_at, row.ended_at = row.answer["offers"][0]["key"], AT, AT
    row.actual_micros, row.actual_hours, row.actual_gpu_hours = 1_210_880_000, 12.0, 176.0
    row.save()
    page = words_of(finance.get("/placement/quotes"))
    rows = list(csv.DictReader(io.StringIO(finance.get("/placement/quotes.csv").content.decode())))
    (calibrated,) = csv.DictReader(
        io.StringIO(finance.get("/placement/quotes.csv?table=calibration").content.decode())
    )

    assert "1 quoted job ended of 2 quotes" in page
    assert {row["deadline"] for row in rows} == {"", "Met"}
    assert {row["id"] for row in rows} == {str(left), str(taken)}
    assert calibrated["cost_ratio"].startswith("1.1")
    one = words_of(finance.get(f"/placement/quotes/{taken}"))
    assert "The job on rented came to $1,210.88; $1,100.80 was predicted" in one
    assert finance.get(f"/placement/quotes/{taken}.csv?table=offers").status_code == 200
    page = words_of(finance.get(f"/placement/quotes/{left}"))
    assert "Best: rented, " in page
    for gate in with_token("read").get(f"quotes/{left}").json()["gates"]:
        assert gate["says"] in page
    assert finance.get("/placement/quotes/987654").status_code == 404


def test_prices_are_not_for_leads(finance: Client) -> None:
    assert signed_in("lead").get("/placement").status_code in (302, 403)
