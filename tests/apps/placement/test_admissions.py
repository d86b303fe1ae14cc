"""A job asks admission: budgets and quotas, soft and hard, say allow, warn or deny; an override has a name."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.utils import timezone

from apps.accounts.models import Team
from apps.fleet.models import Pool
from apps.placement.actions import make_offer_book
from apps.placement.models import JobAdmission
from apps.planning.actions import EnteredBudget, EnteredGpuQuota, add_budget, add_gpu_quota
from apps.planning.queries.budgets import BudgetStep
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
JOB: dict[str, Any] = {"team": "Speech", "gpus": 8, "hours": 48, "pool": "rented"}
COST = "2641.920000"
"""48 h of 8 GPUs at 55.04 for the node."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def caller() -> Caller:
    """A scheduler's token; a pool on demand without nodes and a reserved one, priced; a team below another that spent a little."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    make.make_pool("rented", cluster_id=cluster_id)
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id)
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    research = make.make_team("Research")
    make.make_team("Speech", parent_id=research)
    make.make_team("Vision")
    make_offer_book(at=AT)
    return with_token("read", "manage", name="slurm")


def team_of(name: str) -> str:
    return str(Team.objects.get(name=name).pk)


def limit(
    amount: str,
    *,
    name: str = "all",
    scope: str = "organisation",
    key: str = "",
    measure: str = "money",
    is_hard: bool = False,
) -> int:
    first = AT.date().replace(day=1)
    steps = (BudgetStep(first, Decimal(amount)),)
    budget = EnteredBudget(
        name, scope, key, measure, "monthly", first, None, steps, is_hard=is_hard
    )
    return add_budget(budget=budget, at=AT)


def quota(most: int, *, is_hard: bool = False) -> None:
    given = EnteredGpuQuota("aws", "us-east-1", "", most, 14, is_hard=is_hard)
    add_gpu_quota(quota=given, at=AT)


def spend() -> None:
    """Four hours of a node, half of it held by a job, charged."""
    node_id = scene.make_priced_node("gpu-09")
    scene.make_job("1", node_id, gpus=4, to=scene.TEN + timedelta(hours=4))
    scene.settle(at=AT + timedelta(days=1), ends_at=AT)


def asked(caller: Caller, status: int = 201, **instead: Any) -> Any:
    answer = caller.post("admissions", JOB | instead)
    assert answer.status_code == status, answer.content
    return answer.json()


def standings(answer: Any) -> dict[str, tuple[str, str]]:
    return {each["name"]: (each["standing"], each["verdict"]) for each in answer["limits"]}


def test_without_a_limit_it_is_allowed_and_says_that_there_is_none(caller: Caller) -> None:
    answer = asked(caller)

    assert (answer["verdict"], answer["is_admitted"], answer["limits"]) == ("allow", True, [])
    assert (answer["cost"]["amount"], answer["gpu_hours"]) == (COST, 384.0)
    assert answer["reasons"] == [
        "no quota was entered of this place",
        "no running budget is of its team, workload or the organisation",
    ]


@pytest.mark.parametrize(("is_hard", "verdict"), [(False, "warn"), (True, "deny")])
@pytest.mark.parametrize(("measure", "amount"), [("money", "2641.91"), ("gpu_hours", "383.9")])
def test_what_exceeds_a_budget_is_warned_of_or_denied(
    caller: Caller, measure: str, amount: str, is_hard: bool, verdict: str
) -> None:
    limit(amount, measure=measure, is_hard=is_hard)

    answer = asked(caller)

    assert answer["verdict"] == verdict
    assert standings(answer) == {"all": ("over", verdict)}


def test_what_is_expected_of_the_period_is_not_known_and_said(caller: Caller) -> None:
    limit("2641.92", is_hard=True)

    answer = asked(caller)

    (only,) = answer["limits"]
    assert (answer["verdict"], only["standing"]) == ("warn", "unknown")
    assert (only["needed"], only["left_now"], only["left_expected"]) == (COST, "2641.920000", None)
    assert only["reason"] == "what is expected of the rest of its period is not known"


def test_a_hard_limit_denies_by_what_came_and_warns_of_what_is_expected(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run rate of one day, from the next day on."""
    spend()
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(days=1))
    limit("1000000", name="wide", is_hard=True)
    (wide,) = asked(caller)["limits"]
    spent = Decimal(1_000_000) - Decimal(wide["left_now"])
    expected = Decimal(wide["left_now"]) - Decimal(wide["left_expected"])
    assert (spent > 0, expected > 1, wide["verdict"]) == (True, True, "allow")

    enough_now = spent + Decimal(COST)
    limit(str(enough_now), name="tight", is_hard=True)
    limit(str(enough_now + expected), name="just", is_hard=True)
    answer = asked(caller)
    assert (answer["verdict"], answer["limits"][0]["name"]) == ("warn", "tight")
    assert standings(answer) == {
        "wide": ("fits", "allow"),
        "just": ("fits", "allow"),
        "tight": ("expected_over", "warn"),
    }
    limit(str(enough_now - 1), name="over", is_hard=True)
    assert asked(caller)["verdict"] == "deny"


