"""Workloads, runs, jobs, allocations and rules over REST: read by whose they are, changed by platform."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

from apps.accounts.models import Team
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Job, OwnershipRule
from apps.workloads.queries import listing
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _jobs() -> None:
    """Ten jobs of Research, then ten of a team nobody should hear of, then one that nobody owns."""
    cache.clear()
    make.make_organisation()
    node_id = scene.make_priced_node()
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Hush"))
    for index in range(10):
        scene.make_job(f"1{index}", node_id)
        scene.make_job(f"2{index}", node_id, account="secret")
    scene.make_job("30", node_id, account="nobody")


def dee() -> Caller:
    caller, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="Research").update(owner_id=person_id)
    return caller


def every_page(caller: Caller, path: str, **asked: Any) -> list[dict[str, Any]]:
    """All rows by following `next`, and again by following `previous` from the end."""
    page = caller.get(path, **asked).json()
    pages = [page["results"]]
    while page["next"]:
        page = caller.client.get(page["next"], headers=caller.headers).json()
        pages.append(page["results"])
    forward = [row for results in pages for row in results]
    back = [*page["results"]]
    while page["previous"]:
        page = caller.client.get(page["previous"], headers=caller.headers).json()
        back = page["results"] + back
    assert back == forward
    return forward


@pytest.mark.parametrize("part", [3, 1_000])
def test_a_lead_pages_through_exactly_their_own_jobs(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PART", part)

    rows = every_page(dee(), "jobs", limit=4)

    assert [row["raw_id"] for row in rows] == [f"1{index}" for index in reversed(range(10))]
    assert {row["team"]["name"] for row in rows} == {"Research"}


def test_a_page_that_had_to_look_at_too_many_jobs_is_short_and_has_a_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PART", 2)
    monkeypatch.setattr(listing, "MOST_SCANNED", 4)
    caller = dee()

    first = caller.get("jobs", limit=10).json()

    assert 0 < len(first["results"]) < 10
    assert first["next"] is not None
    assert len(every_page(caller, "jobs", limit=10)) == 10


def test_finance_asks_for_a_team_and_for_how_an_id_begins() -> None:
    fin, _ = signed_in("fin@example.org", "finance", name="Fin")

    assert len(every_page(fin, "jobs", limit=8)) == 21
    assert {r["raw_id"][0] for r in every_page(fin, "jobs", team="Hush", limit=3)} == {"2"}
    assert [r["raw_id"] for r in every_page(fin, "jobs", raw_id="3")] == ["30"]
    assert every_page(fin, "jobs", raw_id="3")[0]["team"] is None


def test_jobs_are_asked_for_by_when_they_lived() -> None:
    fin, _ = signed_in("fin@example.org", "finance", name="Fin")
    end = scene.TEN + scene.HOUR

    assert every_page(fin, "jobs", since=end.isoformat()) == []
    assert len(every_page(fin, "jobs", since=(end - timedelta(minutes=1)).isoformat())) == 21
    assert every_page(fin, "jobs", until=scene.TEN.isoformat()) == []


def test_a_job_says_what_it_held_and_whose_it_is() -> None:
    told = dee().get(f"jobs/{Job.objects.get(raw_id='10').id}").json()

    assert told["team"]["name"] == "Research"
    assert [(held["gpus"], held["gpus_exact"]) for held in told["allocations"]] == [(8.0, "8")]
    assert told["allocations"][0]["starts_at"] == "2026-03-02T10:00:00Z"


def test_of_others_allocations_a_lead_reads_where_and_when_alone() -> None:
    caller = dee()

    rows = every_page(caller, "allocations", limit=6)

    others = [row for row in rows if row["team"]["name"] == "another team"]
    assert len(rows) == 21
    assert len(others) == 11
    assert {row["job"] for row in others} == {None}
    hidden = Job.objects.get(raw_id="20").id
    assert caller.get("allocations", job_id=hidden).json()["results"] == []
    assert len(caller.get("allocations", job_id=Job.objects.get(raw_id="10").id).json()) == 3


def test_a_workload_of_another_team_is_as_if_there_were_none() -> None:
    hush, research = (Team.objects.get(name=name).id for name in ("Hush", "Research"))
    hidden = add_workload(name="moonshot", team_id=hush)
    add_workload(name="vision", team_id=research)
    caller = dee()

    assert [row["name"] for row in every_page(caller, "workloads")] == ["vision"]
    assert every_page(caller, "workloads", team="Hush") == []
    refusals = [caller.get(f"workloads/{id_}") for id_ in (hidden, 999_999)]
    assert [each.status_code for each in refusals] == [404, 404]
    hushed, nobodys = (each.json()["detail"] for each in refusals)
    assert hushed == nobodys.replace("999999", str(hidden))


def test_adding_the_same_workload_or_rule_again_changes_nothing() -> None:
    platform = with_token("manage")
    workload = {"name": "vision", "team": "Research", "kind": "serving"}
    rule = {"priority": 5, "team": "Research", "workload": "vision", "user": "ada"}

    assert [platform.post("workloads", workload).status_code for _ in range(2)] == [201, 200]
    assert platform.post("workloads", workload | {"kind": "batch"}).status_code == 409
    made, again = (platform.post("ownership-rules", rule) for _ in range(2))
    assert [made.status_code, again.status_code] == [201, 200]
    assert made.json() == again.json()
    assert OwnershipRule.objects.filter(user="ada").count() == 1


def test_a_rule_names_what_it_does_not_know() -> None:
    platform = with_token("manage")

    def fault(**changed: Any) -> list[dict[str, Any]]:
        answer = platform.post("ownership-rules", {"priority": 5, "team": "Research"} | changed)
        assert answer.status_code == 400
        return list(answer.json()["errors"])

    assert fault(team="Nobody")[0]["field"] == "team"
    assert fault(workload="none")[0]["field"] == "workload"
    assert fault(cluster="none")[0]["field"] == "cluster"
    reversed_ = {"starts_at": "2026-03-03T00:00:00Z", "ends_at": "2026-03-02T00:00:00Z"}
    assert fault(**reversed_)[0]["field"] == "ends_at"


def test_a_rule_ends_once_and_leads_read_only_their_own() -> None:
    platform, caller = with_token("manage"), dee()
    hush = OwnershipRule.objects.get(account="secret").id
    end = {"ended_at": "2026-03-02T10:30:00Z"}

    first, again = (platform.post(f"ownership-rules/{hush}/end", end) for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert [row["account"] for row in every_page(caller, "ownership-rules")] == ["research"]
    assert caller.get(f"ownership-rules/{hush}").status_code == 404
    assert caller.post(f"ownership-rules/{hush}/end", end).status_code == 403


def test_whose_a_job_was_is_judged_by_the_rules_of_its_day() -> None:
    platform = with_token("manage")
    rule_id = OwnershipRule.objects.get(account="research").id
    platform.post(f"ownership-rules/{rule_id}/end", {"ended_at": "2026-03-02T10:00:00Z"})

    assert every_page(dee(), "jobs") == []
