"""TRESBillingWeights come from what the ledger charges, and say how; what is not known is left out and named."""

import json
import shlex
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.fleet import actions as fleet
from apps.fleet.models import Pool
from apps.placement.actions import make_offer_book
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.rest import signed_in, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)


@pytest.fixture(autouse=True)
def _cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two priced pools of one model, one of another without a price, and a pool of another cluster."""
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    atlas = make.make_cluster()
    make.make_pool("rented", cluster_id=atlas)
    make.make_pool("kept", cluster_id=atlas, purchase_option="reserved")
    make.make_pool("old", cluster_id=atlas, gpu_model="NVIDIA L4", instance_type="g6.xlarge")
    make.make_pool("elsewhere", cluster_id=make.make_cluster("harbor"))
    for name in ("rented", "kept"):
        pool_id = Pool.objects.get(name=name).pk
        make.make_node(f"{name}-01", pool_id=pool_id, cluster_id=atlas)
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    make_offer_book(at=AT)


def weights(*arguments: str) -> dict[str, dict[str, Any]]:
    out = StringIO()
    call_command("slurm_billing_weights", "--cluster", "atlas", "--json", *arguments, stdout=out)
    return {row["partition"]: row for row in json.loads(out.getvalue())}


def ran_in(partition: str, *pools: str) -> None:
    for number, pool in enumerate(pools):
        node_id = Pool.objects.get(name=pool).nodes.get().pk
        raw_id = f"{partition}{number}"
        scene.make_job(raw_id, node_id, from_=AT - timedelta(hours=1), to=AT)
        Job.objects.filter(raw_id=raw_id).update(partition=partition)


def test_each_partition_has_the_price_of_its_pool_and_says_of_which_rate() -> None:
    found = weights()

    assert {name: row["weights"] for name, row in found.items()} == {
        "rented": {"GRES/gpu": "688.0000"},
        "kept": {"GRES/gpu": "375.0000"},
        "old": {},
    }
    assert found["kept"]["option"] == 'TRESBillingWeights="GRES/gpu=375.0000"'
    (reason,) = found["kept"]["reasons"]
    assert reason.startswith("pool kept: 3.750000 USD a GPU-hour (reserved); rate ")
    assert "pool old: the offer book has no price of a GPU-hour" in found["old"]["reasons"]


def test_the_unit_is_as_asked() -> None:
    assert weights("--scale", "1000", "--partition", "kept")["kept"]["weights"] == {
        "GRES/gpu": "3750.0000"
    }
    with pytest.raises(CommandError, match="1 to 1,000,000"):
        weights("--scale", "0")


def test_weighed_cores_take_their_part() -> None:
    pool_id = Pool.objects.get(name="rented").pk
    fleet.weigh_cores(
        pool_id=pool_id, cores_per_node=128, weight=Decimal("0.05"), from_at=make.NOON, at=AT
    )

    found = weights()["rented"]

    assert found["weights"] == {"GRES/gpu": "382.2222", "CPU": "19.1111"}
    assert "128 cores a node count 0.05 of its 8 GPUs each" in found["reasons"][0]


def test_one_model_of_two_prices_in_a_partition_is_left_out() -> None:
    ran_in("gpu", "rented", "kept")

    found = weights()["gpu"]

    assert (found["weights"], found["option"]) == ({}, "")
    assert "GPUs of h100 are left out: no one price is known of them here" in found["reasons"]


def test_two_models_in_a_partition_are_weighed_by_type() -> None:
    old = Pool.objects.get(name="old")
    make.make_node("old-01", pool_id=old.pk, cluster_id=make.make_cluster())
    ran_in("gpu", "rented", "old")

    found = weights()["gpu"]

    assert found["weights"] == {"GRES/gpu:h100": "688.0000"}
    assert "GPUs of l4 are left out: no one price is known of them here" in found["reasons"]


def test_the_text_says_where_each_line_goes() -> None:
    out = StringIO()
    call_command("slurm_billing_weights", "--cluster", "atlas", stdout=out)
    commands = StringIO()
    call_command("slurm_billing_weights", "--cluster", "atlas", "--scontrol", stdout=commands)

    text = out.getvalue()
    assert text.startswith("# Billing weights of cluster atlas: 1/100 USD an hour of each TRES\n")
    assert "# They need AccountingStorageTRES=gres/gpu\n" in text
    assert (
        '# add to the line of PartitionName=kept:\nTRESBillingWeights="GRES/gpu=375.0000"\n' in text
    )
    assert "# old: no weights\n" in text
    assert (
        'scontrol update PartitionName=kept TRESBillingWeights="GRES/gpu=375.0000"\n'
        in commands.getvalue()
    )


def test_a_name_of_a_partition_is_no_command_of_the_shell() -> None:
    ran_in("kept; touch owned #", "kept")
    out = StringIO()
    call_command("slurm_billing_weights", "--cluster", "atlas", "--scontrol", stdout=out)

    words = shlex.split(
        next(line for line in out.getvalue().splitlines() if "touch" in line and line[0] != "#")
    )

    assert words == [
        "scontrol", "update", "PartitionName=kept; touch owned #", "TRESBillingWeights=GRES/gpu=375.0000",
    ]  # fmt: skip


def test_a_cluster_is_named_where_there_are_several() -> None:
    with pytest.raises(CommandError, match="there are: atlas, harbor"):
        call_command("slurm_billing_weights", stdout=StringIO())


def test_rest_answers_the_same_to_who_sees_prices() -> None:
    lead, _ = signed_in("lead@example.org", "lead")
    reader = with_token("read", name="reader")

    answer = reader.get("placements/slurm-weights", cluster="atlas", scale=1)

    rows = {row["partition"]: row["weights"] for row in answer.json()["results"]}
    assert rows == {
        "rented": {"GRES/gpu": "6.8800"}, "kept": {"GRES/gpu": "3.7500"}, "old": {},
    }  # fmt: skip
    assert lead.get("placements/slurm-weights", cluster="atlas").status_code == 403
    assert with_token("jobs", name="jobs").get("placements/slurm-weights").status_code == 403
    table = reader.get("placements/slurm-weights", accept="text/csv", cluster="atlas")
    assert table.status_code == 200
