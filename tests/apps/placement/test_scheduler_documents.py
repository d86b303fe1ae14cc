"""What Kueue, Karpenter and Ray are given: as published schemas want it, the cheapest first, the unknown said."""

import io
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone
from jsonschema import Draft202012Validator

from apps.accounts.models import Team
from apps.placement.actions import make_offer_book
from apps.placement.models import OfferBook
from apps.planning.actions import EnteredBudget, EnteredGpuQuota, add_budget, add_gpu_quota
from apps.planning.queries.budgets import BudgetStep
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
PUBLISHED = Path(__file__).with_name("published")


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(autouse=True)
def _fleet() -> None:
    """Two idle reserved nodes, pools on demand and on spot under a quota of 64, one without a rate, one without a bound."""
    make.make_organisation()
    prod, lab = make.make_cluster("prod"), make.make_cluster("lab")
    kept = make.make_pool("Kept (2026)", cluster_id=prod, purchase_option="reserved")
    make.make_pool("rented", cluster_id=prod)
    make.make_pool("Taken away", cluster_id=prod, purchase_option="spot")
    make.make_pool("far", cluster_id=lab, region="eu-north-1")
    make.make_pool("small", cluster_id=prod, instance_type="g6.48xlarge", gpu_model="NVIDIA L4")
    for name in ("gpu-01", "gpu-02"):
        make.make_node(name, pool_id=kept, cluster_id=prod)
    make.make_rate("55.04")
    make.make_rate("58.00", region="eu-north-1")
    make.make_rate("20.00", purchase_option="spot")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    add_gpu_quota(quota=EnteredGpuQuota("aws", "us-east-1", "", 64, 14), at=AT)
    for name, amount in (("Vision", 9_000), ("Speech", 3_000), ("Ads", None)):
        team_id = make.make_team(name)
        if amount:
            first = AT.date().replace(day=1)
            steps = (BudgetStep(first, Decimal(amount)),)
            add_budget(
                budget=EnteredBudget(
                    name, "team", str(team_id), "money", "monthly", first, None, steps
                ),
                at=AT,
            )
    make_offer_book(at=AT)


def given(scheduler: str, *more: str) -> Any:
    out = io.StringIO()
    call_command("scheduler_documents", scheduler, "--json", *more, stdout=out)
    return json.loads(out.getvalue())


def of_kind(told: Any, kind: str) -> dict[str, Any]:
    return {
        each["metadata"]["name"]: each["spec"] for each in told["documents"] if each["kind"] == kind
    }


def published(name: str) -> Any:
    return json.loads((PUBLISHED / f"{name}.json").read_text())


@pytest.mark.parametrize(
    ("scheduler", "schemas"),
    [
        ("kueue", "kueue_v1beta2"),
        ("karpenter", "karpenter_v1"),
        ("karpenter-overlays", "karpenter_v1"),
    ],
)
def test_documents_of_kubernetes_are_as_their_schemas_want_them(
    scheduler: str, schemas: str
) -> None:
    told, schema = given(scheduler), published(schemas)

    assert told["documents"]
    for each in told["documents"]:
        Draft202012Validator(schema[each["kind"]]).validate(each)
    wrong = told["documents"][0] | {"spec": {"colour": "green"}}
    assert not Draft202012Validator(schema[wrong["kind"]]).is_valid(wrong)


def test_documents_of_ray_are_as_its_schema_wants_them() -> None:
    told, schema = given("ray"), published("ray_2_60_0")["schema"]

    assert [each["cluster_name"] for each in told["documents"]] == [
        "runrate-aws-eu-north-1",
        "runrate-aws-us-east-1",
    ]
    for each in told["documents"]:
        Draft202012Validator(schema).validate(each)
        assert not Draft202012Validator(schema).is_valid(each | {"colour": "green"})


def test_kueue_tries_the_cheapest_flavor_first_and_holds_what_may_be_had() -> None:
    told = given("kueue")

    assert list(of_kind(told, "ResourceFlavor")) == ["kept-2026", "taken-away", "rented"]
    cohort = of_kind(told, "Cohort")["runrate"]
    (group,) = cohort["resourceGroups"]
    quotas = {each["name"]: each["resources"][0]["nominalQuota"] for each in group["flavors"]}
    # Sixteen reserved GPUs count against the quota of 64 already.
    assert quotas == {"kept-2026": 16, "taken-away": 48, "rented": 48}
    queues = of_kind(told, "ClusterQueue")
    assert {name: each["fairSharing"]["weight"] for name, each in queues.items()} == {
        "ads": "1", "speech": "0.5", "vision": "1.5",
    }  # fmt: skip
    for spec in queues.values():
        assert spec["cohortName"] == "runrate"
        assert [each["name"] for each in spec["resourceGroups"][0]["flavors"]] == list(quotas)
        for group in spec["resourceGroups"]:
            assert {len(each["resources"]) for each in group["flavors"]} == {
                len(group["coveredResources"])
            }
    assert "Ads has no running budget in money: its weight is 1" in told["notes"]
    assert "left out: small, it has no rate" in told["notes"]
    assert any(note.startswith("left out: far, no quota") for note in told["notes"])
    assert Team.objects.count() == len(queues) + 2


