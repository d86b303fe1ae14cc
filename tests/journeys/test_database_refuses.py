"""What Postgres itself refuses is answered in words: as problem documents on REST, as pages elsewhere.

The errors are real ones of a real server, raised by the statement that a view asks.
"""

from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import Organisation, Team
from controlplane import urls as installed
from tests import make

pytestmark = pytest.mark.django_db

SLOW = "SET LOCAL statement_timeout = '20ms'; SELECT pg_sleep(10)"
LOST = "SELECT pg_terminate_backend(pg_backend_pid())"


def _raising(code: str) -> str:
    return f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'as it says'; END $$"


ASKED: dict[str, str] = {}


def _ask() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ASKED["statement"])


class Refused(APIView):
    """One that asks what the test says."""

    permission_classes = (AllowAny,)

    def get(self, request: Request) -> Response:
        _ask()
        return Response({})

    post = put = patch = delete = get


def refused_page(request: HttpRequest) -> HttpResponse:
    _ask()
    return HttpResponse("as if nothing were")


def protected_page(request: HttpRequest) -> HttpResponse:
    Team.objects.get(name="Research").delete()
    return HttpResponse("as if nothing were")


def gone_page(request: HttpRequest) -> HttpResponse:
    Team.objects.get(name="nobody")
    return HttpResponse("as if nothing were")


urlpatterns = [
    path("api/v1/refused", Refused.as_view()),
    path("api/plain", refused_page),
    path("refused", refused_page),
    path("protected", protected_page),
    path("gone", gone_page),
    *installed.urlpatterns,
]
handler404, handler500 = installed.handler404, installed.handler500

# The statement, then what DELETE, POST and a page answer, and the title.
KINDS: dict[str, tuple[str, int, int, int, str]] = {
    "statement timeout": (SLOW, 503, 503, 503, "Took too long"),
    "lock timeout": (_raising("55P03"), 409, 503, 409, "Being changed by another"),
    "deadlock": (_raising("40P01"), 409, 503, 409, "Crossed another change"),
    "serialization": (_raising("40001"), 409, 503, 409, "Crossed another change"),
    "foreign key": (_raising("23503"), 409, 409, 409, "Changed meanwhile"),
    "restricted": (_raising("23001"), 409, 409, 409, "Changed meanwhile"),
    "twice": (_raising("23505"), 409, 409, 409, "Changed meanwhile"),
    "overlap": (_raising("23P01"), 409, 409, 409, "Changed meanwhile"),
    "read only": (_raising("25006"), 503, 503, 503, "Database away"),
    "shut down": (_raising("57P01"), 503, 503, 503, "Database away"),
    "full disk": (_raising("53100"), 503, 503, 503, "Database away"),
    "broken check": (_raising("23514"), 500, 500, 500, "Unexpected error"),
    "missing value": (_raising("23502"), 500, 500, 500, "Unexpected error"),
    "missing column": ("SELECT no_such FROM accounts_team", 500, 500, 500, "Unexpected error"),
    "a bug": ("SELECT 1/0", 500, 500, 500, "Unexpected error"),
}


@pytest.fixture
def client(settings: Any) -> Client:
    settings.ROOT_URLCONF = __name__
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("kind", KINDS)
def test_rest_answers_a_problem_document(client: Client, kind: str) -> None:
    ASKED["statement"], on_delete, on_post, _, title = KINDS[kind]
    removed, sent = client.delete("/api/v1/refused"), client.post("/api/v1/refused")
    plain = client.post("/api/plain")
    for answer, status in ((removed, on_delete), (sent, on_post), (plain, on_post)):
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/problem+json"
        assert (answer.json()["title"], answer.json()["status"]) == (title, status)
        assert len(answer.json()["detail"]) > 20
        assert status != 503 or int(answer["Retry-After"]) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_it_in_words(client: Client, kind: str) -> None:
    ASKED["statement"], _, _, status, title = KINDS[kind]
    answer = client.get("/refused")
    assert answer.status_code == status
    words = answer.content.decode()
    title_on_page = {"Unexpected error": "Something broke", "Database away": "The database is away"}
    assert title_on_page.get(title, title) in words
    assert "Traceback" not in words
    assert "as it says" not in words


def test_a_bug_is_named_by_its_request(client: Client) -> None:
    ASKED["statement"] = "SELECT 1/0"
    answer = client.get("/api/v1/refused", headers={"X-Request-ID": "request-4711"})
    assert answer.status_code == 500
    assert "request-4711" in answer.json()["detail"]
    assert answer["X-Request-ID"] == "request-4711"


def test_what_something_hangs_on_is_said_to_be_in_use(client: Client) -> None:
    make.make_organisation()
    team_id = make.make_team("Research")
    make.make_pool("h100", owner_team_id=team_id)
    answer = client.get("/protected")
    assert answer.status_code == 409
    assert "Still in use" in answer.content.decode()
    assert Organisation.objects.exists()
    assert Team.objects.filter(id=team_id).exists()


def test_a_row_that_went_meanwhile_is_not_found(client: Client) -> None:
    assert client.get("/gone").status_code == 404