def test_budgets_of_the_team_those_above_and_all_count_and_no_other(caller: Caller) -> None:
    for name in ("Research", "Speech", "Vision"):
        limit("10", name=name, scope="team", key=team_of(name))
    limit("10")

    assert set(standings(asked(caller))) == {"Research", "Speech", "all"}


def test_a_cost_that_is_not_known_is_no_room(caller: Caller) -> None:
    limit("1000000", is_hard=True)

    answer = asked(caller, hours=None)

    assert (answer["verdict"], answer["cost"]) == ("warn", None)
    assert answer["limits"][0]["reason"] == "what the job needs of it is not known"
    assert answer["cost_from"] == "not known: neither GPU-hours nor hours were said"


def test_the_askers_estimate_goes_before_the_book(caller: Caller) -> None:
    answer = asked(caller, estimated_cost="12.5")

    assert (answer["cost"]["amount"], answer["cost_from"]) == (
        "12.500000",
        "the estimate of who asks",
    )


def test_a_model_is_priced_by_its_cheapest_offer_with_room(caller: Caller) -> None:
    few = asked(caller, pool="", gpu_model="H100")
    many = asked(caller, pool="", gpu_model="H100", gpus=16, hours=24)

    assert few["cost"]["amount"] == "1440.000000"
    assert "of kept," in few["cost_from"]
    assert many["cost"]["amount"] == COST
    assert asked(caller, pool="", gpu_model="L4")["cost"] is None


@pytest.mark.parametrize(
    ("most", "is_hard", "verdict"), [(16, True, "allow"), (15, False, "warn"), (15, True, "deny")]
)
def test_quotas_of_its_place_leave_room_or_not(
    caller: Caller, most: int, is_hard: bool, verdict: str
) -> None:
    """Eight GPUs of the reserved pool count against it already."""
    quota(most, is_hard=is_hard)

    assert asked(caller)["verdict"] == verdict
    assert asked(caller, pool="kept")["verdict"] == "allow"
    placed = asked(caller, pool="", gpu_model="H100", provider="aws", region="us-east-1")
    assert placed["verdict"] == verdict
    assert (
        "no provider was said: no quota is held against it"
        in (asked(caller, pool="", gpu_model="H100")["reasons"])
    )


def test_idle_gpus_of_its_pool_need_no_quota(caller: Caller) -> None:
    pool = Pool.objects.get(name="rented")
    make.make_node("gpu-02", pool_id=pool.pk, cluster_id=pool.cluster_id)
    quota(16, is_hard=True)

    answer = asked(caller)

    assert answer["verdict"] == "allow"
    assert "8 GPUs of the pool are idle and need no quota" in answer["reasons"]
    assert asked(caller, gpus=9)["verdict"] == "deny"


def test_the_digest_is_of_the_job_and_of_its_limits(caller: Caller) -> None:
    first, again = asked(caller), asked(caller)
    assert first["digest"] == again["digest"]
    limit("10")
    assert asked(caller)["digest"] != first["digest"]