def test_karpenter_weighs_the_cheapest_highest_and_is_told_its_price() -> None:
    pools, overlays = given("karpenter"), of_kind(given("karpenter-overlays"), "NodeOverlay")
    specs = of_kind(pools, "NodePool")

    assert {name: each["weight"] for name, each in specs.items()} == {
        "kept-2026": 100, "taken-away": 99, "rented": 98, "far": 97,
    }  # fmt: skip
    capacity = {
        name: each["template"]["spec"]["requirements"][2]["values"] for name, each in specs.items()
    }
    assert capacity == {
        "kept-2026": ["reserved", "on-demand"],
        "taken-away": ["spot"],
        "rented": ["on-demand"],
        "far": ["on-demand"],
    }
    assert specs["rented"]["limits"] == {"nvidia.com/gpu": 48}
    assert "limits" not in specs["far"]
    assert specs["far"]["template"]["spec"]["nodeClassRef"]["kind"] == "EC2NodeClass"
    assert {name: each["price"] for name, each in overlays.items()} == {
        "kept-2026": "0.000000",
        "taken-away": "20.000000",
        "rented": "55.040000",
        "far": "58.000000",
    }
    for each in (*specs.values(), *overlays.values()):
        rules = each["template"]["spec"] if "template" in each else each
        assert all(rule["values"] for rule in rules["requirements"])


def test_ray_prefers_the_cheapest_and_starts_no_more_than_there_may_be() -> None:
    east = given("ray", "--cluster", "prod")["documents"][0]["available_node_types"]

    figures = {name: (each["priority"], each["max_workers"]) for name, each in east.items()}
    assert figures == {"kept-2026": (3, 2), "taken-away": (2, 6), "rented": (1, 6)}
    assert east["taken-away"]["node_config"] == {
        "InstanceType": "p5.48xlarge",
        "InstanceMarketOptions": {"MarketType": "spot"},
    }
    assert east["rented"]["resources"] == {"GPU": 8}


def test_a_clusters_pools_alone_are_told_of_it() -> None:
    assert list(of_kind(given("karpenter", "--cluster", "lab"), "NodePool")) == ["far"]
    with pytest.raises(CommandError, match="no cluster named 'nowhere'"):
        given("kueue", "--cluster", "nowhere")


def test_two_pools_of_nearly_one_name_have_two_names() -> None:
    make.make_pool("rented!", cluster_id=make.make_cluster("prod"), region="us-east-1")
    make_offer_book(at=AT)

    names = list(of_kind(given("karpenter"), "NodePool"))
    assert len(names) == len(set(names)) == 5
    assert "rented" in names


def test_hardware_of_ones_own_is_kueues_and_none_that_others_could_start() -> None:
    cluster_id = make.make_cluster("prod")
    own = {"provider": "hall-2", "region": "", "purchase_option": "reserved"}
    pool = make.make_pool("hall", cluster_id=cluster_id, **own)
    make.make_node("own-01", pool_id=pool, cluster_id=cluster_id)
    make.make_rate("10", kind="contract", **own)
    make_offer_book(at=AT)

    assert "hall" in of_kind(given("kueue"), "ResourceFlavor")
    for scheduler in ("karpenter", "karpenter-overlays", "ray"):
        told = given(scheduler)
        assert "hall" not in json.dumps(told["documents"])
        assert any(note.startswith("left out: hall,") for note in told["notes"])


def test_yaml_says_what_is_not_in_it_and_reads_back_as_the_documents() -> None:
    out = io.StringIO()
    call_command("scheduler_documents", "kueue", stdout=out)

    assert list(yaml.safe_load_all(out.getvalue())) == given("kueue")["documents"]
    comments = [line for line in out.getvalue().splitlines() if line.startswith("#")]
    assert comments[0].startswith("# offer book of 2026-")
    assert "# left out: small, it has no rate" in comments


def test_rest_gives_the_same_as_json_and_as_yaml() -> None:
    scheduler = with_token("schedule", name="kueue")
    paths = {
        "kueue": "kueue",
        "karpenter": "karpenter",
        "karpenter/overlays": "karpenter-overlays",
        "ray": "ray",
    }
    for path, name in paths.items():
        answer = scheduler.get(f"schedulers/{path}", cluster="prod")
        assert answer.status_code == 200, answer.content
        told = given(name, "--cluster", "prod")
        assert (answer.json()["documents"], answer.json()["notes"]) == (
            told["documents"],
            told["notes"],
        )
        text = scheduler.get(f"schedulers/{path}", accept="application/yaml", cluster="prod")
        assert text.headers["Content-Type"].startswith("application/yaml")
        assert list(yaml.safe_load_all(text.content)) == told["documents"]
    wrong = scheduler.get("schedulers/kueue", accept="application/yaml", cluster="nowhere")
    assert wrong.status_code == 400
    assert yaml.safe_load(wrong.content)["errors"][0]["field"] == "cluster"


def test_rates_are_for_who_sees_prices_and_for_the_organisations_schedulers() -> None:
    finance, _ = signed_in("fin@example.org", "finance")
    lead, _ = signed_in("lead@example.org", "lead")
    vision = make.make_token(
        "schedule", "read", name="of vision", team_id=Team.objects.get(name="Vision").pk
    )

    assert finance.get("schedulers/kueue").status_code == 200
    for caller in (lead, Caller(vision.secret), with_token("jobs", name="teller")):
        assert caller.get("schedulers/kueue").status_code == 403


def test_without_a_book_or_a_dollar_nothing_is_told() -> None:
    OfferBook.objects.update(per_dollar=None, digest="f" * 64)
    with pytest.raises(CommandError, match="what a US dollar is worth"):
        given("karpenter-overlays")
    OfferBook.objects.all().delete()
    for scheduler in ("kueue", "karpenter", "ray"):
        with pytest.raises(CommandError, match="no offer book was made yet"):
            given(scheduler)
    assert with_token("schedule", name="kueue").get("schedulers/ray").status_code == 409
