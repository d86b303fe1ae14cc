"""A Slurm controller's document: its cluster's prices, limits, owners, quotes and overrides, for its own tokens."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.accounts.models import Team
from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.fleet.models import Cluster, Pool
from apps.placement.actions import (
    make_offer_book,
    quotes,
    take_quotes_of_jobs,
    use_override,
    use_overrides_of_jobs,
)
from apps.placement.models import JobQuote
from apps.placement.queries import slurm_cache
from apps.planning.actions import EnteredBudget, EnteredGpuQuota, add_budget, add_gpu_quota
from apps.planning.queries.budgets import BudgetStep
from apps.workloads.actions.rules import add_rule
from apps.workloads.models import Job
from apps.workloads.queries import RuleFact
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
PATH = "placements/slurm-cache"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(autouse=True)
def _cluster() -> None:
    """Atlas: a rented pool with a price, and a team with a rule; Harbor is another cluster with a pool."""
    make.make_organisation()
    atlas = make.make_cluster()
    rented = make.make_pool("rented", cluster_id=atlas)
    make.make_pool("elsewhere", cluster_id=make.make_cluster("harbor"))
    make.make_node("gpu-01", pool_id=rented, cluster_id=atlas)
    make.make_rate("55.04")
    research = make.make_team("Research")
    make.make_team("Speech", parent_id=research)
    make_offer_book(at=AT)


def team_id(name: str) -> int:
    return Team.objects.get(name=name).pk


def budget(name: str, amount: str, *, scope: str = "team", key: str = "", **given: Any) -> int:
    first = AT.date().replace(day=1)
    steps = (BudgetStep(first, Decimal(amount)),)
    new = EnteredBudget(
        name, scope, key, given.pop("measure", "money"), "monthly", first, None, steps, **given
    )
    return add_budget(budget=new, at=AT)


def rule(team: str, **asked: Any) -> None:
    add_rule(rule=RuleFact(Rule(100, team_id(team), **asked), None, None), at=AT)


def cluster_token(name: str = "atlas") -> Caller:
    token = make.make_token("jobs", name=f"slurmctld of {name}")
    fleet.bind_cluster_token(token_id=token.id, cluster_id=Cluster.objects.get(name=name).pk)
    return Caller(token.secret)


def asked(caller: Caller, cluster: str = "atlas") -> Any:
    answer = caller.get(PATH, cluster=cluster)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_pools_of_the_cluster_have_what_the_ledger_charges_and_the_quotas_of_their_place() -> None:
    add_gpu_quota(quota=EnteredGpuQuota("aws", "us-east-1", "", 20, 14, is_hard=True), at=AT)
    node_id = Pool.objects.get(name="rented").nodes.get().pk
    scene.make_job("1", node_id, gpus=3, from_=AT - timedelta(hours=1), to=AT + timedelta(hours=1))
    Job.objects.update(partition="gpu")

    (pool,) = asked(cluster_token())["pools"]

    assert (pool["name"], pool["partitions"]) == ("rented", ["rented", "gpu"])
    assert (pool["option"], pool["gpu_type"]) == ("on_demand", "h100")
    assert pool["paid"] == {"amount": "6.880000", "currency": "USD"}
    assert pool["idle_gpus"] == 5
    assert pool["quotas"] == [{"name": "aws us-east-1", "is_hard": True, "left_gpus": 12}]


def test_rules_come_in_the_order_in_which_they_are_tried_with_the_budgets_that_count() -> None:
    whole = budget("all", "100000", scope="organisation", is_hard=True)
    research = budget("research", "500", key=str(team_id("Research")))
    speech = budget("speech", "20", key=str(team_id("Speech")), measure="gpu_hours")
    rule("Research", account="research")
    rule("Speech", account="research", user="ada")
    rule("Research", account="shared", label="RUNRATE_TEAM=research")
    rule("Speech", account="shared", name="asr-*")

    told = asked(cluster_token())

    assert [
        (each["account"], each["user"], each["name"], each["is_hidden"], each["team"])
        for each in told["owners"]
    ] == [
        ("research", "ada", "", False, "Speech"),
        ("shared", "", "", True, "Research"),
        ("shared", "", "asr-*", False, "Speech"),
        ("research", "", "", False, "Research"),
        ("", "", "", False, None),
    ]
    assert [sorted(each["limits"]) for each in told["owners"]] == [
        sorted([whole, research, speech]), sorted([whole, research]),
        sorted([whole, research, speech]), sorted([whole, research]), [whole],
    ]  # fmt: skip
    limits = {each["id"]: each for each in told["limits"]}
    assert (limits[whole]["is_hard"], limits[speech]["unit"]) == (True, "GPU-hours")
    assert (limits[speech]["left_now"], limits[research]["unit"]) == ("20.000000", "USD")


def test_a_quote_names_the_pool_of_its_best_offer_here() -> None:
    writer = with_token("read", "manage", name="writer")
    body = {"gpus": 8, "work": {"gpu_hours": 64}, "team": "Speech", "kind": "uninterrupted"}
    made = writer.post("quotes", body).json()
    keys = [each["name"] for each in made["offers"]]
    assert {"rented", "elsewhere"} <= set(keys)

    (here,) = asked(cluster_token())["quotes"]
    (there,) = asked(cluster_token("harbor"), "harbor")["quotes"]

    assert (here["id"], here["pool"], there["pool"]) == (made["id"], "rented", "elsewhere")
    assert (here["team"], here["gpus"]) == ("Speech", 8)
    assert here["charged"]["amount"] == "440.320000"
    assert {here["is_best"], there["is_best"]} == {True, False}


def test_quotes_of_other_clusters_push_none_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on the cluster's own: what a busier cluster was asked for takes nobody's place."""
    monkeypatch.setattr(slurm_cache, "MOST_QUOTES", 2)
    writer = with_token("read", "manage", name="writer")
    body = {"gpus": 8, "work": {"gpu_hours": 64}, "kind": "uninterrupted"}
    oldest, *_, newest = (writer.post("quotes", body).json()["id"] for _ in range(4))
    rented = Pool.objects.get(name="rented").pk
    JobQuote.objects.exclude(pk__in=(oldest, newest)).update(pool_ids=[rented + 1_000])

    assert [each["id"] for each in asked(cluster_token())["quotes"]] == [newest, oldest]


