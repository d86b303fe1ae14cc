"""Who asks quotes and admissions: schedulers and teams with the least token, each of what is theirs, and nobody more."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.accounts.models import AccessToken, Membership
from apps.accounts.queries import teams as every_team
from apps.fleet.actions import bind_cluster_token
from apps.fleet.queries import cluster_of_token, clusters
from apps.placement.actions import make_offer_book, make_quote
from apps.placement.models import JobAdmission, JobQuote
from apps.placement.queries.quote_request import QuoteRequest, RequestedWork
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from tests import make
from tests.apps.placement.test_quotes_together import environ_of, in_group
from tests.apps.unit_economics.planted_runs import plant_run
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
QUOTE: dict[str, Any] = {"gpus": 8, "work": {"gpu_hours": 384}, "team": "Speech"}
JOB: dict[str, Any] = {"team": "Speech", "gpus": 8, "hours": 2, "pool": "kept"}
SECRETS = ("Vision", "vision-run", "All of us", "Vision, monthly", "Order form", "curlew")


@pytest.fixture
def teams(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Speech and Vision, a budget each and one of all, and pools of two clusters."""
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    ids = {name: make.make_team(name) for name in ("Speech", "Vision")}
    for cluster, pool in (("atlas", "kept"), ("borea", "rented")):
        cluster_id = make.make_cluster(cluster)
        pool_id = make.make_pool(pool, cluster_id=cluster_id)
        make.make_node(f"gpu-{pool}", pool_id=pool_id, cluster_id=cluster_id)
    make.make_rate("55.04", source="Order form 114")
    for name, scope, key in (
        ("All of us", "organisation", ""),
        ("Speech, monthly", "team", str(ids["Speech"])),
        ("Vision, monthly", "team", str(ids["Vision"])),
    ):
        steps = (BudgetStep(AT.date().replace(day=1), Decimal(1)),)
        budget = EnteredBudget(
            name, scope, key, "money", "monthly", steps[0].from_day, None, steps, is_hard=True
        )
        add_budget(budget=budget, at=AT)
    make_offer_book(at=AT)
    return ids


def of_team(teams: dict[str, int], name: str, *scopes: str) -> Caller:
    return with_token(*scopes, team_id=teams[name], name=f"{name}'s {scopes}")


def of_cluster(name: str) -> Caller:
    token = make.make_token("schedule", name=f"scheduler of {name}")
    (cluster_id,) = [each.id for each in clusters().values() if each.name == name]
    bind_cluster_token(token_id=token.id, cluster_id=cluster_id)
    return Caller(token.secret)


def asked_of(team: str, like_run: int | None = None) -> int:
    """A quote that finance asked, of which everything is shown."""
    ids = {each.name: each.id for each in every_team()}
    work = RequestedWork(gpu_hours=384) if like_run is None else RequestedWork(like_run=like_run)
    asked = QuoteRequest(gpus=8, work=work, team_id=ids[team])
    return make_quote(question=asked, team_ids=None, by=None, at=AT).id


def secrets_in(answer: Any) -> list[str]:
    text = json.dumps(answer.json())
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize("scopes", [("schedule",), ("read",), ("read", "manage")])
def test_a_teams_own_token_asks_for_its_jobs_alone(
    teams: dict[str, int], scopes: tuple[str, ...]
) -> None:
    caller = of_team(teams, "Speech", *scopes)
    quote = caller.post("quotes", QUOTE)
    assert quote.status_code == 201
    assert len(quote.json()["offers"]) > 1
    assert all(offer["cost"] for offer in quote.json()["offers"])
    assert secrets_in(quote) == []
    assert [each["name"] for each in quote.json()["budgets"]] == ["Speech, monthly"]
    admission = caller.post("admissions", JOB)
    assert (admission.status_code, admission.json()["verdict"]) == (201, "deny")
    assert [each["name"] for each in admission.json()["limits"]] == ["Speech, monthly"]
    assert "a limit that is not this caller's to see: deny" in admission.json()["reasons"]
    assert secrets_in(admission) == []

    for path, body in (("quotes", QUOTE), ("admissions", JOB)):
        refused = caller.post(path, body | {"team": "Vision"})
        nobody = caller.post(path, body | {"team": "Nobodies"})
        assert refused.status_code == nobody.status_code == 400
        assert refused.content.replace(b"Vision", b"Nobodies") == nobody.content
    assert set(JobQuote.objects.values_list("team__name", flat=True)) == {"Speech"}
    assert set(JobAdmission.objects.values_list("team__name", flat=True)) == {"Speech"}


