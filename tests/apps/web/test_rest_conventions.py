"""What holds for every list and every write of the REST surface."""

import csv
import io
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from apps.accounts.models import AccessToken, RepeatedRequest, Team
from tests import make
from tests.rest import Caller, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


def ada() -> Caller:
    return with_token("manage", name="ada's script")


def names(answer: Any) -> list[str]:
    return [row["name"] for row in answer.json()["results"]]


def test_a_list_is_walked_forth_and_back_without_gap_or_repeat() -> None:
    caller = ada()
    for number in range(7):
        make.make_cluster(f"c{number}")

    seen, answer = [], caller.get("clusters", limit=3)
    pages = [names(answer)]
    while answer.json()["next"]:
        answer = caller.client.get(answer.json()["next"], headers=caller.headers)
        pages.append(names(answer))
    assert pages == [["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"]]

    while answer.json()["previous"]:
        answer = caller.client.get(answer.json()["previous"], headers=caller.headers)
        seen.append(names(answer))
    assert seen == [["c3", "c4", "c5"], ["c0", "c1", "c2"]]


def test_a_row_that_comes_meanwhile_moves_no_other() -> None:
    caller = ada()
    for name in ("b", "c", "d"):
        make.make_cluster(name)
    first = caller.get("clusters", limit=2)
    make.make_cluster("a")

    second = caller.client.get(first.json()["next"], headers=caller.headers)

    assert names(second) == ["d"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"cursor": "made-up"}, "cursor"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"colour": "green"}, "colour"),
    ],
)
def test_a_parameter_that_is_not_understood_is_named(
    parameters: dict[str, str], field: str
) -> None:
    answer = ada().get("clusters", **parameters)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_cursor_of_another_list_is_refused() -> None:
    caller = ada()
    make.make_cluster("a")
    make.make_cluster("b")
    cursor = caller.get("clusters", limit=1).json()["next"].partition("cursor=")[2]

    assert caller.get("teams", cursor=cursor).status_code == 400


def test_a_list_comes_as_csv_that_no_spreadsheet_computes() -> None:
    caller = ada()
    above = make.make_team("=cmd()")
    make.make_team("Vision", parent_id=above, cost_centre="+cmd")

    answer = caller.get("teams", accept="text/csv", parent="=cmd()")

    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["name"], row["parent"], row["cost_centre"]) == ("Vision", "'=cmd()", "'+cmd")


def test_an_empty_list_as_csv_still_names_its_columns() -> None:
    answer = ada().get("outages", accept="text/csv")

    assert answer.content.decode() == "id,node_id,node,device_id,kind,starts_at,ends_at\r\n"


def test_a_write_under_one_key_is_done_once_and_answered_the_same() -> None:
    caller = ada()
    asked = {"name": "reports", "scopes": ["read"]}

    first = caller.post("tokens", asked, Idempotency_Key="monday")
    second = caller.post("tokens", asked, Idempotency_Key="monday")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json() | {"secret": None}
    assert AccessToken.objects.filter(name="reports").count() == 1


def test_no_secret_is_kept_to_answer_a_repeat() -> None:
    caller = ada()
    secret = caller.post(
        "tokens", {"name": "reports", "scopes": ["read"]}, Idempotency_Key="monday"
    ).json()["secret"]

    assert secret
    assert secret not in str(list(RepeatedRequest.objects.values_list("body", flat=True)))


def test_one_key_for_two_requests_is_refused() -> None:
    caller = ada()
    caller.post("teams", {"name": "Vision"}, Idempotency_Key="monday")

    answer = caller.post("teams", {"name": "Speech"}, Idempotency_Key="monday")

    assert answer.status_code == 409
    assert not Team.objects.filter(name="Speech").exists()


def test_another_callers_key_is_another_request() -> None:
    ada().post("teams", {"name": "Vision"}, Idempotency_Key="monday")

    answer = with_token("manage", name="ben's script").post(
        "teams", {"name": "Speech"}, Idempotency_Key="monday"
    )

    assert answer.status_code == 201


def test_a_refusal_is_not_kept_so_that_the_key_may_be_tried_again() -> None:
    caller = ada()
    asked = {"name": "Vision", "parent": "Research"}
    assert caller.post("teams", asked, Idempotency_Key="monday").status_code == 400
    make.make_team("Research")

    assert caller.post("teams", asked, Idempotency_Key="monday").status_code == 201


def test_a_key_is_forgotten_after_a_day() -> None:
    caller = ada()
    caller.post("teams", {"name": "Vision"}, Idempotency_Key="monday")
    RepeatedRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))

    assert caller.post("teams", {"name": "Speech"}, Idempotency_Key="monday").status_code == 201


def test_the_natural_key_answers_a_repeat_that_has_no_other() -> None:
    caller = ada()
    asked = {"name": "Vision", "cost_centre": "CC-1"}

    first, second = caller.post("teams", asked), caller.post("teams", asked)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert caller.post("teams", asked | {"cost_centre": "CC-2"}).status_code == 409


def test_more_than_the_minutes_number_is_refused_with_when_to_come_back(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.API_REQUESTS_PER_MINUTE = {"reads": 2, "writes": 1, "events": 1}
    moment = datetime(2026, 3, 2, 12, 0, 18, tzinfo=UTC)
    monkeypatch.setattr("apps.web.rest.limits.timezone.now", lambda: moment)
    caller, other = ada(), with_token("read", name="another")

    assert [caller.get("clusters").status_code for _ in range(2)] == [200, 200]
    refused = caller.get("clusters")

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "43")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert other.get("clusters").status_code == 200
    assert caller.post("teams", {"name": "Vision"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_two_that_come_at_once_under_one_key_are_one() -> None:
    caller = ada()
    answers: list[Any] = []

    def ask() -> None:
        fresh = Caller()
        fresh.headers = caller.headers
        answers.append(
            fresh.post(
                "tokens", {"name": "reports", "scopes": ["read"]}, Idempotency_Key="monday"
            ).json()["id"]
        )
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(answers)) == 1
    assert AccessToken.objects.filter(name="reports").count() == 1
