"""Exports and lines over REST: asked for, fetched and called off by whose they are."""

import gzip
from typing import Any

import pytest

from apps.accounts.models import AccessToken, Team
from apps.ledger.api import lines as lines_api
from apps.ledger.tasks import make_exports
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db
DAY = "2026-03-02/2026-03-03"
ASKED = {"what": "lines", "window": DAY}


@pytest.fixture(autouse=True)
def _home(settings: Any, tmp_path: Any) -> None:
    settings.HOME = tmp_path


@pytest.fixture(scope="module", autouse=True)
def _ledger(of_module: None) -> None:
    """An hour of a node that Research and Hush hold, and nobody the rest."""
    make.make_organisation()
    node_id = scene.make_priced_node(started_at=scene.TEN)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Hush"))
    scene.make_job("1", node_id, gpus=2)
    scene.make_job("2", node_id, gpus=1, account="secret")
    scene.settle(ends_at=scene.TEN + scene.HOUR)


def dee() -> Caller:
    caller, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="Research").update(owner_id=person_id)
    return caller


def test_a_file_is_asked_for_made_fetched_and_given_up() -> None:
    caller = with_token("read")
    made = caller.post("exports", ASKED)
    assert (made.status_code, made.json()["state"], made.json()["file"]) == (201, "queued", None)

    make_exports()

    told = caller.get(f"exports/{made.json()['id']}").json()
    assert (told["state"], told["rows"]) == ("done", 3)
    fetched = caller.client.get(told["file"], headers=caller.headers)
    assert b"Hush" in gzip.decompress(b"".join(fetched.streaming_content))
    gone = caller.client.delete(f"/api/v1/exports/{told['id']}", headers=caller.headers)
    assert gone.json()["state"] == "cancelled"
    assert caller.client.get(told["file"], headers=caller.headers).status_code == 404


def test_a_file_is_asked_for_as_parquet() -> None:
    caller = with_token("read")
    made = caller.post("exports", ASKED | {"form": "parquet", "what": "days"}).json()
    make_exports()

    told = caller.get(f"exports/{made['id']}").json()
    fetched = caller.client.get(told["file"], headers=caller.headers)

    assert (made["form"], told["state"]) == ("parquet", "done")
    assert fetched.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert "days-2026-03-02-2026-03-03.parquet" in fetched.headers["Content-Disposition"]
    assert b"".join(fetched.streaming_content)[:4] == b"PAR1"


def test_a_lead_s_file_holds_their_own_team_and_is_nobody_else_s() -> None:
    caller, other = dee(), signed_in("eve@example.org", "viewer", name="Eve")[0]
    export_id = caller.post("exports", ASKED).json()["id"]
    make_exports()

    fetched = caller.get(f"exports/{export_id}/file", accept="application/gzip, application/json")

    rows = gzip.decompress(b"".join(fetched.streaming_content))
    assert b"Research" in rows
    assert b"Hush" not in rows
    assert [other.get(f"exports/{export_id}{tail}").status_code for tail in ("", "/file")] == [
        404
    ] * 2
    assert other.get("exports").json()["results"] == []


def test_a_file_is_closed_once_its_asker_sees_less_than_it_holds() -> None:
    caller = dee()
    export_id = caller.post("exports", ASKED).json()["id"]
    make_exports()
    assert caller.get(f"exports/{export_id}").json()["file"] is not None

    Team.objects.filter(name="Research").update(owner_id=None)

    assert caller.get(f"exports/{export_id}").json()["file"] is None
    assert caller.get(f"exports/{export_id}/file").status_code == 404


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"team": ["Hush"]}, "team"),
        ({"workload": ["none"]}, "workload"),
        ({"pool": ["none"]}, "pool"),
        ({"state": ["asleep"]}, "state"),
        ({"form": "xlsx"}, "form"),
        ({"window": "someday"}, "window"),
        ({"tags": {"colour": "green"}}, "tags"),
    ],
)
def test_what_is_not_known_to_the_asker_is_refused_by_its_field(
    changed: dict[str, Any], field: str
) -> None:
    answer = dee().post("exports", ASKED | changed)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_one_asker_has_five_exports_waiting_at_most() -> None:
    caller = with_token("read")
    statuses = [caller.post("exports", ASKED).status_code for _ in range(6)]

    assert statuses == [201] * 5 + [409]


def test_a_repeated_request_of_one_name_asks_for_one_file() -> None:
    caller = with_token("read")
    first, again = (caller.post("exports", ASKED, Idempotency_Key="monday") for _ in range(2))

    assert first.json()["id"] == again.json()["id"]


def test_only_the_asker_and_who_manages_call_an_export_off() -> None:
    export_id = with_token("read").post("exports", ASKED).json()["id"]
    finance, manager = with_token("read", name="finance"), with_token("manage", name="manager")

    def cancelled(caller: Caller) -> int:
        path = f"/api/v1/exports/{export_id}"
        return int(caller.client.delete(path, headers=caller.headers).status_code)

    assert cancelled(finance) == 403
    assert cancelled(manager) == 200
    assert AccessToken.objects.filter(name="manager").exists()


