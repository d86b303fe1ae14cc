"""What one request may ask of the database ends in time, and is answered in words; passes take as long as they take."""

from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from controlplane import statement_limits
from controlplane import urls as installed
from controlplane.statement_limits import FILES, WEB, Limits, limit_this_process, limited

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def in_force() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting(name) FROM unnest(%s::text[]) AS name", [list(NAMES)]
        )
        return [value for (value,) in cursor.fetchall()]


def show(request: HttpRequest) -> HttpResponse:
    return HttpResponse(" ".join(in_force()))


def slow(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")
    return HttpResponse("at last")


urlpatterns = [
    path("limits", show),
    path("limits.csv", show),
    path("slow", slow),
    path("api/v1/slow", slow),
    *installed.urlpatterns,
]
handler404, handler500 = installed.handler404, installed.handler500


@pytest.fixture
def web_process(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """A process as the web server's: its connections are limited from the first on."""
    settings.ROOT_URLCONF = __name__
    monkeypatch.setattr(statement_limits, "_process", [])
    connection.close()
    limit_this_process(WEB)
    yield Client(raise_request_exception=False)
    connection.limit(None)
    connection.close()


def test_pages_and_files_have_limits_of_their_own(web_process: Client) -> None:
    assert web_process.get("/limits").content == b"15s 10s 1min"
    assert web_process.get("/limits.csv").content == b"5min 10s 10min"
    assert web_process.get("/limits", headers={"Accept": "text/csv"}).content == b"5min 10s 10min"
    assert web_process.get("/limits").content == b"15s 10s 1min"


def test_a_connection_that_is_made_again_has_them_too(web_process: Client) -> None:
    connection.limit(FILES)
    connection.close()
    assert in_force() == ["5min", "10s", "10min"]


def test_a_connection_that_was_cut_meanwhile_is_made_again(web_process: Client) -> None:
    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (pid,) = cursor.fetchone()
        with connection._nodb_cursor() as another:
            another.execute("SELECT pg_terminate_backend(%s)", [pid])

    cut()
    connection.limit(FILES)
    assert in_force() == ["5min", "10s", "10min"]
    cut()
    assert web_process.get("/readyz").status_code in {200, 503}
    assert web_process.get("/readyz").json() == {"ready": False, "reason": "no organisation yet"}


def test_passes_and_commands_have_none() -> None:
    assert in_force() == ["0", "0", "0"]
    with limited(WEB):
        assert in_force() == ["15s", "10s", "1min"]
    assert in_force() == ["0", "0", "0"]


def test_what_takes_too_long_says_what_to_ask_instead(
    web_process: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statement_limits, "WEB", Limits(statement=1))
    page, rest = web_process.get("/slow"), web_process.get("/api/v1/slow")
    assert (page.status_code, rest.status_code) == (503, 503)
    assert "shorter period" in page.content.decode()
    assert rest["Content-Type"] == "application/problem+json"
    assert "shorter period" in rest.json()["detail"]
    assert (int(page["Retry-After"]), int(rest["Retry-After"])) == (5, 5)
