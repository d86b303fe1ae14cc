"""Machines' quotes past Django's middleware: the same answers, checks, limits and lines as through the view."""

import gzip
import io
import json
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import psycopg
import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import AccessToken
from apps.logs import changes
from apps.placement.actions import make_offer_book, set_egress_prices
from apps.placement.api.quotes_together import is_plain_quote
from apps.placement.models import JobQuote, OfferBook
from apps.placement.queries import book
from tests import make
from tests.rest import Caller, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
JOB: dict[str, Any] = {
    "gpus": 8,
    "work": {"gpu_hours": 384, "of_model": "H100"},
    "team": "Research",
    "deadline": (AT + timedelta(hours=60)).isoformat(),
    "dataset": {"place": "aws:eu-west-1", "gigabytes": 500, "gbps": 10},
    "checkpoint": {"write_seconds": 60},
    "assumed_wait_minutes": 30,
}


@pytest.fixture(autouse=True)
def _loaded() -> None:
    """Loading it sets up the logs anew, which a test that hears already would not."""
    import_module("controlplane.wsgi")


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A scheduler's token, a reserved pool, one on demand and spot."""
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    make.make_team("Research")
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_pool("rented", cluster_id=cluster_id)
    make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id)
    make.make_rate("55.04")
    make.make_rate("16.00", purchase_option="spot", region="us-west-2")
    set_egress_prices(
        prices={("aws:eu-west-1", "aws:us-east-1"): Decimal("0.02")}, source="a list", at=AT
    )
    make_offer_book(at=AT)
    return with_token("read", "manage")


def environ_of(caller: Caller, body: Any = None, **instead: str) -> dict[str, Any]:
    """A request as the door has it."""
    sent = body if isinstance(body, bytes) else json.dumps(JOB if body is None else body).encode()
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/api/v1/quotes",
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "HTTP_HOST": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(sent),
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(sent)),
        "HTTP_AUTHORIZATION": caller.headers["Authorization"],
    } | instead


def document_of(answer: Any) -> Any:
    return json.loads(answer.body)


def in_group(*environs: dict[str, Any]) -> list[Any]:
    assert all(is_plain_quote(each) for each in environs)
    # Loading it reads the database: not before a test has one.
    from controlplane.wsgi import quote_answers

    return quote_answers(environs)


def statuses(*environs: dict[str, Any]) -> list[int | None]:
    return [None if each is None else each.status for each in in_group(*environs)]


def test_the_answer_is_the_views_and_is_read_again(caller: Caller) -> None:
    (past_middleware,) = in_group(environ_of(caller))
    told, through_view = document_of(past_middleware), caller.post("quotes", JOB).json()

    assert past_middleware.status == 201
    assert len(told["offers"]) == 3
    assert {**told, "id": through_view["id"]} == through_view
    assert caller.get(f"quotes/{told['id']}").json() == told


def test_each_of_a_group_is_answered_as_itself_and_kept_in_order(caller: Caller) -> None:
    jobs = [JOB | {"gpus": 8 * (1 + place)} for place in range(5)]
    answers = [document_of(each) for each in in_group(*(environ_of(caller, job) for job in jobs))]

    assert [each["gpus"] for each in answers] == [8, 16, 24, 32, 40]
    assert [each["id"] for each in answers] == sorted(each["id"] for each in answers)
    for each in answers:
        assert caller.get(f"quotes/{each['id']}").json() == each


def test_a_group_asks_the_database_no_more_than_one_does(caller: Caller) -> None:
    in_group(environ_of(caller))
    with CaptureQueriesContext(connection) as alone:
        in_group(environ_of(caller))
    with CaptureQueriesContext(connection) as together:
        in_group(*(environ_of(caller) for _ in range(8)))

    # Several are kept in a transaction, which is a savepoint in a test.
    told = [each["sql"] for each in together if "SAVEPOINT" not in each["sql"]]
    assert len(told) == len(alone) == 4


def test_what_one_may_not_or_did_not_say_well_is_left_to_the_view(caller: Caller) -> None:
    others = [with_token("read"), with_token("ingest"), Caller("rr_nobody")]
    not_well = [
        {"gpus": 8},
        b"{",
        b'{"gpus": NaN}',
        b"\xff",
        JOB | {"team": "Nobody"},
        JOB | {"x": 1},
    ]
    asked = [environ_of(each) for each in others] + [environ_of(caller, each) for each in not_well]

    assert statuses(*asked, environ_of(caller)) == [None] * 9 + [201]
    assert JobQuote.objects.count() == 1