def test_a_job_of_no_named_team_is_the_tokens_teams(teams: dict[str, int]) -> None:
    caller = of_team(teams, "Speech", "schedule")
    answer = caller.post("quotes", {name: QUOTE[name] for name in ("gpus", "work")})
    assert answer.json()["team"] == "Speech"


def test_a_team_reads_its_own_and_of_others_nothing(teams: dict[str, int]) -> None:
    vision_run = plant_run("vision-run", team_id=teams["Vision"], began_at=AT - timedelta(hours=9))
    own, others = asked_of("Speech"), asked_of("Vision")
    like_theirs = JobQuote.objects.get(pk=own)
    like_theirs.job["work"]["like_run"] = vision_run
    like_theirs.answer["work"] = "as the run vision-run: 9.0 GPU-hours"
    like_theirs.save()
    with_token("manage").post("admissions", JOB | {"team": "Vision"})
    caller = of_team(teams, "Speech", "schedule")
    mine = caller.post("admissions", JOB).json()["id"]

    assert [row["id"] for row in caller.get("quotes").json()["results"]] == [own]
    assert secrets_in(caller.get("quotes")) == secrets_in(caller.get(f"quotes/{own}")) == []
    assert caller.get(f"quotes/{own}").json()["work"] == "as a run of another team"
    assert [row["id"] for row in caller.get("admissions").json()["results"]] == [mine]
    other_admission = JobAdmission.objects.get(team__name="Vision").pk
    for path in (f"quotes/{others}", f"admissions/{other_admission}"):
        assert caller.get(path).status_code == 404
    filtered = {"team": "Vision"}, {"held_against": "budget:1"}, {"held_against": "budget:3"}
    for query in filtered:
        answer = caller.get("admissions", **query)
        assert answer.status_code == 400
        assert secrets_in(answer) == (["Vision"] if "team" in query else [])
    assert caller.post(f"quotes/{others}/taken", {"offer": "pool:1", "job": 1}).status_code == 404
    like = QUOTE | {"work": {"like_run": vision_run}}
    missing = QUOTE | {"work": {"like_run": vision_run + 999}}
    assert caller.post("quotes", like).status_code == 400
    assert "vision-run" not in caller.post("quotes", like).content.decode()
    assert caller.post("quotes", missing).status_code == 400


def test_a_team_takes_offers_by_its_own_runs(teams: dict[str, int]) -> None:
    caller = of_team(teams, "Speech", "schedule")
    quote = caller.post("quotes", QUOTE).json()
    began = {"began_at": AT - timedelta(hours=9)}
    theirs = plant_run("vision-run", team_id=teams["Vision"], **began)
    own = plant_run("speech-run", team_id=teams["Speech"], **began)
    path, offer = f"quotes/{quote['id']}/taken", quote["offers"][0]["key"]

    refused = caller.post(path, {"offer": offer, "run": theirs})
    nobody = caller.post(path, {"offer": offer, "run": 99_999})
    assert refused.status_code == nobody.status_code == 400
    assert refused.content.replace(str(theirs).encode(), b"99999") == nobody.content
    taken = caller.post(path, {"offer": offer, "run": own})
    assert (taken.status_code, taken.json()["outcome"]["run"]) == (200, own)


def test_a_scheduler_asks_for_every_team_and_manages_nothing(teams: dict[str, int]) -> None:
    caller = with_token("schedule")
    assert caller.post("quotes", QUOTE).status_code == 201
    assert caller.post("quotes", QUOTE | {"team": "Vision"}).status_code == 201
    admission = caller.post("admissions", JOB)
    assert (admission.status_code, admission.json()["verdict"]) == (201, "deny")
    for path in (
        "quotes", "admissions", "offers", "egress-prices", "quotes/calibration", "spot-evidence",
        "placements/slurm-cache?cluster=atlas", "placements/slurm-weights?cluster=atlas",
        "schedulers/ray",
    ):  # fmt: skip
        assert caller.get(path).status_code == 200, path

    override = caller.post(f"admissions/{admission.json()['id']}/override", {"reason": "mine"})
    assert override.status_code == 403
    for path in ("budgets", "rates", "teams", "gpu-quotas", "costs", "jobs", "tokens", "runs"):
        assert caller.get(path).status_code == 403, path
    for path in ("budgets", "rates", "teams", "gpu-quotas", "pools", "tokens"):
        assert caller.post(path, {}).status_code == 403, path