def test_lines_say_what_they_rest_on() -> None:
    rows = with_token("read").get("costs/lines", window=DAY).json()["results"]

    of_research = next(row for row in rows if row["team"]["name"] == "Research")
    assert of_research["job"]["raw_id"] == "1"
    assert of_research["state"] == "unobserved"
    assert of_research["evidence"] == ["none"]
    assert of_research["gpu_hours"] == 2.0
    assert of_research["effective_cost"] == {"amount": "24.580000", "currency": "USD"}
    assert len(of_research["rate_ids"]) == 1
    assert of_research["policy_version"] == 1
    assert sum(row["gpu_hours"] for row in rows) == 8.0


@pytest.mark.parametrize(
    ("window", "gpu_hours"),
    [
        ("2026-03-02T10:00:00Z/2026-03-02T11:00:00Z", 8.0),
        ("2026-03-02T11:00:00+01:00/2026-03-02T12:00:00+01:00", 8.0),
        ("2026-03-02/2026-03-02T10:00:00Z", 0),
        ("2026-03-02T11:00:00Z/2026-03-03", 0),
        ("2026-03-02 11:00:00Z/2026-03-02 12:00:00Z", 0),
        ("2026-03-02t10:00:00Z/2026-03-02t11:00:00Z", 8.0),
        ("2026-03-02 11:00/2026-03-03", 0),
    ],
)
def test_lines_are_told_by_the_hour(window: str, gpu_hours: float) -> None:
    rows = with_token("read").get("costs/lines", window=window).json()["results"]

    assert sum(row["gpu_hours"] for row in rows) == gpu_hours


@pytest.mark.parametrize(
    ("path", "window", "message"),
    [
        ("costs/lines", "2026-03-02T10:30:00Z/2026-03-03", "is not the beginning of an hour"),
        ("costs/lines", "2026-03-02T11:00:00Z/2026-03-02T10:00:00Z", "ends before it starts"),
        ("costs/lines", "2026-03-02T11:00:00Z/soon", "'soon' is no day and no moment"),
        ("costs/lines", "2026-03-02T11:00:00Z/9999-12-31T23:00:00Z", "not within the years"),
        ("costs/lines", "0001-01-01T01:00:00Z/2026-03-02T11:00:00Z", "not within the years"),
        ("costs", "2026-03-02T10:00:00Z/2026-03-03", "2026-03-02/2026-03-03; by the hour"),
        ("costs/explore", "2026-03-02T10:00:00Z/2026-03-03", "such as 2026-03-02/2026-03-03"),
    ],
)
def test_a_window_that_cannot_be_told_is_refused_with_what_can(
    path: str, window: str, message: str
) -> None:
    answer = with_token("read").get(path, window=window)

    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (400, "window")
    assert message in error["message"]


def test_lines_come_by_pages_in_one_order_both_ways() -> None:
    caller = with_token("read")
    every = caller.get("costs/lines", window=DAY).json()["results"]
    first = caller.get("costs/lines", window=DAY, limit=2).json()
    second = caller.client.get(first["next"], headers=caller.headers).json()
    back = caller.client.get(second["previous"], headers=caller.headers).json()

    assert first["results"] + second["results"] == every
    assert back["results"] == first["results"]


def test_of_a_node_a_lead_reads_others_time_and_state_alone() -> None:
    caller, node_id = dee(), 1
    mine = caller.get("costs/lines", window=DAY).json()["results"]
    node_id = mine[0]["node"]["id"]

    rows = caller.get("costs/lines", window=DAY, node_id=node_id).json()["results"]

    assert {row["team"]["name"] for row in mine} == {"Research"}
    others = [row for row in rows if row["team"]["name"] == "another team"]
    assert len(others) == 2
    hidden = ("line", "job", "workload", "holder", "charge_id", "rate_ids", "effective_cost")
    assert {row[name] for row in others for name in hidden} == {None}
    assert {row["rate_ids"] for row in mine} == {None}


def test_lines_are_asked_for_by_job_state_and_pool() -> None:
    caller = with_token("read")
    (row,) = caller.get("costs/lines", window=DAY, state="unobserved", team="Hush").json()[
        "results"
    ]

    assert caller.get("costs/lines", window=DAY, job_id=row["job"]["id"]).json()["results"] == [row]
    assert caller.get("costs/lines", window=DAY, pool="nowhere").status_code == 400
    assert (
        caller.get("costs/lines", window=DAY, job_id="x").json()["errors"][0]["field"] == "job_id"
    )
    assert caller.get("costs/lines", colour="green").status_code == 400


def test_more_lines_than_a_table_should_hold_are_sent_to_an_export(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines_api, "MOST_DIRECT", 2)
    caller = with_token("read")

    refused = caller.get("costs/lines", accept="text/csv", window=DAY)

    assert refused.status_code == 400
    assert b"POST /api/v1/exports" in refused.content
    assert caller.get("costs/lines", accept="text/csv", window=DAY, limit=2).status_code == 200