def test_a_refusal_is_the_views_own_and_only_the_job_that_is_refused_is(caller: Caller) -> None:
    over = JOB | {"deadline": (AT - timedelta(hours=1)).isoformat()}
    refused, made = in_group(environ_of(caller, over), environ_of(caller))
    through_view = caller.post("quotes", over)

    assert (refused.status, document_of(refused)) == (400, through_view.json())
    assert dict(refused.headers)["Content-Type"] == through_view.headers["Content-Type"]
    assert document_of(made)["matched"] == 3


def test_without_a_book_it_says_so(caller: Caller) -> None:
    OfferBook.objects.all().delete()

    assert statuses(environ_of(caller)) == [409]


def test_a_group_is_counted_as_so_many(caller: Caller, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = settings.API_REQUESTS_PER_MINUTE | {"quotes": 3}
    other = with_token("manage")
    asked = caller, caller, other

    assert statuses(*map(environ_of, asked)) == [201, 201, 201]
    assert statuses(*map(environ_of, [*asked, caller])) == [201, None, 201, None]
    assert caller.post("quotes", JOB).status_code == 429
    assert other.post("quotes", JOB).status_code == 201


def test_a_revoked_token_asks_nothing_from_that_moment_on(caller: Caller) -> None:
    assert statuses(environ_of(caller)) == [201]
    AccessToken.objects.update(revoked_at=AT)

    assert statuses(environ_of(caller)) == [None]


@pytest.mark.parametrize(
    "instead",
    [
        {"HTTP_COOKIE": "sessionid=x"},
        {"HTTP_IDEMPOTENCY_KEY": "abc"},
        {"HTTP_CONTENT_ENCODING": "gzip"},
        {"HTTP_ACCEPT": "text/csv"},
        {"HTTP_AUTHORIZATION": "Basic eDp5"},
        {"HTTP_HOST": "evil.example"},
        {"QUERY_STRING": "limit=2"},
        {"CONTENT_TYPE": "text/plain"},
        {"REQUEST_METHOD": "GET"},
        {"PATH_INFO": "/api/v1/quotes/1/taken"},
    ],
)
def test_what_is_asked_in_another_way_goes_through_django(
    caller: Caller, instead: dict[str, str]
) -> None:
    assert is_plain_quote(environ_of(caller))
    assert not is_plain_quote(environ_of(caller, **instead))


def test_what_does_not_come_by_https_where_it_has_to_goes_through_django(
    caller: Caller, settings: Any
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    assert not is_plain_quote(environ_of(caller))
    assert is_plain_quote(environ_of(caller, HTTP_X_FORWARDED_PROTO="https"))


def test_each_has_a_line_of_its_own_with_its_token_request_and_number(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = with_token("manage", name="other one")
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(
        changes.log, "info", lambda event, **fields: lines.append(fields | {"event": event})
    )
    made, _ = in_group(
        environ_of(caller, HTTP_X_REQUEST_ID="request-0001"),
        environ_of(other, HTTP_X_REQUEST_ID="not sane"),
    )

    assert [line["event"] for line in lines] == ["make_quote", "make_quote"]
    assert (lines[0]["request_id"], lines[0]["id"]) == ("request-0001", document_of(made)["id"])
    assert dict(made.headers)["X-Request-ID"] == "request-0001"
    assert lines[1]["who"] == "token:other_one"
    assert lines[1]["request_id"] not in ("not sane", "")


def test_an_answer_is_packed_for_who_reads_that(caller: Caller) -> None:
    (plain,) = in_group(environ_of(caller))
    (packed,) = in_group(environ_of(caller, HTTP_ACCEPT_ENCODING="gzip, deflate"))

    headers = dict(packed.headers)
    assert (headers["Content-Encoding"], headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert headers["Content-Length"] == str(len(packed.body))
    told = json.loads(gzip.decompress(packed.body))
    assert {**told, "id": document_of(plain)["id"]} == document_of(plain)


def test_where_something_fails_the_view_answers_each(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = environ_of(caller), environ_of(caller)
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: None)
        assert statuses(*asked) == [None, None]

    assert JobQuote.objects.count() == 0


def test_where_the_database_is_away_nothing_is_lost_and_the_view_says_so(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: Any) -> None:
        raise psycopg.OperationalError("the connection is closed")

    with monkeypatch.context() as patch:
        patch.setattr(book, "rows", away)
        assert statuses(environ_of(caller)) == [None]

    (line,) = [each for each in caplog.records if each.getMessage() == "quotes_left count=1"]
    assert line.exc_info is None
    assert statuses(environ_of(caller)) == [201]