def test_nobody_who_asks_overrides(teams: dict[str, int]) -> None:
    denied = with_token("schedule").post("admissions", JOB).json()["id"]
    for caller in (
        with_token("schedule"),
        of_team(teams, "Speech", "schedule"),
        of_team(teams, "Speech", "read", "manage"),
        with_token("read"),
    ):
        answer = caller.post(f"admissions/{denied}/override", {"reason": "mine"})
        assert answer.status_code == 403
    assert not JobAdmission.objects.exclude(overridden_at=None).exists()
    assert (
        with_token("manage")
        .post(f"admissions/{denied}/override", {"reason": "the paper"})
        .json()["is_admitted"]
    )


def test_a_scheduler_of_one_cluster_sees_its_pools_alone(teams: dict[str, int]) -> None:
    whole = asked_of("Vision")
    caller = of_cluster("atlas")
    quote = caller.post("quotes", QUOTE).json()
    assert [offer["name"] for offer in quote["offers"]] == ["kept"]
    assert [offer["name"] for offer in caller.get(f"quotes/{whole}").json()["offers"]] == ["kept"]
    assert [row["name"] for row in caller.get("offers").json()["results"]] == ["kept"]
    assert caller.post("admissions", JOB).status_code == 201
    for pool in ("rented", "nowhere"):
        answer = caller.post("admissions", JOB | {"pool": pool})
        assert answer.status_code == 400
        assert f"there is no pool named '{pool}'" in answer.content.decode()
    elsewhere = {name: JOB[name] for name in ("team", "gpus", "hours")} | {"gpu_model": "H100"}
    assert caller.post("admissions", elsewhere).status_code == 400
    for path in ("placements/slurm-cache", "placements/slurm-weights", "schedulers/ray"):
        assert caller.get(path, cluster="atlas").status_code == 200, path
        assert caller.get(path, cluster="borea").status_code == 403, path
    rented = with_token("manage").post("admissions", JOB | {"pool": "rented"}).json()["id"]
    assert caller.get(f"admissions/{rented}").status_code == 404
    assert {row["pool"] for row in caller.get("admissions").json()["results"]} == {"kept"}


def test_ada_ben_cy_and_dee_ask_with_no_session(teams: dict[str, int]) -> None:
    """People ask on the page of placement; asking by REST is of finance, platform and machines."""
    people = {}
    for name, role in (("ada", "lead"), ("ben", "viewer"), ("cy", "viewer"), ("dee", "lead")):
        people[name], person_id = signed_in(f"{name}@example.org", role, name=name)
        team = {"ada": "Speech", "ben": "Speech", "dee": "Vision"}.get(name)
        if team:
            Membership.objects.create(team_id=teams[team], user_id=person_id)
    quote_id = asked_of("Speech")
    admission_id = with_token("manage").post("admissions", JOB).json()["id"]
    for name, caller in people.items():
        for path in (
            "quotes", f"quotes/{quote_id}", "quotes/calibration", "admissions", "offers",
            f"admissions/{admission_id}", "placements/slurm-cache?cluster=atlas", "schedulers/kueue",
        ):  # fmt: skip
            assert caller.get(path).status_code == 403, (name, path)
        for path, body in (
            ("quotes", QUOTE),
            (f"quotes/{quote_id}/taken", {"offer": "pool:1", "job": 1}),
            ("admissions", JOB),
            (f"admissions/{admission_id}/override", {"reason": "mine"}),
        ):
            assert caller.post(path, body).status_code == 403, (name, path)


@pytest.mark.parametrize("scope", ["ingest", "jobs", "runs", "requests", "usage", "read"])
def test_other_tokens_ask_nothing(teams: dict[str, int], scope: str) -> None:
    caller = with_token(scope)
    assert caller.post("quotes", QUOTE).status_code == 403
    assert caller.post("admissions", JOB).status_code == 403


@pytest.mark.parametrize("scope", ["ingest", "jobs", "runs", "requests", "usage"])
def test_a_teams_token_of_another_purpose_asks_nothing(teams: dict[str, int], scope: str) -> None:
    caller = of_team(teams, "Speech", scope)
    assert caller.post("quotes", QUOTE).status_code == 403
    assert caller.get("quotes").status_code == 403
    assert caller.get("admissions").status_code == 403


def test_a_key_of_one_caller_answers_no_other(teams: dict[str, int]) -> None:
    speech, vision = of_team(teams, "Speech", "schedule"), of_team(teams, "Vision", "schedule")
    body = {name: QUOTE[name] for name in ("gpus", "work")}
    first = speech.post("quotes", body, Idempotency_Key="tonight").json()
    again = speech.post("quotes", body, Idempotency_Key="tonight").json()
    other = vision.post("quotes", body, Idempotency_Key="tonight").json()
    assert again["id"] == first["id"] != other["id"]
    assert (first["team"], other["team"]) == ("Speech", "Vision")