@pytest.mark.parametrize("option", ["rented", "elsewhere"])
def test_a_kept_quotes_pools_are_those_of_its_answer(option: str) -> None:
    """What a quote says of pools beside its answer is what the answer says."""
    writer = with_token("read", "manage", name="writer")
    body = {"gpus": 8, "work": {"gpu_hours": 64}, "kind": "uninterrupted"}
    kept = JobQuote.objects.get(pk=writer.post("quotes", body).json()["id"])
    pool_id = Pool.objects.get(name=option).pk

    (said,) = (each for each in kept.pool_offers if each["pool_id"] == pool_id)
    offer = kept.answer["offers"][said["place"]]
    assert (offer["key"], offer["name"]) == (f"pool:{pool_id}", option)
    assert said["charged_micros"] == offer["charged_micros"]
    assert kept.pool_ids == [each["pool_id"] for each in kept.pool_offers]


def test_an_override_is_told_until_a_job_used_it() -> None:
    writer = with_token("read", "manage", name="writer")
    budget("speech", "1", key=str(team_id("Speech")), is_hard=True)
    job = {"team": "Speech", "gpus": 4, "hours": 2, "pool": "rented"}
    denied, other = (writer.post("admissions", job).json()["id"] for _ in range(2))
    assert asked(cluster_token())["overrides"] == []
    for each in (denied, other):
        writer.post(f"admissions/{each}/override", {"reason": "due on Friday"})

    both = asked(cluster_token())["overrides"]
    node_id = Pool.objects.get(name="rented").nodes.get().pk
    scene.make_job(
        "9",
        node_id,
        from_=AT,
        to=AT + timedelta(hours=1),
        labels={"RUNRATE_ADMISSION": str(denied)},
    )

    assert {each["admission"] for each in both} == {denied, other}
    assert both[0] == {
        "admission": other, "team": "Speech", "gpus": 4, "gpu_hours": 8.0, "overridden_by": "writer",
    }  # fmt: skip
    assert [each["admission"] for each in asked(cluster_token())["overrides"]] == [other]
    assert [use_overrides_of_jobs(at=AT) for _ in range(2)] == [1, 0]
    told = writer.get(f"admissions/{denied}").json()
    assert (told["used_by"], told["used_at"]) == (
        f"job:{Job.objects.get().pk}",
        "2026-03-02T14:00:00Z",
    )
    assert use_override(admission_id=other, by="task:4c", at=AT)
    assert asked(cluster_token())["overrides"] == []
    assert asked(cluster_token("harbor"), "harbor")["overrides"] == []


