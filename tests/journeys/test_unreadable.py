"""What nobody can read or keep is refused, never a bug; health is told under any name."""

import pytest
from django.test import Client

from apps.accounts.authentication.machines import machine_of
from tests.make import make_organisation, make_person, make_token

pytestmark = pytest.mark.django_db
DEEP = "[" * 200_000


def client_with(*scopes: str) -> Client:
    secret = make_token(*scopes).secret
    return Client(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)


@pytest.mark.parametrize(
    "query",
    [
        "costs?window=7d&tag.project=%00",
        "costs?window=7d&team=a%00b",
        "jobs?user=%00",
        "runs?workload=%00",
        "incidents?kind=%00",
    ],
)
def test_a_nul_in_a_question_is_refused(query: str) -> None:
    make_organisation()
    answer = client_with("read").get(f"/api/v1/{query}")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("path", ["teams", "enrolments", "rates", "jobs", "usage-events"])
def test_a_body_nested_without_end_is_refused(path: str) -> None:
    make_organisation()
    client = client_with("manage", "jobs", "usage")
    answer = client.post(f"/api/v1/{path}", DEEP, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_a_nul_in_a_form_is_refused() -> None:
    make_organisation()
    client = Client(raise_request_exception=False)
    from django.contrib.auth import get_user_model

    client.force_login(get_user_model().objects.get(pk=make_person()))
    for path in ("/bills/rules/new", "/people/tokens/make"):
        answer = client.post(path, {"name": "a\0b", "match": "\0", "value": "\0", "scope": "read"})
        assert answer.status_code < 500


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_is_told_under_a_name_that_is_not_listed(path: str) -> None:
    make_organisation()
    assert Client(headers={"Host": "10.0.0.7:8000"}).get(path).status_code == 200
    assert Client(headers={"Host": "10.0.0.7:8000"}).get("/sign-in").status_code == 400


@pytest.mark.parametrize(
    ("proxies", "told", "machine"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, "8.8.8.8, 203.0.113.9", "203.0.113.9"),
        (2, "8.8.8.8, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "127.0.0.1"),
        (1, "", "127.0.0.1"),
    ],
)
def test_a_caller_is_whom_our_own_proxies_saw(
    settings, proxies: int, told: str, machine: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert machine_of({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": told}) == machine
