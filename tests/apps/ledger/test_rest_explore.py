"""GET /api/v1/costs/explore: any two dimensions, another period beside, and each about their own."""

import csv
import io
from typing import Any

import pytest

from apps.accounts.models import Team
from tests.apps.ledger.explored import DAY, make_explored
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

ADDRESS = "costs/explore"


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> None:
    make_explored()


@pytest.fixture
def everyone() -> Caller:
    return with_token("read")


def costs_of(answer: Any) -> dict[tuple[str, ...], str | None]:
    return {
        tuple(group["name"] for group in row["groups"]): row["cost"] and row["cost"]["amount"]
        for row in answer.json()["results"]
    }


def test_two_dimensions_are_told_by_name(everyone: Caller) -> None:
    answer = everyone.get(ADDRESS, window=DAY, group_by="user,cluster")

    assert costs_of(answer) == {
        ("ada", "atlas"): "49.160000",
        ("eve", "atlas"): "12.290000",
        ("Not held by a job", "atlas"): "626.790000",
    }
    body = answer.json()
    assert body["totals"]["cost"]["amount"] == "688.240000"
    assert body["meta"]["as_of_today"] == ["cluster"]
    assert body["results"][-1]["groups"][0] == {
        "by": "user",
        "name": "Not held by a job",
        "filter": "none",
        "is_other": False,
    }


def test_a_group_leads_to_itself_by_its_filter(everyone: Caller) -> None:
    whole = everyone.get(ADDRESS, window=DAY, group_by="user").json()["results"]
    for row in whole:
        (group,) = row["groups"]
        alone = everyone.get(ADDRESS, window=DAY, user=group["filter"]).json()
        assert alone["totals"] == {name: row[name] for name in row if name != "groups"}


def test_another_period_stands_beside_with_what_made_the_difference(everyone: Caller) -> None:
    answer = everyone.get(
        ADDRESS, window=DAY, compare="2026-03-02", group_by="team", user="ada,eve"
    ).json()
    rows = {row["groups"][0]["name"]: row for row in answer["results"]}
    causes = answer["variance"]

    assert rows["=Research"]["before_cost"]["amount"] == "24.580000"
    assert rows["=Research"]["change"]["amount"] == "24.580000"
    assert rows["Secret project"]["before_cost"]["amount"] == "0.000000"
    assert causes["capacity"]["amount"] == "36.870000"
    assert (causes["volume"], causes["efficiency"]) == (causes["capacity"], causes["use"])
    assert (causes["before"]["amount"], causes["after"]["amount"]) == ("24.580000", "61.450000")
    assert answer["meta"]["compared_with"]["starts_at"] == "2026-03-02T00:00:00Z"


def test_csv_has_a_column_for_each_dimension_and_starts_no_formula(everyone: Caller) -> None:
    answer = everyone.get(
        ADDRESS, accept="text/csv", window=DAY, group_by="team,cost_centre", compare="2026-03-02"
    )
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))

    assert answer["Content-Type"].startswith("text/csv")
    assert {(row["team"], row["cost_centre"], row["cost"], row["before_cost"]) for row in rows} == {
        ("'=Research", "CC-1", "49.160000", "24.580000"),
        ("Secret project", "No cost centre", "12.290000", "0.000000"),
        ("Platform", "No cost centre", "626.790000", "1351.900000"),
    }
    assert {(row["currency"], row["as_of_today"]) for row in rows} == {("USD", "cost_centre")}


def test_a_lead_is_answered_about_their_own_teams_whatever_they_group_by() -> None:
    dee, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="=Research").update(owner_id=person_id)
    for names in ("team,user", "node,team", "job", "node,state", "team,month"):
        answer = dee.get(ADDRESS, window="2026-03", compare="2026-02", group_by=names)
        if names != "team,month":
            answer = dee.get(ADDRESS, window=DAY, compare="2026-03-02", group_by=names)
        assert b"Secret" not in answer.content
        assert b"eve" not in answer.content
        whole = answer.json()["totals"]["cost"]["amount"]
        assert whole == ("73.740000" if names == "team,month" else "49.160000")

    refused = dee.get(ADDRESS, window=DAY, team="Secret project")
    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["field"]) == (400, "team")


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"windw": "7d"}, "windw", "there is no parameter 'windw'"),
        ({"group_by": "colour"}, "group_by", "'colour' is none of team, cost_centre"),
        ({"team": "nobody"}, "team", "there is no team named 'nobody'"),
        ({"basis": "true"}, "basis", "'true' is none of list"),
        ({"compare": "then"}, "compare", "'then' is none of today"),
        (
            {"group_by": "day,pool", "window": "200d"},
            "window",
            "by day and pool costs can be asked for 100 days at once",
        ),
        ({"group_by": "pool", "window": "200d"}, "window", "or for whole months; the nearest"),
        ({"group_by": "node"}, "group_by", "with a filter"),
        ({"group_by": "job,node", "team": "none"}, "group_by", "the nearest that can be answered"),
        ({"job": "4711a"}, "job", "'4711a' is no job's number"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(
    everyone: Caller, given: dict[str, str], field: str, message: str
) -> None:
    answer = everyone.get(ADDRESS, **given)

    assert answer.status_code == 400
    told = {error["field"]: error["message"] for error in answer.json()["errors"]}
    assert message in told[field]


def test_the_nearest_question_is_answered(everyone: Caller) -> None:
    refused = everyone.get(ADDRESS, group_by="pool,team", window="2025-12-10/2026-04-20")
    (error,) = refused.json()["errors"]
    asked = error["message"].rpartition(": ")[2]

    assert asked == "window=2025-12-01/2026-05-01&group_by=pool,team"
    found = everyone.get(ADDRESS, **dict(pair.split("=") for pair in asked.split("&")))
    assert found.json()["totals"]["gpu_hours"] == 21 * 8