def test_an_override_says_who_when_and_why_and_only_once(caller: Caller) -> None:
    limit("10", is_hard=True)
    denied = asked(caller)
    finance, person_id = signed_in("fin@example.org", "finance", name="Fin")
    reason = {"reason": "The paper is due on Friday"}

    told = finance.post(f"admissions/{denied['id']}/override", reason).json()

    assert (told["verdict"], told["is_admitted"]) == ("deny", True)
    assert (told["overridden_by"], told["override_reason"]) == ("Fin", reason["reason"])
    assert finance.post(f"admissions/{denied['id']}/override", reason).status_code == 409
    (event,) = apps.get_model("placement", "JobAdmissionEvent").objects.all()
    assert (event.override_reason, event.overridden_by_id) == (reason["reason"], person_id)


def test_what_was_not_denied_cannot_be_overridden_nor_without_a_reason(caller: Caller) -> None:
    allowed = asked(caller)
    assert caller.post(f"admissions/{allowed['id']}/override", {"reason": "so"}).status_code == 409
    assert caller.post(f"admissions/{allowed['id']}/override", {"reason": " "}).status_code == 400


def test_leads_neither_ask_nor_override_nor_read(caller: Caller) -> None:
    limit("10", is_hard=True)
    denied = asked(caller)
    person, _ = signed_in("eng@example.org", "lead")

    assert person.post("admissions", JOB).status_code == 403
    assert person.post(f"admissions/{denied['id']}/override", {"reason": "so"}).status_code == 403
    assert person.get("admissions").status_code == 403


@pytest.mark.parametrize(
    ("instead", "field"),
    [
        ({"team": "Nobody"}, "team"),
        ({"pool": "moon"}, "pool"),
        ({"pool": ""}, "pool"),
        ({"gpu_model": "H100"}, "pool"),
        ({"workload": "none"}, "workload"),
        ({"gpu_hours": 4}, "hours"),
    ],
)
def test_what_is_wrong_is_named(caller: Caller, instead: dict[str, Any], field: str) -> None:
    assert field in str(asked(caller, 400, **instead))


def test_the_log_is_read_newest_first_as_csv_too(caller: Caller) -> None:
    first, second = asked(caller), asked(caller, gpus=16)

    listed = caller.get("admissions").json()["results"]
    assert [each["id"] for each in listed] == [second["id"], first["id"]]
    assert caller.get(f"admissions/{first['id']}").json() == first
    text = caller.get("admissions", accept="text/csv").content.decode()
    assert "verdict" in text.splitlines()[0]
    assert len(text.splitlines()) == 3


def test_the_log_is_narrowed_as_its_page_is(caller: Caller) -> None:
    research = Team.objects.get(name="Research")
    make.make_team("Evaluation", parent_id=research.pk)
    early = asked(caller)
    JobAdmission.objects.update(asked_at=AT - timedelta(days=20))
    limit_id = limit("1")
    below = asked(caller, team="Evaluation")
    kept = asked(caller)
    named = f"budget:{limit_id}"

    def listed(**narrowed: str) -> list[int]:
        answer = caller.get("admissions", **narrowed)
        assert answer.status_code == 200, answer.content
        return [each["id"] for each in answer.json()["results"]]

    assert listed() == [kept["id"], below["id"], early["id"]]
    assert listed(window="7d") == [kept["id"], below["id"]]
    assert listed(answer="warn", held_against=named) == [kept["id"], below["id"]]
    assert listed(held_against=named, window="30d", team="Evaluation") == [below["id"]]
    assert listed(team="Research", answer="allow") == [early["id"]]
    assert listed(team="Research", limit="1") == [kept["id"]]
    for wrong in (
        {"window": "soon"},
        {"answer": "no"},
        {"team": "X"},
        {"held_against": "budget:0"},
    ):
        refused = caller.get("admissions", **wrong)
        assert refused.status_code == 400
        assert [each["field"] for each in refused.json()["errors"]] == list(wrong)