def test_those_that_come_together_are_answered_as_alone(teams: dict[str, int]) -> None:
    speech, atlas = of_team(teams, "Speech", "schedule"), of_cluster("atlas")
    bodies = [QUOTE, QUOTE | {"team": "Vision"}, QUOTE]
    callers = [speech, speech, atlas]
    together = in_group(
        *(environ_of(caller, body) for caller, body in zip(callers, bodies, strict=True))
    )
    alone = [caller.post("quotes", body) for caller, body in zip(callers, bodies, strict=True)]
    assert together[1] is None
    assert alone[1].status_code == 400
    for place in (0, 2):
        answer = json.loads(together[place].body)
        assert answer | {"id": 0} == alone[place].json() | {"id": 0}


def test_the_next_move_is_asked_of_ones_own_jobs(teams: dict[str, int]) -> None:
    assert with_token("schedule").post("placements/999999/next", {}).status_code == 404
    assert (
        of_team(teams, "Speech", "schedule").post("placements/999999/next", {}).status_code == 404
    )
    assert with_token("read").post("placements/999999/next", {}).status_code == 403


def test_a_token_of_a_cluster_is_made_to_schedule(teams: dict[str, int]) -> None:
    manager = with_token("manage", "read")
    (atlas,) = [row for row in manager.get("clusters").json()["results"] if row["name"] == "atlas"]
    path = f"clusters/{atlas['id']}/tokens"
    made = manager.post(path, {"name": "slurmctld", "scopes": ["schedule"]})
    assert made.status_code == 201
    caller = Caller(made.json()["secret"])
    assert caller.get("placements/slurm-cache", cluster="atlas").status_code == 200
    assert caller.get("placements/slurm-cache", cluster="borea").status_code == 403
    assert caller.post("jobs", {}).status_code == 403
    assert manager.post(path, {"name": "x", "scopes": ["manage"]}).status_code == 400
    assert manager.post(path, {"name": "of jobs"}).status_code == 201


def test_the_form_of_tokens_says_what_each_may_and_binds_to_a_cluster(
    teams: dict[str, int],
) -> None:
    petra, _ = signed_in("petra@example.org", "platform")
    page = petra.client.get("/people/tokens").content.decode()
    assert "schedule: ask quotes and admissions" in page
    (cluster_id,) = [each.id for each in clusters().values() if each.name == "borea"]
    form = {"name": "kueue", "scope": ["schedule"], "team": "", "days": "", "cluster": cluster_id}
    assert petra.client.post("/people/tokens/make", form).status_code == 200
    token = AccessToken.objects.get(name="kueue")
    assert cluster_of_token(token.pk) == cluster_id
    refused = petra.client.post("/people/tokens/make", form | {"name": "no", "scope": ["read"]})
    assert refused.status_code == 400
    assert not AccessToken.objects.filter(name="no").exists()


def test_a_quote_without_an_offer_is_read_by_the_cluster_that_asked_it(
    teams: dict[str, int],
) -> None:
    nowhere = QUOTE | {"gpu_models": ["AMD Instinct MI300X"]}
    atlas, borea, manages = of_cluster("atlas"), of_cluster("borea"), with_token("manage")
    asked = atlas.post("quotes", nowhere)
    assert (asked.status_code, asked.json()["offers"]) == (201, [])
    quote_id = asked.json()["id"]
    own, whole = atlas.get(f"quotes/{quote_id}"), manages.get(f"quotes/{quote_id}")
    assert (own.status_code, whole.status_code) == (200, 200)
    budgets = ("budgets",)
    assert {k: v for k, v in own.json().items() if k not in budgets} == {
        k: v for k, v in whole.json().items() if k not in budgets
    }
    assert [row["id"] for row in atlas.get("quotes").json()["results"]] == [quote_id]
    taken = atlas.post(f"quotes/{quote_id}/taken", {"offer": "pool:1", "job": 1})
    assert taken.status_code == 400
    # Another cluster's, and what was asked of everything and has no offer there, stays out of reach.
    assert borea.get(f"quotes/{quote_id}").status_code == 404
    assert borea.get("quotes").json()["results"] == []
    everywhere = manages.post("quotes", nowhere).json()["id"]
    assert atlas.get(f"quotes/{everywhere}").status_code == 404