def test_what_did_not_change_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = cluster_token()
    first = caller.get(PATH, cluster="atlas")
    etag = first.headers["ETag"]
    assert etag == f'"{first.json()["digest"]}"'
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(minutes=1))
    headers = caller.headers | {"If-None-Match": etag}

    again = caller.client.get(f"/api/v1/{PATH}", {"cluster": "atlas"}, headers=headers)
    budget("all", "5", scope="organisation")
    changed = caller.client.get(f"/api/v1/{PATH}", {"cluster": "atlas"}, headers=headers)

    assert (again.status_code, again.content) == (304, b"")
    assert changed.status_code == 200
    assert len(changed.json()["limits"]) == 1


def test_only_the_clusters_own_token_and_who_sees_prices_may_ask() -> None:
    free = with_token("jobs", name="of no cluster")
    lead, _ = signed_in("lead@example.org", "lead")
    finance, _ = signed_in("finance@example.org", "finance")
    agent = make.make_token("ingest", "jobs", name="a node's")
    fleet.bind_cluster_token(token_id=agent.id, cluster_id=Cluster.objects.get(name="atlas").pk)
    node_id = Pool.objects.get(name="rented").nodes.get().pk
    make.make_agent(node_id=node_id, token_id=agent.id)

    def status(caller: Caller, cluster: str = "atlas") -> int:
        return int(caller.get(PATH, cluster=cluster).status_code)

    assert [status(each) for each in (free, lead, Caller(agent.secret))] == [403, 403, 403]
    assert [status(each) for each in (cluster_token(), finance)] == [200, 200]
    assert status(with_token("read", name="organisation"), "harbor") == 200
    assert [status(cluster_token(), name) for name in ("harbor", "nowhere")] == [403, 403]
    assert status(finance, "nowhere") == 400
    assert finance.get(PATH).status_code == 400


@pytest.mark.parametrize(("team", "taken"), [("Research", 1), ("Speech", 0)])
def test_a_quote_is_taken_by_the_first_job_that_names_it_where_its_team_is_the_jobs(
    team: str, taken: int
) -> None:
    writer = with_token("read", "manage", name="writer")
    body = {"gpus": 8, "work": {"gpu_hours": 64}, "team": team, "kind": "uninterrupted"}
    made = writer.post("quotes", body).json()
    rule("Research", account="research")
    node_id = Pool.objects.get(name="rented").nodes.get().pk
    labels = {"RUNRATE_QUOTE": str(made["id"])}
    hour = timedelta(hours=1)
    scene.make_job("2", node_id, from_=AT + hour, to=AT + 2 * hour, labels=labels)
    scene.make_job("1", node_id, from_=AT, to=AT + hour, labels=labels)

    done = [take_quotes_of_jobs(at=AT + 3 * hour) for _ in range(2)]

    assert done == [taken, 0]
    outcome = writer.get(f"quotes/{made['id']}").json()["outcome"]
    first = Job.objects.get(raw_id="1").pk
    assert (outcome and outcome["job"]) == (first if taken else None)
    assert [each["id"] for each in asked(cluster_token())["quotes"]] == [made["id"]][taken:]


def test_quotes_are_taken_from_the_jobs_that_name_them_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    """Of quotes that no job names nothing is read, and what is no number of a quote takes none."""
    monkeypatch.setattr(quotes, "MOST_LABELS", 2)
    writer = with_token("read", "manage", name="writer")
    body = {"gpus": 8, "work": {"gpu_hours": 64}, "kind": "uninterrupted"}
    made = [writer.post("quotes", body).json()["id"] for _ in range(4)]
    hour = timedelta(hours=1)
    with django_assert_max_num_queries(1):
        assert take_quotes_of_jobs(at=AT + hour) == 0
    node_id = Pool.objects.get(name="rented").nodes.get().pk
    named = [*map(str, made[:3]), "seven", "9" * 30, f"0{made[3]}", str(made[0])]
    for number, value in enumerate(named):
        labels = {"RUNRATE_QUOTE": value}
        scene.make_job(str(number), node_id, from_=AT, to=AT + hour, labels=labels)

    assert take_quotes_of_jobs(at=AT + hour) == 3

    taken = JobQuote.objects.exclude(chosen="").order_by("id").values_list("id", flat=True)
    assert list(taken) == made[:3]
